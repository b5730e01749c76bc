#pragma once

#include "pliant/haptics/plane_port.h"
#include "pliant/scene/shown_haptics.h"
#include "scene/letter_box.h"

namespace pliant {

/// What may change about a proxy while it runs.
struct ProxyTuning {
    double stiffness = 0;  ///< after back-off [N/m]
    double static_friction = 0, dynamic_friction = 0;
    bool has_force_shading = false;
    bool has_ccd = true;
};

/// Where the hand is, from the haptic loop.
struct ProxyHandLetter {
    std::uint64_t round = 0, tick = 0;
    Eigen::Vector3d goal = Eigen::Vector3d::Zero();
    ProxyTuning tuning;
};

/// What holds the proxy, from the loop of the bodies.
struct ProxyPlanesLetter {
    std::uint64_t round = 0, tick = 0;
    PlaneSnapshot planes;
    ShownProxy shown;
};

/// Between the two ends of a proxy, docs/scene.md section "Proxy in a hand".
struct ProxyExchange {
    LetterBox<ProxyHandLetter> hand;
    LetterBox<ProxyPlanesLetter> planes;
};

}  // namespace pliant
