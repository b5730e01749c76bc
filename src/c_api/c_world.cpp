#include "c_api/c_world.h"

#include "pliant/core/version.h"
#include "pliant/scene/scene_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

using namespace pliant;
using namespace pliant::c_api;

pliant_world::pliant_world(World made, std::shared_ptr<ExternalHandle> moved)
    : world(std::move(made)), handle(std::move(moved)), ticks(1e6 * world.loop(0).dt()) {
    for (int l = 0; l < world.num_loops(); ++l) {
        SimulationLoop& loop = world.loop(l);
        if (loop.haptics() || loop.tool()) {
            tool_kind = loop.haptics() ? PLIANT_TOOL_HELD : PLIANT_TOOL_SPHERE;
            tool_loop = l;
        }
        frames.push_back(std::make_unique<TripleBuffer<LoopFrame>>(loop.make_frame()));
        counts.push_back(loop.make_frame());
    }
    surfaces.resize(world.bodies().size());
    for (int l = 0; l < world.num_loops(); ++l) {
        std::size_t offset = 0;
        for (int i = 0; i < world.loop(l).num_bodies(); ++i) {
            const auto body = static_cast<std::size_t>(
                world.loop(l).body_of_world()[static_cast<std::size_t>(i)]);
            Surface& surface = surfaces[body];
            surface.display = world.loop(l).body(i).display();
            surface.loop = l;
            surface.offset = offset;
            surface.size = static_cast<std::size_t>(surface.display->state_size());
            offset += surface.size;
            const std::size_t count = 3 * world.loop(l).body(i).surface().vertices.size();
            surface.positions.resize(count);
            surface.normals.resize(count);
        }
    }
    for (int b = 0; b < num_bodies(*this); ++b)
        state_size += static_cast<std::size_t>(world.body(b).state_size());
    watch.emplace(world);
    for (int b = 0; b < num_bodies(*this); ++b)
        static_cast<void>(watch->shape(
            b, counts[static_cast<std::size_t>(world.bodies()[static_cast<std::size_t>(b)].loop)]));
    publish(*this);
}

namespace pliant::c_api {
namespace {

DeviceCapabilities capabilities_of(const pliant_device& device) {
    DeviceCapabilities can;
    can.workspace = {device.workspace[0], device.workspace[1], device.workspace[2]};
    can.max_force = device.max_force;
    can.max_torque = device.max_torque;
    can.continuous_force = device.continuous_force;
    can.max_stiffness = device.max_stiffness;
    can.max_angular_stiffness = device.max_angular_stiffness;
    can.damping = device.damping;
    can.angular_damping = device.angular_damping;
    can.delay = device.delay;
    can.position_step = device.position_step;
    can.angle_step = device.angle_step;
    return can;
}

/// Those that the scene gives its device; defaults where the hardware would say.
DeviceCapabilities capabilities_of(const DeviceDescription& device) {
    DeviceCapabilities can;
    if (const auto* simulated = std::get_if<SimulatedDescription>(&device))
        can = simulated->model.capabilities;
    if (const auto* network = std::get_if<NetworkDescription>(&device)) can = network->capabilities;
    can.name.clear();
    return can;
}

SceneDescription described(pliant_source source, const std::string& text,
                           const pliant_options& options) {
    if (source == PLIANT_DEMO) return demo_scene(text);
    if (source == PLIANT_TEXT)
        return parse_scene(text, "scene", options.folder ? options.folder : "");
    return std::filesystem::path(text).extension() == ".pliant" ? scene_of_model(text)
                                                                : load_scene(text);
}

std::unique_ptr<pliant_world> opened(pliant_source source, const char* text,
                                     const pliant_options& options) {
    SceneDescription scene = described(source, text, options);
    if (scene.held_tool && options.scale > 0) scene.held_tool->scale = options.scale;
    const auto handle = std::make_shared<ExternalHandle>();
    WorldOptions how;
    if (options.cache) how.cache = options.cache;
    if (options.say)
        how.say = [&options](const std::string& line) { options.say(line.c_str(), options.data); };
    how.device = ExternalDescription{
        handle, options.device ? capabilities_of(*options.device) : capabilities_of(scene.device)};
    return std::make_unique<pliant_world>(World(std::move(scene), how), handle);
}

}  // namespace

bool are_finite(const char* function, const char* what, const double* x, int count) noexcept {
    if (!x) {
        fail_null(function, what);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (std::isfinite(x[i])) continue;
        fail(PLIANT_BAD_ARGUMENT, "%s: %s[%d] = %g (expected a finite number)", function, what, i,
             x[i]);
        return false;
    }
    return true;
}

void publish(pliant_world& world) noexcept {
    for (int l = 0; l < world.world.num_loops(); ++l) {
        TripleBuffer<LoopFrame>& frames = *world.frames[static_cast<std::size_t>(l)];
        world.world.loop(l).fill(frames.write_slot());
        frames.publish();
    }
}

}  // namespace pliant::c_api

