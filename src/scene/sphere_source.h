#pragma once

#include "scene/proxy_source.h"
#include "scene/touching_sphere.h"

namespace pliant {

/// Of a proxy among bodies of the same loop.
[[nodiscard]] std::shared_ptr<ProxySource> make_near_source(std::shared_ptr<TouchingSphere> sphere);
/// Of one among bodies of another loop, whose end is a LedSphere. Throws InputError as PlanePort.
[[nodiscard]] std::shared_ptr<ProxySource> make_far_source(std::shared_ptr<ProxyExchange> exchange,
                                                           const PlanePortOptions& planes,
                                                           double radius,
                                                           const Eigen::Vector3d& start);

}  // namespace pliant
