#pragma once

#include <cctype>
#include <filesystem>
#include <string>

namespace pliant {

/// `.obj` of `CUP.OBJ`: what the choice of a reader or writer goes by.
[[nodiscard]] inline std::string lower_extension(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return extension;
}

}  // namespace pliant
