#include "scene/lock_count.h"

#include <dlfcn.h>
#include <pthread.h>

#include "core/sanitizers.h"

#define PLIANT_COUNTS_LOCKS !(PLIANT_ADDRESS_SANITIZER || PLIANT_THREAD_SANITIZER)

namespace {

thread_local constinit std::uint64_t num_locks = 0;

#if PLIANT_COUNTS_LOCKS

/// The C library's own function behind the one that replaces it.
template <class Lock>
int call_original(const char* name, Lock* lock) noexcept {
    ++num_locks;
    using Function = int (*)(Lock*);
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name))(lock);
}

#endif

}  // namespace

#if PLIANT_COUNTS_LOCKS

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    return call_original("pthread_mutex_lock", mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
    return call_original("pthread_mutex_trylock", mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
    return call_original("pthread_rwlock_rdlock", lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
    return call_original("pthread_rwlock_wrlock", lock);
}

}  // extern "C"

#endif

namespace pliant::test {

LockCount::LockCount() noexcept : start_(num_locks) {}

std::uint64_t LockCount::count() const noexcept { return num_locks - start_; }

bool LockCount::is_active() noexcept { return PLIANT_COUNTS_LOCKS; }

}  // namespace pliant::test
