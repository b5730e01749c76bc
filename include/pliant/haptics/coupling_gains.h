#pragma once

#include "pliant/haptics/device.h"

#include <vector>

namespace pliant {

/// What the rules need to know of the scene.
struct CouplingScene {
    double rate = 1000;      ///< of the loop [Hz]
    double scale = 1;        ///< a of the workspace
    double cell = 0.001;     ///< of the distance field [m]
    double gyration = 0.05;  ///< ρ: radius of gyration of the tool about the grasp point [m]
    double bounding = 0.1;   ///< B: radius of the tool about the grasp point [m]
    double answer_time = 0;  ///< h_b: steps of bodies that answer the tool one step late [s]
};

/// All numbers of the 6-DoF virtual coupling; scene units. docs/haptics.md eq. (12)–(20).
struct CouplingGains {
    double stiffness = 0;          ///< k_VC [N/m]
    double angular_stiffness = 0;  ///< k_R = k_T/2 [N m/rad]
    double max_depth = 0;          ///< d_pen [m]
    double max_force = 0;          ///< F_max, the plateau [N]
    double contact_stiffness = 0;  ///< k_C of one point [N/m]
    double max_torque = 0;         ///< T_max without contact, F_max ρ/2 [N m]
    double least_lever = 0;        ///< bounds of the lever of eq. (18) [m]
    double largest_lever = 0;      ///< likewise [m]
    double length = 0;             ///< ρ: makes rotations comparable to shifts [m]
    double reach = 0;              ///< B: no point of the tool is farther from the grasp point [m]
    double threshold = 1e-3;       ///< of singular values
    double static_damping = 0.5;   ///< α_s
    double max_shift = 0;          ///< d_max of a tick far from everything [m]
    double max_turn = 0;           ///< θ_max [rad]
    double injection = 0;          ///< b_inj while in contact, device units [N s/m]
    double rendered_force = 0;     ///< clamp of what is shown [N]
    double rendered_torque = 0;    ///< scene units: T_dev / a [N m]
};

/// A gain with what it means and why the rules make it what they do, for people.
struct GainNote {
    std::string name, unit, meaning, reason;
    double value = 0, least = 0, largest = 0;  ///< largest: the safe range ends here
    double limit = 0;                          ///< nothing beyond is accepted
};

/// Throws InputError for scenes and devices out of range.
/// docs/haptics.md section "Gains".
[[nodiscard]] CouplingGains derive_gains(const DeviceCapabilities& device,
                                         const CouplingScene& scene);
/// In the order of CouplingGains.
[[nodiscard]] std::vector<GainNote> explain(const CouplingGains& gains,
                                            const DeviceCapabilities& device,
                                            const CouplingScene& scene);
/// Brings gains that a user chose to between `least` and `limit` of their notes; says which were
/// changed in one sentence, empty: none. Throws InputError for gains that are not finite, negative,
/// or zero where none is possible.
std::string clamp_to_device(CouplingGains& gains, const DeviceCapabilities& device,
                            const CouplingScene& scene);

}  // namespace pliant
