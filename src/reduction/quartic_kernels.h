#pragma once

#include <algorithm>
#include <cstddef>

/// Derivatives of a quartic form in R variables, compiled for each instruction set,
/// docs/reduction.md section "Evaluation":
///     W(q) = Σ_{i ≤ j ≤ k ≤ l} w_ijkl q_i q_j q_k q_l,    indices 0 … R − 1.
/// Each stored coefficient is read once: 2 multiply-adds for the gradient, 3 for the Hessian.
namespace pliant {

/// Where the coefficients stand. The pairs (k, l), k ≤ l, are columns, by rising k, then l; the
/// pairs (i, j) are rows, and a row holds the columns with k ≥ j. Columns are cut into blocks, so
/// that what a block adds to stays in the nearest cache. Within a block, tiles of rows follow each
/// other: those of j, j + 1 (j even) and four i, and at last those of the one or three i that
/// remain up to j, with the row (j + 1, j + 1). The columns of a tile are interleaved by granules
/// of one vector. Zeros stand before the first column of a row in its granule, after the last, and
/// for j + 1 = R.
template <class T>
struct QuarticLayout {
    static constexpr int kGranule = 32 / sizeof(T);
    static constexpr int kBlock = 512 / sizeof(T);

    int num_variables;  ///< R

    [[nodiscard]] constexpr int num_columns() const noexcept {
        return num_variables * (num_variables + 1) / 2;
    }
    /// Of the pair (k, k).
    [[nodiscard]] constexpr int column_of(int k) const noexcept {
        return k * num_variables - k * (k - 1) / 2;
    }
    [[nodiscard]] static constexpr int round_up(int count) noexcept {
        return (count + kGranule - 1) / kGranule * kGranule;
    }
    /// Of the block that begins at column `first`.
    [[nodiscard]] constexpr int width(int first) const noexcept {
        return std::min(kBlock, round_up(num_columns() - first));
    }
    /// Where the rows of j begin in that block.
    [[nodiscard]] constexpr int begin(int first, int j) const noexcept {
        return std::max(column_of(j) - first, 0) / kGranule * kGranule;
    }
    /// Calls `visit(i, j, num_i, first column, num_columns)` for each tile in the order of storage;
    /// the last one of a j holds the row (j + 1, j + 1) as well.
    template <class Visit>
    constexpr void for_each_tile(const Visit& visit) const {
        for (int first = 0; first < num_columns(); first += kBlock)
            for (int j = 0; j < num_variables && column_of(j) < first + kBlock; j += 2)
                for (int i = 0; i <= j; i += 4)
                    visit(i, j, std::min(4, j + 1 - i), first + begin(first, j),
                          width(first) - begin(first, j));
    }
    [[nodiscard]] static constexpr int rows_of_tile(int i, int j, int num_i) noexcept {
        return 2 * num_i + (i + num_i > j ? 1 : 0);
    }
    /// Of all coefficients and the zeros between them.
    [[nodiscard]] constexpr std::size_t size() const {
        std::size_t sum = 0;
        for_each_tile([&](int i, int j, int num_i, int, int count) {
            sum += static_cast<std::size_t>(rows_of_tile(i, j, num_i)) *
                   static_cast<std::size_t>(count);
        });
        return sum;
    }

    // Sizes of the scratch arrays: vectors run over the end of what they are for.
    /// Of a vector of variables and of a row of the matrix.
    [[nodiscard]] constexpr int padded() const noexcept {
        return round_up(num_variables) + 2 * kGranule;
    }
    [[nodiscard]] constexpr std::size_t num_products() const noexcept {
        return static_cast<std::size_t>(round_up(num_columns())) + kGranule;
    }
    static constexpr int kSumsOfVariable = kBlock + kGranule;
    [[nodiscard]] constexpr std::size_t num_sums() const noexcept {
        return std::max(num_products(), static_cast<std::size_t>(num_variables + 1) *
                                            static_cast<std::size_t>(kSumsOfVariable));
    }
    [[nodiscard]] constexpr int num_matrix_rows() const noexcept { return num_variables + 3; }
    [[nodiscard]] constexpr std::size_t matrix_size() const noexcept {
        return static_cast<std::size_t>(num_matrix_rows()) * static_cast<std::size_t>(padded());
    }
};

/// The form, the variables and scratch arrays; all begin at multiples of 64 bytes.
template <class T>
struct QuarticEvaluation {
    int num_variables;  ///< R
    const T* w;         ///< in the order of QuarticLayout
    const T* q;         ///< R variables, then zeros up to padded()
    T* products;        ///< num_products()
    T* sums;            ///< num_sums()
    T* matrix;          ///< matrix_size()
    T* gradient;        ///< padded(); result: ∂W/∂q_a
};

/// Leaves ∂W/∂q in `gradient`.
void quartic_gradient(const QuarticEvaluation<double>& evaluation) noexcept;
void quartic_gradient(const QuarticEvaluation<float>& evaluation) noexcept;
/// And writes ∂²W/∂q_a∂q_b of a, b ≥ 1, exactly symmetric, by columns that are `stride` apart.
void quartic_hessian(const QuarticEvaluation<double>& evaluation, double* hessian,
                     std::ptrdiff_t stride) noexcept;
void quartic_hessian(const QuarticEvaluation<float>& evaluation, double* hessian,
                     std::ptrdiff_t stride) noexcept;

}  // namespace pliant
