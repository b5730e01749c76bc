#include "haptics/coupling_springs.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

SpringLaw::Value SpringLaw::at(double stretch) const noexcept {
    const double linear = plateau / (2 * stiffness);
    if (saturation == CouplingSaturation::None || !(stretch > linear))
        return {stiffness * stretch, stiffness, false};
    if (saturation == CouplingSaturation::Exponential) {
        const double decay = std::exp((linear - stretch) / linear);
        return {plateau * (1 - 0.5 * decay), stiffness * decay, true};
    }
    const double t = (stretch - linear) / (2 * linear);
    if (t >= 1) return {plateau, 0, true};
    return {plateau * (0.5 + t - 0.5 * t * t), stiffness * (1 - t), true};
}

SpringLoad force_spring(const Vector3d& stretch, const SpringLaw& law) noexcept {
    const double r = stretch.norm();
    const SpringLaw::Value f = law.at(r);
    SpringLoad out;
    out.is_saturated = f.is_saturated;
    if (!f.is_saturated) {
        out.load = law.stiffness * stretch;
        out.gradient = -law.stiffness * Matrix3d::Identity();
        return out;
    }
    const Vector3d e = stretch / r;
    const double secant = f.load / r;
    out.load = f.load * e;
    out.gradient = (secant - f.slope) * (e * e.transpose());
    out.gradient.diagonal().array() -= secant;
    return out;
}

SpringLoad torque_spring(const Vector3d& phi, const SpringLaw& law) noexcept {
    const double theta = phi.norm();
    const SpringLaw::Value g = law.at(theta);
    // c = 1/θ² − cot(θ/2)/(2θ): differences of large numbers near 0, finite at π
    const double c =
        theta < 1e-3 ? 1.0 / 12 : (1 - 0.5 * theta / std::tan(0.5 * theta)) / (theta * theta);
    const Matrix3d P = skew(phi);
    const Matrix3d turning = Matrix3d::Identity() + 0.5 * P + c * P * P;
    SpringLoad out;
    out.is_saturated = g.is_saturated;
    if (!g.is_saturated) {
        out.load = law.stiffness * phi;
        out.gradient = -law.stiffness * turning;
        return out;
    }
    const Vector3d a = phi / theta;
    const double secant = g.load / theta;
    Matrix3d slope = (g.slope - secant) * (a * a.transpose());
    slope.diagonal().array() += secant;
    out.load = g.load * a;
    out.gradient = -slope * turning;
    return out;
}

SpringLoad sine_spring(const Vector3d& phi, double stiffness) noexcept {
    // of the shorter rotation, so that the scalar part of the quaternion is not negative
    const Quaternion q = rotation_from_vector(phi);
    SpringLoad out;
    out.load = 2 * stiffness * q.vec();
    out.gradient = -0.5 * skew(out.load);
    out.gradient.diagonal().array() -= stiffness * q.w();
    return out;
}

double kept_part(double load, double limit) noexcept { return load > limit ? limit / load : 1; }

double cut_energy(double linear, double part) noexcept { return linear * part * (2 - part); }

double part_with_energy(double linear, double energy) noexcept {
    return linear > energy ? 1 - std::sqrt(1 - std::max(energy, 0.0) / linear) : 1;
}

double clamped_energy(double stretch, double stiffness, double clamp) noexcept {
    return cut_energy(0.5 * stiffness * stretch * stretch, kept_part(stiffness * stretch, clamp));
}

ShownSprings shown_springs(const SpringSum& all, double max_force, double max_torque) noexcept {
    ShownSprings shown;
    shown.wrench.force = shortened(all.wrench.force, max_force);
    shown.shift_part = kept_part(all.wrench.force.norm(), max_force);
    // what is cut from the force turns no hand either
    const Vector3d torque =
        all.wrench.torque - (1 - shown.shift_part) * all.arm.cross(all.wrench.force);
    shown.wrench.torque = shortened(torque, max_torque);
    shown.turn_part = kept_part(torque.norm(), max_torque);
    const double shift = std::max(0.5 * all.wrench.force.dot(all.stretch), 0.0);
    shown.energy = cut_energy(shift, shown.shift_part) +
                   cut_energy(std::max(all.energy - shift, 0.0), shown.turn_part);
    return shown;
}

}  // namespace pliant
