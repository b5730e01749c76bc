#include <dlfcn.h>

#include <mutex>

#include "fem/solver_backend.h"

namespace pliant {
namespace {

/// Looked up at run time, because the solvers work with any BLAS and only OpenBLAS has them.
struct OpenBlas {
    void (*set_num_threads)(int);
    int (*get_num_threads)();

    OpenBlas()
        : set_num_threads(
              reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))),
          get_num_threads(
              reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"))) {}
    [[nodiscard]] bool is_present() const {
        return set_num_threads != nullptr && get_num_threads != nullptr;
    }
};

const OpenBlas& open_blas() {
    static const OpenBlas library;
    return library;
}

std::mutex mutex;
int num_scopes = 0, previous_num_threads = 0;

}  // namespace

ScopedBlasThreads::ScopedBlasThreads(int num_threads) {
    if (!open_blas().is_present()) return;
    const std::lock_guard lock(mutex);
    if (num_scopes++ > 0) return;
    previous_num_threads = open_blas().get_num_threads();
    open_blas().set_num_threads(num_threads);
}

ScopedBlasThreads::~ScopedBlasThreads() {
    if (!open_blas().is_present()) return;
    const std::lock_guard lock(mutex);
    if (--num_scopes == 0) open_blas().set_num_threads(previous_num_threads);
}

}  // namespace pliant
