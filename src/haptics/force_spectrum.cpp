#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "pliant/core/error.h"
#include "pliant/haptics/oscillation.h"

namespace pliant {

using Eigen::Vector3d;

namespace {

using Complex = std::complex<double>;

Vector3d finite_or_zero(const Vector3d& force) {
    return force.allFinite() ? force : Vector3d::Zero();
}

/// Fourier transform of a power of two of samples, in place.
void transform(std::vector<Complex>& x) {
    const std::size_t n = x.size();
    for (std::size_t i = 1, j = 0; i < n; ++i) {
        std::size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) std::swap(x[i], x[j]);
    }
    for (std::size_t length = 2; length <= n; length *= 2) {
        const double angle = -2 * std::numbers::pi / static_cast<double>(length);
        for (std::size_t k = 0; k < length / 2; ++k) {
            const Complex turn = std::polar(1.0, angle * static_cast<double>(k));
            for (std::size_t i = k; i < n; i += length) {
                const Complex a = x[i], b = turn * x[i + length / 2];
                x[i] = a + b;
                x[i + length / 2] = a - b;
            }
        }
    }
}

/// Median of each axis of the changes around `sample`, without its own.
Vector3d usual_change(std::span<const Vector3d> changes, int sample, int reach) {
    const int first = std::max(sample - reach, 0);
    const int last = std::min(sample + reach, static_cast<int>(changes.size()) - 1);
    Vector3d median = Vector3d::Zero();
    std::vector<double> values;
    for (int axis = 0; axis < 3; ++axis) {
        values.clear();
        for (int i = first; i <= last; ++i)
            if (i != sample) values.push_back(changes[static_cast<std::size_t>(i)][axis]);
        if (values.empty()) continue;
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        median[axis] = *middle;
    }
    return median;
}

}  // namespace

std::vector<ForceJump> find_jumps(std::span<const Vector3d> force, double least, int max_count) {
    constexpr int kNeighbours = 5, kApart = 2;
    std::vector<Vector3d> changes;
    for (std::size_t i = 1; i < force.size(); ++i)
        changes.emplace_back(finite_or_zero(force[i]) - finite_or_zero(force[i - 1]));
    const int n = static_cast<int>(changes.size());
    std::vector<double> sizes;
    for (int i = 0; i < n; ++i)
        sizes.push_back(
            (changes[static_cast<std::size_t>(i)] - usual_change(changes, i, kNeighbours)).norm());
    // the largest of each neighbourhood, of equal ones the first
    std::vector<ForceJump> jumps;
    for (int i = 0; i < n; ++i) {
        const double size = sizes[static_cast<std::size_t>(i)];
        if (!(size > least)) continue;
        bool is_largest = true;
        for (int j = std::max(i - kApart, 0); j <= std::min(i + kApart, n - 1); ++j) {
            const double other = sizes[static_cast<std::size_t>(j)];
            is_largest = is_largest && (j < i ? other < size : other <= size);
        }
        if (is_largest) jumps.push_back({i + 1, size});
    }
    std::stable_sort(jumps.begin(), jumps.end(),
                     [](const ForceJump& a, const ForceJump& b) { return a.size > b.size; });
    if (static_cast<int>(jumps.size()) > std::max(max_count, 0))
        jumps.resize(static_cast<std::size_t>(std::max(max_count, 0)));
    return jumps;
}

ForceSpectrum force_spectrum(std::span<const Vector3d> force, double rate) {
    if (!(rate > 0) || !std::isfinite(rate))
        throw InputError("", "rate", std::to_string(rate), "value > 0");
    ForceSpectrum spectrum;
    if (force.empty()) return spectrum;
    if (force.size() == 1) return {{0.0}, {finite_or_zero(force[0]).norm()}};
    // zeros up to a power of two only bring the frequencies closer
    const std::size_t padded = std::bit_ceil(force.size());
    const auto n = static_cast<double>(force.size());
    std::vector<double> squares(padded / 2 + 1, 0.0);
    std::vector<Complex> x(padded);
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        std::fill(x.begin(), x.end(), Complex());
        sum = 0;
        for (std::size_t i = 0; i < force.size(); ++i) {
            const double turn = 2 * std::numbers::pi * static_cast<double>(i) / n;
            const double hann = 0.5 * (1 - std::cos(turn));
            x[i] = hann * finite_or_zero(force[i])[axis];
            sum += hann;
        }
        transform(x);
        for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += std::norm(x[k]);
    }
    for (std::size_t k = 0; k < squares.size(); ++k) {
        const bool has_mirror = k != 0 && k != padded / 2;
        spectrum.frequency.push_back(static_cast<double>(k) * rate / static_cast<double>(padded));
        spectrum.amplitude.push_back((has_mirror ? 2 : 1) * std::sqrt(squares[k]) / sum);
    }
    return spectrum;
}

}  // namespace pliant
