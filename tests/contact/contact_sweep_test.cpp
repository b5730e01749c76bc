#include "contact/contact_sweep.h"

#include "contact/row_kernels.h"
#include "pliant/core/simd.h"
#include "reduction/aligned_array.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <random>
#include <vector>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A body in plain terms.
struct PlainBody {
    bool has_frame = true;
    Matrix3d rotation, inverse_inertia;
    Vector3d centre, linear, angular;
    double inverse_mass = 0.7;
    AlignedArray<double> rates, response;
    int length;
    std::vector<float> modes;  ///< of all points, three rows each

    PlainBody(int r, int num_points, std::mt19937& random)
        : rates(static_cast<std::size_t>(padded_row(r) + 1)),
          response(static_cast<std::size_t>(padded_row(r) + 1)),
          length(padded_row(r)),
          modes(static_cast<std::size_t>(3 * length * num_points)) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        const auto draw = [&] {
            return Vector3d(uniform(random), uniform(random), uniform(random));
        };
        rotation = Eigen::Quaterniond(Eigen::AngleAxisd(1.1, draw().normalized())).matrix();
        const Matrix3d A = Matrix3d::NullaryExpr([&] { return uniform(random); });
        inverse_inertia = A * A.transpose() + Matrix3d::Identity();
        centre = draw();
        linear = draw();
        angular = draw();
        for (int j = 0; j < r; ++j) {
            rates.data()[j] = uniform(random);
            response.data()[j] = 0.5 + 0.4 * uniform(random);
        }
        for (std::size_t i = 0; i < modes.size(); ++i)
            if (static_cast<int>(i) % length < r) modes[i] = static_cast<float>(uniform(random));
    }
    [[nodiscard]] const float* modes_of(int point) const {
        return length > 0 ? modes.data() + 3 * length * point : nullptr;
    }
    [[nodiscard]] SweepBody for_sweeps() {
        return {.has_frame = has_frame,
                .inverse_mass = inverse_mass,
                .inverse_inertia = inverse_inertia.data(),
                .centre = centre.data(),
                .rotation = rotation.data(),
                .response = response.data(),
                .length = length,
                .linear = linear.data(),
                .angular = angular.data(),
                .rates = rates.data()};
    }
    [[nodiscard]] Eigen::Matrix3Xd U(int point) const {
        Eigen::Matrix3Xd result(3, length);
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < length; ++j) result(k, j) = double{modes_of(point)[k * length + j]};
        return result;
    }
    [[nodiscard]] Vector3d velocity_at(const Vector3d& p, int point) const {
        Vector3d v = linear + angular.cross(p - centre);
        if (length > 0) v += rotation * U(point) * Eigen::Map<const VectorXd>(rates.data(), length);
        return v;
    }
    void push(const Vector3d& p, int point, const Vector3d& impulse) {
        if (has_frame) {
            linear += inverse_mass * impulse;
            angular += inverse_inertia * (p - centre).cross(impulse);
        }
        if (length > 0)
            Eigen::Map<VectorXd>(rates.data(), length) +=
                Eigen::Map<const VectorXd>(response.data(), length).asDiagonal() *
                (U(point).transpose() * (rotation.transpose() * impulse));
    }
};

struct PlainPair {
    PlainBody shell, field;
    std::vector<SweepRow> rows;

    PlainPair(int shell_rank, int field_rank, int count, std::mt19937& random)
        : shell(shell_rank, count, random), field(field_rank, count, random) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (int i = 0; i < count; ++i) {
            SweepRow row{};
            for (double& x : row.p) x = uniform(random);
            const Matrix3d e =
                Eigen::AngleAxisd(3 * uniform(random), Vector3d(1, 2, -1).normalized())
                    .toRotationMatrix();
            Eigen::Map<Matrix3d>(row.e[0]) = e;
            row.distance = -0.1 * (1 + uniform(random));
            row.softness = 1e-3;
            row.tangential_softness = 2e-3;
            row.gain = 200;
            row.tangential_gain = 150;
            for (int k = 0; k < 2; ++k) {
                row.coupling[k] = 0.1 * uniform(random);
                row.stretch[k] = 0.01 * uniform(random);
            }
            row.f[0] = 3 * std::abs(uniform(random));
            row.f[1] = 0.5 * uniform(random);
            row.shell_modes = shell.modes_of(i);
            row.field_modes = field.modes_of(i);
            rows.push_back(row);
        }
    }
    [[nodiscard]] SweepPair for_sweeps() {
        return {rows.data(), static_cast<int>(rows.size()), shell.for_sweeps(), field.for_sweeps()};
    }
};

Vector3d direction(const SweepRow& row, int i) { return Eigen::Map<const Vector3d>(row.e[i]); }

