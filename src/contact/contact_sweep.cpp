#include "contact/contact_sweep.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

void push_both(const SolverContact& c, const Vector3d& impulse, SweepPair& pair) noexcept {
    pair.shell.push(c.p, c.shell_modes, impulse);
    pair.field.push(c.p, c.field_modes, -impulse);
}

/// Tangential force within the cone of friction, eq. (30), at the relative velocity v; adds the
/// change of force.
void sweep_friction(SolverContact& c, const std::array<double, 2>& v, const SweepOptions& options,
                    Vector3d& change, double& largest_change) noexcept {
    const double k = options.friction_stiffness * c.k;
    std::array<double, 2> f{};
    for (std::size_t i = 0; i < 2; ++i) {
        const double residual = c.f[i + 1] / k + c.e[i + 1].dot(c.stretch) + options.reach * v[i];
        f[i] = c.f[i + 1] - residual / c.tangential_diagonal;
    }
    const double size = std::sqrt(f[0] * f[0] + f[1] * f[1]), limit = options.friction * c.f[0];
    c.is_sliding = size > limit;
    const double scale = c.is_sliding ? limit / size : 1;
    for (std::size_t i = 0; i < 2; ++i) {
        const double next = scale * f[i], difference = next - c.f[i + 1];
        change += difference * c.e[i + 1];
        largest_change = std::max(largest_change, std::abs(difference));
        c.f[i + 1] = next;
    }
}

}  // namespace

void start_contacts(SweepPair pair, const SweepOptions& options) noexcept {
    for (const SolverContact& c : pair.contacts)
        if (c.f[0] != 0 || c.f[1] != 0 || c.f[2] != 0) push_both(c, options.dt * c.force(), pair);
}

SweepChange sweep_contacts(SweepPair pair, const SweepOptions& options) noexcept {
    SweepChange result;
    for (SolverContact& c : pair.contacts) {
        const Vector3d v =
            pair.shell.velocity_at(c.p, c.shell_modes) - pair.field.velocity_at(c.p, c.field_modes);
        const double residual = c.f[0] / c.k + c.distance + options.reach * c.e[0].dot(v);
        const double f = std::max(0.0, c.f[0] - residual / c.diagonal);
        const double difference = f - c.f[0];
        c.f[0] = f;
        Vector3d change = difference * c.e[0];
        double largest_change = std::abs(difference);
        if (options.friction > 0) {
            // at the velocity that the new normal force brings about
            const double impulse = options.dt * difference;
            sweep_friction(
                c,
                {c.e[1].dot(v) + impulse * c.coupling[0], c.e[2].dot(v) + impulse * c.coupling[1]},
                options, change, largest_change);
        }
        if (largest_change > 0) push_both(c, options.dt * change, pair);
        result.change = std::max(result.change, largest_change);
        result.largest = std::max(result.largest, f);
    }
    return result;
}

}  // namespace pliant
