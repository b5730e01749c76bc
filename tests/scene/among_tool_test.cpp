#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/temporary_directory.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/haptics/oscillation.h"
#include "pliant/scene/engine.h"
#include "pliant/scene/scene_file.h"
#include "scene/haptic_record.h"

// A tool in a hand that is one of the bodies of an "among", in a loop of its own.

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;
using Kind = Command::Kind;

constexpr double kCrateMass = 0.5;

/// Crates of 10 cm and 0.5 kg on a floor, 200 steps a second, and a paddle beside them.
std::string crates(const std::string& keys, const std::string& device = R"("hand": "firm")",
                   const std::string& counts = "[1, 1, 1]", const std::string& tool = "") {
    return R"({"pliant": 1, "loops": [{"name": "heap", "rate": 200}], "bodies": [
        {"name": "floor", "rigid": {"ground": {}}, "loop": "heap"},
        {"name": "crate", "rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 500},
         "contact": {"pointshell": {"points": 200, "levels": 2, "resolution": 32}},
         "pose": {"position": [0, 0, 0.05]}, "loop": "heap",
         "copies": {"counts": )" +
           counts + R"(, "spacing": [0.102, 0.102, 0.101]}},
        {"name": "paddle", "rigid": {"box": {"sizes": [0.02, 0.08, 0.08]},
         "motion": {"path": {"keyframes": [)" +
           keys + R"(]}}}, "loop": "heap"}],
        "contacts": [{"among": ["crate", "floor", "paddle"], "friction": 0.3}],
        "tool": {"body": "paddle")" +
           tool + R"(}, "device": {)" + device + "}}";
}
/// Lies down on the crate from above with 8 mm. Stands still until 0.1 s: paths are smooth.
const std::string kPressCrate = R"({"time": 0, "position": [0, 0, 0.15]},
    {"time": 0.1, "position": [0, 0, 0.15]}, {"time": 0.2, "position": [0, 0, 0.15]}, {"time": 0.7, "position": [0, 0, 0.132]})";
/// Pushes it along x at 0.1 m/s.
const std::string kPushCrate = R"({"time": 0, "position": [-0.08, 0, 0.05]},
    {"time": 0.2, "position": [-0.08, 0, 0.05]}, {"time": 3.2, "position": [0.22, 0, 0.05]})";

World build_crates(const std::string& text) {
    return World(parse_scene(text, "scene.json"), {.cache = {}});
}
const HapticTick& felt_among(const World& world) { return *world.loop(0).haptic_tick(); }

const RigidBody& rigid_among(const World& world, const std::string& name) {
    return dynamic_cast<const RigidBody&>(world.body(world.find_body(name)));
}

TEST(AmongTool, HasNoWeightAndIsNotFeltInTheAir) {
    World world = build_crates(crates(kPressCrate));
    ASSERT_EQ(world.num_loops(), 2);
    EXPECT_EQ(world.loop(0).haptics()->body, world.find_body("paddle"));
    EXPECT_EQ(world.loop(1).haptics(), nullptr);
    EXPECT_TRUE(world.loop(0).exchanges() && world.loop(1).exchanges());
    ASSERT_TRUE(rigid_among(world, "paddle").mass());
    world.advance_to(0.09);
    EXPECT_EQ(felt_among(world).num_contacts, 0);
    EXPECT_LT(felt_among(world).command.force.norm(), 1e-3);
    EXPECT_LT((rigid_among(world, "paddle").motion().pose.position - Vector3d(0, 0, 0.15)).norm(),
              1e-5);
    // nor does the slider of gravity give it one
    world.apply(
        {.kind = Kind::SetParameter, .parameter = world.find_parameter("gravity"), .value = 15});
    world.advance_to(0.1);
    EXPECT_LT((rigid_among(world, "paddle").motion().pose.position - Vector3d(0, 0, 0.15)).norm(),
              1e-5);
}

TEST(AmongTool, AtRestTheHandFeelsWhatTheBodiesPushBackWith) {
    World world = build_crates(crates(kPressCrate));
    world.advance_to(2.5);
    const HapticTick& t = felt_among(world);
    ASSERT_GT(t.num_contacts, 0);
    EXPECT_GT(t.command.force.z(), 0.5);
    // springs, contact and what the floor carries more are one force
    EXPECT_NEAR(t.coupling.force.z(), t.contact.force.z(), 0.01 * t.contact.force.z());
    EXPECT_NEAR(t.command.force.z(), t.coupling.force.z(), 1e-3);
    EXPECT_NEAR(rigid_among(world, "floor").last_load().force.z(),
                -(9.81 * kCrateMass + t.contact.force.z()), 0.02);
    EXPECT_GT(t.depth, 0);
    EXPECT_EQ(t.max_depth, 0) << "nothing bounds it";
    EXPECT_EQ(t.violations, 0u);
    EXPECT_STREQ(world.loop(0).make_frame().haptics.notice.data(), "");
    EXPECT_LT((rigid_among(world, "paddle").motion().pose.position - t.tool.position).norm(), 1e-5);
}

TEST(AmongTool, PushingACrateIsFeltAsItsFriction) {
    World world = build_crates(crates(kPushCrate));
    double pushed = 0, felt = 0;
    int count = 0;
    while (world.loop(0).time() < 2.8)
        if (world.advance() == 0 && world.loop(0).time() > 1.8) {
            pushed -= felt_among(world).contact.force.x();
            felt -= felt_among(world).command.force.x();
            ++count;
        }
    EXPECT_GT(rigid_among(world, "crate[0]").motion().pose.position.x(), 0.05);
    const double friction = 0.3 * kCrateMass * 9.81;
    EXPECT_NEAR(pushed / count, friction, 0.05 * friction);
    // beside it the damping that the rules inject, and what the hand was predicted wrongly
    EXPECT_NEAR(felt / count, friction, 0.2 * friction);
}

/// Rests on a heap, for light and heavy handles in loose and firm hands.
TEST(AmongTool, RestsAreCalmByTheRulesAlone) {
    for (const char* device :
         {R"("hand": "loose", "mass": 0.05)", R"("hand": "firm", "mass": 0.05)",
          R"("hand": "loose", "mass": 0.3)", R"("hand": "firm", "mass": 0.3)"}) {
        World world = build_crates(crates(kPressCrate, device));
        OscillationMeter meter;
        double largest = 0, margin = 0;
        while (world.loop(0).time() < 3) {
            if (world.advance() != 0) continue;
            margin =
                std::min(margin, felt_among(world).port_energy - felt_among(world).stored_energy);
            ASSERT_EQ(felt_among(world).gain_scale, 1) << device;
            if (world.loop(0).time() < 1.7) continue;
            meter.record({felt_among(world).command.force, felt_among(world).command.torque});
            largest = std::max(largest, meter.level().force);
        }
        EXPECT_GT(felt_among(world).num_contacts, 0) << device;
        EXPECT_GE(meter.num_windows(), 2);
        EXPECT_LT(largest, 0.02) << device;
        EXPECT_GT(margin, -2e-4) << device;
    }
}

TEST(AmongTool, TheForceFadesWhileTheBodiesStandStillAndComesBack) {
    World world = build_crates(crates(kPressCrate));
    world.advance_to(1.5);
    const double force = felt_among(world).command.force.z();
    ASSERT_GT(force, 0.5);
    for (int k = 0; k < 160; ++k) world.loop(0).tick();
    EXPECT_TRUE(felt_among(world).command.force.isZero(1e-9));
    EXPECT_THAT(world.loop(0).make_frame().haptics.notice.data(),
                HasSubstr("The simulation stopped"));
    for (int k = 0; k < 300; ++k) {
        for (int i = 0; i < 5; ++i) world.loop(0).tick();
        world.loop(1).tick();
    }
    EXPECT_GT(felt_among(world).command.force.z(), 0.9 * force);
}

TEST(AmongTool, SlowStepsOfBodiesMakeItsSpringSofter) {
    const auto at_the_handle = [](const std::string& text) {
        const World world = build_crates(text);
        const HapticInfo& info = *world.loop(0).haptics();
        for (const GainNote& note : info.gains)
            if (note.name == "stiffness") return note.value / info.workspace.scale;
        return 0.0;
    };
    std::string text = crates(kPressCrate);
    EXPECT_NEAR(at_the_handle(text), 0.08 / (15e-3 * 15e-3), 1e-9);
    const std::size_t at = text.find(R"("rate": 200)");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 11, R"("rate": 100)");
    EXPECT_NEAR(at_the_handle(text), 0.08 / (30e-3 * 30e-3), 1e-9);
}

TEST(AmongTool, MayBeInTheHapticLoop) {
    // as soft as among the slower steps
    const double softer = 0.08 / (15e-3 * 15e-3) / 600;
    std::string text = crates(kPressCrate, R"("hand": "firm")", "[1, 1, 1]",
                              R"(, "stiffness_factor": )" + std::to_string(softer));
    for (std::size_t at; (at = text.find(R"(, "loop": "heap")")) != std::string::npos;)
        text.erase(at, 16);
    World apart = build_crates(crates(kPressCrate)), world = build_crates(text);
    EXPECT_FALSE(world.loop(0).exchanges());
    apart.advance_to(2);
    world.advance_to(2);
    EXPECT_NEAR(felt_among(world).command.force.z(), felt_among(apart).command.force.z(),
                0.03 * felt_among(apart).command.force.z());
}

TEST(AmongTool, MassIsByRuleOrChosen) {
    const World by_rule = build_crates(crates(kPressCrate));
    const World chosen =
        build_crates(crates(kPressCrate, R"("hand": "firm")", "[1, 1, 1]", R"(, "mass": 0.7)"));
    const double k = by_rule.loop(0).haptics()->gains.front().value;
    EXPECT_NEAR(rigid_among(by_rule, "paddle").mass()->mass, held_mass_for(k, 0.005), 1e-12);
    EXPECT_EQ(rigid_among(chosen, "paddle").mass()->mass, 0.7);
}

TEST(AmongTool, SlidersEndWhereItsMassFollows) {
    const auto springs = [](const std::string& tool, std::string* said = nullptr) {
        std::string text = crates(kPressCrate, R"("hand": "firm")", "[1, 1, 1]", tool);
        text.replace(text.find(R"("rate": 200)"), 11, R"("rate": 100)");
        const World world(parse_scene(text, "scene.json"),
                          {.cache = {}, .say = [&](const std::string& line) {
                               if (said && line.starts_with("tool: ")) *said = line;
                           }});
        const RigidMass& mass = *rigid_among(world, "paddle").mass();
        const double a = world.loop(0).haptics()->workspace.scale;
        const auto slider = [&](const char* name) {
            const int i = world.find_parameter(name);
            return world.parameters()[static_cast<std::size_t>(i)].parameter;
        };
        const LiveParameter shift = slider("tool.stiffness");
        const LiveParameter turn = slider("tool.turning stiffness");
        // no farther than SolverHapticTool takes springs as they are
        EXPECT_LE(a * shift.high, followed_stiffness(mass.mass, 0.01) * (1 + 1e-12));
        EXPECT_LE(turn.high / a, followed_stiffness(mass.inertia(0, 0), 0.01) * (1 + 1e-12));
        EXPECT_GT(shift.high, shift.low);
        EXPECT_LE(shift.value, shift.high);
        EXPECT_LE(turn.value, turn.high);
        return shift;
    };
    std::string said;
    const LiveParameter by_rule = springs("", &said);
    EXPECT_EQ(said, "");
    EXPECT_NEAR(by_rule.high, 4 * by_rule.value, 1e-9 * by_rule.high) << "fourfold, (F8)";
    EXPECT_THAT(by_rule.help, HasSubstr("; the mass of the tool follows up to "));
    // one that is chosen too light takes softer springs, and says so
    const LiveParameter light = springs(R"(, "mass": 0.01)", &said);
    EXPECT_NEAR(light.value, light.high, 1e-9 * light.high);
    EXPECT_LT(light.value, 0.5 * by_rule.value);
    EXPECT_THAT(said, HasSubstr("stiffness from "));
    EXPECT_THAT(said, HasSubstr("which the mass of the tool follows in steps of its bodies; raise "
                                "\"mass\" or leave it out"));
    // one of many kilograms, what the device takes
    EXPECT_GT(springs(R"(, "mass": 20)").high, by_rule.high);
}

TEST(AmongTool, AResetBringsBackBothEnds) {
    World world =
        build_crates(crates(kPressCrate, R"("hand": "loose", "tremor": 0.0002)", "[2, 1, 1]"));
    std::vector<std::uint64_t> hashes;
    for (const double time : {0.4, 0.8}) {
        world.advance_to(time);
        hashes.push_back(world.state_hash());
    }
    world.apply({.kind = Kind::MoveTool, .target = {0.02, 0, 0.14}, .duration = 0.1});
    world.advance_to(1);
    world.reset();
    EXPECT_TRUE(felt_among(world).command.force.isZero(0));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        world.advance_to(std::array{0.4, 0.8}[i]);
        EXPECT_EQ(world.state_hash(), hashes[i]) << i;
    }
}

TEST(AmongTool, TicksFramesAndResetsAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    set_num_threads(1);
    World world = build_crates(crates(kPressCrate, R"("hand": "firm")", "[2, 2, 1]"));
    LoopFrame frame = world.loop(0).make_frame();
    world.advance_to(0.01);
    AllocationGuard guard;
    world.advance_to(0.9);
    world.loop(0).fill(frame);
    world.apply({.kind = Kind::MoveTool, .target = {0.02, 0, 0.14}, .duration = 0.1});
    world.advance_to(1);
    world.reset();
    world.advance_to(0.05);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(frame.haptics.tick.num_contacts, 0);
}

class AmongToolRecording : public ::testing::Test {
protected:
    void expect_same_again() const {
        const Recording recording = Recording::load(file_);
        ASSERT_TRUE(recording.is_complete()) << recording.problem();
        World again = build_crates(text_);
        const ReplayCheck check = check_replay(recording, again);
        EXPECT_GE(check.num_compared, 600u);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    }
    test::TemporaryDirectory folder_;
    std::filesystem::path file_ = folder_ / "heap.pliantrec";
    std::string text_ = crates(kPressCrate, R"("tremor": 0.0003)", "[2, 1, 1]");
};

TEST_F(AmongToolRecording, InVirtualTimeReplaysBitForBit) {
    World world = build_crates(text_);
    WorldRecorder recorder(file_, world, recording_header(world));
    while (world.loop(0).time() < 0.8) recorder.add_tick(world, world.advance(), 1.0);
    recorder.finish();
    EXPECT_GT(felt_among(world).num_contacts, 0);
    expect_same_again();
}

TEST_F(AmongToolRecording, OfAnEngineReplaysBitForBit) {
    {
        Engine engine(std::make_unique<World>(build_crates(text_)), {.is_real_time = false});
        engine.run();
        engine.start_recording(file_, recording_header(engine.world()));
        while (engine.frame(0).tick < 700)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.stop_recording();
    }
    expect_same_again();
}

}  // namespace
}  // namespace pliant
