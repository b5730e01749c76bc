#pragma once

#include "pliant/core/pose.h"
#include "pliant/particles/particle_layout.h"

#include <span>

namespace pliant {

/// The pose that brings spheres of a tool at rest nearest to given places, docs/sphere-tools.md
/// eq. (3). Their own orientations count, so that one sphere or a row of them has a rotation, too.
class RigidFit {
public:
    /// `centre`: origin of the pose in the axes of the layout.
    RigidFit(const ParticleLayout& layout, const Eigen::Vector3d& centre);
    /// `turn`: of all spheres. Not finite where the places are not.
    [[nodiscard]] Pose operator()(std::span<const Eigen::Vector3d> places,
                                  const Quaternion& turn) const noexcept;

private:
    std::vector<Eigen::Vector3d> arms_;  // from the centre of mass at rest
    std::vector<double> shares_;         // of the mass
    Eigen::Vector3d middle_;             // centre of mass from the origin of the pose
    double spread_ = 0;                  // second moments of the spheres themselves
};

}  // namespace pliant
