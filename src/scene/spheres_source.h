#pragma once

#include "pliant/haptics/sphere_port.h"
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
class LedSpheres final : public BodiesEnd, public BoxReader<ProxyHandLetter> {
public:
    LedSpheres(std::shared_ptr<TouchingSpheres> spheres, std::shared_ptr<SpheresExchange> exchange);

    [[nodiscard]] LetterReader& letters() noexcept override { return *this; }
    void begin_step(double dt) noexcept override;
    void end_step() noexcept override {}
    void reset() noexcept override;

private:
    void read(const ProxyHandLetter& letter) noexcept override { hand_ = letter; }

    std::shared_ptr<TouchingSpheres> spheres_;
    std::shared_ptr<SpheresExchange> exchange_;
    ProxyHandLetter hand_;  ///< tick 0: there is none yet
    SpheresLetter letter_;
};

}  // namespace pliant
