#include "server/server_messages.h"

#include <cstdio>
#include <limits>

#include "pliant/core/json_writer.h"
#include "pliant/core/version.h"
#include "server/greens_assets.h"
#include "server/sketch_recorder.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr int kProtocol = 1;

void put_null(JsonWriter& json) { json.value(std::numeric_limits<double>::quiet_NaN()); }

template <class Vector>
void put_array(JsonWriter& json, const char* name, const Vector& v) {
    json.key(name).begin_array();
    for (int i = 0; i < 3; ++i)
        json.value(static_cast<double>(v[static_cast<typename Vector::size_type>(i)]));
    json.end_array();
}

void put_array(JsonWriter& json, const char* name, const Eigen::Vector3d& v) {
    put_array(json, name, std::array<double, 3>{v.x(), v.y(), v.z()});
}

void put_scene(JsonWriter& json, const SceneDescription& scene) {
    json.key("scene").begin_object();
    json.member("name", scene.name).member("description", scene.description);
    json.member("rate", scene.rate);
    json.member("has_ground", scene.has_ground).member("ground_height", scene.ground_height);
    json.key("camera").begin_object();
    put_array(json, "eye", scene.camera.eye);
    put_array(json, "target", scene.camera.target);
    json.end_object().end_object();
}

void put_bodies(JsonWriter& json, const World& world, const SceneAssets& assets) {
    json.key("bodies").begin_array();
    for (std::size_t i = 0; i < world.bodies().size(); ++i) {
        const WorldBody& body = world.bodies()[i];
        const BodyStream& stream = assets.streams()[i];
        json.begin_object();
        json.member("name", body.name).member("kind", world.body(static_cast<int>(i)).kind());
        json.member("asset", stream.asset);
        put_array(json, "colour", body.colour);
        json.member("encoding", to_string(stream.encoding)).member("rank", stream.rank);
        json.member("loop", stream.loop);
        json.end_object();
    }
    json.end_array();
    json.key("assets").begin_array();
    for (const SceneAssets::Asset& asset : assets.assets()) {
        json.begin_object();
        json.member("vertices", asset.num_vertices).member("triangles", asset.num_triangles);
        json.member("has_mesh", asset.has_mesh).member("size", asset.size);
        json.member("has_greens", asset.greens != nullptr).member("levels", asset.num_levels);
        json.member("has_wavelets", asset.greens != nullptr &&
                                        display_of(*asset.greens).compression(0).has_value());
        json.end_object();
    }
    json.end_array();
}

/// Of the deepest tree of points.
int num_levels(const LoopContact& contact) {
    int most = 0;
    for (const ContactMember& body : contact.bodies)
        if (body.tree) most = std::max(most, body.tree->num_levels());
    return most;
}

/// In the order of frames.
void put_contacts(JsonWriter& json, const World& world) {
    json.key("contacts").begin_array();
    for (int l = 0; l < world.num_loops(); ++l) {
        const SimulationLoop& loop = world.loop(l);
        const auto body = [&](int place) {
            return place < 0 ? -1 : loop.body_of_world()[static_cast<std::size_t>(place)];
        };
        for (int c = 0; c < loop.num_contacts(); ++c) {
            const LoopContact& contact = loop.contact(c);
            json.begin_object().member("name", contact.name);
            json.member("shell", body(contact.shell())).member("field", body(contact.field()));
            json.member("levels", num_levels(contact));
            json.end_object();
        }
    }
    json.end_array();
}

void put_gains(JsonWriter& json, const std::vector<GainNote>& gains) {
    json.key("gains").begin_array();
    for (const GainNote& gain : gains) {
        json.begin_object().member("name", gain.name).member("unit", gain.unit);
        json.member("meaning", gain.meaning).member("reason", gain.reason);
        json.member("value", gain.value).member("least", gain.least);
        json.member("largest", gain.largest).member("limit", gain.limit).end_object();
    }
    json.end_array();
}

/// Of the tool in a hand.
void put_haptics(JsonWriter& json, const HapticInfo* haptics, int loop) {
    json.key("haptics");
    if (haptics == nullptr) {
        put_null(json);
        return;
    }
    json.begin_object().member("body", haptics->body).member("loop", loop);
    json.member("device", haptics->capabilities.name).member("kind", haptics->kind);
    json.member("max_force", haptics->capabilities.max_force);
    json.member("max_torque", haptics->capabilities.max_torque);
    json.member("scale", 1 / haptics->workspace.scale);
    put_array(json, "grasp", haptics->grasp);
    json.member("clutch", haptics->workspace.clutch_button);
    json.member("proxy_radius", haptics->proxy_radius);
    json.member("deadman", haptics->deadman_button).key("parts").begin_array();
    for (const HeldPart& part : haptics->parts) {
        json.begin_object().member("body", part.body);
        put_array(json, "position", part.offset.position);
        const Quaternion& q = part.offset.rotation;
        json.key("rotation").begin_array();
        for (const double number : {q.w(), q.x(), q.y(), q.z()}) json.value(number);
        json.end_array().end_object();
    }
    json.end_array().member("bends", haptics->bends).key("spheres").begin_array();
    for (const HeldSphere& sphere : haptics->spheres) {
        json.begin_object();
        put_array(json, "position", sphere.position);
        json.member("radius", sphere.radius).end_object();
    }
    json.end_array();
    put_gains(json, haptics->gains);
    json.member("warning", haptics->warning).end_object();
}

