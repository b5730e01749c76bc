#include "pliant/scene/simulation_loop.h"

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "scene/one_mass_body.h"
#include "tests/scene/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Kind = Command::Kind;
using test::OneMassBody;
using test::vector;
using testing::HasSubstr;

LoopSettings calm() {
    LoopSettings settings;
    settings.gravity.setZero();
    return settings;
}

/// Two masses, places 3 and 5 of the world, and a tool if asked for.
struct Fixture {
    explicit Fixture(const LoopSettings& settings = calm(), bool has_tool = false,
                     const OneMassBody::Options& options = {.mass = 2, .stiffness = 100}) {
        std::vector<std::unique_ptr<Body>> made;
        for (OneMassBody** body : {&a, &b}) {
            auto one = std::make_unique<OneMassBody>(options);
            *body = one.get();
            made.push_back(std::move(one));
        }
        loop = std::make_unique<SimulationLoop>(settings, std::move(made), std::vector<int>{3, 5},
                                                has_tool ? make_tool() : nullptr);
    }
    static std::unique_ptr<RigidBody> make_tool() {
        RigidBodyOptions options;
        options.pose.position = {0, 0, 2};
        return std::make_unique<RigidBody>(RigidShape::sphere(0.1), test::box_surface(), options);
    }
    void run(int ticks) const {
        for (int i = 0; i < ticks; ++i) loop->tick();
    }
    [[nodiscard]] std::uint64_t ignored() const {
        return loop->make_frame().status_counts[static_cast<std::size_t>(StepStatus::InputIgnored)];
    }

    OneMassBody *a = nullptr, *b = nullptr;
    std::unique_ptr<SimulationLoop> loop;
};

Command grab(int slot, int body, const Vector3d& target, double duration = 0) {
    Command command;
    command.kind = Kind::Grab;
    command.slot = slot;
    command.body = body;
    command.triangle = 10;  // x = 0.5
    command.barycentric = {0.2, 0.3, 0.5};
    command.target = {target.x(), target.y(), target.z()};
    command.duration = duration;
    return command;
}
Command simple(Kind kind, int slot = 0) {
    Command command;
    command.kind = kind;
    command.slot = slot;
    return command;
}
Command move(Kind kind, const Vector3d& target, double duration = 0) {
    Command command = simple(kind);
    command.target = {target.x(), target.y(), target.z()};
    command.duration = duration;
    return command;
}
int find(const SimulationLoop& loop, const std::string& name) {
    const std::vector<LiveParameter> parameters = loop.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].name == name) return static_cast<int>(i);
    ADD_FAILURE() << "no parameter " << name;
    return -1;
}
TEST(SimulationLoop, TicksKeepTimeAndStepInOrder) {
    LoopSettings settings = calm();
    settings.rate = 500;
    const Fixture f(settings);
    int clock = 0;
    f.a->clock = f.b->clock = &clock;
    f.run(3);
    EXPECT_EQ(f.loop->ticks(), 3u);
    EXPECT_DOUBLE_EQ(f.loop->time(), 0.006);
    EXPECT_EQ(f.loop->sample().tick, 3u);
    EXPECT_DOUBLE_EQ(f.loop->sample().time, 0.006);
    EXPECT_EQ(f.a->order, 5);
    EXPECT_EQ(f.b->order, 6);
}

TEST(SimulationLoop, GrabbedBodyIsPulledAndTheHandFeelsTheOpposite) {
    const Fixture f;
    f.loop->apply(grab(0, 5, {0.6, 0, 0}, 0.05));
    f.run(20);
    EXPECT_EQ(f.a->x, Vector3d(Vector3d::Zero()));
    EXPECT_GT(f.b->x.x(), 0);
    const TickSample& sample = f.loop->sample();
    EXPECT_EQ(vector(sample.force), Vector3d(-f.b->last_load));
    EXPECT_LT(sample.force[0], 0);
    EXPECT_EQ(sample.point[0], f.b->x.x() + 0.5);
    EXPECT_NEAR(sample.hand[0], 0.5 + 0.1 * 20 / 50, 1e-12);
    const LoopFrame frame = f.loop->make_frame();
    EXPECT_EQ(frame.held[0].body, 5);
    EXPECT_FALSE(frame.held[0].is_poke);
    EXPECT_EQ(vector(frame.held[0].force), f.b->last_load);
    EXPECT_EQ(frame.held[1].body, -1);
}

