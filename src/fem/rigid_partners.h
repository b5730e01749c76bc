#pragma once

#include "fem/surface_contact.h"

namespace pliant {

/// Rigid bodies around a soft one, between the ends of a step that is cut into inner ones. Each has
/// its own step behind it, under the contact force that was expected: that of the step before. What
/// contact really does makes it differ from there; a free body, or one that a RigidGuide holds,
/// carries this difference along from inner step to inner step, so that both sides are in balance
/// at every one of them; docs/fem.md eq. (B5). At the end it goes into the body.
class RigidPartners {
public:
    /// What the next step needs to know.
    struct Handed {
        Wrench expected;  ///< mean of the last step, about the origin of the frame [N, N m]
        Wrench last;      ///< of its last inner step, likewise
    };

    explicit RigidPartners(std::vector<RigidBody*> obstacles);

    [[nodiscard]] const std::vector<RigidBody*>& obstacles() const noexcept { return obstacles_; }
    [[nodiscard]] std::span<Handed> handed() noexcept { return handed_; }
    [[nodiscard]] std::span<const Handed> handed() const noexcept { return handed_; }

    /// Before the inner steps.
    void begin() noexcept;
    /// To an inner step of `h` seconds that ends at `t` of the step of `dt` seconds. motions() and
    /// solved() are in a time that runs `factor` times as fast, with forces over `stiffness`:
    /// docs/fem.md eq. (B1).
    void predict(double t, double dt, double h, double factor, double stiffness) noexcept;
    /// Length of the last inner step, which the next begins from [s].
    [[nodiscard]] double last_step() const noexcept { return last_step_; }
    void set_last_step(double h) noexcept { last_step_ = h; }
    /// For SurfaceContact.
    [[nodiscard]] std::span<const RigidMotion> motions() const noexcept { return motions_; }
    [[nodiscard]] std::span<const int> partner_of() const noexcept { return partner_of_; }
    [[nodiscard]] std::span<ContactPartner> solved() noexcept { return solved_; }
    /// The predicted inner step is made, under these loads.
    void accept(std::span<const Wrench> wrenches) noexcept;
    /// Moves the bodies on, past the last `left_out` seconds without contact. `mean` of the step
    /// goes into their next step.
    void end(std::span<const Wrench> mean, double left_out) noexcept;
    /// Contact is forgotten.
    void forget() noexcept;

private:
    /// How a partner differs from the motion that it would have.
    struct Difference {
        Eigen::Vector3d shift = Eigen::Vector3d::Zero();
        Quaternion turn = Quaternion::Identity();
        Twist velocity, acceleration;
        Twist contact;  ///< the part of the acceleration that is of contact
    };
    struct Partner {
        int obstacle = -1;  ///< the first one
        RigidGuide* guide = nullptr;
        Eigen::Vector3d centre_body = Eigen::Vector3d::Zero();  ///< in axes of the obstacle
        double mass = 0;
        Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< in the world
        Wrench expected;                                    ///< about the centre
        Difference now, next;
        Twist free;  ///< acceleration in the predicted step without contact
    };
    void add(int obstacle, RigidGuide* guide) noexcept;
    void expect(Partner& partner, int obstacle) noexcept;

    std::vector<RigidBody*> obstacles_;
    std::vector<Handed> handed_;
    std::vector<RigidMotion> motions_;
    std::vector<int> partner_of_;
    std::vector<Partner> partners_;
    std::vector<ContactPartner> solved_;
    double h_ = 0, factor_ = 1;  ///< of the predicted inner step
    double last_step_ = 0;
};

}  // namespace pliant
