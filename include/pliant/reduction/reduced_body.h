#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/reduction/reduced_model.h"

namespace pliant {

struct ReducedBodyOptions {
    Pose pose = {};       ///< of the axes of the rest shape in the world
    Twist velocity = {};  ///< of a free body, of its centre of mass
    ReducedDamping damping = {.mass = 0, .stiffness = 0.002};
    bool is_linear = false;  ///< force K q of the rest shape
    FlightCoupling coupling = FlightCoupling::Coupled;
};

/// What bodies of the same model share: forces, surface, inertia. Immutable.
class ReducedBodyModel {
public:
    explicit ReducedBodyModel(ReducedModel model);
    [[nodiscard]] const ReducedModel& model() const noexcept;
    /// Display of all bodies of this model: pose and q.
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const noexcept;
    /// Ū of the surface for viewers that deform it themselves.
    [[nodiscard]] const SurfaceShapes& shapes() const noexcept;

private:
    friend class ReducedBody;
    struct Data;
    std::shared_ptr<const Data> data_;
};

/// A body in a subspace, held or flying freely; docs/reduction.md section "Bodies". Points are
/// answered in O(r). Loads are constant over a step, eq. (28): springs need a damper of at least
/// k dt/2. Wind on a free body is a force without torque, eq. (29). Live parameters: stiffness (a
/// factor of the elastic force), mass damping, stiffness damping; of a held body also linear (1:
/// force K q of the rest shape; position and velocity go on when it changes). Queries use the
/// body's scratch: one thread at a time, also for const functions.
class ReducedBody final : public Body {
public:
    explicit ReducedBody(const ReducedModel& model, const ReducedBodyOptions& options = {});
    explicit ReducedBody(const ReducedBodyModel& model, const ReducedBodyOptions& options = {});
    ~ReducedBody() override;

    [[nodiscard]] const ReducedModel& model() const noexcept;
    [[nodiscard]] const SurfaceShapes& shapes() const noexcept;
    [[nodiscard]] const ReducedState& state() const noexcept;
    [[nodiscard]] const Pose& pose() const noexcept;  ///< of the rest shape's axes now
    /// Load in reduced coordinates, body axes, of the next step, beside add_force().
    void add_reduced_force(const Eigen::Ref<const Eigen::VectorXd>& f) noexcept;
    /// Load of the next step of a free body about its centre of mass, in world axes, beside
    /// add_force(). A held one does not move under it.
    void add_wrench(const Wrench& wrench) noexcept;
    /// Contact of the next step in reduced coordinates, body axes, which its implicit step follows:
    /// load f at the present shape, stiffness K (r × r, not negative) and its damping time β [s],
    /// docs/contact.md eq. (21). Contacts add up, the largest β counts.
    void add_contact(const Eigen::Ref<const Eigen::VectorXd>& f,
                     const Eigen::Ref<const Eigen::MatrixXd>& K, double damping) noexcept;

    // What contact predicts the next step from.
    /// Of the frame at the centre of mass, axes of the rest shape; a held body's does not move.
    [[nodiscard]] const RigidMotion& frame() const noexcept;
    /// Of a free body at rest, about its centre of mass in the axes of the body; none of a held
    /// one.
    [[nodiscard]] const std::optional<RigidMass>& rest_mass() const noexcept;
    [[nodiscard]] const ReducedTuning& tuning() const noexcept;
    /// Loads of the next step given so far, with gravity and wind: what moves the frame, about its
    /// origin in world axes, and the acceleration of the shape with which the step begins.
    [[nodiscard]] Wrench next_wrench() const noexcept;
    void next_acceleration(Eigen::VectorXd& a) const noexcept;

    [[nodiscard]] std::string_view kind() const noexcept override { return "reduced"; }
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
    /// Up to four points of a held body, by constraints inside the step; again: moves its target.
    /// False also where the basis cannot move it independently of the others, eq. (30).
    bool prescribe(const SurfacePoint& point, const Eigen::Vector3d& position) noexcept override;
    void release_all() noexcept override;
    [[nodiscard]] Eigen::Vector3d holding_force(int i) const noexcept override;
    /// By the tangent stiffness of the present shape; false for a free body, and where it is not
    /// positive definite.
    bool compliance(const SurfacePoint& point, Eigen::Matrix3d& C) const noexcept override;
    [[nodiscard]] Energy energy() const noexcept override;
    [[nodiscard]] std::vector<LiveParameter> parameters() const override;
    void set_parameter(int index, double value) noexcept override;
    [[nodiscard]] int state_size() const noexcept override;
    void save_state(std::span<double> state) const noexcept override;
    bool restore_state(std::span<const double> state) noexcept override;
    void write_display(std::span<float> state) const noexcept override;
    void rehearse(double dt) noexcept override;

private:
    StepStatus do_step(double dt) noexcept override;
    void do_reset() noexcept override;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
