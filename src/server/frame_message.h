#pragma once

#include "pliant/net/web_server.h"
#include "pliant/scene/world.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace pliant {

// Binary messages, docs/server.md section "Messages of the server".

/// What the page gets of a body in every frame.
enum class StreamEncoding {
    Pose,       ///< 7 numbers
    Reduced,    ///< pose and q: the page has the shapes
    Positions,  ///< of all vertices, in the world
};

/// Where a body's numbers come from and how they are sent.
struct BodyStream {
    StreamEncoding encoding = StreamEncoding::Pose;
    int asset = 0;
    int rank = 0;
    int loop = 0;
    std::size_t loop_offset = 0;  ///< of its display state in LoopFrame::display
    std::size_t offset = 0;       ///< and in FrameContent::display
    int num_vertices = 0;
    std::shared_ptr<const BodyDisplay> display;
};

/// Numbers that a frame has of the tool in a hand.
inline constexpr std::size_t kHapticFloats = 74;

/// Everything that a frame shows, copied out of what the loops have published.
struct FrameContent {
    double time = 0;  ///< of the haptic loop [s]
    bool is_paused = false;
    std::array<HeldPoint, Command::kMaxSlots> held;
    bool has_tool = false;
    std::array<double, 3> tool_position = {}, tool_target = {}, tool_force = {};
    std::array<float, kHapticFloats> haptics = {};  ///< as they are sent
    std::vector<float> spheres;   ///< numbers of each sphere of a tool of many, as they are sent
    std::vector<float> contacts;  ///< numbers of each contact as they are sent, loop by loop
    std::vector<float> display;   ///< of all bodies, in their order
};
[[nodiscard]] bool operator==(const FrameContent& a, const FrameContent& b) noexcept;

/// Fills `content`, whose memory is used again, from one frame of each loop.
void gather_frame(std::span<const BodyStream> streams, std::span<const LoopFrame* const> loops,
                  bool is_paused, FrameContent& content);

/// Kind 1. `clock` is the server's [s].
[[nodiscard]] SharedBytes encode_frame(std::span<const BodyStream> streams,
                                       const FrameContent& content, std::uint32_t number,
                                       double clock);
/// Kind 2.
[[nodiscard]] SharedBytes encode_samples(int loop, std::span<const TickSample> samples);
/// Kind 3: one message for each body with a simulation mesh, the first ones up to this many bytes
/// in all.
inline constexpr std::size_t kMaxMeshBytes = std::size_t{2} << 20;
[[nodiscard]] std::vector<SharedBytes> encode_mesh_nodes(std::span<const BodyStream> streams,
                                                         const FrameContent& content);
/// Kind 4: one message for each contact of one frame of each loop of the world, the first ones up
/// to this many bytes in all.
inline constexpr std::size_t kMaxMarkBytes = std::size_t{512} << 10;
[[nodiscard]] std::vector<SharedBytes> encode_contact_marks(
    const World& world, std::span<const LoopFrame* const> loops);
/// Kind 5: the triangles that a proxy looked at last. Null: no tool is a proxy.
[[nodiscard]] SharedBytes encode_proxy_triangles(const World& world,
                                                 std::span<const BodyStream> streams,
                                                 const FrameContent& content,
                                                 std::span<const LoopFrame* const> loops);

}  // namespace pliant
