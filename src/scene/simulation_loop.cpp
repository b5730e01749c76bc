#include "pliant/scene/simulation_loop.h"

#include "pliant/core/parallel.h"
#include "scene/finite_command.h"
#include "scene/gusts.h"
#include "scene/hand.h"
#include "scene/led_proxies.h"
#include "scene/loop_contacts.h"
#include "scene/tool_hand.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kAirDensity = 1.2;  // [kg/m³]
/// How fast the tool follows the pointer, docs/scene.md eq. (3) [rad/s].
constexpr double kToolRate = 60;
/// Each body's energy is computed in every 16th tick, for a reduced body it costs as much as a
/// step; not all in the same one.
constexpr std::uint64_t kEnergyTicks = 16;

/// More than a script resets.
constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

/// In the order of parameters().
enum Parameter {
    kGravity,
    kWindSpeed,
    kWindGusts,
    kPullStiffness,
    kPullDamping,
    kPokeForce,
    kToolSpeed,
    kNumParameters
};

/// From so many reduced bodies on, other threads are worth waking.
constexpr int kManyBodies = 16;

/// Places [first, end) of reduced bodies, which lie side by side and know nothing of each other;
/// none where they are few.
std::array<int, 2> many_reduced(std::span<const std::unique_ptr<Body>> bodies) {
    const auto is_reduced = [](const auto& body) { return body->kind() == "reduced"; };
    const auto first = std::ranges::find_if(bodies, is_reduced);
    const auto end = std::find_if_not(first, bodies.end(), is_reduced);
    if (end - first < kManyBodies) return {0, 0};
    return {static_cast<int>(first - bodies.begin()), static_cast<int>(end - bodies.begin())};
}

Vector3d vector(const std::array<double, 3>& x) { return {x[0], x[1], x[2]}; }
std::array<double, 3> array(const Vector3d& x) { return {x.x(), x.y(), x.z()}; }

/// A slider that also reaches a start value beyond its usual range.
LiveParameter slider(std::string name, std::string label, std::string unit, std::string help,
                     double value, double low, double high, bool is_logarithmic = false) {
    return {std::move(name),
            std::move(label),
            std::move(unit),
            std::move(help),
            value,
            value > 0 ? std::min(low, value) : low,
            std::max(high, value),
            is_logarithmic};
}

std::vector<LiveParameter> make_parameters(const LoopSettings& s) {
    return {
        slider("gravity", "Gravity", "m/s²", "9.81 on the ground, 1.6 on the Moon.",
               s.gravity.norm(), 0, 20),
        slider("wind_speed", "Wind", "m/s", "Mean speed: 5 moves leaves, 20 breaks twigs.",
               s.wind_speed, 0, 40),
        slider("wind_gusts", "Gusts", "",
               "Slow random changes: at 1 between calm and twice the mean speed.", s.wind_gusts, 0,
               1),
        slider("pull_stiffness", "Pull stiffness", "",
               "Spring of the hand, times the stiffness of the body there: at 1 both give way "
               "equally. Kept where the loop is stable.",
               s.pull_stiffness, 0.1, 10, true),
        slider("pull_damping", "Pull damping", "",
               "Fraction of critical: what is pulled swings at 0.1 and creeps at 2. All are safe.",
               s.pull_damping, 0, 2),
        slider("poke_force", "Poke force", "N",
               "0: what moves the point by 2 % of the body's size.", s.poke_force, 0, 100),
        slider("tool_speed", "Tool speed limit", "m/s",
               "The tool follows the pointer no faster: slower is gentler to what it touches.",
               s.tool_speed_limit, 0.05, 5, true),
    };
}

void check(const LoopSettings& settings) {
    if (!(settings.rate > 0) || !std::isfinite(settings.rate))
        throw InputError("", "rate", std::to_string(settings.rate), "more than 0 Hz");
    if (!settings.gravity.allFinite())
        throw InputError("", "gravity is not finite: give three numbers in m/s²");
    if (!settings.wind_direction.allFinite())
        throw InputError("", "the direction of the wind is not finite: give three numbers");
}

/// Whether weights are those of a point in the triangle, within what float32 leaves of them.
bool is_inside(const std::array<double, 3>& barycentric) noexcept {
    constexpr double kTolerance = 1e-3;
    const double sum = barycentric[0] + barycentric[1] + barycentric[2];
    return std::abs(sum - 1) < kTolerance &&
           std::all_of(barycentric.begin(), barycentric.end(),
                       [](double weight) { return weight > -kTolerance; });
}

