#pragma once

#include "server/frame_message.h"
#include "server/viewed_world.h"

#include <cstdint>
#include <vector>

namespace pliant {

/// The newest frame of a world, numbered when it shows something new and encoded once for all
/// viewers.
class FrameStream {
public:
    /// Looks at what the loops have published.
    void update(std::span<const BodyStream> streams, ViewedWorld& viewed);
    /// The next update() is new whatever it shows.
    void invalidate() noexcept { is_valid_ = false; }

    /// Grows with every frame that shows something new; 0: none yet.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] const SharedBytes& frame(std::span<const BodyStream> streams, double clock);
    [[nodiscard]] std::span<const SharedBytes> mesh_nodes(std::span<const BodyStream> streams);
    /// Only directly after update(): read from what the loops have published.
    [[nodiscard]] std::span<const SharedBytes> contact_marks(const World& world,
                                                             std::span<const BodyStream> streams);

private:
    FrameContent content_, newer_;
    std::vector<const LoopFrame*> loops_;
    bool is_valid_ = false;
    std::uint32_t number_ = 0;
    SharedBytes frame_;  // null: not encoded yet
    std::vector<SharedBytes> mesh_nodes_, contact_marks_;
    bool has_mesh_nodes_ = false, has_contact_marks_ = false;
};

}  // namespace pliant
