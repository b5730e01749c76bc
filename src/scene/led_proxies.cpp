#include "scene/led_proxies.h"

#include <algorithm>

namespace pliant {
namespace {

/// Steps by which the bodies may be ahead of a haptic loop that stands still, before they begin
/// anew when it goes on; the link holds twice as many.
constexpr double kFarthestAhead = 8;

/// Calls `work` with the tool, whichever it is.
template <class Tool, class Work>
void with_tool(Tool& tool, const Work& work) noexcept {
    if (auto* const fem = std::get_if<FemHapticTool>(&tool)) work(*fem);
    if (auto* const solver = std::get_if<SolverHapticTool>(&tool)) work(*solver);
}

}  // namespace

void LedProxies::read(const FemHandLetter& letter) noexcept {
    haptic_time_ = letter.time;
    link_.hand.write_slot() = letter.hand;
    link_.hand.publish();
}

/// When the step begins, docs/scene.md eq. (7).
double LedProxies::clock(double dt) const noexcept {
    const double earliest = haptic_time_, latest = haptic_time_ + dt;
    if (end_ > latest + kFarthestAhead * dt) return earliest;
    // time goes on, by half a step at least
    return std::max(std::clamp(end_, earliest, latest), end_ - 0.5 * dt);
}

void LedProxies::begin_step(double dt) noexcept {
    const double now = clock(dt);
    end_ = now + dt;
    with_tool(tool_, [&](auto& tool) { static_cast<void>(tool.begin_step(now, dt)); });
}

void LedProxies::end_step() noexcept {
    with_tool(tool_, [](auto& tool) { tool.end_step(); });
    link_.steps.update();
    letter_.round = round();
    letter_.tick = ++num_ticks_;
    letter_.steps = link_.steps.read_slot();
    exchange_->steps.post(letter_);
}

void LedProxies::reset() noexcept {
    with_tool(tool_, [](auto& tool) { tool.reset(); });
    haptic_time_ = end_ = 0;
    link_.hand.write_slot() = {};
    link_.hand.publish();
    num_ticks_ = 0;
}

}  // namespace pliant
