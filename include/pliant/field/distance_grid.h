#pragma once

#include "pliant/core/archive.h"
#include "pliant/field/distance_field.h"

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace pliant {

struct GridView;

enum class GridStorage {
    Dense,   ///< every vertex of the grid
    Sparse,  ///< bricks of 8³ cells near the surface, every eighth vertex elsewhere
};

/// Cubic cells over a box: vertex (i, j, k) is at low + cell (i, j, k).
struct GridFrame {
    Eigen::Vector3d low = Eigen::Vector3d::Zero();  ///< [m]
    double cell = 1;                                ///< [m]
    std::array<int, 3> cells = {8, 8, 8};           ///< along each axis, multiples of 8
    [[nodiscard]] Box box() const;
    [[nodiscard]] Eigen::Vector3d vertex(int i, int j, int k) const;
};

/// What a grid is made of. A dense grid has `coarse` = all vertices and no bricks.
struct GridArrays {
    GridFrame frame;
    GridStorage storage = GridStorage::Sparse;
    /// Distances at every vertex (dense) or at the corners of bricks (sparse), x fastest.
    std::span<const float> coarse;
    /// Of each block of 8³ cells, x fastest: its brick, or −1: interpolate the corners.
    std::span<const int> brick_of_block;
    /// kBrickFloats each: 9³ vertices, x fastest, then padding.
    std::span<const float> bricks;
    float boundary = 0;    ///< a lower bound of the true distance on the faces of the box
    CullingMargin margin;  ///< DistanceField::margin()
};
inline constexpr int kBrickFloats = 736;
inline constexpr int kMaxGridCells = 4096;  ///< along an axis; at most 2³¹ − 1 vertices in all

/// Distances on a grid of single-precision values, trilinear between them, docs/field.md eq.
/// (1)–(3). Continuous also where bricks meet coarse blocks: their shared vertices agree.
/// Immutable, thread-safe, copies share their data. Per point, batched: 4 gathers of pairs and one
/// of a brick number, 7 interpolations; see src/field/grid_kernels.h for bounds and times.
class DistanceGrid final : public DistanceField {
public:
    /// Views arrays that `owner` keeps alive. Throws InputError for sizes, brick numbers or values
    /// that do not fit together.
    DistanceGrid(const GridArrays& arrays, std::shared_ptr<const void> owner);
    /// Dense, from a value for each vertex, x fastest. The margin is that of distances: no two
    /// values differ by more than their vertices are apart. Throws InputError as above.
    [[nodiscard]] static DistanceGrid dense(const GridFrame& frame, std::vector<float> values,
                                            float boundary);
    /// Keeps bricks near the surface, so that values up to `band` are those of the dense grid bit
    /// for bit, coarse corners elsewhere, and makes shared faces continuous. `band` [m] > 0.
    [[nodiscard]] static DistanceGrid sparse(const DistanceGrid& dense, double band);
    /// The same values, to be trusted less in culling.
    [[nodiscard]] DistanceGrid with_margin(const CullingMargin& margin) const;

    /// Throws InputError for files of another kind, parts missing or not fitting together.
    [[nodiscard]] static DistanceGrid load(const std::filesystem::path& path);
    [[nodiscard]] static DistanceGrid from_archive(const Archive& archive, const std::string& name);
    void save(const std::filesystem::path& path, const Provenance& provenance = {}) const;

    [[nodiscard]] const GridArrays& arrays() const noexcept { return arrays_; }
    [[nodiscard]] const GridFrame& frame() const noexcept { return arrays_.frame; }
    [[nodiscard]] std::size_t memory() const noexcept;  ///< [bytes]
    [[nodiscard]] int num_bricks() const noexcept;

    void distances(const PointBatch& points, float* distance) const noexcept override;
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override;
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return arrays_.margin; }
    [[nodiscard]] double resolution() const noexcept override { return arrays_.frame.cell; }

private:
    GridArrays arrays_;
    std::shared_ptr<const void> owner_;
    std::shared_ptr<const GridView> view_;  ///< what the kernels need
    Box box_;
};

}  // namespace pliant
