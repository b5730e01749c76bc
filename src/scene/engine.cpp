#include "pliant/scene/engine.h"

#include "core/real_time.h"
#include "pliant/core/error.h"
#include "scene/loop_runner.h"
#include "scene/recorder.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace pliant {
namespace {

constexpr int kHapticPriority = 80, kDynamicsPriority = 40;
constexpr double kSlowest = 0.01;
constexpr const char* kHowToGetRealTime = "see docs/scene.md section \"Scheduling\"";

}  // namespace

struct Engine::Impl {
    std::unique_ptr<World> world;
    EngineOptions options;
    EngineControl control;
    std::vector<std::unique_ptr<LoopRunner>> runners;
    std::vector<std::thread> threads;
    std::string scheduling;
    std::unique_ptr<Recorder> recorder;
    std::filesystem::path recording_path;
    std::string ending_problem;  ///< which loop has not let go of a recording that shall end
    RecordingStatus last_recording;

    void start_threads();
    void ask_for_real_time();
    /// Waits for what each loop does at the start of its next turn. Empty, or which one did not.
    template <class Answered>
    [[nodiscard]] std::string wait_for_loops(const Answered& has_answered) const;
    /// Returns what went wrong. While a loop does not answer there is still a recorder.
    std::string finish_recording();
};

void Engine::Impl::start_threads() {
    for (const auto& runner : runners)
        threads.emplace_back([this, &loop = *runner] {
            while (!control.is_stopping.load(std::memory_order_relaxed)) {
                loop.turn(monotonic_ns());
                const std::int64_t next = loop.next_turn(monotonic_ns());
                const std::int64_t lead = loop.lead();
                sleep_until_ns(next - lead);
                if (lead == 0) continue;
                loop.warm_up();
                while (monotonic_ns() < next) {
                }
            }
            loop.let_go();
        });
    for (std::size_t l = 0; l < threads.size(); ++l)
        set_thread_name(threads[l], world->loop(static_cast<int>(l)).settings().name);
}

void Engine::Impl::ask_for_real_time() {
    if (!options.is_real_time) {
        scheduling = "normal priority, as asked for";
        return;
    }
    std::string problem;
    for (std::size_t l = 0; l < threads.size() && problem.empty(); ++l)
        problem = set_real_time_priority(threads[l].native_handle(),
                                         l == 0 ? kHapticPriority : kDynamicsPriority);
    scheduling = problem.empty() ? "real-time priority " + std::to_string(kHapticPriority)
                                 : "normal priority (" + problem + "; " + kHowToGetRealTime + ")";
    problem = lock_memory();
    scheduling += problem.empty() ? ", memory locked" : ", memory not locked (" + problem + ")";
}

