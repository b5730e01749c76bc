#pragma once

#include "core/embedded_files.h"

#include <span>

namespace pliant {

/// The bundled page: "index.html", "app.js", …; empty in a build without npm.
[[nodiscard]] std::span<const EmbeddedFile> page_files() noexcept;

}  // namespace pliant
