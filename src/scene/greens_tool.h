#pragma once

#include "pliant/scene/greens_touch.h"
#include "scene/port_tool.h"

namespace pliant {

/// A tool in a hand that touches a body with Green's functions at its origin: device, point
/// contact, force, one after the other in the same tick. Of the gains, the stiffness is the most
/// that the device may show, docs/greens.md eq. (E4).
class GreensTool final : public PortTool {
public:
    /// `points` has the body as one of its own. Throws InputError as DevicePort.
    GreensTool(HeldTool& held, RigidBody& body, GreensPoints& points);

    void tick(double now, double dt) noexcept override;

private:
    [[nodiscard]] bool is_pulling() const noexcept;

    GreensPoints& points_;
    int clutch_button_, deadman_button_;
};

}  // namespace pliant
