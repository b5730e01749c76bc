#pragma once

#include "scene/led_end.h"
#include "scene/touching_sphere.h"

namespace pliant {

/// The bodies' end of a proxy whose hand is in another loop: ticks the proxy and tells the planes
/// that hold it, docs/scene.md section "Proxy in a hand".
class LedSphere final : public LedEnd<TouchingSphere, ProxyExchange> {
public:
    using LedEnd::LedEnd;

private:
    void tell(const ProxyHandLetter& hand, double dt) noexcept override;
    void begin_anew() noexcept override { letter_ = {}; }

    ProxyPlanesLetter letter_;
};

}  // namespace pliant
