#pragma once

#include "pliant/contact/triangle_patch.h"

#include <array>

namespace pliant {

/// f(s) = (x − a(s)) · n(s) for a fixed point and a triangle whose corners move in straight lines,
/// n = (b − a) × (c − a): a cubic, positive in front of the triangle; docs/contact-moving.md
/// eq. (4).
struct Coplanarity {
    std::array<double, 4> k = {};  ///< f = k₀ + k₁ s + k₂ s² + k₃ s³
    double scale = 0;              ///< of the products that f sums: below 1e-14 of it, f is zero

    [[nodiscard]] double operator()(double s) const noexcept {
        return k[0] + s * (k[1] + s * (k[2] + s * k[3]));
    }
};
[[nodiscard]] Coplanarity coplanarity(const Eigen::Vector3d& x, const Corners& start,
                                      const Corners& end) noexcept;

/// Where f goes from positive to negative for s in [0, 1], in increasing order; returns how many.
/// Zero at the start counts as positive.
int falling_roots(const Coplanarity& f, std::array<double, 3>& roots) noexcept;

}  // namespace pliant
