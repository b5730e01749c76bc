// Against libpliant.so, as a program outside would use it.
#include "pliant/pliant_c.h"

#include "core/numbers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "pliant/core/allocation_guard.h"
#include "tests/sample_archives.h"

namespace {

using pliant::kNan;

/// A box of 4 cm in the hand, its lower side 2 mm above a floor; and a bar fixed at one end.
const std::string kPress = R"({"pliant": 1, "name": "press", "gravity": [0, 0, 0], "bodies": [
    {"name": "block", "rigid": {"surface": "block.obj"}, "pose": {"position": [0, 0, 0.022]},
     "contact": {"pointshell": {"points": 800, "levels": 3, "resolution": 32}}},
    {"name": "floor", "rigid": {"ground": {}}},
    {"name": "bar", "reduced": {"shape": "beam", "size": 0.3, "fixed": "x < 5 %", "modes": 4,
        "rank": 4, "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000},
        "mesh": {"kind": "voxel", "resolution": 16}}, "pose": {"position": [0, 1, 0.2]}}],
    "contacts": [{"shell": "block", "field": "floor"}], "tool": {"body": "block"}})";
/// A sphere above a block of finite elements in a slower loop.
const std::string kPoke = R"({"pliant": 1, "name": "poke", "gravity": [0, 0, 0],
    "loops": [{"name": "dynamics", "rate": 250}], "bodies": [
    {"name": "block", "fem": {"box": {"sizes": [0.2, 0.2, 0.2], "cells": [4, 4, 4]},
        "material": {"youngs_modulus": 3e4, "poisson_ratio": 0.35, "density": 1000},
        "fixed": "z < 1 %"}, "loop": "dynamics"}],
    "tool": {"radius": 0.035, "start": [0, 0, 0.237], "loop": "dynamics"}})";

/// A block with its top at z = 0 under what a hand holds 7 mm above: a ball of 5 mm, or a plate of
/// eight of them.
std::string touch(const std::string& held, const std::string& tool) {
    return R"({"pliant": 1, "name": "touch", "gravity": [0, 0, 0], "bodies": [
    {"name": "block", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}},
     "pose": {"position": [0, 0, -0.02]}},
    {"name": "held", "rigid": )" +
           held + R"(, "pose": {"position": [0.001, 0.002, 0.012]}}],
    "tool": {"body": "held", )" +
           tool + "}}";
}
const std::string kProxy = touch(R"({"sphere": {"radius": 0.005}})", R"("proxy": {})");
const std::string kSpheres =
    touch(R"({"box": {"sizes": [0.04, 0.02, 0.01]}})", R"("spheres": {"layout": "plate.json"})");

/// Balls of 5 mm in two rows, linked along the sides of the plate.
std::string plate_layout() {
    std::string particles, links;
    for (int i = 0; i < 8; ++i) {
        particles += std::string(i > 0 ? ", " : "") + R"({"position": [)" +
                     std::to_string(0.01 * (i / 2) - 0.015) + ", " +
                     std::to_string(0.01 * (i % 2) - 0.005) +
                     R"(, 0], "radius": 0.005, "mass": 0.1, "stiffness": 0.6})";
        const auto link = [&](int other) {
            links += std::string(links.empty() ? "" : ", ") + "[" + std::to_string(other) + ", " +
                     std::to_string(i) + "]";
        };
        if (i % 2 == 1) link(i - 1);
        if (i >= 2) link(i - 2);
    }
    return R"({"format": "pliant-particles-1", "particles": [)" + particles + R"(], "links": [)" +
           links + "]}";
}

const char* const kBlock =
    "v -0.02 -0.02 -0.02\nv 0.02 -0.02 -0.02\nv 0.02 0.02 -0.02\nv -0.02 0.02 -0.02\n"
    "v -0.02 -0.02 0.02\nv 0.02 -0.02 0.02\nv 0.02 0.02 0.02\nv -0.02 0.02 0.02\n"
    "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\n"
    "f 4 1 5\nf 4 5 8\n";

