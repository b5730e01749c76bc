#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/core/triple_buffer.h"
#include "pliant/scene/command.h"
#include "pliant/scene/held_tool.h"
#include "pliant/scene/loop_contact.h"
#include "pliant/scene/shown_haptics.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pliant {

/// One tick as plots and recordings see it.
struct TickSample {
    std::uint64_t tick = 0;
    double time = 0;                   ///< simulated, at the end of the tick [s]
    std::array<double, 3> hand = {};   ///< where the hand wants to be: target of slot 0 or tool
    std::array<double, 3> point = {};  ///< what it holds: surface point of slot 0 or the tool
    std::array<double, 3> force = {};  ///< on the hand [N]
    double energy = 0;                 ///< of all bodies, each as at most 16 ticks ago [J]
    float work_us = 0;                 ///< thread CPU time of the tick
    float late_us = 0;                 ///< how late it began; 0 in virtual time
    float device_force = -1;  ///< |F| shown by the device of a tool in a hand [N]; −1: none
    float port_energy = 0, stored_energy = 0;  ///< W and S of docs/haptics.md eq. (22) [J]

    void show_device(const HapticTick& haptics) noexcept {
        device_force = static_cast<float>(haptics.command.force.norm());
        port_energy = static_cast<float>(haptics.port_energy);
        stored_energy = static_cast<float>(haptics.stored_energy);
    }
};

/// What one slot holds, for drawing.
struct HeldPoint {
    std::int32_t body = -1;  ///< of the world; −1: nothing
    bool is_poke = false;
    std::array<double, 3> point = {}, target = {}, force = {};  ///< force on the body
};

/// What the steps of one body said since the start.
struct ShownSteps {
    std::array<std::uint64_t, kNumStepStatuses> counts = {};  ///< of each StepStatus
    /// Of full FEM bodies, in the last step: the smallest volume of an element over that at rest.
    double smallest_det_F = 1;
    /// The same of all steps since the start, and how many of them had an element inside out.
    double worst_det_F = 1;
    std::uint64_t num_inverted = 0;
    /// Of all steps since the start, see FemBody::Care: those in which it ran slower than the world
    /// and by how much at most, in which elements were kept from turning inside out, and in which
    /// St. Venant and Kirchhoff's law was driven past its limit and how far.
    std::uint64_t num_slowed = 0, num_held_up = 0, num_softened = 0;
    double slowest = 1, smallest_stvk = 1;
};

/// What a loop shows of itself to viewers, newest wins.
struct LoopFrame {
    std::uint64_t tick = 0;
    double time = 0;
    std::vector<float> display;  ///< display states of its bodies one after the other
    std::array<HeldPoint, Command::kMaxSlots> held;
    bool has_tool = false;
    std::array<double, 3> tool_position = {}, tool_target = {}, tool_force = {};
    ShownHaptics haptics;
    std::vector<Energy> energies;  ///< of each body, as at most 16 ticks ago
    std::vector<StepStatus> statuses;
    std::vector<ShownSteps> steps;  ///< of each body
    std::vector<ShownContact> contacts;
    /// Later than this is not on time [µs].
    static constexpr double kOnTimeUs = 100;
    TickHistogram::Summary work, lateness;  ///< missed: longer than a period, not on time
    std::uint64_t skipped = 0;              ///< ticks left out because the loop was late
    /// Of all steps of its bodies; commands that make no sense count as InputIgnored.
    std::array<std::uint64_t, kNumStepStatuses> status_counts = {};
};

struct LoopSettings {
    std::string name = "haptic";
    double rate = 1000;  ///< [Hz]
    Eigen::Vector3d gravity = Eigen::Vector3d(0, 0, -9.81);
    Eigen::Vector3d wind_direction = Eigen::Vector3d::UnitX();
    double wind_speed = 0, wind_gusts = 0;                                ///< [m/s], relative
    double pull_stiffness = 3, pull_damping = 0.7, pull_force_limit = 0;  ///< docs/scene.md eq. (1)
    double poke_force = 0;                      ///< [N]; 0: found from the body
    double tool_speed_limit = 1.0;              ///< [m/s]
    std::optional<ScriptedMotion> tool_script;  ///< until the first MoveTool
    std::uint64_t seed = 1;
};

/// Bodies that advance together at a fixed rate, the hands that hold them, and the tool. Knows
/// nothing of threads and clocks: tick() is the same in real and in virtual time. One thread at a
/// time; tick() and apply() allocate nothing.
class SimulationLoop {
public:
    /// `bodies` with their places in the world; `tool`, a body without script or mass, may be null
    /// and is one of the rigid obstacles of FEM bodies (they know it already). `contacts` of these
    /// bodies act in the order given, solvers after the others. `held` is one of the bodies in a
    /// hand: rigid, without script or mass; its contact pairs are what it feels, or it is a proxy
    /// (or many), or in another loop among full FEM bodies or in an `among`. `proxies` are the end
    /// of a tool whose hand is in another loop. Throws InputError for settings out of range, and as
    /// HapticTool, FemHapticTool and SolverHapticTool do.
    SimulationLoop(const LoopSettings& settings, std::vector<std::unique_ptr<Body>> bodies,
                   std::vector<int> body_of_world, std::unique_ptr<RigidBody> tool = {},
                   std::vector<LoopContact> contacts = {},
                   std::optional<HeldTool> held = std::nullopt,
                   std::optional<BodiesEndDescription> proxies = std::nullopt);
    ~SimulationLoop();
    SimulationLoop(const SimulationLoop&) = delete;
    SimulationLoop& operator=(const SimulationLoop&) = delete;

