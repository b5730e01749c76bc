#include "pliant/contact/contact_solver.h"

#include "contact/contact_rows.h"
#include "contact/load_sums.h"
#include "contact/pair_phases.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Parts in which contacts are looked for; pairs are dealt out to them in turn.
constexpr int kNumParts = 8;
/// Below, waking other threads costs more than it saves.
constexpr int kFewContacts = 200, kFewBodies = 16;
/// In which weights rise when others leave and fall when others come, docs/contact.md eq. (26a)
/// [s].
constexpr double kStiffeningTime = 0.25, kSofteningTime = 0.03;
/// In which bodies come out of each other that met too deep, eq. (39) [s].
constexpr double kEmergingTime = 0.1;
/// Least damping of exact contacts, β_c [s].
constexpr double kExactDamping = 0.05;
/// Of bodies whose surfaces say nothing.
constexpr double kDefaultFriction = 0.5;
/// Where neither mass nor material says anything, and the most there is [N/m].
constexpr double kFallbackStiffness = 1e4, kMostStiffness = 1e12;
/// Sweeps of few contacts, and their change that is enough after the usual number.
constexpr int kMostSweeps = 300;
/// Change of the last sweep that leaves forces unknown, and what a body gains from nowhere [m/s].
constexpr double kUnsettled = 0.05, kWildSpeed = 1;
constexpr double kToleranceOfMore = 1e-5, kSpeedOfMore = 1e-4;  // of forces; [m/s]

struct PairContacts {
    BodyPair bodies;
    PairLaw law = {};
    int part = 0, first = 0, count = 0;
    SweepChange sweep = {};               ///< the last one
    Wrench on_shell = {}, on_field = {};  ///< about the centres of the bodies
};

/// Of one contact along its directions [N].
struct ContactForce {
    double along[kNumDirections] = {};
};

void check(const ContactSolverOptions& o) {
    check_load_options({.stiffness = o.stiffness == 0 ? 1 : o.stiffness,
                        .scaling_count = o.scaling_count,
                        .friction = o.friction.value_or(0),
                        .friction_stiffness = o.friction_stiffness});
    const auto expect = [](bool is_good, const char* field, const std::string& value,
                           const char* expected) {
        if (!is_good) throw InputError("", field, value, expected);
    };
    expect(std::isfinite(o.damping_steps) && o.damping_steps >= 0, "contact.damping_steps",
           std::to_string(o.damping_steps), "value >= 0");
    expect(o.max_iterations >= 1 && o.max_iterations <= 10000, "contact.max_iterations",
           std::to_string(o.max_iterations), "1 <= value <= 10000");
    expect(o.max_work >= 0 && o.max_work <= 1000000, "contact.max_work", std::to_string(o.max_work),
           "0 <= value <= 1000000");
    const double e = o.restitution.value_or(0);
    expect(e >= 0 && e <= 0.9, "contact.restitution", std::to_string(e), "0 <= value <= 0.9");
    expect(o.tolerance >= 0, "contact.tolerance", std::to_string(o.tolerance), "value >= 0");
    expect(o.max_pairs >= 1 && o.max_pairs <= (1 << 24), "contact.max_pairs",
           std::to_string(o.max_pairs), "1 <= value <= 16777216");
    expect(o.max_contacts >= kNumParts && o.max_contacts <= (1 << 24), "contact.max_contacts",
           std::to_string(o.max_contacts), "8 <= value <= 16777216");
}

std::vector<MovingBody> moving_bodies(const std::vector<ContactBody>& bodies) {
    if (bodies.empty()) throw InputError("", "contact needs at least one body");
    std::vector<MovingBody> moving;
    moving.reserve(bodies.size());
    ModesLibrary library;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const std::string name = "contact body " + std::to_string(i);
        for (std::size_t k = 0; k < i; ++k)
            if (bodies[k].body == bodies[i].body && bodies[i].body)
                throw InputError("", name + " is the same as body " + std::to_string(k) +
                                         "; give each body once, with points and field");
        moving.emplace_back(bodies[i], name, library);
    }
    return moving;
}

}  // namespace

struct ContactSolver::Impl {
    Impl(const std::vector<ContactBody>& contact_bodies, const ContactSolverOptions& o);

