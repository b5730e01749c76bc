#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <array>

namespace pliant::detail {

/// Solid angle of a triangle seen from the origin over 4π, positive when it shows its back;
/// [VanOosteromStrackee1983]. Zero for degenerate triangles and in a triangle's own plane.
[[nodiscard]] double triangle_winding(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                      const Eigen::Vector3d& c) noexcept;

/// Winding number of any set of triangles, docs/geometry.md eq. (3): far clusters by their dipole
/// moments up to second order [Barill2018], near triangles exactly. Queries are thread-safe, cost
/// O(log n) and allocate nothing.
class WindingTree {
public:
    explicit WindingTree(const SurfaceMesh& mesh);
    /// Same triangles, vertices moved: keeps the clusters and takes their moments again.
    void update(const SurfaceMesh& mesh);

    [[nodiscard]] double winding_number(const Eigen::Vector3d& x) const noexcept;
    /// To about 1e-2, at a third of the cost.
    [[nodiscard]] double rough_winding_number(const Eigen::Vector3d& x) const noexcept;
    /// Whether the winding number exceeds 1/2; for most points a rough value tells.
    [[nodiscard]] bool is_inside(const Eigen::Vector3d& x) const noexcept;

private:
    // moments of the triangles about `centre`, δ the offset from it; docs/geometry.md eq. (4)
    struct Node {
        Eigen::Vector3d centre;           // of area
        double radius_squared;            // of the farthest corner
        Eigen::Vector3d dipole;           // ∫ n
        double trace;                     // ∫ n·δ
        Eigen::Vector3d linear;           // −3/2 ∫ (2 (n·δ) δ + |δ|² n)
        std::array<double, 6> quadratic;  // −3 ∫ (n·d)(δ·d): coefficients of xx yy zz xy yz zx
        std::array<double, 10> cubic;  // 15/2 ∫ (n·d)(δ·d)²: coefficients of xxx xxy … zzz
        int first = 0, count = 0;      // range in `triangles_`
        int right = 0;  // second child, the first one follows its parent; 0 in leaves
    };
    struct Moments;
    [[nodiscard]] double sum(const Eigen::Vector3d& x, double far_ratio) const noexcept;
    int split(int first, int count, const std::vector<Eigen::Vector3d>& centroids);

    std::vector<Node> nodes_;
    std::vector<int> order_;  // triangle of the mesh in each place of `triangles_`
    std::vector<std::array<Eigen::Vector3d, 3>> triangles_;
};

}  // namespace pliant::detail
