// Energy at the port of tools whose force has a limit, on bodies that move; docs/haptics.md
// section "Energy at the port".
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pliant/core/allocation_guard.h"
#include "scene/proxy_scenes.h"
#include "scene/spheres_scenes.h"
#include "scene/touching_spheres.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::proxy_scene, test::proxy_tick, test::spheres_scene;

/// A body that swings by itself, or gives way, with its top near z = 0 and nothing else around.
struct MovingKind {
    const char* name;
    const char* body;
};
const MovingKind kMovingKinds[] = {
    {"rigid", R"({"name": "body", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]},
                  "motion": {"oscillation": {"amplitude": [0, 0, 0.004], "frequency": 1.5}}},
                  "pose": {"position": [0, 0, -0.02]}})"},
    {"particles", R"({"name": "body", "particles": {"ball": {"radius": 0.04}, "count": 60,
                      "damping": 2, "held": [{"where": "z < 30 %", "motion": {"oscillation":
                      {"amplitude": [0, 0, 0.004], "frequency": 1.5}}}]},
                      "pose": {"position": [0, 0, -0.04]}})"},
    {"fem", R"({"name": "body", "fem": {"box": {"sizes": [0.08, 0.08, 0.04], "cells": [4, 4, 2]},
                "material": {"youngs_modulus": 2e4, "poisson_ratio": 0.3, "density": 1000},
                "fixed": "z < 1 %", "damping": {"mass": 20}}, "pose": {"position": [0, 0, -0.04]}})"},
    {"reduced", R"({"name": "body", "reduced": {"shape": {"name": "beam", "resolution": 10}, "elements": "plain",
                    "size": 0.2, "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3,
                    "density": 1000}, "fixed": "x < 10 %", "mesh": {"resolution": 10},
                    "modes": 4, "rank": 6}, "pose": {"position": [-0.05, 0, -0.04]}})"},
    {"greens",
     R"({"name": "body", "greens": {"pad": {"length": 0.06, "width": 0.04, "height": 0.02},
                   "material": {"youngs_modulus": 2e4, "poisson_ratio": 0.3, "density": 1000},
                   "fixed": "z < 20 %"}, "pose": {"position": [-0.03, 0, 0]}})"},
};

class BooksOnKinds : public testing::TestWithParam<MovingKind> {
protected:
    BooksOnKinds()
        : world(parse_scene(std::string(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)") +
                                GetParam().body + "]}",
                            "scene.json"),
                {.cache = {}}) {
        for (int v = 0; v < body().surface().num_vertices(); ++v) {
            const Vector3d x = body().position(SurfacePoint::at_vertex(v));
            if (std::hypot(x.x(), x.y()) < 0.05) top = std::max(top, x.z());
        }
    }
    [[nodiscard]] Body& body() { return world.loop(0).body(0); }
    [[nodiscard]] std::vector<TouchedBody> bodies() { return {{&body(), 0, "body", std::nullopt}}; }
    /// Down into the body, where it is held for two seconds and wanders, and up again.
    [[nodiscard]] Pose hand(double time) const {
        const double in = std::clamp(time / 0.5, 0.0, 1.0) - std::clamp((time - 2) / 0.5, 0.0, 1.0);
        return {{0.001 + 0.002 * std::sin(4 * time), 0.002 + 0.001 * std::sin(7 * time),
                 top + 0.012 - 0.016 * in},
                Quaternion::Identity()};
    }
    World world;
    double top = -1;
};
INSTANTIATE_TEST_SUITE_P(All, BooksOnKinds, testing::ValuesIn(kMovingKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// Both ends of the springs that a tool shows, beside what they store: slowly, tick by tick.
struct Balance {
    double hand = 0, bodies = 0, turnover = 0, stored = 0;
    int num_cut = 0;
    Wrench last;

    void add(const ShownSprings& shown, const Vector3d& shift, double work) {
        const double put_in = -0.5 * (last.force + shown.wrench.force).dot(shift);
        hand += put_in;
        bodies += work;
        turnover += std::abs(put_in) + std::abs(work);
        stored = shown.energy;
        num_cut += shown.shift_part < 1;
        last = shown.wrench;
    }
};

TEST_P(BooksOnKinds, WhatHandAndBodyPutIntoTheSpringOfAProxyIsWhatItStores) {
    ProxyTuning tuning{.stiffness = 150, .max_force = 0.3};
    TouchingSphere sphere(bodies(), {}, hand(0).position, 0);
    Balance balance;
    double worst = 0, most = 0;
    for (int k = 1; k <= 2600; ++k) {
        const Pose now = hand(1e-3 * k), before = hand(1e-3 * (k - 1));
        static_cast<void>(sphere.tick(now.position, tuning));
        balance.add(sphere.shown(), now.position - before.position, sphere.work());
        worst = std::max(worst, std::abs(balance.hand + balance.bodies - balance.stored));
        most = std::max(most, balance.stored);
        world.advance();
    }
    EXPECT_GT(balance.num_cut, 500) << "the force reached its limit";
    EXPECT_GT(most, 2e-4);
    EXPECT_LT(worst, 0.02 * balance.turnover) << most;
    EXPECT_EQ(balance.stored, 0);
}

TEST_P(BooksOnKinds, WhatHandAndBodyPutIntoTheSpringsOfManySpheresIsWhatTheyStore) {
    ProxyTuning tuning{
        .stiffness = 150, .angular_stiffness = 0.1, .max_force = 0.3, .max_torque = 10};
    TouchingSpheres spheres(bodies(), test::plate_spheres(), {.is_rigid = true}, hand(0), 0);
    Balance balance;
    double worst = 0, most = 0;
    for (int k = 1; k <= 2600; ++k) {
        const Pose now = hand(1e-3 * k), before = hand(1e-3 * (k - 1));
        static_cast<void>(spheres.tick(now, tuning));
        balance.add(spheres.shown(), now.position - before.position, spheres.work());
        worst = std::max(worst, std::abs(balance.hand + balance.bodies - balance.stored));
        most = std::max(most, balance.stored);
        world.advance();
    }
    EXPECT_GT(most, 1e-4);
    EXPECT_LT(worst, 0.05 * balance.turnover) << most;
    EXPECT_EQ(balance.stored, 0);
}

/// Least W − S of a scene with a tool, and what it stored most.
struct PortBook {
    double least = 0, most = 0, end = 0, largest_force = 0;
};
PortBook book_of(const std::string& text, double seconds, const char* knob = nullptr,
                 double value = 0) {
    World world(parse_scene(text, "scene.json"), {.cache = {}});
    if (knob)
        world.apply({.kind = Command::Kind::SetParameter,
                     .parameter = world.find_parameter(knob),
                     .value = value});
    PortBook book;
    for (int k = 0; k * world.loop(0).dt() < seconds; ++k) {
        world.advance();
        const HapticTick& tick = proxy_tick(world);
        book.end = tick.port_energy - tick.stored_energy;
        book.least = std::min(book.least, book.end);
        book.most = std::max(book.most, tick.stored_energy);
        book.largest_force = std::max(book.largest_force, tick.command.force.norm());
    }
    return book;
}

/// A box whose top rises from 20 mm below by 40 mm and sinks again, pushing what a hand holds.
const std::string kLift = R"({"name": "lift", "rigid": {"box": {"sizes": [0.1, 0.1, 0.04]},
    "motion": {"oscillation": {"amplitude": [0, 0, 0.02], "frequency": 0.5}}},
    "pose": {"position": [0, 0, -0.02]})";

