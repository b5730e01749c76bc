#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "pliant/greens/capacitance_solver.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {

/// A node that is held where something touches it.
struct HeldNode {
    int node = 0;  ///< of the finest level, or the id of a coarser function
    Eigen::Vector3d displacement = Eigen::Vector3d::Zero();  ///< [m]
    int group = 0;  ///< what touches it: every group keeps a node on all levels
};

/// Contact on the finest level as conditions of a coarser one, docs/greens-constraints.md eq.
/// (H10): vertices of the level that are touched, and those whose functions are mostly covered by
/// contact, which go where it goes on average. Sized at construction.
class ContactMap {
public:
    /// Only functions with columns in `reference` are used. Throws InputError without a hierarchy,
    /// and for `cover` outside of 0 < cover ≤ 1.
    ContactMap(const ReferenceProblem& reference, int max_nodes, int num_groups,
               double cover = 0.5);

    /// Each node at most once, no more than max_nodes. The result lies here until the next call;
    /// by id. Level L: `held` itself.
    [[nodiscard]] std::span<const HeldNode> map(std::span<const HeldNode> held, int level) noexcept;

private:
    struct Cover {
        double area = 0;
        Eigen::Vector3d displacement = Eigen::Vector3d::Zero();  // times area
        int touched = -1;                                        // place of its own node in `held`
        int group = 0;
    };
    void keep(int k, int level, std::span<const HeldNode> held) noexcept;
    void keep_groups(std::span<const HeldNode> held, int level) noexcept;

    std::shared_ptr<const GreensFunctions> functions_;
    std::shared_ptr<const HierarchicalBasis> basis_;
    std::vector<double> vertex_areas_, areas_;
    double cover_;
    int num_groups_;
    std::vector<Cover> covers_;  // by vertex
    std::vector<int> covered_;   // vertices with some
    std::vector<char> is_kept_, has_group_;
    std::vector<HeldNode> result_;
};

struct ConstraintLevelOptions {
    int coarsest = 0;             ///< level to which it may go
    double budget = 1e-3;         ///< of a frame: inverse, sums and what is fixed [s]
    double block_seconds = 1e-9;  ///< of one block in a sum of columns, or of C⁻¹
    double element_seconds = 0;  ///< of a block of Ξ by itself; large or compressed: 0.1–0.4 µs
    double fixed_seconds = 0;    ///< of every frame: inverse transform, normals
    double calm_part = 0.7;      ///< of the budget that a finer level may take
    int calm_frames = 8;         ///< in a row, before the level is made finer
    int fade_frames = 4;         ///< over which another level is faded in; 1: at once
    double cover = 0.5;          ///< of a function by contact, to be held
    int max_nodes = 1000;        ///< in contact on the finest level
    int num_groups = 1;
};

/// Blocks for each pair of nodes where an inverse is new: it is applied, and with C it is kept in
/// the cache, whose memory is cold.
inline constexpr double kBlocksOfNewInverse = 5;

/// Throws InputError for options out of range, and without columns of coarser levels.
void check_options(const ReferenceProblem& reference, const ConstraintLevelOptions& options);

/// Chooses the level on which contact is solved for, so that every frame stays within its budget,
/// docs/greens-constraints.md section "Degradation": as fine as the predicted cost allows, coarser
/// at once when it does not, finer again after some calm frames, and without a jump of what is
/// shown. Nothing allocates after construction. One for each solver and thread.
class ConstraintLevels {
public:
    enum class Status : std::uint8_t {
        Solved,
        Degraded,  ///< solved, on a coarser level than before
        Refined,   ///< solved, on a finer level than before
        Kept,      ///< not even the coarsest level fits or is solvable: the last solution stays
        BadInput,  ///< too many nodes, a node without column or twice, values that are not finite
    };

    /// Throws InputError for options out of range and as ContactMap does.
    ConstraintLevels(const ReferenceProblem& reference, const ConstraintLevelOptions& options = {});

    /// Holds nodes of the finest level where they are to be, on the level that fits. Loads are
    /// those of the solver, which nobody else solves with; its budget is set.
    Status solve(CapacitanceSolver& solver, std::span<const HeldNode> held) noexcept;
    /// After CapacitanceSolver::evaluate: what to show of the first nodes, three numbers each [m];
    /// once a frame. After a change of level it goes over from what was shown, linearly.
    void write_displacements(const CapacitanceSolver& solver, std::span<float> out) noexcept;
    void reset() noexcept;                     ///< finest level, nothing to fade
    bool set_budget(double seconds) noexcept;  ///< for the next solve; false: not positive

    [[nodiscard]] int level() const noexcept { return level_; }
    /// Conditions of the last solution.
    [[nodiscard]] std::span<const HeldNode> conditions() const noexcept { return conditions_; }

    /// Of the last solve.
    struct Report {
        Status status = Status::Solved;
        CapacitanceStatus solver = CapacitanceStatus::Hit;
        int level = 0, num_conditions = 0;  ///< nodes
        double predicted = 0;               ///< of the frame [s]
        int calm = 0;                       ///< frames in which a finer level would have fitted
    };
    [[nodiscard]] const Report& report() const noexcept { return report_; }

private:
    [[nodiscard]] bool is_usable(std::span<const HeldNode> held) noexcept;
    /// Conditions of a level into changes_ and values_; what the frame would cost [s].
    [[nodiscard]] double prepare(CapacitanceSolver& solver, std::span<const HeldNode> held,
                                 int level) noexcept;

    ConstraintLevelOptions options_;
    std::shared_ptr<const GreensFunctions> functions_;
    ContactMap map_;
    int finest_, level_;
    double sum_seconds_;  // of one column
    int calm_ = 0;
    std::vector<char> is_seen_;
    std::vector<ChangedDof> changes_;
    std::vector<double> values_;
    std::vector<HeldNode> mapped_, conditions_;
    // what is shown, and the way left to it from where it was
    std::vector<float> shown_, offset_;
    std::size_t num_shown_ = 0;
    bool has_switched_ = false;
    int fade_ = 0;  // frames left
    Report report_;
};

}  // namespace pliant
