#include "scene/loop_contacts.h"

#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/scene/recording.h"
#include "tests/scene/contact_scenes.h"
#include "tests/scene/vectors.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::vector;
using Kind = Command::Kind;

class LoopContactsTest : public test::ContactScenes {
protected:
    [[nodiscard]] static const ContactPair& first_pair(const World& world) {
        return *world.loop(0).contact(0).pair();
    }
    static void set(World& world, const std::string& parameter, double value) {
        world.apply({.kind = Kind::SetParameter,
                     .parameter = world.find_parameter(parameter),
                     .value = value});
    }
};

TEST_F(LoopContactsTest, APressedBarAnswersWithItsOwnStiffness) {
    World world = build(press(R"(, "stiffness": 20000)"));
    const SurfacePoint touched = world.nearest_point(0, {0.05, 0, 0.15});
    world.advance_to(4);
    const ContactLoads& loads = first_pair(world).loads();
    ASSERT_GT(loads.num_contacts, 0);
    EXPECT_LT(world.body(0).energy().kinetic, 1e-9) << "at rest";

    // the way of the ball is shared by bar and contact; points are 4 mm apart on a ball of 50 mm:
    // the nearest one may miss 0.05 mm
    const double bent = 0.05 - world.body(0).position(touched).x();
    EXPECT_GT(bent, 0.5 * kPressed);
    EXPECT_NEAR(bent + loads.deepest, kPressed, 0.03 * kPressed);
    // small displacements: force by the compliance of the bar; points that touch are up to 8 mm
    // higher or lower on a lever of 0.33 m, whose compliance grows with its third power
    Eigen::Matrix3d C;
    ASSERT_TRUE(world.body(0).compliance(touched, C));
    EXPECT_NEAR(loads.on_field.force.x() * C(0, 0), bent, 0.07 * bent);
    EXPECT_NEAR((loads.on_field.force + loads.on_shell.force).norm(), 0,
                1e-9 * loads.on_field.force.norm());

    // what plots see: the ball and the force on it
    const TickSample& sample = world.loop(0).sample();
    EXPECT_EQ(vector(sample.force), loads.on_field.force);
    EXPECT_EQ(vector(sample.point), Vector3d(0.09, 0, 0.15));
}

TEST_F(LoopContactsTest, ARigidBodyOnTheGroundIsCarriedByTenPoints) {
    World world = build(scene(
        R"({"name": "block", "rigid": {"surface": "block.obj", "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0, 0, 0.12]}, {"time": 0.2, "position": [0, 0, 0.099]}]}}},
            "contact": {"pointshell": {"points": 3000, "levels": 3, "resolution": 32}}},
           {"name": "floor", "rigid": {"ground": {}}})",
        R"({"shell": "block", "field": "floor", "stiffness": 1000})"));
    world.advance_to(0.1);
    EXPECT_EQ(vector(world.loop(0).sample().force).norm(), 0);
    world.advance_to(0.3);
    // 1 mm of hundreds of points, of which ten count in each direction; those on the rounded edges
    // count with their whole normal and are less deep
    EXPECT_GT(first_pair(world).loads().num_contacts, 200);
    const Vector3d force = vector(world.loop(0).sample().force);
    EXPECT_EQ(force, first_pair(world).loads().on_shell.force) << "of the body that is moved";
    EXPECT_NEAR(force.z(), 10 * 1000 * 1e-3, 0.8);
    EXPECT_NEAR(force.head<2>().norm(), 0, 0.1);
    EXPECT_NEAR(first_pair(world).loads().deepest, 1e-3, 1e-5);
}

TEST_F(LoopContactsTest, AHandInTheSampleComesFirst) {
    World world = build(press());
    world.advance_to(2);
    EXPECT_GT(vector(world.loop(0).sample().force).norm(), 0);
    world.apply({.kind = Kind::Grab,
                 .body = 1,
                 .triangle = 0,
                 .barycentric = {1, 0, 0},
                 .target = {0.5, 0, 0}});
    world.advance_to(2.1);
    EXPECT_EQ(vector(world.loop(0).sample().hand), Vector3d(0.5, 0, 0));
}

TEST_F(LoopContactsTest, HasTheSameBitsInEveryRunAfterResetsAndForEveryNumberOfThreads) {
    const std::string text = press(R"(, "friction": 0.4, "nodes": 600)");
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 1}) {
        set_num_threads(threads);
        std::filesystem::remove_all(folder / "cache");
        World world = build(text);
        world.advance_to(2);
        EXPECT_GT(first_pair(world).loads().num_contacts, 0);
        hashes.push_back(world.state_hash());
        world.reset();
        world.advance_to(2);
        EXPECT_EQ(world.state_hash(), hashes.back());
    }
    set_num_threads(0);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
    // coherence finds the same contacts
    World without = build(press(R"(, "friction": 0.4, "coherence": false)"));
    World with = build(press(R"(, "friction": 0.4)"));
    without.advance_to(2);
    with.advance_to(2);
    EXPECT_EQ(without.state_hash(), with.state_hash());
}