    [[nodiscard]] const LoopSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] double dt() const noexcept { return 1.0 / settings_.rate; }
    [[nodiscard]] int num_bodies() const noexcept { return static_cast<int>(bodies_.size()); }
    [[nodiscard]] Body& body(int i) noexcept { return *bodies_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const Body& body(int i) const noexcept {
        return *bodies_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] const std::vector<int>& body_of_world() const noexcept { return body_of_world_; }
    [[nodiscard]] const RigidBody* tool() const noexcept { return tool_.get(); }

    /// Null: no body of this loop is held in a hand.
    [[nodiscard]] const HapticInfo* haptics() const noexcept;
    /// Of the last tick; null as above.
    [[nodiscard]] const HapticTick* haptic_tick() const noexcept;
    /// Of the tool in a hand and of a simulated hand, by their full names: "tool.stiffness".
    [[nodiscard]] std::vector<LiveParameter> haptic_parameters() const;
    void set_haptic_parameter(int index, double value) noexcept;
    /// Whether a device outside this program may push its hand: while ticks come in real time. Not
    /// at first; zero at once when it may no more, and back within half a second.
    void allow_force(bool is_allowed) noexcept;
    /// A recorded device begins again with its first reading; reset() leaves it where it is, a
    /// Command::Reset only where it was given to be replayed, WorldOptions::device.
    void rewind_device() noexcept;

    /// Whether it has one end of a tool among bodies of another loop, and that loop the other one.
    [[nodiscard]] bool exchanges() const noexcept;
    /// Takes the newest that the other end published, for the next tick(), which does so itself
    /// where nobody did. Returns the tick that it is of, 0: none since the last reset.
    std::uint64_t receive() noexcept;
    /// What the other end published at its tick `tick`: replays. False: it is not there (yet).
    [[nodiscard]] bool receive(std::uint64_t tick) noexcept;
    /// From now on published things are kept for receive(tick), and nothing newer is taken by
    /// itself; for one thread that runs all loops.
    void keep_exchange();

    /// Of gravity, wind, hands and tool: the same for every loop of a world.
    [[nodiscard]] std::vector<LiveParameter> parameters() const;
    /// Clamped to its range; a place out of range or a value that is not finite changes nothing.
    void set_parameter(int index, double value) noexcept;

    [[nodiscard]] int num_contacts() const noexcept;
    [[nodiscard]] const LoopContact& contact(int c) const noexcept;
    /// Of a contact: stiffness, and what else its kind has of friction and budget.
    [[nodiscard]] std::vector<LiveParameter> contact_parameters(int c) const;
    void set_contact_parameter(int c, int index, double value) noexcept;
    static constexpr int kContactStiffness = 0;  ///< its place in contact_parameters()
    /// Whether the tool in a hand touches there: what one of these contacts is given as stiffness
    /// counts for all of them.
    [[nodiscard]] bool shares_stiffness(int c) const noexcept;
    /// Nodes of contact c of a frame of this loop in the world, from any thread.
    void contact_marks(const LoopFrame& frame, int c, std::vector<ContactMark>& marks) const;
    /// Where the display state of a body is in LoopFrame::display.
    [[nodiscard]] std::span<const float> display_of(const LoopFrame& frame,
                                                    int body) const noexcept;
    /// Drops what contacts remember of earlier ticks (friction anchors, forces, coherence): after
    /// states of bodies were restored. reset() does so too.
    void forget_contacts() noexcept;
    /// Finds the contacts of the bodies as they are, for fill() alone: after states were restored
    /// for a picture. No load, no friction.
    void look_at_contacts() noexcept;

    /// Commands for bodies of other loops only empty their slot here; SetParameter is the world's
    /// to route. What is malformed is ignored and counted.
    void apply(const Command& command) noexcept;
    /// Forces of hands, wind and contacts, a cycle of the tool in a hand, then a step of the tool
    /// and of every body in the order given; many reduced ones side by side.
    void tick() noexcept;
    /// Rehearses the step of every body and changes nothing: a thread that slept fills its caches.
    void warm_up() noexcept;
    [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }
    [[nodiscard]] double time() const noexcept { return static_cast<double>(ticks_) * dt(); }
    /// Of the last tick; work and lateness are the caller's to fill.
    [[nodiscard]] const TickSample& sample() const noexcept { return sample_; }
    /// Writes all but work, lateness and skipped into a frame of make_frame(). Allocates nothing.
    void fill(LoopFrame& frame) const noexcept;
    [[nodiscard]] LoopFrame make_frame() const;
    /// Everything but parameters back to the start.
    void reset() noexcept;

private:
    void take_newest() noexcept;
    /// Of all bodies but what a hand carries.
    void set_gravity(const Eigen::Vector3d& gravity) noexcept;
    struct Live;  // hands, tool and present parameters
    [[nodiscard]] int place_of(int body_of_world) const noexcept;
    void hold(const Command& command) noexcept;
    void move_tool() noexcept;
    void write_sample() noexcept;

    LoopSettings settings_;
    std::vector<std::unique_ptr<Body>> bodies_;
    std::vector<int> body_of_world_;
    std::unique_ptr<RigidBody> tool_;
    std::unique_ptr<Live> live_;
    std::uint64_t ticks_ = 0;
    TickSample sample_;
};

}  // namespace pliant
