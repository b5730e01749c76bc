#pragma once

#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/scene/held_tool.h"
#include "scene/fem_exchange.h"

namespace pliant {

/// The bodies' end of a tool among full FEM bodies: FemHapticTool, and letters to and from the
/// haptic loop, whose clock it keeps to; docs/scene.md section "Tools among full FEM bodies". One
/// thread at a time; nothing marked noexcept allocates.
class LedProxies {
public:
    /// Throws InputError as FemHapticTool.
    LedProxies(const FemProxies& description, std::vector<RigidBody*> proxies,
               std::vector<const FemBody*> bodies)
        : exchange_(description.exchange),
          tool_(link_, std::move(proxies), std::move(bodies), description.options) {}

    // The hand for the next tick, as SimulationLoop::receive() says.
    std::uint64_t receive() noexcept;
    [[nodiscard]] bool receive(std::uint64_t tick) noexcept;
    /// After a reset: letters of others are not read.
    void set_round(std::uint64_t round) noexcept { round_ = round; }
    void keep() { exchange_->hand.keep(); }

    /// Before the proxies step, and after the bodies did.
    void begin_step(double dt) noexcept;
    void end_step() noexcept;
    /// After the proxies were.
    void reset() noexcept;

private:
    void read(const FemHandLetter& letter) noexcept;
    [[nodiscard]] double clock(double dt) const noexcept;

    std::shared_ptr<FemExchange> exchange_;
    FemHapticLink link_;
    FemHapticTool tool_;
    FemStepsLetter letter_;
    std::uint64_t round_ = 0, num_ticks_ = 0;
    double haptic_time_ = 0;  ///< of the hand that was read last [s]
    double end_ = 0;          ///< of the last step, on the haptic clock [s]
};

}  // namespace pliant
