#pragma once

#include "pliant/geometry/embedding.h"
#include "pliant/geometry/surface_mesh.h"

#include <cstdint>
#include <memory>
#include <span>

namespace pliant {

/// How the surface matrix is kept.
enum class ShapeStorage {
    Float32,
    Int16,  ///< times a factor for each column: errors of at most 1/65534 of its largest entry
};

/// What a SurfaceShapes is made of. Its arrays belong to somebody else, for example a memory-mapped
/// archive.
struct SurfaceArrays {
    int r = 0;  ///< columns of Ū
    ShapeStorage storage = ShapeStorage::Float32;
    std::span<const float> rest;     ///< X: x y z of each vertex [m]
    std::span<const int> triangles;  ///< three vertices each
    /// Ū by rows: r entries for x, then y, then z of each vertex. One of the two, the other empty.
    std::span<const float> rows32;
    std::span<const std::uint16_t> rows16;  ///< two's complement
    std::span<const float> scales;          ///< of the columns of rows16; empty for Float32
};

/// A surface carried by a subspace: x = X + Ū q for its vertices, docs/reduction.md eq. (22), in
/// the axes of the body. Arrays are x y z of each vertex. Immutable, thread-safe, copies share
/// their data; nothing allocates. Infinite or NaN coordinates give such positions, never such
/// normals.
class SurfaceShapes {
public:
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    static constexpr int kMaxSize = 1024;

    /// Ū = W U with the weights of the embedding. Throws InputError for sizes that do not fit and
    /// for entries that are not finite.
    SurfaceShapes(const SurfaceMesh& surface, const Embedding& embedding, const Eigen::MatrixXd& U,
                  ShapeStorage storage = ShapeStorage::Float32);
    /// Views stored data, which `owner` keeps alive. Checks sizes and triangles, not the matrix:
    /// its pages are read when they are used. Throws InputError for what does not fit together.
    SurfaceShapes(const SurfaceArrays& arrays, std::shared_ptr<const void> owner);
    /// With the first vectors of the basis only, 1 … size(); shares the data.
    [[nodiscard]] SurfaceShapes truncated(int size) const;

    [[nodiscard]] int num_vertices() const noexcept {
        return static_cast<int>(arrays_.rest.size() / 3);
    }
    [[nodiscard]] int num_triangles() const noexcept {
        return static_cast<int>(arrays_.triangles.size() / 3);
    }
    [[nodiscard]] int size() const noexcept { return size_; }  ///< r, or what truncated() left
    /// To be stored.
    [[nodiscard]] const SurfaceArrays& arrays() const noexcept { return arrays_; }

    /// All vertices: one pass over the matrix at the speed of memory. Single precision, for
    /// rendering.
    void positions(std::span<const float> q, std::span<float> x) const noexcept;
    void velocities(std::span<const float> v, std::span<float> xdot) const noexcept;
    /// Some vertices, in the order given.
    void positions(std::span<const int> vertices, std::span<const float> q,
                   std::span<float> x) const noexcept;
    void velocities(std::span<const int> vertices, std::span<const float> v,
                    std::span<float> xdot) const noexcept;
    /// Unit normals of the surface with all vertices at x, averaged over faces by area; zero where
    /// no face with area meets the vertex. `x` and `n` must not overlap.
    void normals(std::span<const float> x, std::span<float> n) const noexcept;

    // One point, O(r), in double: of a vertex, or of a triangle with weights of its corners.
    [[nodiscard]] Eigen::Vector3d position(int vertex, const ConstRef& q) const noexcept;
    [[nodiscard]] Eigen::Vector3d position(int triangle, const Eigen::Vector3d& barycentric,
                                           const ConstRef& q) const noexcept;
    [[nodiscard]] Eigen::Vector3d velocity(int vertex, const ConstRef& v) const noexcept;
    [[nodiscard]] Eigen::Vector3d velocity(int triangle, const Eigen::Vector3d& barycentric,
                                           const ConstRef& v) const noexcept;
    /// Unit normal of a deformed triangle; zero where it has no area.
    [[nodiscard]] Eigen::Vector3d normal(int triangle, const ConstRef& q) const noexcept;
    /// f += Ū_sᵀ force: the load in reduced coordinates of a force [N] in body axes.
    void add_force(int vertex, const Eigen::Vector3d& force,
                   Eigen::Ref<Eigen::VectorXd> f) const noexcept;
    void add_force(int triangle, const Eigen::Vector3d& barycentric, const Eigen::Vector3d& force,
                   Eigen::Ref<Eigen::VectorXd> f) const noexcept;

private:
    SurfaceArrays arrays_;
    std::shared_ptr<const void> owner_;
    int size_ = 0;
};

}  // namespace pliant
