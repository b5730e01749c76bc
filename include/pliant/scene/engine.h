#pragma once

#include "pliant/scene/recording.h"
#include "pliant/scene/world.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

struct EngineOptions {
    bool is_real_time = true;                          ///< ask for SCHED_FIFO and locked memory
    double frames_per_second = 120;                    ///< of the frames that loops publish
    std::size_t record_bytes = std::size_t{16} << 20;  ///< buffer between a loop and the recorder
    /// For a loop to begin and to end a recording with, before that is given up [s].
    double answer_time = 5;
};

/// Runs the loops of a world on threads of their own in real time, docs/scene.md section "Real
/// time". Its functions may be called from one other thread (the one that serves viewers); none of
/// them makes a loop wait.
class Engine {
public:
    /// Starts paused.
    explicit Engine(std::unique_ptr<World> world, const EngineOptions& options = {});
    /// Stops and joins all threads; a recording is finished.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// What does not change while it runs: scene, names, displays, surfaces.
    [[nodiscard]] const World& world() const noexcept;
    /// What was granted: "real-time priority 80, memory locked" or why not.
    [[nodiscard]] const std::string& scheduling() const noexcept;

    void run() noexcept;
    void pause() noexcept;
    [[nodiscard]] bool is_paused() const noexcept;
    /// So many ticks of the haptic loop, and of the others up to the same time; only while paused.
    /// They happen soon after the call.
    void single_step(int ticks = 1) noexcept;
    /// Simulated seconds per second, 0.01 … 1: ticks keep their length and come more slowly.
    void set_speed(double speed) noexcept;
    [[nodiscard]] double speed() const noexcept;
    /// Routed to the loops that it concerns; applied before their next tick, also while paused.
    /// False: a queue is full and the command is dropped, for all loops.
    bool send(const Command& command) noexcept;

    /// Newest frame of a loop; the reference stays valid until the next call for this loop.
    [[nodiscard]] const LoopFrame& frame(int loop) noexcept;
    /// Adds the samples of a loop that wait, of two seconds at most, to the end of `samples`. When
    /// nobody takes them, later ones are dropped.
    void take_samples(int loop, std::vector<TickSample>& samples);
    /// Present values of World::parameters(), as sent.
    [[nodiscard]] double parameter(int index) const noexcept;

    /// Resets the world and begins a recording there, so that a replay starts where the recording
    /// does; the parameters in the header are replaced by the present ones. Returns when all loops
    /// record. Throws InputError, also for a loop that does not answer in time, which it names:
    /// then nothing is recorded.
    void start_recording(const std::filesystem::path& path, const RecordingHeader& header);
    struct RecordingStatus {
        bool is_active = false;
        std::uint64_t bytes = 0, lost = 0;  ///< records that did not fit into the buffer
        std::string problem;  ///< why it ended early, with its file; empty: it did not
    };
    [[nodiscard]] RecordingStatus recording() const;
    /// Finishes the file. Throws InputError when the disk is full; what was written stays readable.
    /// Also for a loop that does not answer in time: the file is finished when this is called again
    /// after it did, or by stop().
    void stop_recording();

    /// As the destructor; frames, samples and the world stay readable, and recording() says whether
    /// the file is whole.
    void stop() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
