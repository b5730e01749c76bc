#pragma once

#include "pliant/body/body.h"
#include "pliant/core/pose.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace pliant {

/// What a hand does to a world between two ticks. Together with the scene, the commands and the
/// ticks they came at determine everything that happens.
struct Command {
    enum class Kind : std::uint8_t {
        Grab,          ///< spring between a surface point and `target`
        Poke,          ///< pushes a surface point inwards with `value` [N]; 0: the scene's force
        Drag,          ///< moves the target of a grab
        Release,       ///< of a grab or poke
        MoveTool,      ///< to `target`, a tool in a hand also to `rotation` with `buttons`
        SetParameter,  ///< World::parameters()[parameter] = value
        Reset,         ///< everything but parameters back to the start
        Exchange,      ///< in recordings: a loop had seen tick `value` of the other one of its tool
    };
    static constexpr int kMaxSlots = 4;  ///< things held at once

    Kind kind = Kind::Release;
    std::int32_t slot = 0;
    std::int32_t body = -1;  ///< of World::bodies()
    std::int32_t triangle = -1, vertex = -1;
    std::int32_t parameter = -1;
    std::array<double, 3> barycentric = {}, target = {};
    double duration = 0;  ///< the target moves there evenly in this time [s]
    double value = 0;
    std::array<double, 4> rotation = {1, 0, 0, 0};  ///< w, x, y, z
    std::uint32_t buttons = 0;                      ///< bit i: button i is down
};
static_assert(std::is_trivially_copyable_v<Command>);

}  // namespace pliant
