#include "scene/led_sphere.h"

namespace pliant {

LedSphere::LedSphere(std::shared_ptr<TouchingSphere> sphere,
                     std::shared_ptr<ProxyExchange> exchange)
    : BoxReader(std::shared_ptr<LetterBox<ProxyHandLetter>>(exchange, &exchange->hand)),
      sphere_(std::move(sphere)),
      exchange_(std::move(exchange)) {}

void LedSphere::begin_step(double dt) noexcept {
    if (hand_.tick == 0) return;
    const ProxyState& state = sphere_->tick(hand_.goal.position, hand_.tuning);
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
