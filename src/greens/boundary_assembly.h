#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "greens/boundary_kernels.h"
#include "greens/boundary_nodes.h"
#include "pliant/greens/boundary_elements.h"

namespace pliant {

/// The triangles around some nodes: what their columns are integrated over.
struct BoundaryPatch {
    int num_nodes = 0;
    std::vector<int> members;               ///< triangles, ascending
    std::vector<KernelTriangle> triangles;  ///< by places in the list of nodes; num_nodes: another
};

/// Integrates rows of G and H: a row of blocks for each target, a column of blocks for each node.
/// Immutable.
class BoundaryAssembler {
public:
    BoundaryAssembler(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                      const BoundaryOptions& options);
    /// As BoundaryModel::assemble.
    void assemble(int first_target, int num_targets, Eigen::Ref<Eigen::MatrixXd> G,
                  Eigen::Ref<Eigen::MatrixXd> H) const;

    /// Memory of one thread that integrates over patches.
    class Workspace;
    /// Nodes are different from each other.
    void set_patch(std::span<const int> nodes, Workspace& workspace) const;
    /// Block rows of `targets`, block columns of the nodes of the patch, but without what row sums
    /// give to H at the target itself (home_of). G and H are resized if they must grow; the upper
    /// left parts are written. On the calling thread.
    void assemble_patch(std::span<const int> targets, Workspace& workspace, Eigen::MatrixXd& G,
                        Eigen::MatrixXd& H) const;

    /// Where a target is: what row sums of H are taken from.
    struct Home {
        int nodes[3];
        double weights[3];
    };
    [[nodiscard]] Home home_of(int target) const {
        const Target& t = targets_[static_cast<std::size_t>(target)];
        return {{t.home_nodes[0], t.home_nodes[1], t.home_nodes[2]},
                {t.home_weights[0], t.home_weights[1], t.home_weights[2]}};
    }
    [[nodiscard]] const Eigen::Vector3d& target(int i) const {
        return targets_[static_cast<std::size_t>(i)].position;
    }
    /// Triangles that have a node.
    [[nodiscard]] std::span<const int> triangles_of(int node) const {
        const auto k = static_cast<std::size_t>(node);
        return {node_triangles_.data() + node_offsets_[k],
                static_cast<std::size_t>(node_offsets_[k + 1] - node_offsets_[k])};
    }
    [[nodiscard]] const KernelTriangle& triangle(int t) const {
        return triangles_[static_cast<std::size_t>(t)];
    }

private:
    struct Target {
        Eigen::Vector3d position;
        /// Where it is: the row's own value is interpolated between these nodes.
        int home_nodes[3];
        double home_weights[3];
        int first_incident, end_incident;
    };
    /// A triangle that a target is on.
    struct Incident {
        int triangle;
        Eigen::Vector3d weights;  // barycentric, of the target
    };
    struct Scratch;

    void add_incidents(const SurfaceMesh& mesh, const BoundaryNodes& nodes);
    /// `members`: which triangles these are, ascending; empty: all of them.
    void integrate_group(std::span<const int> targets, std::span<const KernelTriangle> triangles,
                         std::span<const int> members, Scratch& scratch) const;
    void add_singular(int lane, const KernelTriangle& triangle, const Eigen::Vector3d& weights,
                      Scratch& scratch) const;
    void add_near(int target, const KernelTriangle& triangle, int lane, Scratch& scratch) const;
    void flush(Scratch& scratch) const;

    bool is_elastic_;
    bool is_exterior_;
    int num_nodes_;
    int block_, planes_;
    BlockFactors factors_;
    std::vector<KernelTriangle> triangles_;
    std::vector<Target> targets_;
    std::vector<Incident> incidents_;
    std::vector<int> node_offsets_, node_triangles_;
};

/// Of one task.
struct BoundaryAssembler::Scratch {
    Scratch(int num_nodes, int planes, std::size_t num_triangles)
        : sums(static_cast<std::size_t>(num_nodes) *
               static_cast<std::size_t>(planes * kTargetLanes)),
          near_lanes(num_triangles) {}
    std::vector<double> sums;
    std::vector<std::uint8_t> near_lanes;
    TargetGroup group = {};
    // parts that wait for integration, and where their integrals go
    PartBatch parts = {};
    int part_lanes[kTargetLanes] = {};
    const int* part_nodes[kTargetLanes] = {};
    int num_parts = 0;
};

class BoundaryAssembler::Workspace {
public:
    explicit Workspace(const BoundaryAssembler& assembler)
        : place_of_(static_cast<std::size_t>(assembler.num_nodes_), -1), scratch_(0, 0, 0) {}
    [[nodiscard]] int num_nodes() const noexcept { return patch_.num_nodes; }

private:
    friend class BoundaryAssembler;
    BoundaryPatch patch_;
    std::vector<int> place_of_;  // −1 but while a patch is made
    Scratch scratch_;
};

}  // namespace pliant
