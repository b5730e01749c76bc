#pragma once

#include "pliant/core/progress.h"

#include <functional>
#include <string>

namespace pliant::reproduce {

/// Runs `work` in a copy of this process, so that a crash or a lack of memory ends that alone and
/// its peak memory is its own. Waits for it; Ctrl-C is handed on once. Returns what went wrong, or
/// nothing. Throws Cancelled if it was interrupted. No other thread may run.
[[nodiscard]] std::string run_in_child(const Progress& progress, const std::function<void()>& work);

}  // namespace pliant::reproduce
