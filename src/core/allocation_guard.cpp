#include "pliant/core/allocation_guard.h"

#include <cerrno>
#include <cstddef>

#include "core/sanitizers.h"

// Sanitizers bring their own malloc, which must not be replaced.
#define PLIANT_COUNTS_ALLOCATIONS !(PLIANT_ADDRESS_SANITIZER || PLIANT_THREAD_SANITIZER)

namespace {

thread_local constinit std::uint64_t num_allocations = 0;

}  // namespace

#if PLIANT_COUNTS_ALLOCATIONS

// The C library's own functions under the names that replacements are meant to call. `free` is
// left alone: all memory still comes from there.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* block, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
void* __libc_valloc(std::size_t size) noexcept;
void* __libc_pvalloc(std::size_t size) noexcept;
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t size) noexcept {
    ++num_allocations;
    return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    ++num_allocations;
    return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) noexcept {
    ++num_allocations;
    return __libc_realloc(block, size);
}

void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return nullptr;
    }
    ++num_allocations;
    return __libc_realloc(block, total);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    ++num_allocations;
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    ++num_allocations;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    ++num_allocations;
    void* result = __libc_memalign(alignment, size);
    if (result == nullptr) return ENOMEM;
    *block = result;
    return 0;
}

void* valloc(std::size_t size) noexcept {
    ++num_allocations;
    return __libc_valloc(size);
}

void* pvalloc(std::size_t size) noexcept {
    ++num_allocations;
    return __libc_pvalloc(size);
}

}  // extern "C"

#endif

namespace pliant {

AllocationGuard::AllocationGuard() noexcept : start_(num_allocations) {}

std::uint64_t AllocationGuard::count() const noexcept { return num_allocations - start_; }

bool AllocationGuard::is_active() noexcept { return PLIANT_COUNTS_ALLOCATIONS; }

}  // namespace pliant
