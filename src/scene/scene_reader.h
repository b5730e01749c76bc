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

/// The key "contact" of a body whose other members are read.
[[nodiscard]] BodyContact read_body_contact(const JsonObject& json, const BodyDescription& body,
                                            const std::filesystem::path& folder);
/// The key "contacts" of a scene whose bodies are read.
[[nodiscard]] std::vector<ContactDescription> read_contacts(const JsonObject& json,
                                                            const SceneDescription& scene);
/// The key "ignore_contact" of a scene whose bodies are read.
[[nodiscard]] std::vector<std::vector<std::string>> read_ignored_contacts(
    const JsonObject& json, const SceneDescription& scene);
/// The key "tool" of a scene whose bodies and contacts are read: either of the two tools.
void read_tool(const JsonObject& json, const std::filesystem::path& folder,
               SceneDescription& scene);
/// The key "proxy" of a tool that is the rigid body `sphere`.
[[nodiscard]] ProxyToolDescription read_proxy(const JsonObject& json, const SceneDescription& scene,
                                              const BodyDescription& sphere);
/// The key "spheres" of a tool that is the rigid body `body`.
[[nodiscard]] SpheresToolDescription read_spheres(const JsonObject& json,
                                                  const SceneDescription& scene,
                                                  const BodyDescription& body,
                                                  const std::filesystem::path& folder);
/// The key "device", and how it is used.
[[nodiscard]] DeviceDescription read_device(const JsonObject& json,
                                            const std::filesystem::path& folder, DeviceUse& use);
/// Where the body of the held tool begins.
[[nodiscard]] Pose start_of_tool(const SceneDescription& scene);

// Parts of bodies.
/// The key "greens" of a body.
/// Of the key "model" or "reduced".
[[nodiscard]] ReducedSource read_reduced(const JsonObject& json,
                                         const std::filesystem::path& folder);
[[nodiscard]] GreensSource read_greens(const JsonObject& json, const std::filesystem::path& folder);
/// The key "zones" of a body at a pose.
[[nodiscard]] ZonesSource read_zones(const JsonObject& json, const std::filesystem::path& folder,
                                     const Pose& pose);
/// The key "particles" of a body.
[[nodiscard]] ParticleSource read_particles(const JsonObject& json,
                                            const std::filesystem::path& folder);
/// The key "hand" of a body at a pose.
[[nodiscard]] HandSource read_hand_body(const JsonObject& json, const Pose& pose);
/// The key "shape" or "surface", whichever is there.
[[nodiscard]] SurfaceSource read_surface(const JsonObject& json,
                                         const std::filesystem::path& folder);
/// The key "mesh".
[[nodiscard]] SimulationMeshOptions read_mesh(const JsonObject& json, SimulationMeshOptions mesh);
[[nodiscard]] std::string read_selection(const JsonObject& json, const std::string& key);

/// An item of "contacts" with the key "greens".
[[nodiscard]] GreensContactDescription read_greens_contact(const JsonObject& json,
                                                           const SceneDescription& scene);

/// The key `key` with the name of a file that must be there.
[[nodiscard]] std::filesystem::path read_file_name(const JsonObject& json, const std::string& key,
                                                   const std::filesystem::path& folder);
/// The description that a body's name is of, "basket" or "basket[17]"; −1: none.
[[nodiscard]] int find_description(const SceneDescription& scene, const std::string& name);
/// What bodies there are: "hoses", "basket[0]" …
[[nodiscard]] std::string list_of_bodies(const SceneDescription& scene);

/// The key "rotation": a unit quaternion, or an axis and an angle.
[[nodiscard]] Quaternion read_rotation(const JsonObject& json, const Quaternion& otherwise);
[[nodiscard]] Pose read_pose(const JsonObject& json, const Pose& otherwise = {});
/// The key "motion", about or from a pose.
[[nodiscard]] std::optional<ScriptedMotion> read_motion(const JsonObject& json, const Pose& pose);
/// The key `key` with "keyframes" of a number each, times `unit`, as x of a path.
[[nodiscard]] std::optional<ScriptedMotion> read_number_path(const JsonObject& json,
                                                             const std::string& key,
                                                             const std::string& value, double unit);

}  // namespace pliant
