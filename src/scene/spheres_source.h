#pragma once

#include "pliant/haptics/sphere_port.h"
#include "scene/led_end.h"
#include "scene/proxy_source.h"
#include "scene/touching_spheres.h"

namespace pliant {

/// Of a tool of many spheres among bodies of the same loop.
[[nodiscard]] std::shared_ptr<ProxySource> make_near_source(
    std::shared_ptr<TouchingSpheres> spheres);
/// Of one among bodies of another loop, whose end is a LedSpheres with the same `spheres`. Throws
/// InputError as SpherePort.
[[nodiscard]] std::shared_ptr<ProxySource> make_far_source(
    std::shared_ptr<SpheresExchange> exchange, const TouchingSpheres& spheres,
    const SpherePortOptions& options);

/// The bodies' end of such a tool: ticks it and tells where its spheres are and which are held,
/// docs/scene.md section "Tool of many spheres".
class LedSpheres final : public LedEnd<TouchingSpheres, SpheresExchange> {
public:
    LedSpheres(std::shared_ptr<TouchingSpheres> spheres, std::shared_ptr<SpheresExchange> exchange);

private:
    void tell(const ProxyHandLetter& hand, double dt) noexcept override;
    void begin_anew() noexcept override {
        letter_.tick = 0;
        letter_.work = 0;
    }

    SpheresLetter letter_;
};

}  // namespace pliant
