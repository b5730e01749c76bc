#pragma once

#include "haptics/six_solve.h"

namespace pliant {

/// What a step may do to the depth of contacts, docs/haptics.md eq. (20b). Steps are (shift,
/// length × rotation vector).
struct DepthBound {
    double max_depth = 0;  ///< that no contact may exceed [m]
    double approach = 0;   ///< how much nearer the other bodies come by themselves [m]
    double length = 1;     ///< ρ
    double reach = 0;      ///< B: no point of the tool is farther from the grasp point [m]
};

/// Changes `step` by as little as it takes to keep listed contacts within the bound (to first
/// order), and shortens it where one that is not listed could leave it. True: it was changed.
/// Bounded time, no allocation.
bool hold_depth(const ToolContact& contact, const DepthBound& bound, Vector6d& step) noexcept;

/// Largest depth that contacts may have after the step; to first order for those that are listed.
[[nodiscard]] double expected_depth(const ToolContact& contact, const DepthBound& bound,
                                    const Vector6d& step) noexcept;

}  // namespace pliant
