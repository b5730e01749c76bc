#pragma once

#include <cmath>
#include <numbers>

#include <Eigen/Core>

/// Fundamental solutions, docs/greens.md eqs. (B2), (B3): plainly, one pair of points at a time.
/// r = y − x from the load point x to the field point y; n unit normal at y; shear modulus 1.
namespace pliant {

/// Nothing is divided by 1 − 2ν: the incompressible limit is as good as any other.
struct KelvinFactors {
    explicit KelvinFactors(double poisson_ratio)
        : displacement(1 / (16 * std::numbers::pi * (1 - poisson_ratio))),
          traction(-1 / (8 * std::numbers::pi * (1 - poisson_ratio))),
          displacement_diagonal(3 - 4 * poisson_ratio),
          compressibility(1 - 2 * poisson_ratio) {}
    double displacement, traction;
    double displacement_diagonal, compressibility;
};

/// u*_ij: displacement along j at y by a unit force along i at x.
[[nodiscard]] inline Eigen::Matrix3d kelvin_displacement(const KelvinFactors& factors,
                                                         const Eigen::Vector3d& r) {
    const double distance = r.norm();
    const Eigen::Vector3d d = r / distance;
    return factors.displacement / distance *
           (factors.displacement_diagonal * Eigen::Matrix3d::Identity() + d * d.transpose());
}

/// p*_ij: traction along j at y by a unit force along i at x.
[[nodiscard]] inline Eigen::Matrix3d kelvin_traction(const KelvinFactors& factors,
                                                     const Eigen::Vector3d& r,
                                                     const Eigen::Vector3d& n) {
    const double distance = r.norm();
    const Eigen::Vector3d d = r / distance;
    const double compressibility = factors.compressibility;
    return factors.traction / (distance * distance) *
           (d.dot(n) * (compressibility * Eigen::Matrix3d::Identity() + 3 * d * d.transpose()) -
            compressibility * (d * n.transpose() - n * d.transpose()));
}

/// Potential of a unit source, and its derivative along n.
[[nodiscard]] inline double laplace_potential(const Eigen::Vector3d& r) {
    return 1 / (4 * std::numbers::pi * r.norm());
}
[[nodiscard]] inline double laplace_flux(const Eigen::Vector3d& r, const Eigen::Vector3d& n) {
    const double distance = r.norm();
    return -r.dot(n) / (4 * std::numbers::pi * distance * distance * distance);
}

}  // namespace pliant
