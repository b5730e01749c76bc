#pragma once

#include "fem/fem_model_data.h"

/// Blocks of Tet4 elements: the SIMD kernels, and the scalar law for the elements they leave out.
/// u, p, R and Kp hold all nodes, `values` are those of K. No allocation; blocks of one colour may
/// run at once.
namespace pliant {

/// R += the forces of the block. T is the type of the arithmetic: double or float.
template <class T>
void add_tet_block_forces(const FemModelData& d, int block, const double* u, double* R) noexcept;
/// The same, and the smallest det F of the block.
template <class T>
[[nodiscard]] SmallestDetF add_tet_block_forces_and_det_F(const FemModelData& d, int block,
                                                          const double* u, double* R) noexcept;
/// K and, unless null, R += the block's part. Blocks go in their order, or at once if of one
/// colour: each overwrites the entries of K that no earlier one has, so that K need not be cleared.
void add_tet_block_tangents(const FemModelData& d, int block, const double* u, double* R,
                            double* values) noexcept;
/// Kp += the block's part of K(u) p.
void add_tet_block_products(const FemModelData& d, int block, const double* u, const double* p,
                            double* Kp) noexcept;

}  // namespace pliant
