#include "fem/incomplete_cholesky.h"

#include <algorithm>
#include <numeric>

namespace pliant {

void IncompleteCholesky::set_pattern(const BlockMatrix& A) {
    const BlockRows rows = A.rows();
    num_rows_ = rows.num_rows;
    const auto n = static_cast<std::size_t>(num_rows_);

    // strictly lower blocks by rows, and their transposes by rows
    offsets_.assign(1, 0);
    columns_.clear();
    sources_.clear();
    upper_offsets_.assign(n + 1, 0);
    for (int i = 0; i < num_rows_; ++i) {
        for (int k = rows.offsets[i]; k < A.diagonal_position(i); ++k) {
            columns_.push_back(rows.columns[k]);
            sources_.push_back(k);
            ++upper_offsets_[rows.columns[k] + 1];
        }
        offsets_.push_back(static_cast<int>(columns_.size()));
    }
    std::partial_sum(upper_offsets_.begin(), upper_offsets_.end(), upper_offsets_.begin());
    std::vector<int> next = upper_offsets_;
    upper_columns_.resize(columns_.size());
    transposed_.resize(columns_.size());
    for (int i = 0; i < num_rows_; ++i)
        for (int k = offsets_[i]; k < offsets_[i + 1]; ++k) {
            transposed_[k] = next[columns_[k]]++;
            upper_columns_[transposed_[k]] = i;
        }

    // for each block ij all k < j with blocks ik and jk
    update_offsets_.assign(1, 0);
    updates_.clear();
    std::vector<int> place(n, -1);  // of block ik in row i
    for (int i = 0; i < num_rows_; ++i) {
        for (int p = offsets_[i]; p < offsets_[i + 1]; ++p) {
            const int j = columns_[p];
            for (int q = offsets_[j]; q < offsets_[j + 1]; ++q)
                if (place[columns_[q]] >= 0) {
                    updates_.push_back(place[columns_[q]]);
                    updates_.push_back(q);
                }
            update_offsets_.push_back(static_cast<int>(updates_.size() / 2));
            place[j] = p;
        }
        for (int p = offsets_[i]; p < offsets_[i + 1]; ++p) place[columns_[p]] = -1;
    }

    for (std::vector<double>* blocks : {&A_lower_, &scaled_, &L_, &L_transposed_})
        blocks->assign(9 * columns_.size() + 1, 0.0);
    for (std::vector<double>* blocks : {&A_diagonal_, &D_inverse_}) blocks->assign(9 * n + 1, 0.0);
    work_.assign(3 * n + 1, 0.0);
}

void IncompleteCholesky::factor(const BlockMatrix& A,
                                const std::vector<double>& D_inverse) noexcept {
    const double* values = A.rows().values;
    for (std::size_t k = 0; k < sources_.size(); ++k)
        std::copy_n(values + std::size_t{9} * sources_[k], 9, A_lower_.data() + 9 * k);
    for (int i = 0; i < num_rows_; ++i)
        std::copy_n(values + std::size_t{9} * A.diagonal_position(i), 9,
                    A_diagonal_.data() + std::size_t{9} * i);

    const IncompleteFactorBlocks blocks{
        num_rows_,       offsets_.data(),    columns_.data(),      update_offsets_.data(),
        updates_.data(), transposed_.data(), A_lower_.data(),      A_diagonal_.data(),
        scaled_.data(),  L_.data(),          L_transposed_.data(), D_inverse_.data()};
    // [Manteuffel1980]: a diagonally dominant matrix has a factor, the largest shift makes most so
    for (shift_ = 0; shift_ < 100; shift_ = shift_ == 0 ? 1e-3 : 4 * shift_)
        if (factor_incompletely(blocks, shift_)) return;
    std::fill(L_.begin(), L_.end(), 0.0);
    std::fill(L_transposed_.begin(), L_transposed_.end(), 0.0);
    std::copy(D_inverse.begin(), D_inverse.end(), D_inverse_.begin());
}

void IncompleteCholesky::apply(const double* r, double* z) noexcept {
    std::copy_n(r, work_.size() - 1, work_.data());
    solve_unit_lower({num_rows_, offsets_.data(), columns_.data(), L_.data()}, work_.data());
    multiply_diagonal_blocks(num_rows_, D_inverse_.data(), work_.data(), z);
    solve_unit_upper(
        {num_rows_, upper_offsets_.data(), upper_columns_.data(), L_transposed_.data()}, z);
}

}  // namespace pliant
