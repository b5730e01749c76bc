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
/// So many exact contacts have the stiffness of the L points of a face.
constexpr double kFaceContacts = 4;
/// Exact contacts nearer than this, in sizes of the field body, are one from tick to tick.
constexpr double kSamePlace = 0.05;
/// Slower bodies do not collide, they come to rest: a speed [m/s], and what a body gains in so many
/// steps, docs/contact.md eq. (38).
constexpr double kSlowestImpact = 0.03, kStepsOfFall = 4;
/// Below, a body stays as deep as the impact left it.
constexpr double kQuietRestitution = 0.1;
/// Of an impact, relative to the answer of the bodies: four corners say the same of a face.
constexpr double kImpactSoftness = 1e-6;

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
    const auto begin = std::ranges::lower_bound(memory, pair, {}, &RememberedContact::pair);
    auto end = begin;
    while (end != memory.end() && end->pair == pair) ++end;
    const std::span<const RememberedContact> known(begin, end);
    const int first = count;
    count += shell.primitive() && field.primitive()
                 ? find_exactly(shell, field, pair, options, known)
                 : find_points(shell, field, pair, options, known);
    for (int i = first; i < count; ++i) {
        SolverContact& c = contacts[static_cast<std::size_t>(i)];
        c.k = options.law.stiffness * c.weight;
        meet(shell, field, known.empty(), options, c);
        fill_row(shell, field, options, c, rows[static_cast<std::size_t>(i)]);
    }
}

int ContactRows::find_exactly(const MovingBody& shell, const MovingBody& field, const BodyPair&,
                              const RowOptions& options,
                              std::span<const RememberedContact> memory) noexcept {
    std::array<PrimitiveContact, kMostPrimitiveContacts> found;
    const int n = primitive_contacts(shell.primitive()->shape(), shell.pose(),
                                     field.primitive()->shape(), field.pose(), found);
    ++num_visited;
    int added = 0;
    for (int i = 0; i < n; ++i) {
        if (count + added == static_cast<int>(contacts.size())) {
            is_complete = false;
            break;
        }
        const PrimitiveContact& one = found[static_cast<std::size_t>(i)];
        if (!one.p.allFinite() || !one.n.allFinite()) continue;
        SolverContact& c = contacts[static_cast<std::size_t>(count + added)];
        c = {};
        c.point = i;
        c.node = -1;
        c.feature = one.feature;
        c.p = one.p;
        c.distance = one.distance;
        c.weight = one.share * options.scaling_count / kFaceContacts;
        const auto [t, s] = across(one.n);
        c.e = {one.n, t, s};
        const Vector3d v = shell.velocity_now(c.p, nullptr) - field.velocity_now(c.p, nullptr);
        c.slip = v - one.n.dot(v) * one.n;
        ++added;
    }
    recall_exactly(field, memory, options,
                   std::span(contacts).subspan(static_cast<std::size_t>(count),
                                               static_cast<std::size_t>(added)));
    return added;
}

int ContactRows::find_points(const MovingBody& shell, const MovingBody& field, const BodyPair& pair,
                             const RowOptions& options,
                             std::span<const RememberedContact> memory) noexcept {
    slot_->field = field.solid();
    PointTraversal& traversal =
        traversals_[static_cast<std::size_t>(traversal_of_[static_cast<std::size_t>(pair.shell)])];
    (void)traversal.update(field.pose().inverse() * shell.pose(), shell.shape());
    num_visited += traversal.statistics().visited;
    const ContactPoints& found = traversal.contacts();
    if (found.count == 0) return 0;

    ask(shell, field, found);
    const auto order = std::span(order_).first(static_cast<std::size_t>(found.count));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int i) { return found.point[static_cast<std::size_t>(i)]; });

    int end = count;
    for (const int i : order) {
        if (end == static_cast<int>(contacts.size())) {
            is_complete = false;
            break;
        }
        SolverContact& c = contacts[static_cast<std::size_t>(end)];
        c = {};
        place(shell, field, found, i, c);
        end += c.p.allFinite() ? 1 : 0;
    }
    const auto added = std::span(contacts).subspan(static_cast<std::size_t>(count),
                                                   static_cast<std::size_t>(end - count));
    weigh(added, options);
    recall(field, memory, options, added);
    const auto light = std::remove_if(added.begin(), added.end(), [](const SolverContact& c) {
        return !(c.weight >= kLeastWeight);
    });
    return static_cast<int>(light - added.begin());
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
void ContactRows::recall(const MovingBody& field, std::span<const RememberedContact> memory,
                         const RowOptions& options, std::span<SolverContact> added) noexcept {
    auto old = memory.begin();
    for (SolverContact& c : added) {
        while (old != memory.end() && old->point < c.point) ++old;
        if (old == memory.end() || old->point != c.point) {
            c.weight *= c.entry;
            continue;
        }
        const double rate = c.weight > old->weight ? options.stiffening : options.softening;
        c.weight = old->weight + rate * (c.weight - old->weight);
        c.is_new = false;
        c.rest = old->rest;
        c.f[0] = old->normal_force;
        if (!(options.law.friction > 0)) continue;
        for (std::size_t i = 1; i < kNumDirections; ++i) c.f[i] = c.e[i].dot(old->tangential_force);
        const Vector3d offset = c.p - field.pose().to_world(old->anchor);
        c.stretch = c.e[1].dot(offset) * c.e[1] + c.e[2].dot(offset) * c.e[2];
    }
}

