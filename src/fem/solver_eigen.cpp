#include <Eigen/SparseCholesky>
#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "fem/solver_backend.h"

namespace pliant {
namespace {

using Matrix = LinearSolver::Matrix;

/// Works on the matrix as it is given, in the order of elimination, and shows what it computes.
class Ldlt : public Eigen::SimplicialLDLT<Matrix, Eigen::Upper, Eigen::NaturalOrdering<int>> {
public:
    void analyse_upper(const Matrix& upper) { analyzePattern_preordered(upper, true); }
    void factor_upper(const Matrix& upper) { factorize_preordered<true>(upper); }
    [[nodiscard]] const Eigen::VectorXi& column_counts() const { return m_nonZerosPerCol; }
    [[nodiscard]] const Eigen::VectorXd& pivots() const { return m_diag; }
    [[nodiscard]] const Matrix& lower() const { return m_matrix; }  ///< without the unit diagonal
};

class EigenBackend final : public SolverBackend {
public:
    void analyse(const Matrix& A, std::span<const int> order,
                 SolverStatistics& statistics) override {
        order_.assign(order.begin(), order.end());
        permute_pattern(A);
        ldlt_.analyse_upper(permuted_);

        std::int64_t nonzeros = 0;
        double flops = 0;
        for (const int below : ldlt_.column_counts()) {
            const double d = below + 1.0;
            nonzeros += below + 1;
            flops += d * d;
        }
        // Eigen counts in int
        if (nonzeros > std::numeric_limits<int>::max()) throw std::bad_alloc();
        work_.resize(kBatch * A.rows());
        statistics.factor_nonzeros = nonzeros;
        statistics.flops = flops;
        constexpr std::int64_t kEntry = sizeof(double) + sizeof(int);
        statistics.bytes = nonzeros * kEntry + permuted_.nonZeros() * (kEntry + 4) +
                           (kBatch + 5) * A.rows() * static_cast<std::int64_t>(sizeof(double));
    }

    FactorResult factor(const Matrix& A, SolverStatistics& statistics) override {
        double* values = permuted_.valuePtr();
        for (std::size_t k = 0; k < sources_.size(); ++k) values[k] = A.valuePtr()[sources_[k]];
        ldlt_.factor_upper(permuted_);
        const Eigen::VectorXd& pivots = ldlt_.pivots();
        if (ldlt_.info() != Eigen::Success) {
            // the elimination stopped at the first pivot that is exactly zero
            const auto zero = std::find(pivots.begin(), pivots.end(), 0.0);
            return {FactorStatus::Singular, order_[zero - pivots.begin()]};
        }
        statistics.negative_pivots = static_cast<int>((pivots.array() < 0).count());
        const auto negative =
            std::find_if(pivots.begin(), pivots.end(), [](double d) { return d < 0; });
        return {FactorStatus::Ok,
                negative == pivots.end() ? -1 : order_[negative - pivots.begin()]};
    }

    /// Eigen's own solve allocates; this one reads L once for up to kBatch right-hand sides.
    void solve(Eigen::Ref<Eigen::MatrixXd> b) override {
        for (Eigen::Index first = 0; first < b.cols(); first += kBatch) {
            const Eigen::Index count = std::min<Eigen::Index>(kBatch, b.cols() - first);
            if (count == 1)
                solve_batch<1>(b.middleCols(first, 1));
            else
                solve_batch<kBatch>(b.middleCols(first, count));
        }
    }

private:
    static constexpr int kBatch = 8;

    /// Pattern of the upper triangle of P A Pᵀ, rows in any order, and where in A each entry
    /// comes from.
    void permute_pattern(const Matrix& A) {
        const auto n = static_cast<int>(A.rows());
        std::vector<int> position(order_.size());
        for (int k = 0; k < n; ++k) position[order_[k]] = k;
        const auto for_each_entry = [&](const auto& visit) {
            for (int j = 0; j < n; ++j)
                for (int k = A.outerIndexPtr()[j]; k < A.outerIndexPtr()[j + 1]; ++k)
                    if (A.innerIndexPtr()[k] >= j) {
                        const auto [row, column] =
                            std::minmax({position[A.innerIndexPtr()[k]], position[j]});
                        visit(row, column, k);
                    }
        };
        std::vector<int> next(static_cast<std::size_t>(n) + 1, 0);
        for_each_entry([&](int, int column, int) { ++next[column + 1]; });
        std::partial_sum(next.begin(), next.end(), next.begin());

        permuted_.resize(n, n);
        permuted_.resizeNonZeros(next.back());
        std::copy(next.begin(), next.end(), permuted_.outerIndexPtr());
        sources_.resize(static_cast<std::size_t>(next.back()));
        for_each_entry([&](int row, int column, int source) {
            const int k = next[column]++;
            permuted_.innerIndexPtr()[k] = row;
            sources_[k] = source;
        });
    }

    template <int Width>
    void solve_batch(Eigen::Ref<Eigen::MatrixXd> b) {
        using Row = Eigen::Array<double, 1, Width>;
        const auto n = static_cast<int>(order_.size());
        const auto row = [&](int i) {
            return Eigen::Map<Row>(work_.data() + i * Eigen::Index{Width});
        };
        for (int k = 0; k < n; ++k)
            for (int c = 0; c < Width; ++c) row(k)[c] = c < b.cols() ? b(order_[k], c) : 0.0;

        const int* offsets = ldlt_.lower().outerIndexPtr();
        const int* rows = ldlt_.lower().innerIndexPtr();
        const double* values = ldlt_.lower().valuePtr();
        for (int j = 0; j < n; ++j) {
            const Row x = row(j);
            for (int k = offsets[j]; k < offsets[j + 1]; ++k) row(rows[k]) -= values[k] * x;
        }
        for (int j = n - 1; j >= 0; --j) {
            Row x = row(j) / ldlt_.pivots()[j];
            for (int k = offsets[j]; k < offsets[j + 1]; ++k) x -= values[k] * row(rows[k]);
            row(j) = x;
        }
        for (int k = 0; k < n; ++k)
            for (int c = 0; c < b.cols(); ++c) b(order_[k], c) = row(k)[c];
    }

    std::vector<int> order_, sources_;
    Matrix permuted_;
    Ldlt ldlt_;
    Eigen::VectorXd work_;
};

}  // namespace

std::unique_ptr<SolverBackend> make_eigen_backend() { return std::make_unique<EigenBackend>(); }

}  // namespace pliant
