#pragma once

#include "pliant/body/body.h"
#include "pliant/body/rigid_motion.h"
#include "pliant/body/rigid_shape.h"
#include "pliant/body/scripted_motion.h"

#include <optional>

namespace pliant {

/// Mass properties of a rigid body.
struct RigidMass {
    double mass = 0;                                    ///< [kg]
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();   ///< in body axes [m]
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre, body axes [kg m²]
};
/// Of a solid of constant density [kg/m³] inside a closed surface, exact for the polyhedron. Throws
/// InputError for a surface without volume or a density that is not positive.
[[nodiscard]] RigidMass rigid_mass(const SurfaceMesh& surface, double density);

struct RigidBodyOptions {
    Pose pose;       ///< at the start; of a scripted body the script says
    Twist velocity;  ///< at the start, of the frame's origin; dynamic bodies
    /// What moves it: nothing or drive_to (static), …
    std::optional<ScriptedMotion> script;  ///< … a path that forces do not change,
    std::optional<RigidMass> mass;         ///< … or forces (dynamic). At most one of the two.
};

/// What holds driven bodies as one piece where drive_to() wants them, so that contact may push them
/// away from there: a mass on springs and dampers about `centre`. Who solves for contact moves the
/// bodies and says so with yield(); who drives them takes it from `shift` … `velocity`.
struct RigidGuide {
    double mass = 0;     ///< [kg]; 0: held rigidly
    double inertia = 0;  ///< about every axis through the centre [kg m²]
    double stiffness = 0, damping = 0;                  ///< [N/m], [N s/m]
    double angular_stiffness = 0, angular_damping = 0;  ///< [N m/rad], [N m s/rad]
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();   ///< at the end of the step, as driven

    Eigen::Vector3d shift = Eigen::Vector3d::Zero();  ///< of the centre, since it was last cleared
    Eigen::Vector3d turn = Eigen::Vector3d::Zero();   ///< rotation vector, world axes
    Twist velocity;                                   ///< change of that of the centre

    void yield(const Eigen::Vector3d& by, const Eigen::Vector3d& turned,
               const Twist& change) noexcept {
        shift += by;
        turn += turned;
        velocity.linear += change.linear;
        velocity.angular += change.angular;
    }
};

/// A solid that does not deform: static, scripted, driven from outside, or dynamic. Free rotations
/// keep momentum exactly and energy without drift, of second order, docs/body.md eq. (10).
class RigidBody final : public Body {
public:
    /// The shape answers gaps, the surface is what is seen and picked; both in body axes. Throws
    /// InputError for a start that is not finite, a mass or inertia that is not positive, and for
    /// mass and script together.
    RigidBody(RigidShape shape, SurfaceMesh surface, const RigidBodyOptions& options = {});

    [[nodiscard]] const RigidShape& shape() const noexcept { return shape_; }
    [[nodiscard]] const RigidMotion& motion(TickMoment moment = TickMoment::End) const noexcept;
    [[nodiscard]] bool is_dynamic() const noexcept { return mass_.has_value(); }
    [[nodiscard]] bool is_scripted() const noexcept { return options_.script.has_value(); }
    [[nodiscard]] const std::optional<RigidMass>& mass() const noexcept { return mass_; }
    /// Where the next step ends, for a body without script or mass: velocities and accelerations
    /// by differences. Otherwise, and for a pose that is not finite, nothing happens.
    void drive_to(const Pose& pose) noexcept;
    /// Who drives it may let it give way; null: nobody. The guide must outlive the body or be taken
    /// away.
    void set_guide(RigidGuide* guide) noexcept { guide_ = guide; }
    [[nodiscard]] RigidGuide* guide() const noexcept { return guide_; }
    /// Puts the end of the last step elsewhere: for contact that is solved in parts of it. Bodies
    /// without mass or guide stay, and all do for a motion that is not finite.
    void put(const RigidMotion& motion) noexcept;
    /// Load of the next step about the frame's origin, in world axes.
    void add_wrench(const Wrench& wrench) noexcept;
    /// All loads of the next step given so far, about the frame's origin, in world axes.
    [[nodiscard]] Wrench next_load() const noexcept;
    /// All loads on it in the last step about the frame's origin, whether it moves or not.
    [[nodiscard]] const Wrench& last_load() const noexcept { return last_load_; }

    [[nodiscard]] std::string_view kind() const noexcept override { return "rigid"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override { return display_; }
    void add_force(const SurfacePoint& point, const Eigen::Vector3d& force) noexcept override;
    void set_gravity(const Eigen::Vector3d& acceleration) noexcept override;
    void set_wind_direction(const Eigen::Vector3d& direction) override;
    void set_wind_pressure(double pressure) noexcept override;
    [[nodiscard]] Eigen::Vector3d position(
        const SurfacePoint& point, TickMoment moment = TickMoment::End) const noexcept override;
    [[nodiscard]] Eigen::Vector3d velocity(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] Eigen::Vector3d normal(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] double mobility(const SurfacePoint& point) const noexcept override;
    [[nodiscard]] Energy energy() const noexcept override;
    [[nodiscard]] int state_size() const noexcept override;
    void save_state(std::span<double> state) const noexcept override;
    bool restore_state(std::span<const double> state) noexcept override;
    void write_display(std::span<float> state) const noexcept override;

private:
    StepStatus do_step(double dt) noexcept override;
    void do_reset() noexcept override;

    [[nodiscard]] Eigen::Vector3d body_point(const SurfacePoint& point) const noexcept;
    [[nodiscard]] RigidMotion moved_by(const Wrench& load, double dt) const noexcept;
    void set_acceleration(RigidMotion& motion, const Wrench& load) const noexcept;

    RigidShape shape_;
    RigidBodyOptions options_;
    std::optional<RigidMass> mass_;
    Eigen::Matrix3d inverse_inertia_ = Eigen::Matrix3d::Zero();  ///< about the centre, body axes
    Eigen::Vector3d principal_inertia_ = Eigen::Vector3d::Zero();
    Quaternion principal_axes_ = Quaternion::Identity();  ///< to body axes
    std::shared_ptr<const BodyDisplay> display_;
    RigidMotion first_, start_, end_;
    double time_ = 0;
    Wrench load_, last_load_;
    bool has_ignored_ = false;  ///< a load since the last step
    Eigen::Vector3d gravity_ = Eigen::Vector3d::Zero();
    Eigen::Vector3d wind_direction_ = Eigen::Vector3d::Zero();  ///< unit, world axes
    double wind_area_ = 0;                                      ///< that faces the wind [m²]
    Eigen::Vector3d wind_moment_ = Eigen::Vector3d::Zero();     ///< of this area, body axes [m³]
    double wind_pressure_ = 0;
    std::optional<Pose> target_;
    RigidGuide* guide_ = nullptr;
};

}  // namespace pliant
