#include "greens/dense_lu.h"

#include "core/numbers.h"
#include "fem/solver_backend.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <utility>

extern "C" {
void dgetrf_(const int* rows, const int* cols, double* A, const int* stride, int* pivots,
             int* info);
void dlaswp_(const int* cols, double* A, const int* stride, const int* first, const int* last,
             const int* pivots, const int* step);
void dtrsm_(const char* side, const char* triangle, const char* transposed, const char* diagonal,
            const int* rows, const int* cols, const double* factor, const double* A,
            const int* stride_A, double* B, const int* stride_B);
void dgemm_(const char* transposed_A, const char* transposed_B, const int* rows, const int* cols,
            const int* inner, const double* factor, const double* A, const int* stride_A,
            const double* B, const int* stride_B, const double* factor_C, double* C,
            const int* stride_C);
}

namespace pliant {
namespace {

constexpr int kLuPanel = 192;      // columns eliminated at a time
constexpr int kLuTile = 2 * 192;   // columns that one thread updates at a time
constexpr int kLuSolveTile = 192;  // right-hand sides that one thread solves for at a time

/// The matrix while it is factored, `n` square, by columns.
struct LuMatrix {
    double* values;
    int n, stride;
    int* pivots;

    [[nodiscard]] double* entry(int row, int column) const {
        return values + row + static_cast<std::ptrdiff_t>(column) * stride;
    }

    /// Eliminates columns [first, first + width) below row `first`; false: a pivot is zero.
    [[nodiscard]] bool factor_panel(int first, int width) const {
        const int rows = n - first;
        int info = 0;
        dgetrf_(&rows, &width, entry(first, first), &stride, pivots + first, &info);
        for (int k = first; k < first + width; ++k) pivots[k] += first;
        return info == 0;
    }
    /// Applies the elimination of columns [first, first + width) to the columns from `column` on.
    void update(int first, int width, int column, int num_columns) const {
        constexpr double one = 1, minus_one = -1;
        constexpr int step = 1;
        const int begin = first + 1, end = first + width, below = n - end;
        dlaswp_(&num_columns, entry(0, column), &stride, &begin, &end, pivots, &step);
        dtrsm_("L", "L", "N", "U", &width, &num_columns, &one, entry(first, first), &stride,
               entry(first, column), &stride);
        if (below > 0)
            dgemm_("N", "N", &below, &num_columns, &width, &minus_one, entry(end, first), &stride,
                   entry(first, column), &stride, &one, entry(end, column), &stride);
    }
};

[[noreturn]] void refuse_singular() {
    throw InputError("",
                     "the boundary equations of this body are singular: look for surfaces that "
                     "touch or coincide, and hold more of the body");
}

}  // namespace

DenseLu::DenseLu(Eigen::MatrixXd A, Progress& progress)
    : LU_(std::move(A)), pivots_(static_cast<std::size_t>(LU_.rows())) {
    const int n = static_cast<int>(LU_.rows());
    const ScopedBlasThreads one_thread_each(1);
    const LuMatrix matrix{LU_.data(), n, n, pivots_.data()};
    const int num_panels = (n + kLuPanel - 1) / kLuPanel;
    progress.stage("factorisation", at(num_panels));
    bool is_regular = n == 0 || matrix.factor_panel(0, std::min(kLuPanel, n));
    for (int panel = 0; panel < num_panels && is_regular; ++panel) {
        const int first = panel * kLuPanel, width = std::min(kLuPanel, n - first);
        const int end = first + width, next_width = std::min(kLuPanel, n - end);
        const int rest = n - end - next_width, num_tiles = (rest + kLuTile - 1) / kLuTile;
        // the next panel is eliminated as soon as it is up to date, while others are updated
        parallel_for(at(1 + num_tiles), 1, [&](std::size_t task) {
            if (task == 0) {
                if (next_width == 0) return;
                matrix.update(first, width, end, next_width);
                is_regular = matrix.factor_panel(end, next_width);
            } else {
                const int column = end + next_width + (static_cast<int>(task) - 1) * kLuTile;
                matrix.update(first, width, column, std::min(kLuTile, n - column));
            }
        });
        progress.advance();
    }
    // rounding leaves pivots of a singular matrix at about 1e-16 of the others
    const Eigen::ArrayXd pivots = LU_.diagonal().cwiseAbs();
    if (!is_regular || !pivots.allFinite() || pivots.minCoeff() < 1e-13 * pivots.maxCoeff())
        refuse_singular();
    // exchanges of later panels among the rows of L
    parallel_for(at(num_panels), 1, [&](std::size_t block) {
        const int column = static_cast<int>(block) * kLuPanel;
        const int num_columns = std::min(kLuPanel, n - column);
        constexpr int step = 1;
        const int begin = column + num_columns + 1;
        if (begin <= n)
            dlaswp_(&num_columns, matrix.entry(0, column), &n, &begin, &n, pivots_.data(), &step);
    });
}

void DenseLu::solve_in_place(Eigen::Ref<Eigen::MatrixXd> B) const {
    const ScopedBlasThreads one_thread_each(1);
    const int n = static_cast<int>(LU_.rows()), stride = static_cast<int>(B.outerStride());
    const int num_columns = static_cast<int>(B.cols());
    parallel_for(at((num_columns + kLuSolveTile - 1) / kLuSolveTile), 1, [&](std::size_t tile) {
        const int column = static_cast<int>(tile) * kLuSolveTile;
        const int width = std::min(kLuSolveTile, num_columns - column);
        constexpr double one = 1;
        constexpr int step = 1;
        double* const b = B.col(column).data();
        dlaswp_(&width, b, &stride, &step, &n, pivots_.data(), &step);
        dtrsm_("L", "L", "N", "U", &n, &width, &one, LU_.data(), &n, b, &stride);
        dtrsm_("L", "U", "N", "N", &n, &width, &one, LU_.data(), &n, b, &stride);
    });
}

}  // namespace pliant
