#include "pliant/scene/engine.h"

#include "core/real_time.h"
#include "pliant/core/error.h"
#include "scene/loop_runner.h"
#include "scene/recorder.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
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
    RecordingStatus last_recording;

    void start_threads();
    void ask_for_real_time();
    void wait_until_all_record(bool do_record) const;
    /// Commands that were sent are obeyed.
    void wait_for_commands() const;
    /// Returns what went wrong.
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

/// A loop answers at the start of its next turn: at most one tick and one short sleep away.
void Engine::Impl::wait_until_all_record(bool do_record) const {
    for (const auto& runner : runners)
        while ((runner->recording() != nullptr) != do_record &&
               !control.is_stopping.load(std::memory_order_relaxed)) {
            if (do_record && !recorder->problem().empty()) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
}

void Engine::Impl::wait_for_commands() const {
    for (const auto& runner : runners)
        while (runner->has_waiting() && !control.is_stopping.load(std::memory_order_relaxed))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string Engine::Impl::finish_recording() {
    if (!recorder) return {};
    for (const auto& runner : runners) runner->record_to(nullptr);
    wait_until_all_record(false);
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
    if (impl.recorder && impl.recorder->problem().empty())
        throw InputError(impl.recording_path.string(),
                         "a recording is being made; stop it before another one");
    if (impl.control.is_stopping.load(std::memory_order_relaxed))
        throw InputError(path.string(), "nothing runs that could be recorded");
    (void)impl.finish_recording();  // of one that has failed
    // the header says how things are when the loops begin to record, one after the other
    impl.wait_for_commands();

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
        impl.runners[l]->record_to(&impl.recorder->queue(static_cast<int>(l)));
    }
    // what is sent from now on comes after the reset
    impl.wait_until_all_record(true);
    if (!impl.recorder->problem().empty())
        for (const auto& runner : impl.runners) runner->record_to(nullptr);
}

Engine::RecordingStatus Engine::recording() const {
    if (!impl_->recorder) return impl_->last_recording;
    const std::string problem = impl_->recorder->problem();
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
