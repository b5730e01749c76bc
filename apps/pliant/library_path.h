#pragma once

#include <filesystem>
#include <string>

namespace pliant::cli {

/// A maker's library as a profile names it, for scenes of every folder: a path is written in full,
/// a name is for the system to find.
[[nodiscard]] inline std::string whole_library_path(const std::string& library) {
    if (library.find('/') == std::string::npos) return library;
    return std::filesystem::absolute(library).lexically_normal().string();
}

}  // namespace pliant::cli
