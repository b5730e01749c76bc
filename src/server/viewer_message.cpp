#include "pliant/server/viewer_message.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/core/json_value.h"

namespace pliant {
namespace {

constexpr JsonLimits kLimits = {.max_bytes = std::size_t{1} << 16, .max_depth = 4};
constexpr double kFarthest = 1e6;   // of places [m]
constexpr double kStrongest = 1e6;  // of a poke [N]
constexpr double kLongestTime = 1e9;
constexpr double kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxRank = 1000;
constexpr double kAllButtons = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLongestName = 200;

struct Malformed {};

/// Members of one object. Every one must be asked for exactly once: keys that are not known are
/// those left over in finish().
class MemberReader {
public:
    explicit MemberReader(const JsonValue& message) : message_(message) {
        if (!message.is(JsonValue::Type::Object)) throw Malformed{};
    }

    [[nodiscard]] bool has(std::string_view key) const { return message_.find(key) != nullptr; }
    const std::string& text(std::string_view key) {
        const std::string& value = get(key, JsonValue::Type::String).string();
        if (value.size() > kLongestName) throw Malformed{};
        return value;
    }
    bool flag(std::string_view key) { return get(key, JsonValue::Type::Boolean).boolean(); }
    double number(std::string_view key, double low, double high) {
        return checked(get(key, JsonValue::Type::Number), low, high);
    }
    double whole(std::string_view key, double low, double high) {
        const double value = number(key, low, high);
        if (value != std::floor(value)) throw Malformed{};
        return value;
    }
    std::int32_t index(std::string_view key, double high = kMaxInt) {
        return static_cast<std::int32_t>(whole(key, 0, high));
    }
    template <std::size_t n>
    std::array<double, n> numbers(std::string_view key, double low, double high) {
        const JsonValue::Array& items = get(key, JsonValue::Type::Array).array();
        if (items.size() != n) throw Malformed{};
        std::array<double, n> values;
        for (std::size_t i = 0; i < n; ++i) values[i] = checked(items[i], low, high);
        return values;
    }
    std::array<double, 3> vector(std::string_view key, double low, double high) {
        return numbers<3>(key, low, high);
    }
    void finish() const {
        if (num_read_ != message_.object().size()) throw Malformed{};
    }

private:
    const JsonValue& get(std::string_view key, JsonValue::Type type) {
        const JsonValue* value = message_.find(key);
        if (value == nullptr || !value->is(type)) throw Malformed{};
        ++num_read_;
        return *value;
    }
    static double checked(const JsonValue& value, double low, double high) {
        if (!value.is(JsonValue::Type::Number)) throw Malformed{};
        // written so that NaN fails
        if (!(value.number() >= low && value.number() <= high)) throw Malformed{};
        return value.number();
    }