/// The finger of a proxy or plate of spheres is 5 mm below where the top of the box is at rest.
TEST(EnergyBooks, ABodyThatLiftsTheHandPaysForIt) {
    const PortBook one = book_of(proxy_scene(kLift + "}"), 6);
    EXPECT_GT(one.most, 5e-3);
    EXPECT_GT(one.least, -1e-3);
    const PortBook many = book_of(spheres_scene(kLift + "}"), 6);
    EXPECT_GT(many.most, 5e-3);
    EXPECT_GT(many.least, -1e-3);
}

/// The finger goes `depth` into a block that does not move, and back.
std::string pressed(const std::string& kind, const std::string& tool) {
    return R"({"pliant": 1, "bodies": [{"name": "block", "rigid": {"box": {"sizes":
        [0.2, 0.2, 0.1]}}, "pose": {"position": [0, 0, -0.05]}}, {"name": "finger", "rigid":
        {"sphere": {"radius": 0.008}, "motion": {"path": {"keyframes": [{"time": 0, "position":
        [0.01, 0.003, 0.03]}, {"time": 1, "position": [0.01, 0.003, -0.05]}, {"time": 1.3,
        "position": [0.01, 0.003, -0.05]}, {"time": 2.3, "position": [0.01, 0.003, 0.03]}]}}}}],
        "tool": {"body": "finger", "scale": 1, "passivity": false, )" +
           kind + tool + R"(}, "device": {"hand": "firm"}})";
}

TEST(EnergyBooks, ALimitOfTheForceIsALimitOfWhatIsStored) {
    for (const char* kind : {R"("proxy": {})", R"("spheres": {"count": 1, "rigid": true})"}) {
        const PortBook book = book_of(pressed(kind, ""), 2.5);
        EXPECT_GT(book.largest_force, 8) << kind << ": as much as the device has";
        EXPECT_GT(book.most, 0.1);
        EXPECT_GT(book.least, -1e-3) << kind;
    }
}

/// A crumpled cloth leaves the proxy no room and lets it go again: what was withheld comes back.
TEST(EnergyBooks, WhatComesBackAfterASqueezeIsPaidFor) {
    World world(demo_scene("cloth-catch"), {.cache = {}});
    double least = 0;
    int num_squeezed = 0;
    for (int k = 0; k * world.loop(0).dt() < 12; ++k) {
        world.advance();
        const HapticTick& tick = proxy_tick(world);
        least = std::min(least, tick.port_energy - tick.stored_energy);
        num_squeezed += tick.status == StepStatus::NotConverged;
    }
    EXPECT_GT(num_squeezed, 20);
    EXPECT_GT(least, -5e-3);
}

/// The loop is active where its springs are too stiff for the device and nothing damps it.
TEST(EnergyBooks, ASpringThatIsTooStiffIsFoundOut) {
    for (const char* kind : {R"("proxy": {})", R"("spheres": {"count": 1, "rigid": true})"}) {
        std::string text = pressed(kind, R"(, "damping_injection": false, "back_off": false)");
        const auto firm = text.find("firm");
        text.replace(firm, 4, "loose");
        const PortBook calm = book_of(text, 2.5);
        EXPECT_GT(calm.least, -2e-3) << kind;
        const PortBook wild = book_of(text, 2.5, "tool.stiffness", 4000);
        EXPECT_LT(wild.least, -0.02) << kind;
    }
}

}  // namespace
}  // namespace pliant
