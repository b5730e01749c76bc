#pragma once

#include "scene/world_in_making.h"

#include <string>
#include <vector>

namespace pliant {

/// A sentence for every loop whose full FEM bodies are expected to need more than its period for a
/// step, docs/scene.md section "What a tick costs", with the remedy.
[[nodiscard]] std::vector<std::string> slow_loops(const WorldInMaking& world);

}  // namespace pliant
