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
    Frictionless,  ///< held along one direction each, TouchedNode::direction: they slide
};

struct DistributedContactOptions {
    TouchFriction friction = TouchFriction::Sticking;
    /// In contact at once. Where more nodes are touched, every so many of them are held, evenly
    /// spread: a coarser contact, told as Status::Limited.
    int max_nodes = 100;
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
    /// Frictionless: unit, in the frame of the body, against the tool; along it the displacement is
    /// `depth` [m] and the force acts. The body's normal where this leans against the tool's by
    /// less than 60°, at its edges 30°, otherwise that of the tool with its sign changed.
    Eigen::Vector3d direction = Eigen::Vector3d::UnitZ();
    double depth = 0;
};

/// Unilateral contact of an elastic body with rigid convex tools by active set, docs/greens.md
/// section "Tools", eq. (E12). Frame of the body at rest, SI. A step allocates, locks and throws
/// nothing; sets that the solver refuses leave the last good one.
///
/// Of nodes at one place (doubled ones of an edge) one is held: the one whose normal faces the tool
/// most. No node bears more than the material can, eq. (E15):
///     |p_i| ≤ 10 M δ / √a_i,    M = 2 G (1 − ν) / (1 − 2ν),  ν ≤ 0.49,
/// with δ the farthest that a tool moves a held node from where it would be without tools. A node
/// that would bear more is let go for the step.
class DistributedContact {
public:
    enum class Status : std::uint8_t {
        Settled,    ///< nothing left to change
        Unsettled,  ///< iterations ran out; the last set counts
        Limited,    ///< some nodes were left out: too many, too loaded, or refused by the solver
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
    /// Where a touched node is held, less where it is at rest, along what its force acts along [m].
    [[nodiscard]] Eigen::Vector3d displacement(const TouchedNode& touched) const noexcept;
    /// On tool `k`, about the origin of its frame, axes of the body [N, N m].
    [[nodiscard]] Wrench load(int k) const noexcept;
    /// −∂load(k) / ∂motion of tool k about its origin, eq. (E13); zero when it touches nothing.
    [[nodiscard]] Matrix6d stiffness(int k) const noexcept;

    struct Report {
        Status status = Status::Settled;
        CapacitanceStatus solver = CapacitanceStatus::Hit;  ///< last refusal, else last answer
        int iterations = 0;
        int added = 0, removed = 0;  ///< nodes, against the step before
        int left_out = 0;    ///< nodes inside a tool that are not held: too many, too loaded, or
                             ///< refused
        int overloaded = 0;  ///< of these, what would bear more than (E15)
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
    void find_mates();
    void rank_nodes();
    [[nodiscard]] CapacitanceStatus solve() noexcept;
    [[nodiscard]] Eigen::Vector3d direction(int node, const Eigen::Vector3d& outward,
                                            const Eigen::Vector3d& now) const noexcept;
    [[nodiscard]] int facing_mate(int node, const Eigen::Vector3d& outward,
                                  double margin) const noexcept;
    [[nodiscard]] bool has_listed_mate(int node) const noexcept;
    double follow(TouchedNode& touched, const Eigen::Vector3d& displacement,
                  bool turns) const noexcept;
    [[nodiscard]] bool follow_all() noexcept;
    void slide_along() noexcept;
    void let_go_of_distant() noexcept;
    [[nodiscard]] int remove_pulled() noexcept;
    void find_intruders() noexcept;
    void thin_out() noexcept;
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
    std::vector<Eigen::Vector3d> normals_;  // of the body, by node: unit
    std::vector<char> is_at_edge_;
    std::vector<int> mate_;  // of each node, the next one at its place: a ring
    std::vector<int> rank_;  // of each node: the first k of them are evenly spread
    double stiffest_ = 0;    // M of (E15) [Pa]
    int level_ = -1, wanted_level_ = -1, first_column_ = 0;
    std::vector<Pose> poses_;
    std::vector<TouchedNode> active_, kept_, good_;  // by node
    std::vector<char> was_active_, is_active_;
    std::vector<char> is_barred_;  // for this step: too loaded
    std::vector<char> is_listed_;  // scratch: among intruders_
    std::vector<Intruder> intruders_;
    std::vector<int> ranks_;  // scratch
    std::vector<float> field_;
    std::vector<int> tool_columns_, tool_offsets_;  // of the last step, by tool
    std::vector<ChangedDof> changes_;
    std::vector<double> values_;
    std::vector<Eigen::Vector3d> moved_;  // active_ by the solution; empty: not asked for
    std::vector<int> asked_nodes_;
    std::vector<Eigen::Vector3d> asked_values_;
    Report report_;
};

}  // namespace pliant