    const JsonValue& message_;
    std::size_t num_read_ = 0;
};

/// Weights from single precision may be a little outside; they are put right.
std::array<double, 3> read_barycentric(MemberReader& reader) {
    constexpr double kSlack = 0.01;
    std::array<double, 3> weights = reader.vector("barycentric", -kSlack, 1 + kSlack);
    for (double& w : weights) w = std::max(w, 0.0);
    const double sum = weights[0] + weights[1] + weights[2];
    if (!(std::abs(sum - 1) < 10 * kSlack)) throw Malformed{};
    for (double& w : weights) w /= sum;
    return weights;
}

/// Single precision is not quite a unit; it is put right.
std::array<double, 4> read_unit_rotation(MemberReader& reader) {
    constexpr double kSlack = 0.01;
    std::array<double, 4> rotation = reader.numbers<4>("rotation", -1 - kSlack, 1 + kSlack);
    double norm = 0;
    for (const double x : rotation) norm += x * x;
    norm = std::sqrt(norm);
    if (!(std::abs(norm - 1) < kSlack)) throw Malformed{};
    for (double& x : rotation) x /= norm;
    return rotation;
}

CommandMessage read_command(Command::Kind kind, MemberReader& reader) {
    using Kind = Command::Kind;
    CommandMessage message;
    Command& command = message.command;
    command.kind = kind;
    if (kind == Kind::Grab || kind == Kind::Poke || kind == Kind::Drag || kind == Kind::Release)
        command.slot = reader.index("slot", Command::kMaxSlots - 1);
    if (kind == Kind::Grab || kind == Kind::Poke) {
        command.body = reader.index("body");
        command.triangle = reader.index("triangle");
        command.barycentric = read_barycentric(reader);
    }
    if (kind == Kind::Grab || kind == Kind::Drag || kind == Kind::MoveTool)
        command.target = reader.vector("target", -kFarthest, kFarthest);
    if (kind == Kind::MoveTool && reader.has("rotation"))
        command.rotation = read_unit_rotation(reader);
    if (kind == Kind::MoveTool && reader.has("buttons"))
        command.buttons = static_cast<std::uint32_t>(reader.whole("buttons", 0, kAllButtons));
    if (kind == Kind::Poke && reader.has("force"))
        command.value = reader.number("force", 0, kStrongest);
    if (kind == Kind::SetParameter) {
        message.parameter = reader.text("parameter");
        command.value = reader.number("value", -std::numeric_limits<double>::max(),
                                      std::numeric_limits<double>::max());
    }
    return message;
}

ControlMessage read_control(ControlMessage::Action action, MemberReader& reader) {
    using Action = ControlMessage::Action;
    ControlMessage message{.action = action, .value = 0, .name = {}};
    if (action == Action::Step) message.value = reader.whole("ticks", 1, 1000);
    if (action == Action::Speed) message.value = reader.number("value", 0.01, 1);
    if (action == Action::SeekReplay) message.value = reader.number("time", 0, kLongestTime);
    if (action == Action::Ping)
        message.value = reader.number("id", -kLongestTime * kFarthest, kLongestTime * kFarthest);
    if (action == Action::OpenScene) message.name = reader.text("scene");
    if (action == Action::BuildSketch) message.value = reader.whole("rank", 1, kMaxRank);
    // those that come as one type with a flag
    if (action == Action::StartRecording && !reader.flag("on"))
        message.action = Action::StopRecording;
    if (action == Action::ShowMesh && !reader.flag("on")) message.action = Action::HideMesh;
    if (action == Action::ShowContacts && !reader.flag("on")) message.action = Action::HideContacts;
    if (action == Action::StartSketch && !reader.flag("on")) message.action = Action::CancelSketch;
    return message;
}

struct CommandType {
    std::string_view type;
    Command::Kind kind;
};
constexpr CommandType kCommandTypes[] = {
    {"grab", Command::Kind::Grab},     {"poke", Command::Kind::Poke},
    {"drag", Command::Kind::Drag},     {"release", Command::Kind::Release},
    {"tool", Command::Kind::MoveTool}, {"set", Command::Kind::SetParameter},
    {"reset", Command::Kind::Reset},
};
struct ControlType {
    std::string_view type;
    ControlMessage::Action action;
};
constexpr ControlType kControlTypes[] = {
    {"pause", ControlMessage::Action::Pause},
    {"run", ControlMessage::Action::Run},
    {"step", ControlMessage::Action::Step},
    {"speed", ControlMessage::Action::Speed},
    {"open", ControlMessage::Action::OpenScene},
    {"record", ControlMessage::Action::StartRecording},
    {"seek", ControlMessage::Action::SeekReplay},
    {"mesh", ControlMessage::Action::ShowMesh},
    {"contacts", ControlMessage::Action::ShowContacts},
    {"ping", ControlMessage::Action::Ping},
    {"steer", ControlMessage::Action::Steer},
    {"sketch", ControlMessage::Action::StartSketch},
    {"sketch_build", ControlMessage::Action::BuildSketch},
};

ViewerMessage read_message(std::string_view type, MemberReader& reader) {
    if (type == "ack") {
        constexpr double kLast = std::numeric_limits<std::uint32_t>::max();
        return AcknowledgeMessage{static_cast<std::uint32_t>(reader.whole("frame", 0, kLast))};
    }
    for (const CommandType& known : kCommandTypes)
        if (type == known.type) return read_command(known.kind, reader);
    for (const ControlType& known : kControlTypes)
        if (type == known.type) return read_control(known.action, reader);
    throw Malformed{};
}

}  // namespace

std::optional<ViewerMessage> parse_viewer_message(std::string_view text) noexcept {
    try {
        const JsonValue value = parse_json(text, "message", kLimits);
        MemberReader reader(value);
        ViewerMessage message = read_message(reader.text("type"), reader);
        reader.finish();
        return message;
    } catch (...) {
        // whatever a foreign program sent: it is dropped and counted
        return std::nullopt;
    }
}

}  // namespace pliant
