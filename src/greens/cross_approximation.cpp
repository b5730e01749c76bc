#include "greens/cross_approximation.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <Eigen/QR>
#include <Eigen/SVD>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Block rows at a time: the lanes of the integration.
constexpr int kCrossRows = 8;

/// Which rows to look at: spread at first, then half of them where the last crosses were largest.
class RowChoice {
public:
    explicit RowChoice(int num_rows) : is_used_(at(num_rows), false) {}

    [[nodiscard]] std::vector<int> next(const MatrixXd& U, Eigen::Index rank) {
        const int n = static_cast<int>(is_used_.size());
        std::vector<int> chosen;
        if (rank > 0) {
            const Eigen::Index last = std::min<Eigen::Index>(rank, 3);
            std::vector<int> by_size;
            VectorXd size(n);
            for (int i = 0; i < n; ++i) {
                size[i] = U.block(3 * i, rank - last, 3, last).squaredNorm();
                if (!is_used_[at(i)]) by_size.push_back(i);
            }
            const auto count = std::min<std::size_t>(kCrossRows / 2, by_size.size());
            std::partial_sort(by_size.begin(), by_size.begin() + static_cast<std::ptrdiff_t>(count),
                              by_size.end(), [&](int a, int b) {
                                  return size[a] != size[b] ? size[a] > size[b] : a < b;
                              });
            for (std::size_t k = 0; k < count; ++k) take(by_size[k], chosen);
        }
        // evenly along the order of clusters, from another start each time
        const int missing = kCrossRows - static_cast<int>(chosen.size());
        for (int k = 0; k < missing; ++k) {
            const int start = static_cast<int>((k + kStarts[round_ % 4]) * n / missing) % n;
            for (int step = 0; step < n; ++step) {
                const int i = (start + step) % n;
                if (is_used_[at(i)]) continue;
                take(i, chosen);
                break;
            }
        }
        ++round_;
        std::ranges::sort(chosen);
        return chosen;
    }

private:
    static constexpr double kStarts[4] = {0.5, 0.0, 0.25, 0.75};
    void take(int i, std::vector<int>& chosen) {
        is_used_[at(i)] = true;
        chosen.push_back(i);
    }
    std::vector<bool> is_used_;
    int round_ = 0;
};

/// Columns evaluated so far, none twice.
class KnownColumns {
public:
    KnownColumns(int num_columns, const CrossEntries& entries)
        : entries_(entries), place_of_(at(num_columns), -1) {}

    [[nodiscard]] auto operator()(Eigen::Index scalar_column) {
        const int block = static_cast<int>(scalar_column / 3);
        int& place = place_of_[at(block)];
        if (place < 0) {
            place = static_cast<int>(known_.size());
            known_.emplace_back();
            entries_.columns({&block, 1}, known_.back());
        }
        return known_[at(place)].col(scalar_column % 3);
    }

private:
    const CrossEntries& entries_;
    std::vector<int> place_of_;
    std::vector<MatrixXd> known_;
};

/// The smallest rank with an error below tolerance.
LowRank recompressed(const MatrixXd& U, const MatrixXd& V, double tolerance) {
    const Eigen::Index rank = U.cols();
    const Eigen::HouseholderQR<MatrixXd> of_U(U), of_V(V);
    const MatrixXd R_U = of_U.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
    const MatrixXd R_V = of_V.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
    const Eigen::JacobiSVD<MatrixXd> svd(R_U * R_V.transpose(),
                                         Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VectorXd& sigma = svd.singularValues();
    const double limit = tolerance * tolerance * sigma.squaredNorm();
    Eigen::Index kept = rank;
    for (double left = 0; kept > 0; --kept) {
        left += sigma[kept - 1] * sigma[kept - 1];
        if (left > limit) break;
    }
    // singular values shared between both sides: single precision has the same range for them
    const VectorXd root = sigma.head(kept).cwiseSqrt();
    LowRank result{MatrixXd::Zero(U.rows(), kept), MatrixXd::Zero(V.rows(), kept)};
    result.U.topRows(rank) = svd.matrixU().leftCols(kept) * root.asDiagonal();
    result.V.topRows(rank) = svd.matrixV().leftCols(kept) * root.asDiagonal();
    result.U.applyOnTheLeft(of_U.householderQ());
    result.V.applyOnTheLeft(of_V.householderQ());
    return result;
}

}  // namespace

std::optional<LowRank> cross_approximation(int num_block_rows, int num_block_columns,
                                           double tolerance, int max_rank,
                                           const CrossEntries& entries) {
    const Eigen::Index rows = 3 * num_block_rows, columns = 3 * num_block_columns;
    const Eigen::Index capacity = std::min({static_cast<Eigen::Index>(max_rank), rows, columns});
    MatrixXd U(rows, capacity), V(columns, capacity), S;
    Eigen::Index rank = 0;
    RowChoice choice(num_block_rows);
    KnownColumns column_of(num_block_columns, entries);
    double squared_norm = 0;  // of the matrix, by the rows seen
    int num_seen = 0;
    for (;;) {
        const std::vector<int> chosen = choice.next(U, rank);
        if (chosen.empty()) break;
        const int count = static_cast<int>(chosen.size());
        entries.rows(chosen, S);
        squared_norm += S.squaredNorm();
        num_seen += count;
        const double limit =
            0.25 * tolerance * tolerance * squared_norm * count / num_seen;  // for these rows
        MatrixXd chosen_U(3 * count, capacity);
        for (int k = 0; k < count; ++k)
            chosen_U.middleRows<3>(3 * k).leftCols(rank) =
                U.middleRows<3>(3 * chosen[at(k)]).leftCols(rank);
        S.noalias() -= chosen_U.leftCols(rank) * V.leftCols(rank).transpose();
        const Eigen::Index before = rank;
        while (S.squaredNorm() > limit) {
            if (rank == capacity) return std::nullopt;
            Eigen::Index i = 0, j = 0;
            const double largest = S.cwiseAbs().maxCoeff(&i, &j);
            if (!(largest > 0)) break;
            auto u = U.col(rank), v = V.col(rank);
            u = column_of(j);
            u.noalias() -= U.leftCols(rank) * V.row(j).head(rank).transpose();
            v = S.row(i).transpose() / S(i, j);
            for (int k = 0; k < count; ++k)
                chosen_U.col(rank).segment<3>(3 * k) = u.segment<3>(3 * chosen[at(k)]);
            S.noalias() -= chosen_U.col(rank) * v.transpose();
            // what has been met is met, whatever rounding leaves
            S.row(i).setZero();
            ++rank;
        }
        if (rank == before) break;
    }
    if (rank == 0) return LowRank{MatrixXd::Zero(rows, 0), MatrixXd::Zero(columns, 0)};
    return recompressed(U.leftCols(rank), V.leftCols(rank), 0.5 * tolerance);
}

}  // namespace pliant
