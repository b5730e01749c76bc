#pragma once

#include <span>
#include <vector>

#include "pliant/greens/constraint_levels.h"
#include "pliant/greens/distributed_contact.h"

namespace pliant {

/// Chooses the level on which tools hold a body, so that a step stays within its budget,
/// docs/greens-constraints.md section "Degradation of touch": the finest with columns that fits,
/// coarser at once when it does not, finer again after some calm steps. Predictions go by numbers
/// of nodes alone, so that runs are the same. Nothing allocates after construction.
class LevelBudget {
public:
    /// Of the options `budget`, `block_seconds`, `calm_part` and `calm_frames` count. Throws
    /// InputError for options out of range and models without columns of coarser levels.
    LevelBudget(const GreensModel& model, const UpdateCosts& costs,
                const ConstraintLevelOptions& options);

    /// In place of contact.step(): no coarser than `coarsest`; −1: nodes.
    DistributedContact::Status step(DistributedContact& contact, std::span<const Pose> poses,
                                    int coarsest) noexcept;
    void reset() noexcept { calm_ = 0; }
    /// The finest with columns; −1: nodes.
    [[nodiscard]] int finest() const noexcept { return levels_.back(); }
    /// Of a step with so many held nodes, their inverse from scratch [s].
    [[nodiscard]] double predicted(double num_nodes) const noexcept;
    /// The most nodes that fit: a level that would hold more is given up before they are solved
    /// for.
    [[nodiscard]] int most_nodes() const noexcept { return most_nodes_; }
    /// Of the last step: inverses on all levels that were tried, as predicted [s].
    [[nodiscard]] double spent() const noexcept { return spent_; }

private:
    [[nodiscard]] double sums(double num_nodes) const noexcept;
    [[nodiscard]] std::size_t place_of(int level) const noexcept;
    [[nodiscard]] bool is_over(const DistributedContact& contact) const noexcept;

    ConstraintLevelOptions options_;
    UpdateCosts costs_;
    double column_seconds_;    // of the sum of a column
    std::vector<int> levels_;  // with columns, from the coarsest; −1: nodes
    int calm_ = 0, most_nodes_ = 0;
    double spent_ = 0;
};

}  // namespace pliant
