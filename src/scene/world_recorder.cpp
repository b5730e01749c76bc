#include "pliant/scene/recording.h"
#include "scene/haptic_record.h"

namespace pliant {

WorldRecorder::WorldRecorder(const std::filesystem::path& path, const World& world,
                             const RecordingHeader& header)
    : writer_(path, header), bodies_(header.bodies) {
    for (int loop = 0; loop < world.num_loops(); ++loop) add_states(world, loop);
}

void WorldRecorder::add_tick(const World& world, int loop, double work_us) {
    TickSample sample = world.loop(loop).sample();
    sample.work_us = static_cast<float>(work_us);
    writer_.add(loop, RecordKind::Sample, world.elapsed_ticks(loop),
                std::as_bytes(std::span(&sample, 1)));
    if (const HapticTick* const tick = world.loop(loop).haptic_tick()) {
        const HapticRecord haptic = to_record(*tick);
        writer_.add(loop, RecordKind::Haptic, world.elapsed_ticks(loop),
                    std::as_bytes(std::span(&haptic, 1)));
    }
    add_states(world, loop);
}

void WorldRecorder::add_states(const World& world, int loop) {
    const std::uint64_t ticks = world.elapsed_ticks(loop);
    for (const RecordingHeader::RecordedBody& recorded : bodies_) {
        if (recorded.loop != loop || ticks % static_cast<std::uint64_t>(recorded.every) != 0)
            continue;
        const std::int32_t head[2] = {recorded.body, 0};
        std::vector<double> state(static_cast<std::size_t>(recorded.state_size));
        world.body(recorded.body).save_state(state);
        const auto numbers = std::as_bytes(std::span(state));
        const auto before = std::as_bytes(std::span(head));
        bytes_.assign(before.begin(), before.end());
        bytes_.insert(bytes_.end(), numbers.begin(), numbers.end());
        writer_.add(loop, RecordKind::State, ticks, bytes_);
    }
}

}  // namespace pliant
