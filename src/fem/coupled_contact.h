#pragma once

#include "fem/complementarity.h"
#include "fem/contact_compliance.h"

#include <cstdint>

namespace pliant {

/// Contact of one body with obstacles in the coupled path, docs/fem.md eq. (C11)–(C13): which nodes
/// touch, what holds them, the forces. Remembers the held nodes from step to step.
class CoupledContact {
public:
    /// Contacts at once where the option does not say: blocks and factor grow with its square.
    static constexpr int kDefaultCapacity = 512;

    CoupledContact(const FemModel& model, CoupledSystem& system, std::vector<RigidShape> obstacles,
                   const ContactOptions& options);

    [[nodiscard]] bool has_obstacles() const noexcept { return !obstacles_.empty(); }
    /// Whether a step other than `step` would break the pair that a capture needs.
    [[nodiscard]] bool refuses(int step) const noexcept {
        return captured_in_ >= 0 && captured_in_ != step;
    }
    /// Lets all nodes go.
    void forget() noexcept;

    /// Sets the motions at the end of the step; those that are not finite are left as they were,
    /// without velocity (InputIgnored). None: all stay where they are.
    StepStatus move(std::span<const RigidMotion> motions) noexcept;
    /// Finds contacts and forces of a step from `before`, with displacements u and accelerations a
    /// without contact at its end: changes of a and of the velocity at the end, free unknowns, in
    /// the two columns of changes(). All zero if there is no force.
    /// Throws std::bad_alloc with solvers that allocate.
    StepStatus solve(int step, const FemState& before, const Eigen::VectorXd& u,
                     const Eigen::VectorXd& a);
    [[nodiscard]] bool has_forces() const noexcept { return has_forces_; }
    [[nodiscard]] const Eigen::MatrixXd& changes() const noexcept { return changes_; }
    /// The step that solve() looked at does not count: the next one may have another length.
    void undo() noexcept;
    /// The step that solve() looked at counts: remembers what is held, publishes the contacts.
    void commit(int step) noexcept;

    [[nodiscard]] std::span<const Contact> contacts() const noexcept { return contacts_; }
    [[nodiscard]] std::span<const Wrench> wrenches() const noexcept { return wrenches_; }

private:
    CoupledContact(const FemModel& model, CoupledSystem& system,
                   const std::vector<Triangle>& facets, std::vector<RigidShape>&& obstacles,
                   const ContactOptions& options);

    /// What the last step left between a surface node and an obstacle.
    struct Pair {
        enum class Phase : std::int8_t { None, Inside, Held } phase = Phase::None;
        double owed = 0;  // normal impulse of a capture that was not reported, eq. (C6)
        Eigen::Vector3d friction = Eigen::Vector3d::Zero();  // where the next sweeps start
    };
    /// A pair with a condition on its accelerations in this step.
    struct Touch {
        int pair, node, obstacle;
        bool is_capture;
        int place;  // in the compliance
        Eigen::Vector3d point, normal;
        double gap;
        Eigen::Vector3d half_velocity;                // h = v + dt/2 a before the step
        Eigen::Vector3d a_free, a;                    // at the end, without and with contact
        double wanted_acceleration, wanted_velocity;  // along the normal
        double incoming_velocity;                     // h against the obstacle, along the normal
        Eigen::Vector3d stick_acceleration;           // stops the node after the step
        Eigen::Vector3d friction = Eigen::Vector3d::Zero();
    };

    void clear_contacts() noexcept;
    [[nodiscard]] int num_touches() const noexcept { return static_cast<int>(touches_.size()); }
    [[nodiscard]] Eigen::Vector3d place_of(int node, const Eigen::VectorXd& u) const noexcept;
    /// Gap and normal in the world at the end of the step.
    [[nodiscard]] ShapeSample sample(int obstacle, const Eigen::Vector3d& x_world) const noexcept;
    /// Returns false when there are more contacts than places.
    bool find(double dt, const FemState& before, const Eigen::VectorXd& u,
              const Eigen::VectorXd& a_free) noexcept;
    /// Whether the pair has a condition, and which.
    bool make_touch(int pair, const ShapeSample& found, double dt, const FemState& before,
                    const Eigen::VectorXd& u, const Eigen::VectorXd& a_free,
                    Touch& touch) const noexcept;
    /// Finds the places in the compliance; drops contacts that nothing can move along the normal.
    void drop_immovable(int step);
    /// Returns whether S_ is that of the last step.
    bool build_matrix();
    /// Returns whether it converged.
    bool solve_normal(bool is_same_matrix);
    void find_corrections(double dt);
    void solve_friction();
    [[nodiscard]] double friction_bound(int i) const noexcept;
    [[nodiscard]] double largest_tangential_response(const Touch& touch) const noexcept;
    /// Accelerations of the touching nodes under all forces found so far.
    void update_accelerations();
    /// Impulses that bring touching nodes to the velocity of the obstacle; returns whether it
    /// converged.
    bool find_reset(double dt);
    void find_changes(int step);
    [[nodiscard]] Eigen::Vector3d force_on(int k) const {
        return lambda_[k] * touches_[k].normal + touches_[k].friction;
    }

    FemModel model_;
    CoupledSystem& system_;
    std::vector<RigidShape> obstacles_;
    ContactOptions options_;
    std::vector<int> surface_nodes_;
    double reach_ = 0;                      // beyond it a node is let go [m]
    std::vector<Pair> pairs_, next_pairs_;  // of surface node k and obstacle o: k num_obstacles + o
    std::vector<RigidMotion> motions_, motions_before_;
    bool are_motions_known_ = false;
    int captured_in_ = -1;  // the step length of a capture in the last step, or −1

    ContactCompliance compliance_;
    Complementarity complementarity_;
    std::vector<Touch> touches_;
    std::vector<int> nodes_, places_;
    // the contacts for which S_ was built
    std::vector<int> places_of_S_;
    std::vector<Eigen::Vector3d> normals_of_S_;
    int generation_of_S_ = -1;
    Eigen::MatrixXd S_, changes_;
    Eigen::VectorXd c_, lambda_, correction_, impulse_, smallest_impulse_;
    std::vector<int> active_;
    Eigen::MatrixXd S_active_;
    Eigen::VectorXd c_active_, x_active_;
    bool has_forces_ = false;

    std::vector<Contact> contacts_;
    std::vector<Wrench> wrenches_;
};

}  // namespace pliant
