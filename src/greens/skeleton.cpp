#include "pliant/greens/skeleton.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// From 1 a blend before the plane to 0 a blend behind it, smooth.
double share_across(double distance, double blend) {
    const double t = std::clamp(0.5 - 0.5 * distance / blend, 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

}  // namespace

Skeleton::Skeleton(std::vector<Bone> bones) : bones_(std::move(bones)) {
    if (bones_.empty()) throw InputError("", "a skeleton needs a bone at least");
    for (int b = 0; b < num_bones(); ++b) {
        const std::string name = "bone \"" + bone(b).name + "\": ";
        if (bone(b).parent < -1 || bone(b).parent >= b)
            throw InputError("", name + "its parent must come before it in the list");
        if (!bone(b).joint.allFinite()) throw InputError("", name + "its joint is not finite");
        if (!bone(b).axis.allFinite() || !(bone(b).axis.norm() > 0))
            throw InputError("", name + "the axis of its hinge has no direction");
        bones_[at(b)].axis.normalize();
    }
}

void Skeleton::transforms(std::span<const double> angles, std::span<Pose> moved) const noexcept {
    assert(angles.size() == bones_.size() && moved.size() == bones_.size());
    for (std::size_t b = 0; b < bones_.size(); ++b) {
        const Bone& one = bones_[b];
        Pose turned;
        turned.rotation = rotation_from_vector(angles[b] * one.axis);
        turned.position = one.joint - turned.rotation * one.joint;
        moved[b] = one.parent < 0 ? turned : moved[at(one.parent)] * turned;
    }
}

/// Along the bone, away from its joint: to the middle of the joints after it, or as its parent.
Vector3d Skeleton::direction(int b) const {
    Vector3d along = Vector3d::Zero();
    for (const Bone& one : bones_)
        if (one.parent == b) along += one.joint - bone(b).joint;
    if (!(along.norm() > 0) && bone(b).parent >= 0)
        along = bone(b).joint - bone(bone(b).parent).joint;
    return along.norm() > 0 ? along.normalized() : Vector3d(Vector3d::Zero());
}

BoneWeights Skeleton::weights(int b, std::span<const Vector3d> points, double blend) const {
    BoneWeights result;
    const Vector3d along = direction(b);
    const auto add = [&](int bone_of, double weight) {
        result.bones.push_back(bone_of);
        result.weights.push_back(weight);
    };
    for (const Vector3d& x : points) {
        double own = 1;
        if (blend > 0 && along.norm() > 0) {
            std::vector<std::pair<int, double>> shares;
            if (const int parent = bone(b).parent; parent >= 0)
                shares.emplace_back(parent, share_across((x - bone(b).joint).dot(along), blend));
            for (int child = b + 1; child < num_bones(); ++child)
                if (bone(child).parent == b)
                    shares.emplace_back(child,
                                        share_across((bone(child).joint - x).dot(along), blend));
            double sum = 0;
            for (const auto& [other, share] : shares) sum += share;
            // several together never take more than all
            const double scale = sum > 1 ? 1 / sum : 1;
            for (const auto& [other, share] : shares)
                if (share > 0) {
                    add(other, scale * share);
                    own -= scale * share;
                }
        }
        if (own > 0) add(b, own);
        result.offsets.push_back(static_cast<int>(result.bones.size()));
    }
    return result;
}

Vector3d blended(const BoneWeights& weights, int point, std::span<const Pose> moved,
                 const Vector3d& x) noexcept {
    Vector3d sum = Vector3d::Zero();
    for (int k = weights.offsets[at(point)]; k < weights.offsets[at(point) + 1]; ++k)
        sum += weights.weights[at(k)] * moved[at(weights.bones[at(k)])].to_world(x);
    return sum;
}

}  // namespace pliant
