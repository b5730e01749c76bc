#pragma once

#include "pliant/haptics/static_coupling.h"

namespace pliant {

/// Baselines for comparison with StaticCoupling, of the same shape; docs/haptics.md section
/// "Baselines". One thread at a time; nothing allocates; poses stay finite whatever comes in.

struct DynamicCouplingOptions {
    double mass = 0.05;            ///< of the simulation object [kg]
    double damping_ratio = 1;      ///< of the springs against mass and inertia
    int steps = 10;                ///< of explicit Euler in a cycle
    double velocity_filter = 0.3;  ///< one pole per sample, of the hand's velocity by differences
    double max_speed = 10;         ///< of the simulation object [m/s]; of rotations over ρ
    bool is_silent_in_free_space = false;  ///< shows nothing without contact: a partial cure
};

/// Dynamic virtual coupling: the simulation object has a mass and hangs on springs and dampers; the
/// load of contact and the hand are frozen during a cycle. The inertia is mass ρ² about each axis.
class DynamicCoupling {
public:
    /// Throws InputError for gains and options out of range.
    explicit DynamicCoupling(const CouplingGains& gains,
                             const DynamicCouplingOptions& options = {});

    /// As StaticCoupling::update; gradients are not used.
    StepStatus update(const Pose& manipulandum, const ToolContact& contact, double dt) noexcept;
    [[nodiscard]] const Pose& pose() const noexcept { return pose_; }
    [[nodiscard]] const Twist& twist() const noexcept { return twist_; }
    void place(const Pose& pose) noexcept;
    /// Load on the manipulandum for the hand: springs and dampers, clamped.
    [[nodiscard]] Wrench rendered(const Pose& manipulandum) const noexcept;
    [[nodiscard]] double stored_energy(const Pose& manipulandum) const noexcept;
    [[nodiscard]] const CouplingReport& report() const noexcept { return report_; }
    [[nodiscard]] const CouplingGains& gains() const noexcept { return gains_; }
    void set_gains(const CouplingGains& gains) noexcept;

private:
    CouplingGains gains_;
    DynamicCouplingOptions options_;
    CouplingReport report_;
    Pose pose_, last_hand_;
    Twist twist_;
    Eigen::Vector3d hand_velocity_ = Eigen::Vector3d::Zero();  ///< filtered
    bool has_hand_ = false, is_in_contact_ = false;
};

/// Direct rendering: no simulation object of its own; the tool is where the hand is, and the hand
/// feels the load of contact, clamped.
class DirectRendering {
public:
    /// Throws InputError for gains out of range.
    explicit DirectRendering(const CouplingGains& gains);

    StepStatus update(const Pose& manipulandum, const ToolContact& contact, double dt) noexcept;
    [[nodiscard]] const Pose& pose() const noexcept { return pose_; }
    void place(const Pose& pose) noexcept;
    [[nodiscard]] Wrench rendered(const Pose& manipulandum) const noexcept;
    [[nodiscard]] double stored_energy(const Pose&) const noexcept { return 0; }
    [[nodiscard]] const CouplingReport& report() const noexcept { return report_; }
    [[nodiscard]] const CouplingGains& gains() const noexcept { return gains_; }
    void set_gains(const CouplingGains& gains) noexcept;

private:
    CouplingGains gains_;
    CouplingReport report_;
    Pose pose_;
    Wrench contact_;
};

}  // namespace pliant
