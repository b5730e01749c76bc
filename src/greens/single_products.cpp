#include "greens/single_products.h"

extern "C" void sgemm_(const char* transposed_A, const char* transposed_B, const int* rows,
                       const int* columns, const int* inner, const float* factor, const float* A,
                       const int* stride_A, const float* B, const int* stride_B,
                       const float* factor_C, float* C, const int* stride_C);

namespace pliant {

void multiply_single(int rows, int columns, int inner, const SingleMatrix& A, const SingleMatrix& B,
                     float factor, float* C, int stride) noexcept {
    constexpr float one = 1;
    sgemm_(A.is_transposed ? "T" : "N", B.is_transposed ? "T" : "N", &rows, &columns, &inner, &one,
           A.values, &A.stride, B.values, &B.stride, &factor, C, &stride);
}

}  // namespace pliant
