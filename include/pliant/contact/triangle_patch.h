#pragma once

#include "pliant/contact/triangle_block.h"
#include "pliant/geometry/surface_mesh.h"

#include <memory>
#include <vector>

namespace pliant {

/// Which positions of a surface that moved in a tick.
enum class SurfaceMoment {
    Swept,  ///< all between the start and the end of the tick
    End,
};

/// Three corners.
struct Corners {
    Eigen::Vector3d a, b, c;
    [[nodiscard]] Eigen::Vector3d at(const Eigen::Vector3d& w) const noexcept {
        return w[0] * a + w[1] * b + w[2] * c;
    }
    [[nodiscard]] Eigen::Vector3d area_vector() const noexcept { return (b - a).cross(c - a); }
    /// Zero where there is no area.
    [[nodiscard]] Eigen::Vector3d unit_normal() const noexcept {
        const Eigen::Vector3d n = area_vector();
        const double size = n.norm();
        return size > 0 ? Eigen::Vector3d(n / size) : Eigen::Vector3d::Zero();
    }
};

/// Triangles near a place with their corners at the start and at the end of a tick. Room for all
/// triangles of the surfaces it is filled from, so that none is ever left out.
class TrianglePatch {
public:
    explicit TrianglePatch(int capacity);

    void clear() noexcept { size_ = 0; }
    /// `start` and `end`: nine coordinates, corner by corner.
    void add(int surface, int triangle, const double* start, const double* end) noexcept;

    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] int surface(int i) const noexcept { return ids_[index(i)].surface; }
    [[nodiscard]] int triangle(int i) const noexcept { return ids_[index(i)].triangle; }
    [[nodiscard]] const TriangleBlock* blocks() const noexcept { return blocks_.get(); }
    [[nodiscard]] Corners end(int i) const noexcept {
        return read(blocks_[index(i) / TriangleBlock::kSize].end, i % TriangleBlock::kSize);
    }
    /// Corners move in straight lines; s from 0 to 1.
    [[nodiscard]] Corners between(int i, double s) const noexcept;
    [[nodiscard]] Corners start(int i) const noexcept {
        return read(blocks_[index(i) / TriangleBlock::kSize].start, i % TriangleBlock::kSize);
    }

private:
    static Corners read(const double (&x)[9][TriangleBlock::kSize], int lane) noexcept {
        return {{x[0][lane], x[1][lane], x[2][lane]},
                {x[3][lane], x[4][lane], x[5][lane]},
                {x[6][lane], x[7][lane], x[8][lane]}};
    }
    struct Id {
        int surface, triangle;
    };
    static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
    std::unique_ptr<TriangleBlock[]> blocks_;  // not initialised: pages nobody needs stay untouched
    std::vector<Id> ids_;
    int size_ = 0;
};

}  // namespace pliant
