#include "scene/scene_reader.h"

#include <algorithm>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kDegree = std::numbers::pi / 180;

WindDescription read_wind(const JsonObject& json) {
    WindDescription wind;
    wind.direction = json.vector("direction", wind.direction);
    if (!(wind.direction.norm() > 0)) json.refuse("direction", "a direction, not zero");
    wind.direction.normalize();
    wind.speed = json.number("speed", wind.speed);
    wind.gusts = json.number("gusts", wind.gusts);
    return wind;
}

PullDescription read_pull(const JsonObject& json) {
    PullDescription pull;
    pull.stiffness = json.number("stiffness", pull.stiffness);
    pull.damping = json.number("damping", pull.damping);
    pull.force_limit = json.number("force_limit", pull.force_limit);
    return pull;
}

CameraDescription read_camera(const JsonObject& json) {
    CameraDescription camera;
    camera.eye = json.vector("eye", camera.eye);
    camera.target = json.vector("target", camera.target);
    if (!((camera.eye - camera.target).norm() > 1e-9))
        json.refuse("eye", "another place than the target");
    return camera;
}

std::vector<LoopDescription> read_loops(const JsonObject& json) {
    std::vector<LoopDescription> loops;
    for (const JsonObject& item : json.objects("loops")) {
        LoopDescription loop;
        loop.name = item.text("name", loop.name);
        loop.rate = item.number("rate", loop.rate);
        const bool is_taken = std::any_of(
            loops.begin(), loops.end(), [&](const auto& other) { return other.name == loop.name; });
        if (loop.name == "haptic" || is_taken)
            item.refuse("name", "a name that no other loop has; \"haptic\" is always there");
        loops.push_back(loop);
    }
    return loops;
}

/// The loop that a body or the tool names must be there.
void check_loop(const JsonObject& json, const SceneDescription& scene, const std::string& name) {
    std::string known = "\"haptic\"";
    if (name == "haptic") return;
    for (const LoopDescription& loop : scene.loops) {
        if (loop.name == name) return;
        known += ", \"" + loop.name + "\"";
    }
    json.refuse("loop", "the name of a loop of the scene: " + known);
}

void read_body_name(const JsonObject& json, const SceneDescription& scene, ScriptEvent& event) {
    event.body = json.text("body", "");
    if (find_description(scene, event.body) < 0)
        json.refuse("body", "a body of the scene: " + list_of_bodies(scene));
}

ScriptEvent read_event(const JsonObject& json, const SceneDescription& scene) {
    ScriptEvent event;
    event.time = json.number("time", event.time);
    if (const auto grab = json.object("grab")) {
        event.kind = Command::Kind::Grab;
        read_body_name(*grab, scene, event);
        event.at = grab->vector("at", event.at);
        event.target = grab->vector("target", event.at);
        event.duration = grab->number("duration", event.duration);
        event.slot = grab->integer("slot", event.slot);
    } else if (const auto poke = json.object("poke")) {
        event.kind = Command::Kind::Poke;
        read_body_name(*poke, scene, event);
        event.at = poke->vector("at", event.at);
        event.value = poke->number("force", event.value);
        event.slot = poke->integer("slot", event.slot);
    } else if (const auto drag = json.object("drag")) {
        event.kind = Command::Kind::Drag;
        event.target = drag->vector("target", event.target);
        event.duration = drag->number("duration", event.duration);
        event.slot = drag->integer("slot", event.slot);
    } else if (const auto release = json.object("release")) {
        event.kind = Command::Kind::Release;
        event.slot = release->integer("slot", event.slot);
    } else if (const auto tool = json.object("tool")) {
        event.kind = Command::Kind::MoveTool;
        if (!scene.tool && !scene.held_tool) json.fail("tool", "the scene has no tool");
        event.target = tool->vector("target", event.target);
        event.rotation = read_rotation(*tool, start_of_tool(scene).rotation);
        event.buttons = static_cast<std::uint32_t>(tool->number("buttons", 0));
        event.duration = tool->number("duration", event.duration);
    } else if (const auto set = json.object("set")) {
        event.kind = Command::Kind::SetParameter;
        event.parameter = set->text("parameter", event.parameter);
        event.value = set->number("value", event.value);
    } else if (json.has("reset")) {
        event.kind = Command::Kind::Reset;
    }
    return event;
}

}  // namespace

Quaternion read_rotation(const JsonObject& json, const Quaternion& otherwise) {
    if (const auto turn = json.object("rotation")) {
        const Vector3d axis = turn->vector("axis", Vector3d::Zero());
        if (!(axis.norm() > 0)) turn->refuse("axis", "a direction, not zero");
        return rotation_from_vector(axis.normalized() * turn->number("degrees", 0) * kDegree);
    }
    const JsonValue* value = json.find("rotation");
    if (!value) return otherwise;
    const JsonValue::Array& q = value->array();
    const Quaternion rotation(q[0].number(), q[1].number(), q[2].number(), q[3].number());
    // four digits typed by hand are near enough
    const double length = rotation.norm();
    if (!(std::abs(length - 1) < 1e-3))
        json.refuse("rotation", "a unit quaternion [w, x, y, z]; the length of this one is " +
                                    to_text(JsonValue(length)) + ", not 1");
    return rotation.normalized();
}

