#include "pliant/greens/constraint_levels.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

const ReferenceProblem& checked_hierarchy(const ReferenceProblem& reference) {
    if (!reference.functions || !reference.hierarchy)
        throw InputError("",
                         "constraint levels: the body has no columns of coarser levels; refine "
                         "them first");
    return reference;
}

}  // namespace

void check_options(const ReferenceProblem& reference, const ConstraintLevelOptions& options) {
    const HierarchicalBasis& basis = *checked_hierarchy(reference).hierarchy;
    const auto require = [](bool is_good, const char* field, double value, const char* expected) {
        if (!is_good) throw InputError("", field, std::to_string(value), expected);
    };
    if (options.coarsest < 0 || options.coarsest > basis.num_levels())
        throw InputError("", "levels.coarsest", std::to_string(options.coarsest),
                         "0 to " + std::to_string(basis.num_levels()));
    require(options.budget > 0, "levels.budget", options.budget, "value > 0 [s]");
    require(options.block_seconds > 0, "levels.block_seconds", options.block_seconds,
            "value > 0 [s]");
    require(options.element_seconds >= 0, "levels.element_seconds", options.element_seconds,
            "value >= 0 [s]");
    require(options.fixed_seconds >= 0, "levels.fixed_seconds", options.fixed_seconds,
            "value >= 0 [s]");
    require(options.calm_part > 0 && options.calm_part <= 1, "levels.calm_part", options.calm_part,
            "0 < value <= 1");
    require(options.calm_frames >= 1, "levels.calm_frames", options.calm_frames, "value >= 1");
    require(options.fade_frames >= 1, "levels.fade_frames", options.fade_frames, "value >= 1");
}

ContactMap::ContactMap(const ReferenceProblem& reference, int max_nodes, int num_groups,
                       double cover)
    : functions_(checked_hierarchy(reference).functions),
      basis_(reference.hierarchy),
      vertex_areas_(reference.areas),
      areas_(basis_->areas(vertex_areas_)),
      cover_(cover),
      num_groups_(num_groups) {
    if (!(cover > 0 && cover <= 1))
        throw InputError("", "levels.cover", std::to_string(cover), "0 < value <= 1");
    if (max_nodes < 1 || num_groups < 1)
        throw InputError("", "levels: max_nodes and num_groups must be positive");
    const std::size_t n = at(basis_->num_vertices());
    covers_.resize(n);
    is_kept_.assign(n, 0);
    has_group_.assign(at(num_groups), 0);
    // functions of a level that meet a node: three, a few more at borders of domains
    covered_.reserve(n);
    result_.reserve(std::max(n, at(max_nodes)));
}

/// Its own displacement where it is touched, otherwise the mean of what covers it.
void ContactMap::keep(int k, int level, std::span<const HeldNode> held) noexcept {
    if (is_kept_[at(k)]) return;
    is_kept_[at(k)] = 1;
    const Cover& cover = covers_[at(k)];
    HeldNode node = cover.touched >= 0 ? held[at(cover.touched)] : HeldNode{};
    node.node = basis_->id(level, k);
    if (cover.touched < 0) {
        node.displacement = cover.displacement / cover.area;
        node.group = cover.group;
    }
    result_.push_back(node);
}

/// Groups that have lost all their nodes keep the one that they cover most, unless another group
/// has it; it goes where they go on average.
void ContactMap::keep_groups(std::span<const HeldNode> held, int level) noexcept {
    std::fill(has_group_.begin(), has_group_.end(), 0);
    for (const HeldNode& node : result_) has_group_[at(node.group)] = 1;
    for (int group = 0; group < num_groups_; ++group) {
        if (has_group_[at(group)]) continue;
        for (const int k : covered_) {
            covers_[at(k)].area = 0;
            covers_[at(k)].displacement.setZero();
        }
        for (const HeldNode& node : held) {
            if (node.group != group) continue;
            const WeightedVertices over = basis_->covering(level, node.node);
            for (std::size_t q = 0; q < over.vertices.size(); ++q) {
                Cover& cover = covers_[at(over.vertices[q])];
                const double share = over.weights[q] * vertex_areas_[at(node.node)];
                cover.area += share;
                cover.displacement += share * node.displacement;
            }
        }
        int best = -1;
        for (const int k : covered_)
            if (!is_kept_[at(k)] && covers_[at(k)].area > 0 &&
                functions_->has_column(basis_->id(level, k)) &&
                (best < 0 || covers_[at(k)].area > covers_[at(best)].area))
                best = k;
        if (best < 0) continue;
        covers_[at(best)].group = group;
        keep(best, level, held);
    }
}