    bool begin_bodies(double dt) noexcept;
    /// Of the pairs near each other, and which of them may touch.
    void update_solids(std::span<const BodyPair> near) noexcept;
    /// Calls work(i) for each body, on all cores if there are many.
    template <class Work>
    void for_each_body(const Work& work) noexcept;
    /// False: too many.
    bool find_contacts(double dt) noexcept;
    void solve(double dt) noexcept;
    /// The same of few contacts, to the end as far as options.max_work allows.
    void solve_few(double dt) noexcept;
    /// Takes back what throws bodies about, where sweeps did not come to an end.
    void drop_wild_forces(double fastest, double dt) noexcept;
    [[nodiscard]] SweepOptions sweep_options(const PairContacts& pair, double dt) const noexcept {
        return {dt, dt + pair.law.damping, pair.law.friction};
    }
    [[nodiscard]] SweepPair sweep_pair(const PairContacts& pair) noexcept;
    /// False: forces are not finite, and none act.
    bool load_bodies(double dt) noexcept;
    void load_pair(PairContacts& pair, double dt) noexcept;
    void remember() noexcept;

    [[nodiscard]] MovingBody& body(int i) noexcept { return bodies[static_cast<std::size_t>(i)]; }
    [[nodiscard]] PairContacts& pair_at(int place) noexcept {
        return active[static_cast<std::size_t>(phases.order()[static_cast<std::size_t>(place)])];
    }
    [[nodiscard]] std::span<SolverContact> contacts_of(const PairContacts& pair) noexcept {
        return std::span(parts[static_cast<std::size_t>(pair.part)].contacts)
            .subspan(static_cast<std::size_t>(pair.first), static_cast<std::size_t>(pair.count));
    }
    [[nodiscard]] PairLaw law_of(const MovingBody& a, const MovingBody& b,
                                 double dt) const noexcept;
    /// The largest of all pairs that contact can move.
    [[nodiscard]] PairLaw strongest_law() const noexcept;
    [[nodiscard]] int max_sweeps() const noexcept;

    ContactSolverOptions options;
    double stiffness_factor = 1, friction_factor = 1;  ///< where each pair has its own
    double largest_mass = 0;
    PairLaw strongest;  ///< with factors of 1
    std::vector<MovingBody> bodies;
    std::vector<BoundingSphere> spheres;
    std::vector<char> is_moving;
    BroadPhase broad;
    FieldNeighbours neighbours;
    std::vector<ContactRows> parts;
    std::vector<PairContacts> pairs;   ///< near each other
    std::vector<PairContacts> active;  ///< touching
    std::vector<BodyPair> active_bodies;
    PairPhases phases;
    std::vector<int> sweep_offsets;                      ///< of all sweeps, one after the other
    std::vector<ContactForce> before, direction, ahead;  ///< of few contacts
    std::vector<RememberedContact> memory;
    std::vector<Contact> contacts;
    ContactSolverStatistics statistics;
};

ContactSolver::Impl::Impl(const std::vector<ContactBody>& contact_bodies,
                          const ContactSolverOptions& o)
    : options(o),
      bodies(moving_bodies(contact_bodies)),
      spheres(bodies.size()),
      broad(static_cast<int>(bodies.size()), o.max_pairs),
      neighbours(bodies.size(), static_cast<std::size_t>(o.max_pairs)),
      phases(static_cast<int>(bodies.size()), o.max_pairs) {
    for (const MovingBody& b : bodies) is_moving.push_back(b.is_moving() ? 1 : 0);
    for (const MovingBody& b : bodies) largest_mass = std::max(largest_mass, b.scale().mass);
    strongest = strongest_law();
    for (int i = 0; i < kNumParts; ++i) parts.emplace_back(bodies, o.max_contacts / kNumParts);
    const auto max_pairs = static_cast<std::size_t>(o.max_pairs);
    pairs.reserve(max_pairs);
    active.reserve(max_pairs);
    active_bodies.reserve(max_pairs);
    memory.reserve(static_cast<std::size_t>(o.max_contacts));
    contacts.reserve(static_cast<std::size_t>(o.max_contacts));
    for (auto* forces : {&before, &direction, &ahead}) forces->resize(kFewContacts);
    // each sweep has its phases and a look at the result
    sweep_offsets.reserve((max_pairs + 1) * (static_cast<std::size_t>(o.max_iterations) + 1) + 1);
}

