#include "scene/loop_runner.h"

#include "scene/haptic_record.h"
#include "scene/loop_order.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr std::int64_t kIdleSleep = 2'000'000;  // between looks for commands while paused
constexpr int kStepsPerTurn = 64;               // of single steps
constexpr double kSampleSeconds = 2;            // kept for a slow reader
constexpr std::size_t kKeptTimes = 1 << 16;     // for one that seldom asks for frames

std::size_t num_samples(double rate) {
    return static_cast<std::size_t>(std::clamp(kSampleSeconds * rate, 256.0, 65536.0));
}

/// What stands before the numbers of a state record.
struct StateHead {
    std::int32_t body = 0, padding = 0;
};

}  // namespace

LoopRunner::LoopRunner(World& world, int loop, const EngineControl& control,
                       const EngineOptions& options)
    : world_(world),
      loop_(world.loop(loop)),
      index_(loop),
      control_(control),
      frame_interval_ns_(std::llround(1e9 / std::clamp(options.frames_per_second, 1.0, 1e4))),
      frames_(loop_.make_frame()),
      samples_(num_samples(loop_.settings().rate)),
      times_(kKeptTimes),
      work_(1e6 * loop_.dt()),
      lateness_(LoopFrame::kOnTimeUs) {
    publish(0);
}

void LoopRunner::send(const Command& command) noexcept {
    if (commands_.push(command)) ++num_sent_;
}

const LoopFrame& LoopRunner::frame() noexcept {
    TickTimes times;
    bool has_new_times = false;
    for (std::size_t k = 0; k < kKeptTimes && times_.pop(times); ++k) {
        work_.record(times.work_us);
        lateness_.record(times.late_us);
        has_new_times = true;
    }
    if (has_new_times) {
        work_summary_ = work_.summary();
        lateness_summary_ = lateness_.summary();
    }
    frames_.update();
    LoopFrame& frame = frames_.read_slot();
    frame.work = work_summary_;
    frame.lateness = lateness_summary_;
    return frame;
}

void LoopRunner::take_samples(std::vector<TickSample>& samples) {
    TickSample sample;
    for (std::size_t k = 0; k < samples_.capacity() && samples_.pop(sample); ++k)
        samples.push_back(sample);
}

void LoopRunner::select_states(const std::vector<RecordingHeader::RecordedBody>& bodies) {
    recorded_.clear();
    int longest = 0;
    for (const RecordingHeader::RecordedBody& one : bodies) {
        const WorldBody& body = world_.bodies()[static_cast<std::size_t>(one.body)];
        if (body.loop != index_) continue;
        recorded_.push_back(
            {one.body, body.place, static_cast<std::uint64_t>(std::max(one.every, 1))});
        longest = std::max(longest, world_.body(one.body).state_size());
    }
    state_.resize(static_cast<std::size_t>(longest));
}

void LoopRunner::select_parameters(const RecordingHeader& header) {
    parameters_.clear();
    for (const auto& [name, value] : header.parameters) parameters_.push_back(value);
}

void LoopRunner::attach_queue() noexcept {
    RecordQueue* const wanted = wanted_.load();
    if (wanted == queue_) return;
    queue_ = wanted;
    // Says what it is going to use, and looks again: whoever takes the queue back in between is
    // either seen here, or sees that it is used. In one order for all, hence no weaker one.
    attached_.store(queue_);
    if (!queue_) return;
    if (wanted_.load() != queue_) {
        queue_ = nullptr;
        attached_.store(nullptr);
        return;
    }
    // whatever the script has set since the header was written; a replay does the same
    world_.restore_parameters(parameters_, index_);
    world_.apply(Command{.kind = Command::Kind::Reset}, index_);
    ticks_before_reset_ = 0;
    record_states();
    has_news_ = true;
}

void LoopRunner::apply_commands() noexcept {
    Command command;
    for (std::size_t k = 0; k < kMaxCommands && commands_.pop(command); ++k) {
        has_news_ = true;
        if (queue_) {
            queue_->push(RecordKind::Command, recorded_ticks(),
                         std::as_bytes(std::span(&command, 1)));
        }
        const std::uint64_t ticks = loop_.ticks();
        world_.apply(command, index_);
        ticks_before_reset_ += ticks - loop_.ticks();
        num_received_.fetch_add(1, std::memory_order_release);
    }
}

void LoopRunner::record_states() noexcept {
    for (const RecordedState& one : recorded_) {
        if (recorded_ticks() % one.every != 0) continue;
        const Body& body = loop_.body(one.place);
        const std::span<double> state(state_.data(), static_cast<std::size_t>(body.state_size()));
        body.save_state(state);
        const StateHead head{.body = one.body};
        queue_->push(RecordKind::State, recorded_ticks(), std::as_bytes(std::span(&head, 1)),
                     std::as_bytes(state));
    }
}