TEST_F(LoopContactsTest, TicksFramesAndResetsAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    set_num_threads(1);
    World world = build(press(R"(, "friction": 0.4)"));
    LoopFrame frame = world.loop(0).make_frame();
    world.advance_to(0.005);
    const int stiffness = world.find_parameter("bar/ball.stiffness");
    AllocationGuard guard;
    world.advance_to(2);
    world.loop(0).fill(frame);
    for (const int index : {0, 1, 2})
        world.apply({.kind = Kind::SetParameter, .parameter = stiffness + index, .value = 500});
    world.advance_to(2.1);
    world.reset();
    world.advance_to(0.01);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(frame.contacts[0].num_contacting, 0);
}

TEST_F(LoopContactsTest, ParametersAreThoseOfEachPairAndStayInRange) {
    World world = build(press(R"(, "stiffness": 1000, "nodes": 700)"));
    const auto value = [&](const std::string& name) {
        return world.parameter_value(world.find_parameter(name));
    };
    EXPECT_EQ(value("bar/ball.stiffness"), 1000);
    EXPECT_EQ(value("bar/ball.friction"), 0);
    EXPECT_EQ(value("bar/ball.nodes"), 700);
    set(world, "bar/ball.stiffness", 3000);
    set(world, "bar/ball.friction", 0.7);
    set(world, "bar/ball.nodes", 900);
    EXPECT_EQ(first_pair(world).forces().options().stiffness, 3000);
    EXPECT_EQ(first_pair(world).forces().options().friction, 0.7);
    EXPECT_EQ(first_pair(world).traversal().options().budget, 900);
    set(world, "bar/ball.nodes", 1);
    EXPECT_EQ(first_pair(world).traversal().options().budget,
              first_pair(world).traversal().tree().level_start(1));
    set(world, "bar/ball.stiffness", 1e12);
    EXPECT_EQ(first_pair(world).forces().options().stiffness, 1e5);
    world.reset();
    EXPECT_EQ(value("bar/ball.stiffness"), 1e5) << "a reset keeps parameters";
    world.loop(0).set_contact_parameter(0, 17, 1);
    world.loop(0).set_contact_parameter(3, 0, 1);
    EXPECT_EQ(first_pair(world).forces().options().stiffness, 1e5);
}

TEST_F(LoopContactsTest, ParametersConcernTheLoopOfTheirPair) {
    const World world = build(press("", R"(, "loops": [{"name": "slow", "rate": 100}])"));
    const Command command{.kind = Kind::SetParameter,
                          .parameter = world.find_parameter("bar/ball.friction"),
                          .value = 1};
    EXPECT_TRUE(world.concerns(command, 0));
    EXPECT_FALSE(world.concerns(command, 1));
}

TEST_F(LoopContactsTest, AResetForgetsWhatFrictionHolds) {
    // a ball that touches from the start and drags the bar sideways
    const std::string text = scene(
        bar() +
            R"(, {"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0.0998, 0, 0.15]}, {"time": 0.5, "position": [0.06, 0.03, 0.15]}]}}}})",
        R"({"shell": "bar", "field": "ball", "friction": 2, "stiffness": 5000})");
    World world = build(text);
    // until the bar is held, some time after the start
    for (int k = 0; k < 400 && (k < 100 || first_pair(world).loads().num_sticking == 0); ++k)
        world.advance();
    ASSERT_GT(first_pair(world).loads().num_sticking, 0);
    world.reset();
    world.advance_to(0.05);
    World fresh = build(text);
    fresh.advance_to(0.05);
    EXPECT_EQ(world.state_hash(), fresh.state_hash());
}

TEST_F(LoopContactsTest, SlidersChangeWhatIsFelt) {
    World soft = build(press(R"(, "stiffness": 2000)"));
    World hard = build(press(R"(, "stiffness": 2000)"));
    set(hard, "bar/ball.stiffness", 50000);
    soft.advance_to(3);
    hard.advance_to(3);
    EXPECT_GT(first_pair(soft).loads().deepest, 2 * first_pair(hard).loads().deepest);
}