/// One folder and one cache for all tests.
class CWorld : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::filesystem::temp_directory_path() / ("pliant-c-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/block.obj") << kBlock;
        std::ofstream(folder + "/plate.json") << plate_layout();
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

    static pliant_options options() {
        static std::string cache;
        cache = folder + "/cache";
        pliant_options result = {};
        result.folder = folder.c_str();
        result.cache = cache.c_str();
        result.scale = 1;
        return result;
    }
    void open(const std::string& text) {
        const pliant_options how = options();
        ASSERT_EQ(pliant_open_text(text.c_str(), &how, &world), PLIANT_OK) << pliant_last_error();
    }
    void TearDown() override { pliant_close(world); }

    /// One tick with the handle so far below its start.
    void tick_at(double depth, double x = 0) {
        pliant_handle handle = {};
        handle.rotation[0] = 1;
        handle.position[0] = x;
        handle.position[2] = -depth;
        ASSERT_EQ(pliant_set_handle(world, &handle), PLIANT_OK) << pliant_last_error();
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    }
    /// Down to a depth in half a second and there for as long.
    void press(double depth) {
        for (int i = 1; i <= 1000; ++i) tick_at(depth * std::min(i / 500.0, 1.0));
    }

    /// The vertex of a body farthest along x, where it was published last.
    int32_t far_end(int32_t body) {
        pliant_surface surface;
        EXPECT_EQ(pliant_get_surface(world, body, &surface), PLIANT_OK);
        EXPECT_EQ(pliant_update_positions(world), PLIANT_OK);
        int32_t end = 0;
        for (int32_t v = 0; v < surface.num_vertices; ++v)
            if (surface.positions[3 * v] > surface.positions[3 * end]) end = v;
        return end;
    }
    /// The model of the bar as the library keeps it, under a name of its own.
    std::string bar_file() {
        open(kPress);
        pliant_close(world);
        world = nullptr;
        const std::string path = folder + "/bar.pliant";
        for (const auto& entry : std::filesystem::directory_iterator(folder + "/cache"))
            if (entry.path().filename().string().starts_with("stage-polynomials-"))
                std::filesystem::copy_file(entry.path(), path,
                                           std::filesystem::copy_options::overwrite_existing);
        return path;
    }
    /// Pushes the end of a bar down and says how far it went [m].
    double sag(int32_t bar) {
        const int32_t end = far_end(bar);
        pliant_surface surface;
        EXPECT_EQ(pliant_get_surface(world, bar, &surface), PLIANT_OK);
        const float before = surface.positions[3 * end + 2];
        const double push[3] = {0, 0, -0.2};
        for (int i = 0; i < 300; ++i) {
            EXPECT_EQ(pliant_add_force(world, bar, end, push), PLIANT_OK);
            EXPECT_EQ(pliant_tick(world), PLIANT_OK);
        }
        EXPECT_EQ(pliant_publish(world), PLIANT_OK);
        EXPECT_EQ(pliant_update_positions(world), PLIANT_OK);
        return before - surface.positions[3 * end + 2];
    }

    inline static std::string folder;
    pliant_world* world = nullptr;
};

TEST_F(CWorld, AHeldToolGivesTheForceOfItsSprings) {
    open(kPress);
    EXPECT_EQ(pliant_get_tool_kind(world), PLIANT_TOOL_HELD);
    EXPECT_EQ(pliant_rate(world), 1000);
    pliant_wrench felt;
    tick_at(0);
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    EXPECT_EQ(felt.force[2], 0);

    press(0.007);
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    pliant_tool tool;
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    pliant_parameter stiffness;
    ASSERT_EQ(
        pliant_get_parameter(world, pliant_find_parameter(world, "tool.stiffness"), &stiffness),
        PLIANT_OK);
    EXPECT_STREQ(stiffness.unit, "N/m");
    // the first reading counts as where the tool was: the hand is 5 mm below the floor
    EXPECT_NEAR(tool.wanted_position[2], 0.015, 1e-9);
    EXPECT_GT(tool.position[2], 0.0195);
    EXPECT_GT(tool.num_contacts, 0);
    EXPECT_NEAR(felt.force[2], stiffness.value * (tool.position[2] - tool.wanted_position[2]),
                0.02 * felt.force[2]);
    EXPECT_NEAR(tool.contact.force[2], felt.force[2], 0.05 * felt.force[2]);
    EXPECT_NEAR(pliant_time(world), 1.001, 1e-9);
}

