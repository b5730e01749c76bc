#pragma once

#include "pliant/scene/scene_description.h"

#include <string>
#include <vector>

namespace pliant::reproduce {

/// A demo whose tool is in a hand, for experiments that hold still in it.
struct HeldDemo {
    std::string name;
    double settling = 3;   ///< until what swings is at rest [s]
    double falling = 0;    ///< the hand waits at first until bodies have fallen [s]
    bool is_slow = false;  ///< bodies that take long to step: fewer runs
    bool is_heap = false;  ///< of a thousand bodies: a single short one
};
/// Every demo of the program that has one, in the order of its list.
[[nodiscard]] std::vector<HeldDemo> held_demos();

/// The scene of such a demo in which nothing but the hand moves by a script or by wind.
[[nodiscard]] SceneDescription still_scene(const std::string& demo);
/// Where the hand of the tool wants to be: along the path of the scene, or at its pose.
[[nodiscard]] ScriptedMotion way_of_hand(const SceneDescription& scene);

}  // namespace pliant::reproduce
