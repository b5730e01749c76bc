#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pliant {

/// A conforming forest of tetrahedra refined by tagged bisection [Maubach1995]. The roots split a
/// lattice of cubes into six Kuhn tets each, all along the same diagonal, which makes their tags
/// compatible. Vertices have integer coordinates; every tet is similar to one of three shapes.
class TaggedBisection {
public:
    using Point = std::array<int, 3>;

    /// A tet of type k is bisected at its longest edge x0–xk.
    struct Tet {
        std::array<int, 4> x;  ///< vertices, in the order that the tags need: either orientation
        std::int8_t type;      ///< 3, 2, 1, then 3 again at half the size
        int first_child = -1;  ///< the second one follows it; −1 for a leaf
    };

    /// `cubes` along each axis, of `side` units each. Bisecting a tet whose cube has an odd side is
    /// not allowed.
    TaggedBisection(const std::array<int, 3>& cubes, int side);

    [[nodiscard]] const std::vector<Tet>& tets() const noexcept { return tets_; }
    [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }
    [[nodiscard]] bool is_leaf(std::size_t tet) const noexcept {
        return tets_[tet].first_child < 0;
    }
    [[nodiscard]] int squared_longest_edge(std::size_t tet) const noexcept;
    /// Bisects a leaf together with all tets round its longest edge, after as many other bisections
    /// as that needs. Does nothing to a tet that has children already.
    void bisect(int tet);
    /// The leaves in the order of the forest, children of a tet side by side.
    [[nodiscard]] std::vector<int> leaves() const;
    /// Corners of a tet in an order of positive volume.
    [[nodiscard]] std::array<int, 4> oriented(int tet) const noexcept;

private:
    int add_tet(const std::array<int, 4>& x, int type);
    void split(int tet, int middle);
    /// Leaves that contain the edge a–b.
    void find_ring(int a, int b, std::vector<int>& ring);

    std::vector<Point> points_;
    std::vector<Tet> tets_;
    std::vector<std::vector<int>> stars_;  // of each vertex: all its leaves and some former ones
};

/// Tets with vertices at origin + cell · point, numbered by z, y, x.
[[nodiscard]] VolumeMesh extract_mesh(const TaggedBisection& forest, const std::vector<int>& tets,
                                      const Eigen::Vector3d& origin, double cell);

}  // namespace pliant
