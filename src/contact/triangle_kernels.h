#pragma once

#include "pliant/contact/triangle_block.h"

/// Kernels over blocks of triangles, compiled for each instruction set.
namespace pliant {

/// Numbers in `squares`, room for whole blocks: squared distances of `p` to the `count` triangles
/// at the end of the tick, to about 1e-12 of their size squared; not a number where a triangle has
/// no area.
void measure_distances(const TriangleBlock* blocks, int count, const double* p,
                       double* squares) noexcept;

/// Lists triangles whose plane may meet `p` during the tick and whose swept box is within `radius`
/// of it; docs/contact-moving.md eq. (5). `found` has room for `count`.
int find_crossings(const TriangleBlock* blocks, int count, const double* p, double radius,
                   int* found) noexcept;

/// Lists triangles that a sphere of radius `rho` may come to touch on its way from `p` to `p` +
/// `d`, as they are at the end of the tick, docs/contact-moving.md eq. (10). `found` has room for
/// `count`.
int find_reached(const TriangleBlock* blocks, int count, const double* p, const double* d,
                 double rho, int* found) noexcept;

/// Lists triangles whose plane a point may cross from the front on its way of `length` from `p`
/// along `direction`, as they are at the end of the tick. `found` has room for `count`.
int find_in_way(const TriangleBlock* blocks, int count, const double* p, const double* direction,
                double length, int* found) noexcept;

}  // namespace pliant
