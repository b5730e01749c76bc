#pragma once

#include "pliant/geometry/surface_query.h"

#include <array>
#include <set>
#include <vector>

namespace pliant {

/// Pairs of particles, the lower number first.
using ParticleLinks = std::set<std::array<int, 2>>;
void add_link(ParticleLinks& links, int a, int b);
/// All others by distance.
[[nodiscard]] std::vector<int> by_distance(const std::vector<Eigen::Vector3d>& centres,
                                           std::size_t i);
/// Joins what is still apart by the shortest link, again and again.
void connect_parts(const std::vector<Eigen::Vector3d>& centres, ParticleLinks& links);
/// The `count` nearest ones that are seen through the inside; a few across the outside where those
/// lack.
[[nodiscard]] ParticleLinks link_inside(const SurfaceQuery& query,
                                        const std::vector<Eigen::Vector3d>& centres, int count);

}  // namespace pliant
