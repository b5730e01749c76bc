#pragma once

#include "arrays.h"
#include "pliant/core/progress.h"

#include <functional>
#include <optional>

namespace pliant::python {

/// Runs `work`, which touches nothing of Python, on a thread of its own without the interpreter's
/// lock. Meanwhile Ctrl-C cancels it (KeyboardInterrupt), and `asked`, unless None, is called
/// (True: a bar of the package) here with stage, fraction and seconds left (None: unknown), some
/// ten times a second; what it throws, or False, cancels as well.
void long_call(const ProgressArgument& asked, const std::function<void(Progress&)>& work);

template <class Work>
[[nodiscard]] auto run_long(const ProgressArgument& progress, Work&& work) {
    std::optional<std::invoke_result_t<Work, Progress&>> result;
    long_call(progress, [&](Progress& shown) { result.emplace(work(shown)); });
    return std::move(*result);
}

/// To define what takes long, knows no stages and touches nothing of Python: without the lock.
using Unlocked = py::call_guard<py::gil_scoped_release>;

/// So many calls of `work` without the interpreter's lock, on this thread; Ctrl-C ends them.
void run_many(std::int64_t count, const std::function<void(std::int64_t i)>& work);

}  // namespace pliant::python
