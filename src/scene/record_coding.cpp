#include "scene/record_coding.h"

#include <cstring>

namespace pliant {
namespace {

// The first byte of a record: kind in the lower two bits (0: haptic), then flags.
constexpr unsigned kKindMask = 3;
constexpr unsigned kTickGiven = 4;  ///< a varint; otherwise one on for samples, the same for others
// of samples: what differs from the sample before; whether it was late
constexpr unsigned kHand = 8, kPoint = 16, kForce = 32, kEnergy = 64, kLate = 128;
// of commands: rotation and buttons follow
constexpr unsigned kTurned = 8;

template <class T>
void put(std::string& block, const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    block.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_varint(std::string& block, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) block += static_cast<char>(value | 0x80);
    block += static_cast<char>(value);
}

// small numbers of both signs become small numbers
std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (difference >> 63 ? ~std::uint64_t{0} : 0);
}
std::uint64_t unzigzag(std::uint64_t code) {
    return (code >> 1) ^ (code & 1 ? ~std::uint64_t{0} : 0);
}

std::uint64_t usual_step(RecordKind kind) { return kind == RecordKind::Sample ? 1 : 0; }

void begin(std::string& block, CodingContext& context, RecordKind kind, std::uint64_t tick,
           unsigned flags = 0) {
    const std::uint64_t extra = tick - context.tick - usual_step(kind);
    block += static_cast<char>((static_cast<unsigned>(kind) & kKindMask) | flags |
                               (extra ? kTickGiven : 0));
    if (extra) put_varint(block, zigzag(extra));
    context.tick = tick;
}

std::array<float, 3> to_floats(const std::array<double, 3>& x) {
    return {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])};
}

template <class T>
bool is_same(const T& a, const T& b) {  // bits: −0 and NaN are kept as they are
    return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

void encode_sample(std::string& block, CodingContext& context, std::uint64_t tick,
                   const TickSample& sample) {
    const std::array<float, 3> hand = to_floats(sample.hand), point = to_floats(sample.point),
                               force = to_floats(sample.force);
    const auto energy = static_cast<float>(sample.energy);
    const unsigned flags =
        (is_same(hand, context.hand) ? 0 : kHand) | (is_same(point, context.point) ? 0 : kPoint) |
        (is_same(force, context.force) ? 0 : kForce) |
        (is_same(energy, context.energy) ? 0 : kEnergy) | (sample.late_us == 0 ? 0 : kLate);

    begin(block, context, RecordKind::Sample, tick, flags);
    const auto put_vector = [&](unsigned flag, const std::array<float, 3>& x) {
        if (flags & flag)
            for (const float number : x) put(block, number);
    };
    put_vector(kHand, hand);
    put_vector(kPoint, point);
    put_vector(kForce, force);
    if (flags & kEnergy) put(block, energy);
    put(block, sample.work_us);
    if (flags & kLate) put(block, sample.late_us);
    context.hand = hand;
    context.point = point;
    context.force = force;
    context.energy = energy;
}

void encode_command(std::string& block, CodingContext& context, std::uint64_t tick,
                    const Command& command) {
    const bool is_turned = command.buttons != 0 || command.rotation != Command().rotation;
    begin(block, context, RecordKind::Command, tick, is_turned ? kTurned : 0);
    put(block, static_cast<std::uint8_t>(command.kind));
    for (const std::int32_t number :
         {command.slot, command.body, command.triangle, command.vertex, command.parameter})
        put(block, number);
    for (const double number : command.barycentric) put(block, number);
    for (const double number : command.target) put(block, number);
    put(block, command.duration);
    put(block, command.value);
    if (!is_turned) return;
    for (const double number : command.rotation) put(block, number);
    put(block, command.buttons);
}

void encode_haptic(std::string& block, CodingContext& context, std::uint64_t tick,
                   const HapticRecord& haptic) {
    begin(block, context, RecordKind::Haptic, tick);
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < HapticRecord::kNumbers; ++i)
        if (!is_same(haptic.numbers[i], context.haptic.numbers[i]))
            different |= std::uint64_t{1} << i;
    put(block, different);
    for (std::size_t i = 0; i < HapticRecord::kNumbers; ++i)
        if (different >> i & 1) put(block, haptic.numbers[i]);
    put_varint(block, haptic.violations - context.haptic.violations);
    put_varint(block, haptic.buttons);
    put_varint(block, zigzag(static_cast<std::uint64_t>(std::int64_t{haptic.num_contacts})));
    put(block, haptic.device_status);
    put(block, haptic.status);
    context.haptic = haptic;
}

