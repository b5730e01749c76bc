#include "pliant/scene/scene_file.h"

#include <algorithm>

#include "core/numbers.h"
#include "pliant/core/archive.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/greens/greens_model.h"
#include "pliant/reduction/reduced_model.h"
#include "scene/json_schema.h"
#include "scene/own_profile.h"
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
                                           "deadman",  "max_force",   "max_torque"};

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

/// A key that scenes had once: said before the schema finds it unknown.
void refuse_library(const JsonValue& json, const std::string& name) {
    const JsonValue* const device = json.find("device");
    const JsonValue* const library = device ? device->find("library") : nullptr;
    if (library)
        throw InputError(name, "device.library", to_text(*library),
                         "nothing: no scene says which code runs. Leave it out and name the "
                         "maker's library on the command line, --device-library FILE, or in a "
                         "profile of your own in " +
                             own_profile_folder().string());
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

/// What a program changed in the scene stays as it is: of the text only the device is read again.
SceneDescription with_device_members(SceneDescription scene, JsonValue::Object device) {
    JsonValue::Object json = parse_json(scene.text, scene.name).object();
    replace_member(json, "device", JsonValue(std::move(device)));
    SceneDescription read = parse_scene(to_text(JsonValue(std::move(json)), std::string::npos),
                                        scene.name, scene.folder);
    scene.device = std::move(read.device);
    // no text says this
    read.device_use.limits.lone_force = scene.device_use.limits.lone_force;
    scene.device_use = read.device_use;
    scene.text = std::move(read.text);
    return scene;
}

/// What is there of them; members that are no numbers are the schema's to refuse.
DeviceLimits limits_in(const JsonValue::Object& device) {
    DeviceLimits limits;
    for (const auto& [key, value] : device) {
        if (!value.is(JsonValue::Type::Number)) continue;
        if (key == "max_force") limits.max_force = value.number();
        if (key == "max_torque") limits.max_torque = value.number();
    }
    return limits;
}

void replace_limits(JsonValue::Object& device, const DeviceLimits& limits) {
    if (limits.max_force != kInfinity)
        replace_member(device, "max_force", JsonValue(limits.max_force));
    if (limits.max_torque != kInfinity)
        replace_member(device, "max_torque", JsonValue(limits.max_torque));
}

/// How a device is reached, as far as no scene may say it.
struct Reach {
    std::string library, address;

    /// Of a device that was chosen before: what the text of its scene, which says `said`, does not
    /// have. Not the address where a new one is in the text.
    void keep(DeviceDescription device, DeviceDescription said, bool keeps_address) {
        if (const std::string* const old = library_of(device); old && library.empty())
            library = *old;
        const std::string* const old = address_of(device);
        if (!old || !address.empty() || !keeps_address) return;
        const std::string* const written =
            device.index() == said.index() ? address_of(said) : nullptr;
        if (!written || *written != *old) address = *old;
    }
    void put(DeviceDescription& device) const {
        put(library, library_of(device), "library", "force-dimension or openhaptics", device);
        put(address, address_of(device), "address", "network or haply", device);
    }

private:
    static void put(const std::string& value, std::string* place, const char* what,
                    const char* kinds, const DeviceDescription& device) {
        if (value.empty()) return;
        if (!place)
            throw InputError("", what, value,
                             std::string("a device that has one, ") + kinds + ", not a " +
                                 kind(device) + " one: choose it with --device");
        *place = value;
    }
};

/// What a profile says of reaching its device that no scene may: only where it is the user's own,
/// unless it was given anyhow. It leaves the members for the scene.
void take_reach(JsonValue::Object& measured, const char* key, const char* option,
                const std::filesystem::path& profile, std::string& given,
                bool (*is_harmless)(const std::string& text)) {
    const auto found = std::ranges::find(measured, key, &JsonValue::Member::first);
    if (found == measured.end() || !found->second.is(JsonValue::Type::String)) return;
    const std::string text = found->second.string();
    if (is_harmless(text)) return;
    measured.erase(found);
    if (!given.empty()) return;
    if (const std::string reason = foreign_reason(profile); !reason.empty())
        throw InputError(profile.string(), std::string("device.") + key, to_text(JsonValue(text)),
                         "a profile of your own, in " + own_profile_folder().string() + ", but " +
                             reason + "; keep it there if you trust it, or give " + option +
                             " on the command line");
    given = text;
}

/// Returns DeviceLimits::lone_force of the scene and the profile together.
double put_profile(JsonValue::Object& device, const std::filesystem::path& file, Reach& reach) {
    const std::string name = file.string();
    std::error_code missing;  // which reading it says
    const std::filesystem::path resolved = std::filesystem::canonical(file, missing);
    const std::filesystem::path& profile = missing ? file : resolved;
    const JsonValue json = parse_json(read_file(profile, JsonLimits().max_bytes), name);
    const JsonValue* const version = json.find("pliant_device_profile");
    const JsonValue* const found = json.find("device");
    if (version == nullptr || found == nullptr || !found->is(JsonValue::Type::Object))
        throw InputError(name, "is no profile of a device; pliant haptics check --profile " + name +
                                   " writes one");
    if (!version->is(JsonValue::Type::Number) || version->number() != 1)
        throw InputError(name, "pliant_device_profile", to_text(*version),
                         "1; pliant haptics check writes a new one");
    JsonValue::Object measured = found->object();
    const bool is_given = !reach.library.empty();
    take_reach(measured, "library", "--device-library FILE", profile, reach.library,
               [](const std::string&) { return false; });
    // a path from where the profile is, wherever the program was started; names are looked for
    if (!is_given && reach.library.find('/') != std::string::npos)
        reach.library = (profile.parent_path() / reach.library).string();
    take_reach(measured, "address", "--device-address ADDRESS", profile, reach.address,
               [](const std::string& text) {
                   return !is_beyond_computer(NetworkDescription{.address = text});
               });
    take_reach(measured, "url", "--device-address URL", profile, reach.address,
               [](const std::string& text) {
                   try {
                       return !is_beyond_computer(HaplyDescription{.url = text});
                   } catch (const InputError&) {
                       return true;  // that it is none, the reader of the scene says
                   }
               });
    const DeviceLimits of_scene = limits_in(device);
    for (const auto& [key, value] : measured) replace_member(device, key, value);
    const DeviceLimits both = smaller(limits_in(measured), of_scene);
    replace_limits(device, both);
    const double most = both.max_force;
    const auto lasting = std::ranges::find(device, "continuous_force", &JsonValue::Member::first);
    if (lasting != device.end() && lasting->second.is(JsonValue::Type::Number))
        lasting->second = JsonValue(std::min(lasting->second.number(), most));
    return both.lone_force;
}

/// Into the text as well, so that a recording has them.
void put_limits(SceneDescription& scene, JsonValue::Object device, const DeviceLimits& limits) {
    if (limits.max_force == kInfinity && limits.max_torque == kInfinity) return;
    limit(scene.device, limits);
    // those of a simulated or network device say what it can do
    const auto* const simulated = std::get_if<SimulatedDescription>(&scene.device);
    const auto* const network = std::get_if<NetworkDescription>(&scene.device);
    const bool says_itself = simulated || network;
    const DeviceLimits both = smaller(scene.device_use.limits, limits);
    if (says_itself) {
        const DeviceCapabilities& can =
            simulated ? simulated->model.capabilities : network->capabilities;
        replace_limits(device, {can.max_force, can.max_torque});
        replace_member(device, "continuous_force", JsonValue(can.continuous_force));
    } else {
        replace_limits(device, both);
    }
    scene = with_device_members(scene, std::move(device));
    if (!says_itself) {
        scene.device_use.limits = both;
        return;
    }
    // also what is more than the device can do, so that it is said
    DeviceLimits& said = scene.device_use.limits;
    if (limits.max_force != kInfinity) said.max_force = limits.max_force;
    if (limits.max_torque != kInfinity) said.max_torque = limits.max_torque;
}

}  // namespace

