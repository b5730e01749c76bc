#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// Essential conditions: components of node displacements that are given, not solved for.
class Constraints {
public:
    explicit Constraints(int num_nodes);

    /// Holds all three components of the nodes at zero. Throws InputError for a node out of range.
    void fix(std::span<const int> nodes);
    /// Gives one component (axis 0, 1, 2) of one node [m]. Throws InputError for a node out of
    /// range or a displacement that is not finite. The last call counts.
    void prescribe(int node, int axis, double displacement);

    [[nodiscard]] int num_nodes() const noexcept { return static_cast<int>(is_given_.size()) / 3; }
    [[nodiscard]] bool is_prescribed(int node, int axis) const noexcept {
        return is_given_[3 * node + axis] != 0;
    }
    /// Of all 3n unknowns; zero where free.
    [[nodiscard]] const Eigen::VectorXd& displacements() const noexcept { return displacements_; }
    /// Nodes with all components given, ascending: those without unknowns.
    [[nodiscard]] std::vector<int> held_nodes() const;

private:
    std::vector<char> is_given_;
    Eigen::VectorXd displacements_;
};

/// Rigid motions of one part of a body that its conditions leave free.
struct FreeMotions {
    int vertex = -1;                 ///< the lowest of the part
    bool is_whole_body = false;      ///< the mesh has one part only
    std::vector<std::string> names;  ///< `translation along x`, `rotation about (0.71, 0.71, 0)`
};
/// Of the first part (connected through shared vertices) that can move; no names if none can. A
/// rotation counts as free about any axis of its direction.
[[nodiscard]] FreeMotions free_rigid_motions(const VolumeMesh& mesh,
                                             const Constraints& constraints);
/// Throws InputError that names the free rigid motions, if there are any.
void check_supported(const VolumeMesh& mesh, const Constraints& constraints);

}  // namespace pliant
