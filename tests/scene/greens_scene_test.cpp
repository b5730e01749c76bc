#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/build_greens.h"
#include "pliant/scene/recording.h"
#include "scene/greens_scenes.h"
#include "scene/primitive_surfaces.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::GreensScenes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GreensScene : public ::testing::Test, protected GreensScenes {
protected:
    static void set(World& world, const std::string& name, double value) {
        const int parameter = world.find_parameter(name);
        ASSERT_GE(parameter, 0) << name;
        world.apply({.kind = Command::Kind::SetParameter, .parameter = parameter, .value = value});
    }
    [[nodiscard]] static const GreensTouch& touch(const World& world, int loop = 0) {
        return *world.loop(loop).contact(0).greens();
    }
    [[nodiscard]] static std::string two_points() {
        return scene(pinch("finger", 1) + "," + pinch("thumb", -1),
                     R"("contacts": [{"greens": "nodule", "points": ["finger", "thumb"],
                                      "friction": 0.5}])");
    }
    [[nodiscard]] static std::string in_hand(const std::string& more = "") {
        return scene(ball("finger"),
                     R"("contacts": [{"greens": "nodule", "points": ["finger"], "friction": 0.4}],
                        "tool": {"body": "finger"}, "device": {"hand": "firm", "tremor": 0.0001})" +
                         more);
    }
    [[nodiscard]] static std::string with_tool(const std::string& more = "") {
        return scene(ball("ball", 0.055, "grasp"),
                     R"("contacts": [{"greens": "nodule", "tools": ["ball"])" + more + "}]",
                     "grasp");
    }
    /// Records `ticks` with sliders moved on the way, and runs it again.
    void expect_same_again(const std::string& text, int ticks,
                           const std::vector<std::pair<std::string, double>>& sliders) {
        World world = build(text);
        {
            WorldRecorder recorder(file("a.pliantrec"), world, recording_header(world));
            for (int k = 0; k < ticks; ++k) recorder.add_tick(world, world.advance(), 1.0);
            recorder.finish();
        }
        const Recording recording = Recording::load(file("a.pliantrec"));
        World again = build(text);
        const ReplayCheck check = check_replay(recording, again);
        EXPECT_GT(check.num_compared, 50u);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
        // a slider makes a difference, so that the check can fail
        World other = build(text);
        for (const auto& [name, value] : sliders) set(other, name, value);
        for (int k = 0; k < ticks; ++k) other.advance();
        EXPECT_NE(other.state_hash(), world.state_hash());
    }
};

TEST_F(GreensScene, IsBuiltOnceAndThenComesFromTheCache) {
    (void)build(two_points());
    EXPECT_THAT(lines, ElementsAre(HasSubstr("nodule: 34 nodes")));
    EXPECT_THAT(lines[0], HasSubstr("built in"));
    (void)build(two_points());
    EXPECT_THAT(lines, ElementsAre(HasSubstr("from the cache")));
}

/// Probed, hidden in parts and inferred, the body resists nearly as it did.
TEST_F(GreensScene, MeasuredBodiesAreTouchedLikeTheOnesTheyWereMeasuredFrom) {
    std::string text = two_points();
    World world = build(text);
    world.advance_to(0.3);
    const double exact = touch(world).load(0).force.norm();
    EXPECT_GT(world.loop(0).make_frame().contacts[0].greens.strain.strain, 0);
    const std::string key = "\"fixed\"";
    text.replace(text.find(key), key.size(),
                 "\"measured\": {\"noise\": 1e-6, \"hidden\": 0.1}, \"fixed\"");
    const std::string points = "\"points\"";
    text.replace(text.find(points), points.size(),
                 "\"detail\": {\"period\": 0.005, \"height\": 1e-4}, \"points\"");
    World measured = build(text);
    EXPECT_THAT(lines, ElementsAre(HasSubstr("built in")));
    measured.advance_to(0.3);
    EXPECT_EQ(touch(measured).body().model().method, GreensMethod::Measured);
    EXPECT_NEAR(touch(measured).load(0).force.norm(), exact, 0.4 * exact);  // 34 vertices
    (void)build(text);
    EXPECT_THAT(lines, ElementsAre(HasSubstr("from the cache")));
}

