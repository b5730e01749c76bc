#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Turns triangles so that neighbours agree: closed patches face outwards, or inwards where they
/// bound a cavity; open ones keep the orientation of the majority. Returns the number of turned
/// triangles. Needs valid indices and three different corners in each triangle; where a patch has
/// one side only (a Möbius band) some edges stay inconsistent.
int orient_surface(SurfaceMesh& mesh);

}  // namespace pliant