bool is_on(const SurfaceMesh& surface, const Command& command) noexcept {
    if (command.triangle >= 0)
        return command.triangle < surface.num_triangles() && is_inside(command.barycentric);
    return command.triangle == -1 && command.vertex >= 0 && command.vertex < surface.num_vertices();
}

std::unique_ptr<BodiesEnd> make_proxies(const FemProxies& proxies,
                                        std::span<const std::unique_ptr<Body>> bodies,
                                        const LoopContacts& contacts) {
    std::vector<RigidBody*> rigid;
    for (const int place : proxies.places)
        rigid.push_back(dynamic_cast<RigidBody*>(bodies[static_cast<std::size_t>(place)].get()));
    if (proxies.among) {
        const auto [solver, member] = contacts.solver_of(proxies.places.front());
        if (solver == nullptr)
            throw InputError("", "a tool in a hand that is a body with mass is in no \"among\"");
        return std::make_unique<LedProxies>(proxies, *rigid.front(), *solver, member);
    }
    std::vector<const FemBody*> fem;
    for (const auto& body : bodies)
        if (const auto* one = dynamic_cast<const FemBody*>(body.get())) fem.push_back(one);
    return std::make_unique<LedProxies>(proxies, std::move(rigid), std::move(fem));
}

std::shared_ptr<BodiesEnd> make_bodies_end(const BodiesEndDescription& end,
                                           std::span<const std::unique_ptr<Body>> bodies,
                                           const LoopContacts& contacts) {
    if (const auto* fem = std::get_if<FemProxies>(&end))
        return make_proxies(*fem, bodies, contacts);
    return std::get<std::shared_ptr<BodiesEnd>>(end);
}

}  // namespace

struct SimulationLoop::Live {
    Live(const LoopSettings& settings, std::vector<LoopContact> loop_contacts)
        : parameters(make_parameters(settings)),
          gusts(settings.seed),
          contacts(std::move(loop_contacts)) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = parameters[i].value;
        const double size = settings.gravity.norm();
        down = size > 0 ? Vector3d(settings.gravity / size) : Vector3d(0, 0, -1);
    }
    /// Hands that pull at the same body share what it can bear.
    void share_bodies() noexcept {
        for (Hand& hand : hands) {
            const auto pulls_there = [&](const Hand& other) {
                return other.kind() == Hand::Kind::Pull && other.body() == hand.body();
            };
            if (hand.kind() == Hand::Kind::Pull)
                hand.share(
                    static_cast<int>(std::count_if(hands.begin(), hands.end(), pulls_there)));
        }
    }
    [[nodiscard]] HandSettings hand_settings(const LoopSettings& settings) const noexcept {
        return {values[kPullStiffness], values[kPullDamping], settings.pull_force_limit,
                values[kPokeForce], 1 / settings.rate};
    }

    /// Of the tool in a hand, where what it touches may be in another loop; else null.
    [[nodiscard]] LetterReader* hand_letters() const noexcept {
        return tool_hand ? tool_hand->letters() : nullptr;
    }

    std::vector<LiveParameter> parameters;
    std::array<double, kNumParameters> values = {};
    Vector3d down;  ///< unit
    Gusts gusts;
    std::array<Hand, Command::kMaxSlots> hands;
    std::array<int, Command::kMaxSlots> held_body = {};  ///< of the world
    MovingTarget pointer;
    Vector3d tool_velocity = Vector3d::Zero();
    bool is_tool_scripted = false;
    std::vector<Energy> energies;
    std::vector<std::size_t> display_sizes, display_offsets;
    std::size_t display_size = 0;         ///< of all
    std::array<int, 2> reduced = {0, 0};  ///< places that may step side by side
    std::vector<const FemBody*> fem;      ///< of each place; null: of another kind
    std::uint64_t num_ignored = 0;
    LoopContacts contacts;
    std::unique_ptr<ToolHand> tool_hand;  ///< null: no body is held in one
    std::shared_ptr<BodiesEnd> proxies;   ///< of a tool whose hand is elsewhere; null: none
    int weightless = -1;                  ///< place of a body that a hand carries
    std::uint64_t round = 0;              ///< resets: kRound for each that was asked for
    bool has_received = false;            ///< for the next tick
    bool is_told = false;                 ///< what to receive, as a replay
};

