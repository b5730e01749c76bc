#pragma once

#include <cstdint>

namespace pliant {

/// Counts the calls of malloc and its relatives that the current thread makes while the guard is
/// alive. Only programs that link `pliant::allocation_guard` (our tests) can use it: it replaces
/// malloc itself, because Eigen bypasses `operator new`.
class AllocationGuard {
public:
    AllocationGuard() noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept;
    /// False under sanitizers, which own malloc; counts are then always zero.
    [[nodiscard]] static bool is_active() noexcept;

private:
    std::uint64_t start_;
};

}  // namespace pliant