std::span<const HeldNode> ContactMap::map(std::span<const HeldNode> held, int level) noexcept {
    result_.clear();
    if (level == basis_->num_levels()) {
        result_.assign(held.begin(), held.end());
        return result_;
    }
    covered_.clear();
    for (std::size_t i = 0; i < held.size(); ++i) {
        const int node = held[i].node;
        const WeightedVertices over = basis_->covering(level, node);
        for (std::size_t q = 0; q < over.vertices.size(); ++q) {
            Cover& cover = covers_[at(over.vertices[q])];
            if (cover.area == 0) {
                covered_.push_back(over.vertices[q]);
                cover.group = held[i].group;
            }
            const double share = over.weights[q] * vertex_areas_[at(node)];
            cover.area += share;
            cover.displacement += share * held[i].displacement;
            if (over.vertices[q] == node) cover.touched = static_cast<int>(i);
        }
    }
    for (const int k : covered_) {
        const int id = basis_->id(level, k);
        if (!functions_->has_column(id)) continue;
        if (covers_[at(k)].touched >= 0 || covers_[at(k)].area >= cover_ * areas_[at(id)])
            keep(k, level, held);
    }
    keep_groups(held, level);
    for (const int k : covered_) {
        covers_[at(k)] = {};
        is_kept_[at(k)] = 0;
    }
    std::sort(result_.begin(), result_.end(),
              [](const HeldNode& a, const HeldNode& b) { return a.node < b.node; });
    return result_;
}

ConstraintLevels::ConstraintLevels(const ReferenceProblem& reference,
                                   const ConstraintLevelOptions& options)
    : options_(options),
      functions_(reference.functions),
      map_(reference, options.max_nodes, options.num_groups, options.cover),
      finest_(reference.hierarchy->num_levels()),
      level_(finest_),
      sum_seconds_(options.block_seconds * functions_->mean_column_blocks()) {
    check_options(reference, options);
    if (functions_->block() != 3)
        throw InputError("",
                         "constraint levels: the body's field is scalar; contact needs elastic "
                         "Green's functions");
    const std::size_t n = at(functions_->num_nodes()), most = std::max(n, at(options.max_nodes));
    is_seen_.assign(n, 0);
    changes_.reserve(3 * most);
    values_.reserve(3 * most);
    mapped_.reserve(most);
    conditions_.reserve(most);
    shown_.assign(3 * n, 0.0f);
    offset_.assign(3 * n, 0.0f);
    report_.level = level_;
}

void ConstraintLevels::reset() noexcept {
    level_ = finest_;
    calm_ = fade_ = 0;
    num_shown_ = 0;
    has_switched_ = false;
    conditions_.clear();
    report_ = {};
    report_.level = level_;
}

bool ConstraintLevels::set_budget(double seconds) noexcept {
    if (!(seconds > 0)) return false;
    options_.budget = seconds;
    return true;
}

bool ConstraintLevels::is_usable(std::span<const HeldNode> held) noexcept {
    if (held.size() > at(options_.max_nodes)) return false;
    bool is_good = true;
    std::size_t num_marked = 0;
    for (; num_marked < held.size(); ++num_marked) {
        const HeldNode& node = held[num_marked];
        is_good = node.node >= 0 && node.node < functions_->num_nodes() &&
                  !is_seen_[at(node.node)] && node.displacement.allFinite() && node.group >= 0 &&
                  node.group < options_.num_groups;
        if (!is_good) break;
        is_seen_[at(node.node)] = 1;
    }
    for (std::size_t k = 0; k < num_marked; ++k) is_seen_[at(held[k].node)] = 0;
    return is_good;
}

