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

struct PairContacts {
    BodyPair bodies;
    int part = 0, first = 0, count = 0;
    SweepChange sweep = {};               ///< the last one
    Wrench on_shell = {}, on_field = {};  ///< about the centres of the bodies
};

void check(const ContactSolverOptions& o) {
    check_load_options({.stiffness = o.stiffness,
                        .scaling_count = o.scaling_count,
                        .friction = o.friction,
                        .friction_stiffness = o.friction_stiffness});
    const auto expect = [](bool is_good, const char* field, const std::string& value,
                           const char* expected) {
        if (!is_good) throw InputError("", field, value, expected);
    };
    expect(std::isfinite(o.damping_steps) && o.damping_steps >= 0, "contact.damping_steps",
           std::to_string(o.damping_steps), "value >= 0");
    expect(o.max_iterations >= 1 && o.max_iterations <= 10000, "contact.max_iterations",
           std::to_string(o.max_iterations), "1 <= value <= 10000");
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
    [[nodiscard]] double reach(double dt) const noexcept { return dt + options.damping_steps * dt; }

    ContactSolverOptions options;
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
    std::vector<int> sweep_offsets;  ///< of all sweeps, one after the other
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
    for (int i = 0; i < kNumParts; ++i) parts.emplace_back(bodies, o.max_contacts / kNumParts);
    const auto max_pairs = static_cast<std::size_t>(o.max_pairs);
    pairs.reserve(max_pairs);
    active.reserve(max_pairs);
    active_bodies.reserve(max_pairs);
    memory.reserve(static_cast<std::size_t>(o.max_contacts));
    contacts.reserve(static_cast<std::size_t>(o.max_contacts));
    // each sweep has its phases and a look at the result
    sweep_offsets.reserve((max_pairs + 1) * (static_cast<std::size_t>(o.max_iterations) + 1) + 1);
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
    const RowOptions row_options{.stiffness = options.stiffness,
                                 .scaling_count = options.scaling_count,
                                 .scaling = options.scaling,
                                 .friction_stiffness = options.friction_stiffness,
                                 .has_friction = options.friction > 0,
                                 .dt = dt,
                                 .reach = reach(dt),
                                 .stiffening = std::min(1.0, dt / kStiffeningTime),
                                 .softening = std::min(1.0, dt / kSofteningTime)};
    const auto find = [&](int k) {
        ContactRows& part = parts[static_cast<std::size_t>(k)];
        part.clear();
        for (std::size_t i = static_cast<std::size_t>(k); i < pairs.size(); i += kNumParts) {
            PairContacts& pair = pairs[i];
            pair.part = k;
            pair.first = part.count;
            if (neighbours.may_touch(i)) part.add_pair(bodies, pair.bodies, row_options, memory);
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
    const SweepOptions sweep_options{dt, reach(dt), options.friction};
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
                start_contacts(sweep_pair(pair), sweep_options);
            else
                pair.sweep = sweep_contacts(sweep_pair(pair), sweep_options);
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
    const int num_sweeps = options.max_iterations + 1;
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
        const Pose& field = body(pair.bodies.field).pose();
        for (const SolverContact& c : contacts_of(pair)) {
            const double k = options.friction_stiffness * c.k;
            const Vector3d tangential = c.f[1] * c.e[1] + c.f[2] * c.e[2];
            // a spring that slid is as long as friction holds it
            const Vector3d stretch = c.is_sliding ? Vector3d(-tangential / k) : c.stretch;
            memory.push_back(
                {pair.bodies, c.point, c.weight, c.f[0], tangential, field.to_body(c.p - stretch)});
            contacts.push_back({pair.bodies.shell, pair.bodies.field, c.point, c.node, c.p,
                                c.force(), -c.distance});
            statistics.deepest = std::max(statistics.deepest, -c.distance);
            statistics.num_sliding += c.is_sliding && c.f[0] > 0 ? 1 : 0;
            statistics.elastic_energy += 0.5 * c.k * c.distance * c.distance;
            if (options.friction > 0) statistics.elastic_energy += 0.5 * k * stretch.squaredNorm();
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
void ContactSolver::set_stiffness(double stiffness) noexcept {
    if (std::isfinite(stiffness)) impl_->options.stiffness = std::clamp(stiffness, 1e-9, 1e12);
}
void ContactSolver::set_friction(double friction) noexcept {
    if (std::isfinite(friction)) impl_->options.friction = std::clamp(friction, 0.0, 1e3);
}
void ContactSolver::forget() noexcept {
    impl_->memory.clear();
    impl_->contacts.clear();
}

}  // namespace pliant
