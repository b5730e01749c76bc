#include "pliant/scene/world.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <limits>
#include <random>

#include "core/temporary_directory.h"
#include "pliant/body/rigid_body.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/reduction/reduced_body.h"
#include "scene/primitive_surfaces.h"
#include "tests/input_error.h"
#include "tests/scene/point_mass_body.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using test::PointWorld;
using Kind = Command::Kind;

Command set(int parameter, double value) {
    return {.kind = Kind::SetParameter, .parameter = parameter, .value = value};
}
Command grab(int body, const std::array<double, 3>& target, int slot = 0) {
    return {.kind = Kind::Grab,
            .slot = slot,
            .body = body,
            .triangle = 0,
            .barycentric = {1, 0, 0},
            .target = target};
}
int held_body(const World& world, int loop, int slot) {
    return world.loop(loop).make_frame().held[static_cast<std::size_t>(slot)].body;
}

TEST(World, ListsParametersOnceWithFullNames) {
    PointWorld points;
    const World world = points.make({1000, 100}, {2, 3});
    EXPECT_GE(world.find_parameter("gravity"), 0);
    EXPECT_GE(world.find_parameter("points0.stiffness"), 0);
    EXPECT_GE(world.find_parameter("points1.stiffness"), 0);
    EXPECT_EQ(world.find_parameter("stiffness"), -1);
    EXPECT_EQ(world.parameters().size(), world.loop(0).parameters().size() + 2);
    EXPECT_EQ(world.find_body("points1[2]"), 4);
    EXPECT_EQ(world.find_body("points1"), -1);
}

TEST(World, ParametersReachAllCopiesAndStayThroughAReset) {
    PointWorld points;
    World world = points.make({1000, 100}, {2, 3});
    const int stiffness = world.find_parameter("points1.stiffness");
    world.apply(set(stiffness, 321));
    world.reset();
    EXPECT_EQ(world.parameter_value(stiffness), 321);
    for (const auto* body : points.bodies[1]) EXPECT_EQ(body->stiffness(), 321);
    for (const auto* body : points.bodies[0]) EXPECT_EQ(body->stiffness(), 100);
    // kept in its range, and nothing that is no number
    world.apply(set(stiffness, 1e9));
    EXPECT_EQ(points.bodies[1][0]->stiffness(), 1000);
    world.apply(set(stiffness, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_EQ(points.bodies[1][0]->stiffness(), 1000);
    EXPECT_EQ(world.parameter_value(stiffness), 1000);
    world.apply(set(-1, 5));
    world.apply(set(12345, 5));
}

TEST(World, GravityIsTheSameInAllLoops) {
    PointWorld points;
    World world = points.make({1000, 100}, {1, 1});
    const int gravity = world.find_parameter("gravity");
    world.apply(set(gravity, 0));
    world.advance_to(0.1);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(points.bodies[static_cast<std::size_t>(i)][0]->x(), Vector3d(0, 3.0 * i, 0));
}

TEST(World, CommandsConcernTheLoopsTheyShould) {
    PointWorld points;
    const World world = points.make({1000, 100}, {1, 1});
    const int stiffness = world.find_parameter("points1.stiffness");
    EXPECT_FALSE(world.concerns(set(stiffness, 1), 0));
    EXPECT_TRUE(world.concerns(set(stiffness, 1), 1));
    EXPECT_TRUE(world.concerns(set(world.find_parameter("gravity"), 1), 1));
    EXPECT_FALSE(world.concerns(grab(2, {}), 0));
    EXPECT_FALSE(world.concerns(grab(-1, {}), 1));
    EXPECT_FALSE(world.concerns({.kind = Kind::MoveTool}, 0));
    for (const Kind kind : {Kind::Drag, Kind::Release, Kind::Reset})
        EXPECT_TRUE(world.concerns({.kind = kind}, 1));
}

TEST(World, ASlotThatTakesABodyOfAnotherLoopLetsGo) {
    PointWorld points;
    World world = points.make({1000, 100}, {1, 1});
    world.apply(grab(0, {0, 0, 1}));
    EXPECT_EQ(held_body(world, 0, 0), 0);
    world.apply(grab(1, {0, 0, 1}));
    EXPECT_EQ(held_body(world, 0, 0), -1);
    EXPECT_EQ(held_body(world, 1, 0), 1);
    world.apply({.kind = Kind::Release});
    EXPECT_EQ(held_body(world, 1, 0), -1);
}

TEST(World, AdvancesTheLoopThatIsFurthestBehind) {
    PointWorld points;
    World world = points.make({1000, 300}, {1, 1});
    std::vector<int> order;
    for (int k = 0; k < 9; ++k) order.push_back(world.advance());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 0, 0, 0, 1, 0, 0, 0}));
    world.advance_to(0.5);
    EXPECT_EQ(world.loop(0).ticks(), 500u);
    EXPECT_EQ(world.loop(1).ticks(), 150u);
    world.advance_to(0.1);  // has been
    EXPECT_EQ(world.loop(0).ticks(), 500u);
}

