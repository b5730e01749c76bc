#include "contact/self_traversal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace pliant {

namespace {

/// Of the budget before a level deeper than the last is begun, so that levels do not flicker.
constexpr double kColdFraction = 0.8;
/// How far below the surface a point asks which domain it belongs to, in cells.
constexpr double kHomeDepth = 0.5;
constexpr float kNoBall = -std::numeric_limits<float>::infinity();

int level_size(const PointTree& tree, int level) {
    return tree.level_start(level + 1) - tree.level_start(level);
}

}  // namespace

SelfTraversal::SelfTraversal(PointTree point_tree, const DeformedField& field, double distance,
                             int num_nodes, int max_contacts)
    : tree(std::move(point_tree)),
      exclusion(distance),
      budget(num_nodes),
      max_contacts_(std::min(max_contacts, tree.num_points())),
      factors_(static_cast<std::size_t>(tree.row_stride())),
      rows_{tree.row(0), tree.row_stride(), tree.rank(), &tree.nodes()[0].b,
            static_cast<int>(sizeof(PointTree::Node) / sizeof(float))} {
    motion_.factors = factors_.data();
    for (const int i : {0, 4, 8}) motion_.rotation[i] = 1;
    const int largest = level_size(tree, tree.num_levels() - 1);
    const auto room = static_cast<std::size_t>((budget > 0 ? std::min(budget, largest) : largest) +
                                               kVisitPadding);
    for (auto* list : {&fresh_, &copies_, &open_}) list->assign(room, 0);
    open_distance_.assign(room, 0);
    culled_.assign(static_cast<std::size_t>(tree.num_points() + kVisitPadding), 0);
    const auto capacity = static_cast<std::size_t>(max_contacts_);
    for (auto* list : {&contacts.node, &contacts.point, &domain}) list->assign(capacity, 0);
    for (auto* list : {&contacts.x, &contacts.y, &contacts.z, &contacts.distance})
        list->assign(capacity, 0);
    find_homes(field);
}

void SelfTraversal::find_homes(const DeformedField& field) {
    // the domain that a place just below the surface is deepest in
    const Pointshell& shell = tree.shell();
    const auto depth = static_cast<float>(kHomeDepth * field.resolution());
    home.assign(shell.points.size(), 0);
    for (std::size_t p = 0; p < shell.points.size(); ++p) {
        const Eigen::Vector3f x = shell.points[p] + depth * shell.normals[p];
        float least = std::numeric_limits<float>::infinity();
        for (int d = 0; d < field.num_domains(); ++d) {
            float value = 0;
            field.domain_distances(d, {&x.x(), &x.y(), &x.z(), 1},
                                   {&x.x(), &x.y(), &x.z(), &kNoBall}, &value);
            if (value < least) {
                least = value;
                home[p] = d;
            }
        }
    }
    // children come after their parents
    const auto nodes = tree.nodes();
    node_home_.assign(nodes.size(), -1);
    for (std::size_t n = nodes.size(); n-- > 0;) {
        const PointTree::Node& node = nodes[n];
        node_home_[n] = home[static_cast<std::size_t>(node.point)];
        for (int c = 0; c < node.num_children; ++c)
            if (node_home_[static_cast<std::size_t>(node.first_child + c)] != node_home_[n])
                node_home_[n] = -1;
    }
}

void SelfTraversal::clear() noexcept {
    contacts.count = 0;
    statistics = {};
    has_room_ = true;
    lists_.num_culled = 0;
}

bool SelfTraversal::begin(const DeformedField& field,
                          const Eigen::Ref<const Eigen::VectorXd>& q) noexcept {
    assert(q.size() == tree.rank());
    double spread = tree.radius();
    for (Eigen::Index j = 0; j < q.size(); ++j)
        spread += tree.reach()[static_cast<std::size_t>(j)] * std::abs(q[j]);
    // lengths must be numbers in single precision too
    const double extent = 4 * tree.centre().norm() + 2 * spread;
    if (!q.allFinite() || !(extent + q.norm() < 1e30)) return false;

    float* factor = factors_.data();
    for (int j = 0; j < tree.rank(); ++j) {
        const auto q_j = static_cast<float>(q[j]);
        std::fill_n(factor + 4 * j, 3, q_j);
        factor[4 * j + 3] = std::abs(q_j);
    }
    std::fill_n(factor + 4 * tree.rank(), 4, 1.0f);
    motion_.norm = std::nextafter(static_cast<float>(q.norm()), 1e38f);

    // rounding as in eq. (7)
    const CullingMargin margin = field.margin();
    const Box& box = field.bounds();
    const double size = extent + box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
    rule_ = {margin.near, margin.far, margin.band, 1 / margin.stretch,
             static_cast<float>((tree.rank() + 32) * std::ldexp(size, -23))};
    return std::isfinite(rule_.slack);
}

