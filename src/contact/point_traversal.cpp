#include "pliant/contact/point_traversal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <string>

#include "contact/point_traversal_impl.h"
#include "contact/sweep_order.h"

namespace pliant {

namespace {

/// A shell that rests is looked at again after this many of its radii of travel.
constexpr double kLongestRest = 8;
/// Open nodes whose children are queued together.
constexpr int kFamilies = 16;
/// Open nodes whose children are called into the cache ahead.
constexpr int kAhead = 12;

/// Rounding errors of positions and distances in units of the coordinates they are made of,
/// docs/contact.md eq. (7): sums of r + 4 terms, a rotation, a field, at both ends.
double rounding_of(int rank) { return (rank + 32) * std::ldexp(1.0, -23); }

/// Σ m_j |q_j|: no point is farther from its rest position.
double reach_of(const PointTree& tree, const Eigen::VectorXd& q) {
    const std::span<const double> m = tree.reach();
    double sum = 0;
    for (Eigen::Index j = 0; j < q.size(); ++j)
        sum += m[static_cast<std::size_t>(j)] * std::abs(q[j]);
    return sum;
}

/// Upper bound of how far a point of the shell moved, eq. (9).
double travel_between(const PointTree& tree, const ShellMotion& from, const ShellMotion& to) {
    // |R' − R| ≤ 2 |quaternion' ∓ quaternion|: summed over ticks it cannot fall short by rounding
    const auto& a = from.rotation.coeffs();
    const auto& b = to.rotation.coeffs();
    const double turn = std::min(2.0, 2 * std::min((b - a).norm(), (b + a).norm()));
    double bend = 0;
    const std::span<const double> m = tree.reach();
    for (Eigen::Index j = 0; j < to.q.size(); ++j)
        bend += m[static_cast<std::size_t>(j)] * std::abs(to.q[j] - from.q[j]);
    return (to.centre - from.centre).norm() + turn * (tree.radius() + reach_of(tree, from.q)) +
           bend;
}

/// By how much gaps may have shrunk because the field is trusted less than before; 0 for fields
/// that do not deform.
double margin_growth(const CullingMargin& from, const CullingMargin& to, double longest) {
    double growth = std::max({0.0f, to.near - from.near, to.far - from.far});
    if (to.band != from.band)
        growth =
            std::max(growth, double{std::max(to.near, to.far) - std::min(from.near, from.far)});
    if (to.stretch > from.stretch) growth += (1 - double{from.stretch} / to.stretch) * longest;
    return growth;
}

/// Largest coordinate of a box; 0 for boxes without end, whose fields are exact.
double size_of(const Box& box) {
    if (!box.min().allFinite() || !box.max().allFinite()) return 0;
    return box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
}

int largest_family(const PointTree& tree) {
    int largest = 0;
    for (const PointTree::Node& node : tree.nodes()) largest = std::max(largest, node.num_children);
    return largest;
}

void check(const TraversalOptions& options, int first_level) {
    if (options.budget < 0)
        throw InputError("", "budget", std::to_string(options.budget), "0 or more nodes");
    if (options.budget > 0 && options.is_hard && options.budget < first_level)
        throw InputError("",
                         "the budget of " + std::to_string(options.budget) +
                             " nodes does not hold the first level of the pointshell, which has " +
                             std::to_string(first_level) +
                             "; raise it or build a shell with a coarser first level");
    if (!(options.cold_fraction > 0 && options.cold_fraction <= 1))
        throw InputError("", "cold_fraction", std::to_string(options.cold_fraction),
                         "0 < value <= 1");
    if (options.deepest_level < 0)
        throw InputError("", "deepest_level", std::to_string(options.deepest_level), "0 or more");
}

}  // namespace

PointTraversal::Impl::Impl(PointTree point_tree,
                           std::shared_ptr<const DistanceField> distance_field,
                           const TraversalOptions& traversal_options)
    : tree(std::move(point_tree)),
      field(std::move(distance_field)),
      odometer(tree.num_nodes(), kLongestRest * tree.radius()),
      factors(static_cast<std::size_t>(tree.row_stride())),
      rows{tree.row(0), tree.row_stride(), tree.rank(), &tree.nodes()[0].b,
           static_cast<int>(sizeof(PointTree::Node) / sizeof(float))} {
    assert(field);
    last.q = now.q = Eigen::VectorXd::Zero(tree.rank());
    motion.factors = factors.data();
    set_options(traversal_options);
}

void PointTraversal::Impl::set_options(const TraversalOptions& wanted) {
    check(wanted, level_size(0));
    options = wanted;
    deepest = std::min(wanted.deepest_level, tree.num_levels() - 1);
    const bool is_bounded = wanted.is_hard && wanted.budget > 0;
    most_nodes = is_bounded ? wanted.budget : tree.num_nodes();
    const int nodes = level_size(deepest);
    const int visits = is_bounded ? std::min(nodes, wanted.budget) : nodes;

    const auto room =
        static_cast<std::size_t>(visits + kFamilies * largest_family(tree) + kVisitPadding);
    fresh.assign(room, 0);
    copies.assign(room, 0);
    copy_distance.assign(room, 0);
    open.assign(room, 0);
    open_distance.assign(room, 0);
    // the nodes at which a traversal ends have no points in common
    frontier.assign(static_cast<std::size_t>(nodes + kVisitPadding), 0);
    contacts = {};
    for (auto* list : {&contacts.node, &contacts.point})
        list->assign(static_cast<std::size_t>(visits), 0);
    for (auto* list : {&contacts.x, &contacts.y, &contacts.z, &contacts.distance})
        list->assign(static_cast<std::size_t>(visits), 0);

    sweep_level = deepest;
    while (is_bounded && sweep_level > 0 && level_size(sweep_level) > wanted.budget) --sweep_level;
    if (!wanted.has_tree) std::ranges::copy(sweep_order(tree, sweep_level), fresh.begin());
    forget();
}

void PointTraversal::Impl::set_budget(int nodes) noexcept {
    options.budget = std::clamp(nodes, level_size(0), std::max(level_size(0), most_nodes));
}

void PointTraversal::Impl::forget() noexcept {
    odometer.forget();
    last.is_known = false;
    previous_level = -1;
}

bool PointTraversal::Impl::begin(const Pose& pose, std::span<const double> q,
                                 double field_travel) noexcept {
    assert(static_cast<int>(q.size()) == tree.rank());
    assert(!(field_travel < 0));
    const double length = pose.rotation.norm();
    if (!is_finite(pose) || !(length > 0) || !std::isfinite(length) || !std::isfinite(field_travel))
        return false;
    now.q = Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
    now.rotation.coeffs() = pose.rotation.coeffs() / length;
    const Eigen::Matrix3d R = now.rotation.toRotationMatrix();
    now.centre = R * tree.centre() + pose.position;
    now.margin = field->margin();
    // lengths must be numbers in single precision too
    const double spread = tree.radius() + reach_of(tree, now.q);
    const double extent = now.centre.norm() + 3 * tree.centre().norm() + 2 * spread;
    if (!now.q.allFinite() || !(extent + now.q.norm() + field_travel < 1e30)) return false;

    // coherence, eq. (8) and (9); farther away positions are rounded more
    const double rounding = rounding_of(tree.rank());
    if (last.is_known) {
        const double travel =
            field_travel + travel_between(tree, last, now) +
            margin_growth(last.margin, now.margin, odometer.longest_rest() + 2 * spread);
        odometer.advance(travel * (1 + 3 * rounding));
    }
    std::swap(last, now);
    last.is_known = true;

    // what kernels need
    float* factor = factors.data();
    for (int j = 0; j < tree.rank(); ++j) {
        const auto q_j = static_cast<float>(last.q[j]);
        std::fill_n(factor + 4 * j, 3, q_j);
        factor[4 * j + 3] = std::abs(q_j);
    }
    std::fill_n(factor + 4 * tree.rank(), 4, 1.0f);
    motion.norm = std::nextafter(static_cast<float>(last.q.norm()), 1e38f);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) motion.rotation[3 * i + j] = static_cast<float>(R(i, j));
        motion.shift[i] = static_cast<float>(pose.position[i]);
    }
    const CullingMargin& margin = last.margin;
    rule = {margin.near, margin.far, margin.band, 1 / margin.stretch,
            static_cast<float>(rounding * (extent + size_of(field->bounds())))};
    return true;
}