TEST(World, HashTellsHistoriesApart) {
    PointWorld points;
    World a = points.make({1000, 100}, {1, 1}), b = points.make({1000, 100}, {1, 1});
    EXPECT_EQ(a.state_hash(), b.state_hash());
    a.advance_to(0.2);
    EXPECT_NE(a.state_hash(), b.state_hash());
    b.advance_to(0.2);
    EXPECT_EQ(a.state_hash(), b.state_hash());
    a.apply(grab(1, {0, 3, 1e-12}));
    a.advance_to(0.3);
    b.advance_to(0.3);
    EXPECT_NE(a.state_hash(), b.state_hash());
    a.reset();
    b.reset();
    EXPECT_EQ(a.state_hash(), b.state_hash());
}

ScriptEvent event(double time, Kind kind) {
    ScriptEvent result;
    result.time = time;
    result.kind = kind;
    result.body = "points1[0]";
    return result;
}

TEST(World, AScriptActsBeforeTheTickOfItsTimeInEachLoop) {
    PointWorld points;
    points.scene.script = {event(0.05, Kind::Release), event(0.02, Kind::Grab)};
    points.scene.script[1].at = Vector3d(1, 3, 0);
    points.scene.script[1].target = Vector3d(1, 3, 2);
    World world = points.make({1000, 100}, {1, 1});
    world.advance_to(0.02);
    EXPECT_EQ(held_body(world, 1, 0), -1);
    world.advance_to(0.03);
    EXPECT_EQ(held_body(world, 1, 0), 1);
    world.advance_to(0.06);
    EXPECT_EQ(held_body(world, 1, 0), -1);
    EXPECT_GT(points.bodies[1][0]->x().z(), 1e-4);
    // and again after a reset
    world.reset();
    world.advance_to(0.03);
    EXPECT_EQ(held_body(world, 1, 0), 1);
}

TEST(World, AScriptThatResetsGoesOn) {
    PointWorld points;
    points.scene.script = {event(0.02, Kind::Reset), event(0.03, Kind::SetParameter)};
    points.scene.script[1].parameter = "points0.stiffness";
    points.scene.script[1].value = 7;
    World world = points.make({1000}, {1});
    world.advance_to(0.025);
    EXPECT_EQ(world.loop(0).ticks(), 5u);
    EXPECT_EQ(world.elapsed_ticks(0), 25u);
    world.advance_to(0.04);
    EXPECT_EQ(points.bodies[0][0]->stiffness(), 7);
    EXPECT_EQ(world.loop(0).ticks(), 20u);
}

TEST(World, AScriptThatNamesNothingKnownIsRefused) {
    const auto message = [](const ScriptEvent& wrong) {
        return input_error([&] {
            PointWorld points;
            points.scene.script = {event(0, Kind::Release), wrong};
            (void)points.make({1000, 100}, {1, 1});
        });
    };
    ScriptEvent wrong = event(1, Kind::Grab);
    wrong.body = "point1[0]";
    EXPECT_EQ(message(wrong),
              "script[1].body = \"point1[0]\" (expected did you mean "
              "\"points1[0]\"?)");
    wrong = event(1, Kind::SetParameter);
    wrong.parameter = "gravty";
    EXPECT_NE(message(wrong).find("script[1].parameter = \"gravty\""), std::string::npos);
    EXPECT_NE(message(wrong).find("\"gravity\""), std::string::npos);
    EXPECT_NE(message(event(-1, Kind::Release)).find("script[1].time"), std::string::npos);
}

