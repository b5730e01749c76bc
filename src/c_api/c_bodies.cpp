#include "c_api/c_world.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace pliant;
using namespace pliant::c_api;

namespace pliant::c_api {

const WorldBody* find_body(const char* function, const pliant_world* world,
                           std::int32_t body) noexcept {
    if (!world) {
        fail_null(function, "world");
        return nullptr;
    }
    if (body >= 0 && body < num_bodies(*world))
        return &world->world.bodies()[static_cast<std::size_t>(body)];
    fail(PLIANT_BAD_ARGUMENT, "%s: body = %d (expected 0 to %d)", function, static_cast<int>(body),
         static_cast<int>(num_bodies(*world) - 1));
    return nullptr;
}

Body* find_vertex(const char* function, pliant_world* world, std::int32_t body,
                  std::int32_t vertex) noexcept {
    const WorldBody* const entry = find_body(function, world, body);
    if (!entry) return nullptr;
    Body& found = world->world.loop(entry->loop).body(entry->place);
    const int count = found.surface().num_vertices();
    if (vertex >= 0 && vertex < count) return &found;
    fail(PLIANT_BAD_ARGUMENT, "%s: vertex = %d (expected 0 to %d, those of \"%s\")", function,
         static_cast<int>(vertex), count - 1, entry->name.c_str());
    return nullptr;
}

namespace {

Command hand_command(Command::Kind kind, const double* target) noexcept {
    Command command{.kind = kind};
    if (target) std::copy_n(target, 3, command.target.begin());
    return command;
}

}  // namespace
}  // namespace pliant::c_api

extern "C" {

int32_t pliant_num_bodies(const pliant_world* world) { return world ? num_bodies(*world) : 0; }

const char* pliant_body_name(const pliant_world* world, int32_t body) {
    const WorldBody* const found = find_body("pliant_body_name", world, body);
    return found ? found->name.c_str() : nullptr;
}

const char* pliant_body_kind(const pliant_world* world, int32_t body) {
    // kinds are literals
    return find_body("pliant_body_kind", world, body) ? world->world.body(body).kind().data()
                                                      : nullptr;
}

int32_t pliant_find_body(const pliant_world* world, const char* name) {
    if (!world || !name) return -1;
    const auto& bodies = world->world.bodies();
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].name == name) return static_cast<int32_t>(i);
    return -1;
}

pliant_status pliant_get_body_report(const pliant_world* world, int32_t body,
                                     pliant_body_report* report) {
    constexpr const char* kFunction = "pliant_get_body_report";
    const WorldBody* const found = find_body(kFunction, world, body);
    if (!found) return PLIANT_BAD_ARGUMENT;
    if (!report) return fail_null(kFunction, "report");
    LoopFrame& frame = world->counts[static_cast<std::size_t>(found->loop)];
    world->world.loop(found->loop).fill(frame);
    const BodyShape shape = world->watch->shape(body, frame);
    const ShownSteps& steps = frame.steps[static_cast<std::size_t>(found->place)];
    *report = {.steps = {},
               .volume = shape.volume,
               .extent = shape.extent,
               .distance = world->watch->distance(body, shape),
               .smallest_det_f = steps.smallest_det_F,
               .condition = static_cast<int32_t>(world->watch->condition(body, shape)),
               .reserved = 0};
    static_assert(std::size(pliant_body_report{}.steps) == kNumStepStatuses);
    std::copy_n(steps.counts.begin(), kNumStepStatuses, report->steps);
    return PLIANT_OK;
}

pliant_status pliant_get_surface(const pliant_world* world, int32_t body, pliant_surface* surface) {
    constexpr const char* kFunction = "pliant_get_surface";
    if (!find_body(kFunction, world, body)) return PLIANT_BAD_ARGUMENT;
    if (!surface) return fail_null(kFunction, "surface");
    const SurfaceMesh& mesh = world->world.body(body).surface();
    const pliant_world::Surface& shown = world->surfaces[static_cast<std::size_t>(body)];
    static_assert(sizeof(Triangle) == 3 * sizeof(int32_t));
    *surface = {shown.positions.data(), shown.normals.data(),
                mesh.triangles.empty() ? nullptr : mesh.triangles.front().data(),
                mesh.num_vertices(), mesh.num_triangles()};
    return PLIANT_OK;
}

