#include "contact/contact_rows.h"

#include "contact/contact_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Contacts that weigh less are none.
constexpr double kLeastWeight = 1e-4;

int most_points_of(std::span<const MovingBody> bodies) {
    int most = 0;
    for (const MovingBody& body : bodies)
        if (body.tree()) most = std::max(most, body.tree()->num_points());
    return most;
}

/// Two directions across a unit vector and each other.
std::array<Vector3d, 2> across(const Vector3d& n) {
    int axis = 0;
    n.cwiseAbs().minCoeff(&axis);
    const Vector3d t = n.cross(Vector3d::Unit(axis)).normalized();
    return {t, n.cross(t)};
}

}  // namespace

void FieldNeighbours::arrange(std::span<const BodyPair> pairs, std::size_t num_bodies) noexcept {
    std::fill_n(start_.begin(), num_bodies + 1, 0);
    for (const BodyPair& pair : pairs) ++start_[static_cast<std::size_t>(pair.field) + 1];
    for (std::size_t i = 1; i <= num_bodies; ++i) start_[i] += start_[i - 1];
    for (std::size_t i = 0; i < pairs.size(); ++i)
        order_[static_cast<std::size_t>(start_[static_cast<std::size_t>(pairs[i].field)]++)] =
            static_cast<int>(i);
    // each place has become the start of the next one
    std::copy_backward(start_.begin(), start_.begin() + static_cast<std::ptrdiff_t>(num_bodies),
                       start_.begin() + static_cast<std::ptrdiff_t>(num_bodies) + 1);
    start_[0] = 0;
}

void FieldNeighbours::ask(std::span<const MovingBody> bodies, std::span<const BodyPair> pairs,
                          int field_body) noexcept {
    const MovingBody& field = bodies[static_cast<std::size_t>(field_body)];
    const auto of_field = static_cast<std::size_t>(field_body);
    for (int begin = start_[of_field]; begin < start_[of_field + 1]; begin += kBatch) {
        const int n = std::min(kBatch, start_[of_field + 1] - begin);
        std::array<float, kBatch> x, y, z, value;
        const auto shell_at = [&](int i) -> const BoundingSphere& {
            const auto pair = static_cast<std::size_t>(order_[static_cast<std::size_t>(begin + i)]);
            return bodies[static_cast<std::size_t>(pairs[pair].shell)].sphere();
        };
        for (int i = 0; i < n; ++i) {
            const Vector3d centre = field.pose().to_body(shell_at(i).centre);
            const auto k = static_cast<std::size_t>(i);
            x[k] = static_cast<float>(centre.x());
            y[k] = static_cast<float>(centre.y());
            z[k] = static_cast<float>(centre.z());
        }
        field.solid()->distances({x.data(), y.data(), z.data(), n}, value.data());
        const CullingMargin margin = field.solid()->margin();
        for (int i = 0; i < n; ++i) {
            const BoundingSphere& sphere = shell_at(i);
            const double v = double{value[static_cast<std::size_t>(i)]};
            // single precision, twice over
            const double rounding = 1e-6 * (std::abs(v) + sphere.radius + sphere.centre.norm());
            const double limit =
                margin.stretch * sphere.radius + margin.at(static_cast<float>(v)) + rounding;
            may_touch_[static_cast<std::size_t>(order_[static_cast<std::size_t>(begin + i)])] =
                v <= limit ? 1 : 0;
        }
    }
}

ContactRows::ContactRows(std::span<const MovingBody> bodies, int max_contacts)
    : contacts(static_cast<std::size_t>(max_contacts)),
      rows(static_cast<std::size_t>(max_contacts)),
      slot_(std::make_shared<FieldSlot>()),
      facing_(most_points_of(bodies)) {
    int longest_row = 0;
    std::vector<const float*> trees;
    for (const MovingBody& body : bodies) {
        traversal_of_.push_back(-1);
        const PointTree* tree = body.tree();
        if (!tree) continue;
        longest_row = std::max(longest_row, tree->row_stride());
        // copies share their rows
        const auto known = std::ranges::find(trees, tree->row(0));
        traversal_of_.back() = static_cast<int>(known - trees.begin());
        if (known != trees.end()) continue;
        trees.push_back(tree->row(0));
        // coherence would remember one pair, not whichever comes next
        traversals_.emplace_back(*tree, slot_, TraversalOptions{.has_coherence = false});
    }
    const auto room = static_cast<std::size_t>(most_points_of(bodies));
    order_.resize(room);
    proxy_.resize(room);
    for (auto* list : {&distance_, &gx_, &gy_, &gz_, &share_, &entry_}) list->resize(room);
    q_groups_.resize(static_cast<std::size_t>(longest_row));
}