void put_parameters(JsonWriter& json, const ViewedWorld& viewed) {
    json.key("parameters").begin_array();
    const std::vector<WorldParameter>& parameters = viewed.world().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const LiveParameter& parameter = parameters[i].parameter;
        json.begin_object();
        json.member("name", parameter.name).member("label", parameter.label);
        json.member("unit", parameter.unit).member("help", parameter.help);
        json.member("value", parameter.value);
        json.member("now", viewed.parameter(static_cast<int>(i)));
        json.member("low", parameter.low).member("high", parameter.high);
        json.member("logarithmic", parameter.is_logarithmic);
        json.member("integer", parameter.is_integer);
        json.end_object();
    }
    json.end_array();
}

void put_summary(JsonWriter& json, const char* name, const TickHistogram::Summary& summary) {
    json.key(name).begin_object();
    json.member("p50", summary.p50_us).member("p99", summary.p99_us);
    json.member("p999", summary.p999_us).member("max", summary.max_us);
    json.end_object();
}

void put_loop(JsonWriter& json, const std::string& name, const LoopFrame& frame) {
    json.begin_object();
    json.member("name", name).member("tick", frame.tick).member("time", frame.time);
    put_summary(json, "work", frame.work);
    put_summary(json, "late", frame.lateness);
    json.member("skipped", frame.skipped);
    json.key("statuses").begin_object();
    for (int s = 0; s < kNumStepStatuses; ++s)
        json.member(to_string(static_cast<StepStatus>(s)),
                    frame.status_counts[static_cast<std::size_t>(s)]);
    json.end_object().end_object();
}

/// What is left of compressed columns as they are shown, or null.
void put_compression(JsonWriter& json, const GreensBody& body, double tolerance) {
    json.key("compression");
    const auto report = display_of(body).compression(tolerance);
    if (!report) {
        put_null(json);
        return;
    }
    json.begin_object().member("tolerance", report->options.tolerance);
    json.member("blocks", report->num_blocks).member("factor", report->compression);
    json.member("rms", report->rms).member("max", report->max).end_object();
}

/// Of contacts with Green's functions.
void put_greens(JsonWriter& json, const SimulationLoop& loop, const LoopFrame& frame) {
    for (std::size_t c = 0; c < frame.contacts.size(); ++c) {
        const ShownGreens& greens = frame.contacts[c].greens;
        const GreensTouch* const touch = loop.contact(static_cast<int>(c)).greens();
        if (!touch) continue;
        json.begin_object().member("name", loop.contact(static_cast<int>(c)).name);
        json.member("points", greens.num_points).member("nodes", greens.num_nodes);
        const int finest = touch->body().model().surface.num_levels();
        json.member("size", greens.size);
        json.member("level", greens.level < 0 ? finest : greens.level).member("levels", finest);
        put_compression(json, touch->body(), greens.tolerance);
        json.member("added", greens.added).member("removed", greens.removed);
        json.member("status", to_string(greens.status)).member("condition", greens.condition);
        json.key("counts").begin_object();
        for (int s = 0; s < ShownGreens::kNumStatuses; ++s)
            json.member(to_string(static_cast<CapacitanceStatus>(s)),
                        greens.counts[static_cast<std::size_t>(s)]);
        json.end_object();
        json.key("linear").begin_object();
        json.member("strain", greens.strain.strain).member("rotation", greens.strain.rotation);
        json.member("displacement", greens.strain.displacement).member("use", greens.strain.use);
        json.end_object().end_object();
    }
}

std::string notice_of(const ShownHaptics& haptics) {
    const auto end = std::find(haptics.notice.begin(), haptics.notice.end(), '\0');
    return {haptics.notice.begin(), end};
}

void put_recording(JsonWriter& json, const ViewedWorld& viewed, const std::string& name) {
    json.key("recording");
    if (name.empty()) {
        put_null(json);
        return;
    }
    const Engine::RecordingStatus status = viewed.recording();
    json.begin_object().member("name", name);
    json.member("bytes", status.bytes).member("lost", status.lost);
    json.member("problem", status.problem).end_object();
}

void put_sketch(JsonWriter& json, const ServerStatus& status) {
    json.key("sketch");
    if (!status.is_sketching && !status.is_building) {
        put_null(json);
        return;
    }
    json.begin_object().member("loads", static_cast<std::uint64_t>(status.num_loads));
    json.member("building", status.is_building).end_object();
}

JsonWriter begin_message(const char* type) {
    JsonWriter json;
    json.begin_object().member("type", type);
    return json;
}

std::string end_message(JsonWriter& json) {
    json.end_object();
    return json.text();
}

}  // namespace

