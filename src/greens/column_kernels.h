#pragma once

#include <cstddef>

/// Sums and low-rank products of columns, compiled for each instruction set, in float and double.
namespace pliant {

/// Rows of padded matrices come in multiples of this, with zeros behind the last one.
inline constexpr int kColumnPad = 16;
[[nodiscard]] inline constexpr int padded_rows(int rows) noexcept {
    return (rows + kColumnPad - 1) / kColumnPad * kColumnPad;
}

inline constexpr int kColumnsAtOnce = 8;

/// out += Σ_k columns[k] weights[k] over kColumnsAtOnce columns.
void add_column_group(const float* const* columns, const float* weights, std::size_t rows,
                      float* out) noexcept;
void add_column_group(const double* const* columns, const double* weights, std::size_t rows,
                      double* out) noexcept;

/// out += Σ columns · weights, gathered in groups so that `out` is read and written seldom.
/// Columns of weight zero cost nothing.
template <class T>
class ColumnSum {
public:
    ColumnSum(T* out, std::size_t rows) noexcept : out_(out), rows_(rows) {}
    void add(const T* column, T weight) noexcept {
        if (weight == T(0)) return;
        columns_[count_] = column;
        weights_[count_++] = weight;
        if (count_ == kColumnsAtOnce) finish();
    }
    void finish() noexcept {
        if (count_ == 0) return;
        for (int k = count_; k < kColumnsAtOnce; ++k) {
            columns_[k] = columns_[0];
            weights_[k] = T(0);
        }
        add_column_group(columns_, weights_, rows_, out_);
        count_ = 0;
    }

private:
    const T* columns_[kColumnsAtOnce];
    T weights_[kColumnsAtOnce];
    int count_ = 0;
    T* out_;
    std::size_t rows_;
};

/// A matrix by columns, `rows` a multiple of kColumnPad.
template <class T>
struct PaddedColumns {
    T* values;
    std::size_t stride;
    int rows, cols;
};

/// X += P D with P of `rank` columns, `p_stride` apart, padded like X, and `rank` numbers of D for
/// each column of X, `d_stride` apart.
void add_low_rank(const PaddedColumns<float>& X, const float* P, std::size_t p_stride,
                  const float* D, std::size_t d_stride, int rank) noexcept;
void add_low_rank(const PaddedColumns<double>& X, const double* P, std::size_t p_stride,
                  const double* D, std::size_t d_stride, int rank) noexcept;

/// P = X B and Q = Rᵀ X in one pass over X: `count` columns of B, R and P, `stride` apart and
/// padded like the rows of X (X square up to padding), and `count` numbers of Q for each column of
/// X.
void multiply_both_sides(const PaddedColumns<const float>& X, const float* B, const float* R,
                         std::size_t stride, int count, float* P, float* Q) noexcept;
void multiply_both_sides(const PaddedColumns<const double>& X, const double* B, const double* R,
                         std::size_t stride, int count, double* P, double* Q) noexcept;

}  // namespace pliant