/// An exact contact is that of the tick before if the same parts touch, or else in about the same
/// place. Its spring stretches by the way that one body slips on the other, eq. (37): the place
/// itself moves along both as they roll.
void ContactRows::recall_exactly(const MovingBody& field, std::span<const RememberedContact> memory,
                                 const RowOptions& options,
                                 std::span<SolverContact> added) noexcept {
    const double near = kSamePlace * std::min(field.scale().size, 1e3);
    std::uint32_t taken = 0;
    for (SolverContact& c : added) {
        const Vector3d place = field.pose().to_body(c.p);
        int best = -1;
        double least = near * near;
        for (int i = 0; i < static_cast<int>(memory.size()); ++i) {
            const RememberedContact& old = memory[static_cast<std::size_t>(i)];
            if ((taken >> i & 1u) != 0) continue;
            if (c.feature >= 0 || old.feature >= 0) {
                if (c.feature != old.feature) continue;
                best = i;
                break;
            }
            const double away = (old.anchor - place).squaredNorm();
            if (away >= least) continue;
            least = away;
            best = i;
        }
        if (best < 0) continue;
        taken |= 1u << best;
        const RememberedContact& old = memory[static_cast<std::size_t>(best)];
        c.is_new = false;
        c.rest = old.rest;
        c.f[0] = old.normal_force;
        if (!(options.law.friction > 0)) continue;
        for (std::size_t i = 1; i < kNumDirections; ++i) c.f[i] = c.e[i].dot(old.tangential_force);
        const Vector3d way = old.stretch + 0.5 * options.dt * (old.slip + c.slip);
        c.stretch = c.e[1].dot(way) * c.e[1] + c.e[2].dot(way) * c.e[2];
    }
}

void ContactRows::meet(const MovingBody& shell, const MovingBody& field, bool is_first,
                       const RowOptions& options, SolverContact& c) noexcept {
    if (!c.is_new) {
        // never a gap inside
        c.rest = std::max(c.rest * (1 - options.emerging), std::min(c.distance, 0.0));
        return;
    }
    const bool is_rigid = shell.rank() == 0 && field.rank() == 0;
    const double e = options.law.restitution;
    if (!is_rigid && !(e > 0)) return;
    const float* const of_shell = c.node < 0 ? nullptr : shell.point_modes(c.point);
    const float* const of_field = field.proxy_modes(c.proxy);
    const double length = c.e[0].norm();
    const Vector3d n = c.e[0] / std::max(length, 1e-300);
    const double now = n.dot(shell.velocity_now(c.p, of_shell) - field.velocity_now(c.p, of_field));
    const double next =
        n.dot(shell.velocity_next(c.p, of_shell) - field.velocity_next(c.p, of_field));
    // of the bodies towards each other, without contact
    const double pull = is_rigid ? std::max(0.0, (now - next) / options.dt) : 0.0;
    const double threshold = kSlowestImpact + kStepsOfFall * pull * options.dt;
    // deeper than it can have come in a step: it was put there
    if (is_first && -c.distance > 2 * options.dt * (threshold + std::abs(now))) c.rest = c.distance;
    // further points of bodies that touch already belong to the same collision
    if (!(now < -threshold) || !(is_first || c.node < 0)) return;
    // speeds at the surface, from those at this depth and at that after the step
    const double depth = -c.distance;
    const double in = std::sqrt(std::max(now * now - 2 * pull * depth, threshold * threshold));
    const double deeper = depth - 0.5 * options.dt * (now + e * in);
    c.is_impact = true;
    c.target = std::sqrt(e * e * in * in +
                         std::min(1.0, e / kQuietRestitution) * 2 * pull * std::max(deeper, 0.0));
    // where this step takes it
    c.rest = std::min(c.distance + 0.5 * options.dt * (now + c.target), 0.0);
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
    row.distance = c.distance - c.rest;
    row.softness = 1 / c.k;
    const Matrix3d G =
        shell.response_at(c.p, row.shell_modes) + field.response_at(c.p, row.field_modes);
    const double gain = options.reach() * options.dt;
    const Vector3d along = G * c.e[0];
    const double answer = gain * c.e[0].dot(along);
    if (c.is_impact) {
        // J v' = target
        row.distance = -options.reach() * c.target;
        row.softness = kImpactSoftness * answer;
    }
    row.gain = 1 / (row.softness + answer);
    if (!(options.law.friction > 0)) return;
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
