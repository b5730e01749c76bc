#include "body/rotation_rates.h"

#include <Eigen/Geometry>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// b = (1 − cos θ)/θ², c = (θ − sin θ)/θ³, and their derivatives by θ, divided by θ.
struct Coefficients {
    double b = 0, c = 0, b_slope = 0, c_slope = 0;
};

Coefficients coefficients(double angle) noexcept {
    const double square = angle * angle;
    Coefficients k;
    if (angle > 1) {
        const double sine = std::sin(angle), cosine = std::cos(angle);
        k.b = (1 - cosine) / square;
        k.c = (angle - sine) / (square * angle);
        k.b_slope = (sine / angle - 2 * k.b) / square;
        k.c_slope = (k.b - 3 * k.c) / square;
        return k;
    }
    // b = Σ (−θ²)ᵏ/(2k + 2)!, c = Σ (−θ²)ᵏ/(2k + 3)!: the quotients above cancel near zero; ten
    // terms are exact to round-off up to θ = 1
    double power = 1, factorial = 2;  // (−θ²)ᵏ and (2k + 2)!
    double previous_power = 0;
    for (int i = 0; i < 10; ++i) {
        const double next = factorial * (2 * i + 3);  // (2k + 3)!
        k.b += power / factorial;
        k.c += power / next;
        k.b_slope -= 2 * i * previous_power / factorial;
        k.c_slope -= 2 * i * previous_power / next;
        previous_power = power;
        power *= -square;
        factorial = next * (2 * i + 4);
    }
    return k;
}

}  // namespace

RotationRates rotation_rates(const Vector3d& phi, const Vector3d& phi_rate,
                             const Vector3d& phi_rate_2) noexcept {
    const Coefficients k = coefficients(phi.norm());
    // θ θ̇ = φ · φ̇
    const double b_rate = k.b_slope * phi.dot(phi_rate), c_rate = k.c_slope * phi.dot(phi_rate);
    const Vector3d first = phi.cross(phi_rate), second = phi.cross(first);
    return {phi_rate + k.b * first + k.c * second,
            phi_rate_2 + k.b * phi.cross(phi_rate_2) + b_rate * first +
                k.c * (phi_rate.cross(first) + phi.cross(phi.cross(phi_rate_2))) + c_rate * second};
}

Eigen::Matrix3d left_jacobian(const Vector3d& phi) noexcept {
    Eigen::Matrix3d J;
    for (int i = 0; i < 3; ++i)
        J.col(i) = rotation_rates(phi, Vector3d::Unit(i), Vector3d::Zero()).omega;
    return J;
}

}  // namespace pliant
