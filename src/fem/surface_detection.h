#pragma once

#include "fem/carried_surface.h"
#include "fem/facet_tree.h"
#include "pliant/body/rigid_body.h"

#include <cstdint>
#include <optional>

namespace pliant {

/// A place where the drawn surface of a soft body and a rigid one are close to each other.
struct FoundContact {
    int obstacle = -1;
    int vertex = -1;  ///< of the surface, in or above the obstacle; or −1: …
    int point = -1;   ///< … a point of the obstacle, in or above …
    Triangle facet{-1, -1, -1};                         ///< … these vertices of the surface
    Eigen::Vector3d weights = Eigen::Vector3d::Zero();  ///< of its corners
    Eigen::Vector3d x = Eigen::Vector3d::Zero();        ///< of the soft surface, in the world
    /// Unit, in which the soft side is pushed.
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
    double gap = 0;  ///< [m]
};

/// Finds where the drawn surface touches rigid bodies, docs/fem.md section "Contact of bodies":
/// its vertices against the solids, and vertices and edges of the solids against its facets.
/// Candidates within a margin are listed when something has moved so far that the last list may
/// miss one; steps look at these alone. What is found depends on places and velocities only, not
/// on the lists. Immutable; one workspace per thread. Nothing allocates after make_workspace().
class SurfaceDetection {
public:
    class Workspace {
        friend class SurfaceDetection;
        struct VertexCandidate {
            int vertex;
            double clearance;  ///< no gap as long as less than this was travelled
        };
        struct PointCandidate {
            int point, first_facet, num_facets;
            double clearance;
        };
        struct Near {
            std::vector<VertexCandidate> vertices;
            std::vector<PointCandidate> points;
            std::vector<int> facets;  ///< of all points
            double margin = 0, travelled = 0, reach = 0;
            Pose pose;
            bool is_listed = false;
        };
        std::vector<Near> near;  ///< each obstacle
        FacetTree::Workspace surface;
        std::vector<std::uint64_t> placed;  ///< number of the step in which a vertex was placed
        std::uint64_t step = 0;

    public:
        std::vector<FoundContact> found;  ///< by obstacle, vertices before points
        bool is_complete = true;          ///< false: some did not fit
    };

    SurfaceDetection(const CarriedSurface& surface, const std::vector<RigidBody*>& obstacles,
                     int capacity);

    [[nodiscard]] Workspace make_workspace() const;
    [[nodiscard]] int capacity() const noexcept { return capacity_; }
    /// After nodes or obstacles were put elsewhere.
    void forget(Workspace& ws) const noexcept;
    /// Contacts that may close within the next step of `dt` seconds, into ws.found. `u` are the
    /// displacements now, `way` bounds how far a node has moved since the last call and, times
    /// `growth`, will move in the next step.
    void find(const CarriedSurface& surface, const Eigen::VectorXd& u, double way,
              std::span<const RigidMotion> motions, double dt, double growth,
              Workspace& ws) const noexcept;

private:
    struct Obstacle {
        RigidShape shape;
        std::vector<Eigen::Vector3d> points;
        double radius;  ///< about the origin of its frame; infinite for a solid without end
    };
    [[nodiscard]] double radius_of(const Obstacle& o, const Pose& pose) const noexcept;
    void list(const CarriedSurface& surface, const Eigen::VectorXd& u, const Obstacle& o,
              const Pose& pose, Workspace::Near& near, Workspace& ws) const noexcept;
    [[nodiscard]] bool list_points(const Obstacle& o, const Pose& pose, Workspace::Near& near,
                                   double& nearest, const Workspace& ws) const noexcept;
    void meet_vertex(const CarriedSurface& surface, const Eigen::VectorXd& u, int obstacle,
                     const Pose& pose, Workspace::VertexCandidate& c, Workspace& ws) const noexcept;
    void meet_point(const CarriedSurface& surface, const Eigen::VectorXd& u, int obstacle,
                    const Pose& pose, Workspace::PointCandidate& c, Workspace& ws) const noexcept;
    void keep(const FoundContact& contact, Workspace& ws) const noexcept;

    std::optional<FacetTree> tree_;  ///< none for a surface that is not closed
    std::vector<Obstacle> obstacles_;
    Eigen::Vector3d centre_;  ///< of the surface at rest
    double mean_edge_, size_;
    int num_vertices_, capacity_;
};

}  // namespace pliant
