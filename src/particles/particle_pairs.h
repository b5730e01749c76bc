#pragma once

#include "particles/match_kernels.h"

#include <Eigen/Geometry>
#include <span>
#include <vector>

namespace pliant {

/// Particles of different objects that may touch in a step: their bounding spheres, enlarged,
/// overlap. Sizes are fixed when it is made.
class ParticlePairs {
public:
    struct Pair {
        int first, second;
    };
    /// `object` and `radius` (of the bounding sphere) of each particle.
    ParticlePairs(std::vector<int> object, std::vector<float> radius, int capacity);

    /// In order of the particles; false: more pairs than fit, the rest is left out.
    bool find(std::span<const MatchParticle> particles) noexcept;
    [[nodiscard]] std::span<const Pair> pairs() const noexcept { return {pairs_.data(), size_}; }

private:
    struct Candidate {
        float low, high;  // along x
        int particle;
    };
    std::vector<int> object_;
    std::vector<float> radius_;
    std::vector<Eigen::AlignedBox3f> boxes_;  // of the objects
    std::vector<Candidate> candidates_;
    std::vector<Pair> pairs_;
    std::size_t size_ = 0;
};

}  // namespace pliant