TEST_F(GreensScene, FingersPressTheBodyInAndFeelItsForce) {
    World world = build(two_points());
    const int body = world.find_body("nodule");
    world.advance_to(0.05);
    EXPECT_EQ(touch(world).load(0).force, Vector3d::Zero());
    EXPECT_EQ(touch(world).body().num_loads(), 0);
    world.advance_to(0.3);
    const Vector3d on_finger = touch(world).load(0).force, on_thumb = touch(world).load(1).force;
    EXPECT_GT(on_finger.x(), 0.05);
    EXPECT_LT(on_thumb.x(), -0.05);
    EXPECT_GT(touch(world).body().num_loads(), 3);
    EXPECT_GT(world.body(body).energy().elastic, 1e-5);
    // the surface is where the finger is, 7 mm further in than at rest
    const SurfacePoint side = build(two_points()).nearest_point(body, Vector3d(0.04, 0.002, 0.03));
    EXPECT_LT(world.body(body).position(side).x(), 0.027);
    // the frame shows the loads where the surface is, and their sum
    const LoopFrame frame = world.loop(0).make_frame();
    std::vector<ContactMark> marks;
    world.loop(0).contact_marks(frame, 0, marks);
    ASSERT_EQ(static_cast<int>(marks.size()), frame.contacts[0].num_nodes);
    Vector3d sum = Vector3d::Zero();
    for (const ContactMark& mark : marks)
        sum += Vector3d(static_cast<double>(mark.force[0]), static_cast<double>(mark.force[1]),
                        static_cast<double>(mark.force[2]));
    EXPECT_LT((sum + on_finger + on_thumb).norm(), 1e-4 * on_finger.norm()) << "float";
    EXPECT_EQ(frame.contacts[0].greens.num_points, 2);
    EXPECT_TRUE(frame.contacts[0].greens.is_there);
}

// The point of a ball is in its middle, and at the surface: it is drawn on it, not half in it.
TEST_F(GreensScene, BallsOfPointsAreDrawnOnTheSurface) {
    World world = build(two_points());
    const auto& points = dynamic_cast<const GreensPoints&>(touch(world));
    const SurfaceQuery surface(points.body().model().surface.mesh);
    LoopFrame frame = world.loop(0).make_frame();
    int first = 0;  // of the finger's numbers
    for (int b = 0; &world.loop(0).body(b) != points.by()[0]; ++b)
        first += world.loop(0).body(b).display()->state_size();
    constexpr double kRadius = 0.01;
    double furthest = 0;
    int num_touching = 0, num_near = 0;
    Vector3d last = Vector3d::Zero();
    for (int k = 0; k < 600; ++k) {
        world.advance();
        const Vector3d tip = points.by()[0]->motion().pose.position;
        const Vector3d offset = points.shown_offset(0);
        const PointContact& contact = points.frame().points[0];
        if (contact.is_touching()) {
            EXPECT_LT((offset - kRadius * contact.normal).norm(), 1e-12) << k;
            ++num_touching;
        } else {
            // nothing of it is inside but what a tick moves it, and far away nothing happens to it
            const double gap = surface.signed_distance(tip);
            EXPECT_GT(surface.signed_distance(tip + offset), kRadius - 6e-5) << k;
            EXPECT_EQ(offset.isZero(), gap >= kRadius) << k;
            num_near += gap < kRadius;
        }
        if (k > 0) furthest = std::max(furthest, (tip + offset - last).norm());
        last = tip + offset;
        world.loop(0).fill(frame);
        const float* const drawn = frame.display.data() + first;
        for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(drawn[axis], last[axis], 1e-8) << k;
    }
    EXPECT_GT(num_touching, 300);
    EXPECT_GT(num_near, 30);
    EXPECT_LT(furthest, 0.3 * kRadius);  // where the normals of triangles become those between them
}

