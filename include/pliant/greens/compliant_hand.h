#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "pliant/body/rigid_shape.h"
#include "pliant/core/pose.h"
#include "pliant/greens/patch_stiffness.h"

namespace pliant {

/// A hand of capsules: the palm and five fingers of three links. Frame of the hand: fingers along
/// +z, the palm faces +y, the thumb is on the side of +x. SI.
struct GraspHand {
    static constexpr int kNumFingers = 5;  ///< thumb, index, middle, ring, little
    static constexpr int kLinksPerFinger = 3;
    static constexpr int kNumLinks = 1 + kNumFingers * kLinksPerFinger;  ///< the palm is link 0
    /// Of every finger: spread, then the bends of its three links [rad]; positive closes the hand.
    static constexpr int kJointsPerFinger = 4;
    static constexpr int kNumJoints = kNumFingers * kJointsPerFinger;

    struct Finger {
        Pose root;  ///< of its first joint in the hand: links along +z, which bend to +y
        std::array<double, kLinksPerFinger> lengths{};  ///< between joints [m]
        std::array<double, kLinksPerFinger> radii{};    ///< [m]
    };
    std::array<Finger, kNumFingers> fingers;
    Eigen::Vector3d palm_half_sizes = Eigen::Vector3d::Zero();  ///< a box

    /// Proportions of an adult's hand; `size` is from the wrist to the tip of the middle finger.
    /// Throws InputError when it is not positive.
    [[nodiscard]] static GraspHand adult(double size = 0.19);
    /// The tools for a DistributedContact, palm first.
    [[nodiscard]] std::vector<RigidShape> shapes() const;
};

using HandJoints = Eigen::Matrix<double, GraspHand::kNumJoints, 1>;
/// All joints for a hand from open (0) to a fist (1).
[[nodiscard]] HandJoints closing_hand(double closing) noexcept;
/// Poses of the links for a hand at `wrist`: the centre of the palm or of the capsule, whose axis
/// is z.
void hand_links(const GraspHand& hand, const Pose& wrist, const HandJoints& joints,
                std::span<Pose> links) noexcept;

struct CompliantHandOptions {
    double joint_stiffness = 1.5;  ///< [N m/rad]
    double wrist_stiffness = 800;  ///< [N/m]
    double wrist_rotation = 8;     ///< [N m/rad]
    double relaxation = 0.7;       ///< part of the way to the predicted equilibrium in a step
    double max_step = 0.25;        ///< of a joint [rad] in one step
};

/// A virtual hand drawn towards the measured one by springs in its joints and pushed back by what
/// it touches, docs/greens.md eq. (E14): no measured hand can command unbounded penetration. A step
/// allocates and throws nothing; what is not finite is ignored.
class CompliantHand {
public:
    /// Throws InputError for stiffnesses that are not positive, or a relaxation not in (0, 1].
    CompliantHand(GraspHand model, const CompliantHandOptions& options = {});

    /// Puts the hand there without any spring stretched.
    void place(const Pose& wrist, const HandJoints& joints) noexcept;
    /// One step towards balance: `loads` on the links about their origins and the stiffness of
    /// what they touch, as DistributedContact gives them (axes of the body are those of `wrist`).
    /// Returns false when an input is not finite: nothing has changed.
    bool step(const Pose& wrist, const HandJoints& joints, std::span<const Wrench> loads,
              std::span<const Matrix6d> stiffness) noexcept;

    [[nodiscard]] const GraspHand& model() const noexcept { return model_; }
    [[nodiscard]] std::span<const Pose> links() const noexcept { return links_; }
    [[nodiscard]] const HandJoints& joints() const noexcept { return joints_; }
    [[nodiscard]] const Pose& wrist() const noexcept { return wrist_; }
    /// Largest unbalanced torque of a joint in the last step [N m].
    [[nodiscard]] double imbalance() const noexcept { return imbalance_; }

private:
    static constexpr int kNumFreedoms = 6 + GraspHand::kNumJoints;
    using Vector = Eigen::Matrix<double, kNumFreedoms, 1>;
    using Matrix = Eigen::Matrix<double, kNumFreedoms, kNumFreedoms>;

    GraspHand model_;
    CompliantHandOptions options_;
    Pose wrist_;
    HandJoints joints_ = HandJoints::Zero();
    std::array<Pose, GraspHand::kNumLinks> links_;
    Matrix system_;
    double imbalance_ = 0;
};

}  // namespace pliant
