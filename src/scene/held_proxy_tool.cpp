#include "scene/held_proxy_tool.h"

#include "pliant/core/error.h"
#include "pliant/geometry/surface_query.h"
#include "scene/led_sphere.h"
#include "scene/sphere_source.h"
#include "scene/spheres_source.h"

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

/// Surfaces of bodies that move are closed: inside is where the winding number says so. `starts`
/// are the middles of one sphere or of many.
void refuse_inside(const std::vector<TouchedBody>& bodies, const std::string& tool,
                   const std::vector<Vector3d>& starts) {
    for (const TouchedBody& one : bodies) {
        SurfaceMesh now = one.body->surface();
        for (int v = 0; v < now.num_vertices(); ++v)
            now.vertices[static_cast<std::size_t>(v)] =
                one.body->position(SurfacePoint::at_vertex(v));
        const SurfaceQuery query(now);
        for (std::size_t i = 0; i < starts.size(); ++i) {
            if (std::abs(query.winding_number(starts[i])) < 0.5) continue;
            char deep[40];
            std::snprintf(deep, sizeof deep, "%.3g", query.closest(starts[i]).distance);
            const std::string what =
                starts.size() == 1 ? "a proxy that starts outside of all it touches; its middle is "
                                   : "spheres that start outside of all they touch; the middle of "
                                     "sphere " +
                                         std::to_string(i) + " is ";
            throw InputError("", "body", "\"" + tool + "\"",
                             what + deep + " m inside of \"" + one.name +
                                 "\": move its pose, or the start of its motion");
        }
    }
}

/// Says which body is not closed.
void refuse_open(const std::vector<TouchedBody>& bodies, const std::string& key) {
    for (std::size_t i = 0; i < bodies.size(); ++i) try {
            (void)make_moving_surface(*bodies[i].body);
        } catch (const InputError& error) {
            throw InputError("", key + ".bodies[" + std::to_string(i) + "] = \"" + bodies[i].name +
                                     "\": " + error.what());
        }
}

/// Device, scale and gains; `stiffness` as chosen, or 0.
HeldTool hold(const HeldToolDescription& tool, const DeviceDescription& device,
              const ProxySurroundings& around, const ProxyOptions& options, double stiffness,
              const Bearing& bearing) {
    double largest = 0;
    for (const TouchedBody& one : around.bodies) largest = std::max(largest, one.body->size());
    HeldTool held = make_held_tool(tool, device,
                                   {.surface = around.body.surface(),
                                    .start = around.body.motion().pose,
                                    .motion = around.motion,
                                    .cell = options.sphere.radius,
                                    .rate = around.rate,
                                    .use = around.use,
                                    .room = largest,
                                    .stiffness = stiffness,
                                    .bearable_stiffness = bearing.stiffness});
    held.proxy.emplace();
    HeldProxy& proxy = *held.proxy;
    proxy.options = options;
    proxy.bearable = bearing.stiffness;
    if (bearing.stiffness > 0) {
        char reason[200];
        std::snprintf(reason, sizeof reason,
                      "\"%.40s\" bears %.3g N/m at %g steps a second; beyond it gets a part of the "
                      "force only",
                      bearing.name.c_str(), bearing.stiffness, around.bodies_rate);
        proxy.bearing_reason = reason;
        if (held.gains.stiffness > 1.001 * bearing.stiffness)
            held.warning += (held.warning.empty() ? "" : "; ") + proxy.bearing_reason;
    }
    return held;
}

/// As the scene says, in the axes of the body.
ParticleLayout spheres_of(const SpheresToolDescription& wanted, const RigidBody& body) {
    if (!wanted.layout.empty()) return load_layout(wanted.layout);
    try {
        return place_spheres(body.surface(), wanted.placement);
    } catch (const InputError& error) {
        throw InputError("", "spheres: " + std::string(error.what()));
    }
}

}  // namespace

ProxyToolEnds make_proxy_tool(const HeldToolDescription& description,
                              const DeviceDescription& device, const ProxySurroundings& around) {
    const ProxyToolDescription& wanted = *description.proxy;
    const Vector3d start = around.body.motion().pose.position;
    refuse_inside(around.bodies, description.body, {start});
    refuse_open(around.bodies, "proxy");
    const Bearing bearing = least_bearing(around.bodies, wanted.options, around.bodies_rate);
    HeldToolDescription tool = description;
    tool.grasp = Vector3d::Zero();
    ProxyToolEnds ends;
    ends.held = hold(tool, device, around, wanted.options, wanted.stiffness, bearing);
    HeldProxy& proxy = *ends.held.proxy;
    proxy.radius = wanted.options.sphere.radius;
    auto sphere =
        std::make_shared<TouchingSphere>(around.bodies, wanted.options, start, bearing.stiffness);
    if (around.is_one_loop) {
        proxy.source = make_near_source(std::move(sphere));
        return ends;
    }
    auto exchange = std::make_shared<ProxyExchange>();
    proxy.source = make_far_source(exchange, wanted.planes, proxy.radius, start);
    ends.bodies = std::make_shared<LedSphere>(std::move(sphere), std::move(exchange));
    return ends;
}

ProxyToolEnds make_spheres_tool(const HeldToolDescription& description,
                                const DeviceDescription& device, const ProxySurroundings& around) {
    const SpheresToolDescription& wanted = *description.spheres;
    const Pose& body = around.body.motion().pose;
    const ParticleLayout spheres = spheres_of(wanted, around.body);
    std::vector<Vector3d> starts;
    double least_radius = 1e9;
    for (const Particle& one : spheres.particles) {
        starts.push_back(body.to_world(one.position));
        least_radius = std::min(least_radius, one.radii.minCoeff());
    }
    refuse_inside(around.bodies, description.body, starts);
    refuse_open(around.bodies, "spheres");

    // the mask of the smallest sphere reaches least
    SphereToolOptions options = wanted.options;
    options.sphere.sphere.radius = least_radius;
    const Bearing bearing = least_bearing(around.bodies, options.sphere, around.bodies_rate);
    ProxyToolEnds ends;
    ends.held = hold(description, device, around, options.sphere, wanted.stiffness, bearing);
    options.centre = ends.held.options.grasp;
    // turns are no stiffer than shifts make them, docs/scene.md eq. (9)
    const double lever = lever_of(spheres, options);
    CouplingGains& gains = ends.held.gains;
    gains.angular_stiffness =
        std::min(gains.angular_stiffness,
                 description.angular_stiffness_factor * gains.stiffness * lever * lever);

    auto tool = std::make_shared<TouchingSpheres>(
        around.bodies, spheres, options, Pose{body.to_world(options.centre), body.rotation},
        bearing.stiffness);
    HeldProxy& proxy = *ends.held.proxy;
    proxy.bends = !options.is_rigid;
    for (const Particle& one : spheres.particles)
        if (proxy.spheres.size() < std::size_t{ShownProxy::kMaxSpheres})
            proxy.spheres.push_back({one.position, one.radii[0]});
    if (around.is_one_loop) {
        proxy.source = make_near_source(std::move(tool));
        return ends;
    }
    auto exchange = std::make_shared<SpheresExchange>(spheres.num_particles());
    proxy.source = make_far_source(exchange, *tool, wanted.port);
    ends.bodies = std::make_shared<LedSpheres>(std::move(tool), std::move(exchange));
    return ends;
}

}  // namespace pliant