// What a point presses against is the surface as gravity and hands have moved it: the force is that
// of the whole body with the node held where the tip is.
TEST_F(GreensScene, PointsTouchTheBodyWhereGravityAndHandsHaveMovedIt) {
    GreensBuildOptions options;
    options.youngs_modulus = 2e4;
    options.fixed = "z < 1 %";
    const auto model = std::make_shared<const GreensModel>(build_greens_model(
        tet_box(4, 3, 3, Box(Vector3d::Zero(), Vector3d(0.08, 0.06, 0.06))), options));
    const ReferenceProblem& reference = model->reference;
    // every vertex for itself: exact, and symmetric
    GreensBodyOptions exact;
    exact.mask_radius = 1e-6;
    GreensBody body(model, exact);
    const auto vertex_at = [&](const Vector3d& place) {
        const auto& vertices = body.surface().vertices;
        return static_cast<int>(
            std::ranges::min_element(vertices, {},
                                     [&](const Vector3d& one) { return (one - place).norm(); }) -
            vertices.begin());
    };
    const int top = vertex_at({0.04, 0.02, 0.06}), side = vertex_at({0.08, 0.04, 0.04});
    const Vector3d x = body.surface().vertices[at(top)];
    int triangle = 0, corner = 0;
    for (int t = 0; t < body.surface().num_triangles(); ++t)
        for (int k = 0; k < 3; ++k)
            if (body.surface().triangles[at(t)][at(k)] == top) {
                triangle = t;
                corner = k;
            }
    RigidBodyOptions above;
    above.pose = {x + Vector3d(0, 0, 0.002), Quaternion::Identity()};
    RigidBody ball(RigidShape::sphere(0.005), sphere_surface(0.005), above);
    GreensPoints points(body, {&ball}, 10, false);
    body.set_gravity({3, 0, -60});

    // down onto the vertex where it is by now, and on
    Vector3d tip = x, moved = Vector3d::Zero();
    for (int k = 0; k < 600; ++k) {
        body.add_force(SurfacePoint::at_vertex(side), {0.2, 0.1, -0.1});
        moved = body.resting_displacement(triangle, Vector3d::Unit(corner));
        const double height = std::max(2e-3 - 3e-5 * std::max(k - 400, 0), -2e-3);
        tip = x + moved + Vector3d(0, 0, height);
        ball.drive_to({tip, Quaternion::Identity()});
        (void)ball.step(1e-3);
        (void)points.act(1e-3);
        EXPECT_EQ(points.frame().points[0].is_touching(), height < 0) << k << " " << height;
        (void)body.step(1e-3);
    }
    EXPECT_GT(moved.norm(), 1e-3);
    // the same by the capacitance matrix, all loads at once
    CapacitanceSolver solver(reference, UpdateCosts(), {.max_dofs = 3, .max_loads = 100});
    ASSERT_TRUE(solver.set_loads(body.pulled_nodes(), body.pull_tractions()));
    ASSERT_TRUE(solver.set_body_loads(body.body_loads()));
    const int node = model->vertex_nodes[at(model->vertex_offsets[at(top)])];
    std::vector<ChangedDof> held;
    std::vector<double> values;
    for (int axis = 0; axis < 3; ++axis) {
        held.push_back({node, Vector3d::Unit(axis)});
        values.push_back((tip - x)[axis]);
    }
    ASSERT_FALSE(is_refused(solver.solve(held, values)));
    const Vector3d expected = solver.force({&node, 1});
    EXPECT_GT(expected.norm(), 0.01);
    EXPECT_LT((points.frame().points[0].force - expected).norm(), 1e-4 * expected.norm());
}

TEST_F(GreensScene, FrictionIsASliderOfTheContact) {
    World rough = build(two_points()), smooth = build(two_points());
    set(rough, "nodule/finger.friction", 2);
    set(smooth, "nodule/finger.friction", 0);
    for (World* world : {&rough, &smooth}) world->advance_to(0.6);
    // what was touched first is taken along, or slips away below
    const int body = rough.find_body("nodule");
    const SurfacePoint first = build(two_points()).nearest_point(body, {0.04, 0.002, 0.03});
    const auto taken = [&](const World& world) { return world.body(body).position(first).z(); };
    EXPECT_GT(taken(rough), taken(smooth) + 0.003);
}

