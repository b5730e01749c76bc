#include "pliant/greens/capacitance_solver.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Directions are unit and orthogonal to this.
constexpr double kDirectionTolerance = 1e-6;
/// Least pivot of the constraints on rigid motions, against the largest.
constexpr double kLeastHold = 1e-9;
constexpr int kAdvancesBetweenSums = 256;
/// Nondimensional values beyond this are no problem of elasticity, and would overflow.
constexpr double kLargestValue = 1e12;

bool is_sensible(double value) noexcept { return std::abs(value) <= kLargestValue; }

const ReferenceProblem& checked_reference(const ReferenceProblem& reference) {
    if (!reference.functions) throw InputError("", "reference problem: no Green's functions");
    const std::size_t num_nodes = at(reference.functions->num_nodes());
    const auto same = [&](std::size_t size, const char* what) {
        if (size != num_nodes)
            throw InputError("", "reference." + std::string(what), std::to_string(size),
                             "one for each of " + std::to_string(num_nodes) + " nodes");
    };
    same(reference.kinds.size(), "kinds");
    same(reference.positions.size(), "positions");
    same(reference.areas.size(), "areas");
    for (const auto& [value, what] :
         {std::pair(reference.length, "length"), std::pair(reference.modulus, "modulus")})
        if (!(value > 0) || !std::isfinite(value))
            throw InputError("", "reference." + std::string(what), std::to_string(value),
                             "value > 0");
    if (reference.functions->num_column_levels() == 1) return reference;
    if (!reference.hierarchy)
        throw InputError("",
                         "reference problem: Green's functions have columns of coarser levels; "
                         "give their hierarchy");
    same(at(reference.hierarchy->num_vertices()), "hierarchy");
    if (reference.functions->num_column_ids() > reference.hierarchy->num_ids())
        throw InputError("", "reference.functions, levels",
                         std::to_string(reference.functions->num_column_levels()),
                         "at most " + std::to_string(reference.hierarchy->num_levels() + 1) +
                             ", those of the hierarchy");
    return reference;
}

}  // namespace

std::string_view to_string(CapacitanceStatus status) noexcept {
    switch (status) {
        case CapacitanceStatus::Hit: return "hit";
        case CapacitanceStatus::Updated: return "updated";
        case CapacitanceStatus::Refactored: return "refactored";
        case CapacitanceStatus::OverBudget: return "over budget";
        case CapacitanceStatus::IllConditioned: return "ill-conditioned";
        case CapacitanceStatus::TooFewHeld: return "too few held";
        case CapacitanceStatus::BadInput: return "bad input";
        case CapacitanceStatus::CapacityExceeded: return "capacity exceeded";
        case CapacitanceStatus::TwoLevels: return "two levels of one vertex";
    }
    return "unknown";
}