StepStatus PointTraversal::Impl::update(const Pose& pose, std::span<const double> q,
                                        double field_travel) noexcept {
    contacts.count = 0;
    num_frontier = 0;
    statistics = {};
    if (!begin(pose, q, field_travel)) {
        // nobody knows how far the field moved
        odometer.forget();
        last.is_known = false;
        return StepStatus::InputIgnored;
    }
    lists = {};
    lists.open = open.data();
    lists.open_distance = open_distance.data();
    lists.culled = frontier.data();
    lists.least = std::numeric_limits<float>::infinity();
    shortest_rest = std::numeric_limits<double>::infinity();
    if (options.has_tree) {
        traverse_tree();
    } else {
        sweep();
    }
    // where the traversal ended: also at what is open and was not followed
    std::copy_n(lists.open, lists.num_open, lists.culled + lists.num_culled);
    num_frontier = lists.num_culled + lists.num_open;
    statistics.contacts = contacts.count;
    statistics.clearance = std::max(0.0f, std::min(lists.least, static_cast<float>(shortest_rest)));
    previous_level = statistics.level;
    return StepStatus::Ok;
}

int PointTraversal::Impl::limit_of(int level) const noexcept {
    // one that holds every node is none
    if (options.budget == 0 || options.budget >= tree.num_nodes())
        return std::numeric_limits<int>::max();
    if (level <= previous_level) return options.budget;
    return static_cast<int>(options.cold_fraction * options.budget);
}

