#pragma once

#include "arguments.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/world.h"

#include <memory>
#include <vector>

namespace pliant::cli {

/// Options of commands that run a scene.
[[nodiscard]] std::vector<Option> session_options();

/// A world for the scene; models are built on first use, with progress.
[[nodiscard]] std::unique_ptr<World> make_world(const Arguments& arguments, SceneDescription scene);
/// The same for what a file recorded; opens no device.
[[nodiscard]] std::unique_ptr<World> make_replay(const Arguments& arguments,
                                                 const Recording& recording,
                                                 const std::string& path);

/// Runs the scene in the viewer, or in virtual time with `--headless`.
int run_session(const Arguments& arguments, const SceneDescription& scene);

}  // namespace pliant::cli
