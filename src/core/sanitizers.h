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
