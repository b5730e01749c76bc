#pragma once

#include "pliant/net/web_server.h"

#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

namespace pliant {

/// Letters, digits, '-', '_' and '.' only, not hidden, ending in ".pliantrec": what may be asked
/// for by name. No such name leaves its folder.
[[nodiscard]] bool is_recording_name(std::string_view name) noexcept;
/// "bridge-2026-11-16T01-02-03.pliantrec"; other characters of the scene's name become '-'.
[[nodiscard]] std::string recording_name(std::string_view scene, std::time_t utc);
[[nodiscard]] std::string iso_time(std::time_t utc);  ///< "2026-11-16T01:02:03Z"

/// A name that is not taken yet in the folder, which is made when it is missing. Throws InputError
/// when it cannot be.
[[nodiscard]] std::filesystem::path new_recording_path(const std::filesystem::path& folder,
                                                       std::string_view scene, std::time_t utc);

/// The same for a model that was sketched: "bridge-sketch-2026-11-16T01-02-03.pliant".
[[nodiscard]] std::filesystem::path new_model_path(const std::filesystem::path& folder,
                                                   std::string_view body, std::time_t utc);

/// `/api/recordings` and `/api/recording/{name}`.
[[nodiscard]] HttpReply list_recordings(const std::filesystem::path& folder);
[[nodiscard]] HttpReply read_recording(const std::filesystem::path& folder, std::string_view name);

}  // namespace pliant
