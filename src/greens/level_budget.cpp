#include "pliant/greens/level_budget.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <string>

namespace pliant {
namespace {

/// Nodes in the same contact on the next finer level.
constexpr double kFinerNodes = 4;

}  // namespace

LevelBudget::LevelBudget(const GreensModel& model, const UpdateCosts& costs,
                         const ConstraintLevelOptions& options)
    : options_(options), costs_(costs) {
    const ReferenceProblem& reference = model.reference;
    check_options(reference, options);
    column_seconds_ = options.block_seconds * reference.functions->mean_column_blocks();
    for (int level = 0; level <= reference.hierarchy->num_levels(); ++level)
        for (int k = 0; k < reference.hierarchy->num_vertices(level); ++k)
            if (reference.kinds[at(k)] == NodeKind::Free &&
                reference.functions->has_column(reference.hierarchy->id(level, k))) {
                levels_.push_back(level < reference.hierarchy->num_levels() ? level : -1);
                break;
            }
    if (levels_.size() < 2)
        throw InputError("", "levels.budget", std::to_string(options.budget),
                         "a body with columns of several levels: there is nothing to choose from");
    while (most_nodes_ < reference.functions->num_nodes() &&
           predicted(most_nodes_ + 1) <= options.budget)
        ++most_nodes_;
}

double LevelBudget::sums(double num_nodes) const noexcept {
    return options_.block_seconds * kBlocksOfNewInverse * num_nodes * num_nodes +
           column_seconds_ * num_nodes;
}

double LevelBudget::predicted(double num_nodes) const noexcept {
    // eq. (H11) without loads
    return costs_.from_scratch(num_nodes) + sums(num_nodes);
}

/// Of the level itself, or the next finer one with columns.
std::size_t LevelBudget::place_of(int level) const noexcept {
    if (level < 0) return levels_.size() - 1;
    std::size_t place = 0;
    while (place + 1 < levels_.size() && levels_[place] >= 0 && levels_[place] < level) ++place;
    return place;
}

bool LevelBudget::is_over(const DistributedContact& contact) const noexcept {
    const DistributedContact::Report& report = contact.report();
    return report.status == DistributedContact::Status::Limited ||
           predicted(static_cast<double>(contact.touched().size()) + report.left_out) >
               options_.budget;
}

DistributedContact::Status LevelBudget::step(DistributedContact& contact,
                                             std::span<const Pose> poses, int coarsest) noexcept {
    const std::size_t last = place_of(coarsest);
    std::size_t place = std::max(place_of(contact.wanted_level()), last);
    const double inverses = options_.budget - sums(most_nodes_);
    spent_ = 0;
    const auto step_here = [&] {
        // on the last level rather too late than not at all: tools would go into the body
        if (place > last)
            contact.set_budget(most_nodes_, inverses - spent_);
        else
            contact.set_budget(kInfinity, kInfinity);
        (void)contact.set_level(levels_[place]);
        const DistributedContact::Status result = contact.step(poses);
        spent_ += contact.report().seconds;
        return result;
    };
    DistributedContact::Status status = step_here();
    if (status == DistributedContact::Status::BadInput) return status;
    const bool was_over = is_over(contact);
    while (is_over(contact) && place > last) {
        --place;
        status = step_here();
    }
    // finer from the next step on, when it would have fitted for a while
    const double finer = predicted(kFinerNodes * static_cast<double>(contact.touched().size()));
    const bool is_calm = !was_over && finer <= options_.calm_part * options_.budget;
    calm_ = is_calm ? std::min(calm_ + 1, options_.calm_frames) : 0;
    if (calm_ >= options_.calm_frames && place + 1 < levels_.size()) {
        (void)contact.set_level(levels_[place + 1]);
        calm_ = 0;
    }
    return status;
}

}  // namespace pliant