TEST_F(CWorld, AForgottenOrReleasedHandleFeelsNothing) {
    open(kPress);
    press(0.007);
    pliant_wrench felt;
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    const double before = felt.force[2];
    EXPECT_GT(before, 0.5);
    // 20 ms of patience, 50 ms of ramp
    for (int i = 0; i < 15; ++i) ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    EXPECT_NEAR(felt.force[2], before, 0.1 * before);
    for (int i = 0; i < 70; ++i) ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    EXPECT_EQ(felt.force[2], 0);

    press(0.007);
    ASSERT_EQ(pliant_release_handle(world), PLIANT_OK);
    for (int i = 0; i < 60; ++i) ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    EXPECT_EQ(felt.force[2], 0);
}

TEST_F(CWorld, TheDeviceOfTheCallerLimitsTheForce) {
    pliant_device device;
    pliant_default_device(&device);
    EXPECT_EQ(device.max_force, 8.5);
    device.max_force = device.continuous_force = 0.25;
    pliant_options how = options();
    how.device = &device;
    ASSERT_EQ(pliant_open_text(kPress.c_str(), &how, &world), PLIANT_OK) << pliant_last_error();
    press(0.03);
    pliant_wrench felt;
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    EXPECT_GT(felt.force[2], 0.2);
    EXPECT_LE(felt.force[2], 0.25 + 1e-12);

    device.max_force = kNan;
    pliant_world* other = nullptr;
    EXPECT_EQ(pliant_open_text(kPress.c_str(), &how, &other), PLIANT_BAD_INPUT);
    EXPECT_NE(std::string(pliant_last_error()).find("max_force = nan (expected 0.001 to 1000 N)"),
              std::string::npos)
        << pliant_last_error();
    EXPECT_EQ(other, nullptr);
}

TEST_F(CWorld, ASphereGoesWhereItIsToldInALoopOfItsOwnRate) {
    open(kPoke);
    EXPECT_EQ(pliant_get_tool_kind(world), PLIANT_TOOL_SPHERE);
    pliant_handle handle = {};
    handle.rotation[0] = 1;
    handle.position[2] = 0.222;
    for (int i = 0; i < 400; ++i) {
        ASSERT_EQ(pliant_set_handle(world, &handle), PLIANT_OK);
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    }
    pliant_wrench felt;
    pliant_tool tool;
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    EXPECT_NEAR(tool.position[2], 0.222, 1e-4);
    EXPECT_GT(felt.force[2], 0.1);
    pliant_statistics statistics;
    ASSERT_EQ(pliant_get_statistics(world, &statistics), PLIANT_OK);
    EXPECT_EQ(statistics.ticks, 400u);
    EXPECT_EQ(statistics.steps[0], 2 * 100u);  // block and sphere
}

TEST_F(CWorld, AProxyIsAPointInTheHand) {
    open(kProxy);
    EXPECT_EQ(pliant_get_tool_kind(world), PLIANT_TOOL_HELD);
    press(0.011);
    pliant_wrench felt;
    pliant_tool tool;
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    EXPECT_EQ(tool.num_contacts, 1);
    // the hand is 4 mm too low, the ball lies on the block
    EXPECT_NEAR(tool.wanted_position[2], 0.001, 1e-4);
    EXPECT_NEAR(tool.position[2], 0.005, 1e-4);
    EXPECT_GT(felt.force[2], 0.1);
    for (const double torque : felt.torque) EXPECT_EQ(torque, 0);
    // it turns freely with the hand
    pliant_handle handle = {};
    handle.position[2] = -0.011;
    for (int i = 1; i <= 100; ++i) {  // by 90°
        handle.rotation[0] = std::cos(i * std::numbers::pi / 400);
        handle.rotation[1] = std::sin(i * std::numbers::pi / 400);
        ASSERT_EQ(pliant_set_handle(world, &handle), PLIANT_OK);
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    }
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    for (const double torque : felt.torque) EXPECT_EQ(torque, 0);
    EXPECT_NEAR(tool.rotation[1], std::sqrt(0.5), 1e-6);
    EXPECT_NEAR(tool.position[2], 0.005, 1e-4);
}

