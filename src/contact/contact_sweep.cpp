#include "contact/contact_sweep.h"

#include "contact/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant {

namespace {

double velocity_along(const double* row, const SweepPair& pair) noexcept {
    const auto [a, b] =
        std::pair(static_cast<int>(pair.shell.size()), static_cast<int>(pair.field.size()));
    double sum = a > 0 ? dot_rows(row, pair.shell.data(), a) : 0;
    if (b > 0) sum += dot_rows(row + a, pair.field.data(), b);
    return sum;
}
void add_impulse(double impulse, const double* row, SweepPair& pair) noexcept {
    const auto [a, b] =
        std::pair(static_cast<int>(pair.shell.size()), static_cast<int>(pair.field.size()));
    if (a > 0) add_row(impulse, row, pair.shell.data(), a);
    if (b > 0) add_row(impulse, row + a, pair.field.data(), b);
}

/// Tangential force within the cone of friction, eq. (30); returns how much it changed.
double sweep_friction(SolverContact& c, const double* row, int length, const SweepOptions& options,
                      SweepPair& pair) noexcept {
    const double k = options.friction_stiffness * c.k;
    double f[2];
    for (int i = 0; i < 2; ++i) {
        const auto d = static_cast<std::size_t>(i + 1);
        const double v = c.known_velocity[d] + velocity_along(row + i * length, pair);
        const double residual = c.f[d] / k + c.e[d].dot(c.stretch) + options.reach * v;
        f[i] = c.f[d] - residual / c.tangential_diagonal;
    }
    const double size = std::sqrt(f[0] * f[0] + f[1] * f[1]), limit = options.friction * c.f[0];
    c.is_sliding = size > limit;
    const double scale = c.is_sliding ? limit / size : 1;
    double change = 0;
    for (int i = 0; i < 2; ++i) {
        double& old = c.f[static_cast<std::size_t>(i + 1)];
        const double next = scale * f[i];
        add_impulse(options.dt * (next - old), row + i * length, pair);
        change = std::max(change, std::abs(next - old));
        old = next;
    }
    return change;
}

}  // namespace

void start_contacts(SweepPair pair, const SweepOptions& options) noexcept {
    const auto length = pair.shell.size() + pair.field.size();
    const int num_directions = options.friction > 0 ? kNumDirections : 1;
    for (const SolverContact& c : pair.contacts)
        for (int i = 0; i < num_directions; ++i) {
            const double f = c.f[static_cast<std::size_t>(i)];
            if (f != 0) add_impulse(options.dt * f, pair.rows + c.row + i * length, pair);
        }
}

SweepChange sweep_contacts(SweepPair pair, const SweepOptions& options) noexcept {
    const int length = static_cast<int>(pair.shell.size() + pair.field.size());
    SweepChange result;
    for (SolverContact& c : pair.contacts) {
        const double* const row = pair.rows + c.row;
        const double v = c.known_velocity[0] + velocity_along(row, pair);
        const double residual = c.f[0] / c.k + c.distance + options.reach * v;
        const double f = std::max(0.0, c.f[0] - residual / c.diagonal);
        double change = std::abs(f - c.f[0]);
        if (change > 0) add_impulse(options.dt * (f - c.f[0]), row, pair);
        c.f[0] = f;
        if (options.friction > 0)
            change = std::max(change, sweep_friction(c, row + length, length, options, pair));
        result.change = std::max(result.change, change);
        result.largest = std::max(result.largest, f);
    }
    return result;
}

}  // namespace pliant
