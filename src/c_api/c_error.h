#pragma once

#include "pliant/core/error.h"
#include "pliant/pliant_c.h"

#include <exception>
#include <new>

namespace pliant::c_api {

/// Keeps the sentence for pliant_last_error() and returns `status`. Allocates nothing.
[[gnu::format(printf, 2, 3)]] pliant_status fail(pliant_status status, const char* format,
                                                 ...) noexcept;
/// "pliant_tick: world is null".
pliant_status fail_null(const char* function, const char* what) noexcept;

/// Runs what may throw.
template <class Work>
pliant_status guarded(const char* function, Work&& work) noexcept {
    try {
        return work();
    } catch (const InputError& error) {
        return fail(PLIANT_BAD_INPUT, "%s", error.what());
    } catch (const std::bad_alloc&) {
        return fail(PLIANT_OUT_OF_MEMORY, "%s: out of memory", function);
    } catch (const std::exception& error) {
        return fail(PLIANT_FAILED, "%s: %s", function, error.what());
    } catch (...) {
        return fail(PLIANT_FAILED, "%s: failed for an unknown reason", function);
    }
}

}  // namespace pliant::c_api
