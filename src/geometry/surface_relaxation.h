#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"

namespace pliant {

/// Puts the vertices of a triangulation near the zero surface of `body` onto it, then `rounds`
/// times evens them out along the surface and puts them back. `spacing` is the lattice size: no
/// vertex moves farther than a fraction of it at once, and moves that would flip or flatten a
/// triangle are cut short. Connectivity is kept. Deterministic.
void relax_onto_surface(SurfaceMesh& mesh, const Implicit& body, double spacing, int rounds,
                        Progress& progress);

}  // namespace pliant