PairLaw ContactSolver::Impl::law_of(const MovingBody& a, const MovingBody& b,
                                    double dt) const noexcept {
    const ContactSurface &s = a.surface(), &t = b.surface();
    PairLaw law;
    law.stiffness = options.stiffness;
    if (!(law.stiffness > 0)) {
        const double given = common_stiffness(s, t);
        law.stiffness = given > 0 ? given
                                  : default_stiffness(a.scale(), b.scale(), largest_mass) /
                                        options.scaling_count;
        if (!(law.stiffness > 0)) law.stiffness = kFallbackStiffness;
        law.stiffness = std::min(stiffness_factor * law.stiffness, kMostStiffness);
    }
    if (options.friction)
        law.friction = *options.friction;
    else
        law.friction =
            friction_factor * (s.friction || t.friction ? common_friction(s, t) : kDefaultFriction);
    law.damping = options.damping_steps * dt;
    // few contacts, each with its own bit of the surface: nothing else takes the sway of a stack
    if (a.primitive() && b.primitive()) law.damping = std::max(law.damping, kExactDamping);
    law.restitution = options.restitution.value_or(common_restitution(s, t));
    return law;
}

PairLaw ContactSolver::Impl::strongest_law() const noexcept {
    PairLaw most;
    const auto add = [&](const MovingBody& a, const MovingBody& b) {
        if (!a.is_moving() && !b.is_moving()) return;
        const PairLaw law = law_of(a, b, 0);
        most.stiffness = std::max(most.stiffness, law.stiffness);
        most.friction = std::max(most.friction, law.friction);
    };
    for (std::size_t i = 0; i < bodies.size(); ++i)
        for (std::size_t k = i + 1; k < bodies.size(); ++k) add(bodies[i], bodies[k]);
    if (bodies.size() == 1) add(bodies[0], bodies[0]);
    return most;
}

int ContactSolver::Impl::max_sweeps() const noexcept {
    if (statistics.num_contacts == 0 || statistics.num_contacts >= kFewContacts)
        return options.max_iterations;
    return std::clamp(options.max_work / statistics.num_contacts, options.max_iterations,
                      std::max(options.max_iterations, kMostSweeps));
}

template <class Work>
void ContactSolver::Impl::for_each_body(const Work& work) noexcept {
    const std::array<int, 2> all = {0, static_cast<int>(bodies.size())};
    if (all[1] < kFewBodies)
        for (int i = 0; i < all[1]; ++i) work(i);
    else
        parallel_phases(all, work);
}

bool ContactSolver::Impl::begin_bodies(double dt) noexcept {
    for_each_body([&](int i) {
        const bool is_usable = body(i).begin(dt);
        BoundingSphere& sphere = spheres[static_cast<std::size_t>(i)];
        sphere = body(i).sphere();
        if (!is_usable) sphere.radius = -1;
    });
    return std::ranges::all_of(spheres, [](const BoundingSphere& s) { return s.radius >= 0; });
}

void ContactSolver::Impl::update_solids(std::span<const BodyPair> near) noexcept {
    neighbours.arrange(near, bodies.size());
    for_each_body([&](int i) {
        if (!neighbours.has_any(i)) return;
        body(i).update_solid();
        neighbours.ask(bodies, near, i);
    });
}

bool ContactSolver::Impl::find_contacts(double dt) noexcept {
    bool is_complete = true;
    const std::span<const BodyPair> near = broad.find(spheres, is_complete);
    pairs.clear();
    for (const BodyPair& pair : near) pairs.push_back({.bodies = pair});
    update_solids(near);
    const RowOptions row_options{.scaling_count = options.scaling_count,
                                 .scaling = options.scaling,
                                 .friction_stiffness = options.friction_stiffness,
                                 .dt = dt,
                                 .stiffening = std::min(1.0, dt / kStiffeningTime),
                                 .softening = std::min(1.0, dt / kSofteningTime),
                                 .emerging = std::min(1.0, dt / kEmergingTime)};
    const auto find = [&](int k) {
        ContactRows& part = parts[static_cast<std::size_t>(k)];
        part.clear();
        for (std::size_t i = static_cast<std::size_t>(k); i < pairs.size(); i += kNumParts) {
            PairContacts& pair = pairs[i];
            pair.part = k;
            pair.first = part.count;
            if (neighbours.may_touch(i)) {
                RowOptions of_pair = row_options;
                pair.law = of_pair.law =
                    law_of(body(pair.bodies.shell), body(pair.bodies.field), dt);
                part.add_pair(bodies, pair.bodies, of_pair, memory);
            }
            pair.count = part.count - pair.first;
        }
    };
    if (pairs.size() < kFewBodies) {
        for (int k = 0; k < kNumParts; ++k) find(k);
    } else {
        constexpr std::array<int, 2> kAll = {0, kNumParts};
        parallel_phases(kAll, find);
    }

    active.clear();
    active_bodies.clear();
    for (const PairContacts& pair : pairs) {
        if (pair.count == 0) continue;
        active.push_back(pair);
        active_bodies.push_back(pair.bodies);
        statistics.num_contacts += pair.count;
    }
    statistics.num_pairs = static_cast<int>(pairs.size());
    for (const ContactRows& part : parts) statistics.num_visited += part.num_visited;
    phases.arrange(active_bodies, is_moving);
    return is_complete && std::ranges::all_of(parts, &ContactRows::is_complete);
}

