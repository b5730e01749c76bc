#pragma once

#include "core/embedded_files.h"

#include <span>

namespace pliant {

/// scenes/*.json and the schema, "scene.schema.json".
[[nodiscard]] std::span<const EmbeddedFile> scene_files() noexcept;

}  // namespace pliant
