#pragma once

#include <string>

#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

namespace pliant::test {

/// A sphere of 5 mm in a hand above a body whose top is at z = 0: it comes down to `depth` below.
inline std::string proxy_scene(const std::string& body, const std::string& proxy = "",
                               const std::string& sphere = "", const std::string& more = "",
                               double depth = 0.004) {
    const std::string end = std::to_string(0.005 - depth);
    return R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)" + body + R"(,
        {"name": "finger", "rigid": {"sphere": {"radius": 0.005}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0.001, 0.002, 0.012]},
            {"time": 0.3, "position": [0.001, 0.002, )" +
           end + R"(]}]}}})" + sphere + R"(}],
        "tool": {"body": "finger", "proxy": {)" +
           proxy + R"(}}, "device": {"hand": "firm"})" + more + "}";
}

inline const std::string kRigidBlock =
    R"({"name": "block", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}},
        "pose": {"position": [0, 0, -0.02]}})";
inline const std::string kSlowBlock =
    R"({"name": "block", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}}, "loop": "slow",
        "pose": {"position": [0, 0, -0.02]}})";
inline const std::string kSlowLoop = R"(, "loops": [{"name": "slow", "rate": 100}])";
inline const std::string kSlowBall =
    R"({"name": "ball", "particles": {"ball": {"radius": 0.04}, "count": 60, "damping": 2,
        "held": [{"where": "z < 30 %"}]}, "loop": "slow", "pose": {"position": [0, 0, -0.04]}})";

/// Three loops with bodies of a few numbers; the hand with the sphere is in the first one, what it
/// presses in the second.
inline const std::string kThreeLoops = R"({"pliant": 1, "gravity": [0, 0, -9.81],
    "loops": [{"name": "pressed", "rate": 100}, {"name": "other", "rate": 100}], "bodies": [
    {"name": "block", "loop": "pressed", "pose": {"position": [0, 0, -0.02]}, "fem": {"box":
        {"sizes": [0.04, 0.04, 0.02], "cells": [2, 2, 1]}, "material": {"preset": "rubber",
        "youngs_modulus": 2e4}, "fixed": "z < 1 %", "damping": {"mass": 20}}},
    {"name": "ball", "loop": "other", "rigid": {"sphere": {"radius": 0.01}, "density": 500}},
    {"name": "finger", "rigid": {"sphere": {"radius": 0.005}, "motion": {"path": {"keyframes": [
        {"time": 0, "position": [0.001, 0.002, 0.006]},
        {"time": 0.1, "position": [0.011, 0.002, 0.002]}]}}}}],
    "tool": {"body": "finger", "proxy": {"bodies": ["block"]}}, "device": {"hand": "firm"}})";

/// What the hand felt in the last tick.
inline const HapticTick& proxy_tick(const World& world) { return *world.loop(0).haptic_tick(); }

}  // namespace pliant::test
