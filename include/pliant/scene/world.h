#pragma once

#include "pliant/core/progress.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/simulation_loop.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pliant {

struct WorldOptions {
    std::filesystem::path cache = default_cache_folder();  ///< of built models; empty: none
    /// Told about each model, pointshell and field that is built or loaded, and of each warning,
    /// one line.
    std::function<void(const std::string& line)> say = {};
    /// In place of the scene's: recorded_device() for replays.
    std::optional<DeviceDescription> device = {};
};

/// A body of a world and who runs it.
struct WorldBody {
    std::string name;         ///< "baskets[17]" for copies
    int description = 0;      ///< of SceneDescription::bodies
    int loop = 0, place = 0;  ///< body(place) of that loop
    std::array<float, 3> colour = {};
};

/// A live parameter by its full name, "bridge.stiffness" or "gravity".
struct WorldParameter {
    LiveParameter parameter;
    int description = -1;  ///< whose bodies have it; −1: of all loops, or of a contact
    int index = 0;         ///< there
    int loop = -1;         ///< of a contact or a tool in a hand
    int contact = -1;      ///< of that loop; −1: of its tool in a hand
};

/// What a world is made of.
struct WorldParts {
    std::vector<std::unique_ptr<SimulationLoop>> loops;  ///< the haptic one first
    std::vector<WorldBody> bodies;  ///< as the loops count them in body_of_world()
    std::vector<std::string> warnings = {};
};

/// A scene ready to run: bodies in loops, docs/scene.md section "Loops". In virtual time, advance()
/// runs all loops in a fixed order, with the same bits every time and for every number of threads;
/// Engine runs them on threads in real time.
class World {
public:
    /// Loads and builds what the scene needs. Throws InputError and Cancelled.
    explicit World(SceneDescription scene, const WorldOptions& options = {},
                   Progress& progress = Progress::none());
    /// Of loops made elsewhere, with bodies of any kind; of the scene only names and script count.
    World(SceneDescription scene, WorldParts parts);
    World(World&&) noexcept;
    World& operator=(World&&) noexcept;
    ~World();

    [[nodiscard]] const SceneDescription& scene() const noexcept { return scene_; }
    /// What the scene will not do as it may seem, found while it was loaded, one sentence each:
    /// bodies that pass through each other, loops that will not keep their rate, meshes that were
    /// made anew.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
    [[nodiscard]] int num_loops() const noexcept { return static_cast<int>(loops_.size()); }
    [[nodiscard]] SimulationLoop& loop(int i) noexcept {
        return *loops_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] const SimulationLoop& loop(int i) const noexcept {
        return *loops_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] const std::vector<WorldBody>& bodies() const noexcept { return bodies_; }
    [[nodiscard]] const Body& body(int i) const noexcept;
    [[nodiscard]] int find_body(const std::string& name) const noexcept;  ///< or −1
    [[nodiscard]] const std::vector<WorldParameter>& parameters() const noexcept {
        return parameters_;
    }
    [[nodiscard]] int find_parameter(const std::string& name) const noexcept;  ///< or −1
    /// Present value of parameters()[i], from any thread.
    [[nodiscard]] double parameter_value(int i) const noexcept;
    /// Told beforehand: what parameter_value() says while the command is on its way to the loops.
    void expect_parameter(int i, double value) noexcept;

    /// Whether the command concerns the loop. Grab and Poke concern all: a slot that takes a body
    /// of one loop lets go of what it held in another.
    [[nodiscard]] bool concerns(const Command& command, int loop) const noexcept;
    /// For one loop, on the thread that runs it. Numbers that are not finite, and bodies and
    /// parameters that do not exist: ignored.
    void apply(const Command& command, int loop) noexcept;
    /// For all loops, in virtual time.
    void apply(const Command& command) noexcept;
    /// Brings the parameters that a loop has to `values`, in the order of parameters(), on the
    /// thread that runs it.
    void restore_parameters(std::span<const double> values, int loop) noexcept;
    /// The commands of a loop's script that are due before its next tick, applied. A script that
    /// resets goes on; a Command::Reset starts it again.
    void run_script(int loop) noexcept;
    /// Ticks of a loop since the start or the last Command::Reset.
    [[nodiscard]] std::uint64_t elapsed_ticks(int loop) const noexcept;

    /// The first tick of a loop that does not begin before `time` [s]; what is due within a
    /// millionth of a tick is due.
    [[nodiscard]] std::uint64_t tick_at(double time, int loop) const noexcept;
    /// In virtual time: the loop whose next tick begins first, compared without rounding; the
    /// lowest of equals.
    [[nodiscard]] int next_loop() const noexcept;
    /// Virtual time: the next tick of next_loop(), script first. Returns the loop.
    int advance() noexcept;
    /// Until every loop has reached `time` [s], by elapsed_ticks().
    void advance_to(double time) noexcept;
    /// A recorded device, too, begins again.
    void reset() noexcept;
    /// XXH3 of all states: equal for equal histories.
    [[nodiscard]] std::uint64_t state_hash() const;

    /// The body's surface point nearest to a place in the world, as the body is now: a look at
    /// every triangle. No point for a place that is not finite.
    [[nodiscard]] SurfacePoint nearest_point(int body, const Eigen::Vector3d& x_world) const;

private:
    void list_parameters();
    void write_script();
    void note_parameter(int i, double value, std::span<double> values_in) noexcept;
    SceneDescription scene_;
    std::vector<std::unique_ptr<SimulationLoop>> loops_;
    std::vector<WorldBody> bodies_;
    std::vector<WorldParameter> parameters_;
    std::vector<std::string> warnings_;
    struct Live;
    std::unique_ptr<Live> live_;
};

}  // namespace pliant
