#pragma once

#include <string>
#include <vector>

namespace pliant::test {

/// Scenes of a tool in a hand with all its keys and a device of each kind; the last are a proxy,
/// tools of spheres and a tool among full FEM bodies.
inline std::vector<std::string> held_tool_scenes() {
    std::vector<std::string> scenes;
    for (const char* device :
         {R"("kind": "simulated", "mass": 0.2, "inertia": 1e-4, "damping": 0.2, "friction": 0.01,
             "bandwidth": 300, "rate": 2000, "delay": 2, "position_step": 1e-5, "angle_step": 1e-4,
             "rotation": {"axis": [0, 0, 1], "degrees": 90}, "rate_border": 0.2, "rate_speed": 0.3,
             "clutch": 0, "deadman": 1, "seed": 7, "tremor": 1e-4, "workspace": [0.1, 0.2, 0.3], "max_force": 5,
             "max_torque": 0.1, "continuous_force": 2, "max_stiffness": 900,
             "hand": {"stiffness": 50, "damping": 3, "angular_stiffness": 2,
                      "angular_damping": 0.02, "mass": 0.04})",
          R"("kind": "network", "address": "127.0.0.2", "port": 9000, "timeout": 0.5,
             "latency": 0.004)",
          R"("kind": "haply", "url": "ws://127.0.0.1:10002", "device_id": "A1")",
          R"("kind": "force-dimension", "serial": 17, "max_force": 2)",
          R"("kind": "openhaptics", "name": "Left")",
          R"("kind": "recorded", "recording": "hand.pliantrec")"})
        scenes.push_back(R"({"pliant": 1, "bodies": [
            {"name": "peg", "rigid": {"sphere": {"radius": 1}}, "contact": {"pointshell": {}}},
            {"name": "hole", "rigid": {"sphere": {"radius": 2}}}],
            "contacts": [{"shell": "peg", "field": "hole"}],
            "tool": {"body": "peg", "grasp": [0, 0, 0.5], "coupling": "dynamic", "scale": 3,
                     "max_depth": 0.001, "stiffness_factor": 2, "angular_stiffness_factor": 0.5,
                     "damping_injection": false, "back_off": false, "passivity": false,
                     "force": false},
            "script": [{"time": 1, "tool": {"target": [1, 0, 0], "buttons": 3,
                        "rotation": {"axis": [0, 0, 1], "degrees": 90}}}],
            "device": {)" +
                         std::string(device) + "}}");
    scenes.push_back(R"({"pliant": 1, "loops": [{"name": "slow", "rate": 500}], "bodies": [
        {"name": "soft", "rigid": {"box": {"sizes": [1, 1, 1]}}, "loop": "slow"},
        {"name": "tip", "rigid": {"sphere": {"radius": 0.01}}}],
        "tool": {"body": "tip", "watchdog": 0.2, "proxy": {"bodies": ["soft"], "stiffness": 100,
                 "friction": 0.1, "static_friction": 0.2, "force_shading": true, "mask": "smooth",
                 "mask_radius": 2, "ccd": false, "pop_out": "half-space",
                 "pop_out_of": [{"body": "soft", "pop_out": "plain"}],
                 "interpolation": false}}})");
    for (const char* spheres :
         {R"("bodies": ["soft"], "count": 12, "links": 6, "shape_stiffness": 0.5, "passes": 3,
             "least_radius": 0.001, "stiffness": 100, "share": "contacts", "friction": 0.1,
             "static_friction": 0.2, "mask": "smooth", "mask_radius": 2, "ccd": false,
             "pop_out": "plain", "pop_out_of": [{"body": "soft", "pop_out": "guarded"}])",
          R"("layout": "notes.txt", "rigid": true)"})
        scenes.push_back(R"({"pliant": 1, "bodies": [
            {"name": "soft", "rigid": {"box": {"sizes": [1, 1, 1]}}},
            {"name": "hand", "rigid": {"shape": "hand"}}],
            "tool": {"body": "hand", "watchdog": 0.2, "spheres": {)" +
                         std::string(spheres) + "}}}");
    scenes.push_back(R"({"pliant": 1, "loops": [{"name": "slow", "rate": 500}], "bodies": [
        {"name": "palm", "rigid": {"box": {"sizes": [1, 1, 1]}}, "loop": "slow"},
        {"name": "finger", "rigid": {"capsule": {"radius": 1, "length": 2}}, "loop": "slow"},
        {"name": "soft", "fem": {"box": {"sizes": [1, 1, 1], "cells": [2, 2, 2]}},
         "loop": "slow"}],
        "tool": {"body": "palm", "parts": ["finger"], "mass": 0.1, "watchdog": 0.1}})");
    return scenes;
}

}  // namespace pliant::test
