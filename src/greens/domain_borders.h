#pragma once

#include "pliant/geometry/subdivision.h"

#include <array>
#include <span>

namespace pliant {

/// What a vertex past the base is interpolated from linearly within its domain,
/// docs/greens-wavelets.md section "Borders": both ends of the edge that it splits; twice the one
/// that is in the domain; twice the nearest of the domain among the first `num_coarser` vertices;
/// twice the vertex itself: there is none.
[[nodiscard]] std::array<int, 2> aunts_in_domain(const SemiRegularMesh& mesh,
                                                 std::span<const int> domains, int vertex,
                                                 int num_coarser);

}  // namespace pliant
