#pragma once

#include "pliant/scene/record_queue.h"
#include "pliant/scene/simulation_loop.h"
#include "scene/haptic_record.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

/// What records of one block are coded relative to; a block starts from the initial values, so that
/// it can be read alone.
struct CodingContext {
    std::uint64_t tick = 0;  ///< of the record before; at the start the block's first tick
    std::array<float, 3> hand = {}, point = {}, force = {};
    float energy = 0;
    HapticRecord haptic = {};
};

// Append one record, docs/scene.md table "Records". `place` is the body's in
// RecordingHeader::bodies.
void encode_sample(std::string& block, CodingContext& context, std::uint64_t tick,
                   const TickSample& sample);
void encode_command(std::string& block, CodingContext& context, std::uint64_t tick,
                    const Command& command);
void encode_haptic(std::string& block, CodingContext& context, std::uint64_t tick,
                   const HapticRecord& haptic);
inline constexpr std::size_t kMaxSmallRecord = 192;  ///< of samples, commands, heads of states
inline constexpr std::size_t kMaxHapticRecord = sizeof(HapticRecord) + 64;
void encode_state(std::string& block, CodingContext& context, std::uint64_t tick, int place,
                  std::span<const double> state);

/// Reads the records of a block one after the other; every read is checked against its end.
class RecordDecoder {
public:
    /// `rate` of the loop [Hz].
    RecordDecoder(std::string_view block, std::uint64_t first_tick, double rate)
        : rest_(block), context_{.tick = first_tick}, rate_(rate) {}

    [[nodiscard]] std::size_t bytes_left() const noexcept { return rest_.size(); }
    /// Kind of the next record, whose tick is then known; nothing for bytes that are no record.
    std::optional<RecordKind> next() noexcept;
    [[nodiscard]] std::uint64_t tick() const noexcept { return context_.tick; }
    // The content of the record that next() announced; false when it is not whole.
    bool sample(TickSample& sample) noexcept;
    bool command(Command& command) noexcept;
    bool haptic(HapticRecord& haptic) noexcept;
    bool state_place(std::uint64_t& place) noexcept;
    bool state(std::span<double> state) noexcept;

private:
    bool get(void* to, std::size_t size) noexcept;
    bool get_varint(std::uint64_t& value) noexcept;
    std::string_view rest_;
    CodingContext context_;
    double rate_;
    unsigned flags_ = 0;
};

}  // namespace pliant