TEST(World, NearestPointIsThatOfTheQueryOnTheMovedSurface) {
    PointWorld points;
    World world = points.make({1000}, {1});
    world.apply(grab(0, {0, 0, 4}));
    world.advance_to(0.2);
    SurfaceMesh moved = world.body(0).surface();
    for (Vector3d& x : moved.vertices) x += points.bodies[0][0]->x();
    EXPECT_GT(points.bodies[0][0]->x().norm(), 0.1);
    const SurfaceQuery query(moved);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (int k = 0; k < 50; ++k) {
        const Vector3d x(uniform(random), uniform(random), uniform(random));
        const SurfacePoint nearest = world.nearest_point(0, x);
        EXPECT_NEAR((world.body(0).position(nearest) - x).norm(), query.closest(x).distance, 1e-12);
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(world.nearest_point(0, Vector3d(nan, 0, 0)).triangle, -1);
}

// Scenes that are built.

class BuiltWorld : public ::testing::Test {
protected:
    BuiltWorld() { save_surface(box_surface(Vector3d(0.1, 0.1, 0.4)), folder / "bar.obj"); }

    [[nodiscard]] World build(const SceneDescription& scene) {
        lines.clear();
        return World(scene, {.cache = folder / "cache",
                             .say = [this](const std::string& line) { lines.push_back(line); }});
    }
    [[nodiscard]] std::string build_error(const SceneDescription& scene) {
        return input_error([&] { (void)build(scene); });
    }
    /// A bar of 4 × 4 × 16 hexes, held at its foot or free.
    [[nodiscard]] BodyDescription bar(const std::string& name, bool is_free = false) const {
        ReducedRecipe recipe;
        recipe.surface.file = folder / "bar.obj";
        recipe.build.material = isotropic(1e6, 0.3, 1000);  // stands
        recipe.build.mesh.resolution = 8;
        recipe.build.num_modes = 4;
        recipe.build.rank = 6;
        recipe.build.is_free = is_free;
        if (!is_free) recipe.build.fixed = "z < 5 %";
        ReducedSource source;
        source.model = recipe;
        BodyDescription body;
        body.name = name;
        body.source = source;
        return body;
    }
    template <class Shape>
    [[nodiscard]] static BodyDescription rigid(const std::string& name, const Shape& shape,
                                               double density = 0) {
        RigidSource source;
        source.shape = shape;
        source.density = density;
        BodyDescription body;
        body.name = name;
        body.source = source;
        return body;
    }
    [[nodiscard]] static BodyDescription soft_box(const std::string& name) {
        FemSource source;
        source.shape = FemSource::BoxMesh{.sizes = {0.2, 0.2, 0.2}, .cells = {4, 4, 4}};
        source.material = isotropic(1e5, 0.3, 1000);
        BodyDescription body;
        body.name = name;
        body.source = source;
        body.pose.position = Vector3d(0, 0, 0.05);
        return body;
    }
    /// All kinds of bodies in two loops, with a tool and a script.
    [[nodiscard]] SceneDescription everything() const {
        SceneDescription scene;
        scene.loops.push_back({.name = "dynamics", .rate = 250});
        scene.bodies = {bar("bar"), soft_box("soft"), rigid("ground", RigidSource::Ground{}),
                        rigid("ball", RigidSource::Sphere{0.05}, 500), bar("thrown", true)};
        scene.bodies[1].loop = scene.bodies[2].loop = "dynamics";
        scene.bodies[3].pose.position = Vector3d(0, 1, 1);
        scene.bodies[4].copies =
            Copies{.counts = {2, 1, 2}, .spacing = {1, 1, 1}, .speed = 2, .spin = 5};
        scene.tool = ToolDescription{.radius = 0.05,
                                     .start = {0, 0, 0.4},
                                     .speed_limit = 1,
                                     .loop = "dynamics",
                                     .script = std::nullopt};
        ScriptEvent pull;
        pull.time = 0.01;
        pull.body = "bar";
        pull.at = pull.target = Vector3d(0.05, 0, 0.2);
        pull.target.x() += 0.1;
        pull.duration = 0.02;
        ScriptEvent press;
        press.kind = Kind::MoveTool;
        press.target = Vector3d(0, 0, 0.2);
        scene.script = {pull, press};
        return scene;
    }

    test::TemporaryDirectory folder;
    std::vector<std::string> lines;
};

TEST_F(BuiltWorld, KeepsTheOrderOfTheSceneWhateverTheLoopsNeed) {
    const World world = build(everything());
    ASSERT_EQ(world.bodies().size(), 8u);
    EXPECT_EQ(world.bodies()[0].name, "bar");
    EXPECT_EQ(world.bodies()[1].name, "soft");
    EXPECT_EQ(world.bodies()[7].name, "thrown[3]");
    EXPECT_EQ(world.body(1).kind(), "fem");
    EXPECT_EQ(world.body(2).kind(), "rigid");
    EXPECT_EQ(world.body(7).kind(), "reduced");
    // obstacles are stepped first
    EXPECT_EQ(world.bodies()[2].place, 0);
    EXPECT_EQ(world.bodies()[1].place, 1);
    for (int i = 0; i < 8; ++i) {
        const WorldBody& entry = world.bodies()[static_cast<std::size_t>(i)];
        EXPECT_EQ(world.loop(entry.loop).body_of_world()[static_cast<std::size_t>(entry.place)], i);
    }
    EXPECT_EQ(world.loop(0).tool(), nullptr);
    EXPECT_NE(world.loop(1).tool(), nullptr);
    EXPECT_GE(world.find_parameter("thrown.stiffness"), 0);
    EXPECT_GE(world.find_parameter("soft.friction"), 0);
}

TEST_F(BuiltWorld, HasTheSameBitsInEveryRunAndForEveryNumberOfThreads) {
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 1}) {
        set_num_threads(threads);
        World world = build(everything());
        world.advance_to(0.4);
        hashes.push_back(world.state_hash());
        world.reset();
        world.advance_to(0.4);
        EXPECT_EQ(world.state_hash(), hashes.back());
        // something has happened: the tool has pressed, the bar was pulled
        const LoopFrame frame = world.loop(1).make_frame();
        EXPECT_LT(frame.tool_position[2], 0.3);
        EXPECT_EQ(held_body(world, 0, 0), 0);
    }
    set_num_threads(0);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_F(BuiltWorld, AdvancesWithoutAllocation) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    set_num_threads(1);
    World world = build(everything());
    world.advance_to(0.005);
    AllocationGuard guard;
    world.advance_to(0.1);
    world.apply(grab(4, {0, 1, 1}, 2));
    world.advance_to(0.15);
    world.reset();
    world.advance_to(0.01);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
}

