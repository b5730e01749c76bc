#pragma once

#include "pliant/scene/scene_description.h"
#include "scene/json_object.h"

namespace pliant {

// From JSON that the schema has accepted to a description: what no schema can say is checked here.
// All throw InputError. Files are found from `folder`.

[[nodiscard]] SceneDescription read_scene(const JsonObject& json,
                                          const std::filesystem::path& folder);
[[nodiscard]] BodyDescription read_body(const JsonObject& json,
                                        const std::filesystem::path& folder);
/// The events of `json`'s key "script", by rising time. `scene` says what bodies there are.
[[nodiscard]] std::vector<ScriptEvent> read_script(const JsonObject& json,
                                                   const SceneDescription& scene);

[[nodiscard]] Pose read_pose(const JsonObject& json, const Pose& otherwise = {});
/// The key "motion", about or from a pose.
[[nodiscard]] std::optional<ScriptedMotion> read_motion(const JsonObject& json, const Pose& pose);

}  // namespace pliant
