#include "c_api/c_world.h"

#include <cmath>
#include <string>

using namespace pliant;
using namespace pliant::c_api;

namespace {

const WorldParameter* find_parameter(const char* function, const pliant_world* world,
                                     std::int32_t index) noexcept {
    if (!world) {
        fail_null(function, "world");
        return nullptr;
    }
    const auto& all = world->world.parameters();
    if (index >= 0 && static_cast<std::size_t>(index) < all.size())
        return &all[static_cast<std::size_t>(index)];
    fail(PLIANT_BAD_ARGUMENT, "%s: index = %d (expected 0 to %d)", function,
         static_cast<int>(index), static_cast<int>(all.size()) - 1);
    return nullptr;
}

/// Or says what is wrong with a state.
pliant_status require_state(const char* function, const pliant_world* world, const double* state,
                            std::size_t size) noexcept {
    if (!world) return fail_null(function, "world");
    if (!state) return fail_null(function, "state");
    if (size != world->state_size)
        return fail(PLIANT_BAD_ARGUMENT, "%s: size = %zu (expected %zu, pliant_state_size())",
                    function, size, world->state_size);
    return PLIANT_OK;
}

template <class Action>
void for_each_part(const pliant_world& w, Action&& action) noexcept {
    std::size_t offset = 0;
    for (std::int32_t b = 0; b < num_bodies(w); ++b) {
        const auto count = static_cast<std::size_t>(w.world.body(b).state_size());
        action(b, offset, count);
        offset += count;
    }
}

}  // namespace

extern "C" {

int32_t pliant_num_parameters(const pliant_world* world) {
    return world ? static_cast<int32_t>(world->world.parameters().size()) : 0;
}

pliant_status pliant_get_parameter(const pliant_world* world, int32_t index,
                                   pliant_parameter* parameter) {
    constexpr const char* kFunction = "pliant_get_parameter";
    const WorldParameter* const found = find_parameter(kFunction, world, index);
    if (!found) return PLIANT_BAD_ARGUMENT;
    if (!parameter) return fail_null(kFunction, "parameter");
    const LiveParameter& p = found->parameter;
    *parameter = {p.name.c_str(),
                  p.label.c_str(),
                  p.unit.c_str(),
                  p.help.c_str(),
                  world->world.parameter_value(index),
                  p.value,
                  p.low,
                  p.high};
    return PLIANT_OK;
}

int32_t pliant_find_parameter(const pliant_world* world, const char* name) {
    if (!world || !name) return -1;
    const auto& all = world->world.parameters();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].parameter.name == name) return static_cast<int32_t>(i);
    return -1;
}

pliant_status pliant_set_parameter(pliant_world* world, int32_t index, double value) {
    constexpr const char* kFunction = "pliant_set_parameter";
    const WorldParameter* const found = find_parameter(kFunction, world, index);
    if (!found) return PLIANT_BAD_ARGUMENT;
    const LiveParameter& p = found->parameter;
    if (!(value >= p.low && value <= p.high))
        return fail(PLIANT_BAD_ARGUMENT, "%s: %s = %g (expected %g to %g%s%s)", kFunction,
                    p.name.c_str(), value, p.low, p.high, p.unit.empty() ? "" : " ",
                    p.unit.c_str());
    world->world.apply(
        Command{.kind = Command::Kind::SetParameter, .parameter = index, .value = value});
    return PLIANT_OK;
}

size_t pliant_state_size(const pliant_world* world) { return world ? world->state_size : 0; }

pliant_status pliant_save_state(const pliant_world* world, double* state, size_t size) {
    if (const pliant_status status = require_state("pliant_save_state", world, state, size))
        return status;
    for_each_part(*world, [&](std::int32_t body, std::size_t offset, std::size_t count) {
        world->world.body(body).save_state({state + offset, count});
    });
    return PLIANT_OK;
}

pliant_status pliant_restore_state(pliant_world* world, const double* state, size_t size) {
    constexpr const char* kFunction = "pliant_restore_state";
    if (const pliant_status status = require_state(kFunction, world, state, size)) return status;
    for (std::size_t i = 0; i < size; ++i)
        if (!std::isfinite(state[i]))
            return fail(PLIANT_BAD_ARGUMENT, "%s: state[%zu] = %g (expected a finite number)",
                        kFunction, i, state[i]);
    const char* refusing = nullptr;
    for_each_part(*world, [&](std::int32_t b, std::size_t offset, std::size_t count) {
        const WorldBody& entry = world->world.bodies()[static_cast<std::size_t>(b)];
        Body& body = world->world.loop(entry.loop).body(entry.place);
        if (!body.restore_state({state + offset, count})) refusing = entry.name.c_str();
    });
    for (int l = 0; l < world->world.num_loops(); ++l) world->world.loop(l).forget_contacts();
    if (refusing)
        return fail(PLIANT_BAD_ARGUMENT, "%s: not a state of \"%s\", which keeps its own",
                    kFunction, refusing);
    return PLIANT_OK;
}

}  // extern "C"