TEST_F(CWorld, AToolOfManySpheresTurnsTheHand) {
    open(kSpheres);
    EXPECT_EQ(pliant_get_tool_kind(world), PLIANT_TOOL_HELD);
    press(0.010);
    pliant_wrench felt;
    pliant_tool tool;
    ASSERT_EQ(pliant_get_wrench(world, &felt), PLIANT_OK);
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    EXPECT_EQ(tool.num_contacts, 8);
    EXPECT_NEAR(tool.wanted_position[2], 0.002, 1e-4);
    EXPECT_NEAR(tool.position[2], 0.005, 2e-4);
    EXPECT_GT(felt.force[2], 0.1);
    // a hand that leans to +x about y presses that end down: the block turns it back
    pliant_handle handle = {};
    handle.position[2] = -0.010;
    for (int i = 1; i <= 300; ++i) {
        const double half = 0.05 * std::min(i / 50.0, 1.0);  // as fast as a hand can
        handle.rotation[0] = std::cos(half);
        handle.rotation[2] = std::sin(half);
        ASSERT_EQ(pliant_set_handle(world, &handle), PLIANT_OK);
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    }
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    EXPECT_LT(tool.contact.torque[1], -1e-4);
}

TEST_F(CWorld, ModelFilesOfEveryKindRunAsTheyAre) {
    const std::string greens = folder + "/nodule.pliant", particles = folder + "/swarm.pliant";
    pliant::test::write_greens_sample(greens);
    pliant::test::write_particle_sample(particles);
    struct Row {
        std::string path;
        const char* kind;
        int least_vertices;
        double least_sag;
    };
    for (const Row& row : {Row{bar_file(), "reduced", 100, 1e-3}, Row{greens, "greens", 30, 1e-6},
                           Row{particles, "particles", 8, 1e-3}}) {
        const pliant_options how = options();
        ASSERT_EQ(pliant_open_file(row.path.c_str(), &how, &world), PLIANT_OK)
            << pliant_last_error();
        ASSERT_EQ(pliant_num_bodies(world), 1);
        EXPECT_STREQ(pliant_body_kind(world, 0), row.kind);
        EXPECT_EQ(pliant_get_tool_kind(world), PLIANT_TOOL_NONE);
        pliant_surface surface;
        ASSERT_EQ(pliant_get_surface(world, 0, &surface), PLIANT_OK);
        EXPECT_GE(surface.num_vertices, row.least_vertices);
        EXPECT_GE(surface.num_triangles, row.least_vertices);
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
        EXPECT_GT(sag(0), row.least_sag) << row.kind;
        pliant_close(world);
        world = nullptr;
    }
}

TEST_F(CWorld, ASceneFileFindsItsModelBesideIt) {
    bar_file();
    const std::string path = folder + "/scene.json";
    std::ofstream(path) << R"({"pliant": 1, "name": "file", "gravity": [0, 0, 0], "bodies": [
        {"name": "bar", "model": "bar.pliant", "pose": {"position": [0, 1, 0.2]}}]})";
    ASSERT_EQ(pliant_open_file(path.c_str(), nullptr, &world), PLIANT_OK) << pliant_last_error();
    const int32_t bar = pliant_find_body(world, "bar");
    ASSERT_EQ(bar, 0);
    double end[3];
    ASSERT_EQ(pliant_get_vertex(world, bar, far_end(bar), end), PLIANT_OK);
    EXPECT_NEAR(end[1], 1, 0.1);
    const double from_file = sag(bar);
    pliant_close(world);
    // as the one that a scene builds
    open(kPress);
    EXPECT_NEAR(sag(pliant_find_body(world, "bar")), from_file, 1e-6);
    EXPECT_GT(from_file, 1e-3);
}

