#include "greens/hand_pulls.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kPullTime = 0.05;   // lag of the forces of hands [s]
constexpr double kForgotten = 1e-4;  // of its largest force: a place that is let go of is dropped
constexpr std::size_t kPullNumbers = HandPulls::kStateSize / HandPulls::kMaxPulls;

}  // namespace

void HandPulls::clear() noexcept {
    pulls_.fill({});
    point_loads_.clear();
    loads_.clear();
}

/// The pull at this place, or a free one; all taken: the weakest.
HandPulls::Pull& HandPulls::pull_at(const TrianglePoint& where) noexcept {
    for (Pull& pull : pulls_)
        if (pull.triangle == where.triangle && pull.barycentric == where.barycentric) return pull;
    Pull& taken = *std::ranges::min_element(pulls_, {}, [](const Pull& pull) {
        return pull.triangle < 0 ? -1.0 : pull.force.norm() + pull.wanted.norm();
    });
    taken = {};
    taken.triangle = where.triangle;
    taken.barycentric = where.barycentric;
    return taken;
}

void HandPulls::add(const TrianglePoint& where, const Vector3d& force) noexcept {
    pull_at(where).wanted += force;
}

double HandPulls::share_of_step(double rate) noexcept {
    return -std::expm1(-1 / (rate * kPullTime));
}

void HandPulls::follow(double dt) noexcept {
    const double part = -std::expm1(-dt / kPullTime);
    for (Pull& pull : pulls_) {
        if (pull.triangle < 0) continue;
        pull.force += part * (pull.wanted - pull.force);
        pull.largest = std::max(pull.largest, pull.force.norm());
        const bool is_over = pull.wanted.isZero() && pull.force.norm() <= kForgotten * pull.largest;
        pull.wanted.setZero();
        if (is_over) pull = {};
    }
}

bool HandPulls::spread(const SurfaceStiffness& stiffness, double modulus) noexcept {
    bool has_room = true;
    point_loads_.clear();
    PointContact point;
    point.phase = PointPhase::Sticking;
    for (const Pull& pull : pulls_) {
        if (pull.triangle < 0) continue;
        point.triangle = pull.triangle;
        point.barycentric = pull.barycentric;
        point.force = pull.force;
        has_room &= point_loads_.add(stiffness, point);
    }
    loads_.clear();
    for (std::size_t i = 0; i < point_loads_.nodes().size(); ++i)
        has_room &= loads_.add(point_loads_.nodes()[i], point_loads_.tractions()[i] / modulus);
    return has_room;
}

double HandPulls::energy(const SurfaceStiffness& stiffness, double scale) const noexcept {
    double sum = 0;
    for (const Pull& pull : pulls_)
        if (pull.triangle >= 0)
            sum += 0.5 *
                   pull.force.dot(
                       stiffness.stiffness_at(pull.triangle, pull.barycentric, {.modulus = scale})
                           .inverse() *
                       pull.force);
    return sum;
}

void HandPulls::save(std::span<double, kStateSize> state) const noexcept {
    double* out = state.data();
    for (const Pull& pull : pulls_) {
        *out++ = pull.triangle;
        out = std::copy_n(pull.barycentric.data(), 3, out);
        out = std::copy_n(pull.force.data(), 3, out);
        *out++ = pull.largest;
    }
}

bool HandPulls::is_state(std::span<const double, kStateSize> state, int num_triangles) noexcept {
    for (std::size_t i = 0; i < kMaxPulls; ++i) {
        const double triangle = state[i * kPullNumbers];
        if (!(triangle >= -1 && triangle < num_triangles && triangle == std::floor(triangle)))
            return false;
    }
    return true;
}

void HandPulls::restore(std::span<const double, kStateSize> state) noexcept {
    for (std::size_t i = 0; i < kMaxPulls; ++i) {
        const double* const x = state.data() + i * kPullNumbers;
        pulls_[i] = {static_cast<int>(x[0]), Vector3d(x[1], x[2], x[3]), Vector3d(x[4], x[5], x[6]),
                     Vector3d::Zero(), x[7]};
    }
}

}  // namespace pliant