TEST_F(BuiltWorld, EqualRecipesShareOneModelAndTheNextStartMapsIt) {
    SceneDescription scene;
    scene.bodies = {bar("a"), bar("b"), bar("c", true)};
    scene.bodies[1].pose.position.x() = 1;
    scene.bodies[2].pose.position.x() = 2;
    {
        const World world = build(scene);
        EXPECT_EQ(world.body(0).display(), world.body(1).display());
        EXPECT_NE(world.body(0).display(), world.body(2).display());
        ASSERT_EQ(lines.size(), 2u);
        EXPECT_TRUE(lines[0].starts_with("a: ")) << lines[0];
        EXPECT_NE(lines[0].find(" hexes · r = 6 · built in "), std::string::npos) << lines[0];
        EXPECT_TRUE(lines[1].starts_with("c: ")) << lines[1];
    }
    const World again = build(scene);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_NE(lines[0].find(" hexes · r = 6 · from the cache, "), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("from the cache"), std::string::npos) << lines[1];
    EXPECT_EQ(again.state_hash(), build(scene).state_hash());
    // the cache has each model once, whoever asks for it
    std::map<std::uintmax_t, int> sizes;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
        if (const Archive archive(entry.path()); archive.kind() == "reduced-model")
            ++sizes[entry.file_size()];
    EXPECT_EQ(sizes.size(), 2u);
    for (const auto& [size, count] : sizes) EXPECT_EQ(count, 1) << size << " bytes";

    // another material, another surface of the same name: built anew
    std::get<ReducedRecipe>(std::get<ReducedSource>(scene.bodies[0].source).model)
        .build.material.density = 500;
    (void)build(scene);
    EXPECT_NE(lines[0].find("built in"), std::string::npos) << lines[0];
    save_surface(box_surface(Vector3d(0.1, 0.1, 0.5)), folder / "bar.obj");
    (void)build(scene);
    for (const std::string& line : lines)
        EXPECT_NE(line.find("built in"), std::string::npos) << line;
}

