#pragma once

/// PLIANT_ADDRESS_SANITIZER and PLIANT_THREAD_SANITIZER are 1 where the compiler adds that
/// sanitizer's checks, else 0. GCC says so by macros, Clang by features.
#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define PLIANT_ADDRESS_SANITIZER 1
#else
#define PLIANT_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define PLIANT_THREAD_SANITIZER 1
#else
#define PLIANT_THREAD_SANITIZER 0
#endif

#if PLIANT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace pliant {

/// Tells the thread sanitizer of an order that a library without its checks sees to: what one
/// thread did before `release_to_threads(object)` comes before what another does after
/// `acquire_from_threads(object)`.
inline void release_to_threads([[maybe_unused]] void* object) noexcept {
#if PLIANT_THREAD_SANITIZER
    __tsan_release(object);
#endif
}
inline void acquire_from_threads([[maybe_unused]] void* object) noexcept {
#if PLIANT_THREAD_SANITIZER
    __tsan_acquire(object);
#endif
}

}  // namespace pliant
