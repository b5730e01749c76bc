#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pliant::reproduce {

/// XXH3 of this program's file: another build is another program.
[[nodiscard]] std::string program_hash();
/// "Intel Xeon …" from /proc/cpuinfo; "unknown" where that says nothing.
[[nodiscard]] std::string processor_name();
/// "2026-11-18 07:00 UTC"
[[nodiscard]] std::string utc_now();
/// What numbers depend on: program, compiler, SIMD, solvers, processor, memory, system; name and
/// value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance();

}  // namespace pliant::reproduce