SimulationLoop::SimulationLoop(const LoopSettings& settings,
                               std::vector<std::unique_ptr<Body>> bodies,
                               std::vector<int> body_of_world, std::unique_ptr<RigidBody> tool,
                               std::vector<LoopContact> contacts, std::optional<HeldTool> held,
                               std::optional<BodiesEndDescription> proxies)
    : settings_(settings),
      bodies_(std::move(bodies)),
      body_of_world_(std::move(body_of_world)),
      tool_(std::move(tool)) {
    check(settings_);
    assert(bodies_.size() == body_of_world_.size());
    live_ = std::make_unique<Live>(settings_, std::move(contacts));
    live_->energies.resize(bodies_.size());
    for (const auto& body : bodies_) {
        body->set_wind_direction(settings_.wind_direction);
        live_->fem.push_back(dynamic_cast<const FemBody*>(body.get()));
        live_->display_offsets.push_back(live_->display_size);
        live_->display_sizes.push_back(static_cast<std::size_t>(body->display()->state_size()));
        live_->display_size += live_->display_sizes.back();
    }
    live_->reduced = many_reduced(bodies_);
    if (held && held->fem) {
        live_->tool_hand = std::make_unique<ToolHand>(*std::move(held));
    } else if (held) {
        const auto place = static_cast<std::size_t>(held->place);
        auto* const body = dynamic_cast<RigidBody*>(bodies_[place].get());
        if (body == nullptr) throw InputError("", "only a rigid body can be held in a hand");
        if (held->proxy)
            live_->tool_hand =
                std::make_unique<ToolHand>(*std::move(held), *body, body_of_world_[place]);
        else if (GreensPoints* const points = live_->contacts.points_of(*body))
            live_->tool_hand =
                std::make_unique<ToolHand>(*std::move(held), *body, *points, body_of_world_[place]);
        else
            live_->tool_hand = std::make_unique<ToolHand>(
                *std::move(held), *body, live_->contacts.pairs_of(*body), body_of_world_[place]);
    }
    if (proxies) {
        live_->proxies = make_bodies_end(*proxies, bodies_, live_->contacts);
        // the hand carries its weight
        const auto* const led = std::get_if<FemProxies>(&*proxies);
        if (led && led->among) live_->weightless = led->places.front();
    }
    set_gravity(live_->values[kGravity] * live_->down);  // as its slider does
    reset();
}

SimulationLoop::~SimulationLoop() = default;

std::vector<LiveParameter> SimulationLoop::parameters() const { return live_->parameters; }

void SimulationLoop::set_parameter(int index, double value) noexcept {
    if (index < 0 || index >= kNumParameters || !std::isfinite(value)) return;
    const auto i = static_cast<std::size_t>(index);
    live_->values[i] = clamped(live_->parameters[i], value);
    if (index == kGravity) set_gravity(live_->values[kGravity] * live_->down);
    if (index == kPullStiffness || index == kPullDamping || index == kPokeForce)
        for (Hand& hand : live_->hands) hand.update(live_->hand_settings(settings_));
}

void SimulationLoop::set_gravity(const Vector3d& gravity) noexcept {
    for (int place = 0; place < num_bodies(); ++place)
        if (place != live_->weightless) body(place).set_gravity(gravity);
}

int SimulationLoop::num_contacts() const noexcept { return live_->contacts.count(); }
const LoopContact& SimulationLoop::contact(int c) const noexcept { return live_->contacts[c]; }
std::vector<LiveParameter> SimulationLoop::contact_parameters(int c) const {
    return live_->contacts.parameters(c);
}
void SimulationLoop::set_contact_parameter(int c, int index, double value) noexcept {
    live_->contacts.set_parameter(c, index, value);
    if (index == kContactStiffness && shares_stiffness(c))
        live_->tool_hand->adopt_contact_stiffness(contact(c).pair()->forces().options().stiffness);
}
bool SimulationLoop::shares_stiffness(int c) const noexcept {
    const ContactPair* const pair = c >= 0 && c < num_contacts() ? contact(c).pair() : nullptr;
    return live_->tool_hand && pair && live_->tool_hand->touches(*pair);
}