double ConstraintLevels::prepare(CapacitanceSolver& solver, std::span<const HeldNode> held,
                                 int level) noexcept {
    const auto mapped = map_.map(held, level);
    mapped_.assign(mapped.begin(), mapped.end());
    changes_.clear();
    values_.clear();
    for (const HeldNode& node : mapped_)
        for (int k = 0; k < 3; ++k) {
            changes_.push_back({node.node, Vector3d::Unit(k)});
            values_.push_back(node.displacement[k]);
        }
    const double s = static_cast<double>(mapped_.size()),
                 loads = static_cast<double>(solver.num_loads());
    // eq. (H11)
    const auto inverse = solver.predict(changes_);
    const double blocks = (inverse.seconds > 0 ? kBlocksOfNewInverse : 1) * s * s + s * loads;
    return inverse.seconds + options_.element_seconds * inverse.elements +
           options_.block_seconds * blocks + sum_seconds_ * (s + loads) + options_.fixed_seconds;
}

ConstraintLevels::Status ConstraintLevels::solve(CapacitanceSolver& solver,
                                                 std::span<const HeldNode> held) noexcept {
    report_ = {};
    report_.level = level_;
    if (!is_usable(held)) return report_.status = Status::BadInput;

    // finer only when it would have fitted for a while
    int wanted = level_;
    if (level_ < finest_) {
        const bool fits = prepare(solver, held, level_ + 1) <= options_.calm_part * options_.budget;
        calm_ = fits ? calm_ + 1 : 0;
        if (calm_ >= options_.calm_frames) wanted = level_ + 1;
    }
    report_.calm = calm_;
    for (int level = wanted; level >= options_.coarsest; --level) {
        const double predicted = prepare(solver, held, level);
        report_.predicted = predicted;
        report_.solver = CapacitanceStatus::OverBudget;
        if (!(predicted <= options_.budget)) continue;
        solver.set_budget(options_.budget);
        report_.solver = solver.solve(changes_, values_);
        if (report_.solver == CapacitanceStatus::BadInput) return report_.status = Status::BadInput;
        if (is_refused(report_.solver)) continue;

        // on coarser levels nodes come and go with a jump, too: half of their function is covered
        has_switched_ =
            has_switched_ || level != level_ ||
            (level != finest_ &&
             !std::equal(conditions_.begin(), conditions_.end(), mapped_.begin(), mapped_.end(),
                         [](const HeldNode& a, const HeldNode& b) { return a.node == b.node; }));
        conditions_.swap(mapped_);
        report_.num_conditions = static_cast<int>(conditions_.size());
        report_.status = level < level_   ? Status::Degraded
                         : level > level_ ? Status::Refined
                                          : Status::Solved;
        if (level != level_) calm_ = 0;
        report_.level = level_ = level;
        return report_.status;
    }
    report_.num_conditions = static_cast<int>(conditions_.size());
    return report_.status = Status::Kept;
}

void ConstraintLevels::write_displacements(const CapacitanceSolver& solver,
                                           std::span<float> out) noexcept {
    assert(out.size() <= shown_.size());
    solver.write_displacements(out);
    if (out.size() != num_shown_) fade_ = 0;
    if (std::exchange(has_switched_, false) && out.size() == num_shown_ &&
        options_.fade_frames > 1) {
        for (std::size_t k = 0; k < out.size(); ++k) offset_[k] = shown_[k] - out[k];
        fade_ = options_.fade_frames;
    }
    if (fade_ > 0) {
        // the part of the way that is left after this frame, eq. (H12)
        --fade_;
        const float part = static_cast<float>(fade_) / static_cast<float>(options_.fade_frames);
        for (std::size_t k = 0; k < out.size(); ++k) out[k] += part * offset_[k];
    }
    std::copy(out.begin(), out.end(), shown_.begin());
    num_shown_ = out.size();
}

}  // namespace pliant