TEST_F(CWorld, SurfacesStayWhereTheyAreAndFollowWhatIsPublished) {
    open(kPress);
    const int32_t bar = pliant_find_body(world, "bar");
    ASSERT_EQ(bar, 2);
    EXPECT_EQ(pliant_num_bodies(world), 3);
    EXPECT_STREQ(pliant_body_name(world, 0), "block");
    EXPECT_STREQ(pliant_body_kind(world, bar), "reduced");
    pliant_surface surface;
    ASSERT_EQ(pliant_get_surface(world, bar, &surface), PLIANT_OK);
    ASSERT_GT(surface.num_vertices, 0);
    for (int32_t i = 0; i < 3 * surface.num_triangles; ++i) {
        ASSERT_GE(surface.triangles[i], 0);
        ASSERT_LT(surface.triangles[i], surface.num_vertices);
    }
    ASSERT_EQ(pliant_update_positions(world), PLIANT_OK);
    ASSERT_EQ(pliant_update_normals(world), PLIANT_OK);
    // the free end
    int32_t end = 0;
    for (int32_t v = 0; v < surface.num_vertices; ++v)
        if (surface.positions[3 * v] > surface.positions[3 * end]) end = v;
    const float before = surface.positions[3 * end + 2];
    const double push[3] = {0, 0, -0.2};
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(pliant_add_force(world, bar, end, push), PLIANT_OK);
        ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    }
    ASSERT_EQ(pliant_update_positions(world), PLIANT_OK);
    EXPECT_EQ(surface.positions[3 * end + 2], before);  // nothing was published

    ASSERT_EQ(pliant_publish(world), PLIANT_OK);
    ASSERT_EQ(pliant_update_positions(world), PLIANT_OK);
    ASSERT_EQ(pliant_update_normals(world), PLIANT_OK);
    EXPECT_LT(surface.positions[3 * end + 2], before - 1e-3F);
    double exact[3];
    ASSERT_EQ(pliant_get_vertex(world, bar, end, exact), PLIANT_OK);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(surface.positions[3 * end + i], exact[i], 1e-6);
    const float* n = surface.normals + 3 * end;
    EXPECT_NEAR(std::hypot(n[0], n[1], n[2]), 1, 1e-5);
    pliant_surface again;
    ASSERT_EQ(pliant_get_surface(world, bar, &again), PLIANT_OK);
    EXPECT_EQ(again.positions, surface.positions);
}

TEST_F(CWorld, OneThreadMayDrawWhileAnotherTicks) {
    open(kPress);
    pliant_surface surface;
    ASSERT_EQ(pliant_get_surface(world, 0, &surface), PLIANT_OK);
    std::thread drawing([&] {
        for (int i = 0; i < 200; ++i) {
            pliant_update_positions(world);
            pliant_update_normals(world);
        }
    });
    for (int i = 0; i < 300; ++i) {
        tick_at(0, 1e-5 * i);
        pliant_publish(world);
    }
    drawing.join();
    ASSERT_EQ(pliant_update_positions(world), PLIANT_OK);
    // the handle is followed to a step of its encoders
    EXPECT_NEAR(surface.positions[0], -0.02 + 1e-5 * 299, 3e-5);
}

TEST_F(CWorld, AVertexIsPulledAndLetGo) {
    open(kPress);
    const int32_t bar = pliant_find_body(world, "bar");
    double start[3], force[3];
    ASSERT_EQ(pliant_get_vertex(world, bar, 0, start), PLIANT_OK);
    pliant_surface surface;
    ASSERT_EQ(pliant_get_surface(world, bar, &surface), PLIANT_OK);
    ASSERT_EQ(pliant_update_positions(world), PLIANT_OK);
    int32_t end = 0;
    for (int32_t v = 0; v < surface.num_vertices; ++v)
        if (surface.positions[3 * v] > surface.positions[3 * end]) end = v;
    ASSERT_EQ(pliant_get_vertex(world, bar, end, start), PLIANT_OK);
    const double target[3] = {start[0], start[1], start[2] + 0.01};
    EXPECT_EQ(pliant_drag(world, target), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(), "pliant_drag: nothing is held; call pliant_grab() first");
    ASSERT_EQ(pliant_grab(world, bar, end, start), PLIANT_OK);
    ASSERT_EQ(pliant_drag(world, target), PLIANT_OK);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    double moved[3];
    ASSERT_EQ(pliant_get_vertex(world, bar, end, moved), PLIANT_OK);
    EXPECT_GT(moved[2], start[2] + 0.003);
    ASSERT_EQ(pliant_get_pull(world, force), PLIANT_OK);
    EXPECT_LT(force[2], 0);  // the bar pulls back
    ASSERT_EQ(pliant_let_go(world), PLIANT_OK);
    ASSERT_EQ(pliant_get_pull(world, force), PLIANT_OK);
    EXPECT_EQ(force[2], 0);
}

