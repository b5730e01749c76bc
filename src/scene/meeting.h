#pragma once

#include "scene/world_in_making.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pliant {

/// Kinds of bodies as contact tells them apart, docs/scene.md section "Who meets whom".
enum class MeetingKind {
    Still,    ///< rigid, without density: stays, follows a path, or is held in a hand
    Thrown,   ///< rigid, with density
    Link,     ///< of a hand
    Held,     ///< reduced, held
    Free,     ///< reduced, free
    Fem,      ///< full FEM
    Greens,   ///< Green's functions
    Zones,    ///< elastic zones whose bones move
    Particle  ///< particles and cloth
};
inline constexpr int kNumMeetingKinds = 9;

/// What lets two bodies meet.
enum class Meeting {
    None,    ///< nothing, in this release
    Fixed,   ///< nothing needs to: neither gives way
    Itself,  ///< they meet by themselves, in one loop
    Pair,    ///< an entry of "contacts": a shell and a field, or "among"
    Among,   ///< an entry "among"
    Touch,   ///< an entry "greens"
};

/// The same for (a, b) and (b, a).
[[nodiscard]] Meeting meeting(MeetingKind a, MeetingKind b) noexcept;

/// A sentence for every two bodies that will pass through each other: what moves, falls or follows
/// a path reaches the other's box, and nothing lets the two meet. With the remedy. Of bodies that
/// are made, contacts and tools included. `num_compared`: how many boxes were looked at.
[[nodiscard]] std::vector<std::string> unmet_bodies(const WorldInMaking& world,
                                                    std::uint64_t* num_compared = nullptr);

}  // namespace pliant
