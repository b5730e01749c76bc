#pragma once

#include "contact/point_grid.h"
#include "pliant/geometry/surface_mesh.h"

#include <cstdint>
#include <random>

namespace pliant {

/// Numbers in [0, 1) that are the same with every standard library.
[[nodiscard]] inline double next_unit(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Points of a surface in proportion to area, one in each of `count` equal parts of the area in
/// the order of the triangles. Directions are left zero.
[[nodiscard]] PointArrays stratified_samples(const SurfaceMesh& surface, int count,
                                             std::mt19937_64& random);

/// Adds `count` of the candidates to `points`, so that each lies in a gap of those before: as far
/// from them as a radius allows that shrinks from `spacing` until enough are found. Points on
/// another side (is_same_side) do not count. Needs at least `count` candidates.
void fill_gaps(PointArrays& points, const PointArrays& candidates, int count, double spacing,
               std::mt19937_64& random);

}  // namespace pliant
