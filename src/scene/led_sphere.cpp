#include "scene/led_sphere.h"

namespace pliant {

LedSphere::LedSphere(const ProxyInLoop& description)
    : BoxReader(std::shared_ptr<LetterBox<ProxyHandLetter>>(description.exchange,
                                                            &description.exchange->hand)),
      sphere_(description.sphere),
      exchange_(description.exchange) {}

void LedSphere::begin_step(double dt) noexcept {
    if (hand_.tick == 0) return;
    const ProxyState& state = sphere_->tick(hand_.goal, hand_.tuning);
    letter_.round = round();
    letter_.tick += 1;
    letter_.planes.sequence = letter_.tick;
    letter_.planes.time = static_cast<double>(letter_.tick) * dt;
    letter_.planes.num_planes = state.active_planes(letter_.planes.planes);
    sphere_->fill(letter_.shown);
    exchange_->planes.post(letter_);
}

void LedSphere::reset() noexcept {
    sphere_->reset();
    hand_ = {};
    letter_ = {};
}

}  // namespace pliant