CapacitanceSolver::CapacitanceSolver(ReferenceProblem reference, const UpdateCosts& costs,
                                     const CapacitanceOptions& options)
    : reference_(std::move(reference)),
      costs_(costs),
      options_(options),
      block_(checked_reference(reference_).functions->block()),
      num_nodes_(reference_.functions->num_nodes()),
      num_columns_(reference_.functions->num_column_ids()),
      areas_(reference_.areas),
      centres_(reference_.positions),
      cache_(num_nodes_, options.max_dofs, options.cache) {
    if (num_columns_ > num_nodes_) {
        areas_ = reference_.hierarchy->areas(reference_.areas);
        centres_ = reference_.hierarchy->centres(reference_.areas, reference_.positions);
    }
    for (auto* inverse : {&current_, &next_})
        *inverse = std::make_unique<CapacitanceInverse>(reference_.functions, options.max_dofs,
                                                        options.max_condition);
    // what holds the reference problem against rigid motions
    for (const Vector3d& x : reference_.positions) centre_ += x / num_nodes_;
    radius_ = 0;
    for (const Vector3d& x : reference_.positions)
        radius_ = std::max(radius_, (x - centre_).norm());
    for (int node = 0; node < num_nodes_; ++node)
        if (reference_.kinds[at(node)] == NodeKind::Fixed)
            for (int k = 0; k < block_; ++k)
                add_held(held_, reference_.positions[at(node)], Vector3d::Unit(k), 1);
    num_held_ = static_cast<int>(
        std::count(reference_.kinds.begin(), reference_.kinds.end(), NodeKind::Fixed));
    if (block_ == 3 ? !holds(held_) : num_held_ == 0)
        throw InputError("", "reference problem: " + std::to_string(num_held_) +
                                 " fixed nodes do not hold the body; fix at least " +
                                 (block_ == 3 ? "three that are not on a line" : "one"));

    const std::size_t dofs = at(options.max_dofs), loads = at(std::max(options.max_loads, 0)),
                      knowns = dofs + loads, block = at(block_),
                      body = at(reference_.functions->num_body_columns());
    valued_.reserve(dofs);
    wanted_.reserve(dofs);
    added_.reserve(dofs);
    removed_.reserve(dofs);
    predicted_.reserve(dofs);
    right_.resize(dofs);
    unknowns_.resize(dofs);
    load_nodes_.reserve(loads);
    load_values_.reserve(loads * block);
    body_values_.assign(body, 0.0f);
    body_solution_.assign(body, 0.0f);
    summed_body_.assign(body, 0.0f);
    is_marked_.assign(at(num_columns_), 0);
    seen_column_.assign(at(num_nodes_), -1);
    known_place_.assign(at(num_columns_), -1);
    known_nodes_.reserve(knowns);
    known_values_.reserve(knowns * block);
    summed_nodes_.reserve(2 * knowns);
    summed_values_.assign(at(num_columns_) * block, 0.0f);
    is_summed_.assign(at(num_columns_), 0);
    change_nodes_.reserve(2 * knowns);
    change_values_.reserve(2 * knowns * block);
    const std::size_t sum_size = reference_.functions->sum_size(num_nodes_);
    sum_.assign(sum_size, 0.0f);
    scratch_.assign(sum_size, 0.0f);
    if (reference_.functions->prefers_sums()) known_sum_.assign(sum_size, 0.0f);
    field_ = {sum_.data(), at(num_nodes_) * block};
    cache_.insert(*current_);
}

/// SI units of what the reference problem prescribes at a node, and of what it leaves open.
double CapacitanceSolver::unit_of_known(int column) const noexcept {
    const bool is_free = reference_.kinds[at(row_of(column))] == NodeKind::Free;
    return is_free ? reference_.modulus : reference_.length;
}
double CapacitanceSolver::unit_of_unknown(int column) const noexcept {
    const bool is_free = reference_.kinds[at(row_of(column))] == NodeKind::Free;
    return is_free ? reference_.length : reference_.modulus;
}

Vector3d CapacitanceSolver::vector_of(const float* values) const noexcept {
    Vector3d vector = Vector3d::Zero();
    for (int k = 0; k < block_; ++k) vector[k] = double{values[k]};
    return vector;
}

/// A held component x·d resists the rigid motions (d, (x − c) × d).
void CapacitanceSolver::add_held(Matrix6& held, const Vector3d& position, const Vector3d& direction,
                                 double sign) const noexcept {
    Eigen::Matrix<double, 6, 1> motion;
    motion << direction, (position - centre_).cross(direction) / std::max(radius_, 1e-300);
    held.noalias() += sign * motion * motion.transpose();
}

/// Whether the constraints have full rank: symmetric elimination with the largest pivots.
bool CapacitanceSolver::holds(const Matrix6& held) const noexcept {
    Matrix6 rest = held;
    double largest = 0;
    for (int step = 0; step < 6; ++step) {
        Eigen::Index k = 0;
        const double pivot = rest.diagonal().maxCoeff(&k);
        largest = std::max(largest, pivot);
        if (!(pivot > kLeastHold * largest) || !(pivot > 0)) return false;
        const Eigen::Matrix<double, 6, 1> column = rest.col(k);
        rest.noalias() -= column * column.transpose() / pivot;
        rest.row(k).setZero();
        rest.col(k).setZero();
    }
    return true;
}

