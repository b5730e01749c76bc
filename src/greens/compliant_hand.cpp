#include "pliant/greens/compliant_hand.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kFingers = GraspHand::kNumFingers, kLinks = GraspHand::kLinksPerFinger,
              kJoints = GraspHand::kJointsPerFinger;
/// The wrist moves no further in one step [m].
constexpr double kWristStep = 0.02;

Pose turned_pose(const Vector3d& axis, double angle) {
    return {Vector3d::Zero(), rotation_from_vector(angle * axis)};
}

int link_of(int finger, int bone) { return 1 + finger * kLinks + bone; }

using HandJacobian = Eigen::Matrix<double, 6, 6 + GraspHand::kNumJoints>;

/// A joint in the world: its axis and a point on it.
struct JointAxis {
    Vector3d axis, origin;
};

/// Poses of the links and the axes of the joints that move them.
void place_hand_links(const GraspHand& hand, const Pose& wrist, const HandJoints& joints,
                      std::span<Pose> links, std::span<JointAxis> axes) noexcept {
    links[0] = wrist * Pose{Vector3d(0, 0, hand.palm_half_sizes.z()), Quaternion::Identity()};
    for (int f = 0; f < kFingers; ++f) {
        const GraspHand::Finger& finger = hand.fingers[at(f)];
        const int first = f * kJoints;
        Pose joint = wrist * finger.root;
        axes[at(first)] = {joint.rotation * Vector3d::UnitY(), joint.position};
        joint = joint * turned_pose(Vector3d::UnitY(), joints[first]);
        for (int bone = 0; bone < kLinks; ++bone) {
            // bending turns z towards y
            axes[at(first + 1 + bone)] = {joint.rotation * -Vector3d::UnitX(), joint.position};
            joint = joint * turned_pose(-Vector3d::UnitX(), joints[first + 1 + bone]);
            const double length = finger.lengths[at(bone)];
            links[at(link_of(f, bone))] =
                joint * Pose{Vector3d(0, 0, length / 2), Quaternion::Identity()};
            joint = joint * Pose{Vector3d(0, 0, length), Quaternion::Identity()};
        }
    }
}

/// x ← A⁻¹ x for a positive definite A, which becomes its factor. False when it is not.
template <class Matrix, class Vector>
bool solve_positive(Matrix& A, Vector& x) noexcept {
    const Eigen::Index size = A.rows();
    for (Eigen::Index k = 0; k < size; ++k) {
        for (Eigen::Index j = 0; j < k; ++j)
            A.col(k).tail(size - k) -= A(k, j) * A.col(j).tail(size - k);
        if (!(A(k, k) > 0)) return false;
        A.col(k).tail(size - k) /= std::sqrt(A(k, k));
    }
    for (Eigen::Index k = 0; k < size; ++k)
        x[k] = (x[k] - A.row(k).head(k).dot(x.head(k))) / A(k, k);
    for (Eigen::Index k = size; k-- > 0;)
        x[k] = (x[k] - A.col(k).tail(size - k - 1).dot(x.tail(size - k - 1))) / A(k, k);
    return true;
}

/// Motion of a link's origin and its turning for unit velocities of the freedoms: wrist along and
/// about the axes, then the joints.
HandJacobian link_jacobian(int link, const Vector3d& x, const Vector3d& wrist,
                           std::span<const JointAxis> axes) noexcept {
    HandJacobian J = HandJacobian::Zero();
    const auto turn = [&](int column, const Vector3d& axis, const Vector3d& origin) {
        J.col(column) << axis.cross(x - origin), axis;
    };
    for (int k = 0; k < 3; ++k) {
        J(k, k) = 1;
        turn(3 + k, Vector3d::Unit(k), wrist);
    }
    if (link == 0) return J;
    const int finger = (link - 1) / kLinks, bone = (link - 1) % kLinks;
    for (int k = finger * kJoints; k <= finger * kJoints + 1 + bone; ++k)
        turn(6 + k, axes[at(k)].axis, axes[at(k)].origin);
    return J;
}

}  // namespace

GraspHand GraspHand::adult(double size) {
    if (!(size > 0) || !std::isfinite(size))
        throw InputError("", "hand.size", std::to_string(size), "value > 0 [m]");
    GraspHand hand;
    hand.palm_half_sizes = size * Vector3d(0.2, 0.06, 0.265);
    const std::array<double, kFingers> length{0.85, 0.92, 1.0, 0.94, 0.75};
    const std::array<double, kFingers> across{0, 0.15, 0.05, -0.05, -0.15};
    for (int f = 0; f < kFingers; ++f) {
        Finger& finger = hand.fingers[at(f)];
        finger.root.position = size * Vector3d(across[at(f)], 0, 0.53);
        for (int bone = 0; bone < kLinks; ++bone) {
            finger.lengths[at(bone)] = size * length[at(f)] * std::array{0.21, 0.14, 0.1}[at(bone)];
            finger.radii[at(bone)] = size * std::array{0.048, 0.044, 0.04}[at(bone)];
        }
    }
    // the thumb stands out to the side and forwards, and bends across the palm
    Finger& thumb = hand.fingers[0];
    thumb.root.position = size * Vector3d(0.19, 0.04, 0.15);
    Matrix3d axes;
    axes.col(2) = Vector3d(0.55, 0.6, 0.6).normalized();
    const Vector3d across_palm(-1, 0.5, 0.2);
    axes.col(1) = (across_palm - across_palm.dot(axes.col(2)) * axes.col(2)).normalized();
    axes.col(0) = axes.col(1).cross(axes.col(2));
    thumb.root.rotation = Quaternion(axes);
    return hand;
}

