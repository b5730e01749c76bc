#include "particles/ellipsoid_contact.h"

#include <Eigen/LU>

namespace pliant {

using Eigen::Matrix3f;
using Eigen::Vector3f;

EllipsoidGap ellipsoid_gap(const Matrix3f& E_first, const Matrix3f& E_second,
                           const Vector3f& apart) noexcept {
    constexpr int kCorrections = 3;
    const float distance = apart.norm();
    // centres in one place: any direction is as good
    Vector3f n = distance > 0 ? Vector3f(apart / distance) : Vector3f::UnitZ();
    const auto gap_along = [&](const Vector3f& direction) {
        return apart.dot(direction) - reach(E_first, direction) - reach(E_second, direction);
    };
    EllipsoidGap best{gap_along(n), n};
    for (int k = 0; k < kCorrections; ++k) {
        const float h1 = reach(E_first, n), h2 = reach(E_second, n);
        if (!(h1 > 0 && h2 > 0)) break;
        // n of largest gap: (λ I + E₁/h₁ + E₂/h₂) n = d with λ the gap
        Matrix3f M = E_first / h1 + E_second / h2;
        M.diagonal().array() += std::max(best.gap, -0.25f * std::min(h1, h2));
        const Vector3f next = M.inverse() * apart;
        const float length = next.norm();
        if (!(length > 0) || !std::isfinite(length)) break;
        n = next / length;
        const float gap = gap_along(n);
        if (gap > best.gap) best = {gap, n};
    }
    return best;
}

}  // namespace pliant