void PointTraversal::Impl::traverse_tree() noexcept {
    queue_roots();
    for (int level = 0;; ++level) {
        visit_queue();
        statistics.level = level;
        if (level == deepest) return;
        // nothing is left to follow: deeper levels have no more contacts
        if (lists.num_open == 0) {
            statistics.level = deepest;
            return;
        }
        const int limit = limit_of(level + 1);
        const bool is_admitted =
            options.is_hard
                ? queue_children(std::max(0, limit - statistics.visited))
                : statistics.visited < limit && queue_children(std::numeric_limits<int>::max());
        if (!is_admitted) {
            statistics.is_truncated = true;
            return;
        }
    }
}

void PointTraversal::Impl::sweep() noexcept {
    num_fresh = level_size(sweep_level);
    num_copies = 0;
    visit_queue();
    statistics.level = sweep_level;
    statistics.is_truncated = sweep_level < deepest;
}

int PointTraversal::Impl::leave_out_resting(int* nodes, float* distances, int count) noexcept {
    if (!options.has_coherence) return count;
    const int num_awake =
        odometer.sift(nodes, distances, count, lists.culled + lists.num_culled, shortest_rest);
    lists.num_culled += count - num_awake;
    statistics.skipped += count - num_awake;
    return num_awake;
}

void PointTraversal::Impl::queue_roots() noexcept {
    std::iota(fresh.begin(), fresh.begin() + level_size(0), 0);
    num_fresh = leave_out_resting(fresh.data(), nullptr, level_size(0));
    num_copies = 0;
}

bool PointTraversal::Impl::queue_children(int room) noexcept {
    const PointTree::Node* nodes = tree.nodes().data();
    const int culled_before = lists.num_culled, skipped_before = statistics.skipped;
    num_fresh = num_copies = 0;
    for (int begin = 0; begin < lists.num_open; begin += kFamilies) {
        const int num_families = std::min(kFamilies, lists.num_open - begin);
        int* const first_fresh = fresh.data() + num_fresh;
        int* const first_copy = copies.data() + num_copies;
        float* const first_distance = copy_distance.data() + num_copies;
        int* next = first_fresh;
        for (int i = 0; i < num_families; ++i) {
            const int ahead = begin + i + kAhead;
            if (ahead < lists.num_open) odometer.prefetch(nodes[lists.open[ahead]].first_child);
            if (ahead + kAhead < lists.num_open)
                __builtin_prefetch(&nodes[lists.open[ahead + kAhead]]);
            const PointTree::Node parent = nodes[lists.open[begin + i]];
            // the first child is the parent's point again
            first_copy[i] = parent.first_child;
            first_distance[i] = lists.open_distance[begin + i];
            // most families are small: write eight and take what is needed
            for (int k = 0; k < 8; ++k) next[k] = parent.first_child + 1 + k;
            for (int k = 8; k < parent.num_children - 1; ++k) next[k] = parent.first_child + 1 + k;
            next += parent.num_children - 1;
        }
        num_copies += leave_out_resting(first_copy, first_distance, num_families);
        num_fresh += leave_out_resting(first_fresh, nullptr, static_cast<int>(next - first_fresh));
        if (num_fresh + num_copies > room) {
            lists.num_culled = culled_before;
            statistics.skipped = skipped_before;
            return false;
        }
    }
    lists.num_open = 0;
    return true;
}