void ContactRows::clear() noexcept {
    count = num_visited = 0;
    is_complete = true;
}

void ContactRows::add_pair(std::span<const MovingBody> bodies, const BodyPair& pair,
                           const RowOptions& options,
                           std::span<const RememberedContact> memory) noexcept {
    const MovingBody& shell = bodies[static_cast<std::size_t>(pair.shell)];
    const MovingBody& field = bodies[static_cast<std::size_t>(pair.field)];
    slot_->field = field.solid();
    PointTraversal& traversal =
        traversals_[static_cast<std::size_t>(traversal_of_[static_cast<std::size_t>(pair.shell)])];
    (void)traversal.update(field.pose().inverse() * shell.pose(), shell.shape());
    num_visited += traversal.statistics().visited;
    const ContactPoints& found = traversal.contacts();
    if (found.count == 0) return;

    ask(shell, field, found);
    const auto order = std::span(order_).first(static_cast<std::size_t>(found.count));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int i) { return found.point[static_cast<std::size_t>(i)]; });

    const int first = count;
    for (const int i : order) {
        if (count == static_cast<int>(contacts.size())) {
            is_complete = false;
            break;
        }
        SolverContact& c = contacts[static_cast<std::size_t>(count)];
        c = {};
        place(shell, field, found, i, c);
        count += c.p.allFinite() ? 1 : 0;
    }
    const auto added = std::span(contacts).subspan(static_cast<std::size_t>(first),
                                                   static_cast<std::size_t>(count - first));
    weigh(added, options);
    recall(field, pair, memory, options, added);
    const auto light = std::remove_if(added.begin(), added.end(), [](const SolverContact& c) {
        return !(c.weight >= kLeastWeight);
    });
    count -= static_cast<int>(added.end() - light);
    auto row = rows.begin() + first;
    for (SolverContact& c : std::span(added.begin(), light)) {
        c.k = options.stiffness * c.weight;
        fill_row(shell, field, options, c, *row++);
    }
}

void ContactRows::ask(const MovingBody& shell, const MovingBody& field,
                      const ContactPoints& found) noexcept {
    const PointBatch points{found.x.data(), found.y.data(), found.z.data(), found.count};
    const SampleBatch samples{distance_.data(), gx_.data(), gy_.data(), gz_.data()};
    field.solid()->samples(points, samples);
    if (field.deformed()) field.deformed()->nearest_proxies(points, proxy_.data());

    const PointTree& tree = *shell.tree();
    const std::span<const double> q = shell.shape();
    for (std::size_t j = 0; j <= q.size(); ++j)
        std::fill_n(q_groups_.begin() + static_cast<std::ptrdiff_t>(4 * j), 3,
                    j < q.size() ? static_cast<float>(q[j]) : 1.0f);
    const Matrix3d turn = (field.pose().rotation.conjugate() * shell.pose().rotation).matrix();
    float rotation[9];
    for (int i = 0; i < 9; ++i) rotation[i] = static_cast<float>(turn(i / 3, i % 3));
    contact_normals(tree.normal_row(0), tree.row_stride(), q_groups_.data(), found.point.data(),
                    found.count, rotation, facing_.nx(), facing_.ny(), facing_.nz());
    facing_.turn(*field.solid(), points, samples, share_.data(), entry_.data());
}

