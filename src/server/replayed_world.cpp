#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/core/error.h"
#include "server/viewed_world.h"

namespace pliant {
namespace {

/// What slot 0, the hand in the samples, holds from a tick on.
struct HandChange {
    std::uint64_t tick = 0;
    int body = -1;
    bool is_poke = false;
};

std::vector<HandChange> hand_changes(const std::vector<Recording::TimedCommand>& commands) {
    std::vector<HandChange> changes;
    for (const auto& [tick, command] : commands) {
        const bool is_hand = command.slot == 0;
        if (is_hand && (command.kind == Command::Kind::Grab || command.kind == Command::Kind::Poke))
            changes.push_back({tick, command.body, command.kind == Command::Kind::Poke});
        else if (command.kind == Command::Kind::Reset ||
                 (is_hand && command.kind == Command::Kind::Release))
            changes.push_back({tick, -1, false});
    }
    return changes;
}

/// A parameter that was changed while the recording was made, by a person or the scene's script.
struct ParameterChange {
    double time = 0;
    Command command;
};

/// When the scene's script began: at the start, and again with each reset by hand.
std::vector<double> script_starts(const Recording& recording) {
    std::vector<double> starts = {0};
    if (recording.header().loops.empty()) return starts;
    // every loop has them
    for (const auto& [tick, command] : recording.commands(0))
        if (command.kind == Command::Kind::Reset)
            starts.push_back(static_cast<double>(tick) / recording.header().loops[0].rate);
    return starts;
}

std::vector<ParameterChange> parameter_changes(const Recording& recording, const World& world) {
    std::vector<ParameterChange> changes;
    std::vector<double> starts = script_starts(recording);
    starts.push_back(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
        for (const ScriptEvent& event : world.scene().script)
            if (event.kind == Command::Kind::SetParameter && starts[i] + event.time < starts[i + 1])
                changes.push_back({starts[i] + event.time,
                                   Command{.kind = event.kind,
                                           .parameter = world.find_parameter(event.parameter),
                                           .value = event.value}});
    for (std::size_t l = 0; l < recording.header().loops.size(); ++l)
        for (const auto& [tick, command] : recording.commands(static_cast<int>(l)))
            if (command.kind == Command::Kind::SetParameter)
                changes.push_back(
                    {static_cast<double>(tick) / recording.header().loops[l].rate, command});
    std::stable_sort(
        changes.begin(), changes.end(),
        [](const ParameterChange& a, const ParameterChange& b) { return a.time < b.time; });
    return changes;
}

class ReplayedWorld final : public ViewedWorld {
public:
    ReplayedWorld(Recording recording, std::unique_ptr<World> world)
        : recording_(std::move(recording)),
          world_(std::move(world)),
          changes_(parameter_changes(recording_, *world_)),
          shown_states_(recording_.header().bodies.size(), -1) {
        const int num_loops = std::min(world_->num_loops(), num_recorded_loops());
        for (int l = 0; l < world_->num_loops(); ++l) {
            Loop loop{.frame = world_->loop(l).make_frame(), .hand = {}, .next_sample = 0};
            if (l < num_loops) {
                summarise(recording_.samples(l), loop.frame);
                loop.hand = hand_changes(recording_.commands(l));
            }
            loops_.push_back(std::move(loop));
        }
        set_first_parameters();
        look_at_contacts();
        show();
    }

    const World& world() const noexcept override { return *world_; }
    std::string scheduling() const override {
        return recording_.is_complete() ? "replay" : "replay; " + recording_.problem();
    }

    void look_at_clock(double now) override {
        const double passed = std::clamp(now - clock_, 0.0, kLongestGap);
        clock_ = now;
        if (is_paused_) return;
        move_to(time_ + speed_ * passed);
        if (time_ >= recording_.duration()) is_paused_ = true;
    }

    void run() override {
        if (time_ >= recording_.duration()) seek(0);
        is_paused_ = false;
    }
    void pause() override { is_paused_ = true; }
    bool is_paused() const override { return is_paused_; }
    void single_step(int ticks) override {
        if (is_paused_) move_to(time_ + ticks * world_->loop(0).dt());
    }
    void set_speed(double speed) override { speed_ = speed; }
    double speed() const override { return speed_; }
    bool send(const Command& command) override {
        if (command.kind == Command::Kind::Reset) seek(0);
        return true;
    }
    double parameter(int index) const override {
        const WorldParameter& known = world_->parameters()[static_cast<std::size_t>(index)];
        for (const auto& [name, value] : recording_.header().parameters)
            if (name == known.parameter.name) return value;
        return known.parameter.value;
    }

    const LoopFrame& frame(int loop) override {
        return loops_[static_cast<std::size_t>(loop)].frame;
    }
    void take_samples(int loop, std::vector<TickSample>& samples) override {
        if (loop >= num_recorded_loops()) return;
        const std::vector<TickSample>& all = recording_.samples(loop);
        std::size_t& next = loops_[static_cast<std::size_t>(loop)].next_sample;
        HapticTicks::Reader haptics(recording_.haptics(loop));
        const std::size_t num_haptics = recording_.haptics(loop).size();
        for (; next < all.size() && all[next].time <= time_; ++next) {
            samples.push_back(all[next]);
            if (next < num_haptics) samples.back().show_device(haptics[next]);
        }
    }

    void start_recording(const std::filesystem::path&, const std::string&) override {
        throw InputError("", "a recording that is shown cannot be recorded again; open a scene");
    }
    void stop_recording() override {}
    Engine::RecordingStatus recording() const override { return {}; }

    std::optional<double> replay_duration() const override { return recording_.duration(); }
    double replay_time() const override { return time_; }
    void seek(double time) override {
        move_to(time);
        // plots go on from here
        for (std::size_t l = 0; l < loops_.size(); ++l)
            loops_[l].next_sample = samples_until(static_cast<int>(l), time_);
    }

private:
    // a server that was held up does not jump ahead [s]
    static constexpr double kLongestGap = 0.25;

    struct Loop {
        LoopFrame frame;
        std::vector<HandChange> hand;
        std::size_t next_sample = 0;
    };

    int num_recorded_loops() const { return static_cast<int>(recording_.header().loops.size()); }

    static void summarise(const std::vector<TickSample>& samples, LoopFrame& frame) {
        TickHistogram work, lateness(LoopFrame::kOnTimeUs);
        for (const TickSample& sample : samples) {
            work.record(static_cast<double>(sample.work_us));
            lateness.record(static_cast<double>(sample.late_us));
        }
        frame.work = work.summary();
        frame.lateness = lateness.summary();
    }

    std::size_t samples_until(int loop, double time) const {
        if (loop >= num_recorded_loops()) return 0;
        const std::vector<TickSample>& all = recording_.samples(loop);
        const auto next =
            std::upper_bound(all.begin(), all.end(), time,
                             [](double t, const TickSample& sample) { return t < sample.time; });
        return static_cast<std::size_t>(next - all.begin());
    }

    void move_to(double time) {
        time_ = std::clamp(std::isfinite(time) ? time : 0.0, 0.0, recording_.duration());
        show();
    }

    /// Puts every recorded body into its last state until now.
    void show() {
        bool is_new = set_parameters();
        const std::vector<RecordingHeader::RecordedBody>& recorded = recording_.header().bodies;
        for (std::size_t i = 0; i < recorded.size(); ++i) {
            const RecordingHeader::RecordedBody& body = recorded[i];
            if (body.body < 0 || body.body >= static_cast<int>(world_->bodies().size())) continue;
            const WorldBody& place = world_->bodies()[static_cast<std::size_t>(body.body)];
            const int n = static_cast<int>(i);
            const int k = last_state(n, world_->loop(place.loop).settings().rate);
            if (k < 0 || k == shown_states_[i]) continue;
            world_->loop(place.loop).body(place.place).restore_state(recording_.state(n, k));
            shown_states_[i] = k;
            is_new = true;
        }
        if (is_new) look_at_contacts();
        for (std::size_t l = 0; l < loops_.size(); ++l) show_loop(static_cast<int>(l));
    }

    void look_at_contacts() {
        for (int l = 0; l < world_->num_loops(); ++l) world_->loop(l).look_at_contacts();
    }

    void set_first_parameters() {
        num_changes_ = 0;
        for (const auto& [name, value] : recording_.header().parameters)
            if (const int index = world_->find_parameter(name); index >= 0)
                world_->apply(Command{
                    .kind = Command::Kind::SetParameter, .parameter = index, .value = value});
    }

    /// As they were at the time shown: forces of contact depend on them. True: one changed.
    bool set_parameters() {
        const auto next = std::upper_bound(
            changes_.begin(), changes_.end(), time_,
            [](double t, const ParameterChange& change) { return t < change.time; });
        const auto num_passed = static_cast<std::size_t>(next - changes_.begin());
        if (num_passed == num_changes_) return false;
        if (num_passed < num_changes_) set_first_parameters();
        for (; num_changes_ < num_passed; ++num_changes_)
            world_->apply(changes_[num_changes_].command);
        return true;
    }

    int last_state(int i, double rate) const {
        // states are taken at whole ticks: half a tick is no difference
        const double tick_now = time_ * rate + 0.5;
        int low = 0, high = recording_.num_states(i);
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (static_cast<double>(recording_.state_tick(i, middle)) <= tick_now)
                low = middle + 1;
            else
                high = middle;
        }
        return low - 1;
    }

    void show_loop(int l) {
        Loop& loop = loops_[static_cast<std::size_t>(l)];
        LoopFrame& frame = loop.frame;
        const TickHistogram::Summary work = frame.work, lateness = frame.lateness;
        world_->loop(l).fill(frame);
        frame.work = work;
        frame.lateness = lateness;
        // the loop itself made no tick
        for (int place = 0; place < world_->loop(l).num_bodies(); ++place)
            frame.energies[static_cast<std::size_t>(place)] = world_->loop(l).body(place).energy();
        frame.time = time_;
        frame.tick = static_cast<std::uint64_t>(time_ * world_->loop(l).settings().rate + 0.5);
        frame.held = {};
        show_haptics(l, frame);

        const std::size_t num_passed = samples_until(l, time_);
        if (num_passed == 0) return;
        const TickSample& sample = recording_.samples(l)[num_passed - 1];
        const std::array<double, 3> on_body = {-sample.force[0], -sample.force[1],
                                               -sample.force[2]};
        const auto next = std::upper_bound(
            loop.hand.begin(), loop.hand.end(), frame.tick,
            [](std::uint64_t tick, const HandChange& change) { return tick < change.tick; });
        if (next != loop.hand.begin() && (next - 1)->body >= 0) {
            frame.held[0] = {(next - 1)->body, (next - 1)->is_poke, sample.point, sample.hand,
                             on_body};
        } else if (frame.has_tool) {
            frame.tool_position = sample.point;
            frame.tool_target = sample.hand;
            frame.tool_force = sample.force;
        }
    }

    /// What the tool in a hand did at the time shown.
    void show_haptics(int l, LoopFrame& frame) const {
        if (frame.haptics.body < 0 || l >= num_recorded_loops()) return;
        const HapticTicks& ticks = recording_.haptics(l);
        frame.haptics.notice = {};
        // not recorded, and the tool of this world was never moved
        frame.haptics.proxy.num_spheres = frame.haptics.proxy.num_triangles = 0;
        if (frame.tick > 0 && !ticks.empty())
            frame.haptics.tick = ticks[std::min<std::size_t>(frame.tick, ticks.size()) - 1];
    }

    Recording recording_;
    std::unique_ptr<World> world_;
    std::vector<Loop> loops_;
    std::vector<ParameterChange> changes_;
    std::size_t num_changes_ = 0;    // that are in force
    std::vector<int> shown_states_;  // of each recorded body; −1: none yet
    double time_ = 0, clock_ = 0, speed_ = 1;
    bool is_paused_ = false;
};

}  // namespace

std::unique_ptr<ViewedWorld> make_replayed_world(Recording recording,
                                                 std::unique_ptr<World> world) {
    return std::make_unique<ReplayedWorld>(std::move(recording), std::move(world));
}

}  // namespace pliant
