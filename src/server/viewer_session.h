#pragma once

#include "pliant/net/web_server.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace pliant {

/// What one viewer has been sent and has drawn. Browsers buffer without limit, so the server
/// counts: at most two frames are on their way, and what is sent beside them is bounded until the
/// viewer has drawn another one. Knows nothing of sockets.
class ViewerSession {
public:
    /// False: the message was not taken.
    using Send = std::function<bool(const SharedBytes& message, bool is_text)>;

    static constexpr int kMaxInFlight = 2;
    static constexpr double kFrameInterval = 1.0 / 60;                      ///< [s]
    static constexpr std::size_t kMaxBytesBeside = std::size_t{256} << 10;  ///< between two answers

    explicit ViewerSession(Send send) : send_(std::move(send)) {}

    /// Whether the newest frame should be looked at for it.
    [[nodiscard]] bool may_want_frame(double now) const noexcept;
    /// Whether the newest frame should be sent: it is new, and it is its turn or the answer to what
    /// the viewer did.
    [[nodiscard]] bool wants_frame(std::uint32_t newest, double now) const noexcept;
    /// With what belongs to it. `number` grows with every frame that shows something new.
    void send_frame(std::uint32_t number, const SharedBytes& frame,
                    std::span<const SharedBytes> beside, double now);
    /// Of a frame and those before it; unknown numbers are ignored.
    void acknowledge(std::uint32_t number) noexcept;
    /// The first frame after `newest` shows what the viewer did: it need not wait for its turn.
    void hurry(std::uint32_t newest) noexcept;
    /// After another scene was opened: nothing that was sent before counts.
    void forget_frames() noexcept;

    /// Samples and statistics: dropped while the viewer is behind.
    void send_beside(const SharedBytes& message, bool is_text);
    /// What must not be lost.
    void send_text(const SharedBytes& message) { send_(message, true); }

    bool shows_mesh = false, shows_contacts = false;

private:
    Send send_;
    std::array<std::uint32_t, kMaxInFlight> in_flight_ = {};  // the oldest first
    int num_in_flight_ = 0;
    std::uint32_t last_frame_ = 0;
    double next_due_ = 0;
    bool is_hurried_ = false;
    std::uint32_t hurried_after_ = 0;
    std::size_t bytes_beside_ = 0;
};

}  // namespace pliant