void ContactRows::place(const MovingBody& shell, const MovingBody& field,
                        const ContactPoints& found, int index, SolverContact& c) noexcept {
    const auto i = static_cast<std::size_t>(index);
    c.point = found.point[i];
    c.node = found.node[i];
    const Vector3d x(found.x[i], found.y[i], found.z[i]);
    c.p = field.pose().to_world(x);
    c.distance = distance_[i];
    c.share = share_[i];
    c.entry = entry_[i];
    Vector3d n = field.pose().rotation * Vector3d(gx_[i], gy_[i], gz_[i]);
    double length = n.norm();
    if (!(length >= kShortestGradient) || !std::isfinite(length)) {
        n = shell.pose().rotation * shell.tree()->normal(c.point, shell.shape());
        length = n.norm();
    }
    c.e[0] = n;
    const auto [t, s] = across(n / length);
    c.e[1] = t;
    c.e[2] = s;
    if (field.deformed()) c.proxy = proxy_[i];
}

/// Eq. (12).
void ContactRows::weigh(std::span<SolverContact> added, const RowOptions& options) noexcept {
    Matrix3d moments = Matrix3d::Zero();
    double all = 0;
    for (const SolverContact& c : added) {
        moments += c.share * c.e[0] * c.e[0].transpose();
        all += c.share;
    }
    for (SolverContact& c : added) {
        double sharing = 0;  // l
        if (options.scaling == ContactScaling::PerDirection)
            sharing = c.e[0].dot(moments * c.e[0]);
        else if (options.scaling == ContactScaling::SingleCount)
            sharing = all;
        c.weight = c.share * std::min(1.0, options.scaling_count / std::max(sharing, 1e-300));
    }
}

/// Weights and forces to begin with, and the stretch of friction's springs.
void ContactRows::recall(const MovingBody& field, const BodyPair& pair,
                         std::span<const RememberedContact> memory, const RowOptions& options,
                         std::span<SolverContact> added) const noexcept {
    auto old = std::ranges::lower_bound(memory, pair, {}, &RememberedContact::pair);
    for (SolverContact& c : added) {
        while (old != memory.end() && old->pair == pair && old->point < c.point) ++old;
        if (old == memory.end() || old->pair != pair || old->point != c.point) {
            c.weight *= c.entry;
            continue;
        }
        const double rate = c.weight > old->weight ? options.stiffening : options.softening;
        c.weight = old->weight + rate * (c.weight - old->weight);
        c.f[0] = old->normal_force;
        if (!options.has_friction) continue;
        for (std::size_t i = 1; i < kNumDirections; ++i) c.f[i] = c.e[i].dot(old->tangential_force);
        const Vector3d offset = c.p - field.pose().to_world(old->anchor);
        c.stretch = c.e[1].dot(offset) * c.e[1] + c.e[2].dot(offset) * c.e[2];
    }
}

/// With what a force of 1 N changes, eq. (29); of two tangential ones at most, eq. (30).
void ContactRows::fill_row(const MovingBody& shell, const MovingBody& field,
                           const RowOptions& options, const SolverContact& c,
                           SweepRow& row) noexcept {
    row = {};
    row.shell_modes = shell.point_modes(c.point);
    row.field_modes = field.proxy_modes(c.proxy);
    Eigen::Map<Vector3d>(row.p) = c.p;
    for (std::size_t i = 0; i < kNumDirections; ++i) {
        Eigen::Map<Vector3d>(row.e[i]) = c.e[i];
        row.f[i] = c.f[i];
    }
    row.distance = c.distance;
    row.softness = 1 / c.k;
    const Matrix3d G =
        shell.response_at(c.p, row.shell_modes) + field.response_at(c.p, row.field_modes);
    const double gain = options.reach * options.dt;
    const Vector3d along = G * c.e[0];
    row.gain = 1 / (row.softness + gain * c.e[0].dot(along));
    if (!options.has_friction) return;
    row.tangential_softness = 1 / (options.friction_stiffness * c.k);
    const Vector3d first = G * c.e[1], second = G * c.e[2];
    const double tt = c.e[1].dot(first), ss = c.e[2].dot(second), ts = c.e[1].dot(second);
    row.tangential_gain =
        1 / (row.tangential_softness + gain * (0.5 * (tt + ss) + std::hypot(0.5 * (tt - ss), ts)));
    for (std::size_t i = 0; i < 2; ++i) {
        row.coupling[i] = c.e[i + 1].dot(along);
        row.stretch[i] = c.e[i + 1].dot(c.stretch);
    }
}

}  // namespace pliant
