#include "fem/node_kernels.h"

#include "fem/fem_samples.h"
#include "pliant/core/simd.h"

#include <gtest/gtest.h>

#include <limits>

namespace pliant {
namespace {

using Eigen::VectorXd;

constexpr double kDt = 0.01;

VectorXd some(int count, unsigned seed) { return test::random_displacements(count, 1, seed); }

/// Calls `check(count)` for counts around all vector widths, on all instruction sets.
template <class Check>
void on_all_targets(const Check& check) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        for (int count = 0; count < 40; ++count) check(count);
    }
}

TEST(NodeKernels, PredictLikePlainLoops) {
    on_all_targets([](int count) {
        const VectorXd u = some(count, 1), v = some(count, 2), a = some(count, 3);
        VectorXd h(count), u_new(count);
        predict_unknowns(static_cast<std::size_t>(count), kDt, u.data(), v.data(), a.data(),
                         h.data(), u_new.data());
        const VectorXd h_plain = v + 0.5 * kDt * a;
        EXPECT_TRUE(h.isApprox(h_plain, 1e-15));
        EXPECT_TRUE(u_new.isApprox(u + kDt * h_plain, 1e-15));
    });
}

TEST(NodeKernels, AccelerateLikePlainLoopsWithAndWithoutDamping) {
    on_all_targets([](int count) {
        const VectorXd f = some(count, 1), R = some(count, 2), f_D = some(count, 3),
                       d = some(count, 4), inverse_q = some(count, 5), h = some(count, 6);
        for (const bool has_drag : {false, true})
            for (const bool has_force : {false, true})
                for (const int first : {0, count / 3}) {
                    VectorXd a = VectorXd::Zero(count);
                    const Powers powers = accelerate_unknowns(
                        {f.data(), R.data(), has_force ? f_D.data() : nullptr,
                         has_drag ? d.data() : nullptr, inverse_q.data(), h.data(), a.data()},
                        static_cast<std::size_t>(first), static_cast<std::size_t>(count));
                    VectorXd a_plain = VectorXd::Zero(count);
                    double load_power = 0, drag_power = 0;
                    for (int i = first; i < count; ++i) {
                        const double resistance =
                            (has_drag ? d[i] * h[i] : 0) + (has_force ? f_D[i] : 0);
                        a_plain[i] = (f[i] - R[i] - resistance) * inverse_q[i];
                        load_power += f[i] * h[i];
                        if (has_drag) drag_power += d[i] * h[i] * h[i];
                    }
                    EXPECT_LE((a - a_plain).norm(), 1e-15 * count);
                    EXPECT_NEAR(powers.load, load_power, 1e-14);
                    EXPECT_NEAR(powers.drag, drag_power, 1e-14);
                }
    });
}

TEST(NodeKernels, LoadsThatAreNotFiniteShowInTheirPower) {
    on_all_targets([](int count) {
        const VectorXd zero = VectorXd::Zero(count);
        for (int bad = 0; bad < count; ++bad)
            for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                                       std::numeric_limits<double>::infinity()}) {
                VectorXd f = zero, a = zero;
                f[bad] = value;
                const Powers powers = accelerate_unknowns(
                    {f.data(), zero.data(), nullptr, nullptr, zero.data(), zero.data(), a.data()},
                    0, static_cast<std::size_t>(count));
                ASSERT_FALSE(std::isfinite(powers.load)) << bad << " of " << count;
            }
    });
}

TEST(NodeKernels, FinishLikePlainLoopsAndTellWhatIsNotFinite) {
    on_all_targets([](int count) {
        const VectorXd a = some(count, 1), h = some(count, 2);
        VectorXd v = h;
        EXPECT_EQ(finish_unknowns(static_cast<std::size_t>(count), kDt, a.data(), v.data()), 0);
        EXPECT_TRUE(v.isApprox(h + 0.5 * kDt * a, 1e-15));
        for (int bad = 0; bad < count; ++bad)
            for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                                       -std::numeric_limits<double>::infinity()}) {
                VectorXd bad_a = a;
                bad_a[bad] = value;
                v = h;
                ASSERT_TRUE(std::isnan(
                    finish_unknowns(static_cast<std::size_t>(count), kDt, bad_a.data(), v.data())))
                    << bad << " of " << count;
            }
    });
}

}  // namespace
}  // namespace pliant
