#include "scene/recording_header.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/core/version.h"

namespace pliant {
namespace {

/// Members of the header, with its place in messages.
class Reader {
public:
    Reader(const JsonValue& value, std::string name, std::string place)
        : value_(value), name_(std::move(name)), place_(std::move(place)) {
        require(value_, place_, JsonValue::Type::Object, "an object");
    }

    [[nodiscard]] std::string text(const char* key) const {
        return member(key, JsonValue::Type::String, "a text").string();
    }
    [[nodiscard]] double real(const char* key, double above) const {
        const double number = member(key, JsonValue::Type::Number, "a number").number();
        if (!(number > above)) refuse(place_ + "." + key, "a larger number");
        return number;
    }
    /// Of a loop [Hz]: others make durations that are no numbers.
    [[nodiscard]] double rate() const {
        const double number = real("rate", 0);
        if (!(number >= 1e-6 && number <= 1e9)) refuse(place_ + ".rate", "from 1e-6 to 1e9 Hz");
        return number;
    }
    [[nodiscard]] int integer(const char* key, int low, int high) const {
        const double number = member(key, JsonValue::Type::Number, "a number").number();
        if (!(number >= low && number <= high) || number != std::floor(number))
            refuse(place_ + "." + key,
                   "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        return static_cast<int>(number);
    }
    [[nodiscard]] bool has(const char* key) const { return value_.find(key) != nullptr; }
    [[nodiscard]] Reader object(const char* key) const {
        return {member(key, JsonValue::Type::Object, "an object"), name_, place_ + "." + key};
    }
    [[nodiscard]] std::vector<Reader> list(const char* key) const {
        std::vector<Reader> readers;
        for (const JsonValue& item : member(key, JsonValue::Type::Array, "a list").array())
            readers.emplace_back(item, name_,
                                 place_ + "." + key + "[" + std::to_string(readers.size()) + "]");
        return readers;
    }

private:
    [[noreturn]] void refuse(const std::string& place, const std::string& expected) const {
        throw InputError(name_,
                         "the header is not of a recording: " + place + " must be " + expected);
    }
    void require(const JsonValue& value, const std::string& place, JsonValue::Type type,
                 const char* what) const {
        if (!value.is(type)) refuse(place, what);
    }
    const JsonValue& member(const char* key, JsonValue::Type type, const char* what) const {
        const JsonValue* found = value_.find(key);
        if (found == nullptr) refuse(place_ + "." + key, what);
        require(*found, place_ + "." + key, type, what);
        return *found;
    }
    const JsonValue& value_;
    std::string name_, place_;
};

/// Whether the body is meant by the name: its own, or that of the copies it belongs to.
bool is_named(const World& world, const WorldBody& body, const std::string& name) {
    const std::vector<BodyDescription>& described = world.scene().bodies;
    const auto d = static_cast<std::size_t>(body.description);
    return body.name == name || (d < described.size() && described[d].name == name);
}

/// Real numbers of capabilities by their names in the file.
struct CapabilityField {
    const char* name;
    double DeviceCapabilities::*value;
};
constexpr CapabilityField kCapabilities[] = {
    {"max_force", &DeviceCapabilities::max_force},
    {"max_torque", &DeviceCapabilities::max_torque},
    {"continuous_force", &DeviceCapabilities::continuous_force},
    {"max_stiffness", &DeviceCapabilities::max_stiffness},
    {"max_angular_stiffness", &DeviceCapabilities::max_angular_stiffness},
    {"damping", &DeviceCapabilities::damping},
    {"angular_damping", &DeviceCapabilities::angular_damping},
    {"delay", &DeviceCapabilities::delay},
    {"position_step", &DeviceCapabilities::position_step},
    {"angle_step", &DeviceCapabilities::angle_step}};
constexpr const char* kWorkspace[] = {"workspace_x", "workspace_y", "workspace_z"};

/// Bit i: axis i.
int axes_bits(const std::array<bool, 6>& axes) {
    int bits = 0;
    for (std::size_t i = 0; i < 6; ++i) bits |= (axes[i] ? 1 : 0) << i;
    return bits;
}
std::array<bool, 6> axes_of_bits(int bits) {
    std::array<bool, 6> axes{};
    for (std::size_t i = 0; i < 6; ++i) axes[i] = (bits >> i & 1) != 0;
    return axes;
}

void write_recorded_device(JsonWriter& json, const RecordingHeader::Device& device) {
    const DeviceCapabilities& can = device.capabilities;
    json.key("device").begin_object();
    json.member("loop", device.loop)
        .member("kind", device.kind)
        .member("virtual", device.is_virtual ? 1 : 0)
        .member("name", can.name);
    for (int i = 0; i < 3; ++i) json.member(kWorkspace[i], can.workspace[i]);
    for (const CapabilityField& field : kCapabilities) json.member(field.name, can.*field.value);
    json.member("sensed", axes_bits(can.is_sensed))
        .member("actuated", axes_bits(can.is_actuated))
        .end_object();
}

RecordingHeader::Device read_recorded_device(const Reader& reader, int last_loop) {
    constexpr double kAnyNumber = -std::numeric_limits<double>::infinity();
    RecordingHeader::Device device;
    device.loop = reader.integer("loop", 0, last_loop);
    device.kind = reader.text("kind");
    device.is_virtual = reader.integer("virtual", 0, 1) == 1;
    DeviceCapabilities& can = device.capabilities;
    can.name = reader.text("name");
    for (int i = 0; i < 3; ++i) can.workspace[i] = reader.real(kWorkspace[i], kAnyNumber);
    for (const CapabilityField& field : kCapabilities)
        can.*field.value = reader.real(field.name, kAnyNumber);
    can.is_sensed = axes_of_bits(reader.integer("sensed", 0, 63));
    can.is_actuated = axes_of_bits(reader.integer("actuated", 0, 63));
    return device;
}

}  // namespace

std::string header_text(const RecordingHeader& header) {
    JsonWriter json;
    json.begin_object()
        .member("scene", header.scene)
        .member("scene_folder", header.scene_folder)
        .member("version", header.version)
        .member("started", header.started);
    json.key("loops").begin_array();
    for (const RecordingHeader::Loop& loop : header.loops)
        json.begin_object().member("name", loop.name).member("rate", loop.rate).end_object();
    json.end_array().key("bodies").begin_array();
    for (const RecordingHeader::RecordedBody& body : header.bodies)
        json.begin_object()
            .member("name", body.name)
            .member("body", body.body)
            .member("loop", body.loop)
            .member("state_size", body.state_size)
            .member("every", body.every)
            .end_object();
    json.end_array();
    if (header.device) write_recorded_device(json, *header.device);
    json.key("parameters").begin_array();
    for (const auto& [name, value] : header.parameters)
        json.begin_object().member("name", name).member("value", value).end_object();
    return json.end_array().end_object().text();
}

RecordingHeader parse_header(std::string_view text, const std::string& name) {
    constexpr double kAny = -std::numeric_limits<double>::infinity();
    constexpr int kLargest = std::numeric_limits<int>::max();
    const JsonValue value = parse_json(text, name, {.max_bytes = text.size(), .max_depth = 8});
    const Reader reader(value, name, "header");
    RecordingHeader header;
    header.scene = reader.text("scene");
    header.scene_folder = reader.text("scene_folder");
    header.version = reader.text("version");
    header.started = reader.text("started");
    for (const Reader& loop : reader.list("loops"))
        header.loops.push_back({loop.text("name"), loop.rate()});
    const int last_loop = static_cast<int>(header.loops.size()) - 1;
    for (const Reader& body : reader.list("bodies"))
        header.bodies.push_back({body.text("name"), body.integer("body", 0, kLargest),
                                 body.integer("loop", 0, last_loop),
                                 body.integer("state_size", 0, kLargest),
                                 body.integer("every", 1, kLargest)});
    if (reader.has("device"))
        header.device = read_recorded_device(reader.object("device"), last_loop);
    for (const Reader& parameter : reader.list("parameters"))
        header.parameters.emplace_back(parameter.text("name"), parameter.real("value", kAny));
    return header;
}

RecordingHeader recording_header(const World& world, const std::vector<std::string>& bodies,
                                 double states_per_second) {
    const std::vector<WorldBody>& all = world.bodies();
    std::vector<std::string> known;
    for (const WorldBody& body : all) known.push_back(body.name);
    for (const BodyDescription& body : world.scene().bodies) known.push_back(body.name);
    const bool wants_none = bodies.size() == 1 && bodies[0] == "-";
    for (const std::string& name : bodies)
        if (!wants_none && std::find(known.begin(), known.end(), name) == known.end()) {
            const std::string near = nearest_name(name, known);
            throw InputError("", "no body is called '" + name + "'" +
                                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
        }

    RecordingHeader header;
    header.scene = world.scene().text;
    std::error_code unknown;  // without a working directory the folder stays empty
    header.scene_folder =
        std::filesystem::absolute(world.scene().folder / ".", unknown).lexically_normal().string();
    header.version = kVersion;
    for (int l = 0; l < world.num_loops(); ++l)
        header.loops.push_back({world.loop(l).settings().name, world.loop(l).settings().rate});
    for (int b = 0; b < static_cast<int>(all.size()) && !wants_none; ++b) {
        const WorldBody& body = all[static_cast<std::size_t>(b)];
        const auto is_meant = [&](const std::string& name) { return is_named(world, body, name); };
        if (!bodies.empty() && std::none_of(bodies.begin(), bodies.end(), is_meant)) continue;
        const double rate = world.loop(body.loop).settings().rate;
        const int every = static_cast<int>(std::max(1.0, std::ceil(rate / states_per_second)));
        header.bodies.push_back({body.name, b, body.loop, world.body(b).state_size(), every});
    }
    for (int l = 0; l < world.num_loops(); ++l)
        if (const HapticInfo* const haptics = world.loop(l).haptics())
            header.device = {l, haptics->kind, haptics->is_virtual, haptics->capabilities};
    for (int i = 0; i < static_cast<int>(world.parameters().size()); ++i)
        header.parameters.emplace_back(
            world.parameters()[static_cast<std::size_t>(i)].parameter.name,
            world.parameter_value(i));
    return header;
}

}  // namespace pliant
