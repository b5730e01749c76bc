#include "scene/scene_reader.h"

#include "core/numbers.h"

#include <algorithm>
#include <array>
#include <span>

namespace pliant {
namespace {

constexpr std::array kSphereKeys = {"radius", "start", "speed_limit", "loop", "motion"};
constexpr std::array kHeldKeys = {"grasp",
                                  "coupling",
                                  "scale",
                                  "max_depth",
                                  "stiffness_factor",
                                  "angular_stiffness_factor",
                                  "damping_injection",
                                  "back_off",
                                  "passivity",
                                  "force",
                                  "parts",
                                  "mass",
                                  "watchdog",
                                  "proxy",
                                  "spheres"};
/// Of those, what full FEM bodies alone, or contact pairs alone, have.
constexpr std::array kFemKeys = {"parts", "mass", "watchdog"};
constexpr std::array kPairKeys = {"max_depth"};
/// What a point has no use for.
constexpr std::array kNoPointKeys = {"grasp", "coupling", "max_depth", "angular_stiffness_factor",
                                     "parts", "mass",     "watchdog"};

/// What a proxy has no use for.
constexpr std::array kNoProxyKeys = {"grasp", "coupling", "max_depth", "angular_stiffness_factor",
                                     "parts", "mass"};

/// What a tool of many spheres has no use for.
constexpr std::array kNoSpheresKeys = {"coupling", "max_depth", "parts", "mass"};

/// What each kind of device has beside "kind".
struct DeviceKeys {
    const char* kind;
    std::vector<const char*> keys;
};
const std::array<DeviceKeys, 6>& device_keys() {
    static const std::array<DeviceKeys, 6> all = {
        {{"simulated",
          {"mass", "inertia", "damping", "friction", "bandwidth", "rate", "delay", "position_step",
           "angle_step", "seed", "hand", "tremor", "workspace", "continuous_force", "max_stiffness",
           "recording"}},
         {"recorded", {"recording"}},
         {"network",
          {"address", "port", "timeout", "workspace", "continuous_force", "max_stiffness",
           "latency"}},
         {"haply", {"url", "device_id", "latency"}},
         {"force-dimension", {"serial", "latency"}},
         {"openhaptics", {"name", "latency"}}}};
    return all;
}

void refuse_any(const JsonObject& json, std::span<const char* const> keys,
                const std::string& sentence) {
    for (const char* key : keys)
        if (json.has(key)) json.fail(key, sentence);
}

/// Of a pair.
bool is_member(const ContactDescription& contact, const std::string& body) {
    const auto* pair = std::get_if<PairContactDescription>(&contact);
    return pair && (pair->shell == body || pair->field == body);
}

bool is_in_pairs(const SceneDescription& scene, const std::string& body) {
    return std::any_of(scene.contacts.begin(), scene.contacts.end(),
                       [&](const auto& contact) { return is_member(contact, body); });
}

/// What a hand cannot hold; empty: it can.
std::string unheld_reason(const BodyDescription& body) {
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    if (!rigid) return "a rigid body; this one deforms";
    if (rigid->density > 0)
        return "a body that the hand moves; forces move this one: leave out its density";
    if (body.copies) return "a body without copies";
    return "";
}

/// Whether full FEM bodies of its loop feel it.
bool is_among_fem(const SceneDescription& scene, const BodyDescription& body) {
    return std::any_of(scene.bodies.begin(), scene.bodies.end(), [&](const auto& other) {
        return std::holds_alternative<FemSource>(other.source) && other.loop == body.loop;
    });
}

bool is_greens_point(const SceneDescription& scene, const std::string& body) {
    return std::any_of(scene.contacts.begin(), scene.contacts.end(), [&](const auto& contact) {
        const auto* greens = std::get_if<GreensContactDescription>(&contact);
        return greens && greens->kind == GreensContactDescription::Kind::Points &&
               std::find(greens->by.begin(), greens->by.end(), body) != greens->by.end();
    });
}

bool is_in_among(const SceneDescription& scene, const std::string& body) {
    return std::any_of(scene.contacts.begin(), scene.contacts.end(), [&](const auto& contact) {
        const auto* among = std::get_if<AmongContactDescription>(&contact);
        return among &&
               std::find(among->bodies.begin(), among->bodies.end(), body) != among->bodies.end();
    });
}

/// The key "parts" of a tool whose first body is `first`.
std::vector<std::string> read_parts(const JsonObject& json, const SceneDescription& scene,
                                    const BodyDescription& first) {
    std::vector<std::string> parts;
    const JsonValue* list = json.find("parts");
    for (std::size_t i = 0; list && i < list->array().size(); ++i) {
        const std::string name = list->array()[i].string();
        const auto refuse = [&](const std::string& expected) {
            json.refuse_item("parts", i, expected);
        };
        const int place = find_description(scene, name);
        if (place < 0) refuse("a body of the scene: " + list_of_bodies(scene));
        const BodyDescription& body = scene.bodies[static_cast<std::size_t>(place)];
        if (const std::string reason = unheld_reason(body); !reason.empty()) refuse(reason);
        if (std::get<RigidSource>(body.source).motion)
            refuse("a body that moves with \"" + first.name + "\"; leave out its motion");
        if (body.loop != first.loop)
            refuse("a body of the loop \"" + first.loop + "\", as \"" + first.name +
                   "\"; this one is in \"" + body.loop + "\"");
        if (name == first.name || std::find(parts.begin(), parts.end(), name) != parts.end())
            refuse("a body that is not in the tool yet");
        parts.push_back(name);
    }
    return parts;
}

/// What full FEM bodies feel, docs/haptics.md section "Full FEM bodies".
FemToolDescription read_fem_tool(const JsonObject& json, const SceneDescription& scene,
                                 const BodyDescription& body) {
    refuse_any(json, kPairKeys, "is of a tool in contact pairs; full FEM bodies feel this one");
    FemToolDescription fem;
    fem.parts = read_parts(json, scene, body);
    if (const std::string coupling = json.text("coupling", "dynamic"); coupling != "dynamic")
        json.refuse("coupling",
                    "\"dynamic\", which is all that a tool felt by full FEM bodies has; one that is "
                    "where the hand is oscillates on all but the softest");
    fem.mass = json.number("mass", fem.mass);
    fem.watchdog.timeout = json.number("watchdog", fem.watchdog.timeout);
    return fem;
}

/// One of the bodies of an "among", docs/haptics.md section "Bodies that move under contact".
AmongToolDescription read_among_tool(const JsonObject& json, const BodyDescription& body) {
    refuse_any(json, kPairKeys, "is of a tool in contact pairs; this one is in an \"among\"");
    if (json.has("parts"))
        json.fail("parts", "is of a tool that full FEM bodies feel; this one is in an \"among\"");
    if (std::holds_alternative<RigidGround>(std::get<RigidSource>(body.source).shape))
        json.refuse("body", "a body that can be moved; ground cannot");
    if (const std::string coupling = json.text("coupling", "dynamic"); coupling != "dynamic")
        json.refuse("coupling", "\"dynamic\", which is all that a tool in an \"among\" has");
    AmongToolDescription among;
    among.mass = json.number("mass", among.mass);
    among.watchdog.timeout = json.number("watchdog", among.watchdog.timeout);
    return among;
}

ToolCoupling read_coupling(const JsonObject& json) {
    const std::string coupling = json.text("coupling", "static");
    if (coupling == "static") return ToolCoupling::Static;
    if (coupling == "direct") return ToolCoupling::Direct;
    if (coupling != "dynamic")
        json.refuse("coupling",
                    "\"static\", \"dynamic\" or \"direct\": this tool is in contact pairs");
    return ToolCoupling::Dynamic;
}

HeldToolDescription read_held(const JsonObject& json, const std::filesystem::path& folder,
                              const SceneDescription& scene) {
    HeldToolDescription tool;
    tool.body = json.text("body", tool.body);
    const int place = find_description(scene, tool.body);
    if (place < 0) json.refuse("body", "a body of the scene: " + list_of_bodies(scene));
    const BodyDescription& body = scene.bodies[static_cast<std::size_t>(place)];
    if (const std::string reason = unheld_reason(body); !reason.empty())
        json.refuse("body", reason);
    json.exclude("proxy", "spheres");
    if (const auto proxy = json.object("proxy")) {
        refuse_any(json, kNoProxyKeys, "does not go with \"proxy\"");
        tool.proxy = read_proxy(*proxy, scene, body);
        tool.proxy->planes.watchdog = json.number("watchdog", tool.proxy->planes.watchdog);
    } else if (const auto spheres = json.object("spheres")) {
        refuse_any(json, kNoSpheresKeys, "does not go with \"spheres\"");
        tool.spheres = read_spheres(*spheres, scene, body, folder);
        tool.spheres->port.watchdog = json.number("watchdog", tool.spheres->port.watchdog);
    } else if (is_in_pairs(scene, tool.body)) {
        refuse_any(json, kFemKeys,
                   "is of a tool that full FEM bodies feel; this one is in contact pairs");
        tool.coupling = read_coupling(json);
    } else if (is_greens_point(scene, tool.body)) {
        refuse_any(json, kNoPointKeys,
                   "does not go with a tool that touches a body of the kind \"greens\" as a point");
    } else if (is_in_among(scene, tool.body)) {
        tool.among = read_among_tool(json, body);
    } else if (is_among_fem(scene, body)) {
        tool.fem = read_fem_tool(json, scene, body);
    } else {
        json.refuse(
            "body",
            "a body with something to feel: one that is \"shell\" or \"field\" of one of "
            "the contacts or in an \"among\", one of the \"points\" on a body of the kind "
            "\"greens\", or in the loop of a full FEM body; a sphere with \"proxy\": {} or any "
            "body with \"spheres\": {} feels bodies of every kind");
    }
    if (json.has("grasp")) tool.grasp = json.vector("grasp", Eigen::Vector3d::Zero());
    tool.scale = json.number("scale", tool.scale);
    tool.max_depth = json.number("max_depth", tool.max_depth);
    tool.stiffness_factor = json.number("stiffness_factor", tool.stiffness_factor);
    tool.angular_stiffness_factor =
        json.number("angular_stiffness_factor", tool.angular_stiffness_factor);
    tool.has_injection = json.boolean("damping_injection", tool.has_injection);
    tool.has_back_off = json.boolean("back_off", tool.has_back_off);
    tool.has_passivity = json.boolean("passivity", tool.has_passivity);
    tool.has_force = json.boolean("force", tool.has_force);
    return tool;
}

ToolDescription read_sphere(const JsonObject& json) {
    ToolDescription tool;
    tool.radius = json.number("radius", tool.radius);
    tool.start = json.vector("start", tool.start);
    tool.speed_limit = json.number("speed_limit", tool.speed_limit);
    tool.loop = json.text("loop", tool.loop);
    tool.script = read_motion(json, {.position = tool.start});
    return tool;
}

HandModel read_hand(const JsonObject& json) {
    HandModel hand;
    if (const auto own = json.object("hand")) {
        hand.stiffness = own->number("stiffness", hand.stiffness);
        hand.damping = own->number("damping", hand.damping);
        hand.angular_stiffness = own->number("angular_stiffness", hand.angular_stiffness);
        hand.angular_damping = own->number("angular_damping", hand.angular_damping);
        hand.mass = own->number("mass", hand.mass);
    } else if (const std::string name = json.text("hand", "normal"); name != "normal") {
        hand = name == "loose" ? HandModel::loose() : HandModel::firm();
    }
    hand.tremor = json.number("tremor", hand.tremor);
    return hand;
}

void read_capabilities(const JsonObject& json, DeviceCapabilities& can) {
    can.workspace = json.vector("workspace", can.workspace);
    can.max_force = json.number("max_force", can.max_force);
    can.max_torque = json.number("max_torque", can.max_torque);
    can.continuous_force =
        json.number("continuous_force", std::min(can.continuous_force, can.max_force));
    if (can.continuous_force > can.max_force) json.refuse("continuous_force", "at most max_force");
    can.max_stiffness = json.number("max_stiffness", can.max_stiffness);
}

DeviceUse read_use(const JsonObject& json) {
    DeviceUse use;
    use.axes = read_rotation(json, use.axes);
    use.rate_border = json.number("rate_border", use.rate_border);
    use.rate_speed = json.number("rate_speed", use.rate_speed);
    if (json.has("rate_speed") && !(use.rate_border > 0))
        json.fail("rate_speed", "is of the border; give its width with \"rate_border\"");
    use.clutch_button = json.integer("clutch", use.clutch_button);
    use.deadman_button = json.integer("deadman", use.deadman_button);
    if (use.deadman_button >= 0 && use.deadman_button == use.clutch_button)
        json.refuse("deadman", "another button than that of the clutch");
    use.latency = json.number("latency", use.latency);
    use.limits = {json.number("max_force", kInfinity), json.number("max_torque", kInfinity)};
    return use;
}

/// Looked for when the world is made: a replay of what was played has its own readings.
std::string read_recording(const JsonObject& json, const std::filesystem::path& folder) {
    return json.has("recording") ? (folder / json.text("recording", "")).string() : "";
}

DeviceDescription read_simulated(const JsonObject& json, const std::filesystem::path& folder) {
    SimulatedDescription device;
    DeviceModel& model = device.model;
    model.mass = json.number("mass", model.mass);
    model.inertia = json.number("inertia", model.inertia);
    model.damping = json.number("damping", model.damping);
    model.friction = json.number("friction", model.friction);
    model.motor_bandwidth = json.number("bandwidth", model.motor_bandwidth);
    model.rate = json.number("rate", 0);
    model.delay = json.integer("delay", model.delay);
    model.capabilities.position_step =
        json.number("position_step", model.capabilities.position_step);
    model.capabilities.angle_step = json.number("angle_step", model.capabilities.angle_step);
    if (const JsonValue* seed = json.find("seed"))
        model.seed = static_cast<std::uint64_t>(seed->number());
    read_capabilities(json, model.capabilities);
    device.hand = read_hand(json);
    device.recording = read_recording(json, folder);
    return device;
}

DeviceDescription read_network(const JsonObject& json) {
    NetworkDescription device;
    device.address = json.text("address", device.address);
    device.port = json.integer("port", device.port);
    device.timeout = json.number("timeout", device.timeout);
    read_capabilities(json, device.capabilities);
    return device;
}

DeviceDescription read_kind(const JsonObject& json, const std::filesystem::path& folder) {
    const std::string kind = json.text("kind", "simulated");
    const auto& all = device_keys();
    const DeviceKeys& known =
        *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.kind == kind; });
    for (const DeviceKeys& other : all)
        for (const char* key : other.keys)
            if (std::find_if(known.keys.begin(), known.keys.end(),
                             [&](const char* one) { return std::string(one) == key; }) ==
                    known.keys.end() &&
                json.has(key))
                json.fail(key, "is of a " + std::string(other.kind) + " device, not of a " + kind +
                                   " one");
    if (kind == "network") return read_network(json);
    if (kind == "haply") {
        HaplyDescription device;
        device.url = json.text("url", device.url);
        device.device_id = json.text("device_id", device.device_id);
        return device;
    }
    if (kind == "force-dimension")
        return ForceDimensionDescription{.serial = json.integer("serial", 0)};
    if (kind == "openhaptics") return OpenHapticsDescription{.name = json.text("name", "")};
    if (kind == "recorded") {
        if (!json.has("recording"))
            json.fail("kind",
                      "of a recorded device needs its file: \"recording\": "
                      "\"FILE.pliantrec\"");
        RecordedDescription device;
        device.recording = read_recording(json, folder);
        return device;
    }
    return read_simulated(json, folder);
}

}  // namespace

