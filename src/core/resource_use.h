#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

/// What builders tell about themselves.
namespace pliant {

/// Of this process so far [bytes].
[[nodiscard]] inline std::int64_t peak_memory() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in kB
}

/// Adds the seconds of its life to a sum.
class SecondsOfScope {
public:
    explicit SecondsOfScope(double& sum) noexcept : sum_(sum) {}
    ~SecondsOfScope() {
        sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    SecondsOfScope(const SecondsOfScope&) = delete;
    SecondsOfScope& operator=(const SecondsOfScope&) = delete;

private:
    double& sum_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace pliant