int find_description(const SceneDescription& scene, const std::string& name) {
    for (std::size_t d = 0; d < scene.bodies.size(); ++d) {
        const BodyDescription& body = scene.bodies[d];
        if (!body.copies) {
            if (body.name == name) return static_cast<int>(d);
            continue;
        }
        const int count = body.copies->counts[0] * body.copies->counts[1] * body.copies->counts[2];
        for (int i = 0; i < count; ++i)
            if (body.name + "[" + std::to_string(i) + "]" == name) return static_cast<int>(d);
    }
    return -1;
}

std::string list_of_bodies(const SceneDescription& scene) {
    std::string known;
    for (const BodyDescription& body : scene.bodies)
        known += (known.empty() ? "\"" : ", \"") + body.name + (body.copies ? "[0]\" …" : "\"");
    return known;
}

Pose read_pose(const JsonObject& json, const Pose& otherwise) {
    return {json.vector("position", otherwise.position), read_rotation(json, otherwise.rotation)};
}

std::optional<ScriptedMotion> read_motion(const JsonObject& json, const Pose& pose) {
    const auto motion = json.object("motion");
    if (!motion) return std::nullopt;
    std::optional<ScriptedMotion> result;
    if (const auto path = motion->object("path")) {
        std::vector<Keyframe> keys;
        for (const JsonObject& key : path->objects("keyframes")) {
            keys.push_back({key.number("time", 0), read_pose(key, pose)});
            if (keys.size() > 1 && !(keys.back().time > keys[keys.size() - 2].time))
                key.refuse("time", "a time after that of the frame before");
        }
        const bool is_repeated = path->boolean("repeat", false);
        motion->check("path", [&] { result = ScriptedMotion(std::move(keys), is_repeated); });
    } else if (const auto swing = motion->object("oscillation")) {
        motion->check("oscillation", [&] {
            result = ScriptedMotion::oscillation(
                pose, swing->vector("amplitude", Vector3d::Zero()),
                kDegree * swing->vector("rotation_degrees", Vector3d::Zero()),
                swing->number("frequency", 0), kDegree * swing->number("phase_degrees", 0));
        });
    }
    return result;
}

std::vector<ScriptEvent> read_script(const JsonObject& json, const SceneDescription& scene) {
    std::vector<ScriptEvent> script;
    for (const JsonObject& event : json.objects("script"))
        script.push_back(read_event(event, scene));
    std::stable_sort(script.begin(), script.end(),
                     [](const ScriptEvent& a, const ScriptEvent& b) { return a.time < b.time; });
    return script;
}

SceneDescription read_scene(const JsonObject& json, const std::filesystem::path& folder) {
    SceneDescription scene;
    scene.folder = folder;
    (void)json.find("$schema");
    (void)json.find("pliant");
    scene.name = json.text("name", scene.name);
    scene.description = json.text("description", scene.description);
    scene.gravity = json.vector("gravity", scene.gravity);
    if (const auto wind = json.object("wind")) scene.wind = read_wind(*wind);
    scene.rate = json.number("rate", scene.rate);
    if (const JsonValue* seed = json.find("seed"))
        scene.seed = static_cast<std::uint64_t>(seed->number());
    scene.loops = read_loops(json);

    for (const JsonObject& item : json.objects("bodies")) {
        BodyDescription body = read_body(item, folder);
        for (const BodyDescription& other : scene.bodies)
            if (other.name == body.name) item.refuse("name", "a name that no other body has");
        check_loop(item, scene, body.loop);
        scene.bodies.push_back(std::move(body));
    }

    scene.contacts = read_contacts(json, scene);
    scene.ignored_contacts = read_ignored_contacts(json, scene);
    if (const auto pull = json.object("pull")) scene.pull = read_pull(*pull);
    if (const auto poke = json.object("poke"))
        scene.poke_force = poke->number("force", scene.poke_force);
    if (const auto tool = json.object("tool")) {
        read_tool(*tool, folder, scene);
        if (scene.tool) check_loop(*tool, scene, scene.tool->loop);
    }
    if (const auto device = json.object("device")) {
        if (!scene.held_tool)
            json.fail("device",
                      "nothing is held in a hand; name a rigid body with \"tool\": {\"body\": …}");
        scene.device = read_device(*device, folder, scene.device_use);
    }
    if (const auto camera = json.object("camera")) scene.camera = read_camera(*camera);
    if (const auto ground = json.object("ground"))
        scene.ground_height = ground->number("height", scene.ground_height);
    else
        scene.has_ground = json.boolean("ground", scene.has_ground);
    scene.script = read_script(json, scene);
    return scene;
}

}  // namespace pliant