bool CapacitanceSolver::set_loads(std::span<const int> nodes,
                                  std::span<const Vector3d> values) noexcept {
    if (nodes.size() != values.size() || nodes.size() > at(std::max(options_.max_loads, 0)))
        return false;
    bool is_good = true;
    std::size_t num_marked = 0;
    for (; is_good && num_marked < nodes.size(); ++num_marked) {
        const int node = nodes[num_marked];
        is_good = reference_.functions->has_column(node) && !is_marked_[at(node)] &&
                  is_sensible(values[num_marked].lpNorm<1>() / unit_of_known(node));
        if (!is_good) break;
        is_marked_[at(node)] = 1;
    }
    for (std::size_t k = 0; k < num_marked; ++k) is_marked_[at(nodes[k])] = 0;
    if (!is_good) return false;
    load_nodes_.assign(nodes.begin(), nodes.end());
    load_values_.clear();
    for (std::size_t k = 0; k < nodes.size(); ++k)
        for (int c = 0; c < block_; ++c)
            load_values_.push_back(static_cast<float>(values[k][c] / unit_of_known(nodes[k])));
    return true;
}

bool CapacitanceSolver::set_body_loads(std::span<const double> parameters) noexcept {
    if (parameters.size() != body_values_.size() ||
        !std::all_of(parameters.begin(), parameters.end(), is_sensible))
        return false;
    std::transform(parameters.begin(), parameters.end(), body_values_.begin(),
                   [](double value) { return static_cast<float>(value); });
    return true;
}

CapacitanceStatus CapacitanceSolver::finish(CapacitanceStatus status) noexcept {
    report_.status = status;
    return status;
}

/// Checks and sorts the wanted list.
CapacitanceStatus CapacitanceSolver::read(std::span<const ChangedDof> changes,
                                          std::span<const double> values) noexcept {
    if (changes.size() > at(options_.max_dofs)) return CapacitanceStatus::CapacityExceeded;
    if (changes.size() != values.size()) return CapacitanceStatus::BadInput;
    valued_.clear();
    for (std::size_t k = 0; k < changes.size(); ++k) {
        const auto& [node, direction] = changes[k];
        const bool is_unit = block_ == 3 ? std::abs(direction.norm() - 1) <= kDirectionTolerance
                                         : direction == Vector3d::UnitX();
        if (!is_unit || !reference_.functions->has_column(node) ||
            !is_sensible(values[k] / unit_of_unknown(node)))
            return CapacitanceStatus::BadInput;
        valued_.push_back({changes[k], values[k] / unit_of_unknown(node)});
    }
    std::sort(valued_.begin(), valued_.end(),
              [](const ValuedDof& a, const ValuedDof& b) { return a.dof < b.dof; });
    wanted_.clear();
    for (const ValuedDof& valued : valued_) wanted_.push_back(valued.dof);
    for (std::size_t a = 0; a < wanted_.size(); ++a)
        for (std::size_t b = a + 1; b < wanted_.size() && wanted_[b].node == wanted_[a].node; ++b)
            if (!(std::abs(wanted_[a].direction.dot(wanted_[b].direction)) <= kDirectionTolerance))
                return CapacitanceStatus::BadInput;

    // rows of C are those of vertices: two levels of one would be equal
    bool has_two_levels = false;
    for (const ChangedDof& dof : wanted_) {
        int& seen = seen_column_[at(row_of(dof.node))];
        has_two_levels = has_two_levels || (seen >= 0 && seen != dof.node);
        seen = dof.node;
    }
    for (const ChangedDof& dof : wanted_) seen_column_[at(row_of(dof.node))] = -1;
    if (has_two_levels) return CapacitanceStatus::TwoLevels;

    // what stays held: releases take away, captures add
    Matrix6 held = held_;
    int num_held = num_held_;
    bool is_released = false;
    for (const ChangedDof& dof : wanted_) {
        const int row = row_of(dof.node);
        const bool releases = reference_.kinds[at(row)] == NodeKind::Fixed;
        is_released = is_released || releases;
        num_held += releases ? -1 : 1;
        if (block_ == 3)
            add_held(held, reference_.positions[at(row)], dof.direction, releases ? -1 : 1);
    }
    if (is_released && (block_ == 3 ? !holds(held) : num_held <= 0))
        return CapacitanceStatus::TooFewHeld;
    return CapacitanceStatus::Hit;
}

