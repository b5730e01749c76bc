#include <gmock/gmock.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/implicit.h"
#include "pliant/geometry/polygonize.h"
#include "pliant/scene/recording.h"
#include "tests/scene/contact_scenes.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Kind = Command::Kind;
using ::testing::StartsWith;

Vector3d vector(const std::array<float, 3>& x) {
    return Eigen::Vector3f(x[0], x[1], x[2]).cast<double>();
}

/// Bodies that forces move, and bodies that touch themselves.
class MovingContactsTest : public test::ContactScenes {
protected:
    static constexpr double kSide = 0.1, kTopSide = 0.06;
    static constexpr double kWeight = 500 * kSide * kSide * kSide * 9.81;
    static constexpr double kTopWeight = 500 * kTopSide * kTopSide * kTopSide * 9.81;

    [[nodiscard]] static std::string box(const std::string& more = "",
                                         const std::string& name = "box",
                                         const std::string& sizes = "[0.1, 0.1, 0.1]") {
        return R"({"name": ")" + name + R"(", "rigid": {"box": {"sizes": )" + sizes +
               R"(}, "density": 500},
            "contact": {"pointshell": {"points": 300, "levels": 2, "resolution": 32}})" +
               more + "}";
    }
    [[nodiscard]] static std::string floor() {
        return R"({"name": "floor", "rigid": {"ground": {}}})";
    }
    /// A free soft bar of 4 kg that lies 5 mm above the floor.
    [[nodiscard]] static std::string flying_bar(const std::string& more = "") {
        return R"({"name": "bar", "reduced": {"surface": "bar.obj", "free": true, "modes": 4, "rank": 6,
            "material": {"youngs_modulus": 1e6, "poisson_ratio": 0.3, "density": 1000}, "mesh": {"resolution": 8},
            "damping": {"mass": 0, "stiffness": 0.01}},
            "contact": {"pointshell": {"points": 400, "levels": 2, "resolution": 32},
                        "field": {"resolution": 32, "proxies": 20}})" +
               more + "}";
    }
    [[nodiscard]] static std::string falling(const std::string& bodies, const std::string& contacts,
                                             const std::string& more = "") {
        return R"({"pliant": 1, "rate": 500, "bodies": [)" + bodies + R"(], "contacts": [)" +
               contacts + "]" + more + "}";
    }
    /// A box, a smaller one above it, and the floor.
    [[nodiscard]] static std::string stack(const std::string& options = R"(, "friction": 0.5)",
                                           const std::string& more = "") {
        return falling(
            box(R"(, "pose": {"position": [0, 0, 0.07]})") + ", " +
                box(R"(, "pose": {"position": [0, 0, 0.17]})", "top", "[0.06, 0.06, 0.06]") + ", " +
                floor(),
            R"({"among": ["box", "top", "floor"])" + options + "}", more);
    }
    [[nodiscard]] static const ContactSolver& solver(const World& world) {
        return *world.loop(0).contact(0).solver();
    }
    [[nodiscard]] static const RigidBody& rigid(const World& world, int i) {
        return dynamic_cast<const RigidBody&>(world.body(i));
    }
    static void set(World& world, const std::string& parameter, double value) {
        ASSERT_GE(world.find_parameter(parameter), 0) << parameter;
        world.apply({.kind = Kind::SetParameter,
                     .parameter = world.find_parameter(parameter),
                     .value = value});
    }
    [[nodiscard]] static std::uint64_t num_not_ok(const World& world) {
        const LoopFrame frame = world.loop(0).make_frame();
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < frame.status_counts.size(); ++i)
            if (i != static_cast<std::size_t>(StepStatus::Ok)) count += frame.status_counts[i];
        return count;
    }

    /// A fork with two tines of 30 mm, 40 mm apart, on a fixed foot, whose tips two hands pull
    /// towards each other.
    [[nodiscard]] std::string fork(const std::string& contacts, const std::string& more = "",
                                   const std::string& held = "fork") {
        using implicit::box;
        save_surface(
            polygonize(implicit::unite({box(Vector3d(-0.05, -0.02, 0), Vector3d(0.05, 0.02, 0.04)),
                                        box(Vector3d(-0.05, -0.02, 0), Vector3d(-0.02, 0.02, 0.24)),
                                        box(Vector3d(0.02, -0.02, 0), Vector3d(0.05, 0.02, 0.24))}),
                       {.resolution = 32}),
            folder / "fork.obj");
        return scene(
            R"({"name": "fork", "reduced": {"surface": "fork.obj", "fixed": "z < 10 %", "modes": 5, "rank": 8,
            "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000}, "mesh": {"resolution": 20},
            "damping": {"mass": 20, "stiffness": 0.01}},
            "contact": {"pointshell": {"points": 3000, "levels": 3, "resolution": 64},
                        "field": {"resolution": 64, "domains": 0}})" +
                more + "}",
            contacts,
            R"(, "script": [
            {"time": 0, "grab": {"body": ")" +
                held +
                R"(", "at": [-0.05, 0, 0.24], "target": [0, 0, 0.24], "duration": 0.3}},
            {"time": 0, "grab": {"body": ")" +
                held +
                R"(", "at": [0.05, 0, 0.24], "target": [0, 0, 0.24], "duration": 0.3, "slot": 1}}])");
    }
};

