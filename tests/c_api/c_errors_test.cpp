#include "pliant/pliant_c.h"

#include "core/numbers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace {

using pliant::kNan;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;

const char* const kBall = R"({"pliant": 1, "name": "ball", "bodies": [
    {"name": "ball", "rigid": {"sphere": {"radius": 0.1}}}]})";
const char* const kTool = R"({"pliant": 1, "name": "tool", "bodies": [
    {"name": "cube", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [1, 1, 1]},
        "material": "tissue", "fixed": "z < 1 %"}}], "tool": {"radius": 0.1, "start": [0, 0, 1]}})";

/// A ball whose points are built, which is told.
const char* const kPoints = R"({"pliant": 1, "name": "points", "bodies": [
    {"name": "ball", "rigid": {"sphere": {"radius": 0.1}},
        "contact": {"pointshell": {"points": 100, "levels": 2, "resolution": 16}}},
    {"name": "floor", "rigid": {"ground": {}}}], "contacts": [{"shell": "ball", "field": "floor"}]})";

std::string open_error(pliant_source source, const char* text, pliant_status expected,
                       const pliant_options* options = nullptr) {
    pliant_world* world = reinterpret_cast<pliant_world*>(&expected);  // must be overwritten
    EXPECT_EQ(pliant_open(PLIANT_ABI_VERSION, source, text, options, &world), expected);
    EXPECT_EQ(world, nullptr);
    return pliant_last_error();
}

class CErrors : public testing::Test {
protected:
    void open(const char* text) {
        ASSERT_EQ(pliant_open_text(text, nullptr, &world), PLIANT_OK) << pliant_last_error();
    }
    void TearDown() override { pliant_close(world); }
    pliant_world* world = nullptr;
};

TEST_F(CErrors, AnotherAbiVersionIsRefused) {
    EXPECT_EQ(pliant_abi_version(), static_cast<uint32_t>(PLIANT_ABI_VERSION));
    EXPECT_EQ(pliant_open(PLIANT_ABI_VERSION + 1, PLIANT_TEXT, kBall, nullptr, &world),
              PLIANT_BAD_ABI);
    EXPECT_EQ(world, nullptr);
    EXPECT_EQ(pliant_last_error(),
              "the program was compiled with ABI version 2 of pliant_c.h, this library (Pliant " +
                  std::string(pliant_version()) +
                  ") has version 1; compile it again with the header of this library");
}

TEST_F(CErrors, FilesAndScenesThatCannotBeUsedAreNamed) {
    EXPECT_THAT(open_error(PLIANT_FILE, "/nowhere/scene.json", PLIANT_BAD_INPUT),
                HasSubstr("/nowhere/scene.json"));
    EXPECT_THAT(open_error(PLIANT_FILE, "/nowhere/model.pliant", PLIANT_BAD_INPUT),
                HasSubstr("/nowhere/model.pliant"));
    const std::string foreign = testing::TempDir() + "pliant-c-foreign.pliant";
    std::ofstream(foreign) << "only a line of text";
    EXPECT_THAT(open_error(PLIANT_FILE, foreign.c_str(), PLIANT_BAD_INPUT),
                HasSubstr("not a Pliant archive"));
    std::remove(foreign.c_str());
    EXPECT_EQ(open_error(PLIANT_DEMO, "kidny", PLIANT_BAD_INPUT),
              "there is no demo \"kidny\"; did you mean kidney?");
    EXPECT_THAT(open_error(PLIANT_TEXT, "{", PLIANT_BAD_INPUT), StartsWith("scene"));
    EXPECT_EQ(open_error(PLIANT_TEXT, R"({"pliant": 1, "bodis": []})", PLIANT_BAD_INPUT),
              "scene: bodis: unknown key; did you mean \"bodies\"?");
    EXPECT_EQ(open_error(PLIANT_TEXT, nullptr, PLIANT_BAD_ARGUMENT), "pliant_open: text is null");
    EXPECT_EQ(open_error(static_cast<pliant_source>(7), "x", PLIANT_BAD_ARGUMENT),
              "pliant_open: source = 7 (expected PLIANT_FILE, PLIANT_DEMO or PLIANT_TEXT)");
    EXPECT_EQ(pliant_open_text(kBall, nullptr, nullptr), PLIANT_BAD_ARGUMENT);
    pliant_options options = {};
    options.scale = -1;
    EXPECT_EQ(pliant_open_text(kBall, &options, &world), PLIANT_BAD_ARGUMENT);
    EXPECT_THAT(pliant_last_error(),
                StrEq("pliant_open: scale = -1 (expected metres in the scene per metre of handle "
                      "travel, or 0)"));
}

