#pragma once

#include "fem/tet_batches.h"

/// Element loops of Tet4 bodies, compiled for each instruction set; docs/fem.md section "Tet4
/// kernels". Everything works on the places of one round: displacements and forces of a node in
/// four numbers (the last one is not used), 3×3 blocks of K column by column, each column in four
/// numbers.
///
/// Limits for St. Venant–Kirchhoff in double on one Zen 4 core at 3.5 GHz, per tetrahedron: the
/// force needs 107 multiplications or fused ones, 3.8 ns at eight per cycle, and 107 bytes, 4 ns at
/// 27 GB/s; it takes 9–10 ns in cache. Force and tangent need 440 of them, 16 ns, and 34 additions
/// of a vector to memory, 10 ns at one store per cycle; with the sums put into K 46–54 ns in cache.
namespace pliant {

inline constexpr int kTetBlockSize = 12;  ///< numbers of a block

/// Some batches of one law.
template <class T>
struct TetBatchView {
    TetLaw law;  ///< not Scalar
    int num_batches;
    const TetShapes<T>* shapes;
    const TetNodes* nodes;
};

/// Smallest det F: in the first batch and lane of equal ones. NaN is passed over.
struct TetDetF {
    double value;
    int batch, lane;
};

// Bit i of redo[k] is set if lane i of batch k got no contribution: its deformation is beyond the
// kernel (Corotational: collapsed, inverted or not finite), and the scalar law has to do it.

/// R += the forces at u. Unless null, `smallest` gets the smallest det F, or infinity.
template <class T>
void add_tet_forces(const TetBatchView<T>& batches, const T* u, T* R, std::uint8_t* redo,
                    TetDetF* smallest) noexcept;
template <>
void add_tet_forces(const TetBatchView<double>&, const double*, double*, std::uint8_t*,
                    TetDetF*) noexcept;
template <>
void add_tet_forces(const TetBatchView<float>&, const float*, float*, std::uint8_t*,
                    TetDetF*) noexcept;

/// R += the forces at u, `diagonal` and `pairs` += the blocks of K there.
void add_tet_tangents(const TetBatchView<double>& batches, const TetPairs* pair_places,
                      const double* u, double* R, double* diagonal, double* pairs,
                      std::uint8_t* redo) noexcept;

/// Kp += K(u) p.
void add_tet_tangent_products(const TetBatchView<double>& batches, const double* u, const double* p,
                              double* Kp, std::uint8_t* redo) noexcept;

}  // namespace pliant