TEST_F(MovingContactsTest, BoxesFallOnTheFloorAndRestOnEachOther) {
    World world = build(stack());
    double most = INFINITY;
    for (int k = 0; k < 8; ++k) {
        const double energy = world.body(0).energy().total() + world.body(1).energy().total() +
                              kWeight * rigid(world, 0).motion().pose.position.z() +
                              kTopWeight * rigid(world, 1).motion().pose.position.z() +
                              solver(world).statistics().elastic_energy;
        // what contacts hold is that of the start of a tick
        EXPECT_LE(energy, most * (1 + 1e-4)) << "at " << 0.25 * k << " s";
        most = energy;
        world.advance_to(0.25 * (k + 1));
    }
    EXPECT_EQ(num_not_ok(world), 0u);
    EXPECT_LT(world.body(0).energy().total() + world.body(1).energy().total(), 1e-8) << "at rest";
    // ten points carry a face, eq. (6): it sinks in by a twentieth of the spacing and a little more
    const double low = rigid(world, 0).motion().pose.position.z();
    const double high = rigid(world, 1).motion().pose.position.z();
    EXPECT_NEAR(low, 0.5 * kSide, 0.01 * kSide);
    EXPECT_NEAR(high - low, 0.5 * (kSide + kTopSide), 0.01 * kSide);
    // and the floor carries both
    double carried = 0;
    for (const ContactSolver::Contact& c : solver(world).contacts())
        if (c.field == 2) carried += c.force.z();
    EXPECT_NEAR(carried, kWeight + kTopWeight, 1e-3 * kWeight);
}

TEST_F(MovingContactsTest, TheStiffnessIsChosenForEachPair) {
    const World world = build(stack());
    EXPECT_EQ(solver(world).options().stiffness, 0);
    // ten weights press a box into the floor by 0.2 % of its side; ten points have that stiffness
    const double large = 10 * kWeight / (0.002 * kSide) / 10,
                 small = std::max(10 * kTopWeight, 2 * kWeight) / (0.002 * kTopSide) / 10;
    EXPECT_NEAR(solver(world).stiffness(), std::max(large, small), 1e-6 * large);
    const World given = build(stack(R"(, "stiffness": 1234, "iterations": 20)"));
    EXPECT_EQ(solver(given).options().stiffness, 1234);
    EXPECT_EQ(solver(given).options().max_iterations, 20);
}

TEST_F(MovingContactsTest, CopiesShareWhatIsBuilt) {
    const World world =
        build(falling(flying_bar(R"(, "copies": {"counts": [3, 2, 2], "spacing": [1, 1, 1]})"),
                      R"({"among": ["bar"]})"));
    const std::vector<ContactMember>& members = world.loop(0).contact(0).bodies;
    ASSERT_EQ(members.size(), 12u);
    for (const ContactMember& member : members)
        EXPECT_EQ(member.tree->row(0), members[0].tree->row(0)) << member.place;
    // model, points, field: each once
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[1], StartsWith("bar: 4"));
    EXPECT_THAT(lines[2], StartsWith("bar: deformed field of "));
}

TEST_F(MovingContactsTest, AFreeSoftBodyLandsOnARigidOneThatGivesWay) {
    // the bar falls across two boxes that stand on the floor
    World world = build(falling(
        flying_bar(
            R"(, "pose": {"position": [0, 0, 0.17], "rotation": {"axis": [0, 1, 0], "degrees": 90}})") +
            ", " + box(R"(, "pose": {"position": [0, 0, 0.051]},
                 "copies": {"counts": [2, 1, 1], "spacing": [0.25, 1, 1]})") +
            ", " + floor(),
        R"({"among": ["bar", "box", "floor"], "friction": 0.5})"));
    world.advance_to(3);
    EXPECT_EQ(num_not_ok(world), 0u);
    EXPECT_LT(world.body(0).energy().kinetic, 1e-5);
    const auto& bar = dynamic_cast<const ReducedBody&>(world.body(0));
    // on top of the boxes, bent a little
    EXPECT_NEAR(bar.frame().pose.position.z(), kSide + 0.05, 0.006);
    EXPECT_NEAR(rigid(world, 1).motion().pose.position.z(), 0.05, 0.004);
    double weight = 0;
    for (const ContactSolver::Contact& c : solver(world).contacts())
        if (c.shell == 0 || c.field == 0) weight += (c.shell == 0 ? 1 : -1) * c.force.z();
    EXPECT_NEAR(weight, 9.81 * bar.rest_mass()->mass, 0.02 * weight);
}

