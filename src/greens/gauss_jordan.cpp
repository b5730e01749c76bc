#include "greens/gauss_jordan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "greens/column_kernels.h"

namespace pliant {
namespace {

constexpr int kExchangeWidth = 4;
/// A diagonal entry this near to the largest of its column is taken: rows then stay where they are.
constexpr double kDiagonalPreference = 0.1;
/// Pivots below this, against the largest entry of the matrix, are rounding.
constexpr double kPivotRounding = 1e-14;

}  // namespace

bool invert_in_place(double* A, std::size_t stride, int size,
                     const GaussJordanScratch& scratch) noexcept {
    const auto column = [&](int j) { return A + at(j) * stride; };
    double largest = 0;
    for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(column(j)[i]));
    const double smallest_pivot = kPivotRounding * largest;

    for (int first = 0; first < size; first += kExchangeWidth) {
        const int end = std::min(first + kExchangeWidth, size), width = end - first;
        // exchange inside the panel, one column after another
        for (int k = first; k < end; ++k) {
            double* const a = column(k);
            int pivot = k;
            for (int i = k + 1; i < size; ++i)
                if (std::abs(a[i]) > std::abs(a[pivot])) pivot = i;
            if (std::abs(a[k]) >= kDiagonalPreference * std::abs(a[pivot])) pivot = k;
            if (!(std::abs(a[pivot]) > smallest_pivot)) return false;
            scratch.pivots[k] = pivot;
            if (pivot != k)
                for (int j = 0; j < size; ++j) std::swap(column(j)[k], column(j)[pivot]);

            const double inverse = 1 / a[k];
            for (int i = 0; i < size; ++i) a[i] *= -inverse;
            a[k] = inverse;
            for (int j = first; j < end; ++j) {
                if (j == k) continue;
                double* const b = column(j);
                const double factor = b[k];
                b[k] = 0;
                for (int i = 0; i < size; ++i) b[i] += factor * a[i];
            }
        }
        // and with all other columns at once: A_:c ← A_:c with zeros in the panel's rows + P A_Kc
        for (int j = 0; j < size; ++j)
            for (int k = 0; k < width; ++k) {
                double& value = column(j)[first + k];
                const bool is_panel = j >= first && j < end;
                scratch.factors[j * width + k] = is_panel ? 0 : std::exchange(value, 0);
            }
        add_low_rank({A, stride, padded_rows(size), size}, column(first), stride, scratch.factors,
                     at(width), width);
    }
    // exchanged rows of the matrix are exchanged columns of its inverse
    for (int k = size - 1; k >= 0; --k)
        if (const int pivot = scratch.pivots[k]; pivot != k)
            std::swap_ranges(column(k), column(k) + size, column(pivot));
    return true;
}

}  // namespace pliant
