#pragma once

#include "pliant/scene/recording.h"

#include <string>
#include <string_view>

namespace pliant {

/// The header of a recording as JSON, docs/scene.md section "Recordings".
[[nodiscard]] std::string header_text(const RecordingHeader& header);
/// Throws InputError; `name` stands for the file.
[[nodiscard]] RecordingHeader parse_header(std::string_view text, const std::string& name);

}  // namespace pliant