TEST_F(MovingContactsTest, SlidersChangeTheSolverWhileItRuns) {
    // a box that slides on a slope of 1 : 2 until friction is turned on
    const std::string text =
        R"({"pliant": 1, "rate": 500, "gravity": [4, 0, -8], "bodies": [)" +
        box(R"(, "pose": {"position": [0, 0, 0.05]})") + ", " + floor() +
        R"(], "contacts": [{"among": ["box", "floor"], "name": "slope", "stiffness": 5000, "friction": 0}]})";
    World world = build(text);
    EXPECT_EQ(world.parameter_value(world.find_parameter("slope.stiffness")), 5000);
    EXPECT_EQ(world.find_parameter("slope.nodes"), -1);
    world.advance_to(0.5);
    EXPECT_NEAR(rigid(world, 0).motion().velocity.linear.x(), 2, 0.05) << "slides freely";
    set(world, "slope.friction", 0.7);
    world.advance_to(4);
    const Vector3d held = rigid(world, 0).motion().pose.position;
    EXPECT_LT(rigid(world, 0).motion().velocity.linear.norm(), 1e-5)
        << "is held: without friction it would have 16 m/s";
    world.advance_to(5);
    EXPECT_LT((rigid(world, 0).motion().pose.position - held).norm(), 1e-6) << "and does not creep";
    EXPECT_EQ(solver(world).options().friction, 0.7);

    const double deep = solver(world).statistics().deepest;
    set(world, "slope.stiffness", 50000);
    world.advance_to(6);
    EXPECT_EQ(solver(world).options().stiffness, 50000);
    EXPECT_LT(solver(world).statistics().deepest, 0.3 * deep);
    set(world, "slope.friction", 99);
    EXPECT_EQ(solver(world).options().friction, 2) << "the end of the slider";
    set(world, "slope.stiffness", 1e9);
    EXPECT_EQ(solver(world).options().stiffness, 5e5);
    world.reset();
    EXPECT_EQ(solver(world).options().friction, 2) << "a reset keeps parameters";
}

TEST_F(MovingContactsTest, HasTheSameBitsAfterResetsAndForEveryNumberOfThreads) {
    // enough reduced bodies to step side by side, thrown onto each other
    const std::string text = falling(
        flying_bar(
            R"(, "pose": {"position": [0, 0, 0.7]}, "copies": {"counts": [3, 3, 2], "spacing": [0.13, 0.13, 0.45], "speed": 0.5, "spin": 3})") +
            ", " + floor(),
        R"({"among": ["bar", "floor"], "friction": 0.4})");
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        World world = build(text);
        world.advance_to(0.6);
        EXPECT_GT(solver(world).statistics().num_contacts, 20);
        EXPECT_EQ(num_not_ok(world), 0u);
        hashes.push_back(world.state_hash());
        world.reset();
        EXPECT_EQ(world.loop(0).make_frame().contacts[0].num_nodes, 0) << "nothing to show";
        world.advance_to(0.6);
        EXPECT_EQ(world.state_hash(), hashes.back());
    }
    set_num_threads(0);
    EXPECT_EQ(hashes[0], hashes[1]);
}

TEST_F(MovingContactsTest, AResetForgetsWhatASolverRemembers) {
    // touches from the start, on a slope: anchors and forces of later ticks would be found again
    const std::string text = R"({"pliant": 1, "rate": 500, "gravity": [3, 0, -8], "bodies": [)" +
                             box(R"(, "pose": {"position": [0, 0, 0.0495]})") + ", " + floor() +
                             R"(], "contacts": [{"among": ["box", "floor"], "friction": 0.7}]})";
    World world = build(text);
    world.advance_to(0.3);
    ASSERT_GT(solver(world).statistics().num_contacts, 0);
    world.reset();
    world.advance_to(0.05);
    World fresh = build(text);
    fresh.advance_to(0.05);
    EXPECT_EQ(world.state_hash(), fresh.state_hash());
}