StepStatus SelfTraversal::update(const DeformedField& field,
                                 const Eigen::Ref<const Eigen::VectorXd>& q) noexcept {
    clear();
    if (!begin(field, q)) return StepStatus::InputIgnored;
    lists_ = {};
    lists_.open = open_.data();
    lists_.open_distance = open_distance_.data();
    lists_.culled = culled_.data();
    lists_.least = std::numeric_limits<float>::infinity();
    num_fresh_ = level_size(tree, 0);
    num_copies_ = 0;
    std::iota(fresh_.begin(), fresh_.begin() + num_fresh_, 0);
    const int deepest = tree.num_levels() - 1;
    for (int level = 0;; ++level) {
        visit(field, fresh_, num_fresh_, true);
        visit(field, copies_, num_copies_, false);
        statistics.visited += num_fresh_ + num_copies_;
        statistics.level = level;
        if (level == deepest) break;
        // nothing is left to follow: deeper levels have no more contacts
        if (lists_.num_open == 0) {
            statistics.level = deepest;
            break;
        }
        // a budget that holds every node is none
        const int limit = budget == 0 || budget >= tree.num_nodes()
                              ? std::numeric_limits<int>::max()
                          : level + 1 <= previous_level_ ? budget
                                                         : static_cast<int>(kColdFraction * budget);
        if (!queue_children(limit - statistics.visited)) {
            statistics.is_truncated = true;
            break;
        }
    }
    previous_level_ = statistics.level;
    std::copy_n(lists_.open, lists_.num_open, culled_.begin() + lists_.num_culled);
    lists_.num_culled += lists_.num_open;
    statistics.contacts = contacts.count;
    statistics.clearance = std::max(0.0f, lists_.least);
    return has_room_ ? StepStatus::Ok : StepStatus::CapacityExceeded;
}

bool SelfTraversal::queue_children(int room) noexcept {
    const auto nodes = tree.nodes();
    int count = 0;
    for (int i = 0; i < lists_.num_open; ++i) {
        count += nodes[static_cast<std::size_t>(lists_.open[i])].num_children;
        if (count > room) return false;
    }
    num_fresh_ = num_copies_ = 0;
    for (int i = 0; i < lists_.num_open; ++i) {
        const PointTree::Node& parent = nodes[static_cast<std::size_t>(lists_.open[i])];
        // the first child is the parent's point again
        copies_[static_cast<std::size_t>(num_copies_++)] = parent.first_child;
        for (int c = 1; c < parent.num_children; ++c)
            fresh_[static_cast<std::size_t>(num_fresh_++)] = parent.first_child + c;
    }
    lists_.num_open = 0;
    return true;
}

void SelfTraversal::visit(const DeformedField& field, const std::vector<int>& nodes, int num_nodes,
                          bool are_fresh) noexcept {
    for (int begin = 0; begin < num_nodes; begin += kVisitBatch) {
        const int count = std::min(kVisitBatch, num_nodes - begin);
        const int* batch_nodes = nodes.data() + begin;
        place_nodes(rows_, motion_, batch_nodes, count, num_nodes - begin, batch_);
        // no point below a node is deeper in a domain than this, eq. (34)
        std::fill_n(batch_.distance, kVisitBatch, std::numeric_limits<float>::infinity());
        for (int d = 0; d < field.num_domains(); ++d) {
            questions_.count = 0;
            for (int i = 0; i < count; ++i) {
                const int node = batch_nodes[i];
                if (node_home_[static_cast<std::size_t>(node)] == d) continue;
                const float spread = tree.row(node)[4 * tree.rank() + 3];
                put(i, node, static_cast<float>(exclusion) - spread - rule_.slack);
            }
            ask(field, d);
            for (int k = 0; k < questions_.count; ++k) {
                float& least = batch_.distance[questions_.place[k]];
                least = std::min(least, questions_.answer[k]);
            }
        }
        const int num_inside = sort_nodes(batch_nodes, count, rule_, batch_, lists_);
        if (are_fresh && num_inside > 0) add_contacts(field, batch_nodes, num_inside);
    }
}

void SelfTraversal::put(int place, int node, float radius) noexcept {
    Questions& q = questions_;
    const float* rest = tree.row(node) + 4 * tree.rank();
    const int k = q.count++;
    q.place[k] = place;
    q.x[k] = batch_.x[place];
    q.y[k] = batch_.y[place];
    q.z[k] = batch_.z[place];
    q.rest_x[k] = rest[0];
    q.rest_y[k] = rest[1];
    q.rest_z[k] = rest[2];
    q.radius[k] = radius;
}

void SelfTraversal::ask(const DeformedField& field, int d) noexcept {
    Questions& q = questions_;
    field.domain_distances(d, {q.x, q.y, q.z, q.count}, {q.rest_x, q.rest_y, q.rest_z, q.radius},
                           q.answer);
}

void SelfTraversal::add_contacts(const DeformedField& field, const int* nodes,
                                 int num_inside) noexcept {
    float value[kVisitBatch];
    int found_in[kVisitBatch];
    std::fill_n(value, num_inside, 0.0f);
    // the deepest of the domains that are not the point's own, eq. (33)
    for (int d = 0; d < field.num_domains(); ++d) {
        questions_.count = 0;
        int asking[kVisitBatch];
        for (int i = 0; i < num_inside; ++i) {
            const int place = batch_.contacts[i], node = nodes[place];
            const int point = tree.nodes()[static_cast<std::size_t>(node)].point;
            if (home[static_cast<std::size_t>(point)] == d) continue;
            asking[questions_.count] = i;
            put(place, node, static_cast<float>(exclusion));
        }
        ask(field, d);
        for (int k = 0; k < questions_.count; ++k) {
            if (!(questions_.answer[k] < value[asking[k]])) continue;
            value[asking[k]] = questions_.answer[k];
            found_in[asking[k]] = d;
        }
    }
    for (int i = 0; i < num_inside; ++i) {
        if (!(value[i] < 0)) continue;
        if (contacts.count == max_contacts_) {
            has_room_ = false;
            return;
        }
        const int place = batch_.contacts[i], node = nodes[place];
        const auto k = static_cast<std::size_t>(contacts.count++);
        contacts.node[k] = node;
        contacts.point[k] = tree.nodes()[static_cast<std::size_t>(node)].point;
        contacts.x[k] = batch_.x[place];
        contacts.y[k] = batch_.y[place];
        contacts.z[k] = batch_.z[place];
        contacts.distance[k] = value[i];
        domain[k] = found_in[i];
    }
}

}  // namespace pliant
