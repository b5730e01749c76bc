#pragma once

namespace pliant {

// The rules of docs/fem.md section "Contact" that the decoupled and the coupled path share. All
// quantities are relative (soft node minus what it touches) and along the contact normal.

/// Acceleration at the end of a step that takes the velocity to zero there, eq. (C2).
[[nodiscard]] constexpr double capture_acceleration(double velocity, double acceleration,
                                                    double dt) noexcept {
    return -2.0 / dt * velocity - acceleration;
}
/// What of the force in the capture step the velocity reset of the next step takes back, for an
/// effective mass and the velocity v + dt/2 a with which the node came in, eq. (C6).
[[nodiscard]] constexpr double capture_correction(double mass, double half_step_velocity,
                                                  double dt) noexcept {
    return -mass * half_step_velocity / dt;
}

}  // namespace pliant