std::string hello_message(const ViewedWorld& viewed, const SceneAssets& assets,
                          const std::vector<SceneChoice>& scenes, bool steers) {
    const World& world = viewed.world();
    JsonWriter json = begin_message("hello");
    json.member("protocol", kProtocol).member("version", kVersion).member("steers", steers);
    put_scene(json, world.scene());
    json.key("scenes").begin_array();
    for (const SceneChoice& choice : scenes) {
        json.begin_object().member("name", choice.name);
        json.member("description", choice.description).end_object();
    }
    json.end_array();
    put_bodies(json, world, assets);
    put_contacts(json, world);
    put_parameters(json, viewed);

    const RigidBody* tool = nullptr;
    const HapticInfo* haptics = nullptr;
    int haptic_loop = 0;
    json.key("loops").begin_array();
    for (int l = 0; l < world.num_loops(); ++l) {
        const SimulationLoop& loop = world.loop(l);
        json.begin_object().member("name", loop.settings().name);
        json.member("rate", loop.settings().rate).end_object();
        if (loop.tool() != nullptr) tool = loop.tool();
        if (loop.haptics() == nullptr) continue;
        haptics = loop.haptics();
        haptic_loop = l;
    }
    json.end_array();
    put_haptics(json, haptics, haptic_loop);
    json.member("has_tool", tool != nullptr);
    json.member("tool_radius",
                tool != nullptr && world.scene().tool ? world.scene().tool->radius : 0.0);
    json.member("scheduling", viewed.scheduling());
    json.key("warnings").begin_array();
    for (const std::string& warning : world.warnings()) json.value(warning);
    json.end_array().key("replay");
    if (const auto duration = viewed.replay_duration())
        json.begin_object().member("duration", *duration).end_object();
    else
        put_null(json);
    json.key("sketch");
    if (const auto subject = sketch_subject(viewed))
        json.begin_object()
            .member("body", subject->name)
            .member("rank", subject->model.rank())
            .end_object();
    else
        put_null(json);
    return end_message(json);
}

std::string stats_message(ViewedWorld& viewed, const ServerStatus& status) {
    const World& world = viewed.world();
    JsonWriter json = begin_message("stats");
    Energy energy;
    std::string notice;  // of the tool in a hand
    const HapticInfo* haptics = nullptr;
    json.key("loops").begin_array();
    for (int l = 0; l < world.num_loops(); ++l) {
        const LoopFrame& frame = viewed.frame(l);
        put_loop(json, world.loop(l).settings().name, frame);
        for (const Energy& part : frame.energies) {
            energy.kinetic += part.kinetic;
            energy.elastic += part.elastic;
        }
        if (frame.haptics.body < 0) continue;
        notice = notice_of(frame.haptics);
        haptics = world.loop(l).haptics();
    }
    json.end_array();
    json.key("haptics");
    if (haptics != nullptr)
        json.begin_object()
            .member("notice", notice)
            .member("device", haptics->capabilities.name)
            .end_object();
    else
        put_null(json);
    json.key("greens").begin_array();
    for (int l = 0; l < world.num_loops(); ++l) put_greens(json, world.loop(l), viewed.frame(l));
    json.end_array();
    json.key("energy").begin_object().member("kinetic", energy.kinetic);
    json.member("elastic", energy.elastic).end_object();
    json.member("viewers", static_cast<std::uint64_t>(status.num_viewers));
    json.member("steers", status.steers).member("asked", status.is_asked);
    json.member("paused", viewed.is_paused()).member("speed", viewed.speed());
    put_recording(json, viewed, status.recording);
    put_sketch(json, status);
    json.member("malformed", status.num_malformed);
    json.key("replay_time");
    if (viewed.replay_duration())
        json.value(viewed.replay_time());
    else
        put_null(json);
    return end_message(json);
}

std::string parameter_message(const std::string& name, double value) {
    JsonWriter json = begin_message("parameter");
    json.member("name", name).member("value", value);
    return end_message(json);
}

std::string progress_message(const std::string& stage, double fraction, double remaining) {
    JsonWriter json = begin_message("progress");
    json.member("stage", stage).member("fraction", fraction).key("remaining");
    if (remaining >= 0)
        json.value(remaining);
    else
        put_null(json);
    return end_message(json);
}

std::string notice_message(const char* level, const std::string& text) {
    JsonWriter json = begin_message("notice");
    json.member("level", level).member("text", text);
    return end_message(json);
}

std::string pong_message(double id) {
    JsonWriter json = begin_message("pong");
    json.member("id", id);
    return end_message(json);
}

std::string status_text(const ViewedWorld& viewed, const LoopTimes& haptic,
                        std::size_t num_viewers) {
    char text[200];
    if (const auto duration = viewed.replay_duration()) {
        std::snprintf(text, sizeof text, "replay %.1f of %.1f s", viewed.replay_time(), *duration);
    } else {
        std::snprintf(text, sizeof text, "tick %.1f µs p50 · %.1f µs p99.9 · %llu missed",
                      haptic.work.p50_us, haptic.work.p999_us,
                      static_cast<unsigned long long>(haptic.skipped));
    }
    std::string line = text;
    line += " · " + std::to_string(num_viewers) + (num_viewers == 1 ? " viewer" : " viewers");
    return viewed.is_paused() ? line + " · paused" : line;
}

}  // namespace pliant
