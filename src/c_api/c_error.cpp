#include "c_api/c_error.h"

#include <cstdarg>
#include <cstdio>

namespace pliant::c_api {
namespace {

thread_local char last_error[1024] = "";

}  // namespace

pliant_status fail(pliant_status status, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

pliant_status fail_null(const char* function, const char* what) noexcept {
    return fail(PLIANT_BAD_ARGUMENT, "%s: %s is null", function, what);
}

}  // namespace pliant::c_api

extern "C" const char* pliant_last_error(void) { return pliant::c_api::last_error; }
