#include "scene/held_fem_tool.h"

#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/fem/fem_body.h"
#include "scene/fem_exchange.h"

#include <algorithm>

namespace pliant {
namespace {

using Eigen::Vector3d;

SurfaceMesh placed_surface(SurfaceMesh surface, const Pose& pose) {
    for (Vector3d& x : surface.vertices) x = pose.to_world(x);
    return surface;
}

double shortest_surface_edge(const SurfaceMesh& surface) {
    double shortest = 0;
    for (const auto& triangle : surface.triangles)
        for (std::size_t i = 0; i < 3; ++i) {
            const auto a = static_cast<std::size_t>(triangle[i]);
            const auto b = static_cast<std::size_t>(triangle[(i + 1) % 3]);
            const double edge = (surface.vertices[a] - surface.vertices[b]).norm();
            if (edge > 0 && !(shortest > 0 && shortest < edge)) shortest = edge;
        }
    return shortest;
}

/// The shortest edge on the surfaces of all full FEM bodies [m].
double fem_cell(std::span<const std::unique_ptr<Body>> bodies) {
    double cell = 0;
    for (const auto& body : bodies)
        if (const auto* fem = dynamic_cast<const FemBody*>(body.get())) {
            const double edge = shortest_surface_edge(fem->surface());
            cell = cell > 0 ? std::min(cell, edge) : edge;
        }
    if (!(cell > 0))
        throw InputError("",
                         "there is no full FEM body in the loop of the tool, so that there is "
                         "nothing to feel: add one, or a contact");
    return cell;
}

/// Lowers a gain to what the tool's mass follows; says so after `said`.
void bring_to_mass(double& gain, double followed, const char* name, std::string& said) {
    if (gain <= followed) return;
    const auto text = [](double number) { return JsonWriter().value(number).text(); };
    said += (said.empty() ? "" : "; ") + std::string(name) + " from " + text(gain) + " to " +
            text(followed) + ", which the mass of the tool follows in steps of its bodies; raise " +
            "\"mass\" or leave it out";
    gain = followed;
}

}  // namespace

FemToolEnds make_fem_tool(const HeldToolDescription& description, const DeviceDescription& device,
                          const std::vector<FemProxyBody>& proxies,
                          const FemToolSurroundings& around) {
    const FemToolDescription& wanted = *description.fem;
    FemToolEnds ends;
    HeldFemTool fem;
    fem.exchange = ends.proxies.exchange = std::make_shared<FemExchange>();
    fem.start = proxies[0].body->motion().pose;
    fem.body = proxies[0].number;
    fem.watchdog = wanted.watchdog;
    SurfaceMesh surface = proxies[0].body->surface();
    for (std::size_t i = 0; i < proxies.size(); ++i) {
        ends.proxies.places.push_back(proxies[i].place);
        if (i == 0) continue;
        const Pose offset = fem.start.inverse() * proxies[i].body->motion().pose;
        append(surface, placed_surface(proxies[i].body->surface(), offset));
        fem.parts.push_back({proxies[i].number, offset});
    }

    ends.held = make_held_tool(description, device,
                               {.surface = surface,
                                .start = fem.start,
                                .motion = around.motion,
                                .cell = fem_cell(around.bodies),
                                .rate = around.rate,
                                .use = around.use,
                                .answer_time = around.step});
    ends.held.fem = std::move(fem);
    FemHapticToolOptions& options = ends.proxies.options;
    options.grasp = ends.held.options.grasp;
    options.mass = wanted.mass;
    options.gyration = ends.held.scene.gyration;
    // as fast as a hand moves the handle
    options.max_speed = std::max(options.max_speed, 1 / ends.held.scene.scale);
    return ends;
}

AmongToolEnds make_among_tool(const HeldToolDescription& description,
                              const DeviceDescription& device,
                              const AmongToolSurroundings& around) {
    AmongToolEnds made;
    FemToolEnds& ends = made.ends;
    // the solver has its own contact stiffness: no depth is bounded
    const double cell = 0.01 * bounding_box(around.surface.vertices).diagonal().norm();
    ends.held = make_held_tool(description, device,
                               {.surface = around.surface,
                                .start = around.start,
                                .motion = around.motion,
                                .cell = cell,
                                .rate = around.rate,
                                .use = around.use,
                                .answer_time = around.step});
    HeldFemTool fem;
    fem.exchange = ends.proxies.exchange = std::make_shared<FemExchange>();
    fem.start = around.start;
    fem.watchdog = description.among->watchdog;
    fem.has_depth_bound = false;

    SolverHapticToolOptions options;
    options.grasp = ends.held.options.grasp;
    // as fast as a hand moves the handle
    options.max_speed = std::max(options.max_speed, 1 / ends.held.scene.scale);
    ends.proxies.among = options;
    const double mass = description.among->mass > 0
                            ? description.among->mass
                            : held_mass_for(ends.held.gains.stiffness, around.step);
    const double gyration = ends.held.scene.gyration;
    made.mass = held_mass(mass, gyration, options.grasp);
    fem.followed = followed_stiffness(mass, around.step);
    fem.followed_turning = fem.followed * gyration * gyration;
    CouplingGains& gains = ends.held.gains;
    bring_to_mass(gains.stiffness, fem.followed, "stiffness", ends.held.warning);
    bring_to_mass(gains.angular_stiffness, fem.followed_turning, "angular_stiffness",
                  ends.held.warning);
    ends.held.fem = std::move(fem);
    return made;
}

}  // namespace pliant