TEST_F(MovingContactsTest, TicksFramesAndSlidersAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    set_num_threads(1);
    World world = build(stack(R"(, "friction": 0.4)"));
    World soft = build(fork(R"({"self": "fork"})"));
    LoopFrame frame = world.loop(0).make_frame(), soft_frame = soft.loop(0).make_frame();
    world.advance_to(0.004);
    soft.advance_to(0.002);
    const int stiffness = world.find_parameter("box+top+floor.stiffness");
    const int nodes = soft.find_parameter("fork/fork.nodes");
    AllocationGuard guard;
    world.advance_to(0.5);
    world.loop(0).fill(frame);
    world.apply({.kind = Kind::SetParameter, .parameter = stiffness, .value = 2000});
    world.advance_to(0.6);
    world.reset();
    world.advance_to(0.01);
    soft.advance_to(0.6);
    soft.loop(0).fill(soft_frame);
    soft.apply({.kind = Kind::SetParameter, .parameter = nodes, .value = 500});
    soft.advance_to(0.61);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(frame.contacts[0].num_contacting, 0);
    EXPECT_GT(soft_frame.contacts[0].num_contacting, 0);
}

TEST_F(MovingContactsTest, FramesShowWhereBodiesTouchAndWithWhatForce) {
    World world = build(stack());
    world.advance_to(2);
    LoopFrame frame = world.loop(0).make_frame();
    const ShownContact& contact = frame.contacts.at(0);
    EXPECT_EQ(contact.shell, -1) << "there are several";
    EXPECT_EQ(contact.field, -1);
    const ContactSolverStatistics& counts = solver(world).statistics();
    EXPECT_EQ(contact.num_pairs, counts.num_pairs);
    EXPECT_EQ(contact.statistics.contacts, counts.num_contacts);
    EXPECT_EQ(contact.statistics.visited, counts.num_visited);
    EXPECT_EQ(contact.deepest, counts.deepest);
    EXPECT_EQ(contact.num_contacting, counts.num_contacts);
    EXPECT_EQ(contact.num_nodes, contact.num_contacting);

    std::vector<ContactMark> marks;
    world.loop(0).contact_marks(frame, 0, marks);
    ASSERT_EQ(static_cast<int>(marks.size()), contact.num_nodes);
    Vector3d sum = Vector3d::Zero();
    for (const ContactMark& mark : marks) {
        EXPECT_TRUE(mark.is_contacting);
        // on the floor, or between the boxes
        EXPECT_LT(std::abs(std::remainder(vector(mark.position).z(), kSide)), 0.02 * kSide);
        sum += vector(mark.force);
    }
    // points of the large box on the floor, points of the small one on the large one
    EXPECT_NEAR(sum.z(), kWeight + 2 * kTopWeight, 0.01 * kWeight);
    EXPECT_LT(sum.head<2>().norm(), 0.01 * kWeight);
}

TEST_F(MovingContactsTest, PlotsSeeTheForceOnWhatAScriptMoves) {
    // a table that rises below a box
    World world = build(falling(
        box(R"(, "pose": {"position": [0, 0, 0.1]})") +
            R"(, {"name": "table", "rigid": {"box": {"sizes": [0.5, 0.5, 0.1]}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0, 0, 0]}, {"time": 1, "position": [0, 0, 0.3]}]}}}})",
        R"({"among": ["box", "table"]})"));
    world.advance_to(2);
    const TickSample& sample = world.loop(0).sample();
    EXPECT_NEAR(sample.force[2], -kWeight, 1e-3 * kWeight);
    EXPECT_NEAR(sample.point[2], 0.3, 1e-9);
    EXPECT_EQ(world.loop(0).make_frame().contacts[0].force, sample.force);
    EXPECT_NEAR(rigid(world, 0).motion().pose.position.z(), 0.4, 1e-3);
}

TEST_F(MovingContactsTest, RecordingsReplayBitForBit) {
    const std::string text = stack(
        R"(, "friction": 0.6)",
        R"(, "script": [{"time": 0.3, "grab": {"body": "top", "at": [0.03, 0, 0.2], "target": [0.2, 0, 0.15], "duration": 0.2}},
           {"time": 0.8, "release": {}}, {"time": 0.9, "set": {"parameter": "box+top+floor.friction", "value": 0.2}}, {"time": 1.1, "reset": true}])");
    World world = build(text);
    {
        const RecordingHeader header = recording_header(world, {}, 500);
        WorldRecorder recorder(folder / "a.pliantrec", world, header);
        for (int k = 0; k < 700; ++k) recorder.add_tick(world, world.advance(), 0);
        recorder.finish();
    }
    const Recording recording = Recording::load(folder / "a.pliantrec");
    World again = build(text);
    again.advance_to(0.45);  // anchors and forces of contact are forgotten
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 1000u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

