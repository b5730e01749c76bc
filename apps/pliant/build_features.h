#pragma once

#include <string>

namespace pliant::cli {

[[nodiscard]] const char* compiler_name();  ///< "GCC 12.2.0"

/// Version, compiler and what this build has, for `pliant --version`: lines, or one JSON object.
[[nodiscard]] std::string features_text(bool is_json);

}  // namespace pliant::cli