const HapticInfo* SimulationLoop::haptics() const noexcept {
    return live_->tool_hand ? &live_->tool_hand->info() : nullptr;
}
const HapticTick* SimulationLoop::haptic_tick() const noexcept {
    return live_->tool_hand ? &live_->tool_hand->last() : nullptr;
}
std::vector<LiveParameter> SimulationLoop::haptic_parameters() const {
    return live_->tool_hand ? live_->tool_hand->parameters() : std::vector<LiveParameter>();
}
void SimulationLoop::set_haptic_parameter(int index, double value) noexcept {
    if (live_->tool_hand) live_->tool_hand->set_parameter(index, value);
}
void SimulationLoop::allow_force(bool is_allowed) noexcept {
    if (live_->tool_hand) live_->tool_hand->allow_force(is_allowed);
}
void SimulationLoop::rewind_device() noexcept {
    if (live_->tool_hand) live_->tool_hand->rewind();
}

bool SimulationLoop::exchanges() const noexcept {
    // with both ends here nothing depends on another loop
    return (live_->hand_letters() != nullptr) != (live_->proxies != nullptr);
}
std::uint64_t SimulationLoop::receive() noexcept {
    live_->has_received = true;
    std::uint64_t tick = 0;
    if (LetterReader* const letters = live_->hand_letters()) tick = letters->receive();
    if (live_->proxies) tick = live_->proxies->letters().receive();
    return tick;
}
bool SimulationLoop::receive(std::uint64_t tick) noexcept {
    if (tick == 0) return true;
    LetterReader* const letters =
        live_->proxies ? &live_->proxies->letters() : live_->hand_letters();
    return letters && letters->receive(tick);
}
void SimulationLoop::keep_exchange() {
    if (!exchanges()) return;
    live_->is_told = true;
    (live_->proxies ? live_->proxies->letters() : *live_->hand_letters()).keep();
}
void SimulationLoop::take_newest() noexcept {
    if (!live_->has_received && !live_->is_told) receive();
    live_->has_received = false;
}

void SimulationLoop::forget_contacts() noexcept { live_->contacts.forget(); }
void SimulationLoop::look_at_contacts() noexcept { live_->contacts.look(dt()); }

void SimulationLoop::contact_marks(const LoopFrame& frame, int c,
                                   std::vector<ContactMark>& marks) const {
    live_->contacts.marks(c, frame.contacts[static_cast<std::size_t>(c)], frame.display,
                          live_->display_offsets, marks);
}

std::span<const float> SimulationLoop::display_of(const LoopFrame& frame, int body) const noexcept {
    const auto i = static_cast<std::size_t>(body);
    return {frame.display.data() + live_->display_offsets[i], live_->display_sizes[i]};
}

int SimulationLoop::place_of(int body_of_world) const noexcept {
    const auto found = std::find(body_of_world_.begin(), body_of_world_.end(), body_of_world);
    return found == body_of_world_.end() ? -1 : static_cast<int>(found - body_of_world_.begin());
}

void SimulationLoop::hold(const Command& command) noexcept {
    const auto slot = static_cast<std::size_t>(command.slot);
    Hand& hand = live_->hands[slot];
    const int place = place_of(command.body);
    if (command.body < 0 || (place >= 0 && !is_on(body(place).surface(), command))) {
        ++live_->num_ignored;
        return;
    }
    if (place < 0) {
        hand.release();
        return;
    }
    const SurfacePoint point =
        command.triangle >= 0
            ? SurfacePoint::on_triangle(command.triangle, vector(command.barycentric))
            : SurfacePoint::at_vertex(command.vertex);
    live_->held_body[slot] = command.body;
    const HandSettings hand_settings = live_->hand_settings(settings_);
    if (command.kind == Command::Kind::Grab)
        hand.grab(body(place), point, vector(command.target), command.duration, hand_settings);
    else
        hand.poke(body(place), point, command.value, hand_settings);
}

