#pragma once

#include <vector>

#include <Eigen/Core>

#include "greens/boundary_kernels.h"
#include "greens/boundary_nodes.h"
#include "pliant/greens/boundary_elements.h"

namespace pliant {

/// Integrates rows of G and H: a row of blocks for each target, a column of blocks for each node.
/// Immutable.
class BoundaryAssembler {
public:
    BoundaryAssembler(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                      const BoundaryOptions& options);
    /// As BoundaryModel::assemble.
    void assemble(int first_target, int num_targets, Eigen::Ref<Eigen::MatrixXd> G,
                  Eigen::Ref<Eigen::MatrixXd> H) const;

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
    void integrate_group(int first_target, int num_targets, Scratch& scratch) const;
    void add_singular(int lane, const Incident& incident, Scratch& scratch) const;
    void add_near(int first_target, int triangle, int lane, Scratch& scratch) const;
    void flush(Scratch& scratch) const;

    bool is_elastic_;
    bool is_exterior_;
    int num_nodes_;
    int block_, planes_;
    BlockFactors factors_;
    std::vector<KernelTriangle> triangles_;
    std::vector<Target> targets_;
    std::vector<Incident> incidents_;
};

}  // namespace pliant