TEST_F(BuiltWorld, ADamagedCacheFileIsBuiltAnew) {
    SceneDescription scene;
    scene.bodies = {bar("a")};
    const std::uint64_t hash = build(scene).state_hash();
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
        std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
        file.write("damaged", 7);
    }
    EXPECT_EQ(build(scene).state_hash(), hash);
    EXPECT_NE(lines[0].find("built in"), std::string::npos) << lines[0];
}

TEST_F(BuiltWorld, LoadsModelFilesAndTruncatesThem) {
    SceneDescription scene;
    scene.bodies = {bar("a")};
    ReducedSource source = std::get<ReducedSource>(scene.bodies[0].source);
    const auto& recipe = std::get<ReducedRecipe>(source.model);
    build_reduced_model(load_surface(recipe.surface.file), recipe.build)
        .save(folder / "bar.pliant");
    source.model = ModelFile{.path = folder / "bar.pliant", .rank = 4};
    scene.bodies[0].source = source;
    const World world = build(scene);
    EXPECT_NE(lines[0].find("r = 4 · from bar.pliant, "), std::string::npos) << lines[0];
    EXPECT_EQ(world.body(0).display()->state_size(), kPoseFloats + 4);
    source.model = ModelFile{.path = folder / "bat.pliant"};
    scene.bodies[0].source = source;
    const std::string error = build_error(scene);
    EXPECT_TRUE(error.starts_with("body \"a\" (bodies[0]): ")) << error;
    EXPECT_NE(error.find("bat.pliant"), std::string::npos) << error;
}

TEST_F(BuiltWorld, CopiesStandOnAGridAndAreThrownBySeed) {
    SceneDescription scene;
    scene.bodies = {rigid("ball", RigidSource::Sphere{0.1}, 100)};
    scene.bodies[0].pose.position = Vector3d(5, 0, 2);
    scene.bodies[0].copies =
        Copies{.counts = {3, 2, 1}, .spacing = {1, 2, 3}, .speed = 4, .spin = 5};
    const World world = build(scene);
    ASSERT_EQ(world.bodies().size(), 6u);
    EXPECT_EQ(world.bodies()[4].name, "ball[4]");
    const auto motion = [](const World& w, int i) {
        return dynamic_cast<const RigidBody&>(w.body(i)).motion();
    };
    // x fastest, around the pose
    EXPECT_TRUE(motion(world, 0).pose.position.isApprox(Vector3d(4, -1, 2)));
    EXPECT_TRUE(motion(world, 1).pose.position.isApprox(Vector3d(5, -1, 2)));
    EXPECT_TRUE(motion(world, 5).pose.position.isApprox(Vector3d(6, 1, 2)));
    for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(motion(world, i).velocity.linear.norm(), 4, 1e-12);
        EXPECT_NEAR(motion(world, i).velocity.angular.norm(), 5, 1e-12);
        if (i > 0) {
            EXPECT_NE(motion(world, i).velocity.linear, motion(world, 0).velocity.linear);
        }
    }
    EXPECT_EQ(build(scene).state_hash(), world.state_hash());
    scene.seed = 2;
    EXPECT_NE(build(scene).state_hash(), world.state_hash());
}

TEST_F(BuiltWorld, RigidShapesAreSeenWhereTheyAreFelt) {
    SceneDescription scene;
    scene.bodies = {rigid("sphere", RigidSource::Sphere{0.2}),
                    rigid("box", RigidSource::BoxShape{{0.1, 0.2, 0.3}}),
                    rigid("capsule", RigidSource::Capsule{0.1, 0.4}),
                    rigid("wedge", RigidSource::Wedge{{0.3, 0.4, 0.2}}),
                    rigid("ground", RigidSource::Ground{3}),
                    rigid("file", SurfaceSource{folder / "bar.obj", "", 0})};
    std::get<RigidSource>(scene.bodies[5].source).size = 0.8;
    const World world = build(scene);
    for (int i = 0; i < 6; ++i) {
        const auto& body = dynamic_cast<const RigidBody&>(world.body(i));
        for (const Vector3d& x : body.surface().vertices)
            EXPECT_NEAR(body.shape().sample(x).gap, 0, 1e-9) << world.bodies()[std::size_t(i)].name;
    }
    EXPECT_NEAR(bounding_box(world.body(5).surface().vertices).sizes().z(), 0.8, 1e-12);
}