extern "C" {

uint32_t pliant_abi_version(void) { return PLIANT_ABI_VERSION; }
const char* pliant_version(void) { return kVersion; }

void pliant_default_device(pliant_device* device) {
    if (!device) return;
    const DeviceCapabilities can;
    *device = {{can.workspace[0], can.workspace[1], can.workspace[2]},
               can.max_force,
               can.max_torque,
               can.continuous_force,
               can.max_stiffness,
               can.max_angular_stiffness,
               can.damping,
               can.angular_damping,
               can.delay,
               can.position_step,
               can.angle_step};
}

const char* pliant_demo_name(int32_t index) {
    const char* name = nullptr;
    static_cast<void>(guarded("pliant_demo_name", [&] {
        const std::vector<DemoInfo>& demos = demo_list();
        if (index >= 0 && static_cast<std::size_t>(index) < demos.size())
            name = demos[static_cast<std::size_t>(index)].name.c_str();
        return PLIANT_OK;
    }));
    return name;
}

pliant_status pliant_open(uint32_t abi_version, pliant_source source, const char* text,
                          const pliant_options* options, pliant_world** world) {
    constexpr const char* kFunction = "pliant_open";
    if (world) *world = nullptr;
    if (abi_version != PLIANT_ABI_VERSION)
        return fail(PLIANT_BAD_ABI,
                    "the program was compiled with ABI version %u of pliant_c.h, this library "
                    "(Pliant %s) has version %u; compile it again with the header of this library",
                    static_cast<unsigned>(abi_version), kVersion,
                    static_cast<unsigned>(PLIANT_ABI_VERSION));
    if (!text) return fail_null(kFunction, "text");
    if (!world) return fail_null(kFunction, "world");
    if (source != PLIANT_FILE && source != PLIANT_DEMO && source != PLIANT_TEXT)
        return fail(PLIANT_BAD_ARGUMENT,
                    "%s: source = %d (expected PLIANT_FILE, PLIANT_DEMO or PLIANT_TEXT)", kFunction,
                    static_cast<int>(source));
    const pliant_options none = {};
    const pliant_options& given = options ? *options : none;
    if (!(given.scale >= 0) || !std::isfinite(given.scale))
        return fail(PLIANT_BAD_ARGUMENT,
                    "%s: scale = %g (expected metres in the scene per metre of handle travel, or "
                    "0)",
                    kFunction, given.scale);
    return guarded(kFunction, [&] {
        *world = opened(source, text, given).release();
        return PLIANT_OK;
    });
}

void pliant_close(pliant_world* world) { delete world; }

int32_t pliant_num_warnings(const pliant_world* world) {
    return world ? static_cast<int32_t>(world->world.warnings().size()) : 0;
}

const char* pliant_warning(const pliant_world* world, int32_t index) {
    if (!world || index < 0 || index >= pliant_num_warnings(world)) return nullptr;
    return world->world.warnings()[static_cast<std::size_t>(index)].c_str();
}

double pliant_rate(const pliant_world* world) {
    return world ? world->world.loop(0).settings().rate : 0;
}

double pliant_time(const pliant_world* world) {
    return world ? static_cast<double>(world->world.elapsed_ticks(0)) * world->world.loop(0).dt()
                 : 0;
}

pliant_status pliant_tick(pliant_world* world) {
    if (!world) return fail_null("pliant_tick", "world");
    const double start = thread_cpu_time_us();
    // those that are behind it first
    while (world->world.advance() != 0) {
    }
    world->ticks.record(thread_cpu_time_us() - start);
    return PLIANT_OK;
}

pliant_status pliant_reset(pliant_world* world) {
    if (!world) return fail_null("pliant_reset", "world");
    world->handle->disconnect();
    world->world.reset();
    world->ticks.reset();
    world->is_holding = false;
    return PLIANT_OK;
}

pliant_status pliant_get_statistics(const pliant_world* world, pliant_statistics* statistics) {
    constexpr const char* kFunction = "pliant_get_statistics";
    if (!world) return fail_null(kFunction, "world");
    if (!statistics) return fail_null(kFunction, "statistics");
    const TickHistogram::Summary work = world->ticks.summary();
    *statistics = {.ticks = world->world.elapsed_ticks(0),
                   .time = pliant_time(world),
                   .mean_us = work.mean_us,
                   .p50_us = work.p50_us,
                   .p99_us = work.p99_us,
                   .p999_us = work.p999_us,
                   .max_us = work.max_us,
                   .overlong = work.missed,
                   .steps = {}};
    static_assert(std::size(pliant_statistics{}.steps) == kNumStepStatuses);
    for (int l = 0; l < world->world.num_loops(); ++l) {
        LoopFrame& frame = world->counts[static_cast<std::size_t>(l)];
        world->world.loop(l).fill(frame);
        for (std::size_t i = 0; i < kNumStepStatuses; ++i)
            statistics->steps[i] += frame.status_counts[i];
    }
    return PLIANT_OK;
}

}  // extern "C"