TEST_F(CWorld, ParametersHaveNamesRangesAndUnits) {
    open(kPress);
    ASSERT_GT(pliant_num_parameters(world), 5);
    for (int32_t i = 0; i < pliant_num_parameters(world); ++i) {
        pliant_parameter one;
        ASSERT_EQ(pliant_get_parameter(world, i, &one), PLIANT_OK);
        EXPECT_EQ(pliant_find_parameter(world, one.name), i);
        EXPECT_LE(one.low, one.value) << one.name;
        EXPECT_LE(one.value, one.high) << one.name;
        EXPECT_GT(std::string(one.help).size(), 0u) << one.name;
    }
    EXPECT_EQ(pliant_find_parameter(world, "no such thing"), -1);
    const int32_t index = pliant_find_parameter(world, "bar.stiffness");
    ASSERT_GE(index, 0);
    pliant_parameter bar;
    ASSERT_EQ(pliant_set_parameter(world, index, 2), PLIANT_OK) << pliant_last_error();
    ASSERT_EQ(pliant_get_parameter(world, index, &bar), PLIANT_OK);
    EXPECT_EQ(bar.value, 2);
    EXPECT_EQ(bar.start, 1);
    EXPECT_EQ(pliant_set_parameter(world, index, 1e9), PLIANT_BAD_ARGUMENT);
    EXPECT_EQ(std::string(pliant_last_error())
                  .find("pliant_set_parameter: bar.stiffness = 1e+09 "
                        "(expected "),
              0u)
        << pliant_last_error();
    EXPECT_EQ(pliant_set_parameter(world, index, kNan), PLIANT_BAD_ARGUMENT);
    EXPECT_EQ(pliant_set_parameter(world, -1, 1), PLIANT_BAD_ARGUMENT);
    ASSERT_EQ(pliant_get_parameter(world, index, &bar), PLIANT_OK);
    EXPECT_EQ(bar.value, 2);
}

TEST_F(CWorld, ARestoredStateGoesOnAsBefore) {
    open(kPress);
    const int32_t bar = pliant_find_body(world, "bar");
    const double push[3] = {0, 0, 0.5};
    const auto run = [&](int ticks) {
        for (int i = 0; i < ticks; ++i) {
            pliant_add_force(world, bar, 0, push);
            pliant_tick(world);
        }
    };
    run(100);
    const std::size_t size = pliant_state_size(world);
    ASSERT_GT(size, 8u);
    std::vector<double> middle(size), end(size), again(size);
    ASSERT_EQ(pliant_save_state(world, middle.data(), size), PLIANT_OK);
    run(100);
    ASSERT_EQ(pliant_save_state(world, end.data(), size), PLIANT_OK);
    ASSERT_EQ(pliant_restore_state(world, middle.data(), size), PLIANT_OK);
    run(100);
    ASSERT_EQ(pliant_save_state(world, again.data(), size), PLIANT_OK);
    EXPECT_EQ(again, end);
    EXPECT_NE(middle, end);

    EXPECT_EQ(pliant_save_state(world, end.data(), size - 1), PLIANT_BAD_ARGUMENT);
    EXPECT_EQ(std::string(pliant_last_error()),
              "pliant_save_state: size = " + std::to_string(size - 1) + " (expected " +
                  std::to_string(size) + ", pliant_state_size())");
    middle[3] = kNan;
    EXPECT_EQ(pliant_restore_state(world, middle.data(), size), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_restore_state: state[3] = nan (expected a finite number)");
    ASSERT_EQ(pliant_save_state(world, end.data(), size), PLIANT_OK);
    EXPECT_EQ(again, end);

    ASSERT_EQ(pliant_reset(world), PLIANT_OK);
    EXPECT_EQ(pliant_time(world), 0);
}

TEST_F(CWorld, TicksAllocateNothing) {
    if (!pliant::AllocationGuard::is_active()) GTEST_SKIP() << "sanitizers own malloc";
    open(kPress);
    press(0.007);
    std::vector<double> state(pliant_state_size(world));
    const int32_t bar = pliant_find_body(world, "bar");
    const int32_t stiffness = pliant_find_parameter(world, "bar.stiffness");
    const double push[3] = {0, 0, 0.1};
    pliant_handle handle = {};
    handle.rotation[0] = 1;
    pliant_handle bad = handle;
    bad.position[1] = kNan;
    pliant_set_handle(world, &bad);  // memory of the thread, once
    pliant::AllocationGuard guard;
    for (int i = 0; i < 100; ++i) {
        handle.position[2] = -0.007 + 1e-5 * i;
        pliant_wrench felt;
        pliant_tool tool;
        double x[3];
        pliant_set_handle(world, &handle);
        pliant_set_handle(world, &bad);
        pliant_add_force(world, bar, 1, push);
        pliant_grab(world, bar, 2, push);
        pliant_drag(world, push);
        pliant_tick(world);
        pliant_get_wrench(world, &felt);
        pliant_get_tool(world, &tool);
        pliant_get_vertex(world, bar, 1, x);
        pliant_get_pull(world, x);
        pliant_publish(world);
        pliant_set_parameter(world, stiffness, 1 + 0.001 * i);
        pliant_save_state(world, state.data(), state.size());
        pliant_restore_state(world, state.data(), state.size());
    }
    pliant_update_positions(world);
    pliant_update_normals(world);
    pliant_statistics statistics;
    pliant_get_statistics(world, &statistics);
    pliant_release_handle(world);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(statistics.ticks, 1100u);
    EXPECT_GT(statistics.p50_us, 0);
}

/// A cube far too soft for its weight, which collapses where it falls, and a ball that passes the
/// floor.
const std::string kTissue = R"({"pliant": 1, "name": "tissue", "bodies": [
    {"name": "floor", "rigid": {"ground": {}}},
    {"name": "soft", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [3, 3, 3]},
        "material": {"preset": "tissue", "youngs_modulus": 300, "law": "st-venant-kirchhoff"}},
        "pose": {"position": [0, 0, 0.1]}},
    {"name": "dust", "rigid": {"sphere": {"radius": 0.0005}, "density": 100},
        "pose": {"position": [1, 0, 1]}}]})";