SweepPair ContactSolver::Impl::sweep_pair(const PairContacts& pair) noexcept {
    return {parts[static_cast<std::size_t>(pair.part)].rows.data() + pair.first, pair.count,
            body(pair.bodies.shell).for_sweeps(), body(pair.bodies.field).for_sweeps()};
}

void ContactSolver::Impl::solve(double dt) noexcept {
    if (options.max_work > 0 && statistics.num_contacts < kFewContacts) return solve_few(dt);
    const int num_sweeps = options.max_iterations + 1;
    const int num_pairs = static_cast<int>(active.size()), num_items = num_pairs + 1;
    bool is_done = num_pairs == 0;
    // items of sweep 0 start, those of the others sweep; the last of each looks at the change
    const auto work = [&](int item) {
        const int sweep = item / num_items, place = item % num_items;
        if (is_done) return;
        if (place < num_pairs) {
            PairContacts& pair = pair_at(place);
            // often the next one of this thread
            if (place + 1 < num_pairs) prefetch_contacts(sweep_pair(pair_at(place + 1)));
            if (sweep == 0)
                start_contacts(sweep_pair(pair), sweep_options(pair, dt));
            else
                pair.sweep = sweep_contacts(sweep_pair(pair), sweep_options(pair, dt));
            return;
        }
        if (sweep == 0) return;
        double change = 0, largest = 0;
        for (const PairContacts& pair : active) {
            change = std::max(change, pair.sweep.change);
            largest = std::max(largest, pair.sweep.largest);
        }
        statistics.iterations = sweep;
        statistics.change = largest > 0 ? change / largest : 0;
        is_done = change <= options.tolerance * largest;
    };
    if (statistics.num_contacts < kFewContacts) {
        for (int i = 0; i < num_sweeps * num_items && !is_done; ++i) work(i);
        return;
    }
    sweep_offsets.clear();
    sweep_offsets.push_back(0);
    for (int sweep = 0; sweep < num_sweeps; ++sweep) {
        for (const int offset : phases.offsets().subspan(1))
            sweep_offsets.push_back(sweep * num_items + offset);
        sweep_offsets.push_back((sweep + 1) * num_items);
    }
    parallel_phases(sweep_offsets, work);
}

/// A body that something far heavier crushes: no number of sweeps finds its forces. A pair that
/// would make it much faster than anything was does nothing in this step, which keeps momentum.
void ContactSolver::Impl::drop_wild_forces(double fastest, double dt) noexcept {
    const double limit = 2 * fastest + kWildSpeed;
    for (PairContacts& pair : active) {
        MovingBody &shell = body(pair.bodies.shell), &field = body(pair.bodies.field);
        const auto is_wild = [&](const MovingBody& b) {
            return b.has_frame() && !(b.speed_next() <= limit);
        };
        if (!is_wild(shell) && !is_wild(field)) continue;
        const SweepPair part = sweep_pair(pair);
        for (int i = 0; i < part.count; ++i)
            for (int k = 0; k < kNumDirections; ++k)
                ahead[static_cast<std::size_t>(i)].along[k] = -part.rows[i].f[k];
        add_forces(part, &ahead[0].along, sweep_options(pair, dt));
    }
}