TEST_F(GreensScene, StiffnessIsASliderOfTheBody) {
    World soft = build(two_points()), stiff = build(two_points());
    set(stiff, "nodule.stiffness", 3);
    for (World* world : {&soft, &stiff}) world->advance_to(0.3);
    EXPECT_LT((3 * touch(soft).load(0).force - touch(stiff).load(0).force).norm(),
              1e-9 * touch(stiff).load(0).force.norm());
    // the same deformation
    const int body = soft.find_body("nodule");
    const auto top = SurfacePoint::on_triangle(3, Vector3d(0.3, 0.3, 0.4));
    EXPECT_LT((soft.body(body).position(top) - stiff.body(body).position(top)).norm(), 1e-12);
}

TEST_F(GreensScene, DrawingAtAnyTimeChangesNoForce) {
    // one world is drawn by another thread as fast as it can, the other never
    World drawn = build(in_hand()), alone = build(in_hand());
    const auto display = drawn.body(0).display();
    TripleBuffer<LoopFrame> frames(drawn.loop(0).make_frame());
    std::atomic<bool> stops = false;
    std::atomic<int> num_drawn = 0;
    std::thread viewer([&] {
        std::vector<float> x(3 * at(drawn.body(0).surface().num_vertices()));
        std::vector<ContactMark> marks;
        while (!stops) {
            if (!frames.update()) continue;
            const LoopFrame& frame = frames.read_slot();
            display->positions(std::span(frame.display).first(at(display->state_size())), x);
            drawn.loop(0).contact_marks(frame, 0, marks);
            ++num_drawn;
        }
    });
    for (int k = 0; k < 600; ++k) {
        drawn.advance();
        alone.advance();
        drawn.loop(0).fill(frames.write_slot());
        frames.publish();
        ASSERT_EQ(drawn.loop(0).haptic_tick()->command.force,
                  alone.loop(0).haptic_tick()->command.force)
            << k;
    }
    stops = true;
    viewer.join();
    EXPECT_GT(num_drawn, 0);
    EXPECT_EQ(drawn.state_hash(), alone.state_hash());
}

TEST_F(GreensScene, StrokesOverTheKidneyAreContinuousAndInsideTheFrictionCone) {
    SceneDescription scene = demo_scene("kidney");
    scene.held_tool.reset();  // the path itself, without a hand
    auto& source = std::get<GreensSource>(scene.bodies[0].source);
    std::get<GreensRecipe>(source.model).levels = 1;
    World world(scene, {.cache = {}});
    const auto& points = dynamic_cast<const GreensPoints&>(touch(world));
    const double friction = *points.friction();
    double stiffness = 0;
    for (int v = 0; v < points.body().surface().num_vertices(); ++v)
        if (!points.body().stiffness().is_rigid(v))
            stiffness = std::max(stiffness, points.body().stiffness().vertex_stiffness(v).norm());
    PointContact last;
    int num_triangles = 0, num_sliding = 0;
    for (int k = 0; k < 4400; ++k) {
        world.advance();
        const PointContact now = points.frame().points[0];
        const double pressure = -now.force.dot(now.normal);
        const Vector3d shear = now.force + pressure * now.normal;
        ASSERT_LE(shear.norm(), friction * pressure * (1 + 1e-12) + 1e-15) << k;
        // no more than the stiffest place makes of the way of the tip
        ASSERT_LE((now.force - last.force).norm(), 3 * stiffness * (now.tip - last.tip).norm())
            << k;
        num_triangles += now.triangle != last.triangle ? 1 : 0;
        num_sliding += now.phase == PointPhase::Sliding ? 1 : 0;
        last = now;
    }
    EXPECT_GT(num_triangles, 8);
    EXPECT_GT(num_sliding, 100);
}