TEST(SimulationLoop, DragMovesTheTargetAndReleaseLetsGo) {
    const Fixture f;
    f.loop->apply(grab(2, 3, {0.5, 0, 0}));
    Command drag = move(Kind::Drag, {0.5, 0.3, 0}, 0.1);
    drag.slot = 2;
    f.loop->apply(drag);
    f.run(50);
    EXPECT_NEAR(f.loop->make_frame().held[2].target[1], 0.15, 1e-12);
    EXPECT_GT(f.a->last_load.y(), 0);
    f.loop->apply(simple(Kind::Release, 2));
    f.run(1);
    EXPECT_EQ(f.a->last_load, Vector3d(Vector3d::Zero()));
    EXPECT_EQ(f.loop->make_frame().held[2].body, -1);
    // nothing held: no complaint either
    f.loop->apply(drag);
    f.loop->apply(simple(Kind::Release, 2));
    EXPECT_EQ(f.ignored(), 0u);
}

TEST(SimulationLoop, GrabbingAgainReplaces) {
    const Fixture f;
    f.loop->apply(grab(0, 3, {1, 0, 0}));
    f.loop->apply(grab(0, 5, {1, 0, 0}));
    f.run(1);
    EXPECT_EQ(f.a->last_load, Vector3d(Vector3d::Zero()));
    EXPECT_GT(f.b->last_load.x(), 0);
    // a body of another loop takes the hand away from here
    f.loop->apply(grab(0, 4, {1, 0, 0}));
    f.run(1);
    EXPECT_EQ(f.b->last_load, Vector3d(Vector3d::Zero()));
    EXPECT_EQ(f.ignored(), 0u);
}

TEST(SimulationLoop, SeveralHandsHoldOneBody) {
    const Fixture one, four;
    one.loop->apply(grab(0, 3, {0.6, 0, 0}));
    for (int slot = 0; slot < Command::kMaxSlots; ++slot)
        four.loop->apply(grab(slot, 3, {0.6, 0, 0}));
    one.run(1);
    four.run(1);
    EXPECT_LT((four.a->last_load - 4 * one.a->last_load).norm(), 1e-9);
}

TEST(SimulationLoop, HandsShareWhatABodyCanBear) {
    // as stiff and damped as the sliders allow, on a body that moves freely
    LoopSettings settings = calm();
    settings.pull_stiffness = 10;
    settings.pull_damping = 2;
    settings.pull_force_limit = 1e9;
    const Fixture f(settings, false, {.mass = 2});
    for (int slot = 0; slot < Command::kMaxSlots; ++slot)
        f.loop->apply(grab(slot, 3, {0.6, 0, 0}, 0.02));
    f.run(2000);
    EXPECT_LT(f.a->v.norm(), 1e-6);
    // alone again, a hand is as strong as before
    for (int slot = 1; slot < Command::kMaxSlots; ++slot)
        f.loop->apply(simple(Kind::Release, slot));
    const Vector3d at = vector(f.loop->sample().point);
    f.loop->apply(move(Kind::Drag, at + Vector3d(0.01, 0, 0)));
    f.run(1);
    EXPECT_NEAR(f.a->last_load.x(), 0.2 * 2 * 1e6 * 0.01, 1e-3);
}

TEST(SimulationLoop, PokePushesInwards) {
    const Fixture f;
    Command poke = grab(1, 3, {0, 0, 0});
    poke.kind = Kind::Poke;
    poke.value = 8;
    f.loop->apply(poke);
    f.run(100);
    EXPECT_LT((f.a->last_load - Vector3d(-8, 0, 0)).norm(), 1e-12);
    EXPECT_TRUE(f.loop->make_frame().held[1].is_poke);
    // the scene's force, by its slider
    poke.value = 0;
    f.loop->apply(poke);
    f.loop->set_parameter(find(*f.loop, "poke_force"), 3);
    f.run(100);
    EXPECT_NEAR(f.a->last_load.x(), -3, 1e-12);
}