TEST_F(CErrors, WhatTheCallerThrowsDoesNotLeaveTheLibrary) {
    pliant_options options = {};
    options.cache = "";
    const auto error_of = [&](void (*say)(const char*, void*), pliant_status expected) {
        options.say = say;
        return open_error(PLIANT_TEXT, kPoints, expected, &options);
    };
    EXPECT_EQ(error_of([](const char*, void*) { throw std::runtime_error("nobody listens"); },
                       PLIANT_FAILED),
              "pliant_open: nobody listens");
    EXPECT_EQ(error_of([](const char*, void*) { throw std::bad_alloc(); }, PLIANT_OUT_OF_MEMORY),
              "pliant_open: out of memory");
    EXPECT_EQ(error_of([](const char*, void*) { throw 7; }, PLIANT_FAILED),
              "pliant_open: failed for an unknown reason");
    // and nothing of it stays
    options.say = nullptr;
    EXPECT_EQ(pliant_open_text(kPoints, &options, &world), PLIANT_OK) << pliant_last_error();
}

TEST_F(CErrors, NullIsRefusedEverywhere) {
    open(kTool);
    double x[3] = {0, 0, 0};
    pliant_handle handle = {};
    pliant_wrench wrench;
    pliant_tool tool;
    pliant_surface surface;
    pliant_body_report report;
    pliant_statistics statistics;
    pliant_parameter parameter;
    const pliant_status all[] = {pliant_tick(nullptr),
                                 pliant_reset(nullptr),
                                 pliant_get_statistics(nullptr, &statistics),
                                 pliant_get_statistics(world, nullptr),
                                 pliant_set_handle(nullptr, &handle),
                                 pliant_set_handle(world, nullptr),
                                 pliant_release_handle(nullptr),
                                 pliant_get_wrench(nullptr, &wrench),
                                 pliant_get_wrench(world, nullptr),
                                 pliant_get_tool(nullptr, &tool),
                                 pliant_get_tool(world, nullptr),
                                 pliant_get_body_report(nullptr, 0, &report),
                                 pliant_get_body_report(world, 0, nullptr),
                                 pliant_get_surface(nullptr, 0, &surface),
                                 pliant_get_surface(world, 0, nullptr),
                                 pliant_publish(nullptr),
                                 pliant_update_positions(nullptr),
                                 pliant_update_normals(nullptr),
                                 pliant_get_vertex(nullptr, 0, 0, x),
                                 pliant_get_vertex(world, 0, 0, nullptr),
                                 pliant_add_force(nullptr, 0, 0, x),
                                 pliant_add_force(world, 0, 0, nullptr),
                                 pliant_grab(nullptr, 0, 0, x),
                                 pliant_grab(world, 0, 0, nullptr),
                                 pliant_drag(nullptr, x),
                                 pliant_drag(world, nullptr),
                                 pliant_let_go(nullptr),
                                 pliant_get_pull(nullptr, x),
                                 pliant_get_pull(world, nullptr),
                                 pliant_get_parameter(nullptr, 0, &parameter),
                                 pliant_get_parameter(world, 0, nullptr),
                                 pliant_set_parameter(nullptr, 0, 1),
                                 pliant_save_state(nullptr, x, 3),
                                 pliant_save_state(world, nullptr, pliant_state_size(world)),
                                 pliant_restore_state(nullptr, x, 3),
                                 pliant_restore_state(world, nullptr, pliant_state_size(world))};
    for (std::size_t i = 0; i < std::size(all); ++i) EXPECT_EQ(all[i], PLIANT_BAD_ARGUMENT) << i;
    EXPECT_STREQ(pliant_last_error(), "pliant_restore_state: state is null");
    EXPECT_EQ(pliant_rate(nullptr), 0);
    EXPECT_EQ(pliant_time(nullptr), 0);
    EXPECT_EQ(pliant_get_tool_kind(nullptr), PLIANT_TOOL_NONE);
    EXPECT_EQ(pliant_num_bodies(nullptr), 0);
    EXPECT_EQ(pliant_body_name(nullptr, 0), nullptr);
    EXPECT_EQ(pliant_body_kind(nullptr, 0), nullptr);
    EXPECT_EQ(pliant_find_body(nullptr, "x"), -1);
    EXPECT_EQ(pliant_find_body(world, nullptr), -1);
    EXPECT_EQ(pliant_num_parameters(nullptr), 0);
    EXPECT_EQ(pliant_find_parameter(nullptr, "x"), -1);
    EXPECT_EQ(pliant_find_parameter(world, nullptr), -1);
    EXPECT_EQ(pliant_state_size(nullptr), 0u);
    pliant_default_device(nullptr);
    pliant_close(nullptr);
}

