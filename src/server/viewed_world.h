#pragma once

#include "pliant/scene/engine.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// A world as viewers see and drive it: one that runs, or one that was recorded. All on the
/// server's thread.
class ViewedWorld {
public:
    virtual ~ViewedWorld() = default;

    [[nodiscard]] virtual const World& world() const noexcept = 0;
    [[nodiscard]] virtual std::string scheduling() const = 0;
    /// Server clock [s]; called before frames are looked at.
    virtual void look_at_clock(double now) = 0;

    virtual void run() = 0;
    virtual void pause() = 0;
    [[nodiscard]] virtual bool is_paused() const = 0;
    virtual void single_step(int ticks) = 0;
    virtual void set_speed(double speed) = 0;
    [[nodiscard]] virtual double speed() const = 0;
    /// False: it is dropped, try again later.
    virtual bool send(const Command& command) = 0;
    [[nodiscard]] virtual double parameter(int index) const = 0;

    /// Valid until the next call for this loop.
    [[nodiscard]] virtual const LoopFrame& frame(int loop) = 0;
    virtual void take_samples(int loop, std::vector<TickSample>& samples) = 0;

    /// Both throw InputError.
    virtual void start_recording(const std::filesystem::path& path, const std::string& started) = 0;
    virtual void stop_recording() = 0;
    [[nodiscard]] virtual Engine::RecordingStatus recording() const = 0;

    // Of a recorded world.
    [[nodiscard]] virtual std::optional<double> replay_duration() const { return {}; }
    [[nodiscard]] virtual double replay_time() const { return 0; }
    virtual void seek(double /*time*/) {}
};

/// Starts at once.
[[nodiscard]] std::unique_ptr<ViewedWorld> make_live_world(std::unique_ptr<World> world,
                                                           const EngineOptions& options);
/// Plays the recorded states from the start; bodies that were not recorded stay where they are.
[[nodiscard]] std::unique_ptr<ViewedWorld> make_replayed_world(Recording recording,
                                                               std::unique_ptr<World> world);

}  // namespace pliant
