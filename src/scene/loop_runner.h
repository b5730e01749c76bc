#pragma once

#include "pliant/core/ring_buffer.h"
#include "pliant/core/triple_buffer.h"
#include "pliant/scene/engine.h"

#include <atomic>

namespace pliant {

/// What the caller of an engine asks of all its loops.
struct EngineControl {
    std::atomic<bool> is_stopping{false}, is_paused{true};
    std::atomic<double> speed{1};
    std::atomic<std::uint64_t> steps{0};  ///< of the haptic loop, in all, while paused
};

/// One loop of a world in real time: commands, ticks when they are due, frames, samples, records,
/// statistics; docs/scene.md section "Real time". Knows no clock: the times are given to it.
class LoopRunner {
public:
    static constexpr std::size_t kMaxCommands = 1024;         ///< that wait for a tick
    static constexpr double kRest = 0.05;                     ///< of a period or of longer work
    static constexpr std::int64_t kLongestSleep = 5'000'000;  ///< [ns]
    static constexpr std::int64_t kLead = 60'000;             ///< [ns]

    LoopRunner(World& world, int loop, const EngineControl& control, const EngineOptions& options);

    // For one thread that is not the loop's.
    [[nodiscard]] bool has_room() const noexcept {
        return num_sent_ - num_received_.load(std::memory_order_acquire) < kMaxCommands;
    }
    void send(const Command& command) noexcept;  ///< needs has_room()
    /// Whether a command that was sent has not been applied yet.
    [[nodiscard]] bool has_waiting() const noexcept {
        return num_sent_ != num_received_.load(std::memory_order_acquire);
    }
    [[nodiscard]] const LoopFrame& frame() noexcept;
    void take_samples(std::vector<TickSample>& samples);

    /// Which states are recorded, and how often; while nothing is attached.
    void select_states(const std::vector<RecordingHeader::RecordedBody>& bodies);
    /// What a recording says of all parameters of the world; while nothing is attached. The loop
    /// begins to record with these.
    void select_parameters(const RecordingHeader& header);
    /// From the next turn on the loop records there, beginning with a reset; null: no more.
    void record_to(RecordQueue* queue) noexcept { wanted_.store(queue); }
    /// Where the loop records, or is about to: null after record_to(nullptr) means that it never
    /// uses the queue again.
    [[nodiscard]] RecordQueue* recording() const noexcept { return attached_.load(); }

    // For the thread of the loop.
    /// Everything between two sleeps. Allocates nothing.
    void turn(std::int64_t now_ns) noexcept;
    /// When the next turn should begin, after one that ended at `now_ns`. Ticks that cannot be made
    /// up for are skipped here.
    [[nodiscard]] std::int64_t next_turn(std::int64_t now_ns) noexcept;
    /// How long before the next turn the thread should wake, warm_up() and wait without sleeping
    /// [ns]; 0: not at all, the loop is paused or its ticks are long.
    [[nodiscard]] std::int64_t lead() const noexcept;
    /// Brings what the next tick reads back into the caches, docs/scene.md section "Real time".
    void warm_up() noexcept { loop_.warm_up(); }
    /// After the last turn: a device outside this program pushes no more.
    void let_go() noexcept { loop_.allow_force(false); }

private:
    /// A body whose states are recorded.
    struct RecordedState {
        int body = 0, place = 0;
        std::uint64_t every = 1;
    };
    struct TickTimes {
        float work_us = 0, late_us = 0;
    };
    void attach_queue() noexcept;
    void apply_commands() noexcept;
    /// From the loop with the other end of a tool; a recording says what was seen.
    void receive() noexcept;
    void tick(std::int64_t late_ns, bool shows_frame) noexcept;
    /// Ticks since the recording began; loop_.ticks() begins anew with each reset.
    [[nodiscard]] std::uint64_t recorded_ticks() const noexcept {
        return ticks_before_reset_ + loop_.ticks();
    }
    void record_states() noexcept;
    void publish(std::int64_t now_ns) noexcept;
    [[nodiscard]] std::int64_t period_ns() const noexcept;
    /// Ticks of this loop in all that belong to the steps asked for.
    [[nodiscard]] std::uint64_t wanted_steps() const noexcept;

    World& world_;
    SimulationLoop& loop_;
    int index_;
    const EngineControl& control_;
    std::int64_t frame_interval_ns_;

    RingBuffer<Command> commands_{kMaxCommands};
    std::uint64_t num_sent_ = 0;
    alignas(64) std::atomic<std::uint64_t> num_received_{0};
    TripleBuffer<LoopFrame> frames_;
    RingBuffer<TickSample> samples_;
    // statistics are the reader's: their 36 kB would be cold in the tick
    RingBuffer<TickTimes> times_;
    TickHistogram work_, lateness_;
    TickHistogram::Summary work_summary_, lateness_summary_;

    bool was_paused_ = true;
    bool has_news_ = false;  ///< to be shown at once
    std::uint64_t steps_done_ = 0, skipped_ = 0;
    std::int64_t turn_start_ = 0, turn_time_ = 0, due_ = 0, next_frame_ = 0;
    double cpu_start_ = 0;

    std::atomic<RecordQueue*> wanted_{nullptr}, attached_{nullptr};
    RecordQueue* queue_ = nullptr;
    std::uint64_t ticks_before_reset_ = 0;
    std::uint64_t last_seen_ = 0;  ///< tick of the other loop
    std::vector<RecordedState> recorded_;
    std::vector<double> parameters_;  ///< of all of the world, when a recording begins
    std::vector<double> state_;
};

}  // namespace pliant
