#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "server/server_messages.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

/// One second in virtual time, with a pull of the first bar from 0.3 s to 0.6 s.
class ReplayedWorldTest : public testing::Test {
protected:
    ReplayedWorldTest() {
        auto world = test::small_world();
        const RecordingHeader header = recording_header(*world);
        RecordingWriter writer(folder / "a.pliantrec", header);
        const auto add = [&](int loop, RecordKind kind, const auto& value) {
            writer.add(loop, kind, world->loop(loop).ticks(), std::as_bytes(std::span(&value, 1)));
        };
        const auto apply = [&](const Command& command) {
            add(0, RecordKind::Command, command);
            world->apply(command);
        };
        for (int tick = 0; tick < 1000; ++tick) {
            Command command{.kind = Command::Kind::Grab, .slot = 0, .body = 0, .triangle = 10};
            command.barycentric = {1, 0, 0};
            command.target = {1, 0, 0.3};
            if (tick == 300) apply(command);
            command.kind = Command::Kind::Release;
            if (tick == 600) apply(command);
            world->advance_to((tick + 1) * 1e-3);
            add(0, RecordKind::Sample, world->loop(0).sample());
            for (const RecordingHeader::RecordedBody& body : header.bodies) {
                const auto ticks = world->loop(body.loop).ticks();
                const bool is_due = ticks % static_cast<std::uint64_t>(body.every) == 0;
                if (!is_due || (body.loop == 1 && tick % 10 != 9)) continue;
                std::vector<double> record(1 + static_cast<std::size_t>(body.state_size));
                const std::int32_t head[2] = {body.body, 0};
                std::memcpy(record.data(), head, sizeof head);
                world->body(body.body).save_state(std::span(record).subspan(1));
                writer.add(body.loop, RecordKind::State, ticks, std::as_bytes(std::span(record)));
            }
        }
        writer.finish();
        replay = make_replayed_world(Recording::load(folder / "a.pliantrec"), test::small_world());
    }
    /// x of the ball in the present frame; it is the first body of the haptic loop.
    double ball() { return static_cast<double>(replay->frame(0).display[0]); }
    static double ball_at(double time) { return 0.1 * std::sin(2 * M_PI * time); }

    // of a state every 1/60 s the ball moves less than 0.1 2π/60
    static constexpr double kBetweenStates = 0.0106;
    test::TemporaryDirectory folder;
    std::unique_ptr<ViewedWorld> replay;
};

TEST_F(ReplayedWorldTest, PlaysWithTheClockAndStopsAtTheEnd) {
    ASSERT_TRUE(replay->replay_duration().has_value());
    EXPECT_NEAR(*replay->replay_duration(), 1.0, 0.0011);
    for (double now = 0; now < 0.4; now += 0.01) replay->look_at_clock(now);
    EXPECT_NEAR(replay->replay_time(), 0.39, 1e-9);
    EXPECT_NEAR(ball(), ball_at(0.39), kBetweenStates);
    EXPECT_FALSE(replay->is_paused());
    for (double now = 0.4; now < 2; now += 0.01) replay->look_at_clock(now);
    EXPECT_TRUE(replay->is_paused());
    EXPECT_EQ(replay->replay_time(), *replay->replay_duration());
    replay->run();
    EXPECT_EQ(replay->replay_time(), 0.0) << "once more from the start";
}

TEST_F(ReplayedWorldTest, IsPausedSteppedSlowedAndSearched) {
    replay->seek(0.25);
    EXPECT_NEAR(ball(), 0.1, 0.001);
    replay->pause();
    replay->look_at_clock(1);
    EXPECT_EQ(replay->replay_time(), 0.25);
    replay->single_step(50);
    EXPECT_NEAR(replay->replay_time(), 0.3, 1e-12);
    replay->run();
    replay->set_speed(0.1);
    replay->look_at_clock(1.1);
    EXPECT_NEAR(replay->replay_time(), 0.31, 1e-12);
    for (const double time : {-1.0, std::nan(""), 1e9}) {
        replay->seek(time);
        EXPECT_GE(replay->replay_time(), 0.0);
        EXPECT_LE(replay->replay_time(), *replay->replay_duration());
    }
    replay->send(Command{.kind = Command::Kind::Reset});
    EXPECT_EQ(replay->replay_time(), 0.0);
}