TEST(CReports, SayWhichBodyIsBeyondUseAndWhatTheSceneWarnsOf) {
    std::vector<std::string> said;
    pliant_options options = {};
    options.cache = "";
    options.data = &said;
    options.say = [](const char* line, void* data) {
        static_cast<std::vector<std::string>*>(data)->emplace_back(line);
    };
    pliant_world* world = nullptr;
    ASSERT_EQ(pliant_open_text(kTissue.c_str(), &options, &world), PLIANT_OK)
        << pliant_last_error();
    ASSERT_EQ(pliant_num_warnings(world), 1);
    const std::string warning = pliant_warning(world, 0);
    EXPECT_NE(warning.find("\"floor\" and \"dust\" pass through each other"), std::string::npos)
        << warning;
    EXPECT_EQ(said, std::vector<std::string>{"warning: " + warning});
    EXPECT_EQ(pliant_warning(world, 1), nullptr);
    EXPECT_EQ(pliant_warning(world, -1), nullptr);
    EXPECT_EQ(pliant_num_warnings(nullptr), 0);

    const int32_t soft = pliant_find_body(world, "soft"), dust = pliant_find_body(world, "dust");
    pliant_body_report report = {};
    ASSERT_EQ(pliant_get_body_report(world, soft, &report), PLIANT_OK);
    EXPECT_EQ(report.condition, PLIANT_WELL);
    EXPECT_NEAR(report.volume, 1, 1e-6);
    EXPECT_NEAR(report.extent, 1, 1e-6);
    EXPECT_EQ(report.smallest_det_f, 1);
    for (int i = 0; i < 2000; ++i) pliant_tick(world);
    ASSERT_EQ(pliant_get_body_report(world, soft, &report), PLIANT_OK);
    EXPECT_EQ(report.condition, PLIANT_COLLAPSED);
    EXPECT_GT(report.volume, 0);
    EXPECT_LT(report.volume, 0.2);
    EXPECT_GT(report.smallest_det_f, 0) << "no element turns inside out";
    EXPECT_LT(report.smallest_det_f, report.volume);
    EXPECT_EQ(report.steps[0], 2000u);
    ASSERT_EQ(pliant_get_body_report(world, dust, &report), PLIANT_OK);
    EXPECT_EQ(report.condition, PLIANT_AWAY);
    EXPECT_NEAR(report.distance, 0.5 * 9.81 * 4, 0.1);
    EXPECT_EQ(pliant_get_body_report(world, 3, &report), PLIANT_BAD_ARGUMENT);
    EXPECT_EQ(pliant_get_body_report(world, soft, nullptr), PLIANT_BAD_ARGUMENT);
    pliant_close(world);
}

}  // namespace
