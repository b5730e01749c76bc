#pragma once

#include <string>

#include "pliant/scene/recording.h"

namespace pliant::cli {

/// What is in a recording, for a person.
void print_content(const Recording& recording, const std::string& path);
/// The same as one JSON object.
[[nodiscard]] std::string content_json(const Recording& recording, const std::string& path);

}  // namespace pliant::cli
