#pragma once

#include <cstdint>
#include <string>
#include <thread>

namespace pliant {

/// Of CLOCK_MONOTONIC [ns].
[[nodiscard]] std::int64_t monotonic_ns() noexcept;
/// Returns at once for a time that has passed.
void sleep_until_ns(std::int64_t time_ns) noexcept;

/// Gives a thread a fixed place before all ordinary ones (SCHED_FIFO). Empty, or why not.
[[nodiscard]] std::string set_real_time_priority(std::thread::native_handle_type thread,
                                                 int priority);
/// Of the thread that calls; 0: an ordinary one. Neither waits nor locks.
[[nodiscard]] int real_time_priority() noexcept;
/// Keeps the pages that the process uses in memory. Empty, or why not.
[[nodiscard]] std::string lock_memory();
/// Shown by tools that list threads; cut to 15 letters.
void set_thread_name(std::thread& thread, const std::string& name);

}  // namespace pliant