TEST_F(ReplayedWorldTest, BodiesAreInTheirRecordedStates) {
    auto world = test::small_world();
    world->advance_to(0.2);
    replay->seek(0.2);
    // the haptic loop records every 16th tick, the other one every tick
    const LoopFrame& soft = replay->frame(1);
    std::vector<float> block(soft.display.size());
    world->body(1).write_display(block);
    EXPECT_EQ(soft.display, block);
    EXPECT_GT(replay->frame(0).energies[1].elastic, 0.0);
}

TEST_F(ReplayedWorldTest, HandIsShownWhileItHolds) {
    replay->seek(0.2);
    EXPECT_EQ(replay->frame(0).held[0].body, -1);
    replay->seek(0.45);
    const HeldPoint held = replay->frame(0).held[0];
    EXPECT_EQ(held.body, 0);
    EXPECT_FALSE(held.is_poke);
    // recordings keep places in single precision
    EXPECT_NEAR(held.target[0], 1, 1e-6);
    EXPECT_NEAR(held.target[2], 0.3, 1e-6);
    EXPECT_GT(held.force[2], 0.0) << "the hand pulls the bar up";
    replay->seek(0.7);
    EXPECT_EQ(replay->frame(0).held[0].body, -1);
}

TEST_F(ReplayedWorldTest, SamplesFollowTheTimeShown) {
    std::vector<TickSample> samples;
    replay->look_at_clock(0);
    replay->look_at_clock(0.1);
    replay->take_samples(0, samples);
    EXPECT_NEAR(static_cast<double>(samples.size()), 100, 1);
    replay->take_samples(0, samples);
    EXPECT_LE(samples.size(), 101u) << "once";
    samples.clear();
    replay->seek(0.5);
    replay->take_samples(0, samples);
    EXPECT_TRUE(samples.empty()) << "what was jumped over is not plotted";
    replay->look_at_clock(0.11);
    replay->take_samples(0, samples);
    ASSERT_FALSE(samples.empty());
    EXPECT_NEAR(samples.front().time, 0.501, 1e-9);
}

TEST_F(ReplayedWorldTest, CannotBeRecorded) {
    const std::string message =
        test::input_error([&] { replay->start_recording(folder / "b.pliantrec", ""); });
    EXPECT_NE(message.find("cannot be recorded"), std::string::npos) << message;
    // commands are for worlds that run
    EXPECT_TRUE(replay->send(Command{.kind = Command::Kind::Release}));
}

/// What a contact shows.
struct Shown {
    int contacts = 0, level = -1;
    double deepest = 0;
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    std::vector<std::int32_t> touching;  // nodes, sorted: the order of search does not count

    explicit Shown(const LoopFrame& frame) {
        const ShownContact& contact = frame.contacts.at(0);
        contacts = contact.statistics.contacts;
        level = contact.statistics.level;
        deepest = contact.deepest;
        force = Eigen::Vector3d(contact.force.data());
        for (int i = 0; i < contact.num_contacting; ++i)
            touching.push_back(contact.nodes[static_cast<std::size_t>(i)].node);
        std::sort(touching.begin(), touching.end());
    }
};

// contact gets softer at 0.4 s
constexpr double kSofter = 150;  // [N/m]
const std::string kSofterByScript =
    R"(, "script": [{"time": 0.4, "set": {"parameter": "beam/ball.stiffness", "value": 150}}])";

/// A pressed beam, recorded for 0.5 s; at 0.4 s contact gets softer. `live` is its contact at the
/// recorded states, as the tick after them found it.
struct PressedRecording {
    PressedRecording(const std::filesystem::path& path, bool by_script) {
        auto world = test::pressed_world(by_script ? kSofterByScript : "");
        const SimulationLoop& loop = world->loop(0);
        Command start{.kind = Command::Kind::SetParameter};
        start.parameter = world->find_parameter("beam/ball.stiffness");
        start.value = 2 * world->parameter_value(start.parameter);
        world->apply(start);
        const RecordingHeader header = recording_header(*world);
        RecordingWriter writer(path, header);
        LoopFrame frame = loop.make_frame();
        for (int tick = 0; tick <= 500; ++tick) {
            if (tick == 400 && !by_script) {
                Command softer = start;
                softer.value = kSofter;
                writer.add(0, RecordKind::Command, loop.ticks(),
                           std::as_bytes(std::span(&softer, 1)));
                world->apply(softer);
            }
            const bool is_recorded = tick > 0 && tick % header.bodies.at(0).every == 0;
            for (const RecordingHeader::RecordedBody& body : header.bodies) {
                if (!is_recorded) break;
                std::vector<double> record(1 + static_cast<std::size_t>(body.state_size));
                const std::int32_t head[2] = {body.body, 0};
                std::memcpy(record.data(), head, sizeof head);
                world->body(body.body).save_state(std::span(record).subspan(1));
                writer.add(0, RecordKind::State, loop.ticks(), std::as_bytes(std::span(record)));
            }
            world->advance();
            writer.add(0, RecordKind::Sample, loop.ticks(),
                       std::as_bytes(std::span(&loop.sample(), 1)));
            if (!is_recorded) continue;
            loop.fill(frame);
            live.emplace_back(1e-3 * tick, Shown(frame));
        }
        writer.finish();
    }
    std::vector<std::pair<double, Shown>> live;
};