TEST_F(GreensScene, AToolInAHandFeelsThePointItPresses) {
    World world = build(in_hand());
    ASSERT_NE(world.loop(0).haptics(), nullptr);
    double largest = 0, farthest = 0;
    Vector3d last = Vector3d::Zero();
    double jump = 0;
    for (int k = 0; k < 600; ++k) {
        world.advance();
        const HapticTick& tick = *world.loop(0).haptic_tick();
        largest = std::max(largest, tick.command.force.norm());
        jump = std::max(jump, (tick.contact.force - last).norm());
        last = tick.contact.force;
        farthest = std::max(farthest, (tick.tool.position - tick.manipulandum.position).norm());
        ASSERT_TRUE(tick.command.force.allFinite());
    }
    const HapticTick& tick = *world.loop(0).haptic_tick();
    const HapticInfo& info = *world.loop(0).haptics();
    EXPECT_GT(largest, 0.05);
    EXPECT_LE(largest, info.capabilities.max_force);
    EXPECT_EQ(tick.num_contacts, 1);
    EXPECT_GT(tick.contact.force.z(), 0);
    EXPECT_LT(jump, 0.1 * largest) << "continuous";
    // the tool is where the surface is
    const auto& touching = touch(world);
    EXPECT_LT((touching.by()[0]->motion().pose.position - tick.tool.position).norm(), 1e-12);
    // stiffer than the device: the surface gives way less than the hand moves
    EXPECT_GT(farthest, 1e-5);
    // sliders: no depth, no turning
    EXPECT_GE(world.find_parameter("tool.stiffness"), 0);
    EXPECT_LT(world.find_parameter("tool.depth limit"), 0);
    EXPECT_LT(world.find_parameter("tool.turning stiffness"), 0);
    world.reset();
    EXPECT_EQ(world.loop(0).haptic_tick()->num_contacts, 0);
}

// A body that is pulled up under a hand at the limit of its force pays for what the hand is shown,
// not for what its point is pressed with.
TEST_F(GreensScene, ABodyThatMovesUnderAToolPaysForTheForceThatIsShown) {
    World world = build(scene(
        R"({"name": "finger", "rigid": {"sphere": {"radius": 0.01}, "motion": {"path": {"keyframes":
            [{"time": 0, "position": [0.003, 0.002, 0.07]},
             {"time": 0.3, "position": [0.003, 0.002, 0.046]}]}}}})",
        R"("contacts": [{"greens": "nodule", "points": ["finger"], "friction": 2}],
           "tool": {"body": "finger"}, "device": {"hand": "firm", "max_force": 0.02})"));
    world.advance_to(1.5);
    const auto& points = dynamic_cast<const GreensPoints&>(touch(world));
    const HapticTick& tick = *world.loop(0).haptic_tick();
    ASSERT_NEAR(tick.coupling.force.norm(), 0.02, 1e-9);
    ASSERT_GT(tick.contact.force.norm(), 0.05);
    const double margin = tick.port_energy - tick.stored_energy, stored = tick.stored_energy;

    const int body = world.find_body("nodule");
    const SurfacePoint beside =
        world.nearest_point(body, tick.tool.position + Vector3d(0.006, 0, 0));
    Command grab{.kind = Command::Kind::Grab, .body = body, .triangle = beside.triangle};
    std::copy_n(beside.barycentric.data(), 3, grab.barycentric.begin());
    const Vector3d place = world.body(body).position(beside);
    grab.target = {place.x(), place.y(), place.z() + 0.004};
    world.apply(grab);
    Wrench shown = tick.coupling, pressed = tick.contact;
    double work = 0, uncut = 0;
    for (int k = 0; k < 500; ++k) {
        world.advance();
        work += 0.5 * (shown.force + tick.coupling.force).dot(points.led_motion());
        uncut += 0.5 * (pressed.force + tick.contact.force).dot(points.led_motion());
        shown = tick.coupling;
        pressed = tick.contact;
    }
    ASSERT_GT(work, 4e-6);
    ASSERT_GT(uncut, 2.5 * work);
    EXPECT_GT(tick.stored_energy, stored + work) << "the hand pays as well";
    EXPECT_NEAR(tick.port_energy - tick.stored_energy, margin, 0.4 * work);
}

