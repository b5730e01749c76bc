#pragma once

#include <string_view>

namespace pliant {

/// A file that the build put into the library, cmake/embed.cmake.
struct EmbeddedFile {
    std::string_view name, content;
};

}  // namespace pliant
