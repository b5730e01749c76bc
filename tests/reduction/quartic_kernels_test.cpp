#include "reduction/quartic_kernels.h"

#include "pliant/core/simd.h"
#include "reduction/aligned_array.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Coefficients, variables and scratch for the kernels.
template <class T>
class Kernels {
public:
    Kernels(const ReducedCoefficients& c, const VectorXd& q)
        : layout_{c.r + 1},
          w_(layout_.size()),
          q_(static_cast<std::size_t>(layout_.padded())),
          products_(layout_.num_products()),
          sums_(layout_.num_sums()),
          matrix_(layout_.matrix_size()),
          gradient_(static_cast<std::size_t>(layout_.padded())) {
        T* to = w_.data();
        layout_.for_each_tile([&](int i0, int j0, int num_i, int first, int count) {
            const int num_rows = layout_.rows_of_tile(i0, j0, num_i);
            for (int granule = 0; granule < count; granule += layout_.kGranule)
                for (int row = 0; row < num_rows; ++row)
                    for (int lane = 0; lane < layout_.kGranule; ++lane) {
                        const bool is_corner = row == 2 * num_i;
                        *to++ =
                            coefficient(c, is_corner ? j0 + 1 : i0 + row / 2,
                                        is_corner ? j0 + 1 : j0 + row % 2, first + granule + lane);
                    }
        });
        set(q);
    }
    void set(const VectorXd& q) {
        q_.data()[0] = 1;
        for (Eigen::Index i = 0; i < q.size(); ++i) q_.data()[i + 1] = static_cast<T>(q[i]);
    }

    [[nodiscard]] VectorXd gradient() {
        quartic_gradient(evaluation());
        return result();
    }
    [[nodiscard]] VectorXd hessian(MatrixXd& K) {
        quartic_hessian(evaluation(), K.data(), K.outerStride());
        return result();
    }

private:
    T coefficient(const ReducedCoefficients& c, int i, int j, int column) const {
        for (int k = j; k <= c.r; ++k)
            if (const int l = k + column - layout_.column_of(k); l >= k && l <= c.r)
                return static_cast<T>(c.w[static_cast<std::size_t>(quartic_index(i, j, k, l))]);
        return 0;
    }
    [[nodiscard]] QuarticEvaluation<T> evaluation() {
        return {layout_.num_variables, w_.data(),      q_.data(),       products_.data(),
                sums_.data(),          matrix_.data(), gradient_.data()};
    }
    [[nodiscard]] VectorXd result() const {
        return Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(gradient_.data(),
                                                                     layout_.num_variables)
            .template cast<double>();
    }

    QuarticLayout<T> layout_;
    AlignedArray<T> w_, q_, products_, sums_, matrix_, gradient_;
};

template <class T>
class QuarticKernels : public testing::Test {};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(QuarticKernels, Precisions);

TYPED_TEST(QuarticKernels, EqualObviousSumsOnEveryTargetAtEverySize) {
    using T = TypeParam;
    std::vector<int> sizes{40, 70};  // 70: runs longer than a block
    for (int r = 1; r <= 26; ++r) sizes.push_back(r);
    for (const int r : sizes) {
        const ReducedCoefficients c = test::random_coefficients(r, 1);
        const VectorXd q = test::random_vector(r, 2).cast<T>().template cast<double>();
        const test::ObviousSums sums = test::obvious_sums(c, q);
        Kernels<T> kernels(c, q);
        for (const std::string& target : simd_targets()) {
            SCOPED_TRACE(target + ", r = " + std::to_string(r));
            const ScopedSimdTarget scope(target);
            MatrixXd K(r, r);
            const VectorXd g = kernels.gradient(), g_of_hessian = kernels.hessian(K);
            const double bound = test::kRoundingBound<T>;
            EXPECT_LE(((g - sums.gradient).array().abs() / sums.gradient_size.array()).maxCoeff(),
                      bound);
            EXPECT_LE(((g_of_hessian - sums.gradient).array().abs() / sums.gradient_size.array())
                          .maxCoeff(),
                      bound);
            EXPECT_LE(((K - sums.hessian.bottomRightCorner(r, r)).array().abs() /
                       sums.hessian_size.bottomRightCorner(r, r).array())
                          .maxCoeff(),
                      bound);
            EXPECT_EQ(K, K.transpose());
        }
    }
}

TYPED_TEST(QuarticKernels, EveryCoefficientCountsAlone) {
    using T = TypeParam;
    const int r = 10;
    ReducedCoefficients c = test::random_coefficients(r, 1);
    const VectorXd q = test::random_vector(r, 2).cast<T>().template cast<double>();
    for (std::size_t k = 0; k < c.w.size(); k += 7) {
        ReducedCoefficients one = c;
        std::fill(one.w.begin(), one.w.end(), 0.0);
        one.w[k] = 1;
        const test::ObviousSums sums = test::obvious_sums(one, q);
        MatrixXd K(r, r);
        Kernels<T> kernels(one, q);
        const double tolerance = 4 * std::numeric_limits<T>::epsilon();
        EXPECT_LE((kernels.gradient() - sums.gradient).norm(), tolerance * sums.gradient.norm());
        (void)kernels.hessian(K);
        EXPECT_LE((K - sums.hessian.bottomRightCorner(r, r)).norm(),
                  tolerance * (1 + sums.hessian.norm()));
    }
}

TYPED_TEST(QuarticKernels, NothingIsLeftOverFromTheEvaluationBefore) {
    using T = TypeParam;
    for (const int r : {3, 15, 21}) {
        const ReducedCoefficients c = test::random_coefficients(r, 1);
        const VectorXd q = test::random_vector(r, 2);
        Kernels<T> used(c, q), fresh(c, q);
        MatrixXd K(r, r), K_fresh(r, r);
        used.set(VectorXd::Constant(r, std::numeric_limits<double>::quiet_NaN()));
        (void)used.gradient();
        (void)used.hessian(K);
        EXPECT_TRUE(K.array().isNaN().all());
        used.set(q);
        EXPECT_EQ(used.hessian(K), fresh.hessian(K_fresh));
        EXPECT_EQ(K, K_fresh);
        EXPECT_EQ(used.gradient(), fresh.gradient());
    }
}

TEST(QuarticLayout, HoldsEachCoefficientAndFewZeros) {
    for (const int r : {20, 30, 40, 60}) {
        const auto size = static_cast<double>(QuarticLayout<double>{r + 1}.size());
        const auto needed = static_cast<double>(num_quartic(r));
        EXPECT_GE(size, needed);
        // 15, 8, 8 and 4 %
        EXPECT_LE(size, (1 + 3.3 / r) * needed);
    }
}

}  // namespace
}  // namespace pliant
