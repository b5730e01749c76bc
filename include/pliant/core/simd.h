#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pliant {

/// Instruction sets that the SIMD kernels of this build were compiled for and this machine can run,
/// best first ("AVX3", "AVX2", "SSE4", …). Kernels live in Highway files and pick one at
/// run time.
[[nodiscard]] std::vector<std::string> simd_targets();

/// While alive, every kernel uses the named target; tests run each kernel on each target with it.
/// One at a time, and not while other threads run kernels. Throws InputError for a target this
/// machine cannot run.
class ScopedSimdTarget {
public:
    explicit ScopedSimdTarget(const std::string& name);
    ~ScopedSimdTarget();
    ScopedSimdTarget(const ScopedSimdTarget&) = delete;
    ScopedSimdTarget& operator=(const ScopedSimdTarget&) = delete;
};

/// Sum of an array, as fast as memory delivers it: the yardstick of every bandwidth-bound kernel.
/// The order of additions is fixed, docs/core.md section "SIMD": every target and every alignment
/// gives the same bits.
[[nodiscard]] float simd_sum(const float* values, std::size_t count) noexcept;
[[nodiscard]] double simd_sum(const double* values, std::size_t count) noexcept;

}  // namespace pliant
