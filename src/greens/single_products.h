#pragma once

/// Products of matrices by columns in single precision, on the calling thread (ScopedBlasThreads).
namespace pliant {

struct SingleMatrix {
    const float* values;
    int stride;
    bool is_transposed = false;
};

/// C = A B + factor C, with `rows` × `inner` of A and `inner` × `columns` of B.
void multiply_single(int rows, int columns, int inner, const SingleMatrix& A, const SingleMatrix& B,
                     float factor, float* C, int stride) noexcept;

}  // namespace pliant