/// That is at most one tick and one short sleep away, unless something in the tick hangs.
template <class Answered>
std::string Engine::Impl::wait_for_loops(const Answered& has_answered) const {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double> patience(options.answer_time);
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    for (std::size_t l = 0; l < runners.size(); ++l)
        while (!has_answered(*runners[l]) && !control.is_stopping.load(std::memory_order_relaxed)) {
            if (Clock::now() > end) {
                char seconds[32];
                std::snprintf(seconds, sizeof seconds, "%.3g", options.answer_time);
                return "the loop \"" + world->loop(static_cast<int>(l)).settings().name +
                       "\" has not answered for " + seconds +
                       " s: its tick does not end, as where a device hangs in a call of its "
                       "library; unplug that device, or open the scene again";
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    return {};
}

std::string Engine::Impl::finish_recording() {
    if (!recorder) return {};
    for (const auto& runner : runners) runner->record_to(nullptr);
    // a loop that has not let go may still write into its queue
    ending_problem =
        wait_for_loops([](const LoopRunner& loop) { return loop.recording() == nullptr; });
    if (!ending_problem.empty()) return ending_problem;
    recorder->finish();
    last_recording = {.is_active = false,
                      .bytes = recorder->bytes(),
                      .lost = recorder->lost(),
                      .problem = recorder->problem()};
    recorder.reset();
    return last_recording.problem;
}

Engine::Engine(std::unique_ptr<World> world, const EngineOptions& options)
    : impl_(std::make_unique<Impl>()) {
    assert(world != nullptr);
    impl_->world = std::move(world);
    impl_->options = options;
    for (int l = 0; l < impl_->world->num_loops(); ++l)
        impl_->runners.push_back(
            std::make_unique<LoopRunner>(*impl_->world, l, impl_->control, options));
    impl_->start_threads();
    impl_->ask_for_real_time();
}

Engine::~Engine() { stop(); }

const World& Engine::world() const noexcept { return *impl_->world; }

const std::string& Engine::scheduling() const noexcept { return impl_->scheduling; }

void Engine::run() noexcept { impl_->control.is_paused.store(false, std::memory_order_relaxed); }

void Engine::pause() noexcept { impl_->control.is_paused.store(true, std::memory_order_relaxed); }

bool Engine::is_paused() const noexcept {
    return impl_->control.is_paused.load(std::memory_order_relaxed);
}

void Engine::single_step(int ticks) noexcept {
    if (is_paused() && ticks > 0)
        impl_->control.steps.fetch_add(static_cast<std::uint64_t>(ticks),
                                       std::memory_order_relaxed);
}

void Engine::set_speed(double speed) noexcept {
    if (std::isfinite(speed))
        impl_->control.speed.store(std::clamp(speed, kSlowest, 1.0), std::memory_order_relaxed);
}

double Engine::speed() const noexcept {
    return impl_->control.speed.load(std::memory_order_relaxed);
}

bool Engine::send(const Command& command) noexcept {
    const World& world = *impl_->world;
    // to all that it concerns or to none
    for (int l = 0; l < world.num_loops(); ++l)
        if (world.concerns(command, l) && !impl_->runners[static_cast<std::size_t>(l)]->has_room())
            return false;
    if (command.kind == Command::Kind::SetParameter)
        impl_->world->expect_parameter(command.parameter, command.value);
    for (int l = 0; l < world.num_loops(); ++l)
        if (world.concerns(command, l)) impl_->runners[static_cast<std::size_t>(l)]->send(command);
    return true;
}

const LoopFrame& Engine::frame(int loop) noexcept {
    return impl_->runners[static_cast<std::size_t>(loop)]->frame();
}

void Engine::take_samples(int loop, std::vector<TickSample>& samples) {
    impl_->runners[static_cast<std::size_t>(loop)]->take_samples(samples);
}

double Engine::parameter(int index) const noexcept { return impl_->world->parameter_value(index); }

void Engine::start_recording(const std::filesystem::path& path, const RecordingHeader& header) {
    Impl& impl = *impl_;
    if (recording().is_active)
        throw InputError(impl.recording_path.string(),
                         "a recording is being made; stop it before another one");
    if (impl.control.is_stopping.load(std::memory_order_relaxed))
        throw InputError(path.string(), "nothing runs that could be recorded");
    // of one that has failed, or whose end a loop did not answer
    const std::string left = impl.finish_recording();
    if (impl.recorder) throw InputError(path.string(), left);
    // the header says how things are when the loops begin to record, one after the other
    const std::string deaf =
        impl.wait_for_loops([](const LoopRunner& loop) { return !loop.has_waiting(); });
    if (!deaf.empty()) throw InputError(path.string(), deaf);

    RecordingHeader now = header;
    now.parameters.clear();
    for (std::size_t i = 0; i < impl.world->parameters().size(); ++i)
        now.parameters.emplace_back(impl.world->parameters()[i].parameter.name,
                                    impl.world->parameter_value(static_cast<int>(i)));
    impl.recorder = std::make_unique<Recorder>(path, now, impl.world->num_loops(),
                                               impl.options.record_bytes, [&impl] {
                                                   for (const auto& runner : impl.runners)
                                                       runner->record_to(nullptr);
                                               });
    impl.recording_path = path;
    for (std::size_t l = 0; l < impl.runners.size(); ++l) {
        impl.runners[l]->select_states(now.bodies);
        impl.runners[l]->select_parameters(now);
        impl.runners[l]->record_to(&impl.recorder->queue(static_cast<int>(l)));
    }
    // what is sent from now on comes after the reset
    const std::string silent = impl.wait_for_loops([&impl](const LoopRunner& loop) {
        return loop.recording() != nullptr || !impl.recorder->problem().empty();
    });
    if (!silent.empty()) {
        // nothing is recorded: loops that do answer let go at once
        static_cast<void>(impl.finish_recording());
        std::error_code failure;
        if (!impl.recorder) std::filesystem::remove(path, failure);
        impl.last_recording = {};
        throw InputError(path.string(), silent);
    }
    if (!impl.recorder->problem().empty())
        for (const auto& runner : impl.runners) runner->record_to(nullptr);
}

Engine::RecordingStatus Engine::recording() const {
    if (!impl_->recorder) return impl_->last_recording;
    std::string problem = impl_->recorder->problem();
    if (problem.empty()) problem = impl_->ending_problem;
    return {.is_active = problem.empty(),
            .bytes = impl_->recorder->bytes(),
            .lost = impl_->recorder->lost(),
            .problem = problem};
}

void Engine::stop_recording() {
    const std::string problem = impl_->finish_recording();
    if (!problem.empty()) throw InputError("", problem);
}

void Engine::stop() noexcept {
    impl_->control.is_stopping.store(true, std::memory_order_relaxed);
    for (std::thread& thread : impl_->threads)
        if (thread.joinable()) thread.join();
    (void)impl_->finish_recording();  // recording() keeps what went wrong
}

}  // namespace pliant