void read_tool(const JsonObject& json, const std::filesystem::path& folder,
               SceneDescription& scene) {
    if (json.has("body")) {
        refuse_any(json, kSphereKeys, "is of the sphere tool, which has no \"body\"");
        scene.held_tool = read_held(json, folder, scene);
    } else {
        refuse_any(json, kHeldKeys, "is of a tool in a hand; name the body with \"body\"");
        scene.tool = read_sphere(json);
    }
}

Pose start_of_tool(const SceneDescription& scene) {
    if (!scene.held_tool) return {};
    const int place = find_description(scene, scene.held_tool->body);
    const BodyDescription& body = scene.bodies[static_cast<std::size_t>(place)];
    const auto& motion = std::get<RigidSource>(body.source).motion;
    return motion ? motion->at(0).pose : body.pose;
}

DeviceDescription read_device(const JsonObject& json, const std::filesystem::path& folder,
                              DeviceUse& use) {
    DeviceDescription device = read_kind(json, folder);
    bool is_open = false;
    json.check("url", [&] { is_open = is_beyond_computer(device); });
    if (is_open)
        json.refuse(std::holds_alternative<HaplyDescription>(device) ? "url" : "address",
                    "one of this computer alone, with 127.0.0.1: no file opens a device to other "
                    "computers. Leave it out and give it on the command line, --device-address " +
                        *address_of(device));
    use = read_use(json);
    return device;
}

}  // namespace pliant