TEST_F(GreensScene, AToolInAHandPullsWithItsButton) {
    World world = build(in_hand(R"(, "script": [
        {"time": 0.35, "tool": {"target": [0.003, 0.002, 0.046], "duration": 0.1, "buttons": 1}},
        {"time": 0.5, "tool": {"target": [0.003, 0.002, 0.062], "duration": 0.2, "buttons": 1}}])"));
    world.advance_to(1.2);
    EXPECT_LT(world.loop(0).haptic_tick()->contact.force.z(), -0.02) << "it pulls the hand back";
    EXPECT_GT(world.loop(0).haptic_tick()->tool.position.z(), 0.0535);
}

TEST_F(GreensScene, ConvexToolsPressNodesOutOfTheWay) {
    World world = build(with_tool());
    world.advance_to(0.3);
    const LoopFrame frame = world.loop(1).make_frame();
    const ShownGreens& shown = frame.contacts[0].greens;
    EXPECT_GT(shown.num_nodes, 0);
    EXPECT_EQ(shown.size, 3 * shown.num_nodes);
    EXPECT_EQ(frame.contacts[0].num_nodes, touch(world, 1).body().num_loads());
    EXPECT_GT(touch(world, 1).load(0).force.z(), 0.01);
    std::uint64_t solved = 0;
    for (const std::uint64_t count : shown.counts) solved += count;
    EXPECT_GT(solved, 2u);
    // what it holds is not inside it
    const auto& body = touch(world, 1).body();
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        EXPECT_GT((body.position(SurfacePoint::at_vertex(v)) -
                   touch(world, 1).by()[0]->motion(TickMoment::Start).pose.position)
                      .norm(),
                  0.01 - 2e-4);
    // forces of the nodes balance that on the ball
    std::vector<ContactMark> marks;
    world.loop(1).contact_marks(frame, 0, marks);
    double sum = 0;
    for (const ContactMark& mark : marks) sum += static_cast<double>(mark.force[2]);
    EXPECT_NEAR(sum, -touch(world, 1).load(0).force.z(), 1e-4);
}

TEST_F(GreensScene, SlidingToolsHoldOneDirectionOfANode) {
    World world = build(with_tool(R"(, "sliding": true)"));
    world.advance_to(0.3);
    const ShownGreens shown = world.loop(1).make_frame().contacts[0].greens;
    EXPECT_GT(shown.num_nodes, 0);
    EXPECT_EQ(shown.size, shown.num_nodes);
}

TEST_F(GreensScene, HandsPullABodyThatToolsHold) {
    World world = build(with_tool());
    world.advance_to(0.3);
    const int body = world.find_body("nodule");
    const SurfacePoint side = world.nearest_point(body, Vector3d(0.03, 0, 0.02));
    Command grab{.kind = Command::Kind::Grab, .body = body, .triangle = side.triangle};
    std::copy_n(side.barycentric.data(), 3, grab.barycentric.begin());
    const Vector3d before = world.body(body).position(side);
    grab.target = {before.x() + 0.004, before.y(), before.z()};
    world.apply(grab);
    world.advance_to(1.5);
    EXPECT_GT(world.body(body).position(side).x(), before.x() + 0.002);
    EXPECT_GT(world.loop(1).make_frame().contacts[0].greens.num_nodes, 0);
}

// Points feel what hands pull, hands what points press: the two come to rest, at the stiffest
// spring of hands too.
TEST_F(GreensScene, PointsFeelWhatHandsPullAndBothComeToRest) {
    for (const double stiffness : {1.0, 10.0}) {
        World world = build(two_points());
        set(world, "pull_stiffness", stiffness);
        world.advance_to(0.7);
        const int body = world.find_body("nodule");
        const Vector3d before = touch(world).load(0).force;
        // next to the finger, and away from it
        const SurfacePoint side = world.nearest_point(body, Vector3d(0.03, 0.012, 0.035));
        Command grab{.kind = Command::Kind::Grab, .body = body, .triangle = side.triangle};
        std::copy_n(side.barycentric.data(), 3, grab.barycentric.begin());
        const Vector3d place = world.body(body).position(side);
        grab.target = {place.x() - 0.004, place.y(), place.z()};
        world.apply(grab);
        world.advance_to(2.5);
        const Vector3d after = touch(world).load(0).force;
        EXPECT_LT(after.x(), 0.98 * before.x()) << stiffness;
        double largest = 0;
        for (int k = 0; k < 200; ++k) {
            world.advance();
            largest = std::max(largest, (touch(world).load(0).force - after).norm());
        }
        EXPECT_LT(largest, 1e-6 * after.norm()) << stiffness;
    }
}

