#pragma once

#include <algorithm>

namespace pliant {

/// Time constant [s] and largest speed [m/s] with which what overlaps at the start of a step comes
/// out: a body that begins in a plane rises out of it and hops by half a centimetre at most.
inline constexpr float kPushOutTime = 0.1f, kPushOutSpeed = 0.3f;

/// Gap [m] that contact asks for at the end of a step of dt seconds: none left of what a motion
/// makes, docs/particles.md eq. (11); what was there at the start goes slowly, so that putting
/// right does not become velocity.
[[nodiscard]] inline float gap_at_end(float gap_at_start, float dt) noexcept {
    const float speed = std::min(-gap_at_start / kPushOutTime, kPushOutSpeed);
    return gap_at_start < 0 ? std::min(gap_at_start + speed * dt, 0.0f) : 0.0f;
}

}  // namespace pliant
