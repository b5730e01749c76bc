#pragma once

#include "pliant/body/rigid_motion.h"
#include "pliant/body/rigid_shape.h"
#include "pliant/fem/explicit_dynamics.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// How a touching node is kept out, docs/fem.md section "Contact".
enum class ContactMode {
    Hold,     ///< capture, then hold until the force would pull: smooth forces
    Literal,  ///< the published rule as it stands, for comparison: a train of spikes
};
/// When a node counts as touching.
enum class ContactTrigger {
    Predictive,  ///< its place at the end of the step is inside: it is below for one step only
    AtContact,   ///< its place at the start is: it is held where it was found
};

struct ContactOptions {
    ContactMode mode = ContactMode::Hold;
    ContactTrigger trigger = ContactTrigger::Predictive;
    double friction = 0.3;     ///< Coulomb's coefficient of every pair
    int sweeps = 4;            ///< of Gauss–Seidel over contacts that share nodes
    bool touches_soft = true;  ///< nodes against the facets of other soft bodies
    /// Depth up to which soft bodies find each other, and distance at which any node is let go [m];
    /// 0: half the shortest edge of the surface.
    double reach = 0;
    int capacity = 0;  ///< contacts at once; 0: enough for three at each surface node
};

/// One contact of the last step. The force acts on the node; the other side gets its opposite.
struct Contact {
    int body = -1, node = -1;
    int obstacle = -1;                ///< or −1: another soft body
    int other_body = -1, facet = -1;  ///< or −1: an obstacle
    /// Where the node is and out of the other side, in the world.
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::UnitZ();
    double gap = 0;                                   ///< at the end of the step [m]
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< normal and friction [N], eq. (C6)
    double normal_force = 0;                          ///< of it, along `normal` [N]
    bool is_capture = false;
};

/// Soft bodies in explicit dynamics among rigid obstacles and each other. Contact is a constraint
/// on accelerations inside the step: no penalty springs, no loss of step length,
/// docs/fem.md eq. (C1)–(C9), [Zhuang2000] ch. 4.
///
/// Immutable but for friction; one state and workspace per thread. After make_…() nothing allocates
/// with one thread.
class ExplicitScene {
public:
    /// What a surface node touches.
    struct Touch {
        enum class Phase : std::int8_t {
            None,
            Inside,    ///< but not kept out
            Captured,  ///< in the last step
            Held,
        };
        std::int32_t obstacle = -1;    ///< or −1: another soft body
        std::int32_t other_body = -1;  ///< or −1: an obstacle
        Phase phase = Phase::None;
        double owed = 0;  ///< normal impulse of the capture that was not reported [N s], eq. (C6)
    };
    static constexpr int kMaxTouches = 3;  ///< of a node: a corner

    struct State {
        std::vector<FemState> bodies;
        std::vector<RigidMotion> obstacles;
        std::vector<EnergyLog> work;  ///< of each body since the start
        /// kMaxTouches places for each surface node of each body; unused ones come last.
        std::vector<std::vector<Touch>> touches;
        double last_dt = 0;         ///< of the last step [s]
        bool has_captured = false;  ///< in the last step: the next one must have the same length
    };
    struct Report {
        StepStatus status = StepStatus::Ok;
        SmallestDetF smallest_det_F;
        int collapsing_body = -1;  ///< below its collapse limit
        int num_contacts = 0;
        bool is_inverting = false;  ///< refused for its det F
    };
    /// Scratch, and what the last step found.
    class Workspace {
    public:
        Workspace(Workspace&&) noexcept;
        Workspace& operator=(Workspace&&) noexcept;
        ~Workspace();

        [[nodiscard]] std::span<const Contact> contacts() const noexcept;
        /// On an obstacle, about the origin of its frame.
        [[nodiscard]] const Wrench& wrench(int obstacle) const noexcept;
        /// Most contacts in any step so far, against ContactOptions::capacity.
        [[nodiscard]] int most_contacts() const noexcept;
        /// Tells that displacements are not those that the last step left.
        void forget() noexcept;

    private:
        friend class ExplicitScene;
        struct Impl;
        explicit Workspace(std::unique_ptr<Impl> impl);
        std::unique_ptr<Impl> impl_;
    };

    /// Throws InputError for options out of range.
    ExplicitScene(std::vector<ExplicitDynamics> bodies, std::vector<RigidShape> obstacles,
                  const ContactOptions& options = {});
    ~ExplicitScene();
    ExplicitScene(ExplicitScene&&) noexcept;
    ExplicitScene& operator=(ExplicitScene&&) noexcept;

    [[nodiscard]] const std::vector<ExplicitDynamics>& bodies() const noexcept;
    [[nodiscard]] const std::vector<RigidShape>& obstacles() const noexcept;
    [[nodiscard]] const ContactOptions& options() const noexcept;
    /// Changes Coulomb's coefficient, between steps; ignores what is not finite or negative.
    void set_friction(double friction) noexcept;
    /// Smallest of all bodies.
    [[nodiscard]] double stable_step() const noexcept;

    /// At rest, obstacles at the origin. Bodies and obstacles may be changed before the first step.
    [[nodiscard]] State make_state() const;
    [[nodiscard]] Workspace make_workspace() const;
    /// Of one body, ascending: the nodes that can touch.
    [[nodiscard]] const std::vector<int>& surface_nodes(int body) const noexcept;

    /// One step of all bodies. `loads`: one vector per body [N] at the end of the step; `motions`:
    /// of the obstacles there. An obstacle whose motion is not finite stands still, a load that is
    /// not finite counts as zero, and for a dt that is not positive and finite there is no step
    /// (InputIgnored). After a capture a step of another length is refused, and a step that leaves
    /// the finite numbers is undone (StepRejected). Contacts beyond the capacity are dropped
    /// (CapacityExceeded). A step in which an element has a det F below `least_det_F` is refused
    /// as well, and then said in the report: the state is that before.
    [[nodiscard]] Report step(
        State& s, std::span<const Eigen::VectorXd> loads, std::span<const RigidMotion> motions,
        double dt, Workspace& ws,
        double least_det_F = -std::numeric_limits<double>::infinity()) const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
