#pragma once

#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"
#include "pliant/geometry/volume_mesh.h"

#include <Eigen/Core>
#include <array>
#include <limits>

namespace pliant {

/// The outer triangles of a deforming body in a tree of boxes, built once at rest: nearest facet
/// with signed gap. Immutable; one workspace per thread. Nothing allocates after make_workspace().
class FacetTree {
public:
    /// The deformed surface.
    struct Workspace {
        std::vector<Eigen::Vector3d> positions;  ///< of nodes()
        std::vector<Box> boxes;                  ///< of the tree's nodes; the first holds all
    };
    struct Closest {
        int facet = -1;                                        ///< −1: none within the radius
        Eigen::Vector3d weights = Eigen::Vector3d::Zero();     ///< of its three corners, sum 1
        double gap = std::numeric_limits<double>::infinity();  ///< [m], negative inside the body
        Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< unit gradient of the gap, outwards
    };

    explicit FacetTree(const VolumeMesh& mesh);
    /// Of any surface with triangles; nodes() are all its vertices.
    explicit FacetTree(SurfaceMesh surface);

    /// boundary_triangles(mesh): corners are vertices of the mesh.
    [[nodiscard]] const std::vector<Triangle>& facets() const noexcept { return facets_; }
    /// Vertices of the mesh on the surface, ascending.
    [[nodiscard]] const std::vector<int>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] Workspace make_workspace() const;  ///< at rest

    /// Takes the displacements of all 3n unknowns of the mesh. O(facets).
    void refit(const Eigen::Ref<const Eigen::VectorXd>& u, Workspace& ws) const noexcept;
    /// Moves the boxes to where `ws.positions` are. O(facets).
    void fit_boxes(Workspace& ws) const noexcept;
    /// Box around the deformed surface.
    [[nodiscard]] static const Box& bounds(const Workspace& ws) noexcept { return ws.boxes[0]; }
    /// Nearest point of the deformed surface within `radius`; the lowest of equally near facets.
    /// The sign is that of the pseudonormal at the nearest feature: right wherever the surface does
    /// not cut itself. None for a point that is not finite.
    [[nodiscard]] Closest closest(const Eigen::Vector3d& x, double radius,
                                  const Workspace& ws) const noexcept;
    /// Calls add(facet) for every facet whose nearest point is within `radius` of x, in the order
    /// of the tree.
    template <class Add>
    void for_each_within(const Eigen::Vector3d& x, double radius, const Workspace& ws,
                         const Add& add) const noexcept {
        std::array<int, kMaxDepth> stack;
        int depth = 0;
        stack[depth++] = 0;
        while (depth > 0) {
            const int n = stack[--depth];
            if (!(ws.boxes[n].squaredExteriorDistance(x) <= radius * radius)) continue;
            const auto [first, count] = tree_[n];
            if (count == 0) {
                stack[depth++] = first + 1;
                stack[depth++] = first;
            }
            for (int i = first; i < first + count; ++i)
                if (is_within(order_[i], x, radius, ws)) add(order_[i]);
        }
    }
    /// On the vertices that positions count by.
    [[nodiscard]] const SurfaceMesh& surface() const noexcept { return surface_; }

private:
    static constexpr int kLeafSize = 4;
    static constexpr int kMaxDepth = 64;  // halves: 2³¹ facets need fewer than 40 entries
    struct Node {
        int first;  // leaf: place in order_; else the first of two children
        int count;  // 0: not a leaf
    };

    void build();
    [[nodiscard]] const Eigen::Vector3d& corner(int facet, int k,
                                                const Workspace& ws) const noexcept {
        return ws.positions[surface_.triangles[facet][k]];
    }
    [[nodiscard]] bool is_within(int facet, const Eigen::Vector3d& x, double radius,
                                 const Workspace& ws) const noexcept;
    [[nodiscard]] Eigen::Vector3d facet_normal(int facet, const Workspace& ws) const noexcept;
    [[nodiscard]] Eigen::Vector3d feature_normal(int facet, Feature feature, int index,
                                                 const Workspace& ws) const noexcept;

    std::vector<Triangle> facets_;
    std::vector<int> nodes_;
    SurfaceMesh surface_;  // at rest; its vertices are nodes_
    SurfaceTopology topology_;
    std::vector<Node> tree_;  // children after their parents
    std::vector<int> order_;  // facets as the leaves hold them
};

/// Of triangles with corners in the mesh, at rest [m].
[[nodiscard]] double shortest_edge(const VolumeMesh& mesh, const std::vector<Triangle>& facets);

}  // namespace pliant