void SimulationLoop::apply(const Command& command) noexcept {
    using Kind = Command::Kind;
    const bool has_slot = command.slot >= 0 && command.slot < Command::kMaxSlots;
    const bool needs_slot = command.kind == Kind::Grab || command.kind == Kind::Poke ||
                            command.kind == Kind::Drag || command.kind == Kind::Release;
    if (!is_finite(command) || command.duration < 0 || (needs_slot && !has_slot) ||
        (command.kind == Kind::Poke && command.value < 0)) {
        ++live_->num_ignored;
        return;
    }
    const auto slot = static_cast<std::size_t>(needs_slot ? command.slot : 0);
    switch (command.kind) {
        case Kind::Grab:
        case Kind::Poke: hold(command); break;
        // both may come after a reset or for a slot of another loop
        case Kind::Drag: live_->hands[slot].drag(vector(command.target), command.duration); break;
        case Kind::Release: live_->hands[slot].release(); break;
        case Kind::MoveTool:
            if (live_->tool_hand) {
                const auto& [w, x, y, z] = command.rotation;
                const Quaternion rotation(w, x, y, z);
                if (rotation.norm() > 1e-3)
                    live_->tool_hand->move_to({vector(command.target), rotation.normalized()},
                                              command.duration, command.buttons);
                else
                    ++live_->num_ignored;
            }
            if (!tool_) break;
            live_->is_tool_scripted = false;
            live_->pointer.move_to(vector(command.target), command.duration);
            break;
        case Kind::SetParameter:
        case Kind::Exchange: break;
        case Kind::Reset:
            if (live_->tool_hand) live_->tool_hand->play_anew();
            // counted before those of the script, which loops may have come to or not
            live_->round = (live_->round / kRound + 1) * kRound;
            reset();
            break;
    }
    if (needs_slot && command.kind != Kind::Drag) live_->share_bodies();
}

void SimulationLoop::move_tool() noexcept {
    const double h = dt();
    Pose pose = tool_->motion().pose;
    MovingTarget& pointer = live_->pointer;
    if (live_->is_tool_scripted) {
        pose = settings_.tool_script->at(static_cast<double>(ticks_ + 1) * h).pose;
        live_->tool_velocity = (pose.position - tool_->motion().pose.position) / h;
        pointer.move_to(pose.position, 0);
    } else {
        // critically damped, by implicit Euler: stable for every rate, docs/scene.md eq. (3)
        pointer.advance(h);
        Vector3d& v = live_->tool_velocity;
        v = (v + h * kToolRate * kToolRate * (pointer.position - pose.position)) /
            ((1 + h * kToolRate) * (1 + h * kToolRate));
        const double speed = v.norm(), limit = live_->values[kToolSpeed];
        if (speed > limit) v *= limit / speed;
        if (!v.allFinite()) v.setZero();
        pose.position += h * v;
    }
    tool_->drive_to(pose);
}

void SimulationLoop::tick() noexcept {
    take_newest();
    // loads of this tick
    for (Hand& hand : live_->hands) hand.act(dt());
    const double gust = 1 + live_->values[kWindGusts] * live_->gusts.at(time());
    const double wind = live_->values[kWindSpeed] * std::max(gust, 0.0);
    for (const auto& body : bodies_) body->set_wind_pressure(0.5 * kAirDensity * wind * wind);
    if (live_->proxies) live_->proxies->begin_step(dt());
    live_->contacts.act(dt());
    if (live_->tool_hand) live_->tool_hand->tick(static_cast<double>(ticks_ + 1) * dt(), dt());

    // everything advances
    if (tool_) {
        move_tool();
        tool_->step(dt());
    }
    ++ticks_;
    const auto advance = [&](int place) {
        const auto i = static_cast<std::size_t>(place);
        bodies_[i]->step(dt());
        if ((ticks_ + i) % kEnergyTicks == 0) live_->energies[i] = bodies_[i]->energy();
    };
    const auto [first, end] = live_->reduced;
    for (int i = 0; i < first; ++i) advance(i);
    if (first < end) parallel_phases(live_->reduced, advance);
    for (int i = end; i < num_bodies(); ++i) advance(i);
    if (live_->proxies) live_->proxies->end_step();
    write_sample();
}

void SimulationLoop::warm_up() noexcept {
    for (const auto& body : bodies_) body->rehearse(dt());
}

void SimulationLoop::write_sample() noexcept {
    sample_.tick = ticks_;
    sample_.time = time();
    sample_.hand = sample_.point = sample_.force = {};
    if (const Hand& hand = live_->hands[0]; hand.kind() != Hand::Kind::Empty) {
        sample_.hand = array(hand.target());
        sample_.point = array(hand.point());
        sample_.force = array(-hand.force());
    } else if (const HapticTick* const t = haptic_tick()) {
        const Vector3d& grasp = haptics()->grasp;
        sample_.hand = array(t->manipulandum.to_world(grasp));
        sample_.point = array(t->tool.to_world(grasp));
        sample_.force = array(t->coupling.force);
    } else if (tool_) {
        sample_.hand = array(live_->pointer.position);
        sample_.point = array(tool_->motion().pose.position);
        sample_.force = array(tool_->last_load().force);
    } else if (const LoopContacts::Moved moved = live_->contacts.moved(); moved.place >= 0) {
        if (const auto* rigid = dynamic_cast<const RigidBody*>(&body(moved.place)))
            sample_.hand = sample_.point = array(rigid->motion().pose.position);
        sample_.force = array(moved.force);
    }
    if (const HapticTick* const t = haptic_tick()) sample_.show_device(*t);
    sample_.energy = 0;
    for (const Energy& energy : live_->energies) sample_.energy += energy.total();
}