/// next_ ← entry of the cache, conditions removed, then added; looked after as docs/greens.md says.
bool CapacitanceSolver::update_from(const CapacitanceCache::Match& match) noexcept {
    cache_.fetch(match.entry, *next_);
    added_.clear();
    removed_.clear();
    const auto list = next_->list();
    std::size_t a = 0, b = 0;
    while (a < wanted_.size() || b < list.size()) {
        if (b == list.size() || (a < wanted_.size() && wanted_[a] < list[b].dof)) {
            added_.push_back(wanted_[a++]);
        } else if (a == wanted_.size() || list[b].dof < wanted_[a]) {
            removed_.push_back(list[b++].dof);
        } else {
            ++a;
            ++b;
        }
    }
    if (!removed_.empty() && next_->remove(removed_) != InverseStatus::Ok) return false;
    if (!added_.empty() && next_->add(added_) != InverseStatus::Ok) return false;
    if (next_->num_updates() >= options_.refresh_interval ||
        !(next_->probe(++num_solves_) <= options_.max_probe))
        return next_->refresh() == InverseStatus::Ok;
    return true;
}

/// The cheapest way to the wanted inverse, into current_.
CapacitanceStatus CapacitanceSolver::reach_inverse() noexcept {
    report_.size = static_cast<int>(wanted_.size());
    report_.added = report_.removed = 0;
    report_.predicted = 0;
    const auto list = current_->list();
    if (std::equal(wanted_.begin(), wanted_.end(), list.begin(), list.end(),
                   [](const ChangedDof& a, const auto& b) { return a == b.dof; }))
        return CapacitanceStatus::Hit;

    const auto match = match_of(wanted_);
    const bool is_hit = match.entry >= 0 && match.added == 0 && match.removed == 0;
    const double scratch = costs_.from_scratch(static_cast<double>(wanted_.size()) / 3);
    const bool updates = match.entry >= 0 && match.seconds <= scratch;
    report_.predicted = updates ? match.seconds : scratch;
    if (!is_hit && report_.predicted > options_.budget) return CapacitanceStatus::OverBudget;

    CapacitanceStatus status = CapacitanceStatus::Refactored;
    if (is_hit) {
        cache_.fetch(match.entry, *next_);
        status = CapacitanceStatus::Hit;
    } else if (updates && update_from(match)) {
        report_.added = match.added;
        report_.removed = match.removed;
        status = CapacitanceStatus::Updated;
    } else if (next_->reset(wanted_) != InverseStatus::Ok) {
        return CapacitanceStatus::IllConditioned;
    }
    std::swap(current_, next_);
    cache_.insert(*current_);
    is_predicted_ = false;
    return status;
}

/// Ξ w + B β, where rows of nodes are taken from it.
void CapacitanceSolver::sum_knowns() const noexcept {
    std::fill(known_sum_.begin(), known_sum_.end(), 0.0f);
    reference_.functions->accumulate(known_nodes_, known_values_, body_solution_, num_nodes_,
                                     known_sum_);
    is_known_summed_ = true;
}

/// A list is often predicted just before it is solved for.
CapacitanceCache::Match CapacitanceSolver::match_of(std::span<const ChangedDof> dofs) noexcept {
    if (is_predicted_ && std::equal(dofs.begin(), dofs.end(), predicted_.begin(), predicted_.end()))
        return predicted_match_;
    return cache_.nearest(dofs, costs_);
}

CapacitanceSolver::Prediction CapacitanceSolver::predict(
    std::span<const ChangedDof> changes) noexcept {
    if (changes.size() > at(options_.max_dofs)) return {kInfinity, 0};
    predicted_.assign(changes.begin(), changes.end());
    std::sort(predicted_.begin(), predicted_.end());
    is_predicted_ = false;
    const auto list = current_->list();
    if (std::equal(predicted_.begin(), predicted_.end(), list.begin(), list.end(),
                   [](const ChangedDof& a, const auto& b) { return a == b.dof; }))
        return {};
    predicted_match_ = cache_.nearest(predicted_, costs_);
    is_predicted_ = true;
    const auto& match = predicted_match_;
    // whole nodes: an element is of three conditions with three
    const double s = static_cast<double>(predicted_.size()) / 3, scratch = costs_.from_scratch(s),
                 added = match.added / 3.0;
    if (match.entry >= 0 && match.seconds <= scratch)
        return {match.seconds, added * (2 * s - added)};
    // C is formed twice
    return {scratch, 2 * s * s};
}