void LoopRunner::receive() noexcept {
    const std::uint64_t seen = loop_.receive();
    if (queue_ && (seen != last_seen_ || loop_.ticks() == 0)) {
        const Command command{.kind = Command::Kind::Exchange, .value = static_cast<double>(seen)};
        queue_->push(RecordKind::Command, recorded_ticks(), std::as_bytes(std::span(&command, 1)));
    }
    last_seen_ = seen;
}

void LoopRunner::tick(std::int64_t late_ns, bool shows_frame) noexcept {
    const std::uint64_t ticks = loop_.ticks();
    world_.run_script(index_);
    ticks_before_reset_ += ticks - loop_.ticks();
    if (loop_.exchanges()) receive();
    loop_.tick();
    if (queue_) record_states();
    if (shows_frame) publish(turn_start_);

    // everything but the few bytes of the sample itself counts as work
    const double cpu_now = thread_cpu_time_us();
    TickSample sample = loop_.sample();
    const double late_us = 1e-3 * static_cast<double>(late_ns);
    sample.work_us = static_cast<float>(cpu_now - cpu_start_);
    sample.late_us = static_cast<float>(late_us);
    times_.push({sample.work_us, sample.late_us});
    cpu_start_ = cpu_now;
    samples_.push(sample);
    if (queue_) {
        sample.tick += ticks_before_reset_;
        sample.time = static_cast<double>(sample.tick) * loop_.dt();
        queue_->push(RecordKind::Sample, sample.tick, std::as_bytes(std::span(&sample, 1)));
        if (const HapticTick* const haptics = loop_.haptic_tick()) {
            const HapticRecord haptic = to_record(*haptics);
            queue_->push(RecordKind::Haptic, sample.tick, std::as_bytes(std::span(&haptic, 1)));
        }
    }
}

void LoopRunner::publish(std::int64_t now_ns) noexcept {
    LoopFrame& frame = frames_.write_slot();
    loop_.fill(frame);
    frame.skipped = skipped_;
    frames_.publish();
    next_frame_ = std::clamp(next_frame_ + frame_interval_ns_, now_ns + frame_interval_ns_ / 2,
                             now_ns + frame_interval_ns_);
    has_news_ = false;
}

std::int64_t LoopRunner::period_ns() const noexcept {
    return std::llround(1e9 * loop_.dt() / control_.speed.load(std::memory_order_relaxed));
}

std::uint64_t LoopRunner::wanted_steps() const noexcept {
    return tick_at(control_.steps.load(std::memory_order_relaxed), world_.loop(0).settings().rate,
                   loop_.settings().rate);
}

void LoopRunner::turn(std::int64_t now_ns) noexcept {
    turn_start_ = now_ns;
    cpu_start_ = thread_cpu_time_us();
    attach_queue();
    apply_commands();
    // a device outside this program may push where ticks come as they are meant to
    const bool is_paused = control_.is_paused.load(std::memory_order_relaxed);
    loop_.allow_force(!is_paused && control_.speed.load(std::memory_order_relaxed) == 1);

    if (is_paused) {
        if (!was_paused_) has_news_ = true;
        was_paused_ = true;
        const std::uint64_t wanted = wanted_steps();
        for (int k = 0; k < kStepsPerTurn && steps_done_ < wanted; ++k) {
            if (control_.is_stopping.load(std::memory_order_relaxed)) return;
            ++steps_done_;
            tick(0, false);
            has_news_ = true;
        }
        if (has_news_) publish(now_ns);
        return;
    }

    steps_done_ = wanted_steps();  // those that were left are forgotten
    const std::int64_t period = period_ns();
    // after a pause, and when slow motion ends while the next tick is far away
    due_ = was_paused_ ? now_ns : std::min(due_, now_ns + period);
    was_paused_ = false;
    if (now_ns >= due_) {
        tick(now_ns - due_, has_news_ || now_ns >= next_frame_);
        due_ += period;
    } else if (has_news_) {
        publish(now_ns);
    }
}

std::int64_t LoopRunner::lead() const noexcept {
    return was_paused_ || turn_time_ > kLead || period_ns() < 5 * kLead ? 0 : kLead;
}

std::int64_t LoopRunner::next_turn(std::int64_t now_ns) noexcept {
    turn_time_ = now_ns - turn_start_;
    // whatever happens, others get their share of the processor
    const double work = std::max(static_cast<double>(now_ns - turn_start_), 1e9 * loop_.dt());
    const auto rest = static_cast<std::int64_t>(std::ceil(kRest * work));
    if (was_paused_)
        return now_ns + (steps_done_ < wanted_steps() ? rest : std::max(rest, kIdleSleep));

    const std::int64_t earliest = now_ns + rest, period = period_ns(), behind = earliest - due_;
    if (behind > period) {
        const std::int64_t missed = behind / period;
        skipped_ += static_cast<std::uint64_t>(missed);
        due_ += missed * period;
    }
    return std::max(std::min(due_, now_ns + kLongestSleep), earliest);
}

}  // namespace pliant
