#pragma once

#include "pliant/body/body.h"
#include "pliant/particles/particle_dynamics.h"
#include "pliant/particles/particle_model.h"

namespace pliant {

/// Particles of a body that a scene holds or moves.
struct HeldParticles {
    /// Of their centres at rest in body axes, as in "z < 5 %", see parse_selection.
    std::string selection;
    std::optional<ScriptedMotion> motion;  ///< see Attachment; none: held where they are
    bool is_driven = false;                ///< go where drive() says, until then held
};

struct ParticleBodyOptions {
    Pose pose;                 ///< of the rest shape in the world
    Twist velocity;            ///< at the start, about the centre of mass; of held ones: none
    ParticleOptions dynamics;  ///< its attachments are made from those below
    std::vector<HeldParticles> held;
};

/// A body of oriented particles that carry its surface by linear blending; docs/particles.md.
/// Several objects of one model collide with one another. Forces on the surface go to particles by
/// the weights of the skin. Live parameters: stiffness (a factor), damping, friction, passes.
class ParticleBody final : public Body {
public:
    /// Throws InputError for what ParticleDynamics refuses, selections without a particle and
    /// particles that two of them hold.
    explicit ParticleBody(ParticleModel model, const ParticleBodyOptions& options = {});
    ~ParticleBody() override;

    [[nodiscard]] const ParticleModel& model() const noexcept;  ///< in body axes
    [[nodiscard]] const ParticleState& state() const noexcept;  ///< in the world
    [[nodiscard]] const ParticleDynamics& dynamics() const noexcept;
    [[nodiscard]] const ParticleDynamics::Report& step_report()
        const noexcept;  ///< of the last one

    /// Particles that are driven, in increasing order.
    [[nodiscard]] const std::vector<int>& driven() const noexcept;
    /// Where one of them is at the end of the next step, in the world. Ignored unless finite.
    void drive(int particle, const Eigen::Vector3d& position, const Quaternion& turn) noexcept;

    [[nodiscard]] std::string_view kind() const noexcept override { return "particles"; }
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
    /// Of motion alone: shape matching has no potential.
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