/// Row of a node of Ξ w + B β.
Vector3d CapacitanceSolver::unknown_of(int node) const noexcept {
    float values[9];
    if (reference_.functions->prefers_sums()) {
        if (!is_known_summed_) sum_knowns();
        reference_.functions->row_of_sum(known_sum_, node, values);
        return vector_of(values);
    }
    Vector3d sum = Vector3d::Zero();
    for (std::size_t k = 0; k < known_nodes_.size(); ++k) {
        reference_.functions->element(node, known_nodes_[k], values);
        const float* const known = known_values_.data() + k * at(block_);
        for (int r = 0; r < block_; ++r)
            for (int c = 0; c < block_; ++c)
                sum[r] += double{values[r * block_ + c]} * double{known[c]};
    }
    for (std::size_t b = 0; b < body_solution_.size(); ++b) {
        reference_.functions->body_element(node, static_cast<int>(b), values);
        sum += double{body_solution_[b]} * vector_of(values);
    }
    return sum;
}

void CapacitanceSolver::forget() noexcept {
    cache_.clear();
    is_predicted_ = false;
    num_solves_ = 0;
}

CapacitanceStatus CapacitanceSolver::solve(std::span<const ChangedDof> changes,
                                           std::span<const double> values) noexcept {
    if (const auto status = read(changes, values); is_refused(status)) return finish(status);
    const auto status = reach_inverse();
    if (is_refused(status)) return finish(status);
    report_.condition = current_->condition();

    // known values w: loads without their components along changed conditions, eq. (6)
    for (const int node : known_nodes_) known_place_[at(node)] = -1;
    known_nodes_.clear();
    known_values_.clear();
    const auto place_of = [&](int node) {
        int& place = known_place_[at(node)];
        if (place < 0) {
            place = static_cast<int>(known_nodes_.size());
            known_nodes_.push_back(node);
            known_values_.insert(known_values_.end(), at(block_), 0.0f);
        }
        return known_values_.data() + at(place) * at(block_);
    };
    for (std::size_t k = 0; k < load_nodes_.size(); ++k)
        std::copy_n(load_values_.data() + k * at(block_), block_, place_of(load_nodes_[k]));
    const auto take_away = [&](int column, const Vector3d& direction) {
        const int place = known_place_[at(column)];
        if (place < 0) return;
        float* const load = known_values_.data() + at(place) * at(block_);
        const double along = vector_of(load).dot(direction);
        for (int c = 0; c < block_; ++c) load[c] -= static_cast<float>(along * direction[c]);
    };
    for (const auto& [dof, value] : valued_) {
        take_away(dof.node, dof.direction);
        // of a coarser function: at its own node alone
        if (dof.node >= num_nodes_) take_away(row_of(dof.node), dof.direction);
    }
    std::copy(body_values_.begin(), body_values_.end(), body_solution_.begin());
    is_known_summed_ = false;

    // Eᵀv⁽⁰⁾, then the unknowns along the conditions, eqs. (4) and (5)
    const auto list = current_->list();
    Vector3d base = Vector3d::Zero();
    double farthest = 0;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const int node = list[k].dof.node;
        if (k == 0 || list[k - 1].dof.node != node) base = unknown_of(row_of(node));
        const double way = base.dot(list[k].dof.direction) - valued_[k].value;
        right_[at(list[k].slot)] = static_cast<float>(way);
        if (reference_.kinds[at(row_of(node))] == NodeKind::Free)
            farthest = std::max(farthest, std::abs(way));
    }
    report_.farthest = reference_.length * farthest;
    current_->apply({right_.data(), list.size()}, {unknowns_.data(), list.size()});
    for (const auto& [dof, slot] : list) {
        float* const known = place_of(dof.node);
        for (int c = 0; c < block_; ++c)
            known[c] += static_cast<float>(double{unknowns_[at(slot)]} * dof.direction[c]);
    }
    is_known_summed_ = false;
    return finish(status);
}

double CapacitanceSolver::unknown(int slot) const noexcept {
    return double{unknowns_[at(slot)]} * unit_of_known(current_->dof(slot).node);
}

Vector3d CapacitanceSolver::known(int node) const noexcept {
    const auto values_at = [&](std::size_t place) {
        return vector_of(known_values_.data() + place * at(block_));
    };
    const int own = known_place_[at(node)];
    Vector3d sum = own < 0 ? Vector3d(Vector3d::Zero()) : values_at(at(own));
    if (num_columns_ == num_nodes_) return sum;
    // coarser functions that cover the node
    for (std::size_t k = 0; k < known_nodes_.size(); ++k)
        if (known_nodes_[k] >= num_nodes_)
            sum += reference_.hierarchy->value(known_nodes_[k], node) * values_at(k);
    return sum;
}

