// Bodies beyond use are seen, and what their steps said is kept for each.
#include "pliant/scene/body_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pliant/fem/fem_body.h"
#include "pliant/scene/scene_file.h"

namespace pliant {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Runs a scene for so long and watches it, as a run without a window does.
class Watching {
public:
    Watching(const std::string& bodies, double until, const std::string& more = "")
        : world(parse_scene(R"({"pliant": 1, "bodies": [)" + bodies + "]" + more + "}", "s.json"),
                WorldOptions{.cache = {}}),
          watch(world) {
        while (world.loop(0).time() < until) watch.look_after_tick(world.advance());
        watch.look_at_all();
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const BodyTrouble& trouble : watch.troubles()) names.emplace_back(trouble.name());
        return names;
    }
    World world;
    BodyWatch watch;
};

const std::string kFloor = R"({"name": "floor", "rigid": {"ground": {}}},)";
/// Of a law that gives way without end, dropped from 5 cm.
const std::string kTissueBox = kFloor + R"({"name": "b", "fem": {"box": {
    "sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
    "material": {"preset": "tissue", "law": "st-venant-kirchhoff"}},
    "pose": {"position": [0, 0, 0.1]}})";

TEST(BodyWatch, ALawPastItsLimitAndPreventedInversionsAreSeenThoughStepsAreOk) {
    const Watching run(kTissueBox, 1);
    EXPECT_THAT(run.names(), Contains("past the limit of its law"));
    EXPECT_THAT(run.names(), Contains("kept from turning inside out"));
    EXPECT_THAT(run.names(), Not(Contains("element inside out")));
    EXPECT_THAT(run.watch.texts(),
                Contains(AllOf(HasSubstr("\"b\" was compressed to "),
                               HasSubstr(" % of its length somewhere; its law "
                                         "\"st-venant-kirchhoff\" softens below 57 %"),
                               HasSubstr("take the law \"neo-hookean\""))));
}

TEST(BodyWatch, ABodyThatRunsSlowerThanTheWorldSaysHowMuch) {
    // stretched twenty-fold: far more inner steps than it may take
    World world(
        parse_scene(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)" + kTissueBox + "]}",
                    "s.json"),
        WorldOptions{.cache = {}});
    BodyWatch watch(world);
    Body& body = world.loop(0).body(1);
    std::vector<double> state(static_cast<std::size_t>(body.state_size()));
    body.save_state(state);
    const auto& mesh = dynamic_cast<const FemBody&>(body).model().mesh();
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        for (Eigen::Index k = 0; k < 3; ++k)
            state[11 + 3 * v + static_cast<std::size_t>(k)] = 19 * mesh.vertices[v][k];
    ASSERT_TRUE(body.restore_state(state));
    for (int k = 0; k < 3; ++k) world.advance();
    watch.look_at_all();
    EXPECT_THAT(watch.texts(), Contains(AllOf(HasSubstr("\"b\" ran slower than the world in "),
                                              HasSubstr("than it may take"))));
    EXPECT_GT(body.report().counts[static_cast<std::size_t>(StepStatus::CapacityExceeded)], 0u);
    // not said twice
    EXPECT_THAT(watch.texts(), Not(Contains(HasSubstr("ran out of room"))));
}

TEST(BodyWatch, AnElementThatTurnedInsideOutBetweenTwoLooksIsSeen) {
    World world(parse_scene(R"({"pliant": 1, "bodies": [)" + kTissueBox + "]}", "s.json"),
                WorldOptions{.cache = {}});
    BodyWatch watch(world);
    Body& body = world.loop(0).body(1);
    const auto& fem = dynamic_cast<const FemBody&>(body);
    std::vector<double> start(static_cast<std::size_t>(body.state_size()));
    body.save_state(start);
    watch.look_at_all();
    // a corner beyond the other side of its cell, for a tick
    std::vector<double> inverted = start;
    for (std::size_t k = 0; k < 3; ++k) inverted[11 + k] = 0.05;
    inverted[7] = -100;  // the smallest det F before: such elements may stay
    ASSERT_TRUE(body.restore_state(inverted));
    world.advance();
    ASSERT_LE(fem.smallest_det_F().value, 0);
    const double worst = fem.inversions().worst.value;
    // a tick later it is as it was
    ASSERT_TRUE(body.restore_state(start));
    world.advance();
    ASSERT_GT(fem.smallest_det_F().value, 0.9);
    watch.look_at_all();
    ASSERT_FALSE(watch.troubles().empty());
    BodyTrouble trouble = watch.troubles()[0];
    EXPECT_EQ(trouble.name(), "element inside out");
    EXPECT_EQ(trouble.count, 1u);
    EXPECT_EQ(trouble.value, worst);
    // it does not go on
    const double until = trouble.until;
    for (int k = 0; k < 10; ++k) world.advance();
    watch.look_at_all();
    EXPECT_EQ(watch.troubles()[0].until, until);
    world.reset();
    EXPECT_EQ(fem.inversions().num_steps, 0u);
    EXPECT_EQ(fem.inversions().worst.value, 1);
}