TEST_F(ReplayedWorldTest, ContactsOfTheShownStatesAreFoundAgain) {
    const PressedRecording pressed(folder / "pressed.pliantrec", false);
    replay =
        make_replayed_world(Recording::load(folder / "pressed.pliantrec"), test::pressed_world());
    const std::string hello = hello_message(*replay, SceneAssets(replay->world()), {}, true);
    EXPECT_NE(hello.find(R"("contacts":[{"name":"beam/ball")"), std::string::npos) << hello;
    const auto compare = [&](const std::pair<double, Shown>& expected) {
        const auto& [time, live] = expected;
        replay->seek(time);
        const Shown shown(replay->frame(0));
        EXPECT_EQ(shown.contacts, live.contacts) << time;
        EXPECT_EQ(shown.level, live.level) << time;
        EXPECT_EQ(shown.touching, live.touching) << time;
        EXPECT_EQ(shown.deepest, live.deepest) << time;
        // sums in another order
        EXPECT_LT((shown.force - live.force).norm(), 1e-5 * live.force.norm() + 1e-12) << time;
        return live.contacts;
    };
    ASSERT_GT(pressed.live.size(), 25u);
    int most = 0;
    for (const auto& expected : pressed.live) most = std::max(most, compare(expected));
    EXPECT_GT(most, 10);
    // and backwards, with the parameters of that time
    for (std::size_t i = pressed.live.size(); i-- > 0;) compare(pressed.live[i]);
    compare(pressed.live[20]);

    // bodies keep the states that were recorded
    const Recording recording = Recording::load(folder / "pressed.pliantrec");
    const auto hash = replay->world().state_hash();
    for (int look = 0; look < 3; ++look) compare(pressed.live[20]);
    EXPECT_EQ(replay->world().state_hash(), hash);
    std::vector<double> state(recording.state(0, 20).size());
    replay->world().body(recording.header().bodies.at(0).body).save_state(state);
    EXPECT_TRUE(std::equal(state.begin(), state.end(), recording.state(0, 20).begin()));
}

TEST_F(ReplayedWorldTest, ContactsKnowWhatTheScriptSet) {
    const PressedRecording pressed(folder / "pressed.pliantrec", true);
    replay = make_replayed_world(Recording::load(folder / "pressed.pliantrec"),
                                 test::pressed_world(kSofterByScript));
    for (const auto& [time, live] : pressed.live) {
        replay->seek(time);
        EXPECT_EQ(Shown(replay->frame(0)).contacts, live.contacts) << time;
        EXPECT_LT((Shown(replay->frame(0)).force - live.force).norm(),
                  1e-5 * live.force.norm() + 1e-12)
            << time;
    }
}

