#pragma once

#include "arguments.h"

namespace pliant::cli {

inline constexpr const char* kBenchSummary =
    "Measures Pliant's own speed, against references measured in the same run.";
inline constexpr const char* kReproduceSummary =
    "Repeats published experiments, on one thread, and writes a page of comparisons.";
inline constexpr const char* kHapticsSummary =
    "Force-feedback devices: which are there, bring-up, stable virtual walls, what a hand felt.";
inline constexpr const char* kCompareSummary =
    "One object under every method: forces, shapes, costs, and which one to take.";
inline constexpr const char* kCalibrateSummary =
    "Fits material constants to a measured press or to frequencies, with intervals.";

/// The commands of `pliant-lab`, name and summary only, for the overview.
[[nodiscard]] std::vector<Command> lab_summaries();
[[nodiscard]] bool is_lab_command(const std::string& name);
/// Becomes `pliant-lab`, the program beside this one, with the same arguments; returns an exit code
/// only if there is none.
int run_lab(char** argv);

}  // namespace pliant::cli