TEST_F(GreensScene, AHandGraspsAndItsLinksMove) {
    const std::string text = scene(
        R"({"name": "glove", "hand": {"closing": {"keyframes": [{"time": 0, "value": 0},
             {"time": 1, "value": 0.8}]}}, "pose": {"position": [0, -0.085, 0.071],
             "rotation": {"axis": [1, 0, 0], "degrees": -90}}, "loop": "grasp"})",
        R"("contacts": [{"greens": "nodule", "tools": ["glove"]}])", "grasp");
    World world = build(text);
    const int tip = world.find_body("glove[9]");
    ASSERT_GE(tip, 0);
    ASSERT_LT(world.find_body("glove[16]"), 0);
    const auto place = [&] {
        return dynamic_cast<const RigidBody&>(world.body(tip)).motion().pose.position;
    };
    const Vector3d first = place();
    int most = 0;
    for (int k = 0; k < 20; ++k) {
        world.advance_to(0.06 * (k + 1));
        most = std::max(most, world.loop(1).make_frame().contacts[0].greens.num_nodes);
    }
    EXPECT_GT((place() - first).norm(), 0.01);
    EXPECT_GT(most, 2);
    world.reset();
    EXPECT_LT((place() - first).norm(), 1e-12);
    expect_same_again(text, 1300, {{"nodule.stiffness", 2}});
}

TEST_F(GreensScene, RecordingsReplayBitForBit) {
    const std::string script = R"(, "script": [
        {"time": 0.1, "set": {"parameter": "nodule.mask_radius", "value": 0.02}},
        {"time": 0.2, "set": {"parameter": "nodule.stiffness", "value": 2}},
        {"time": 0.45, "set": {"parameter": "nodule/finger.friction", "value": 0.1}}])";
    expect_same_again(in_hand(script), 650, {{"nodule.mask_radius", 0.03}});
    expect_same_again(with_tool(), 700, {{"nodule.stiffness", 2}});
}

TEST_F(GreensScene, TicksAllocateNothing) {
    for (const std::string& text : {two_points(), in_hand(), with_tool()}) {
        World world = build(text);
        world.advance_to(0.25);
        AllocationGuard guard;
        for (int k = 0; k < 40; ++k) world.advance();
        EXPECT_EQ(guard.count(), 0u);
    }
}

TEST_F(GreensScene, AModelFileIsASceneOfItsOwn) {
    const World world = build(two_points());
    const auto& body = dynamic_cast<const GreensBody&>(world.body(0));
    save_greens_model(body.model(), file("my.nodule.pliant"));
    const SceneDescription scene = scene_of_model(file("my.nodule.pliant"));
    EXPECT_EQ(scene.bodies[0].name, "my_nodule");
    const World again(scene, {.cache = {}});
    const auto& same = dynamic_cast<const GreensBody&>(again.body(0));
    EXPECT_EQ(same.model().num_nodes(), 34);
    EXPECT_EQ(same.surface().vertices, body.surface().vertices);
}

TEST_F(GreensScene, ErrorsOfBuildingNameTheBody) {
    EXPECT_THAT(test::input_error([&] {
                    (void)build(R"({"pliant": 1, "bodies": [{"name": "lump", "greens":
                        {"shape": "nodule", "levels": 0, "fixed": "z < -3"}}]})");
                }),
                HasSubstr("body \"lump\" (bodies[0]): "));
}

}  // namespace
}  // namespace pliant