void CapacitanceSolver::displacements(std::span<const int> nodes,
                                      std::span<Vector3d> out) const noexcept {
    const auto is_free = [&](std::size_t k) {
        return reference_.kinds[at(nodes[k])] == NodeKind::Free;
    };
    if (reference_.functions->prefers_sums()) {
        for (std::size_t k = 0; k < nodes.size(); ++k)
            out[k] = reference_.length * (is_free(k) ? unknown_of(nodes[k]) : known(nodes[k]));
        return;
    }
    // column by column, as they lie in memory: node by node, each number would be on another page
    for (std::size_t k = 0; k < nodes.size(); ++k)
        out[k] = is_free(k) ? Vector3d(Vector3d::Zero()) : known(nodes[k]);
    float values[9];
    for (std::size_t j = 0; j < known_nodes_.size(); ++j) {
        const float* const weights = known_values_.data() + j * at(block_);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (!is_free(k)) continue;
            reference_.functions->element(nodes[k], known_nodes_[j], values);
            for (int r = 0; r < block_; ++r)
                for (int c = 0; c < block_; ++c)
                    out[k][r] += double{values[r * block_ + c]} * double{weights[c]};
        }
    }
    for (std::size_t b = 0; b < body_solution_.size(); ++b)
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (!is_free(k)) continue;
            reference_.functions->body_element(nodes[k], static_cast<int>(b), values);
            out[k] += double{body_solution_[b]} * vector_of(values);
        }
    for (std::size_t k = 0; k < nodes.size(); ++k) out[k] *= reference_.length;
}

void CapacitanceSolver::tractions(std::span<const int> nodes,
                                  std::span<Vector3d> out) const noexcept {
    for (std::size_t k = 0; k < nodes.size(); ++k)
        out[k] = reference_.modulus * (reference_.kinds[at(nodes[k])] == NodeKind::Free
                                           ? known(nodes[k])
                                           : unknown_of(nodes[k]));
}

Vector3d CapacitanceSolver::force(std::span<const int> nodes) const noexcept {
    Vector3d sum = Vector3d::Zero();
    for (const int column : nodes)
        if (const int place = known_place_[at(column)]; place >= 0)
            sum += areas_[at(column)] * reference_.modulus *
                   vector_of(known_values_.data() + at(place) * at(block_));
    return sum;
}

Matrix3d CapacitanceSolver::patch_stiffness(std::span<const int> i,
                                            std::span<const int> j) const noexcept {
    // conditions of a node lie together in the sorted list
    const auto list = current_->list();
    const auto each = [&](std::span<const int> nodes, auto&& visit) {
        for (const int node : nodes) {
            auto entry = std::lower_bound(
                list.begin(), list.end(), node,
                [](const auto& listed, int wanted) { return listed.dof.node < wanted; });
            for (; entry != list.end() && entry->dof.node == node; ++entry) visit(*entry);
        }
    };
    Matrix3d K = Matrix3d::Zero();
    each(i, [&](const auto& a) {
        Vector3d row = Vector3d::Zero();
        each(j, [&](const auto& b) {
            row += double{current_->inverse_element(a.slot, b.slot)} * b.dof.direction;
        });
        K -= areas_[at(a.dof.node)] * a.dof.direction * row.transpose();
    });
    return reference_.modulus / reference_.length * K;
}

void CapacitanceSolver::evaluate(int num_nodes) noexcept {
    const std::size_t block = at(block_);
    field_nodes_ = std::clamp(num_nodes, 0, num_nodes_);
    const GreensFunctions& functions = *reference_.functions;
    std::fill_n(sum_.begin(), functions.sum_size(field_nodes_), 0.0f);
    functions.accumulate(known_nodes_, known_values_, body_solution_, field_nodes_, sum_,
                         SummedRows::Displacements);
    field_ = functions.field(sum_, field_nodes_, scratch_);

    // the books of what is in the field
    for (const int node : summed_nodes_) {
        std::fill_n(summed_values_.begin() + node * std::ptrdiff_t{block_}, block_, 0.0f);
        is_summed_[at(node)] = 0;
    }
    summed_nodes_.assign(known_nodes_.begin(), known_nodes_.end());
    for (std::size_t k = 0; k < known_nodes_.size(); ++k) {
        is_summed_[at(known_nodes_[k])] = 1;
        std::copy_n(known_values_.data() + k * block, block,
                    summed_values_.data() + at(known_nodes_[k]) * block);
    }
    std::copy(body_solution_.begin(), body_solution_.end(), summed_body_.begin());
    num_advances_ = 0;
}