/// Gauss-Seidel as the gradient of nonlinear conjugate gradients [Silcowitz2010]: sweeps alone need
/// as many as one mass is times the other.
void ContactSolver::Impl::solve_few(double dt) noexcept {
    for (PairContacts& pair : active) start_contacts(sweep_pair(pair), sweep_options(pair, dt));
    std::fill_n(direction.begin(), statistics.num_contacts, ContactForce{});
    const int last = max_sweeps();
    double fastest = 0;
    for (const MovingBody& b : bodies)
        if (b.has_frame() || !b.is_moving()) fastest = std::max(fastest, b.speed_now());
    double squared = 0;  // of the change in the sweep before
    for (int sweep = 1; sweep <= last; ++sweep) {
        double change = 0, largest = 0, speed = 0, sum = 0;
        std::size_t row = 0;
        for (PairContacts& pair : active) {
            const SweepPair part = sweep_pair(pair);
            const std::size_t first = row;
            for (int i = 0; i < part.count; ++i)
                std::ranges::copy(part.rows[i].f, before[row++].along);
            const SweepChange one = sweep_contacts(part, sweep_options(pair, dt));
            change = std::max(change, one.change);
            largest = std::max(largest, one.largest);
            speed = std::max(speed, one.speed);
            for (std::size_t i = first; i < row; ++i)
                for (int k = 0; k < kNumDirections; ++k) {
                    double& from = before[i].along[k];
                    from = part.rows[i - first].f[k] - from;
                    sum += from * from;
                }
        }
        statistics.iterations = sweep;
        statistics.change = largest > 0 ? change / largest : 0;
        const double enough = sweep < options.max_iterations
                                  ? options.tolerance
                                  : std::max(options.tolerance, kToleranceOfMore);
        // what is little of a heavy body's force is much for a light one
        const bool is_done =
            change <= enough * largest && (sweep < options.max_iterations || speed <= kSpeedOfMore);
        // the last one leaves forces within their limits
        if (is_done) return;
        if (sweep == last) return speed > kUnsettled ? drop_wild_forces(fastest, dt) : void();
        const double ratio = sweep > 1 && squared > 0 ? sum / squared : 2;
        squared = sum;
        row = 0;
        for (PairContacts& pair : active) {
            const SweepPair part = sweep_pair(pair);
            const std::size_t first = row;
            for (int i = 0; i < part.count; ++i, ++row)
                for (int k = 0; k < kNumDirections; ++k) {
                    double& way = direction[row].along[k];
                    // starts anew where it got worse
                    ahead[row].along[k] = ratio <= 1 ? ratio * way : 0;
                    way = ahead[row].along[k] + before[row].along[k];
                }
            if (ratio <= 1) add_forces(part, &ahead[first].along, sweep_options(pair, dt));
        }
    }
}

void ContactSolver::Impl::load_pair(PairContacts& pair, double dt) noexcept {
    MovingBody &shell = body(pair.bodies.shell), &field = body(pair.bodies.field);
    pair.on_shell = pair.on_field = {};
    const SweepRow* row = sweep_pair(pair).rows;
    // centres move in the step: arms that keep the angular momentum of both, eq. (32)
    Vector3d shift = Vector3d::Zero();
    if (shell.has_frame() && field.has_frame())
        shift = 0.25 * dt * (field.centre_velocity() - shell.centre_velocity());
    for (SolverContact& c : contacts_of(pair)) {
        std::ranges::copy(row->f, c.f.begin());
        c.is_sliding = row->is_sliding;
        ++row;
        const Vector3d force = c.force(), back = -force;
        pair.on_shell += {force, (c.p - shell.centre() + shift).cross(force)};
        pair.on_field += {back, (c.p - field.centre() - shift).cross(back)};
        if (shell.rank() > 0) shell.add_load(shell.tree()->row(c.node), 4, force);
        if (field.rank() > 0) field.add_load(field.deformed()->proxy_modes(c.proxy), 3, back);
    }
}

bool ContactSolver::Impl::load_bodies(double dt) noexcept {
    const auto work = [&](int place) { load_pair(pair_at(place), dt); };
    if (statistics.num_contacts < kFewContacts)
        for (int place = 0; place < static_cast<int>(active.size()); ++place) work(place);
    else
        parallel_phases(phases.offsets(), work);
    for (const PairContacts& pair : active) {
        if (!pair.on_shell.torque.allFinite() || !pair.on_field.torque.allFinite()) return false;
        // also of bodies that do not move, which many pairs share
        body(pair.bodies.shell).add_wrench(pair.on_shell);
        body(pair.bodies.field).add_wrench(pair.on_field);
    }
    for (MovingBody& b : bodies) b.apply();
    return true;
}

