#include "scene/step_cost.h"

#include "pliant/fem/fem_body.h"
#include "scene/store_words.h"

#include <algorithm>
#include <cstdio>

namespace pliant {
namespace {

/// Of one inner step, one thread: forces and state of an element, and the damping that follows
/// stiffness or strain rate. From docs/fem.md, on a common processor [s].
constexpr double kHexCost = 100e-9, kTetCost = 18e-9, kDampingCost = 110e-9;
/// And of the step itself: contact, sums.
constexpr double kInnerCost = 1e-6;

double step_cost(const FemBody& body, const Damping& damping, double dt) {
    const VolumeMesh& mesh = body.model().mesh();
    const bool is_hex = mesh.kind == ElementKind::Hex8;
    const double element =
        (is_hex ? kHexCost : kTetCost) + (damping.has_stiffness_part() ? kDampingCost : 0);
    return body.inner_steps(dt) * (mesh.num_elements() * element + kInnerCost);
}

}  // namespace

std::vector<std::string> slow_loops(const WorldInMaking& world) {
    std::vector<std::string> found;
    for (const LoopInMaking& loop : world.loops) {
        const double dt = 1 / loop.settings.rate;
        double sum = 0, most = 0;
        const FemBody* worst = nullptr;
        std::string name;
        for (std::size_t i = 0; i < loop.bodies.size(); ++i) {
            const auto* fem = dynamic_cast<const FemBody*>(loop.bodies[i].get());
            if (fem == nullptr) continue;
            const WorldBody& one = world.bodies[static_cast<std::size_t>(loop.body_of_world[i])];
            const auto& source = std::get<FemSource>(
                world.scene.bodies[static_cast<std::size_t>(one.description)].source);
            const double cost = step_cost(*fem, source.damping, dt);
            sum += cost;
            if (cost <= most) continue;
            most = cost;
            worst = fem;
            name = one.name;
        }
        if (!(sum > dt)) continue;
        char text[400];
        std::snprintf(
            text, sizeof text,
            "the loop \"%s\" will not keep its %g Hz: its full FEM bodies need about %.3g ms "
            "for a step of %.3g ms, most of it \"%s\" with %s elements in %s inner steps. "
            "Take a softer or lighter damped material, fewer elements or a lower rate of "
            "this loop",
            loop.settings.name.c_str(), loop.settings.rate, 1e3 * sum, 1e3 * dt, name.c_str(),
            grouped(worst->model().mesh().num_elements()).c_str(),
            grouped(worst->inner_steps(dt)).c_str());
        found.emplace_back(text);
    }
    return found;
}

}  // namespace pliant