void start_plainly(PlainPair& pair, const SweepOptions& options) {
    for (int i = 0; i < static_cast<int>(pair.rows.size()); ++i) {
        const SweepRow& row = pair.rows[static_cast<std::size_t>(i)];
        Vector3d impulse = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) impulse += options.dt * row.f[k] * direction(row, k);
        pair.shell.push(Eigen::Map<const Vector3d>(row.p), i, impulse);
        pair.field.push(Eigen::Map<const Vector3d>(row.p), i, -impulse);
    }
}

/// Eq. (29) and (30), word for word.
SweepChange sweep_plainly(PlainPair& pair, const SweepOptions& options) {
    SweepChange result;
    for (int i = 0; i < static_cast<int>(pair.rows.size()); ++i) {
        SweepRow& row = pair.rows[static_cast<std::size_t>(i)];
        const Vector3d p = Eigen::Map<const Vector3d>(row.p);
        const Vector3d v = pair.shell.velocity_at(p, i) - pair.field.velocity_at(p, i);
        double next[3] = {};
        next[0] = std::max(0.0, row.f[0] - row.gain * (row.softness * row.f[0] + row.distance +
                                                       options.reach * direction(row, 0).dot(v)));
        for (int k = 1; k < 3; ++k) {
            const double rate =
                direction(row, k).dot(v) + options.dt * (next[0] - row.f[0]) * row.coupling[k - 1];
            next[k] = row.f[k] - row.tangential_gain * (row.tangential_softness * row.f[k] +
                                                        row.stretch[k - 1] + options.reach * rate);
        }
        const double size = std::hypot(next[1], next[2]), limit = options.friction * next[0];
        row.is_sliding = options.friction > 0 && size > limit;
        for (int k = 1; k < 3; ++k)
            next[k] = options.friction > 0 ? next[k] * (size > limit ? limit / size : 1) : row.f[k];
        Vector3d impulse = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) {
            impulse += options.dt * (next[k] - row.f[k]) * direction(row, k);
            result.change = std::max(result.change, std::abs(next[k] - row.f[k]));
            row.f[k] = next[k];
        }
        result.largest = std::max(result.largest, next[0]);
        pair.shell.push(p, i, impulse);
        pair.field.push(p, i, -impulse);
    }
    return result;
}

// rounding of sums of 50 numbers of size one, over a few sweeps
constexpr double kRounding = 1e-11;

void expect_equal(const PlainBody& a, const PlainBody& b) {
    EXPECT_LT((a.linear - b.linear).norm(), kRounding);
    EXPECT_LT((a.angular - b.angular).norm(), kRounding);
    for (int j = 0; j < a.length; ++j) EXPECT_NEAR(a.rates.data()[j], b.rates.data()[j], kRounding);
}
void expect_equal(const PlainPair& a, const PlainPair& b) {
    expect_equal(a.shell, b.shell);
    expect_equal(a.field, b.field);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].is_sliding, b.rows[i].is_sliding);
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(a.rows[i].f[k], b.rows[i].f[k], kRounding);
    }
}

TEST(ContactSweep, EqualsTheEquationsOnEveryTarget) {
    for (const std::string& target : simd_targets())
        for (const double friction : {0.0, 0.4}) {
            SCOPED_TRACE(target);
            const ScopedSimdTarget scope(target);
            std::mt19937 random(3);
            // both deformable, and a rigid shell on a body that is held
            PlainPair fast[2] = {{40, 13, 9, random}, {0, 24, 14, random}};
            fast[1].field.has_frame = false;
            PlainPair plain[2] = {fast[0], fast[1]};
            const SweepOptions options{.dt = 0.01, .reach = 0.03, .friction = friction};
            int num_sliding = 0;
            for (int sweep = 0; sweep < 4; ++sweep) {
                const SweepPair both[2] = {fast[0].for_sweeps(), fast[1].for_sweeps()};
                SweepChange changes[2];
                if (sweep == 0)
                    for (int i = 0; i < 2; ++i) {
                        start_contacts(both[i], options);
                        start_plainly(plain[i], options);
                    }
                for (int i = 0; i < 2; ++i) {
                    prefetch_contacts(both[i]);
                    changes[i] = sweep_contacts(both[i], options);
                }
                for (int i = 0; i < 2; ++i) {
                    const SweepChange expected = sweep_plainly(plain[i], options);
                    EXPECT_NEAR(changes[i].change, expected.change, kRounding);
                    EXPECT_NEAR(changes[i].largest, expected.largest, kRounding);
                    expect_equal(fast[i], plain[i]);
                }
            }
            for (const SweepRow& row : fast[0].rows) num_sliding += row.is_sliding ? 1 : 0;
            if (friction > 0) {
                EXPECT_GT(num_sliding, 0);
                EXPECT_LT(num_sliding, 9);
            }
        }
}

}  // namespace
}  // namespace pliant