std::vector<RigidShape> GraspHand::shapes() const {
    std::vector<RigidShape> all{RigidShape::box(palm_half_sizes)};
    for (const Finger& finger : fingers)
        for (int bone = 0; bone < kLinksPerFinger; ++bone)
            all.push_back(
                RigidShape::capsule(finger.radii[at(bone)], finger.lengths[at(bone)] / 2));
    return all;
}

HandJoints closing_hand(double closing) noexcept {
    const double c = closing > 0 ? std::min(closing, 1.0) : 0.0;
    const std::array<double, kFingers> spread{0, 0.12, 0.02, -0.08, -0.18};
    HandJoints joints;
    for (int f = 0; f < kFingers; ++f) {
        const bool is_thumb = f == 0;
        joints[f * kJoints] = (1 - 0.7 * c) * spread[at(f)];
        joints[f * kJoints + 1] = c * (is_thumb ? 0.7 : 1.35);
        joints[f * kJoints + 2] = c * (is_thumb ? 0.8 : 1.5);
        joints[f * kJoints + 3] = c * (is_thumb ? 0.9 : 0.9);
    }
    return joints;
}

void hand_links(const GraspHand& hand, const Pose& wrist, const HandJoints& joints,
                std::span<Pose> links) noexcept {
    std::array<JointAxis, GraspHand::kNumJoints> axes;
    place_hand_links(hand, wrist, joints, links, axes);
}

CompliantHand::CompliantHand(GraspHand model, const CompliantHandOptions& options)
    : model_(std::move(model)), options_(options) {
    const auto check = [](double value, const char* what) {
        if (!(value > 0) || !std::isfinite(value))
            throw InputError("", "hand." + std::string(what), std::to_string(value), "value > 0");
    };
    check(options.joint_stiffness, "joint_stiffness");
    check(options.wrist_stiffness, "wrist_stiffness");
    check(options.wrist_rotation, "wrist_rotation");
    check(options.max_step, "max_step");
    if (!(options.relaxation > 0 && options.relaxation <= 1))
        throw InputError("", "hand.relaxation", std::to_string(options.relaxation),
                         "0 < value ≤ 1");
    place({}, closing_hand(0));
}

void CompliantHand::place(const Pose& wrist, const HandJoints& joints) noexcept {
    if (!is_finite(wrist) || !joints.allFinite()) return;
    wrist_ = wrist;
    joints_ = joints;
    hand_links(model_, wrist_, joints_, links_);
}

bool CompliantHand::step(const Pose& wrist, const HandJoints& joints, std::span<const Wrench> loads,
                         std::span<const Matrix6d> stiffness) noexcept {
    if (!is_finite(wrist) || !joints.allFinite() || loads.size() != links_.size() ||
        stiffness.size() != links_.size())
        return false;
    for (std::size_t l = 0; l < loads.size(); ++l)
        if (!loads[l].force.allFinite() || !loads[l].torque.allFinite() ||
            !stiffness[l].allFinite())
            return false;

    // springs to the measured hand, docs/greens.md eq. (E14)
    Vector residual;
    residual << options_.wrist_stiffness * (wrist.position - wrist_.position),
        options_.wrist_rotation * rotation_difference(wrist_.rotation, wrist.rotation),
        options_.joint_stiffness * (joints - joints_);
    Vector springs;
    springs << Vector3d::Constant(options_.wrist_stiffness),
        Vector3d::Constant(options_.wrist_rotation), HandJoints::Constant(options_.joint_stiffness);
    system_ = springs.asDiagonal();
    // what the links touch
    std::array<JointAxis, GraspHand::kNumJoints> axes;
    place_hand_links(model_, wrist_, joints_, links_, axes);
    for (int l = 0; l < GraspHand::kNumLinks; ++l) {
        if (stiffness[at(l)].isZero(0) && loads[at(l)].force.isZero(0)) continue;
        const HandJacobian J = link_jacobian(l, links_[at(l)].position, wrist_.position, axes);
        Eigen::Matrix<double, 6, 1> load;
        load << loads[at(l)].force, loads[at(l)].torque;
        residual += J.transpose() * load;
        const Matrix6d K = 0.5 * (stiffness[at(l)] + stiffness[at(l)].transpose());
        system_ += J.transpose().lazyProduct(K.lazyProduct(J).eval());
    }
    imbalance_ = residual.tail<GraspHand::kNumJoints>().cwiseAbs().maxCoeff();

    Vector move = residual;
    if (!solve_positive(system_, move)) move = residual.cwiseQuotient(springs);
    move *= options_.relaxation;
    if (!move.allFinite()) return false;
    const double far = std::max(
        {move.head<3>().norm() / kWristStep, move.segment<3>(3).norm() / options_.max_step,
         move.tail<GraspHand::kNumJoints>().cwiseAbs().maxCoeff() / options_.max_step, 1.0});
    move /= far;
    place(advance(wrist_, {move.head<3>(), move.segment<3>(3)}, 1),
          joints_ + move.tail<GraspHand::kNumJoints>());
    return true;
}

}  // namespace pliant
