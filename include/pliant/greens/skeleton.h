#pragma once

#include "pliant/core/pose.h"

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// Turns about a hinge at its joint, with all bones after it. At rest, axes of the body.
struct Bone {
    std::string name;
    int parent = -1;                                  ///< a bone before it; −1: the body itself
    Eigen::Vector3d joint = Eigen::Vector3d::Zero();  ///< on the hinge [m]
    Eigen::Vector3d axis = Eigen::Vector3d::UnitY();  ///< of the hinge, any length
};

/// Weights of bones at points: those of point i from offsets[i] to offsets[i + 1], sum 1.
struct BoneWeights {
    std::vector<int> offsets = {0}, bones;
    std::vector<double> weights;
};

/// Bones in a tree, docs/greens-zones.md eqs. (9)–(11). Immutable.
class Skeleton {
public:
    /// Throws InputError, naming the bone, for a parent that does not come before it, a joint that
    /// is not finite and an axis without length.
    explicit Skeleton(std::vector<Bone> bones);

    [[nodiscard]] int num_bones() const noexcept { return static_cast<int>(bones_.size()); }
    [[nodiscard]] const Bone& bone(int b) const noexcept {
        return bones_[static_cast<std::size_t>(b)];
    }
    /// Where each bone has gone from rest, for angles of its hinges [rad]; eq. (9).
    void transforms(std::span<const double> angles, std::span<Pose> moved) const noexcept;

    /// Weights at points of `bone`: its own, but that its parent and the bones after it share in
    /// within `blend` [m] of the planes through their joints across the bone, half and half in the
    /// plane; eq. (10). 0: its own alone.
    [[nodiscard]] BoneWeights weights(int bone, std::span<const Eigen::Vector3d> points,
                                      double blend) const;

private:
    [[nodiscard]] Eigen::Vector3d direction(int bone) const;
    std::vector<Bone> bones_;
};

/// Σ w_b T_b x of point i, eq. (11).
[[nodiscard]] Eigen::Vector3d blended(const BoneWeights& weights, int point,
                                      std::span<const Pose> moved,
                                      const Eigen::Vector3d& x) noexcept;

}  // namespace pliant
