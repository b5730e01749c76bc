#include "scene/led_sphere.h"

namespace pliant {

void LedSphere::tell(const ProxyHandLetter& hand, double dt) noexcept {
    const ProxyState& state = touching().tick(hand.goal.position, hand.tuning);
    letter_.round = round();
    letter_.tick += 1;
    letter_.planes.sequence = letter_.tick;
    letter_.planes.time = static_cast<double>(letter_.tick) * dt;
    letter_.planes.num_planes = state.active_planes(letter_.planes.planes);
    letter_.work += touching().work();
    touching().fill(letter_.shown);
    exchange().planes.post(letter_);
}

}  // namespace pliant
