#pragma once

#include "c_api/c_error.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/external_device.h"
#include "pliant/scene/body_watch.h"
#include "pliant/scene/world.h"

#include <memory>
#include <vector>

/// A world with what the C interface adds to it.
struct pliant_world {
    /// Where one body is drawn, and from which numbers of its loop's frame.
    struct Surface {
        std::shared_ptr<const pliant::BodyDisplay> display;
        int loop = 0;
        std::size_t offset = 0, size = 0;  ///< in LoopFrame::display
        std::vector<float> positions, normals;
    };

    pliant_world(pliant::World made, std::shared_ptr<pliant::ExternalHandle> moved);

    pliant::World world;
    std::shared_ptr<pliant::ExternalHandle> handle;
    pliant_tool_kind tool_kind = PLIANT_TOOL_NONE;
    int tool_loop = 0;
    bool is_holding = false;  ///< a vertex, with pliant_grab()
    int held_loop = 0;        ///< whose body it holds
    pliant::TickHistogram ticks;
    std::vector<std::unique_ptr<pliant::TripleBuffer<pliant::LoopFrame>>> frames;  ///< of loops
    mutable std::vector<pliant::LoopFrame> counts;  ///< of loops, for statistics
    std::vector<Surface> surfaces;                  ///< of bodies
    mutable std::optional<pliant::BodyWatch> watch;  ///< for reports
    std::size_t state_size = 0;
};

namespace pliant::c_api {

inline std::int32_t num_bodies(const pliant_world& w) noexcept {
    return static_cast<std::int32_t>(w.world.bodies().size());
}
/// Null: no such body, and that is said.
[[nodiscard]] const WorldBody* find_body(const char* function, const pliant_world* world,
                                         std::int32_t body) noexcept;
/// Likewise.
[[nodiscard]] Body* find_vertex(const char* function, pliant_world* world, std::int32_t body,
                                std::int32_t vertex) noexcept;
/// False, and said: not finite.
[[nodiscard]] bool are_finite(const char* function, const char* what, const double* x,
                              int count) noexcept;
void publish(pliant_world& world) noexcept;

}  // namespace pliant::c_api
