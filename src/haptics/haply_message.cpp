#include "haptics/haply_message.h"

#include "haptics/pose_rules.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/json_writer.h"

#include <array>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

using Eigen::Vector3d;

// nothing of the kind is larger or faster
constexpr double kMostHaplyReach = 10, kMostHaplySpeed = 1000;  // [m], [m/s]
constexpr JsonLimits kHaplyLimits{std::size_t{1} << 20, 16};

/// A field has another type than it should.
struct HaplyFieldError {};

const JsonValue* haply_member(const JsonValue& object, const char* name, JsonValue::Type type) {
    const JsonValue* const member = object.find(name);
    if (member && !member->is(type)) throw HaplyFieldError{};
    return member;
}

double haply_number(const JsonValue& object, const char* name) {
    const JsonValue* const number = haply_member(object, name, JsonValue::Type::Number);
    if (!number) throw HaplyFieldError{};
    return number->number();
}

Vector3d haply_vector(const JsonValue& object) {
    return {haply_number(object, "x"), haply_number(object, "y"), haply_number(object, "z")};
}

/// The device of that name in a list, or the first one; null: there is none.
const JsonValue* find_haply(const JsonValue& message, const char* list,
                            const std::string& device_id) {
    const JsonValue* const devices = haply_member(message, list, JsonValue::Type::Array);
    if (!devices) return nullptr;
    for (const JsonValue& device : devices->array()) {
        if (!device.is(JsonValue::Type::Object)) throw HaplyFieldError{};
        const JsonValue* const id = haply_member(device, "device_id", JsonValue::Type::String);
        if (!id || id->string().empty()) throw HaplyFieldError{};
        if (device_id.empty() || id->string() == device_id) return &device;
    }
    return nullptr;
}

/// Rotation and buttons of a VerseGrip, with or without a cable.
void read_grip(const JsonValue& message, DeviceState& state) {
    for (const char* list : {"wireless_verse_grip", "verse_grip"}) {
        const JsonValue* const grip = find_haply(message, list, "");
        if (!grip) continue;
        const JsonValue* const said = haply_member(*grip, "state", JsonValue::Type::Object);
        if (!said) continue;
        if (const auto* q = haply_member(*said, "orientation", JsonValue::Type::Object)) {
            const Vector3d v = haply_vector(*q);
            state.pose.rotation = Quaternion(haply_number(*q, "w"), v.x(), v.y(), v.z());
        }
        constexpr std::array<const char*, 3> kNames = {"a", "b", "c"};
        if (const auto* buttons = haply_member(*said, "buttons", JsonValue::Type::Object))
            for (std::size_t i = 0; i < kNames.size(); ++i)
                if (const auto* b = haply_member(*buttons, kNames[i], JsonValue::Type::Boolean))
                    state.buttons |= std::uint32_t{b->boolean()} << i;
        if (const auto* b = haply_member(*said, "button", JsonValue::Type::Boolean))
            state.buttons |= std::uint32_t{b->boolean()};
        return;
    }
}

}  // namespace

std::variant<HaplyFault, HaplyReading> parse_haply_message(std::string_view text,
                                                           const std::string& device_id) {
    try {
        const JsonValue message = parse_json(text, "Haply Inverse Service", kHaplyLimits);
        if (!message.is(JsonValue::Type::Object)) return HaplyFault::Malformed;
        const JsonValue* const device = find_haply(message, "inverse3", device_id);
        if (!device) return HaplyFault::Absent;
        const JsonValue* const said = haply_member(*device, "state", JsonValue::Type::Object);
        if (!said) return HaplyFault::Malformed;

        HaplyReading reading;
        reading.device_id = device->find("device_id")->string();
        const auto* const position =
            haply_member(*said, "cursor_position", JsonValue::Type::Object);
        if (!position) return HaplyFault::Malformed;
        reading.state.pose.position = haply_vector(*position);
        if (const auto* velocity = haply_member(*said, "cursor_velocity", JsonValue::Type::Object))
            reading.state.twist.linear = haply_vector(*velocity);
        read_grip(message, reading.state);
        if (const JsonValue* const known = device->find("status");
            known && known->is(JsonValue::Type::Object))
            if (const JsonValue* const is_calibrated = known->find("calibrated");
                is_calibrated && is_calibrated->is(JsonValue::Type::Boolean))
                reading.is_calibrated = is_calibrated->boolean();
        if (!reading.is_calibrated.value_or(true))
            reading.state.status = DeviceStatus::Uncalibrated;

        if (!(reading.state.pose.position.cwiseAbs().maxCoeff() <= kMostHaplyReach))
            return HaplyFault::BadValue;
        const bool has_speed = reading.state.twist.linear.cwiseAbs().maxCoeff() <= kMostHaplySpeed;
        if (!has_speed) reading.state.twist.linear.setZero();
        reading.is_whole = has_speed && is_rotation(reading.state.pose.rotation);
        return reading;
    } catch (const InputError&) {
        return HaplyFault::Malformed;
    } catch (const HaplyFieldError&) {
        return HaplyFault::Malformed;
    }
}

std::string haply_force_message(const std::string& device_id, const Vector3d& force) {
    JsonWriter json;
    json.begin_object().key("inverse3").begin_array().begin_object();
    json.member("device_id", device_id).key("commands").begin_object();
    json.key("set_cursor_force").begin_object().key("values").begin_object();
    json.member("x", force.x()).member("y", force.y()).member("z", force.z());
    json.end_object().end_object().end_object().end_object().end_array().end_object();
    return json.text();
}

std::string haply_inventory_message() { return R"({"session":{"force_render_full_state":{}}})"; }

}  // namespace pliant
