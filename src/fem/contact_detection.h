#pragma once

#include "fem/facet_tree.h"
#include "pliant/fem/explicit_scene.h"

namespace pliant {

/// A surface node that is inside something, or kept out of it since earlier steps.
struct FoundTouch {
    ExplicitScene::Touch before;  ///< what the state says; names what is touched
    int body = -1;
    int surface_node = -1;  ///< place in surface_nodes(body)
    Eigen::Vector3d x = Eigen::Vector3d::Zero();
    int facet = -1;  ///< of the other body, with the weights of its corners
    Eigen::Vector3d weights = Eigen::Vector3d::Zero();
    double gap = 0;
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();

    /// Whether the node was kept out in the last step.
    [[nodiscard]] bool is_kept() const noexcept {
        return before.phase >= ExplicitScene::Touch::Phase::Captured;
    }
};

/// Finds what the surface nodes of soft bodies touch, docs/fem.md section "Finding contacts".
/// Immutable; one workspace per thread. Nothing allocates after make_workspace().
class ContactDetection {
public:
    struct Workspace {
        /// The last gap of a node to an obstacle: within that distance of that place there is no
        /// contact.
        struct Clearance {
            Eigen::Vector3d x_body = Eigen::Vector3d::Zero();
            double gap = 0;
        };
        std::vector<std::vector<Clearance>> clearances;  ///< of each obstacle's nodes of all bodies
        std::vector<FacetTree::Workspace> surfaces;
        std::vector<Box> obstacle_boxes;  ///< in the world
        std::vector<FoundTouch> found;    ///< by body and node
        bool is_complete = true;          ///< false: some did not fit
    };

    ContactDetection(const std::vector<ExplicitDynamics>& bodies,
                     const std::vector<RigidShape>& obstacles, const ContactOptions& options);

    [[nodiscard]] const std::vector<int>& surface_nodes(int body) const noexcept {
        return surfaces_[body].nodes();
    }
    [[nodiscard]] const Triangle& facet(int body, int facet) const noexcept {
        return surfaces_[body].facets()[facet];
    }
    [[nodiscard]] int capacity() const noexcept { return capacity_; }
    /// Distance at which a node of the body is let go [m].
    [[nodiscard]] double reach(int body) const noexcept { return reach_[body]; }

    [[nodiscard]] Workspace make_workspace() const;
    /// With the displacements that `s` holds now and the touches of the last step.
    void find(const std::vector<ExplicitDynamics>& bodies, const std::vector<RigidShape>& obstacles,
              const ExplicitScene::State& s, std::span<const RigidMotion> motions,
              Workspace& ws) const noexcept;

private:
    void meet_obstacle(FoundTouch& touch, const RigidShape& shape, const Pose& pose,
                       Workspace& ws) const noexcept;
    void meet_body(FoundTouch& touch, Workspace& ws) const noexcept;
    void keep(const FoundTouch& touch, Workspace& ws) const noexcept;

    std::vector<FacetTree> surfaces_;
    std::vector<double> reach_;
    std::vector<int> first_node_;  // of each body among the surface nodes of all
    int num_obstacles_ = 0, capacity_ = 0;
    bool soft_soft_ = false;
};

}  // namespace pliant