TEST_F(CErrors, PlacesThatDoNotExistAreNamed) {
    open(kTool);
    double x[3] = {0, 0, 0};
    EXPECT_EQ(pliant_get_vertex(world, 1, 0, x), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(), "pliant_get_vertex: body = 1 (expected 0 to 0)");
    EXPECT_EQ(pliant_add_force(world, 0, 8, x), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_add_force: vertex = 8 (expected 0 to 7, those of \"cube\")");
    EXPECT_EQ(pliant_grab(world, 0, -1, x), PLIANT_BAD_ARGUMENT);
    EXPECT_EQ(pliant_body_name(world, -1), nullptr);
    EXPECT_EQ(pliant_body_kind(world, 9), nullptr);
    EXPECT_EQ(pliant_demo_name(-1), nullptr);
    EXPECT_EQ(pliant_demo_name(100000), nullptr);
    EXPECT_STREQ(pliant_demo_name(0), "bridge");
}

TEST_F(CErrors, NumbersThatAreNoneChangeNothing) {
    open(kTool);
    pliant_handle handle = {};
    EXPECT_EQ(pliant_set_handle(world, &handle), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_set_handle: rotation has length 0 (expected 1; w, x, y, z, no rotation is "
                 "1, 0, 0, 0)");
    handle.rotation[0] = 1;
    handle.position[1] = kNan;
    EXPECT_EQ(pliant_set_handle(world, &handle), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_set_handle: position[1] = nan (expected a finite number)");
    const double bad[3] = {0, std::numeric_limits<double>::infinity(), 0};
    EXPECT_EQ(pliant_add_force(world, 0, 0, bad), PLIANT_BAD_ARGUMENT);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_add_force: force[1] = inf (expected a finite number)");
    ASSERT_EQ(pliant_tick(world), PLIANT_OK);
    pliant_tool tool;
    ASSERT_EQ(pliant_get_tool(world, &tool), PLIANT_OK);
    EXPECT_EQ(tool.position[2], 1);
}

TEST_F(CErrors, ASceneWithoutToolSaysSo) {
    open(kBall);
    pliant_handle handle = {};
    EXPECT_EQ(pliant_set_handle(world, &handle), PLIANT_NO_TOOL);
    EXPECT_STREQ(pliant_last_error(),
                 "pliant_set_handle: the scene \"ball\" has no tool; give it one with \"tool\", or "
                 "push vertices with pliant_add_force() and pliant_grab()");
    pliant_wrench wrench;
    EXPECT_EQ(pliant_get_wrench(world, &wrench), PLIANT_NO_TOOL);
}

TEST_F(CErrors, EachThreadHasItsOwnLastError) {
    EXPECT_EQ(pliant_tick(nullptr), PLIANT_BAD_ARGUMENT);
    std::string other = "?";
    std::thread([&] { other = pliant_last_error(); }).join();
    EXPECT_EQ(other, "");
    EXPECT_STREQ(pliant_last_error(), "pliant_tick: world is null");
}

// A change here is another PLIANT_ABI_VERSION: every constant, member and function of the header.
static_assert(PLIANT_ABI_VERSION == 1);
static_assert(sizeof(pliant_status) == 4 && PLIANT_OK == 0 && PLIANT_BAD_ARGUMENT == 1 &&
              PLIANT_BAD_INPUT == 2 && PLIANT_BAD_ABI == 3 && PLIANT_NO_TOOL == 4 &&
              PLIANT_OUT_OF_MEMORY == 5 && PLIANT_FAILED == 6);
static_assert(sizeof(pliant_source) == 4 && PLIANT_FILE == 0 && PLIANT_DEMO == 1 &&
              PLIANT_TEXT == 2 && PLIANT_SOURCE_LARGEST == 0x7fffffff);
static_assert(sizeof(pliant_tool_kind) == 4 && PLIANT_TOOL_NONE == 0 && PLIANT_TOOL_HELD == 1 &&
              PLIANT_TOOL_SPHERE == 2);
static_assert(sizeof(pliant_device) == 104 && offsetof(pliant_device, workspace) == 0 &&
              offsetof(pliant_device, max_force) == 24 &&
              offsetof(pliant_device, max_torque) == 32 &&
              offsetof(pliant_device, continuous_force) == 40 &&
              offsetof(pliant_device, max_stiffness) == 48 &&
              offsetof(pliant_device, max_angular_stiffness) == 56 &&
              offsetof(pliant_device, damping) == 64 &&
              offsetof(pliant_device, angular_damping) == 72 &&
              offsetof(pliant_device, delay) == 80 &&
              offsetof(pliant_device, position_step) == 88 &&
              offsetof(pliant_device, angle_step) == 96);
static_assert(sizeof(pliant_options) == 48 && offsetof(pliant_options, folder) == 0 &&
              offsetof(pliant_options, cache) == 8 && offsetof(pliant_options, say) == 16 &&
              offsetof(pliant_options, data) == 24 && offsetof(pliant_options, device) == 32 &&
              offsetof(pliant_options, scale) == 40);
static_assert(
    sizeof(pliant_statistics) == 112 && offsetof(pliant_statistics, ticks) == 0 &&
    offsetof(pliant_statistics, time) == 8 && offsetof(pliant_statistics, mean_us) == 16 &&
    offsetof(pliant_statistics, p50_us) == 24 && offsetof(pliant_statistics, p99_us) == 32 &&
    offsetof(pliant_statistics, p999_us) == 40 && offsetof(pliant_statistics, max_us) == 48 &&
    offsetof(pliant_statistics, overlong) == 56 && offsetof(pliant_statistics, steps) == 64);
static_assert(sizeof(pliant_condition) == 4 && PLIANT_WELL == 0 && PLIANT_COLLAPSED == 1 &&
              PLIANT_INSIDE_OUT == 2 && PLIANT_STRETCHED == 3 && PLIANT_AWAY == 4);
static_assert(sizeof(pliant_body_report) == 88 && offsetof(pliant_body_report, steps) == 0 &&
              offsetof(pliant_body_report, volume) == 48 &&
              offsetof(pliant_body_report, extent) == 56 &&
              offsetof(pliant_body_report, distance) == 64 &&
              offsetof(pliant_body_report, smallest_det_f) == 72 &&
              offsetof(pliant_body_report, condition) == 80 &&
              offsetof(pliant_body_report, reserved) == 84);
static_assert(sizeof(pliant_handle) == 112 && offsetof(pliant_handle, position) == 0 &&
              offsetof(pliant_handle, rotation) == 24 && offsetof(pliant_handle, velocity) == 56 &&
              offsetof(pliant_handle, angular_velocity) == 80 &&
              offsetof(pliant_handle, buttons) == 104 && offsetof(pliant_handle, reserved) == 108);
static_assert(sizeof(pliant_wrench) == 48 && offsetof(pliant_wrench, force) == 0 &&
              offsetof(pliant_wrench, torque) == 24);
static_assert(sizeof(pliant_tool) == 176 && offsetof(pliant_tool, position) == 0 &&
              offsetof(pliant_tool, rotation) == 24 &&
              offsetof(pliant_tool, wanted_position) == 56 &&
              offsetof(pliant_tool, wanted_rotation) == 80 &&
              offsetof(pliant_tool, contact) == 112 && offsetof(pliant_tool, depth) == 160 &&
              offsetof(pliant_tool, num_contacts) == 168 && offsetof(pliant_tool, reserved) == 172);
static_assert(sizeof(pliant_surface) == 32 && offsetof(pliant_surface, positions) == 0 &&
              offsetof(pliant_surface, normals) == 8 && offsetof(pliant_surface, triangles) == 16 &&
              offsetof(pliant_surface, num_vertices) == 24 &&
              offsetof(pliant_surface, num_triangles) == 28);
static_assert(sizeof(pliant_parameter) == 64 && offsetof(pliant_parameter, name) == 0 &&
              offsetof(pliant_parameter, label) == 8 && offsetof(pliant_parameter, unit) == 16 &&
              offsetof(pliant_parameter, help) == 24 && offsetof(pliant_parameter, value) == 32 &&
              offsetof(pliant_parameter, start) == 40 && offsetof(pliant_parameter, low) == 48 &&
              offsetof(pliant_parameter, high) == 56);

template <class Function, class Signature>
constexpr bool kIs = std::is_same_v<Function, Signature>;
static_assert(kIs<decltype(pliant_abi_version), uint32_t()>);
static_assert(kIs<decltype(pliant_version), const char*()>);
static_assert(kIs<decltype(pliant_last_error), const char*()>);
static_assert(kIs<decltype(pliant_default_device), void(pliant_device*)>);
static_assert(kIs<decltype(pliant_open), pliant_status(uint32_t, pliant_source, const char*,
                                                       const pliant_options*, pliant_world**)>);
static_assert(kIs<decltype(pliant_close), void(pliant_world*)>);
static_assert(kIs<decltype(pliant_demo_name), const char*(int32_t)>);
static_assert(kIs<decltype(pliant_rate), double(const pliant_world*)>);
static_assert(kIs<decltype(pliant_time), double(const pliant_world*)>);
static_assert(kIs<decltype(pliant_tick), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_reset), pliant_status(pliant_world*)>);
static_assert(
    kIs<decltype(pliant_get_statistics), pliant_status(const pliant_world*, pliant_statistics*)>);
static_assert(kIs<decltype(pliant_get_tool_kind), pliant_tool_kind(const pliant_world*)>);
static_assert(kIs<decltype(pliant_set_handle), pliant_status(pliant_world*, const pliant_handle*)>);
static_assert(kIs<decltype(pliant_release_handle), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_get_wrench), pliant_status(const pliant_world*, pliant_wrench*)>);
static_assert(kIs<decltype(pliant_get_tool), pliant_status(const pliant_world*, pliant_tool*)>);
static_assert(kIs<decltype(pliant_num_bodies), int32_t(const pliant_world*)>);
static_assert(kIs<decltype(pliant_body_name), const char*(const pliant_world*, int32_t)>);
static_assert(kIs<decltype(pliant_body_kind), const char*(const pliant_world*, int32_t)>);
static_assert(kIs<decltype(pliant_find_body), int32_t(const pliant_world*, const char*)>);
static_assert(kIs<decltype(pliant_num_warnings), int32_t(const pliant_world*)>);
static_assert(kIs<decltype(pliant_warning), const char*(const pliant_world*, int32_t)>);
static_assert(kIs<decltype(pliant_get_body_report),
                  pliant_status(const pliant_world*, int32_t, pliant_body_report*)>);
static_assert(kIs<decltype(pliant_get_surface),
                  pliant_status(const pliant_world*, int32_t, pliant_surface*)>);
static_assert(kIs<decltype(pliant_publish), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_update_positions), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_update_normals), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_get_vertex),
                  pliant_status(const pliant_world*, int32_t, int32_t, double*)>);