TEST(BodyWatch, ABodyThatRestsIsWell) {
    const Watching run(kFloor + R"({"name": "b", "fem": {"box": {
        "sizes": [0.1, 0.1, 0.1], "cells": [3, 3, 3]}, "material": "rubber"},
        "pose": {"position": [0, 0, 0.02]}})",
                       1);
    EXPECT_THAT(run.watch.texts(), IsEmpty());
}

TEST(BodyWatch, AReducedCubeThatCollapsesUnderItsWeightIsSeen) {
    const Watching run(R"({"name": "b", "reduced": {"shape": "beam", "size": 0.3,
        "fixed": "x < 5 %", "modes": 4, "rank": 8, "mesh": {"kind": "voxel", "resolution": 12},
        "material": {"youngs_modulus": 50, "poisson_ratio": 0.3, "density": 1000}}})",
                       2);
    EXPECT_THAT(run.names(), Contains("inside out"));
}

TEST(BodyWatch, ABodyTenThousandTimesItsSizeAwayIsSeen) {
    // 1 mm falls 10 m in 1.43 s
    const Watching run(
        R"({"name": "dust", "rigid": {"sphere": {"radius": 0.0005}, "density": 1000}})", 2);
    ASSERT_THAT(run.watch.troubles(), SizeIs(1));
    const BodyTrouble trouble = run.watch.troubles()[0];
    EXPECT_EQ(trouble.name(), "away");
    EXPECT_NEAR(trouble.since, 1.43, 0.11);
    EXPECT_EQ(trouble.until, run.world.loop(0).time());
    EXPECT_NEAR(trouble.value, 0.5 * 9.81 * 4, 0.1);
    EXPECT_THAT(run.watch.texts()[0], HasSubstr("\"dust\" is 19.6 m from where it began, 1.96e+04 "
                                                "times its size"));
}

TEST(BodyWatch, ABodyThatFallsPastWhatIsThereIsSeen) {
    // 2 m below the floor after 0.64 s, hundreds of its sizes before it is away by those
    const Watching run(R"({"name": "floor", "rigid": {"box": {"sizes": [1, 1, 0.1]}}},
        {"name": "ball", "rigid": {"sphere": {"radius": 0.03}, "density": 1000},
         "pose": {"position": [0.8, 0, 0]}})",
                       1);
    ASSERT_THAT(run.watch.troubles(), SizeIs(1));
    const BodyTrouble trouble = run.watch.troubles()[0];
    EXPECT_EQ(trouble.body, 1);
    EXPECT_TRUE(trouble.has_fallen);
    EXPECT_NEAR(trouble.since, 0.66, 0.11);
    EXPECT_THAT(run.watch.texts()[0], AllOf(HasSubstr("it has fallen below everything else"),
                                            HasSubstr("put something")));
}

TEST(BodyWatch, SightsAreTheExtremesOfWhatWasDrawn) {
    Watching run(R"({"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "density": 1000}},
        {"name": "wall", "rigid": {"box": {"sizes": [0.1, 0.1, 2]}},
         "pose": {"position": [1, 0, -5]}})",
                 1);
    const BodySight& ball = run.watch.sight(0);
    EXPECT_NEAR(ball.highest, 0.05, 1e-3);
    EXPECT_NEAR(ball.lowest, -0.05 - 0.5 * 9.81, 0.02);
    EXPECT_NEAR(ball.least_volume, 1, 1e-3);
    EXPECT_TRUE(ball.has_moved);
    EXPECT_NEAR(run.watch.speed(0), 9.81, 0.02);
    EXPECT_FALSE(run.watch.sight(1).has_moved);
    run.watch.forget();
    EXPECT_FALSE(run.watch.sight(0).has_moved);
}

