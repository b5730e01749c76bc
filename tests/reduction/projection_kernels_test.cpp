#include "reduction/projection_kernels.h"

#include "fem/fem_samples.h"
#include "pliant/core/simd.h"
#include "reduction/aligned_array.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// A matrix of basis vectors as the kernels want it.
class Basis {
public:
    Basis(int rows, int stride)
        : values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride)),
          rows_(rows),
          stride_(stride) {
        map() = test::random_basis(rows, stride, 1);
    }
    [[nodiscard]] Rows map() { return {values_.data(), rows_, stride_}; }

private:
    AlignedArray<double> values_;
    int rows_, stride_;
};

TEST(ProjectionKernels, MultiplyRowsOfTheStiffnessLikeEigen) {
    const FemModel model(test::distorted_hexes(2), {isotropic(1, 0.3, 1)});
    FemModel::Matrix K = model.make_matrix();
    model.tangent(test::random_displacements(model.num_unknowns(), 0.01, 1), K);
    for (const std::string& target : simd_targets())
        for (const int stride : {8, 16, 24, 40}) {
            SCOPED_TRACE(target + ", " + std::to_string(stride));
            const ScopedSimdTarget scope(target);
            Basis U(model.num_unknowns(), stride), Y(3 * 5, stride);
            const int first = 7, end = 12;
            multiply_by_basis({K.outerIndexPtr(), K.innerIndexPtr(), K.valuePtr()}, first, end,
                              U.map().data(), stride, Y.map().data());
            const MatrixXd expected = (MatrixXd(K) * U.map()).middleRows(3 * first, 15);
            EXPECT_LE((Y.map() - expected).norm(), 1e-14 * expected.norm());
        }
}

TEST(ProjectionKernels, AddUpperTriangleOfProductsLikeEigen) {
    for (const std::string& target : simd_targets())
        for (const int stride : {8, 16, 24, 40})
            for (const int rows : {1, 3, 96}) {
                SCOPED_TRACE(target + ", " + std::to_string(stride));
                const ScopedSimdTarget scope(target);
                Basis A(rows, stride), B(rows, stride), C(stride, stride);
                B.map() *= 0.5;
                MatrixXd expected = C.map() + A.map().transpose() * B.map();
                add_upper_product(rows, stride, A.map().data(), B.map().data(), C.map().data());
                const MatrixXd error = C.map() - expected;
                EXPECT_LE(MatrixXd(error.triangularView<Eigen::Upper>()).norm(),
                          1e-14 * expected.norm());
            }
}

}  // namespace
}  // namespace pliant
