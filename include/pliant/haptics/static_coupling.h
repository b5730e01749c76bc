#pragma once

#include "pliant/core/error.h"
#include "pliant/haptics/coupling_gains.h"

#include <array>

namespace pliant {

enum class CouplingSaturation {
    Exponential,  ///< docs/haptics.md eq. (14)
    Spline,       ///< eq. (15)
    None,         ///< linear springs: no bound of the depth
};
enum class CouplingSolve {
    Svd,        ///< degenerate directions go straight to the manipulandum, eq. (19)
    Truncated,  ///< they stay: lags
    Lu,         ///< without care for them
};

struct CouplingOptions {
    CouplingSaturation saturation = CouplingSaturation::Exponential;
    CouplingSolve solve = CouplingSolve::Svd;
    /// The torque saturates too, at T_max that follows the lever of contacts, eq. (18); false: as
    /// published, 2 k_R sin(θ/2).
    bool limits_torque = true;
    bool limits_steps = true;         ///< d_max, θ_max; false: none of these limits
    bool adapts_to_clearance = true;  ///< smaller steps near contact, eq. (20)
    /// Steps beyond their limits are solved again against them, and none presses a contact beyond
    /// max_depth, eq. (20a), (20b); false: cut to their length, as published.
    bool holds_depth = true;
    bool scales_rotations = true;  ///< by the length ρ before the SVD; false: for comparison
    double contact_damping = 0;    ///< b_c of 24.1 [N s/m]
};

/// A contact whose depth a step must keep in mind.
struct DeepContact {
    /// ∂depth/∂(shift, rotation vector) of the tool about the grasp point.
    Eigen::Matrix<double, 6, 1> inward = Eigen::Matrix<double, 6, 1>::Zero();
    double depth = 0;  ///< [m]
};

/// Contact of the simulation object as the coupling sees it: load about the grasp point, its
/// gradient, and what limits steps and torque.
struct ToolContact {
    Wrench load;
    /// ∂(force, torque)/∂(shift, rotation vector) of the tool about the grasp point.
    Eigen::Matrix<double, 6, 6> gradient = Eigen::Matrix<double, 6, 6>::Zero();
    /// Σ w Jᵀ J of the contacts, J = nᵀ[I, −r̃], for contact_damping and the lever. Any weights;
    /// of ContactLoads: shell_stiffness (or field_stiffness) / k_C.
    Eigen::Matrix<double, 6, 6> normals = Eigen::Matrix<double, 6, 6>::Zero();
    int num_contacts = 0;
    double clearance = 0;  ///< no point is nearer; 0 in contact [m]
    static constexpr int kMaxDeep = 16;
    std::array<DeepContact, kMaxDeep> deep;  ///< the deepest, the first num_deep
    int num_deep = 0;
    double other_depth = 0;  ///< no contact that is not listed is deeper [m]
};

/// What one cycle did.
struct CouplingReport {
    StepStatus status = StepStatus::Ok;
    double shift = 0, turn = 0;  ///< of the simulation object [m], [rad]
    bool is_shift_limited = false, is_turn_limited = false;
    bool is_held = false;  ///< a contact would have been pressed beyond max_depth
    bool is_force_saturated = false, is_torque_saturated = false;
    int num_degenerate = 0;  ///< directions
    double lever = 0;        ///< b of eq. (18) [m]
    double max_torque = 0;   ///< T_max that follows from it [N m]
};

/// Six-DoF static virtual coupling: the simulation object follows the manipulandum by one Newton
/// step per cycle towards zero net load of springs and contact, docs/haptics.md eq. (12)–(20). No
/// mass, no measured velocity. One thread at a time; nothing allocates after construction; the pose
/// stays finite whatever comes in.
class StaticCoupling {
public:
    /// Throws InputError for gains out of range.
    explicit StaticCoupling(const CouplingGains& gains, const CouplingOptions& options = {});

    /// Both poses are of a frame at the grasp point. `contact` is that of the present pose of the
    /// simulation object. InputIgnored, and no motion, for what is not finite or absurdly large.
    StepStatus update(const Pose& manipulandum, const ToolContact& contact, double dt) noexcept;

    [[nodiscard]] const Pose& pose() const noexcept { return pose_; }  ///< of the simulation object
    void place(const Pose& pose) noexcept;
    /// Springs on the simulation object at its present pose, as the simulation uses them.
    [[nodiscard]] Wrench coupling_load(const Pose& manipulandum) const noexcept;
    [[nodiscard]] Eigen::Matrix<double, 6, 6> coupling_gradient(
        const Pose& manipulandum) const noexcept;
    /// Load on the manipulandum for the hand: linear springs, clamped, eq. (16).
    [[nodiscard]] Wrench rendered(const Pose& manipulandum) const noexcept;
    /// Energy of the springs as they are shown: linear up to the clamp, constant force beyond [J].
    [[nodiscard]] double stored_energy(const Pose& manipulandum) const noexcept;

    [[nodiscard]] const CouplingReport& report() const noexcept { return report_; }
    [[nodiscard]] const CouplingGains& gains() const noexcept { return gains_; }
    /// Kept in range; what is not finite is ignored.
    void set_gains(const CouplingGains& gains) noexcept;
    void set_options(const CouplingOptions& options) noexcept { options_ = options; }
    /// Multiplies the step limits, against limit cycles; 1: none.
    void set_step_scale(double scale) noexcept;

private:
    void limit_step(const ToolContact& contact, const Eigen::Matrix<double, 6, 6>& A,
                    const Eigen::Matrix<double, 6, 1>& load, double length,
                    Eigen::Matrix<double, 6, 1>& step) noexcept;
    void hold_step(const ToolContact& contact, double length,
                   Eigen::Matrix<double, 6, 1>& step) noexcept;
    void follow_lever(const Eigen::Vector3d& phi, const ToolContact& contact, double dt) noexcept;
    [[nodiscard]] double max_torque() const noexcept;
    /// Singular values below this part of the largest are degenerate directions, eq. (19).
    [[nodiscard]] double degenerate_below(double stiffest, double length) const noexcept;

    CouplingGains gains_;
    CouplingOptions options_;
    CouplingReport report_;
    Pose pose_;
    double lever_ = 0;  ///< b, low-passed [m]
    double step_scale_ = 1;
    double expected_depth_ = -1;  ///< of the last step; < 0: none [m]
};

}  // namespace pliant
