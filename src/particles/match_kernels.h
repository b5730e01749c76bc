#pragma once

/// Shape matching of groups of oriented particles, compiled for each instruction set.
/// Per group and pass about 30 flops and 80 bytes for each member and 700 flops for the rotation.
namespace pliant {

/// What shape matching reads and writes of a particle.
struct alignas(64) MatchParticle {
    float x[4];                 ///< predicted position, from the origin of the step [m]; last: zero
    float a0[4], a1[4], a2[4];  ///< columns of T S, docs/particles.md eq. (3); last of a0: how far
                                ///< it follows goals (0: held), the others zero
};

/// Groups ordered by colour. A group has its own particle as first member.
struct MatchGroups {
    const int *offsets, *members;  ///< group g: members [offsets[g], offsets[g + 1])
    const float* rest;             ///< of each member: from the rest centre [m], and mass [kg]
    const float* inverse_mass;     ///< of each group
    const float* spread;  ///< S of its own particle: xx xy xz yy yz zz; then the distance [m]
                          ///< below which goals are not followed; one unused
};

/// Groups that are matched together: rotations are found side by side.
inline constexpr int kMatchLanes = 8;

/// Best rotation of a matrix (three columns), as (w, x, y, z): the slow and sure way, for groups
/// that turned too far. False: keep what there is.
using PolarFallback = bool (*)(const float* A, float* q) noexcept;

/// One pass over the groups [begin, end), at most kMatchLanes that share no particle. `turns`: of
/// each particle (w, x, y, z), start and result of its group's rotation. Returns how many rotations
/// had not settled.
int match_groups(const MatchGroups& groups, int begin, int end, MatchParticle* particles,
                 float* turns, PolarFallback fallback) noexcept;

}  // namespace pliant
