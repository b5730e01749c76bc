#pragma once

#include "contact/broad_phase.h"
#include "contact/contact_modes.h"
#include "contact/contact_sweep.h"
#include "pliant/contact/contact_solver.h"

namespace pliant {

/// A body as the contact solver sees it: what it will do in the next step without contact, and how
/// it answers to impulses, docs/contact.md eq. (28).
class MovingBody {
public:
    /// Throws InputError for what ContactSolver does not take.
    MovingBody(const ContactBody& body, const std::string& name, ModesLibrary& library);

    /// Takes pose, shape, velocity and loads for a step of dt seconds. False: not finite.
    bool begin(double dt) noexcept;
    /// Takes the shape of a solid that deforms. Needed once others are near; done already by
    /// begin() for bodies without points, whose sphere it decides.
    void update_solid() noexcept;

    [[nodiscard]] bool is_moving() const noexcept { return has_frame_ || rank() > 0; }
    [[nodiscard]] int rank() const noexcept { return static_cast<int>(load_.size()); }
    [[nodiscard]] const Pose& pose() const noexcept { return pose_; }
    [[nodiscard]] std::span<const double> shape() const noexcept;
    [[nodiscard]] const PointTree* tree() const noexcept { return tree_ ? &*tree_ : nullptr; }
    [[nodiscard]] const DistanceField* solid() const noexcept {
        return deformed_ ? deformed_.get() : field_.get();
    }
    [[nodiscard]] const DeformedField* deformed() const noexcept { return deformed_.get(); }
    [[nodiscard]] const BoundingSphere& sphere() const noexcept { return sphere_; }
    /// Null: none.
    [[nodiscard]] const ContactPrimitive* primitive() const noexcept {
        return primitive_ ? &*primitive_ : nullptr;
    }
    [[nodiscard]] const ContactSurface& surface() const noexcept { return surface_; }
    [[nodiscard]] const ContactScale& scale() const noexcept { return scale_; }

    // Of the point at p, world axes; `modes` from one of the tables below, null for rigid bodies.
    /// What an impulse changes of its velocity.
    [[nodiscard]] Eigen::Matrix3d response_at(const Eigen::Vector3d& p,
                                              const float* modes) const noexcept;
    [[nodiscard]] const float* point_modes(int point) const noexcept {
        return point_modes_ ? point_modes_->data() + table_width() * static_cast<std::size_t>(point)
                            : nullptr;
    }
    [[nodiscard]] const float* proxy_modes(int proxy) const noexcept {
        return proxy_modes_ ? proxy_modes_->data() + table_width() * static_cast<std::size_t>(proxy)
                            : nullptr;
    }
    /// Its velocity at the start of the step.
    [[nodiscard]] Eigen::Vector3d velocity_now(const Eigen::Vector3d& p,
                                               const float* modes) const noexcept;
    /// Its velocity at the end of the step, as sweeps left it.
    [[nodiscard]] Eigen::Vector3d velocity_next(const Eigen::Vector3d& p,
                                                const float* modes) const noexcept;
    /// Most that any of its points moves with, now and at the end of the step [m/s].
    [[nodiscard]] double speed_now() const noexcept {
        return centre_velocity_.norm() + sphere_.rest_radius * spin_.norm();
    }
    [[nodiscard]] double speed_next() const noexcept {
        return motion_.linear.norm() + sphere_.rest_radius * motion_.angular.norm();
    }
    /// For sweeps, which change its velocity in the next step.
    [[nodiscard]] SweepBody for_sweeps() noexcept;
    /// Adds Uᵀ Rᵀ force to the loads of a reduced body; `U` by columns, `stride` numbers apart.
    template <class Number>
    void add_load(const Number* U, int stride, const Eigen::Vector3d& force) noexcept {
        const Eigen::Vector3d f = pose_.rotation.conjugate() * force;
        for (int j = 0; j < rank(); ++j, U += stride)
            load_[j] += U[0] * f[0] + U[1] * f[1] + U[2] * f[2];
    }
    /// Of a wrench about centre(), in world axes.
    void add_wrench(const Wrench& wrench) noexcept {
        wrench_ += wrench;
        is_touched_ = true;
    }
    [[nodiscard]] const Eigen::Vector3d& centre() const noexcept { return centre_; }
    /// Whether it moves as a whole, and the velocity of its centre then.
    [[nodiscard]] bool has_frame() const noexcept { return has_frame_; }
    [[nodiscard]] const Eigen::Vector3d& centre_velocity() const noexcept {
        return centre_velocity_;
    }
    /// Gives all forces to the body, if there are any.
    void apply() noexcept;

private:
    [[nodiscard]] BoundingSphere find_sphere() const noexcept;
    void begin_frame(const RigidMass& mass, const Twist& velocity, const Wrench& load,
                     double dt) noexcept;
    void begin_shape(double dt) noexcept;
    /// R U rates of the point with these modes.
    [[nodiscard]] Eigen::Vector3d bending(const float* modes, const double* rates) const noexcept;
    [[nodiscard]] std::size_t table_width() const noexcept {
        return static_cast<std::size_t>(3 * length_);
    }

    RigidBody* rigid_ = nullptr;
    ReducedBody* reduced_ = nullptr;
    std::optional<PointTree> tree_;
    std::optional<ContactPrimitive> primitive_;
    ContactSurface surface_;
    ContactScale scale_;
    std::shared_ptr<const DistanceField> field_;
    std::unique_ptr<DeformedField> deformed_;
    std::shared_ptr<const ContactModes> modes_;
    std::shared_ptr<const ModalTable> point_modes_, proxy_modes_;

    int length_ = 0;                     ///< of rows of modes
    bool has_frame_ = false;             ///< moves as a whole
    Eigen::Vector3d principal_inertia_;  ///< of bodies with a frame
    Quaternion principal_axes_;          ///< to body axes
    // now
    Pose pose_;                 ///< of the axes
    Eigen::Matrix3d rotation_;  ///< of it
    BoundingSphere sphere_;
    Eigen::Vector3d centre_;                  ///< of mass; of prescribed bodies the origin
    Eigen::Vector3d centre_velocity_, spin_;  ///< at the start of the step
    double inverse_mass_ = 0;                 ///< 0: does not move as a whole
    Eigen::Matrix3d inverse_inertia_;         ///< world axes
    AlignedArray<double> response_;           ///< 1 / (1 + ½ ρ) of each mode, eq. (28); padded
    // in the next step, as sweeps change it
    Twist motion_;                           ///< of the centre, world axes
    AlignedArray<double> rates_;             ///< y', padded
    Eigen::VectorXd acceleration_, y_rate_;  ///< scratch
    Wrench wrench_;
    Eigen::VectorXd load_;
    bool is_touched_ = false;
};

}  // namespace pliant
