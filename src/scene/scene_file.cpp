#include "pliant/scene/scene_file.h"

#include <algorithm>

#include "pliant/core/archive.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/greens/greens_model.h"
#include "pliant/reduction/reduced_model.h"
#include "scene/json_schema.h"
#include "scene/scene_files.h"
#include "scene/scene_reader.h"

namespace pliant {
namespace {

constexpr std::string_view kSchemaFile = "scene.schema.json";
/// What a viewer offers, in this order.
constexpr std::string_view kDemos[] = {"bridge",
                                       "spoon",
                                       "tower",
                                       "heart",
                                       "twist",
                                       "wedge",
                                       "poke",
                                       "baskets",
                                       "bridge-ball",
                                       "bridge-creature",
                                       "hoses",
                                       "chair-walls",
                                       "serpent-figure",
                                       "serpent-creature",
                                       "figure-axe",
                                       "alpha-puzzle",
                                       "peg-hole",
                                       "soft-hand",
                                       "squeeze",
                                       "basket-heap",
                                       "nodule-pinch",
                                       "kidney",
                                       "spatula",
                                       "banana-seat",
                                       "nodule-grasp",
                                       "constant-elements",
                                       "finger",
                                       "toy",
                                       "rabbit",
                                       "rabbit-2",
                                       "rabbit-3",
                                       "rabbit-levels",
                                       "rabbit-press",
                                       "serpent-ring",
                                       "fish",
                                       "fish-four",
                                       "cloth-catch",
                                       "fan-fold",
                                       "creature-stroke",
                                       "inflate",
                                       "hand-curtain",
                                       "sliding-hand",
                                       "sliding-hand-single"};

/// Keys of "device" that say how any kind is used.
constexpr std::string_view kDeviceUse[] = {"rotation", "rate_border", "rate_speed", "clutch",
                                           "deadman"};

/// Empty when there is none.
std::string_view embedded(std::string_view name) noexcept {
    for (const EmbeddedFile& file : scene_files())
        if (file.name == name) return file.content;
    return {};
}

const JsonSchema& schema() {
    static const JsonSchema result(parse_json(scene_schema(), std::string(kSchemaFile)),
                                   std::string(kSchemaFile));
    return result;
}

/// A body's name must not hold what has a meaning in the names of parameters and copies.
std::string body_name(const std::filesystem::path& path) {
    std::string name = path.stem().string().substr(0, 60);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '[' || c == ']'; }, '_');
    return name;
}

void write_vector(JsonWriter& json, const char* key, const Eigen::Vector3d& x) {
    json.key(key).begin_array().value(x[0]).value(x[1]).value(x[2]).end_array();
}

/// What a scene around a model needs to know of it.
struct ModelSummary {
    Box box;
    bool is_free = false;
    std::string_view key;  ///< of a body that reads the file itself; empty: "model"
};
ModelSummary look_at_model(const std::filesystem::path& path) {
    const std::string kind = Archive(path).kind();
    if (kind == "greens-model")
        return {bounding_box(load_greens_model(path).surface.mesh.vertices), false, "greens"};
    if (kind == ParticleModel::kArchiveKind)
        return {bounding_box(load_particle_model(path).surface.vertices), true, "particles"};
    const ReducedModel reduced = ReducedModel::load(path);
    return {bounding_box(reduced.surface().vertices), reduced.is_free(), {}};
}

/// Members of a body with its "model" or "reduced" replaced, but for what says how it moves.
JsonValue::Object body_with_model(JsonValue::Object body, const std::filesystem::path& path) {
    for (auto& [key, value] : body) {
        if (key != "model" && key != "reduced") continue;
        JsonValue::Object model{{"path", JsonValue(path.string())}};
        for (const char* kept : {"damping", "linear", "coupling"})
            if (const JsonValue* old = value.find(kept)) model.emplace_back(kept, *old);
        key = "model";
        value = JsonValue(std::move(model));
    }
    return body;
}

/// Of the scene's text; throws for a scene without a tool in a hand.
JsonValue::Object device_in_hand(const SceneDescription& scene) {
    if (!scene.held_tool)
        throw InputError("", "nothing in the scene \"" + scene.name +
                                 "\" is held in a hand, so that it has no device; name a rigid "
                                 "body with \"tool\": {\"body\": …}");
    const JsonValue json = parse_json(scene.text, scene.name);
    const JsonValue* const device = json.find("device");
    return device != nullptr ? device->object() : JsonValue::Object{};
}

void replace_member(JsonValue::Object& object, const std::string& name, JsonValue value) {
    std::erase_if(object, [&](const JsonValue::Member& member) { return member.first == name; });
    object.emplace_back(name, std::move(value));
}

void keep_use_alone(JsonValue::Object& device) {
    std::erase_if(device, [](const JsonValue::Member& member) {
        return std::ranges::find(kDeviceUse, member.first) == std::end(kDeviceUse);
    });
}

SceneDescription with_device_members(const SceneDescription& scene, JsonValue::Object device) {
    JsonValue::Object json = parse_json(scene.text, scene.name).object();
    replace_member(json, "device", JsonValue(std::move(device)));
    SceneDescription result = parse_scene(to_text(JsonValue(std::move(json)), std::string::npos),
                                          scene.name, scene.folder);
    result.name = scene.name;
    return result;
}

}  // namespace

std::string_view scene_schema() noexcept { return embedded(kSchemaFile); }

