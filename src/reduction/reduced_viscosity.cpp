#include "pliant/reduction/reduced_viscosity.h"

#include "geometry/option_check.h"
#include "pliant/core/parallel.h"
#include "reduction/pair_strains.h"
#include "reduction/symmetric_product.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;

/// Of the strains of one batch of elements.
constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;
/// tr e and the six components of e at each point.
constexpr int kColumnsPerPoint = 7;

/// T_PQ = Σ weight · e_P : C_φψ : e_Q over all points, eq. (13) with φ, ψ for λ, μ; upper triangle.
MatrixXd viscous_products(const FemModel& model, const MatrixXd& U, double bulk, double shear,
                          Progress& progress) {
    const FemModelData& d = model.data();
    const int P = num_pairs(static_cast<int>(U.cols()));
    const int num_points = points_per_element(d.mesh.kind);
    const int columns = kColumnsPerPoint * num_points;
    const auto num_elements = static_cast<std::size_t>(d.mesh.num_elements());
    const auto batch = static_cast<std::size_t>(std::clamp<std::int64_t>(
        kBatchBytes / (std::int64_t{8} * P * columns), 1, static_cast<std::int64_t>(num_elements)));
    MatrixXd strains(P, static_cast<Eigen::Index>(batch) * columns);
    MatrixXd T = MatrixXd::Zero(P, P);
    progress.stage("viscosity", num_elements);
    for (std::size_t first = 0; first < num_elements; first += batch) {
        const std::size_t count = std::min(batch, num_elements - first);
        parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
            PairStrains e = PairStrains::Zero(P, 6);
            Eigen::Matrix<double, 9, Eigen::Dynamic> G(9, U.cols());
            for (std::size_t k = begin; k < end; ++k)
                for (int point = 0; point < num_points; ++point) {
                    const auto place = static_cast<int>(first + k);
                    with_element(d.mesh.kind,
                                 [&](auto N) { basis_gradients<N>(d, U, place, point, G); });
                    pair_strains(G, true, e);
                    const double weight =
                        d.points[static_cast<std::size_t>(place) * num_points + point].weight;
                    auto target = strains.middleCols<kColumnsPerPoint>(
                        static_cast<Eigen::Index>(k) * columns + kColumnsPerPoint * point);
                    target.col(0) = std::sqrt(bulk * weight) * e.leftCols<3>().rowwise().sum();
                    target.middleCols<3>(1) = std::sqrt(2 * shear * weight) * e.leftCols<3>();
                    target.middleCols<3>(4) = std::sqrt(4 * shear * weight) * e.rightCols<3>();
                }
        });
        add_symmetric_product(strains.leftCols(static_cast<Eigen::Index>(count) * columns), T,
                              num_threads());
        progress.advance(count);
    }
    return T;
}

}  // namespace

ReducedViscosity::ReducedViscosity(const FemModel& model, const MatrixXd& U, double bulk,
                                   double shear, Progress& progress)
    : size_(static_cast<int>(U.cols())) {
    assert(U.rows() == model.num_unknowns() && U.cols() > 0);
    check_option(bulk >= 0 && std::isfinite(bulk), "bulk viscosity", bulk, "0 <= value < infinity");
    check_option(shear >= 0 && std::isfinite(shear), "shear viscosity", shear,
                 "0 <= value < infinity");
    const MatrixXd T = viscous_products(model, U, bulk, shear, progress);
    const auto entry = [&](int l, int i, int m, int j) {
        // ∂(q q)_P/∂q_l: a square counts twice
        const int P = pair_index(std::min(l, i), std::max(l, i));
        const int Q = pair_index(std::min(m, j), std::max(m, j));
        const double factor = (l == i ? 2.0 : 1.0) * (m == j ? 2.0 : 1.0);
        return factor * T(std::min(P, Q), std::max(P, Q));
    };
    coefficients_.resize(Eigen::Index{size_} * (size_ + 1) / 2, num_pairs());
    for (int j = 0; j <= size_; ++j)
        for (int i = 0; i <= j; ++i)
            for (int m = 1; m <= size_; ++m)
                for (int l = 1; l <= m; ++l)
                    coefficients_(pair_index(l - 1, m - 1), pair_index(i, j)) =
                        i == j ? entry(l, i, m, i) : entry(l, i, m, j) + entry(l, j, m, i);
}

void ReducedViscosity::damping_matrix(const ConstRef& q, Eigen::Ref<MatrixXd> D,
                                      Eigen::Ref<Eigen::VectorXd> pairs) const noexcept {
    assert(q.size() == size_ && D.rows() == size_ && D.cols() == size_);
    assert(pairs.size() == num_pairs());
    const auto variable = [&](int i) { return i == 0 ? 1.0 : q[i - 1]; };
    for (int j = 0; j <= size_; ++j)
        for (int i = 0; i <= j; ++i) pairs[pair_index(i, j)] = variable(i) * variable(j);
    for (int m = 0; m < size_; ++m) {
        auto column = D.col(m).head(m + 1);
        column.noalias() = coefficients_.middleRows(pair_index(0, m), m + 1) * pairs;
    }
    for (int m = 0; m < size_; ++m) D.row(m).head(m) = D.col(m).head(m);
}

}  // namespace pliant
