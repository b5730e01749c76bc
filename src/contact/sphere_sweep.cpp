#include "pliant/contact/sphere_sweep.h"

#include <cmath>

namespace pliant {
namespace {

/// The way of a centre.
class CentreSweep {
public:
    CentreSweep(const Eigen::Vector3d& p, const Eigen::Vector3d& to, double rho) noexcept
        : p_(p), d_(to - p), length_(d_.norm()), rho_(rho) {}

    void add_triangle(const Corners& t, int index) noexcept {
        const Eigen::Vector3d n = t.area_vector();
        const double size = n.norm();
        if (!(size > 0) || !(n.dot(p_ - t.a) > 0)) return;
        add_face(t, n / size, index);
        for (const auto& [from, to] : {std::pair(&t.a, &t.b), {&t.b, &t.c}, {&t.c, &t.a}}) {
            add_edge(*from, *to, index);
            add_vertex(*from, index);
        }
    }
    [[nodiscard]] const SphereHit& first() const noexcept { return first_; }

private:
    /// Grazing is no approach.
    [[nodiscard]] bool approaches(double speed) const noexcept { return speed < -1e-9 * length_; }

    void add_face(const Corners& t, const Eigen::Vector3d& n, int index) noexcept {
        const double speed = n.dot(d_), height = n.dot(p_ - t.a);
        if (!approaches(speed)) return;
        const double s = height < rho_ ? 0 : (rho_ - height) / speed;
        if (!(s < first_.s)) return;
        const Eigen::Vector3d x = p_ + s * d_;
        const Eigen::Vector3d foot = x - n.dot(x - t.a) * n;
        const Eigen::Vector3d area = t.area_vector();
        const double least = -1e-9 * area.squaredNorm();
        if (area.dot((t.c - t.b).cross(foot - t.b)) < least ||
            area.dot((t.a - t.c).cross(foot - t.c)) < least ||
            area.dot((t.b - t.a).cross(foot - t.a)) < least)
            return;
        first_ = {index, s, foot, n};
    }

    void add_edge(const Eigen::Vector3d& from, const Eigen::Vector3d& to, int index) noexcept {
        const double side = (to - from).norm();
        if (!(side > 0)) return;
        const Eigen::Vector3d k = (to - from) / side, m = p_ - from;
        const double mk = m.dot(k), dk = d_.dot(k);
        const double A = d_.squaredNorm() - dk * dk, B = m.dot(d_) - mk * dk;
        const double C = m.squaredNorm() - mk * mk - rho_ * rho_;
        double s;
        if (!solve(A, B, C, s)) return;
        const double along = mk + s * dk;
        if (along < 0 || along > side) return;
        accept(s, from + along * k, index);
    }

    void add_vertex(const Eigen::Vector3d& v, int index) noexcept {
        const Eigen::Vector3d m = p_ - v;
        double s;
        if (solve(d_.squaredNorm(), m.dot(d_), m.squaredNorm() - rho_ * rho_, s))
            accept(s, v, index);
    }

    /// First s with A s² + 2 B s + C = 0, or 0 where C is negative already, on approach.
    bool solve(double A, double B, double C, double& s) const noexcept {
        if (!(B < 0)) return false;
        if (C < 0) {
            s = 0;
            return true;
        }
        const double discriminant = B * B - A * C;
        if (!(A > 1e-18 * length_ * length_) || discriminant < 0) return false;
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
    double length_, rho_;
    SphereHit first_;
};

}  // namespace

SphereHit sweep_sphere(const SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                       const Eigen::Vector3d& to, double rho) noexcept {
    CentreSweep sweep(p, to, rho);
    const double reach = rho + (to - p).norm();
    for (int i = 0; i < near.patch().size(); ++i)
        if (near.is_within(i, reach)) sweep.add_triangle(near.patch().end(i), i);
    return sweep.first();
}

}  // namespace pliant
