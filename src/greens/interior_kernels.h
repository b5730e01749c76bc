#pragma once

#include "greens/kelvin.h"

/// Derivatives of the fundamental solutions along the load point x, for results inside the body:
/// docs/greens.md eqs. (D6), (D7). r = y − x, n unit normal at y, shear modulus 1.
namespace pliant {

using StressRows = Eigen::Matrix<double, 6, 3>;  ///< rows xx yy zz yz zx xy

inline constexpr int kStressPairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

/// Stress at x by a unit traction (or force) along k = 0, 1, 2 at y.
[[nodiscard]] inline StressRows kelvin_stress_of_traction(double poisson_ratio,
                                                          const Eigen::Vector3d& r) {
    const double distance = r.norm(), compressibility = 1 - 2 * poisson_ratio;
    const Eigen::Vector3d d = r / distance;
    StressRows rows;
    for (int row = 0; row < 6; ++row) {
        const int i = kStressPairs[row][0], j = kStressPairs[row][1];
        for (int k = 0; k < 3; ++k)
            rows(row, k) = compressibility * ((k == i) * d[j] + (k == j) * d[i] - (i == j) * d[k]) +
                           3 * d[i] * d[j] * d[k];
    }
    return rows / (8 * std::numbers::pi * (1 - poisson_ratio) * distance * distance);
}

/// Stress at x by a unit jump of displacement along k at y, with its sign in the identity.
[[nodiscard]] inline StressRows kelvin_stress_of_displacement(double poisson_ratio,
                                                              const Eigen::Vector3d& r,
                                                              const Eigen::Vector3d& n) {
    const double distance = r.norm(), nu = poisson_ratio;
    const Eigen::Vector3d d = r / distance;
    const double dn = d.dot(n);
    StressRows rows;
    for (int row = 0; row < 6; ++row) {
        const int i = kStressPairs[row][0], j = kStressPairs[row][1];
        for (int k = 0; k < 3; ++k)
            rows(row, k) =
                3 * dn *
                    ((1 - 2 * nu) * (i == j) * d[k] + nu * ((i == k) * d[j] + (j == k) * d[i]) -
                     5 * d[i] * d[j] * d[k]) +
                3 * nu * (n[i] * d[j] + n[j] * d[i]) * d[k] +
                (1 - 2 * nu) * (3 * n[k] * d[i] * d[j] + n[j] * (i == k) + n[i] * (j == k)) -
                (1 - 4 * nu) * n[k] * (i == j);
    }
    return rows / (4 * std::numbers::pi * (1 - nu) * distance * distance * distance);
}

/// Gradients along x of the potential and of its derivative along n.
[[nodiscard]] inline Eigen::Vector3d laplace_potential_gradient(const Eigen::Vector3d& r) {
    const double distance = r.norm();
    return r / (4 * std::numbers::pi * distance * distance * distance);
}
[[nodiscard]] inline Eigen::Vector3d laplace_flux_gradient(const Eigen::Vector3d& r,
                                                           const Eigen::Vector3d& n) {
    const double distance = r.norm();
    return (n - 3 * r.dot(n) / (distance * distance) * r) /
           (4 * std::numbers::pi * distance * distance * distance);
}

}  // namespace pliant