TEST(SimulationLoop, MalformedCommandsAreIgnoredAndCounted) {
    const Fixture f(calm(), true);
    f.run(1);
    std::vector<Command> bad(14, grab(0, 3, {1, 0, 0}));
    bad[0].slot = -1;
    bad[1].slot = Command::kMaxSlots;
    bad[2].body = -1;
    bad[3].triangle = 12;
    bad[4].triangle = -2;
    bad[5].triangle = -1;  // and no vertex
    bad[6].barycentric[1] = kNan;
    bad[7].barycentric = {5, -3, -1};
    bad[8].target[2] = kNan;
    bad[9].duration = -1;
    bad[10].duration = std::numeric_limits<double>::infinity();
    bad[11].kind = Kind::Poke;
    bad[11].value = -4;
    bad[12] = move(Kind::MoveTool, {kNan, 0, 0});
    bad[13] = simple(Kind::Release, 4);
    for (std::size_t i = 0; i < bad.size(); ++i) {
        f.loop->apply(bad[i]);
        EXPECT_EQ(f.ignored(), i + 1) << i;
    }
    f.run(3);
    EXPECT_EQ(f.a->x, Vector3d(Vector3d::Zero()));
    EXPECT_EQ(f.loop->tool()->motion().pose.position, Vector3d(0, 0, 2));
}

TEST(SimulationLoop, ParametersReachBodiesAndHands) {
    LoopSettings settings;
    settings.gravity = {0, 3, -4};
    settings.wind_direction = {0, 2, 0};
    settings.wind_speed = 10;
    const Fixture f(settings);
    EXPECT_EQ(f.a->gravity, Vector3d(0, 3, -4));
    EXPECT_EQ(f.b->wind_direction, Vector3d(0, 2, 0));
    f.run(1);
    EXPECT_NEAR(f.a->wind_pressure, 60, 1e-12);  // ½ 1.2 10²
    EXPECT_EQ(f.loop->parameters().size(), 7u);
    for (const LiveParameter& p : f.loop->parameters()) {
        EXPECT_LE(p.low, p.value) << p.name;
        EXPECT_LE(p.value, p.high) << p.name;
        EXPECT_TRUE(!p.is_logarithmic || p.low > 0) << p.name;
        EXPECT_FALSE(p.help.empty());
    }

    f.loop->set_parameter(find(*f.loop, "gravity"), 10);
    EXPECT_LT((f.b->gravity - Vector3d(0, 6, -8)).norm(), 1e-12);
    f.loop->set_parameter(find(*f.loop, "gravity"), 1e9);
    EXPECT_NEAR(f.b->gravity.norm(), 20, 1e-12);
    f.loop->set_parameter(find(*f.loop, "gravity"), kNan);
    EXPECT_NEAR(f.b->gravity.norm(), 20, 1e-12);
    f.loop->set_parameter(-1, 0);
    f.loop->set_parameter(7, 0);
    f.loop->set_parameter(find(*f.loop, "gravity"), 0);
    f.loop->set_parameter(find(*f.loop, "wind_speed"), 0);

    // a stiffer spring pulls harder at once, and stays after a reset
    f.loop->reset();
    f.loop->apply(grab(0, 3, {0.51, 0, 0}));
    f.run(1);
    const double before = f.a->last_load.x();
    f.loop->reset();
    f.loop->set_parameter(find(*f.loop, "pull_stiffness"), 6);
    f.loop->apply(grab(0, 3, {0.51, 0, 0}));
    f.run(1);
    EXPECT_NEAR(f.a->last_load.x(), 2 * before, 1e-9);
    EXPECT_EQ(f.a->wind_pressure, 0);
}

TEST(SimulationLoop, SlidersReachSettingsBeyondTheirUsualRange) {
    LoopSettings settings;
    settings.wind_speed = 60;
    settings.pull_stiffness = 0.01;
    const Fixture f(settings);
    const std::vector<LiveParameter> p = f.loop->parameters();
    EXPECT_EQ(p[static_cast<std::size_t>(find(*f.loop, "wind_speed"))].high, 60);
    EXPECT_EQ(p[static_cast<std::size_t>(find(*f.loop, "pull_stiffness"))].low, 0.01);
}