LoopFrame SimulationLoop::make_frame() const {
    LoopFrame frame;
    frame.display.resize(live_->display_size);
    frame.energies.resize(bodies_.size());
    frame.statuses.resize(bodies_.size());
    frame.steps.resize(bodies_.size());
    live_->contacts.make_frames(body_of_world_, frame.contacts);
    fill(frame);
    return frame;
}

void SimulationLoop::fill(LoopFrame& frame) const noexcept {
    frame.tick = ticks_;
    frame.time = time();
    frame.status_counts.fill(0);
    frame.status_counts[static_cast<std::size_t>(StepStatus::InputIgnored)] = live_->num_ignored;
    const auto add_counts = [&](const Body& body) {
        for (std::size_t i = 0; i < frame.status_counts.size(); ++i)
            frame.status_counts[i] += body.report().counts[i];
    };
    std::span<float> rest = frame.display;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const auto size = live_->display_sizes[i];
        bodies_[i]->write_display(rest.first(size));
        rest = rest.subspan(size);
        frame.energies[i] = live_->energies[i];
        frame.statuses[i] = bodies_[i]->report().last;
        frame.steps[i].counts = bodies_[i]->report().counts;
        if (const FemBody* const fem = live_->fem[i]) {
            frame.steps[i].smallest_det_F = fem->smallest_det_F().value;
            frame.steps[i].worst_det_F = fem->inversions().worst.value;
            frame.steps[i].num_inverted = fem->inversions().num_steps;
            const FemBody::Care& care = fem->care();
            frame.steps[i].num_slowed = care.num_slowed;
            frame.steps[i].num_held_up = care.num_held_up;
            frame.steps[i].num_softened = care.num_softened;
            frame.steps[i].slowest = care.slowest;
            frame.steps[i].smallest_stvk = care.smallest_stvk;
        }
        add_counts(*bodies_[i]);
    }
    for (std::size_t slot = 0; slot < live_->hands.size(); ++slot) {
        const Hand& hand = live_->hands[slot];
        frame.held[slot] = {};
        if (hand.kind() == Hand::Kind::Empty) continue;
        frame.held[slot] = {live_->held_body[slot], hand.kind() == Hand::Kind::Poke,
                            array(hand.point()), array(hand.target()), array(hand.force())};
    }
    live_->contacts.fill(frame.contacts);
    live_->contacts.place_points(frame.display, live_->display_offsets);
    live_->contacts.add_counts(frame.status_counts);
    if (live_->tool_hand) live_->tool_hand->fill(frame.haptics);
    frame.has_tool = tool_ != nullptr;
    if (!tool_) return;
    frame.tool_position = array(tool_->motion().pose.position);
    frame.tool_target = array(live_->pointer.position);
    frame.tool_force = array(tool_->last_load().force);
    add_counts(*tool_);
}

void SimulationLoop::reset() noexcept {
    for (const auto& body : bodies_) body->reset();
    for (Hand& hand : live_->hands) hand.release();
    live_->contacts.reset();
    ++live_->round;
    if (live_->tool_hand) {
        live_->tool_hand->reset();
        if (LetterReader* const letters = live_->hand_letters()) letters->set_round(live_->round);
    }
    if (live_->proxies) {
        live_->proxies->reset();
        live_->proxies->letters().set_round(live_->round);
    }
    live_->has_received = false;
    live_->num_ignored = 0;
    live_->tool_velocity.setZero();
    if (tool_) {
        tool_->reset();
        live_->is_tool_scripted = settings_.tool_script.has_value();
        live_->pointer = {};
        live_->pointer.move_to(tool_->motion().pose.position, 0);
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) live_->energies[i] = bodies_[i]->energy();
    ticks_ = 0;
    sample_ = {};
}

}  // namespace pliant
