#pragma once

#include "pliant/geometry/surface_query.h"

#include <cmath>

namespace pliant::detail {

/// u × v in the plane with the right sign, always: far from zero by plain products, near it by
/// fused ones [Kahan2004].
inline double signed_area(double ux, double uy, double vx, double vy) noexcept {
    const double left = ux * vy, right = uy * vx, area = left - right;
    if (std::abs(area) > 4e-16 * (std::abs(left) + std::abs(right))) return area;
    const double error = std::fma(-uy, vx, right);
    return std::fma(ux, vy, -right) + error;
}

/// A ray turned into the z axis of a sheared frame, [Woop2013]. A vertex has the same place there
/// in every triangle that uses it, and the side on which the ray passes an edge is decided exactly;
/// so no ray slips between two triangles that share an edge or a vertex.
class ShearedRay {
public:
    ShearedRay(const Eigen::Vector3d& origin, const Eigen::Vector3d& direction) noexcept
        : origin_(origin) {
        direction.cwiseAbs().maxCoeff(&z_);
        x_ = (z_ + 1) % 3;
        y_ = (z_ + 2) % 3;
        inverse_ = 1.0 / direction[z_];
        shear_x_ = direction[x_] / direction[z_];
        shear_y_ = direction[y_] / direction[z_];
    }

    /// Fills t (of any sign) and barycentric. Triangles seen edge-on and degenerate ones are not
    /// hit; their neighbours are.
    bool hits(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c,
              RayHit& hit) const noexcept {
        const Eigen::Vector3d A = sheared(a), B = sheared(b), C = sheared(c);
        const double u = signed_area(B.x(), B.y(), C.x(), C.y());
        const double v = signed_area(C.x(), C.y(), A.x(), A.y());
        const double w = signed_area(A.x(), A.y(), B.x(), B.y());
        if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return false;
        const double sum = u + v + w;
        if (sum == 0) return false;
        hit.barycentric = Eigen::Vector3d(u, v, w) / sum;
        hit.t = inverse_ * (hit.barycentric[0] * A.z() + hit.barycentric[1] * B.z() +
                            hit.barycentric[2] * C.z());
        return true;
    }

private:
    [[nodiscard]] Eigen::Vector3d sheared(const Eigen::Vector3d& p) const noexcept {
        const Eigen::Vector3d q = p - origin_;
        return {q[x_] - shear_x_ * q[z_], q[y_] - shear_y_ * q[z_], q[z_]};
    }

    Eigen::Vector3d origin_;
    int x_, y_, z_ = 0;
    double inverse_, shear_x_, shear_y_;
};

}  // namespace pliant::detail