void PointTraversal::Impl::visit_queue() noexcept {
    for (int i = 0; i < num_fresh; i += kVisitBatch)
        visit_fresh(i, std::min(kVisitBatch, num_fresh - i));
    for (int i = 0; i < num_copies; i += kVisitBatch)
        visit_copies(i, std::min(kVisitBatch, num_copies - i));
    statistics.visited += num_fresh + num_copies;
}

void PointTraversal::Impl::visit_fresh(int begin, int count) noexcept {
    const int* nodes = fresh.data() + begin;
    place_nodes(rows, motion, nodes, count, num_fresh - begin, batch);
    field->distances({batch.x, batch.y, batch.z, count}, batch.distance);
    const int num_inside = sort_nodes(nodes, count, rule, batch, lists);
    if (options.has_coherence && options.has_tree) odometer.set(nodes, batch.gap, count);
    for (int i = 0; i < num_inside; ++i) {
        const int place = batch.contacts[i];
        const auto k = static_cast<std::size_t>(contacts.count++);
        contacts.node[k] = nodes[place];
        contacts.point[k] = tree.nodes()[static_cast<std::size_t>(nodes[place])].point;
        contacts.x[k] = batch.x[place];
        contacts.y[k] = batch.y[place];
        contacts.z[k] = batch.z[place];
        contacts.distance[k] = batch.distance[place];
    }
}

void PointTraversal::Impl::visit_copies(int begin, int count) noexcept {
    const int* nodes = copies.data() + begin;
    place_nodes(rows, motion, nodes, count, num_copies - begin, batch);
    std::copy_n(copy_distance.data() + begin, count, batch.distance);
    sort_nodes(nodes, count, rule, batch, lists);
    if (options.has_coherence) odometer.set(nodes, batch.gap, count);
}

PointTraversal::PointTraversal(PointTree tree, std::shared_ptr<const DistanceField> field,
                               const TraversalOptions& options)
    : impl_(std::make_unique<Impl>(std::move(tree), std::move(field), options)) {}
PointTraversal::~PointTraversal() = default;
PointTraversal::PointTraversal(PointTraversal&&) noexcept = default;
PointTraversal& PointTraversal::operator=(PointTraversal&&) noexcept = default;

const PointTree& PointTraversal::tree() const noexcept { return impl_->tree; }
const DistanceField& PointTraversal::field() const noexcept { return *impl_->field; }
const TraversalOptions& PointTraversal::options() const noexcept { return impl_->options; }
void PointTraversal::set_options(const TraversalOptions& options) { impl_->set_options(options); }
void PointTraversal::set_budget(int nodes) noexcept { impl_->set_budget(nodes); }

StepStatus PointTraversal::update(const Pose& shell_to_field, std::span<const double> q,
                                  double field_travel) noexcept {
    return impl_->update(shell_to_field, q, field_travel);
}
const ContactPoints& PointTraversal::contacts() const noexcept { return impl_->contacts; }
const TraversalStatistics& PointTraversal::statistics() const noexcept { return impl_->statistics; }
std::span<const int> PointTraversal::frontier() const noexcept {
    return {impl_->frontier.data(), static_cast<std::size_t>(impl_->num_frontier)};
}
void PointTraversal::forget() noexcept { impl_->forget(); }

}  // namespace pliant
