#include "scene/held_proxy_tool.h"

#include "pliant/core/error.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// κ of docs/scene.md eq. (8), as that of pulls.
constexpr double kProxySpring = 0.2;
/// Vertices of a body whose mobility is looked at, evenly spread.
constexpr int kMobilityVertices = 2000;

/// How easily a force of the proxy at a vertex moves what it is spread over [1/kg].
double spread_mobility(const Body& body, int v, const ProxyOptions& options) {
    const double own = body.mobility(SurfacePoint::at_vertex(v));
    if (options.mask != ForceMask::Smooth) return own;
    // weights of eq. (6) of docs/proxy.md for a sphere that touches the rest surface there
    const double r = options.sphere.radius, reach = options.mask_radius * r;
    const std::vector<Vector3d>& x = body.surface().vertices;
    const Vector3d& centre = x[static_cast<std::size_t>(v)];
    double sum = 0, squares = 0;
    for (const Vector3d& other : x) {
        const double u = ((other - centre).squaredNorm() + r * r) / (reach * reach);
        if (u >= 1) continue;
        sum += (1 - u) * (1 - u);
        squares += std::pow(1 - u, 4);
    }
    return sum > 0 ? own * squares / (sum * sum) : own;
}

struct Bearing {
    double stiffness = 0;  ///< [N/m]; 0: any
    std::string name;      ///< of the body that bears least
};

/// docs/scene.md eq. (8).
Bearing least_bearing(const std::vector<TouchedBody>& bodies, const ProxyOptions& options,
                      double rate) {
    Bearing least;
    for (const TouchedBody& one : bodies) {
        const int count = one.body->surface().num_vertices();
        const int stride = std::max(1, count / kMobilityVertices);
        double mobility = 0;
        for (int v = 0; v < count; v += stride)
            mobility = std::max(mobility, spread_mobility(*one.body, v, options));
        if (!(mobility > 0)) continue;
        const double bearable = kProxySpring * rate * rate / mobility;
        if (least.stiffness > 0 && least.stiffness <= bearable) continue;
        least = {bearable, one.name};
    }
    return least;
}

/// Surfaces of bodies that move are closed: inside is where the winding number says so.
void refuse_inside(const std::vector<TouchedBody>& bodies, const std::string& sphere,
                   const Vector3d& start) {
    for (const TouchedBody& one : bodies) {
        SurfaceMesh now = one.body->surface();
        for (int v = 0; v < now.num_vertices(); ++v)
            now.vertices[static_cast<std::size_t>(v)] =
                one.body->position(SurfacePoint::at_vertex(v));
        const SurfaceQuery query(now);
        if (std::abs(query.winding_number(start)) < 0.5) continue;
        char deep[40];
        std::snprintf(deep, sizeof deep, "%.3g", query.closest(start).distance);
        throw InputError("", "body", "\"" + sphere + "\"",
                         "a proxy that starts outside of all it touches; its middle is " +
                             std::string(deep) + " m inside of \"" + one.name +
                             "\": move its pose, or the start of its motion");
    }
}

std::shared_ptr<TouchingSphere> make_sphere(const ProxySurroundings& around,
                                            const ProxyOptions& options, double bearable) {
    // which body is not closed
    for (std::size_t i = 0; i < around.bodies.size(); ++i) try {
            (void)make_moving_surface(*around.bodies[i].body);
        } catch (const InputError& error) {
            throw InputError("", "proxy.bodies[" + std::to_string(i) + "] = \"" +
                                     around.bodies[i].name + "\": " + error.what());
        }
    return std::make_shared<TouchingSphere>(around.bodies, options,
                                            around.sphere.motion().pose.position, bearable);
}

}  // namespace

ProxyToolEnds make_proxy_tool(const HeldToolDescription& description,
                              const DeviceDescription& device, const ProxySurroundings& around) {
    const ProxyToolDescription& wanted = *description.proxy;
    refuse_inside(around.bodies, description.body, around.sphere.motion().pose.position);
    const Bearing bearing = least_bearing(around.bodies, wanted.options, around.bodies_rate);
    double largest = 0;
    for (const TouchedBody& one : around.bodies) largest = std::max(largest, one.body->size());

    HeldToolDescription tool = description;
    tool.grasp = Vector3d::Zero();
    ProxyToolEnds ends;
    ends.held = make_held_tool(tool, device,
                               {.surface = around.sphere.surface(),
                                .start = around.sphere.motion().pose,
                                .motion = around.motion,
                                .cell = wanted.options.sphere.radius,
                                .rate = around.rate,
                                .use = around.use,
                                .room = largest,
                                .stiffness = wanted.stiffness,
                                .bearable_stiffness = bearing.stiffness});
    HeldProxy proxy;
    proxy.options = wanted.options;
    proxy.planes = wanted.planes;
    proxy.bearable = bearing.stiffness;
    if (bearing.stiffness > 0) {
        char reason[200];
        std::snprintf(reason, sizeof reason,
                      "\"%.40s\" bears %.3g N/m at %g steps a second; beyond it gets a part of the "
                      "force only",
                      bearing.name.c_str(), bearing.stiffness, around.bodies_rate);
        proxy.bearing_reason = reason;
        if (ends.held.gains.stiffness > 1.001 * bearing.stiffness && ends.held.warning.empty())
            ends.held.warning = reason;
    }
    auto sphere = make_sphere(around, wanted.options, bearing.stiffness);
    if (around.is_one_loop) {
        proxy.sphere = std::move(sphere);
    } else {
        proxy.exchange = std::make_shared<ProxyExchange>();
        ends.bodies = ProxyInLoop{std::move(sphere), proxy.exchange};
    }
    ends.held.proxy = std::move(proxy);
    return ends;
}

}  // namespace pliant