TEST(BodyWatch, StatusesAreKeptForEachBodyWithWhenAndHowOften) {
    Watching run(kFloor + R"({"name": "kidney", "fem": {"shape": "kidney", "size": 0.1,
        "material": "tissue"}, "pose": {"position": [0, 0, 0.15]}})",
                 0.1);
    // no step is possible under such a force
    for (int k = 0; k < 60; ++k) {
        run.world.loop(0).body(1).add_force(SurfacePoint::at_vertex(0), {1e300, 0, 0});
        run.watch.look_after_tick(run.world.advance());
    }
    run.watch.look_at_all();
    const auto& counts = run.world.body(1).report().counts;
    const auto rejected = counts[static_cast<std::size_t>(StepStatus::StepRejected)];
    ASSERT_GT(rejected, 0u) << "the case must fail, or it shows nothing";
    std::uint64_t said = 0;
    for (const BodyTrouble& trouble : run.watch.troubles())
        if (trouble.status == StepStatus::StepRejected) {
            said = trouble.count;
            EXPECT_EQ(trouble.body, 1);
            EXPECT_GT(trouble.since, 0.05);
            EXPECT_LE(trouble.until, 0.2);
        }
    EXPECT_EQ(said, rejected);
    EXPECT_THAT(run.watch.texts(), Contains(HasSubstr("\"kidney\" rejected ")));
}

TEST(BodyWatch, NewsAreToldOnceAndAResetBeginsAnew) {
    Watching run(kTissueBox, 2);
    EXPECT_THAT(run.watch.news(), Not(IsEmpty()));
    EXPECT_THAT(run.watch.news(), IsEmpty());
    run.world.reset();
    run.watch.forget();
    run.world.advance();
    run.watch.look_at_all();
    EXPECT_THAT(run.watch.troubles(), IsEmpty());
}

TEST(BodyWatch, OfManyBodiesOnlySomeAreNamed) {
    const Watching run(R"({"name": "dust", "rigid": {"sphere": {"radius": 0.0005}, "density": 1000},
        "copies": {"counts": [20, 1, 1], "spacing": [0.1, 0, 0]}})",
                       2);
    EXPECT_THAT(run.watch.troubles(), SizeIs(20));
    EXPECT_THAT(run.watch.texts(5), SizeIs(6));
    EXPECT_EQ(run.watch.texts(5)[5], "15 more bodies are not well");
}

TEST(BodyWatch, OneLookCostsNoMoreThanSomeBodies) {
    World world(parse_scene(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "ball", "rigid": {"sphere": {"radius": 0.1}, "density": 1000},
         "copies": {"counts": [100, 1, 1], "spacing": [1, 0, 0]}}]})",
                            "s.json"));
    BodyWatch watch(world);
    LoopFrame frame = world.loop(0).make_frame();
    // every body says that it is bad
    for (ShownSteps& steps : frame.steps)
        steps.counts[static_cast<std::size_t>(StepStatus::StepRejected)] = 1;
    watch.look(0, frame);
    const std::size_t first = watch.troubles().size();
    EXPECT_GT(first, 5u);
    EXPECT_LT(first, 50u);
    watch.look(0, frame);
    EXPECT_EQ(watch.troubles().size(), 2 * first) << "the next ones";
    watch.look(0, frame, true);
    EXPECT_EQ(watch.troubles().size(), 100u);
}

TEST(BodyWatch, ABallThatAPokeSendsAwayIsSeenThoughItsStepsAreOk) {
    // the largest force that a scene may say
    const Watching run(
        R"({"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "density": 1000}})", 0.5,
        R"(, "gravity": [0, 0, 0], "script": [{"time": 0.1, "poke": {
                            "body": "ball", "at": [0, 0, 0.05], "force": 1e9}}])");
    EXPECT_EQ(run.world.body(0).report().counts[0], run.world.loop(0).ticks())
        << "every step says ok";
    EXPECT_THAT(run.names(), Contains("away"));
    ASSERT_THAT(run.watch.troubles(), Not(IsEmpty()));
    const BodyTrouble trouble = run.watch.troubles()[0];
    EXPECT_GT(trouble.since, 0.1);
    EXPECT_GT(trouble.value, 1e4 * 0.1);
    EXPECT_THAT(run.watch.texts(),
                Contains(AllOf(HasSubstr("\"ball\" is "), HasSubstr(" m from where it began, "),
                               HasSubstr(" times its size"))));
}

}  // namespace
}  // namespace pliant
