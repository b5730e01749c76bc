#include "pliant/contact/sphere_sweep.h"

#include <cmath>

namespace pliant {
namespace {

/// The way of a centre.
class CentreSweep {
public:
    CentreSweep(const Eigen::Vector3d& p, const Eigen::Vector3d& to, double rho) noexcept
        : p_(p), d_(to - p), dd_(d_.squaredNorm()), length_(std::sqrt(dd_)), rho_(rho) {}

    void add_triangle(const Corners& t, int index) noexcept {
        const Eigen::Vector3d n = t.area_vector(), m = p_ - t.a;
        const double height = n.dot(m), speed = n.dot(d_), size = n.norm();
        if (!(height > 0)) return;
        // nothing of it can be met before its plane is
        if (height > rho_ * size && !(speed < 0 && (rho_ * size - height) / speed < first_.s))
            return;
        // and what is met on the face is met before its sides
        if (add_face(t, n / size, index)) return;
        const Arm arms[3] = {arm_of(t.a), arm_of(t.b), arm_of(t.c)};
        for (int k = 0; k < 3; ++k) {
            const Arm &from = arms[k], &to = arms[k < 2 ? k + 1 : 0];
            add_edge(from, to, index);
            add_vertex(from, index);
        }
    }
    [[nodiscard]] const SphereHit& first() const noexcept { return first_; }

private:
    /// From a corner to the centre.
    struct Arm {
        Eigen::Vector3d corner, m;
        double along, square;  ///< m · d, |m|²
    };
    [[nodiscard]] Arm arm_of(const Eigen::Vector3d& corner) const noexcept {
        const Eigen::Vector3d m = p_ - corner;
        return {corner, m, m.dot(d_), m.squaredNorm()};
    }
    /// Grazing is no approach.
    [[nodiscard]] bool approaches(double speed) const noexcept { return speed < -1e-9 * length_; }

    bool add_face(const Corners& t, const Eigen::Vector3d& n, int index) noexcept {
        const double speed = n.dot(d_), height = n.dot(p_ - t.a);
        if (!approaches(speed)) return false;
        const double s = height < rho_ ? 0 : (rho_ - height) / speed;
        if (!(s < first_.s)) return false;
        const Eigen::Vector3d x = p_ + s * d_;
        const Eigen::Vector3d foot = x - n.dot(x - t.a) * n;
        const Eigen::Vector3d area = t.area_vector();
        const double least = -1e-9 * area.squaredNorm();
        if (area.dot((t.c - t.b).cross(foot - t.b)) < least ||
            area.dot((t.a - t.c).cross(foot - t.c)) < least ||
            area.dot((t.b - t.a).cross(foot - t.a)) < least)
            return false;
        first_ = {index, s, foot, n};
        return true;
    }

    /// Eq. (9) times the square of the side e: without roots until there is a hit.
    void add_edge(const Arm& from, const Arm& to, int index) noexcept {
        const Eigen::Vector3d e = to.corner - from.corner;
        const double ee = e.squaredNorm(), me = from.m.dot(e), de = d_.dot(e);
        if (!(ee > 0)) return;
        const double B = from.along * ee - me * de;
        if (!(B < 0)) return;
        const double A = dd_ * ee - de * de, C = (from.square - rho_ * rho_) * ee - me * me;
        double s;
        if (!solve(A, B, C, ee, s)) return;
        const double along = me + s * de;
        if (along < 0 || along > ee) return;
        accept(s, from.corner + along / ee * e, index);
    }

    void add_vertex(const Arm& arm, int index) noexcept {
        double s;
        if (solve(dd_, arm.along, arm.square - rho_ * rho_, 1, s)) accept(s, arm.corner, index);
    }

    /// First s with A s² + 2 B s + C = 0, or 0 where C is negative already, on approach.
    /// All three are `scale` times as large as they are for lengths.
    bool solve(double A, double B, double C, double scale, double& s) const noexcept {
        if (!(B < 0)) return false;
        if (C < 0) {
            s = 0;
            return true;
        }
        const double discriminant = B * B - A * C;
        if (!(A > 1e-18 * dd_ * scale) || discriminant < 0) return false;
        s = C / (-B + std::sqrt(discriminant));
        return s < first_.s;
    }

    void accept(double s, const Eigen::Vector3d& point, int index) noexcept {
        if (!(s < first_.s)) return;
        const Eigen::Vector3d away = p_ + s * d_ - point;
        const double distance = away.norm();
        if (!(distance > 0) || !approaches(d_.dot(away) / distance)) return;
        first_ = {index, s, point, away / distance};
    }

    Eigen::Vector3d p_, d_;
    double dd_, length_, rho_;
    SphereHit first_;
};

}  // namespace

SphereHit sweep_sphere(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                       const Eigen::Vector3d& to, double rho) noexcept {
    CentreSweep sweep(p, to, rho);
    for (const int i : near.reached(p, to, rho)) {
        sweep.add_triangle(near.patch().end(i), i);
        if (!(sweep.first().s > 0)) break;
    }
    return sweep.first();
}

}  // namespace pliant
