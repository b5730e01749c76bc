#pragma once

#include "pliant/greens/greens_body.h"
#include "server/frame_message.h"

namespace pliant {

// What pages draw of a body with Green's functions, docs/server.md section "Data over HTTP".

/// Of each vertex: whether it is fixed, area, stiffness of the vertex alone and under its mask.
[[nodiscard]] SharedBytes encode_greens(const GreensBody& body);
/// Displacements of all vertices for 1 N against the outward normal under the mask of a vertex;
/// null: there is no such vertex.
[[nodiscard]] SharedBytes encode_unit_field(const GreensBody& body, int vertex);
/// Where it is drawn.
[[nodiscard]] const GreensDisplay& display_of(const GreensBody& body);
/// Which blocks compression has kept, as a picture; null: the functions are not compressed.
[[nodiscard]] SharedBytes encode_sparsity(const GreensBody& body);

}  // namespace pliant