TEST_F(BuiltWorld, BoxesOfFiniteElementsStandOnZero) {
    SceneDescription scene;
    scene.bodies = {soft_box("plain"), soft_box("graded")};
    std::get<FemSource>(scene.bodies[1].source).shape =
        FemSource::BoxMesh{.sizes = {0.2, 0.2, 0.4}, .cells = {8, 8, 8}, .graded_layers = 1};
    for (BodyDescription& body : scene.bodies) body.pose = {};
    const World world = build(scene);
    const Box plain = bounding_box(world.body(0).surface().vertices);
    EXPECT_TRUE(plain.min().isApprox(Vector3d(-0.1, -0.1, 0)));
    EXPECT_TRUE(plain.max().isApprox(Vector3d(0.1, 0.1, 0.2)));
    const Box graded = bounding_box(world.body(1).surface().vertices);
    EXPECT_TRUE(graded.min().isApprox(Vector3d(-0.1, -0.1, 0)));
    EXPECT_TRUE(graded.max().isApprox(Vector3d(0.1, 0.1, 0.4)));
    const auto& body = dynamic_cast<const FemBody&>(world.body(1));
    EXPECT_LT(body.model().mesh().num_elements(), 8 * 8 * 8);

    std::get<FemSource>(scene.bodies[1].source).shape =
        FemSource::BoxMesh{.sizes = {0.2, 0.2, 0.4}, .cells = {8, 8, 4}, .graded_layers = 1};
    EXPECT_EQ(build_error(scene),
              "body \"graded\" (bodies[1]): a graded box needs the same number of cells along all "
              "sides, not 8 × 8 × 4");
}

TEST_F(BuiltWorld, SoftBodiesOfASurfaceAreMeshed) {
    SceneDescription scene;
    scene.bodies = {soft_box("bar")};
    auto& source = std::get<FemSource>(scene.bodies[0].source);
    source.shape = SurfaceSource{folder / "bar.obj", "", 0};
    source.mesh.resolution = 8;
    source.size = 0.2;
    scene.bodies[0].pose = {};
    const World world = build(scene);
    EXPECT_EQ(world.body(0).surface().num_vertices(), 8);
    EXPECT_NEAR(bounding_box(world.body(0).surface().vertices).sizes().z(), 0.2, 1e-12);
}

TEST_F(BuiltWorld, WhatCannotBeBuiltIsNamed) {
    SceneDescription scene;
    scene.bodies = {rigid("floor", RigidSource::Ground{}, 10)};
    EXPECT_EQ(build_error(scene),
              "body \"floor\" (bodies[0]): the ground has no mass; drop \"density\"");
    scene.bodies = {rigid("ball", RigidSource::Sphere{})};
    scene.bodies[0].loop = "hatpic";
    EXPECT_NE(build_error(scene).find("bodies[0].loop = \"hatpic\""), std::string::npos);
    EXPECT_NE(build_error(scene).find("did you mean \"haptic\"?"), std::string::npos);
    scene.bodies = {rigid("ball", RigidSource::Sphere{}, 10)};
    std::get<RigidSource>(scene.bodies[0].source).motion =
        ScriptedMotion::oscillation({}, Vector3d::UnitX(), Vector3d::Zero(), 1);
    EXPECT_NE(build_error(scene).find("by its motion or by forces, not both"), std::string::npos);
    scene.bodies = {rigid("ball", RigidSource::Sphere{-1})};
    EXPECT_TRUE(build_error(scene).starts_with("body \"ball\" (bodies[0]): "));
    scene.bodies = {rigid("ball", RigidSource::Sphere{})};
    scene.bodies[0].copies = Copies{.counts = {1, 0, 1}};
    EXPECT_NE(build_error(scene).find("bodies[0].copies.counts = 0"), std::string::npos);
    scene.bodies = {bar("bar")};
    std::get<ReducedRecipe>(std::get<ReducedSource>(scene.bodies[0].source).model).build.fixed =
        "z < -3";
    EXPECT_TRUE(build_error(scene).starts_with("body \"bar\" (bodies[0]): ")) << build_error(scene);
}

}  // namespace
}  // namespace pliant
