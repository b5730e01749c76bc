#pragma once

#include <cstdint>

namespace pliant::test {

/// Counts the locks that the current thread takes, or tries to, while it is alive: mutexes and
/// read-write locks of the C library, and so those of the standard library.
class LockCount {
public:
    LockCount() noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept;
    /// False under sanitizers, which own these functions; counts are then always zero.
    [[nodiscard]] static bool is_active() noexcept;

private:
    std::uint64_t start_;
};

}  // namespace pliant::test