TEST(SimulationLoop, GustsAreTheSameAtEveryRate) {
    const auto pressures = [](double rate, std::uint64_t seed) {
        LoopSettings settings = calm();
        settings.rate = rate;
        settings.wind_speed = 10;
        settings.wind_gusts = 0.8;
        settings.seed = seed;
        const Fixture f(settings);
        std::vector<double> values;
        for (int second = 0; second < 5; ++second) {
            f.run(1);
            values.push_back(f.a->wind_pressure);
            f.run(static_cast<int>(rate) - 1);
        }
        return values;
    };
    const std::vector<double> slow = pressures(50, 3), fast = pressures(1000, 3),
                              other = pressures(50, 4);
    for (std::size_t i = 0; i < slow.size(); ++i) {
        EXPECT_NEAR(slow[i], fast[i], 1e-9);
        EXPECT_NE(slow[i], other[i]);
        EXPECT_GT(slow[i], 0);
        EXPECT_LT(slow[i], 0.6 * 18 * 18);
    }
    EXPECT_NE(slow[0], slow[1]);
}

TEST(SimulationLoop, ToolFollowsThePointerSmoothlyAndWithinItsSpeed) {
    LoopSettings settings = calm();
    settings.tool_speed_limit = 0.5;
    const Fixture f(settings, true);
    f.loop->apply(move(Kind::MoveTool, {0.2, 0, 2}));
    double before = 0, fastest = 0;
    for (int i = 0; i < 2000; ++i) {
        f.loop->tick();
        const RigidMotion& motion = f.loop->tool()->motion();
        const double x = motion.pose.position.x();
        EXPECT_GE(x, before - 1e-15);  // no overshoot
        EXPECT_LE(x, 0.2 + 1e-12);
        EXPECT_NEAR(motion.velocity.linear.x(), (x - before) * 1000, 1e-9);
        fastest = std::max(fastest, motion.velocity.linear.norm());
        before = x;
    }
    EXPECT_NEAR(before, 0.2, 1e-9);
    EXPECT_NEAR(fastest, 0.5, 1e-9);
    const LoopFrame frame = f.loop->make_frame();
    EXPECT_TRUE(frame.has_tool);
    EXPECT_NEAR(frame.tool_position[0], 0.2, 1e-9);
    EXPECT_EQ(frame.tool_target[0], 0.2);
    // a slower limit, by its slider
    f.loop->set_parameter(find(*f.loop, "tool_speed"), 0.1);
    f.loop->apply(move(Kind::MoveTool, {5, 0, 2}));
    f.run(100);
    EXPECT_NEAR(f.loop->tool()->motion().velocity.linear.norm(), 0.1, 1e-9);
}

TEST(SimulationLoop, ToolFollowsItsScriptUntilThePointerTakesOver) {
    LoopSettings settings = calm();
    settings.tool_script =
        ScriptedMotion::oscillation({{0, 0, 2}, Quaternion::Identity()}, {0, 0, 0.1}, {0, 0, 0}, 1);
    const Fixture f(settings, true);
    f.run(300);
    EXPECT_LT((f.loop->tool()->motion().pose.position - settings.tool_script->at(0.3).pose.position)
                  .norm(),
              1e-12);
    EXPECT_EQ(f.loop->sample().point[2], f.loop->tool()->motion().pose.position.z());
    const Vector3d velocity = f.loop->tool()->motion().velocity.linear;
    f.loop->apply(move(Kind::MoveTool, {1, 0, 2}));
    f.run(1);
    // it keeps its momentum: no jump of velocity
    EXPECT_LT((f.loop->tool()->motion().velocity.linear - velocity).norm(), 4);
    f.run(5000);
    EXPECT_LT((f.loop->tool()->motion().pose.position - Vector3d(1, 0, 2)).norm(), 1e-9);
    f.loop->reset();
    f.run(100);
    EXPECT_LT((f.loop->tool()->motion().pose.position - settings.tool_script->at(0.1).pose.position)
                  .norm(),
              1e-12);
}

