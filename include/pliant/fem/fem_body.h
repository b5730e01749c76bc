#pragma once

#include "pliant/body/body.h"
#include "pliant/body/rigid_body.h"
#include "pliant/fem/explicit_dynamics.h"

#include <cstdint>
#include <string>

namespace pliant {

/// A place where the drawn surface of a body touches a rigid one. The force acts on the soft side.
struct FemContact {
    int obstacle = -1;
    /// Where it is and in which direction the soft side is pushed, in the world.
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::UnitZ();
    double gap = 0;                                   ///< at the end of the step [m]
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< normal and friction [N]
    double normal_force = 0;                          ///< of it, along `normal` [N]
};

struct FemBodyOptions {
    Pose pose;  ///< of the rest shape in the world; applied to the mesh
    ElementFormulation elements = ElementFormulation::Accurate;
    ExplicitOptions dynamics;
    double friction = 0.3;     ///< Coulomb's coefficient against every rigid body
    int contact_capacity = 0;  ///< places in contact at once; 0: as many as there are, up to 8,192
    /// Nodes held where they are, as in "z < 5 %" of the unmoved mesh, see parse_selection; empty:
    /// none.
    std::string fixed;
    /// Longest inner step [s]; 0: 0.7 of the stable one at rest, 0.85 with a damping ratio, which
    /// shortens that. A step of the body is cut into
    /// equal inner steps no longer than this, nor than what the stretch of its elements allows.
    double inner_step = 0;
    /// Most inner steps that a step may take, over those it takes at rest, from 1 to 1000. Where
    /// that is not enough the body runs slower than the world: CapacityExceeded.
    double budget = 8;
    /// Velocity at the start of a body that nothing holds, about its centre of mass.
    Twist velocity;
    /// Internal damping of Rayleigh's kind, as a part of critical, from 0 to 0.5: ζ for ω = 2c/L,
    /// about the slowest vibration, with c = √(μ/ρ) and L the longest side, by forces
    /// −2ζω m (v − v_rigid); and 2ζ of the fastest, see ExplicitOptions::fast_damping. The rigid
    /// motion of a body that nothing holds is left alone, and its momentum kept.
    double damping_ratio = 0;
};

/// A body of full finite elements in explicit dynamics, kept out of rigid bodies by the contact
/// constraint; docs/fem.md section "Bodies". Its surface is that of the mesh, or one embedded in
/// it, and this surface is what touches: in inner steps of h, with g the gap of a place, v its
/// relative velocity at the next half step and λ, f_t its forces,
///     0 ≤ λ  ⟂  N·v + g/h ≥ 0,    |f_t| ≤ μ λ against v_t.
/// Free rigid bodies, and driven ones that a RigidGuide holds, advance with every inner step, so
/// that both sides are in balance there whatever they weigh. The stable step is watched element by
/// element and more inner steps are taken where elements are stretched; an inner step that would
/// bring an element near inversion is refused and halved, in the end the approach of its nodes is
/// slowed. Live parameters: stiffness (a factor; damping ratios stay, inner steps follow), drag,
/// friction.
/// With one thread no step allocates.
class FemBody final : public Body {
public:
    /// `surface`: drawn and picked, in the axes of the mesh; empty: the boundary of the mesh.
    /// `obstacles` must outlive the body and be stepped before it in every tick: their motions are
    /// read and, where contact moves them, corrected; the mean load of contact is added to them for
    /// their next step, which thus begins from what is likely. Throws InputError for what FemModel
    /// or ExplicitDynamics refuse, and an inner step that is unstable.
    FemBody(VolumeMesh mesh, std::vector<Material> materials, SurfaceMesh surface,
            std::vector<RigidBody*> obstacles, const FemBodyOptions& options = {});
    ~FemBody() override;

    [[nodiscard]] const FemModel& model() const noexcept;
    /// Displacements [m] of the nodes of model(), world axes; rates in the time of
    /// docs/fem.md eq. (B1).
    [[nodiscard]] const FemState& state() const noexcept;
    /// Of a step of dt seconds with the present stiffness, at rest.
    [[nodiscard]] int inner_steps(double dt) const noexcept;
    /// That the last step took, those refused among them.
    [[nodiscard]] int inner_steps_taken() const noexcept;
    /// Of the last step: the smallest volume of an element over that at rest; ≤ 0: inside out.
    [[nodiscard]] const SmallestDetF& smallest_det_F() const noexcept;
    /// What the steps since the reset left behind, so that nothing is missed between two looks:
    /// the worst element, and how many steps had one that was inside out.
    struct Inversions {
        SmallestDetF worst;
        std::uint64_t num_steps = 0;
    };
    [[nodiscard]] const Inversions& inversions() const noexcept;
    /// What the steps since the reset did to stay stable and in one piece.
    struct Care {
        std::uint64_t num_slowed = 0;   ///< steps for which the inner ones were not enough
        double slowest = 1;             ///< time of the body over that of the world in one of them
        std::uint64_t num_halved = 0;   ///< inner steps refused: an element neared inversion
        std::uint64_t num_held_up = 0;  ///< steps in which the nodes of such elements were slowed
        /// Steps that found elements of St. Venant and Kirchhoff's law compressed to less than
        /// 1/√3 of their length, where it softens; and the smallest stretch of them.
        std::uint64_t num_softened = 0;
        double smallest_stvk = 1;
        double stiffening = 1;  ///< the largest: ω² of an element over that of the body at rest
    };
    [[nodiscard]] const Care& care() const noexcept;
    [[nodiscard]] std::span<const FemContact> contacts() const noexcept;  ///< last inner step
    /// As given: the places that contacts() and wrench() count by.
    [[nodiscard]] const std::vector<RigidBody*>& obstacles() const noexcept;
    /// Mean load on an obstacle over the last step, about the origin of its frame.
    [[nodiscard]] const Wrench& wrench(int obstacle) const noexcept;

    [[nodiscard]] std::string_view kind() const noexcept override { return "fem"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override;
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
    [[nodiscard]] std::vector<LiveParameter> parameters() const override;
    void set_parameter(int index, double value) noexcept override;
    [[nodiscard]] int state_size() const noexcept override;
    void save_state(std::span<double> state) const noexcept override;
    bool restore_state(std::span<const double> state) noexcept override;
    void write_display(std::span<float> state) const noexcept override;

private:
    StepStatus do_step(double dt) noexcept override;
    void do_reset() noexcept override;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