TEST_F(ReplayedWorldTest, ToolInAHandIsShownAsItsTicksWere) {
    std::vector<HapticTick> live;
    {
        auto world = test::held_world();
        WorldRecorder recorder(folder / "held.pliantrec", *world, recording_header(*world));
        for (int tick = 0; tick < 400; ++tick) {
            world->advance();
            recorder.add_tick(*world, 0, 1.0);
            live.push_back(*world->loop(0).haptic_tick());
        }
        recorder.finish();
    }
    replay = make_replayed_world(Recording::load(folder / "held.pliantrec"), test::held_world());
    for (const int tick : {399, 250, 1, 100}) {
        replay->seek(1e-3 * tick);
        const ShownHaptics& shown = replay->frame(0).haptics;
        const HapticTick& then = live[static_cast<std::size_t>(tick) - 1];
        EXPECT_EQ(shown.body, 1);
        EXPECT_EQ(shown.tick.manipulandum.position, then.manipulandum.position) << tick;
        EXPECT_EQ(shown.tick.coupling.force, then.coupling.force) << tick;
        EXPECT_EQ(shown.tick.depth, then.depth) << tick;
        EXPECT_STREQ(shown.notice.data(), "");
    }
    EXPECT_GT(live.back().coupling.force.z(), 0.1);

    // plots have what the device showed in every tick
    replay->seek(0);
    replay->run();
    std::vector<TickSample> samples;
    for (const double clock : {0.0, 0.2, 0.4}) replay->look_at_clock(clock);
    replay->take_samples(0, samples);
    ASSERT_GT(samples.size(), 390u);
    for (std::size_t k = 0; k < samples.size(); ++k) {
        ASSERT_EQ(samples[k].device_force, static_cast<float>(live[k].command.force.norm())) << k;
        ASSERT_EQ(samples[k].port_energy, static_cast<float>(live[k].port_energy)) << k;
        ASSERT_EQ(samples[k].stored_energy, static_cast<float>(live[k].stored_energy)) << k;
    }
}

TEST_F(ReplayedWorldTest, AResetByHandStartsWhatTheScriptSetsAgain) {
    // at 0.25 s and at 0.6 s: what is due at 0.4 s comes at 0.65 s, after the second not before 1 s
    auto world = test::pressed_world(kSofterByScript);
    const int parameter = world->find_parameter("beam/ball.stiffness");
    const double start = world->parameter_value(parameter);
    std::vector<double> live;
    for (const int second : {700, 600}) {
        {
            RecordingWriter writer(folder / "reset.pliantrec", recording_header(*world));
            live.clear();
            for (int tick = 0; tick < 900; ++tick) {
                if (tick == 250 || tick == second) {
                    const Command reset{.kind = Command::Kind::Reset};
                    writer.add(0, RecordKind::Command, static_cast<std::uint64_t>(tick),
                               std::as_bytes(std::span(&reset, 1)));
                    world->apply(reset);
                }
                world->advance();
                live.push_back(world->parameter_value(parameter));
                writer.add(0, RecordKind::Sample, static_cast<std::uint64_t>(tick + 1),
                           std::as_bytes(std::span(&world->loop(0).sample(), 1)));
            }
            writer.finish();
        }
        replay = make_replayed_world(Recording::load(folder / "reset.pliantrec"),
                                     test::pressed_world(kSofterByScript));
        for (const int tick : {100, 450, 640, 670, 800, 450}) {
            replay->seek(1e-3 * tick);
            EXPECT_EQ(replay->world().parameter_value(parameter),
                      live[static_cast<std::size_t>(tick)])
                << tick << ", " << second;
        }
        EXPECT_EQ(live[800], second == 700 ? kSofter : start);
        EXPECT_EQ(live[450], start);
        world = test::pressed_world(kSofterByScript);
    }
}

TEST(LookAtContacts, GoesAsDeepAsTheBudgetOfManyTicksAllows) {
    auto world = test::pressed_world();
    SimulationLoop& loop = world->loop(0);
    world->advance_to(0.4);
    LoopFrame frame = loop.make_frame();
    const ShownContact& contact = frame.contacts.at(0);
    const auto show_fresh = [&](auto&& find) {
        loop.forget_contacts();
        find();
        loop.fill(frame);
    };
    show_fresh([&] { world->advance(); });
    const int all = contact.statistics.visited, touching = contact.statistics.contacts;
    Command budget{.kind = Command::Kind::SetParameter};
    budget.parameter = world->find_parameter("beam/ball.nodes");
    budget.value = 0.8 * all;
    world->apply(budget);
    show_fresh([&] { world->advance(); });
    EXPECT_TRUE(contact.statistics.is_truncated) << "the budget does not suffice for one tick";
    show_fresh([&] { loop.look_at_contacts(); });
    EXPECT_FALSE(contact.statistics.is_truncated);
    EXPECT_EQ(contact.statistics.level, 2);
    EXPECT_EQ(contact.statistics.contacts, touching);
}

}  // namespace
}  // namespace pliant