static_assert(
    kIs<decltype(pliant_add_force), pliant_status(pliant_world*, int32_t, int32_t, const double*)>);
static_assert(
    kIs<decltype(pliant_grab), pliant_status(pliant_world*, int32_t, int32_t, const double*)>);
static_assert(kIs<decltype(pliant_drag), pliant_status(pliant_world*, const double*)>);
static_assert(kIs<decltype(pliant_let_go), pliant_status(pliant_world*)>);
static_assert(kIs<decltype(pliant_get_pull), pliant_status(const pliant_world*, double*)>);
static_assert(kIs<decltype(pliant_num_parameters), int32_t(const pliant_world*)>);
static_assert(kIs<decltype(pliant_get_parameter),
                  pliant_status(const pliant_world*, int32_t, pliant_parameter*)>);
static_assert(kIs<decltype(pliant_find_parameter), int32_t(const pliant_world*, const char*)>);
static_assert(kIs<decltype(pliant_set_parameter), pliant_status(pliant_world*, int32_t, double)>);
static_assert(kIs<decltype(pliant_state_size), size_t(const pliant_world*)>);
static_assert(
    kIs<decltype(pliant_save_state), pliant_status(const pliant_world*, double*, size_t)>);
static_assert(
    kIs<decltype(pliant_restore_state), pliant_status(pliant_world*, const double*, size_t)>);

}  // namespace
