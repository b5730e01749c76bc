#pragma once

#include "scene/touching_sphere.h"

namespace pliant {

/// The bodies' end of a proxy whose hand is in another loop: ticks the proxy and tells the planes
/// that hold it, docs/scene.md section "Proxy in a hand".
class LedSphere final : public BodiesEnd, public BoxReader<ProxyHandLetter> {
public:
    LedSphere(std::shared_ptr<TouchingSphere> sphere, std::shared_ptr<ProxyExchange> exchange);

    [[nodiscard]] LetterReader& letters() noexcept override { return *this; }
    void begin_step(double dt) noexcept override;
    void end_step() noexcept override {}
    void reset() noexcept override;

private:
    void read(const ProxyHandLetter& letter) noexcept override { hand_ = letter; }

    std::shared_ptr<TouchingSphere> sphere_;
    std::shared_ptr<ProxyExchange> exchange_;
    ProxyHandLetter hand_;  ///< tick 0: there is none yet
    ProxyPlanesLetter letter_;
};

}  // namespace pliant
