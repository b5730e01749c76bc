#pragma once

#include <cstdint>
#include <vector>

/// Forces and tangents of Hex8 elements, compiled for each instruction set; docs/fem.md section
/// "Hex8 kernels". Laws: isotropic St. Venant–Kirchhoff, small strain and stable neo-Hookean, see
/// has_hex_kernel().
///
/// Forces are bound by arithmetic: about 1,000 operations per box and 2,300 per hex of any shape,
/// or 18 and 41 ns in double and 9 and 21 ns in single on a core with two 256-bit multiply-adds a
/// cycle at 3.5 GHz. They take 1.7 to 2.2 times that in the cache and 2.1 to 2.8 times at 200,000
/// elements, where some 220 and 360 bytes per element come from memory.
namespace pliant {

/// Elements that are computed together. One layout for all targets: 16 floats or 8 doubles fill the
/// largest registers.
inline constexpr int kHexLanes = 16;
/// Largest block of elements: its nodes are copied to the stack.
inline constexpr int kMaxHexesPerBlock = 64;

/// One number for each element of a batch.
template <class T>
struct alignas(64) HexLanes {
    T lane[kHexLanes];
};

/// Laws that have kernels.
enum class HexLaw { StVenantKirchhoff, SmallStrain, NeoHookean };

/// Up to kHexLanes elements of one block. Corners are counted in binary (x fastest), not as in the
/// mesh. Lanes without element come last; all their corners are a spare node 0 before those of the
/// block.
struct alignas(64) HexBatch {
    std::uint16_t corners[8][kHexLanes];  ///< 4 × place among the nodes of the block
    int elements[kHexLanes];              ///< numbers in the mesh
    int places[kHexLanes];                ///< in ElementBlocks
    int num_elements;
    int first_value;  ///< of HexBatches::values
    bool is_box;      ///< all elements are boxes along the axes, of any sizes
    bool is_small_strain, is_neo_hookean;  ///< neither: St. Venant–Kirchhoff
    bool is_accurate;                      ///< ElementFormulation::Accurate
    bool is_cut;  ///< boxes whose filled part has weights of its own; see CutHexes
};

/// Numbers of each element: λ/(2μ), then
///     boxes    filled μ det J / 8 and the diagonal of J⁻¹
///     cut      the same, 8/μ over the filled volume, 8/μ, and μ/8 times the weights of CutHexes
///     others   filled μ / 8 and, for each component, the seven factors of the rest shape
///              x = x₀ + x₁ξ + x₂η + x₃ξη + x₄ζ + x₅ξζ + x₆ηζ + x₇ξηζ
/// With the batch itself 68 bytes per box in double and 48 in single, 212 and 120 for the others.
inline constexpr int kHexBoxValues = 5, kHexValues = 23, kHexCutValues = 7 + 7 * 8;

/// All elements of a mesh that have a kernel, made by make_hex_batches().
struct HexBatches {
    std::vector<int> batch_offsets;  ///< of each block's first batch
    std::vector<HexBatch> batches;
    std::vector<int> node_offsets;  ///< of each block's first node
    std::vector<int> nodes;         ///< each node once per block
    std::vector<HexLanes<double>> values;
    std::vector<HexLanes<float>> single_values;
    /// Elements without kernel (places of ElementBlocks), by blocks: theirs is the scalar loop.
    std::vector<int> other_offsets, others;
};

/// Smallest det F over the Gauss points of some elements, of equal ones the lowest element; NaN is
/// passed over. +∞ and the largest int where there is none.
struct HexDetF {
    double value;
    int element;
};

/// Adds the forces of the block's batches to R; u and R hold x y z of all nodes, 3n doubles, and
/// nothing beyond is touched. T is the type of the arithmetic, double or float. In float,
/// displacements are first taken relative to one node of the block, in double, so that it does not
/// matter how far the body has moved; R is then good to 4e-6 of
/// Σ weight (|λ| + 2μ) |∇u| (1 + |∇u|)² |g_a|, and |∇u| beyond 1e12 overflows.
/// No workspace, no allocation. Calls for blocks of one colour may run at once.
template <class T>
void add_hex_forces(const HexBatches& hexes, int block, const double* u, double* R) noexcept;
template <>
void add_hex_forces<double>(const HexBatches&, int, const double*, double*) noexcept;
template <>
void add_hex_forces<float>(const HexBatches&, int, const double*, double*) noexcept;

/// The same, and the smallest det F of these elements.
template <class T>
HexDetF add_hex_forces_and_det_F(const HexBatches& hexes, int block, const double* u,
                                 double* R) noexcept;
template <>
HexDetF add_hex_forces_and_det_F<double>(const HexBatches&, int, const double*, double*) noexcept;
template <>
HexDetF add_hex_forces_and_det_F<float>(const HexBatches&, int, const double*, double*) noexcept;

/// Where the blocks of K are, as in FemModelData.
struct HexPattern {
    const int* column_offsets;  ///< of each node's blocks
    const int* slots;           ///< of each place, 64
};
/// Adds the tangent of the block's batches to the values of K and, unless null, their forces to R.
/// K stays exactly symmetric if it was. Double precision.
void add_hex_tangents(const HexBatches& hexes, int block, const HexPattern& pattern,
                      const double* u, double* R, double* K) noexcept;

/// Adds K(u) p of the block's batches, without K.
void add_hex_tangent_products(const HexBatches& hexes, int block, const double* u, const double* p,
                              double* Kp) noexcept;

}  // namespace pliant
