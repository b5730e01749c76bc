#pragma once

#include "pliant/scene/scene_description.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Reads and checks a scene. Throws InputError with file, path in it, value and what was expected;
/// for an unknown key with the nearest known one:
///     scene.json: bodies[1].reduced.rnak: unknown key; did you mean "rank"?
[[nodiscard]] SceneDescription load_scene(const std::filesystem::path& path);
/// The same for text; `name` stands for the file in messages, relative files are found from
/// `folder`.
[[nodiscard]] SceneDescription parse_scene(const std::string& text, const std::string& name,
                                           const std::filesystem::path& folder = {});
/// A scene of one body in a model file, seen from a good place.
[[nodiscard]] SceneDescription scene_of_model(const std::filesystem::path& model);
/// The scene with the model of another file for one of its reduced bodies, in its text too; how the
/// body moves stays as it was.
[[nodiscard]] SceneDescription with_model_file(SceneDescription scene, int body,
                                               const std::filesystem::path& model);
/// The scene with another device in the hand that holds its tool, in its text too: of this kind
/// (empty: as it is), held "loose", "normal" or "firm" (empty: as it is), with the recording that
/// it plays or follows (empty: as it is). Throws InputError with the nearest known kind, and for a
/// scene without a tool in a hand.
[[nodiscard]] SceneDescription with_device(const SceneDescription& scene, const std::string& kind,
                                           const std::string& hand,
                                           const std::filesystem::path& recording = {});
/// The scene with the device of a profile that `pliant haptics check --profile` wrote, in its text
/// too: kind, how to reach it, limits, measured latency, clutch. What else the scene says of the
/// use of its device stays. Throws InputError for a file that is no profile, and as with_device().
[[nodiscard]] SceneDescription with_device_profile(const SceneDescription& scene,
                                                   const std::filesystem::path& profile);
/// A file with the value of "script" of a scene alone. `scene` says what bodies there are.
[[nodiscard]] std::vector<ScriptEvent> load_script(const std::filesystem::path& path,
                                                   const SceneDescription& scene);

/// docs/scene.schema.json: what the reader checks files against.
[[nodiscard]] std::string_view scene_schema() noexcept;

struct DemoInfo {
    std::string name, description;
};
/// The scenes that come with the library, the default first.
[[nodiscard]] const std::vector<DemoInfo>& demo_list();
/// Throws InputError with the nearest known name when there is none.
[[nodiscard]] SceneDescription demo_scene(const std::string& name);

}  // namespace pliant
