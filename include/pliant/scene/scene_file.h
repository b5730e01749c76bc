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
/// What a person wants of the device in a hand; what is empty stays as it is.
struct DeviceChoice {
    std::string kind = {};                 ///< as scene files call it
    std::string hand = {};                 ///< "loose", "normal" or "firm"
    std::filesystem::path recording = {};  ///< that it plays or follows
    /// Of a device that `pliant haptics check --profile` wrote: kind, how to reach it, limits,
    /// measured latency, clutch. How the scene uses its device stays.
    std::filesystem::path profile = {};
    DeviceLimits limits = {};  ///< on top of those of the scene and the profile: the lowest hold
    // What no scene may say, and a profile only in own_profile_folder(): it would have code of
    // others run, or open the device to them. Not in the text of the scene. What was chosen before
    // stays while the kind of device does, unless this says another, or a profile does.
    std::string library = {};  ///< of a maker: a file, or a name for the system to find
    std::string address = {};  ///< where a network device listens; the URL of a haply service
};
/// The scene with this device in the hand that holds its tool, in its text too. Throws InputError
/// with the nearest known kind, for a scene without a tool in a hand, for a file that is no
/// profile, and for one that is not the user's own and names a library or another computer.
[[nodiscard]] SceneDescription with_device(const SceneDescription& scene,
                                           const DeviceChoice& choice);
/// Profiles there may name libraries and other computers, if only the user can write them:
/// $XDG_CONFIG_HOME/pliant or ~/.config/pliant; empty: neither is set.
[[nodiscard]] std::filesystem::path own_profile_folder();
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