/// What the next tick begins with, eq. (31), and what contacts() shows.
void ContactSolver::Impl::remember() noexcept {
    memory.clear();
    contacts.clear();
    for (const PairContacts& pair : active) {
        const Pose &shell = body(pair.bodies.shell).pose(), &field = body(pair.bodies.field).pose();
        for (const SolverContact& c : contacts_of(pair)) {
            const double k = options.friction_stiffness * c.k;
            const Vector3d tangential = c.f[1] * c.e[1] + c.f[2] * c.e[2];
            // a spring that slid is as long as friction holds it
            const Vector3d stretch = c.is_sliding ? Vector3d(-tangential / k) : c.stretch;
            const bool is_exact = c.node < 0;
            // what an impact takes is no beginning for the next tick
            memory.push_back({.pair = pair.bodies,
                              .point = c.point,
                              .feature = c.feature,
                              .weight = c.weight,
                              .rest = c.rest,
                              .normal_force = c.is_impact ? 0 : c.f[0],
                              .tangential_force = c.is_impact ? Vector3d::Zero() : tangential,
                              .anchor = field.to_body(is_exact ? c.p : Vector3d(c.p - stretch)),
                              .stretch = stretch,
                              .slip = c.slip});
            contacts.push_back({pair.bodies.shell, pair.bodies.field, c.point, c.node, c.p,
                                c.force(), -c.distance, shell.to_body(c.p)});
            statistics.deepest = std::max(statistics.deepest, -c.distance);
            statistics.num_sliding += c.is_sliding && c.f[0] > 0 ? 1 : 0;
            const double depth = c.distance - c.rest;
            statistics.elastic_energy += 0.5 * c.k * depth * depth;
            if (pair.law.friction > 0) statistics.elastic_energy += 0.5 * k * stretch.squaredNorm();
        }
    }
}

ContactSolver::ContactSolver(std::vector<ContactBody> bodies, const ContactSolverOptions& options) {
    check(options);
    impl_ = std::make_unique<Impl>(bodies, options);
}
ContactSolver::~ContactSolver() = default;
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;

StepStatus ContactSolver::act(double dt) noexcept {
    Impl& m = *impl_;
    m.statistics = {};
    m.contacts.clear();
    if (!(dt > 0) || !std::isfinite(dt * dt) || !std::isfinite(1 / (dt * dt)))
        return StepStatus::InputIgnored;
    const bool is_usable = m.begin_bodies(dt);
    const bool is_complete = m.find_contacts(dt);
    m.solve(dt);
    if (!m.load_bodies(dt)) {
        forget();
        return StepStatus::InputIgnored;
    }
    m.remember();
    if (!is_usable) return StepStatus::InputIgnored;
    return is_complete ? StepStatus::Ok : StepStatus::CapacityExceeded;
}

const ContactSolverStatistics& ContactSolver::statistics() const noexcept {
    return impl_->statistics;
}
const ContactSolverOptions& ContactSolver::options() const noexcept { return impl_->options; }
std::span<const ContactSolver::Contact> ContactSolver::contacts() const noexcept {
    return impl_->contacts;
}
double ContactSolver::stiffness() const noexcept {
    const Impl& m = *impl_;
    return m.options.stiffness > 0 ? m.options.stiffness
                                   : m.stiffness_factor * m.strongest.stiffness;
}
double ContactSolver::friction() const noexcept {
    const Impl& m = *impl_;
    return m.options.friction.value_or(m.friction_factor * m.strongest.friction);
}
void ContactSolver::set_stiffness(double stiffness) noexcept {
    Impl& m = *impl_;
    if (!std::isfinite(stiffness)) return;
    stiffness = std::clamp(stiffness, 1e-9, kMostStiffness);
    if (m.options.stiffness > 0 || !(m.strongest.stiffness > 0))
        m.options.stiffness = stiffness;
    else
        m.stiffness_factor = stiffness / m.strongest.stiffness;
}
void ContactSolver::set_friction(double friction) noexcept {
    Impl& m = *impl_;
    if (!std::isfinite(friction)) return;
    friction = std::clamp(friction, 0.0, 1e3);
    if (m.options.friction || !(m.strongest.friction > 0))
        m.options.friction = friction;
    else
        m.friction_factor = friction / m.strongest.friction;
}
void ContactSolver::forget() noexcept {
    impl_->memory.clear();
    impl_->contacts.clear();
}

}  // namespace pliant
