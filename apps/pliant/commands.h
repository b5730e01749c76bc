#pragma once

#include "arguments.h"

namespace pliant::cli {

[[nodiscard]] Command demo_command();
[[nodiscard]] Command run_command();
[[nodiscard]] Command replay_command();
[[nodiscard]] Command shape_command();
[[nodiscard]] Command build_command();
[[nodiscard]] Command mesh_command();
[[nodiscard]] Command convert_command();
[[nodiscard]] Command inspect_command();
[[nodiscard]] Command bench_command();
[[nodiscard]] Command reproduce_command();
[[nodiscard]] Command haptics_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command calibrate_command();

}  // namespace pliant::cli
