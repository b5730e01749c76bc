#pragma once

#include "pliant/haptics/plane_port.h"
#include "pliant/haptics/sphere_port.h"
#include "pliant/scene/shown_haptics.h"
#include "scene/letter_box.h"

namespace pliant {

/// What may change about a proxy while it runs.
struct ProxyTuning {
    double stiffness = 0;          ///< after back-off [N/m]
    double angular_stiffness = 0;  ///< the same of many spheres about the hand [N m/rad]
    double max_force = 0;          ///< that the hand is shown [N]
    double max_torque = 0;         ///< [N m]
    double release = 0;            ///< energy that may be spent on what was withheld [J]
    double static_friction = 0, dynamic_friction = 0;
    bool has_force_shading = false;
    bool has_ccd = true;

    bool operator==(const ProxyTuning&) const = default;
};

/// Where the hand is, from the haptic loop.
struct ProxyHandLetter {
    std::uint64_t round = 0, tick = 0;
    Pose goal;
    ProxyTuning tuning;
};

/// What holds the proxy, from the loop of the bodies.
struct ProxyPlanesLetter {
    std::uint64_t round = 0, tick = 0;
    PlaneSnapshot planes;
    double work = 0;  ///< of the bodies on the springs of the hand, so far [J]
    ShownProxy shown;
};

/// Between the two ends of a proxy, docs/scene.md section "Proxy in a hand".
struct ProxyExchange {
    LetterBox<ProxyHandLetter> hand;
    LetterBox<ProxyPlanesLetter> planes;
};

/// Where the spheres of a tool of many are, likewise.
struct SpheresLetter {
    std::uint64_t round = 0, tick = 0;
    SphereSnapshot spheres;
    Pose fit;         ///< of the tool as one piece
    double work = 0;  ///< as of a proxy
    ShownProxy shown;
};

struct SpheresExchange {
    explicit SpheresExchange(int num_spheres)
        : spheres(
              SpheresLetter{0, 0, SphereSnapshot::of_size(num_spheres), Pose{}, 0, ShownProxy{}}) {}
    LetterBox<ProxyHandLetter> hand;
    LetterBox<SpheresLetter> spheres;
};

}  // namespace pliant
