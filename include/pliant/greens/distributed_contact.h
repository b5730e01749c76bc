#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "pliant/body/rigid_shape.h"
#include "pliant/core/pose.h"
#include "pliant/greens/capacitance_solver.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/patch_stiffness.h"

namespace pliant {

enum class TouchFriction : std::uint8_t {
    Sticking,      ///< touched nodes keep their place on the tool until they are pulled
    Frictionless,  ///< only along the normals of the body: nodes slide over the tool
};

struct DistributedContactOptions {
    TouchFriction friction = TouchFriction::Sticking;
    int max_nodes = 100;     ///< in contact at once
    int max_iterations = 8;  ///< of the active set in a step
    int level =
        -1;  ///< of the vertices that may be held, docs/greens-constraints.md; −1: all nodes
    /// `max_dofs` follows from `max_nodes`.
    CapacitanceOptions capacitance = {};
};

/// Node of the body held by a tool.
struct TouchedNode {
    int node = 0;
    int tool = 0;
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero();   ///< on the tool, its own frame [m]
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< of the tool there, its own frame
    double depth = 0;  ///< frictionless: prescribed displacement along the body's normal [m]
};

/// Unilateral contact of an elastic body with rigid convex tools by active set, docs/greens.md
/// section "Tools", eq. (E12). Frame of the body at rest, SI. A step allocates, locks and throws
/// nothing; sets that the solver refuses leave the last good one.
class DistributedContact {
public:
    enum class Status : std::uint8_t {
        Settled,    ///< nothing left to change
        Unsettled,  ///< iterations ran out; the last set counts
        Limited,    ///< some nodes were left out: too many, or refused by the solver
        BadInput,   ///< a pose is not finite: nothing has changed
    };

    /// `tools` are sampled as convex solids: sphere, capsule, box or a convex mesh. Throws
    /// InputError for half-spaces, options that are not positive, a level without columns, and as
    /// CapacitanceSolver does.
    DistributedContact(std::shared_ptr<const GreensModel> model, std::vector<RigidShape> tools,
                       const UpdateCosts& costs, const DistributedContactOptions& options = {});

    /// Tools at `poses` in the frame of the body, one each. Loads set on `solver()` count.
    Status step(std::span<const Pose> poses) noexcept;
    /// Lets go of everything, cached inverses included: the next run is that of a new contact.
    void reset() noexcept;
    /// From the next step on; nodes that are not on it are let go there, and what is inside a tool
    /// is taken. False, and nothing else: the body has no columns of it.
    bool set_level(int level) noexcept;
    [[nodiscard]] int level() const noexcept { return level_; }  ///< −1: all nodes
    [[nodiscard]] int wanted_level() const noexcept {
        return wanted_level_;
    }  ///< from the next step
    /// From the next step on: it ends as Limited, on the list solved for last, before it would hold
    /// more than `max_nodes` or spend more than `seconds` on inverses, as predicted. Infinity: no
    /// limit.
    void set_budget(double max_nodes, double seconds) noexcept {
        most_held_ = max_nodes;
        most_seconds_ = seconds;
    }
    /// How far loads on `solver()` may have moved nodes [m]: tools are looked for so far away.
    void set_reach(double reach) noexcept { least_reach_ = reach > 0 ? reach : 0; }

    /// Of the last step, by node.
    [[nodiscard]] std::span<const TouchedNode> touched() const noexcept { return active_; }
    /// On tool `k`, about the origin of its frame, axes of the body [N, N m].
    [[nodiscard]] Wrench load(int k) const noexcept;
    /// −∂load(k) / ∂motion of tool k about its origin, eq. (E13); zero when it touches nothing.
    [[nodiscard]] Matrix6d stiffness(int k) const noexcept;

    struct Report {
        Status status = Status::Settled;
        CapacitanceStatus solver = CapacitanceStatus::Hit;  ///< last refusal, else last answer
        int iterations = 0;
        int added = 0, removed = 0;  ///< nodes, against the step before
        int left_out = 0;    ///< nodes inside a tool that are not held: too many, or refused
        double deepest = 0;  ///< of these [m]
        double seconds = 0;  ///< of all inverses on the way, as predicted [s]
        int pulled = 0;      ///< nodes of the step before that were let go, taken again or not
    };
    [[nodiscard]] const Report& report() const noexcept { return report_; }

    /// For loads, fields (`evaluate`, `write_displacements`) and its report. Do not solve with it.
    [[nodiscard]] CapacitanceSolver& solver() noexcept { return solver_; }
    [[nodiscard]] const CapacitanceSolver& solver() const noexcept { return solver_; }
    [[nodiscard]] int num_tools() const noexcept { return static_cast<int>(tools_.size()); }
    [[nodiscard]] const RigidShape& tool(int k) const noexcept {
        return tools_[static_cast<std::size_t>(k)];
    }

private:
    struct Intruder {
        TouchedNode touched;
        double gap = 0;  // negative: inside
    };

    void find_candidates() noexcept;
    [[nodiscard]] int place_of_level(int level) const noexcept;
    /// Id of the column of a node on the level in use.
    [[nodiscard]] int column(int node) const noexcept { return node + first_column_; }
    void change_level() noexcept;
    [[nodiscard]] CapacitanceStatus solve() noexcept;
    void follow(TouchedNode& touched, const Eigen::Vector3d& displacement) const noexcept;
    [[nodiscard]] bool follow_all() noexcept;
    [[nodiscard]] int remove_pulled() noexcept;
    void find_intruders() noexcept;
    [[nodiscard]] int add_intruders() noexcept;
    [[nodiscard]] bool is_too_much() const noexcept;
    void gather_values(bool are_tractions) noexcept;
    Status finish(Status status) noexcept;

    std::shared_ptr<const GreensModel> model_;
    std::vector<RigidShape> tools_;
    DistributedContactOptions options_;
    CapacitanceSolver solver_;
    double tolerance_;  // of gaps [m]
    double least_reach_ = 0;
    double most_held_ = std::numeric_limits<double>::infinity();     // of a step: nodes
    double most_seconds_ = std::numeric_limits<double>::infinity();  // and inverses [s]
    std::vector<Eigen::Vector3d> middles_, placed_middles_;          // of the tools' bounds
    std::vector<double> radii_;                                      // around them
    std::vector<std::vector<int>> touchable_;                        // nodes, by place_of_level
    std::vector<int> candidates_;                                    // nodes
    int level_ = -1, wanted_level_ = -1, first_column_ = 0;
    std::vector<Pose> poses_;
    std::vector<TouchedNode> active_, kept_, good_;  // by node
    std::vector<char> was_active_, is_active_;
    std::vector<Intruder> intruders_;
    std::vector<float> field_;
    std::vector<int> tool_columns_, tool_offsets_;  // of the last step, by tool
    std::vector<ChangedDof> changes_;
    std::vector<double> values_;
    std::vector<int> asked_nodes_;
    std::vector<Eigen::Vector3d> asked_values_;
    Report report_;
};

}  // namespace pliant
