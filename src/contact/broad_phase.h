#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace pliant {

/// A body as the broad phase sees it.
struct BoundingSphere {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< world [m]
    double radius = 0;                                 ///< infinite: everywhere; negative: nowhere
    double rest_radius = 0;  ///< does not change: decides whose points meet whose solid
    bool has_points = false, has_solid = false;
    bool is_moving = false;     ///< contact may move it
    bool is_primitive = false;  ///< meets other primitives without points
};

/// Points of one body against the solid of another.
struct BodyPair {
    int shell = 0, field = 0;
    friend auto operator<=>(const BodyPair&, const BodyPair&) = default;
};

/// Finds bodies that may touch by a sweep along the axis on which they are spread most; sized once.
class BroadPhase {
public:
    BroadPhase(int num_bodies, int max_pairs);
    /// Pairs whose spheres meet, in ascending order. `is_complete` false: more than fit.
    [[nodiscard]] std::span<const BodyPair> find(std::span<const BoundingSphere> bodies,
                                                 bool& is_complete) noexcept;

private:
    void add(std::span<const BoundingSphere> bodies, int i, int j) noexcept;

    std::vector<int> order_;  ///< of bodies with an end, along the axis
    std::vector<int> endless_;
    std::vector<BodyPair> pairs_;
    int num_pairs_ = 0;
    bool is_complete_ = true;
};

}  // namespace pliant