void encode_state(std::string& block, CodingContext& context, std::uint64_t tick, int place,
                  std::span<const double> state) {
    begin(block, context, RecordKind::State, tick);
    put_varint(block, static_cast<std::uint64_t>(place));
    if (!state.empty())
        block.append(reinterpret_cast<const char*>(state.data()), state.size_bytes());
}

bool RecordDecoder::get(void* to, std::size_t size) noexcept {
    if (rest_.size() < size) return false;
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
}

bool RecordDecoder::get_varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        std::uint8_t byte = 0;
        if (!get(&byte, 1)) return false;
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

std::optional<RecordKind> RecordDecoder::next() noexcept {
    std::uint8_t first = 0;
    if (!get(&first, 1)) return {};
    const unsigned code = first & kKindMask;
    const auto kind = code == 0 ? RecordKind::Haptic : static_cast<RecordKind>(code);
    flags_ = first;
    std::uint64_t extra = 0;
    if ((flags_ & kTickGiven) && !get_varint(extra)) return {};
    context_.tick += usual_step(kind) + unzigzag(extra);
    return kind;
}

bool RecordDecoder::sample(TickSample& sample) noexcept {
    bool is_whole = true;
    const auto get_vector = [&](unsigned flag, std::array<float, 3>& x) {
        if (flags_ & flag) is_whole = is_whole && get(x.data(), sizeof x);
        return std::array<double, 3>{x[0], x[1], x[2]};
    };
    sample.tick = context_.tick;
    sample.time = static_cast<double>(context_.tick) / rate_;
    sample.hand = get_vector(kHand, context_.hand);
    sample.point = get_vector(kPoint, context_.point);
    sample.force = get_vector(kForce, context_.force);
    if (flags_ & kEnergy) is_whole = is_whole && get(&context_.energy, sizeof context_.energy);
    sample.energy = context_.energy;
    is_whole = is_whole && get(&sample.work_us, sizeof sample.work_us);
    sample.late_us = 0;
    return is_whole && (!(flags_ & kLate) || get(&sample.late_us, sizeof sample.late_us));
}

bool RecordDecoder::command(Command& command) noexcept {
    std::uint8_t kind = 0;
    bool is_whole = get(&kind, 1) && kind <= static_cast<std::uint8_t>(Command::Kind::Exchange);
    command.kind = is_whole ? static_cast<Command::Kind>(kind) : Command::Kind::Release;
    for (std::int32_t* number :
         {&command.slot, &command.body, &command.triangle, &command.vertex, &command.parameter})
        is_whole = is_whole && get(number, sizeof *number);
    return is_whole && get(command.barycentric.data(), sizeof command.barycentric) &&
           get(command.target.data(), sizeof command.target) &&
           get(&command.duration, sizeof command.duration) &&
           get(&command.value, sizeof command.value) &&
           (!(flags_ & kTurned) || (get(command.rotation.data(), sizeof command.rotation) &&
                                    get(&command.buttons, sizeof command.buttons)));
}

bool RecordDecoder::haptic(HapticRecord& haptic) noexcept {
    haptic = context_.haptic;
    std::uint64_t different = 0, violations = 0, buttons = 0, contacts = 0;
    if (!get(&different, sizeof different) || different >> HapticRecord::kNumbers != 0)
        return false;
    for (std::size_t i = 0; i < HapticRecord::kNumbers; ++i)
        if (different >> i & 1 && !get(&haptic.numbers[i], sizeof(double))) return false;
    if (!get_varint(violations) || !get_varint(buttons) || !get_varint(contacts) ||
        !get(&haptic.device_status, 1) || !get(&haptic.status, 1))
        return false;
    haptic.violations += violations;
    haptic.buttons = static_cast<std::uint32_t>(buttons);
    haptic.num_contacts = static_cast<std::int32_t>(unzigzag(contacts));
    context_.haptic = haptic;
    return true;
}

bool RecordDecoder::state_place(std::uint64_t& place) noexcept { return get_varint(place); }

bool RecordDecoder::state(std::span<double> state) noexcept {
    return get(state.data(), state.size_bytes());
}

}  // namespace pliant