SceneDescription parse_scene(const std::string& text, const std::string& name,
                             const std::filesystem::path& folder) {
    const JsonValue json = parse_json(text, name);
    schema().check(json, name);
    const JsonSource source{.file = name};
    SceneDescription scene = read_scene(JsonObject(json, "", source), folder);
    if (scene.name.empty()) scene.name = std::filesystem::path(name).stem().string();
    scene.text = text;
    return scene;
}

SceneDescription load_scene(const std::filesystem::path& path) {
    return parse_scene(read_file(path, JsonLimits().max_bytes), path.string(), path.parent_path());
}

SceneDescription scene_of_model(const std::filesystem::path& model) {
    const auto [box, is_free, key] = look_at_model(model);
    const Eigen::Vector3d centre = box.center();
    const double size = box.sizes().norm();
    JsonWriter json;
    json.begin_object().member("pliant", 1).member("name", body_name(model));
    // a free body would fall out of sight
    if (is_free) write_vector(json, "gravity", Eigen::Vector3d::Zero());
    json.key("bodies").begin_array().begin_object().member("name", body_name(model));
    const std::string path = std::filesystem::absolute(model).string();
    if (!key.empty())
        json.key(key).begin_object().member(key == "greens" ? "file" : "model", path).end_object();
    else
        json.member("model", path);
    json.end_object().end_array().key("camera").begin_object();
    write_vector(json, "eye", centre + size * Eigen::Vector3d(0.7, -1.1, 0.5));
    write_vector(json, "target", centre);
    json.end_object().key("ground").begin_object();
    json.member("height", box.min()[2] - 0.02 * size).end_object().end_object();
    return parse_scene(json.text(), model.string());
}

SceneDescription with_model_file(SceneDescription scene, int body,
                                 const std::filesystem::path& model) {
    const auto place = static_cast<std::size_t>(body);
    const std::filesystem::path path = std::filesystem::absolute(model);
    std::get<ReducedSource>(scene.bodies[place].source).model = ModelFile{path, 0};
    JsonValue::Object json = parse_json(scene.text, scene.name).object();
    for (auto& [key, value] : json) {
        if (key != "bodies" || place >= value.array().size()) continue;
        JsonValue::Array bodies = value.array();
        bodies[place] = JsonValue(body_with_model(bodies[place].object(), path));
        value = JsonValue(std::move(bodies));
    }
    scene.text = to_text(JsonValue(std::move(json)), std::string::npos);
    return scene;
}

SceneDescription with_device(const SceneDescription& scene, const std::string& kind,
                             const std::string& hand, const std::filesystem::path& recording) {
    JsonValue::Object device = device_in_hand(scene);
    // another kind is used as the one before
    if (!kind.empty()) keep_use_alone(device);
    if (!kind.empty()) replace_member(device, "kind", JsonValue(kind));
    if (!hand.empty()) replace_member(device, "hand", JsonValue(hand));
    if (!recording.empty())
        replace_member(device, "recording",
                       JsonValue(std::filesystem::absolute(recording).string()));
    return with_device_members(scene, std::move(device));
}

SceneDescription with_device_profile(const SceneDescription& scene,
                                     const std::filesystem::path& profile) {
    const std::string name = profile.string();
    const JsonValue json = parse_json(read_file(profile, JsonLimits().max_bytes), name);
    const JsonValue* const version = json.find("pliant_device_profile");
    const JsonValue* const measured = json.find("device");
    if (version == nullptr || measured == nullptr || !measured->is(JsonValue::Type::Object))
        throw InputError(name, "is no profile of a device; pliant haptics check --profile " + name +
                                   " writes one");
    if (!version->is(JsonValue::Type::Number) || version->number() != 1)
        throw InputError(name, "pliant_device_profile", to_text(*version),
                         "1; pliant haptics check writes a new one");
    JsonValue::Object device = device_in_hand(scene);
    keep_use_alone(device);
    for (const auto& [key, value] : measured->object()) replace_member(device, key, value);
    return with_device_members(scene, std::move(device));
}

std::vector<ScriptEvent> load_script(const std::filesystem::path& path,
                                     const SceneDescription& scene) {
    const std::string name = path.string();
    const JsonValue json = parse_json(read_file(path, JsonLimits().max_bytes), name);
    schema().check_part("#/$defs/script", json, name);
    // as if it stood in the scene, so that one function reads both
    const JsonValue holder(JsonValue::Object{{"script", json}});
    const JsonSource source{.file = name};
    return read_script(JsonObject(holder, "", source), scene);
}

const std::vector<DemoInfo>& demo_list() {
    static const std::vector<DemoInfo> demos = [] {
        std::vector<DemoInfo> result;
        for (const std::string_view name : kDemos)
            result.push_back({std::string(name), demo_scene(std::string(name)).description});
        return result;
    }();
    return demos;
}

SceneDescription demo_scene(const std::string& name) {
    const std::vector<std::string> known(std::begin(kDemos), std::end(kDemos));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        const std::string nearest = nearest_name(name, known);
        std::string list;
        for (const std::string& demo : known) list += (list.empty() ? "" : ", ") + demo;
        throw InputError(
            "", "there is no demo \"" + name + "\"" +
                    (nearest.empty() ? "; there are " + list : "; did you mean " + nearest + "?"));
    }
    const std::string file = name + ".json";
    return parse_scene(std::string(embedded(file)), file);
}

}  // namespace pliant
