#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Integrals of the fundamental solutions over triangles, eight targets at a time, compiled for
/// each instruction set. What is summed does not depend on the material, docs/greens.md eq. (B4):
/// for elasticity, with d = y − x,
///     planes 0–5    ∫ φ d dᵀ / |d|³            xx yy zz xy yz xz
///     planes 6–11   ∫ φ (d·n) d dᵀ / |d|⁵      xx yy zz xy yz xz
///     planes 12–14  ∫ φ d × n / |d|³           x y z
/// and for Laplace ∫ φ / |d| and ∫ φ (d·n) / |d|³.
namespace pliant {

inline constexpr int kTargetLanes = 8;
inline constexpr int kElasticPlanes = 15;
inline constexpr int kLaplacePlanes = 2;

struct KernelTriangle {
    double corners[3][3];
    double normal[3];
    double area;
    double centroid[3];
    double split_squared;        ///< targets nearer to the centroid are left to integrate_parts
    double three_point_squared;  ///< from here on with three points
    int nodes[3];
};

struct TargetGroup {
    alignas(64) double position[3][kTargetLanes];
};

/// Triangles or parts of triangles, each with a target of its own.
struct PartBatch {
    alignas(64) double corners[3][3][kTargetLanes];      ///< corner, component
    alignas(64) double barycentric[3][3][kTargetLanes];  ///< shape function, corner
    alignas(64) double normal[3][kTargetLanes];
    alignas(64) double area[kTargetLanes];
    alignas(64) double target[3][kTargetLanes];
};

/// One vector of lanes for each plane of each shape function.
struct PartIntegrals {
    alignas(64) double values[3][kElasticPlanes][kTargetLanes];
};

/// What turns sums into blocks: G = displacement (diagonal tr A + A), H = traction (compressibility
/// tr S + 3 S − compressibility [c]).
struct BlockFactors {
    double displacement, traction, diagonal, compressibility;
};

/// Where rows of a group go: column-major, the first row of the group.
struct GroupRows {
    double *G, *H;
    std::size_t G_stride, H_stride;
    int num_targets;  ///< of the group
};

/// Adds to sums[node][plane][lane] over all triangles that are far enough from the target, with
/// seven or three points; near_lanes[t] has the bits of the other targets.
void add_distant_triangles(bool is_elastic, std::span<const KernelTriangle> triangles,
                           const TargetGroup& targets, double* sums,
                           std::uint8_t* near_lanes) noexcept;

/// Seven points each.
void integrate_parts(bool is_elastic, const PartBatch& parts, PartIntegrals& out) noexcept;

/// Writes the blocks of all nodes; row_sums[3 i + j][lane] (Laplace: [0]) is the sum of H over
/// nodes.
void write_blocks(bool is_elastic, const double* sums, int num_nodes, const BlockFactors& factors,
                  const GroupRows& rows, double (*row_sums)[kTargetLanes]) noexcept;

}  // namespace pliant