std::string_view scene_schema() noexcept { return embedded(kSchemaFile); }

SceneDescription parse_scene(const std::string& text, const std::string& name,
                             const std::filesystem::path& folder) {
    const JsonValue json = parse_json(text, name);
    refuse_library(json, name);
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

SceneDescription with_device(const SceneDescription& scene, const DeviceChoice& choice) {
    JsonValue::Object device = device_in_hand(scene);
    Reach reach{choice.library, choice.address};
    // another kind is used as the one before
    if (!choice.profile.empty() || !choice.kind.empty()) keep_use_alone(device);
    double lone_force = kInfinity;
    if (!choice.profile.empty()) lone_force = put_profile(device, choice.profile, reach);
    if (!choice.kind.empty()) replace_member(device, "kind", JsonValue(choice.kind));
    if (!choice.hand.empty()) replace_member(device, "hand", JsonValue(choice.hand));
    if (!choice.recording.empty())
        replace_member(device, "recording",
                       JsonValue(std::filesystem::absolute(choice.recording).string()));
    // one of this computer that the profile says is in the text, not in `reach`
    const bool keeps_address =
        choice.profile.empty() || std::ranges::none_of(device, [](const JsonValue::Member& member) {
            return member.first == "address" || member.first == "url";
        });
    SceneDescription result = with_device_members(scene, device);
    double& lone = result.device_use.limits.lone_force;
    lone = std::min(lone, lone_force);
    put_limits(result, std::move(device), choice.limits);
    if (result.device.index() == scene.device.index())
        reach.keep(scene.device, parse_scene(scene.text, scene.name, scene.folder).device,
                   keeps_address);
    reach.put(result.device);
    return result;
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
