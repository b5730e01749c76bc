// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "reduction/dense_cholesky.h"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/dense_cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Panels have four columns, and rows come in multiples of four.
using Tag = hn::CappedTag<double, 4>;
using Vector = hn::Vec<Tag>;
constexpr Tag kTag;
constexpr std::size_t kPanel = 4;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());

/// A pivot below this part of its diagonal entry is rounding.
constexpr double kSmallestPivot = 1e-14;

/// kRows vectors of rows times the columns of a panel, in registers.
template <int kRows>
struct Tile {
    Vector a[kRows][kPanel];

    HWY_INLINE void load(const double* A, std::size_t stride) {
        PLIANT_UNROLL for (int v = 0; v < kRows; ++v)
            PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) a[v][c] =
                hn::Load(kTag, A + c * stride + v * kLanes);
    }
    HWY_INLINE void store(double* A, std::size_t stride) const {
        PLIANT_UNROLL for (int v = 0; v < kRows; ++v)
            PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c)
                hn::Store(a[v][c], kTag, A + c * stride + v * kLanes);
    }
    /// Subtracts what the `count` columns to the left contribute: `rows` and `panel_rows` point at
    /// the rows of this tile and of the panel in the first column.
    HWY_INLINE void subtract_left(const double* rows, const double* panel_rows, std::size_t count,
                                  std::size_t stride) {
        for (std::size_t k = 0; k < count; ++k, rows += stride, panel_rows += stride) {
            Vector l[kRows];
            PLIANT_UNROLL for (int v = 0; v < kRows; ++v) l[v] = hn::Load(kTag, rows + v * kLanes);
            PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) {
                const Vector factor = hn::Set(kTag, panel_rows[c]);
                PLIANT_UNROLL for (int v = 0; v < kRows; ++v) a[v][c] =
                    hn::NegMulAdd(l[v], factor, a[v][c]);
            }
        }
    }
    /// Times L⁻ᵀ of the diagonal block.
    HWY_INLINE void solve(const double* block, std::size_t stride) {
        PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) {
            PLIANT_UNROLL for (std::size_t d = 0; d < c; ++d) {
                const Vector factor = hn::Set(kTag, block[d * stride + c]);
                PLIANT_UNROLL for (int v = 0; v < kRows; ++v) a[v][c] =
                    hn::NegMulAdd(a[v][d], factor, a[v][c]);
            }
            const Vector inverse = hn::Set(kTag, block[c * stride + c]);
            PLIANT_UNROLL for (int v = 0; v < kRows; ++v) a[v][c] = hn::Mul(a[v][c], inverse);
        }
    }
};

/// The 4 × 4 block on the diagonal; `largest` are the entries before anything was subtracted.
HWY_INLINE bool factor_block(double* block, std::size_t stride, const double* largest) {
    PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) {
        double* const column = block + c * stride;
        double pivot = column[c];
        PLIANT_UNROLL for (std::size_t d = 0; d < c; ++d) pivot -=
            block[d * stride + c] * block[d * stride + c];
        // also NaN
        if (!(pivot > kSmallestPivot * largest[c])) return false;
        const double inverse = 1 / std::sqrt(pivot);
        PLIANT_UNROLL for (std::size_t i = c + 1; i < kPanel; ++i) {
            double sum = column[i];
            PLIANT_UNROLL for (std::size_t d = 0; d < c; ++d) sum -=
                block[d * stride + i] * block[d * stride + c];
            column[i] = sum * inverse;
        }
        column[c] = inverse;
    }
    return true;
}

bool factor(const CholeskyLayout& layout, double* A, int num_loads) {
    const auto n = static_cast<std::size_t>(layout.padded());
    const auto stride = static_cast<std::size_t>(layout.stride());
    const auto num_rows = static_cast<std::size_t>(layout.num_rows(num_loads));
    for (std::size_t j = 0; j < n; j += kPanel) {
        double* const panel = A + j * stride;
        double largest[kPanel];
        PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) largest[c] =
            panel[c * stride + j + c];
        std::size_t i = j;
        for (; i < j + kPanel; i += kLanes) {
            Tile<1> tile;
            tile.load(panel + i, stride);
            tile.subtract_left(A + i, A + j, j, stride);
            tile.store(panel + i, stride);
        }
        if (!factor_block(panel + j, stride, largest)) return false;
        for (; i + 2 * kLanes <= num_rows; i += 2 * kLanes) {
            Tile<2> tile;
            tile.load(panel + i, stride);
            tile.subtract_left(A + i, A + j, j, stride);
            tile.solve(panel + j, stride);
            tile.store(panel + i, stride);
        }
        for (; i < num_rows; i += kLanes) {
            Tile<1> tile;
            tile.load(panel + i, stride);
            tile.subtract_left(A + i, A + j, j, stride);
            tile.solve(panel + j, stride);
            tile.store(panel + i, stride);
        }
    }
    return true;
}

void back_solve(const CholeskyLayout& layout, const double* L, int row, double* x) {
    const auto n = static_cast<std::size_t>(layout.padded());
    const auto stride = static_cast<std::size_t>(layout.stride());
    for (std::size_t end = n; end > 0; end -= kPanel) {
        const std::size_t j = end - kPanel;
        const double* const panel = L + j * stride;
        Vector sums[kPanel];
        PLIANT_UNROLL for (Vector& sum : sums) sum = hn::Zero(kTag);
        for (std::size_t i = end; i < n; i += kLanes) {
            const Vector xi = hn::LoadU(kTag, x + i);
            PLIANT_UNROLL for (std::size_t c = 0; c < kPanel; ++c) sums[c] =
                hn::MulAdd(hn::Load(kTag, panel + c * stride + i), xi, sums[c]);
        }
        PLIANT_UNROLL for (std::size_t c = kPanel; c-- > 0;) {
            const double* const column = panel + c * stride;
            double value = column[row] - hn::GetLane(hn::SumOfLanes(kTag, sums[c]));
            PLIANT_UNROLL for (std::size_t i = c + 1; i < kPanel; ++i) value -=
                column[j + i] * x[j + i];
            x[j + c] = value * column[j + c];
        }
    }
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(factor);
HWY_EXPORT(back_solve);

void prepare_cholesky(const CholeskyLayout& layout, double* A) noexcept {
    for (std::size_t k = 0; k < layout.num_values(); ++k) A[k] = 0;
    const auto stride = static_cast<std::size_t>(layout.stride());
    for (int i = layout.size; i < layout.padded(); ++i)
        A[static_cast<std::size_t>(i) * (stride + 1)] = 1;
}
bool cholesky_factor(const CholeskyLayout& layout, double* A, int num_loads) noexcept {
    return HWY_DYNAMIC_DISPATCH(factor)(layout, A, num_loads);
}
void cholesky_back_solve(const CholeskyLayout& layout, const double* L, int row,
                         double* x) noexcept {
    HWY_DYNAMIC_DISPATCH(back_solve)(layout, L, row, x);
}

}  // namespace pliant
#endif
