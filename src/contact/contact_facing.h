#pragma once

#include "pliant/contact/point_traversal.h"

namespace pliant {

/// Gradients shorter than this have no direction: on the medial axis of a solid.
inline constexpr float kShortestGradient = 0.5f;

/// Through which face of a solid points of a shell came in, docs/contact.md eq. (26b). The
/// face nearest to a point need not be that one: near an edge it is the one round the corner, deep
/// in a thin wall the far side. Arrays are sized once.
class ContactFacing {
public:
    explicit ContactFacing(int most_points);

    /// Unit normals into the shell of the points found, in the axes of the field; fill them first.
    [[nodiscard]] float* nx() noexcept { return n_[0].data(); }
    [[nodiscard]] float* ny() noexcept { return n_[1].data(); }
    [[nodiscard]] float* nz() noexcept { return n_[2].data(); }

    /// Takes distances and gradients at the points and replaces those of points that came through
    /// another face than the nearest. `share` becomes how much each point counts, `entry` with how
    /// much of that it begins when it is new; 0 to 1.
    void turn(const DistanceField& field, const PointBatch& points, const SampleBatch& samples,
              float* share, float* entry) noexcept;

private:
    /// One look from `step` outwards for all that are left; keeps those that are still inside.
    void look(const DistanceField& field, const PointBatch& points, float step,
              const SampleBatch& samples, float* share, float* entry) noexcept;

    std::vector<float> n_[3];
    std::vector<int> left_;  ///< points whose face is not found yet
    int num_left_ = 0;
    float deepest_ = 0;                          ///< of all by their nearest faces [m]
    std::vector<float> x_[3], distance_, g_[3];  ///< of them, outside
};

}  // namespace pliant