TEST_F(LoopContactsTest, FramesHoldCountsAndWhereTheSearchEnded) {
    World world = build(press());
    LoopFrame frame = world.loop(0).make_frame();
    ASSERT_EQ(frame.contacts.size(), 1u);
    EXPECT_EQ(frame.contacts[0].shell, 0);
    EXPECT_EQ(frame.contacts[0].field, 1);
    EXPECT_EQ(frame.contacts[0].num_nodes, 0) << "nothing was searched yet";
    world.advance_to(3);
    world.loop(0).fill(frame);
    const ShownContact& contact = frame.contacts[0];
    const TraversalStatistics& statistics = first_pair(world).traversal().statistics();
    EXPECT_EQ(contact.statistics.visited, statistics.visited);
    EXPECT_EQ(contact.statistics.contacts, statistics.contacts);
    EXPECT_EQ(contact.num_contacting, statistics.contacts);
    EXPECT_GT(contact.num_contacting, 0);
    EXPECT_GT(contact.num_nodes, contact.num_contacting);
    EXPECT_EQ(vector(contact.force), first_pair(world).loads().on_field.force);
    EXPECT_EQ(contact.deepest, first_pair(world).loads().deepest);
    EXPECT_EQ(contact.num_pairs, 1);

    // a reset leaves nothing to show
    LoopFrame after = world.loop(0).make_frame();
    World other = build(press());
    other.advance_to(3);
    other.reset();
    other.loop(0).fill(after);
    EXPECT_EQ(after.contacts[0].num_nodes, 0);
    EXPECT_EQ(after.contacts[0].statistics.visited, 0);
    EXPECT_EQ(vector(after.contacts[0].force), Vector3d::Zero());

    // at rest what touches is inside the ball, and nothing else is
    std::vector<ContactMark> marks;
    world.loop(0).contact_marks(frame, 0, marks);
    ASSERT_EQ(static_cast<int>(marks.size()), contact.num_nodes);
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const ContactMark& mark = marks[i];
        const Vector3d x(mark.position[0], mark.position[1], mark.position[2]);
        EXPECT_EQ(mark.is_contacting, i < static_cast<std::size_t>(contact.num_contacting));
        if (mark.is_contacting) {
            EXPECT_LT((x - Vector3d(0.09, 0, 0.15)).norm(), 0.05 + 1e-6);
        }
    }
}

TEST_F(LoopContactsTest, AFrameHoldsAtMostItsNumberOfNodes) {
    std::string text = press();
    const std::string points = "\"points\": 2500";
    text.replace(text.find(points), points.size(), "\"points\": 12000");
    World world = build(text);
    LoopFrame frame = world.loop(0).make_frame();
    world.advance_to(0.6);
    world.loop(0).fill(frame);
    EXPECT_EQ(frame.contacts[0].nodes.size(), std::size_t{ShownContact::kMaxNodes});
    EXPECT_LE(frame.contacts[0].num_nodes, ShownContact::kMaxNodes);
}

TEST_F(LoopContactsTest, RecordingsReplayBitForBitWithFrictionAndTheirOwnBudget) {
    const std::string script =
        R"(, "script": [{"time": 0.2, "grab": {"body": "bar", "at": [0, 0, 0.2], "target": [0, 0.05, 0.2], "duration": 0.2}},
           {"time": 0.5, "set": {"parameter": "bar/ball.friction", "value": 0.3}}, {"time": 0.7, "reset": true}])";
    const std::string text = press(R"(, "friction": 0.6, "stiffness": 5000)", script);
    World world = build(text);
    // as if it had been measured on another day
    set(world, "bar/ball.nodes", first_pair(world).traversal().tree().level_start(1) + 40);
    {
        const RecordingHeader header = recording_header(world, {}, 500);
        WorldRecorder recorder(folder / "a.pliantrec", world, header);
        bool is_truncated = false;
        for (int k = 0; k < 1200; ++k) {
            const int loop = world.advance();
            recorder.add_tick(world, loop, 0);
            is_truncated |= first_pair(world).traversal().statistics().is_truncated;
        }
        recorder.finish();
        EXPECT_TRUE(is_truncated) << "the budget matters";
    }
    const Recording recording = Recording::load(folder / "a.pliantrec");
    World again = build(text);
    again.advance_to(0.45);  // whatever it remembers is forgotten
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 500u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

TEST_F(LoopContactsTest, RestoredStatesGoOnWithoutMemoryWhenContactsForget) {
    World world = build(press(R"(, "friction": 0.6)"));
    world.advance_to(0.5);
    std::vector<std::vector<double>> states;
    for (int i = 0; i < 2; ++i) {
        states.emplace_back(static_cast<std::size_t>(world.body(i).state_size()));
        world.body(i).save_state(states.back());
    }
    std::vector<std::vector<double>> ends;
    for (int run = 0; run < 2; ++run) {
        for (int i = 0; i < 2; ++i) {
            const WorldBody& body = world.bodies()[static_cast<std::size_t>(i)];
            world.loop(0).body(body.place).restore_state(states[static_cast<std::size_t>(i)]);
        }
        world.loop(0).forget_contacts();
        for (int k = 0; k < 100; ++k) world.loop(0).tick();
        ends.emplace_back(states[0].size());
        world.body(0).save_state(ends.back());
    }
    EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace
}  // namespace pliant
