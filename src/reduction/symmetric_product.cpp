#include "reduction/symmetric_product.h"

#include "fem/solver_backend.h"

#include <cassert>

extern "C" void dsyrk_(const char* triangle, const char* transposed, const int* n, const int* k,
                       const double* alpha, const double* A, const int* lda, const double* beta,
                       double* C, const int* ldc);

namespace pliant {

void add_symmetric_product(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::MatrixXd& T,
                           int num_threads) {
    assert(T.rows() == X.rows() && T.cols() == X.rows());
    const ScopedBlasThreads threads(num_threads);
    const auto n = static_cast<int>(X.rows()), k = static_cast<int>(X.cols());
    const auto stride = static_cast<int>(X.outerStride());
    const double one = 1;
    dsyrk_("U", "N", &n, &k, &one, X.data(), &stride, &one, T.data(), &n);
}

}  // namespace pliant