pliant_status pliant_publish(pliant_world* world) {
    if (!world) return fail_null("pliant_publish", "world");
    publish(*world);
    return PLIANT_OK;
}

pliant_status pliant_update_positions(pliant_world* world) {
    if (!world) return fail_null("pliant_update_positions", "world");
    for (const auto& frames : world->frames) frames->update();
    for (pliant_world::Surface& surface : world->surfaces) {
        const std::span<const float> all =
            world->frames[static_cast<std::size_t>(surface.loop)]->read_slot().display;
        surface.display->positions(all.subspan(surface.offset, surface.size), surface.positions);
    }
    return PLIANT_OK;
}

pliant_status pliant_update_normals(pliant_world* world) {
    if (!world) return fail_null("pliant_update_normals", "world");
    for (pliant_world::Surface& surface : world->surfaces)
        surface.display->normals(surface.positions, surface.normals);
    return PLIANT_OK;
}

pliant_status pliant_get_vertex(const pliant_world* world, int32_t body, int32_t vertex,
                                double position[3]) {
    constexpr const char* kFunction = "pliant_get_vertex";
    // looked at only
    const Body* const found =
        find_vertex(kFunction, const_cast<pliant_world*>(world), body, vertex);
    if (!found) return PLIANT_BAD_ARGUMENT;
    if (!position) return fail_null(kFunction, "position");
    const Eigen::Vector3d x = found->position(SurfacePoint::at_vertex(vertex));
    std::copy_n(x.data(), 3, position);
    return PLIANT_OK;
}

pliant_status pliant_add_force(pliant_world* world, int32_t body, int32_t vertex,
                               const double force[3]) {
    constexpr const char* kFunction = "pliant_add_force";
    Body* const found = find_vertex(kFunction, world, body, vertex);
    if (!found || !are_finite(kFunction, "force", force, 3)) return PLIANT_BAD_ARGUMENT;
    found->add_force(SurfacePoint::at_vertex(vertex), {force[0], force[1], force[2]});
    return PLIANT_OK;
}

pliant_status pliant_grab(pliant_world* world, int32_t body, int32_t vertex,
                          const double target[3]) {
    constexpr const char* kFunction = "pliant_grab";
    if (!find_vertex(kFunction, world, body, vertex) || !are_finite(kFunction, "target", target, 3))
        return PLIANT_BAD_ARGUMENT;
    world->held_loop = find_body(kFunction, world, body)->loop;
    Command command = hand_command(Command::Kind::Grab, target);
    command.body = body;
    command.vertex = vertex;
    world->world.apply(command);
    world->is_holding = true;
    return PLIANT_OK;
}

pliant_status pliant_drag(pliant_world* world, const double target[3]) {
    constexpr const char* kFunction = "pliant_drag";
    if (!world) return fail_null(kFunction, "world");
    if (!are_finite(kFunction, "target", target, 3)) return PLIANT_BAD_ARGUMENT;
    if (!world->is_holding)
        return fail(PLIANT_BAD_ARGUMENT, "%s: nothing is held; call pliant_grab() first",
                    kFunction);
    world->world.apply(hand_command(Command::Kind::Drag, target));
    return PLIANT_OK;
}

pliant_status pliant_let_go(pliant_world* world) {
    if (!world) return fail_null("pliant_let_go", "world");
    world->world.apply(hand_command(Command::Kind::Release, nullptr));
    world->is_holding = false;
    return PLIANT_OK;
}

pliant_status pliant_get_pull(const pliant_world* world, double force[3]) {
    constexpr const char* kFunction = "pliant_get_pull";
    if (!world) return fail_null(kFunction, "world");
    if (!force) return fail_null(kFunction, "force");
    std::fill_n(force, 3, 0.0);
    if (!world->is_holding) return PLIANT_OK;
    std::copy_n(world->world.loop(world->held_loop).sample().force.begin(), 3, force);
    return PLIANT_OK;
}

}  // extern "C"