TEST_F(MovingContactsTest, ABodyThatTouchesItselfPushesBack) {
    World without = build(fork(""));
    World with = build(fork(R"({"self": "fork", "stiffness": 3000})"));
    const SurfacePoint left = with.nearest_point(0, {-0.02, 0, 0.2});
    const SurfacePoint right = with.nearest_point(0, {0.02, 0, 0.2});
    for (World* world : {&without, &with}) world->advance_to(2);
    const auto width = [&](const World& world) {
        return world.body(0).position(right).x() - world.body(0).position(left).x();
    };
    EXPECT_LT(width(without), -0.01) << "tines pass through each other";
    EXPECT_GT(width(with), -0.006) << "and do not where they touch";
    EXPECT_EQ(num_not_ok(with), 0u);
    EXPECT_LT(with.body(0).energy().kinetic, 1e-7) << "at rest";

    const LoopFrame frame = with.loop(0).make_frame();
    const ShownContact& contact = frame.contacts.at(0);
    EXPECT_EQ(contact.shell, 0);
    EXPECT_EQ(contact.field, 0);
    EXPECT_GT(contact.num_contacting, 3);
    EXPECT_GT(contact.num_nodes, contact.num_contacting);
    EXPECT_EQ(contact.statistics.contacts, contact.num_contacting);
    std::vector<ContactMark> marks;
    with.loop(0).contact_marks(frame, 0, marks);
    for (const ContactMark& mark : marks) {
        if (!mark.is_contacting) continue;
        EXPECT_LT(std::abs(vector(mark.position).x()), 0.015) << "between the tines";
        EXPECT_GT(vector(mark.position).z(), 0.1);
        EXPECT_GT(vector(mark.force).norm(), 0);
    }
}

TEST_F(MovingContactsTest, SelfContactHasSlidersAndForgetsAtAReset) {
    const std::string text = fork(R"({"self": "fork", "stiffness": 3000, "nodes": 300})");
    World world = build(text);
    const auto& self = std::get<std::vector<SelfContact>>(world.loop(0).contact(0).kind);
    EXPECT_EQ(world.parameter_value(world.find_parameter("fork/fork.nodes")), 300);
    EXPECT_EQ(world.find_parameter("fork/fork.friction"), -1);
    bool is_truncated = false;
    for (int k = 0; k < 700; ++k) {
        world.advance();
        is_truncated |= self[0].statistics().is_truncated;
        ASSERT_LE(self[0].statistics().visited, 300);
    }
    EXPECT_TRUE(is_truncated) << "the budget matters";
    const std::uint64_t hash = world.state_hash();
    world.reset();
    world.advance_to(0.7);
    EXPECT_EQ(world.state_hash(), hash);

    set(world, "fork/fork.stiffness", 30000);
    set(world, "fork/fork.nodes", 1e9);
    EXPECT_EQ(self[0].options().loads.stiffness, 30000);
    EXPECT_EQ(self[0].options().budget, self[0].tree().num_nodes());
    set(world, "fork/fork.nodes", 1);
    EXPECT_EQ(self[0].options().budget, self[0].tree().level_start(1));
}

TEST_F(MovingContactsTest, CopiesTouchThemselvesEachOnItsOwn) {
    World world = build(fork(R"({"self": "fork"})",
                             R"(, "copies": {"counts": [1, 2, 1], "spacing": [1, 1, 1]},
                                  "pose": {"position": [0, 0.5, 0]})",
                             "fork[0]"));
    const LoopContact& contact = world.loop(0).contact(0);
    ASSERT_EQ(contact.bodies.size(), 2u);
    EXPECT_EQ(contact.bodies[0].tree->row(0), contact.bodies[1].tree->row(0));
    EXPECT_EQ(contact.shell(), -1);
    world.advance_to(1);
    // the hands hold the first one only
    const auto& self = std::get<std::vector<SelfContact>>(contact.kind);
    EXPECT_GT(self[0].contacts().count, 0);
    EXPECT_EQ(self[1].contacts().count, 0);
    LoopFrame frame = world.loop(0).make_frame();
    EXPECT_EQ(frame.contacts[0].statistics.contacts, self[0].contacts().count);
    EXPECT_EQ(frame.contacts[0].statistics.visited,
              self[0].statistics().visited + self[1].statistics().visited);
    EXPECT_EQ(frame.contacts[0].num_pairs, 2);
}

}  // namespace
}  // namespace pliant
