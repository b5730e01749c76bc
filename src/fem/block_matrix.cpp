#include "fem/block_matrix.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace pliant {

void BlockMatrix::set_pattern(const Eigen::SparseMatrix<double>& A) {
    assert(A.rows() == A.cols() && A.isCompressed());
    num_unknowns_ = static_cast<int>(A.rows());
    const int num_rows = (num_unknowns_ + 2) / 3;
    const auto for_each_entry = [&](const auto& visit) {
        for (int j = 0; j < num_unknowns_; ++j)
            for (int k = A.outerIndexPtr()[j]; k < A.outerIndexPtr()[j + 1]; ++k)
                if (A.innerIndexPtr()[k] >= j) visit(A.innerIndexPtr()[k], j, k);
    };

    // blocks, both triangles; the diagonal is always there
    std::vector<std::pair<int, int>> blocks;
    for (int i = 0; i < num_rows; ++i) blocks.emplace_back(i, i);
    for_each_entry([&](int i, int j, int) {
        const std::pair block(i / 3, j / 3), mirrored(j / 3, i / 3);
        // the entries of a block follow each other
        if (blocks.back() == mirrored || block == mirrored) return;
        blocks.push_back(block);
        blocks.push_back(mirrored);
    });
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

    offsets_.assign(static_cast<std::size_t>(num_rows) + 1, 0);
    columns_.resize(blocks.size());
    diagonal_.resize(static_cast<std::size_t>(num_rows));
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        const auto [row, column] = blocks[k];
        offsets_[row + 1] = static_cast<int>(k) + 1;
        columns_[k] = column;
        if (row == column) diagonal_[row] = static_cast<int>(k);
    }
    values_.assign(9 * blocks.size() + 1, 0.0);

    const auto position = [&](int i, int j) {
        const auto first = columns_.begin() + offsets_[i / 3];
        const auto last = columns_.begin() + offsets_[i / 3 + 1];
        const auto block =
            static_cast<int>(std::lower_bound(first, last, j / 3) - columns_.begin());
        return 9 * block + 3 * (j % 3) + i % 3;
    };
    sources_.clear();
    for_each_entry([&](int i, int j, int k) {
        sources_.push_back({k, position(i, j), position(j, i)});
    });
    for (int i = num_unknowns_; i < 3 * num_rows; ++i) values_[position(i, i)] = 1.0;
}

void BlockMatrix::set_values(const Eigen::SparseMatrix<double>& A) noexcept {
    const double* entries = A.valuePtr();
    for (const Source& source : sources_)
        values_[source.to] = values_[source.mirrored] = entries[source.from];
}

}  // namespace pliant