TEST(SimulationLoop, FrameHoldsDisplayStatesEnergiesAndCounts) {
    const Fixture f;
    f.loop->apply(grab(0, 5, {0.9, 0, 0}));
    f.run(32);
    LoopFrame frame = f.loop->make_frame();
    EXPECT_EQ(frame.tick, 32u);
    ASSERT_EQ(frame.display.size(), 2u * kPoseFloats);
    EXPECT_EQ(frame.display[kPoseFloats], static_cast<float>(f.b->x.x()));
    EXPECT_EQ(frame.display[3], 1.0f);
    EXPECT_EQ(frame.status_counts[0], 64u);
    ASSERT_EQ(frame.energies.size(), 2u);
    // of this tick for the first body, of the last for the second: at most 16 ticks old
    EXPECT_EQ(frame.energies[0].total(), f.a->energy().total());
    EXPECT_GT(frame.energies[1].total(), 0);
    EXPECT_NEAR(f.loop->sample().energy, frame.energies[0].total() + frame.energies[1].total(),
                1e-12);
    f.run(15);
    f.loop->fill(frame);
    EXPECT_EQ(frame.energies[1].total(), f.b->energy().total());
}

TEST(SimulationLoop, ResetGoesBackToTheStart) {
    const Fixture f(calm(), true);
    const auto run = [&] {
        f.loop->apply(grab(0, 5, {0.9, 0, 0}, 0.1));
        f.loop->apply(move(Kind::MoveTool, {0.2, 0, 2}));
        f.run(100);
        return std::make_pair(f.b->x, f.loop->tool()->motion().pose.position);
    };
    const auto first = run();
    f.loop->apply(grab(9, 9, {0, 0, 0}));
    f.loop->apply(simple(Kind::Reset));
    EXPECT_EQ(f.loop->ticks(), 0u);
    EXPECT_EQ(f.ignored(), 0u);
    EXPECT_EQ(f.b->x, Vector3d(Vector3d::Zero()));
    EXPECT_EQ(f.loop->make_frame().held[0].body, -1);
    EXPECT_EQ(f.loop->tool()->motion().pose.position, Vector3d(0, 0, 2));
    const auto second = run();
    EXPECT_EQ(first.first, second.first);
    EXPECT_EQ(first.second, second.second);
}

TEST(SimulationLoop, TickAllocatesNothing) {
    // rigid bodies that tumble, hands of both kinds, a tool, wind
    LoopSettings settings;
    settings.wind_speed = 5;
    settings.wind_gusts = 0.5;
    const SurfaceMesh surface = test::box_surface({0, 0, 0}, {0.2, 0.3, 0.5});
    std::vector<std::unique_ptr<Body>> bodies;
    std::vector<int> places;
    for (int i = 0; i < 4; ++i) {
        RigidBodyOptions options;
        options.pose.position = {1.0 * i, 0, 0};
        options.velocity.angular = {1, 2, 3};
        if (i > 0) options.mass = rigid_mass(surface, 100);
        bodies.push_back(std::make_unique<RigidBody>(RigidShape::mesh(surface), surface, options));
        places.push_back(i);
    }
    SimulationLoop loop(settings, std::move(bodies), places, Fixture::make_tool());
    LoopFrame frame = loop.make_frame();
    Command poke = grab(1, 2, {0, 0, 0});
    poke.kind = Kind::Poke;
    const AllocationGuard guard;
    for (int i = 0; i < 100; ++i) {
        loop.apply(grab(0, 1, {1, 0, 1}, 0.1));
        loop.apply(poke);
        loop.apply(grab(2, 0, {0, 1, 0}));
        loop.apply(move(Kind::MoveTool, {1, 1, 1}));
        loop.apply(grab(7, 0, {0, 1, 0}));
        loop.set_parameter(3, 0.1 * i);
        for (int k = 0; k < 5; ++k) loop.tick();
        loop.fill(frame);
        if (i == 50) loop.apply(simple(Kind::Reset));
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    for (int i = 0; i < loop.num_bodies(); ++i)
        EXPECT_TRUE(loop.body(i).position(SurfacePoint::at_vertex(0)).allFinite());
}

TEST(SimulationLoop, BadSettingsAreRefused) {
    const auto error = [](const LoopSettings& settings) {
        return test::input_error([&] { const SimulationLoop loop(settings, {}, {}); });
    };
    LoopSettings settings;
    EXPECT_EQ(error(settings), "");
    settings.rate = 0;
    EXPECT_THAT(error(settings), HasSubstr("rate = 0"));
    settings = {};
    settings.gravity.x() = kNan;
    EXPECT_THAT(error(settings), HasSubstr("gravity is not finite"));
    settings = {};
    settings.wind_direction.x() = kNan;
    EXPECT_THAT(error(settings), HasSubstr("direction of the wind"));
}

}  // namespace
}  // namespace pliant