int CapacitanceSolver::advance(int num_nodes, double tolerance) noexcept {
    const std::size_t block = at(block_);
    bool starts_anew = std::clamp(num_nodes, 0, num_nodes_) != field_nodes_ ||
                       ++num_advances_ >= kAdvancesBetweenSums || body_solution_ != summed_body_;
    for (const int node : known_nodes_) {
        if (starts_anew || is_summed_[at(node)]) continue;
        // nodes with remainders below the tolerance may have filled the books
        starts_anew = summed_nodes_.size() == summed_nodes_.capacity();
        if (starts_anew) break;
        is_summed_[at(node)] = 1;
        summed_nodes_.push_back(node);
    }
    if (starts_anew) {
        evaluate(num_nodes);
        return static_cast<int>(known_nodes_.size());
    }

    change_nodes_.clear();
    change_values_.clear();
    std::size_t num_kept = 0;
    for (const int node : summed_nodes_) {
        float* const summed = summed_values_.data() + at(node) * block;
        const int place = known_place_[at(node)];
        float wanted[3] = {};
        if (place >= 0) std::copy_n(known_values_.data() + at(place) * block, block, wanted);
        double largest = 0;
        for (std::size_t c = 0; c < block; ++c)
            largest = std::max(largest, std::abs(double{wanted[c]} - double{summed[c]}));
        if (largest > tolerance) {
            change_nodes_.push_back(node);
            for (std::size_t c = 0; c < block; ++c) {
                change_values_.push_back(wanted[c] - summed[c]);
                summed[c] = wanted[c];
            }
        }
        const bool is_gone = place < 0 && std::all_of(summed, summed + block,
                                                      [](float value) { return value == 0; });
        is_summed_[at(node)] = !is_gone;
        if (!is_gone) summed_nodes_[num_kept++] = node;
    }
    summed_nodes_.resize(num_kept);
    reference_.functions->accumulate(change_nodes_, change_values_, {}, field_nodes_, sum_,
                                     SummedRows::Displacements);
    field_ = reference_.functions->field(sum_, field_nodes_, scratch_);
    return static_cast<int>(change_nodes_.size());
}

void CapacitanceSolver::write_displacements(std::span<float> out) const noexcept {
    assert(out.size() <= at(field_nodes_) * at(block_));
    const float scale = static_cast<float>(reference_.length);
    for (std::size_t k = 0; k < out.size(); ++k) {
        const std::size_t node = k / at(block_);
        const int place = known_place_[node];
        const bool is_free = reference_.kinds[node] == NodeKind::Free;
        out[k] = is_free     ? scale * field_[k]
                 : place < 0 ? 0.0f
                             : scale * known_values_[at(place) * at(block_) + k % at(block_)];
    }
    // supports that coarser functions move
    for (std::size_t k = 0; k < known_nodes_.size(); ++k) {
        const int column = known_nodes_[k];
        if (column < num_nodes_ || reference_.kinds[at(row_of(column))] == NodeKind::Free) continue;
        const WeightedVertices moved = reference_.hierarchy->values(column);
        for (std::size_t i = 0; i < moved.vertices.size(); ++i)
            for (std::size_t c = 0; c < at(block_); ++c)
                if (const std::size_t row = at(moved.vertices[i]) * at(block_) + c;
                    row < out.size())
                    out[row] += scale * static_cast<float>(moved.weights[i]) *
                                known_values_[k * at(block_) + c];
    }
}

void CapacitanceSolver::write_readouts(std::span<float> out) const noexcept {
    std::fill(out.begin(), out.end(), 0.0f);
    reference_.functions->add_readouts(known_nodes_, known_values_, out);
    if (!body_solution_.empty()) reference_.functions->add_body_readouts(body_solution_, out);
}

}  // namespace pliant
