#include "pliant/haptics/coupling_gains.h"

#include "core/numbers.h"
#include "haptics/gain_rules.h"
#include "haptics/input_range.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numbers>

namespace pliant {

namespace {

constexpr double kSafety = 0.7;           ///< s of the sampled loop
constexpr double kUnknownDamping = 0.3;   ///< of a device and the loosest hand [N s/m]
constexpr double kUnknownTurning = 5e-4;  ///< the same of rotations [N m s/rad]
constexpr double kInjection = 2;          ///< more only amplifies encoder noise [N s/m]
constexpr double kLightest = 0.08;        ///< handle in a loose hand [kg]
constexpr double kSpeed = 0.6;            ///< of the simulation object at the handle [m/s]
constexpr double kTurningSpeed = 2 * std::numbers::pi;  ///< [rad/s]

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
    char buffer[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

void check_scene(const CouplingScene& scene) {
    require_range("coupling.rate", scene.rate, 10, 1e6, "Hz");
    require_range("coupling.scale", scene.scale, 1e-6, 1e6, "");
    require_range("coupling.cell", scene.cell, 1e-9, 1e6, "m");
    require_range("coupling.gyration", scene.gyration, 1e-9, 1e6, "m");
    require_range("coupling.bounding", scene.bounding, scene.gyration, 1e7,
                  "m, at least the radius of gyration");
    require_range("coupling.answer_time", scene.answer_time, 0, 1, "s");
}

/// What the sampled loop of a device carries, 23.2: half a sample of hold and the delay act as
/// negative damping.
struct LoopLimits {
    LoopLimits(const DeviceCapabilities& device, const CouplingScene& scene)
        : lag((0.5 + device.delay) / scene.rate),
          damping(device.damping > 0 ? device.damping : kUnknownDamping),
          turning(device.angular_damping > 0 ? device.angular_damping : kUnknownTurning),
          injection(kSafety * damping / lag < device.max_stiffness ? kInjection : 0),
          sampled_stiffness(kSafety * (damping + injection) / lag),
          answered(answered_stiffness(scene.answer_time)),
          stiffness(std::min(sampled_stiffness, answered)),
          angular_stiffness(kSafety * turning / lag),
          held_turning(device.max_angular_stiffness > 0 ? device.max_angular_stiffness : 1e9),
          shows_torque(device.max_torque > 0 &&
                       (device.is_actuated[3] || device.is_actuated[4] || device.is_actuated[5])) {}
    double lag;                           ///< (1/2 + n_d) h [s]
    double damping, turning, injection;   ///< b_tot, b_rot, b_inj
    double sampled_stiffness;             ///< at the handle [N/m]
    double answered;                      ///< on which it swings by a third of a radian in h_b
    double stiffness, angular_stiffness;  ///< both limits, at the handle [N/m], [N m/rad]
    double held_turning;                  ///< by the device [N m/rad]
    bool shows_torque;                    ///< otherwise rotations close no loop
};

/// All gains with their names, in order, and what any coupling can work with.
struct GainField {
    const char *name, *unit, *meaning;
    double CouplingGains::*value;
    double least, most;
};
constexpr GainField kFields[] = {
    {"stiffness", "N/m", "spring between the hand and the tool", &CouplingGains::stiffness, 1e-6,
     1e9},
    {"angular_stiffness", "N m/rad", "spring of rotations between the hand and the tool",
     &CouplingGains::angular_stiffness, 1e-12, 1e9},
    {"max_depth", "m", "how deep a point of the tool may get", &CouplingGains::max_depth, 1e-9,
     1e3},
    {"max_force", "N", "largest force that pulls the tool after the hand",
     &CouplingGains::max_force, 1e-6, 1e6},
    {"contact_stiffness", "N/m", "penalty spring of one contact point",
     &CouplingGains::contact_stiffness, 1e-6, 1e12},
    {"max_torque", "N m", "largest torque that turns the tool after the hand, without contact",
     &CouplingGains::max_torque, 1e-12, 1e6},
    {"least_lever", "m", "shortest lever of contacts that the torque is limited by",
     &CouplingGains::least_lever, 1e-9, 1e6},
    {"largest_lever", "m", "longest lever of contacts that the torque is limited by",
     &CouplingGains::largest_lever, 1e-9, 1e6},
    {"length", "m", "makes rotations comparable to shifts", &CouplingGains::length, 1e-9, 1e6},
    {"reach", "m", "farthest point of the tool from the grasp point", &CouplingGains::reach, 1e-9,
     1e7},
    {"threshold", "1", "directions softer than this part of the stiffest are free",
     &CouplingGains::threshold, 1e-12, 0.5},
    {"static_damping", "1", "part of each step that is left out", &CouplingGains::static_damping, 0,
     0.99},
    {"max_shift", "m", "farthest move of the tool in a tick", &CouplingGains::max_shift, 1e-9, 1e3},
    {"max_turn", "rad", "farthest turn of the tool in a tick", &CouplingGains::max_turn, 1e-9, 1},
    {"injection", "N s/m", "damping of the handle while in contact", &CouplingGains::injection, 0,
     1e3},
    {"rendered_force", "N", "largest force that is shown", &CouplingGains::rendered_force, 0, 1e6},
    {"rendered_torque", "N m", "largest torque that is shown, in units of the scene",
     &CouplingGains::rendered_torque, 0, 1e6},
};

std::string unit_of(const GainField& field) {
    return field.unit == std::string("1") ? "" : " " + std::string(field.unit);
}

struct Range {
    double least, largest, limit;
};

/// In the order of kFields, for the other gains as they are.
std::vector<Range> ranges(const CouplingGains& g, const CouplingGains& derived,
                          const DeviceCapabilities& device, const CouplingScene& scene) {
    const LoopLimits loop(device, scene);
    const double a = scene.scale, c = scene.cell, rho = scene.gyration, B = scene.bounding;
    const double hard_turning =
        loop.shows_torque ? loop.held_turning / a : 10 * derived.angular_stiffness;
    const double soft_turning =
        loop.shows_torque ? std::min(hard_turning, loop.angular_stiffness / a) : hard_turning;
    const double stiffest = std::max(500 * g.stiffness, derived.contact_stiffness);
    return {
        {1e-3 * derived.stiffness, derived.stiffness, a * device.max_stiffness},
        {1e-3 * derived.angular_stiffness, soft_turning, hard_turning},
        {0.01 * c, c, 10 * c},
        {0.01 * device.max_force, device.max_force, 10 * device.max_force},
        {g.max_force / g.max_depth, std::max(stiffest, g.max_force / g.max_depth),
         20 * std::max(stiffest, g.max_force / g.max_depth)},
        {1e-3 * derived.max_torque, 0.5 * g.max_force * rho, g.max_force * B},
        {0.01 * derived.least_lever, derived.least_lever, derived.largest_lever},
        {g.least_lever, derived.largest_lever, std::max(B, g.least_lever)},
        {0.5 * rho, 2 * rho, 10 * rho},
        {B, 10 * B, 10 * B},
        {1e-6, 0.01, 0.1},
        {0, 0.7, 0.95},
        {1e-3 * derived.max_shift, derived.max_shift, 10 * derived.max_shift},
        {1e-3 * derived.max_turn, derived.max_turn, std::min(10 * derived.max_turn, 0.5)},
        {0, 2 * kInjection, 5 * kInjection},
        {0, device.max_force, device.max_force},
        {0, device.max_torque / a, device.max_torque / a},
    };
}

std::vector<std::string> reasons(const DeviceCapabilities& device, const CouplingScene& scene) {
    const LoopLimits loop(device, scene);
    const double a = scene.scale, h = 1 / scene.rate;
    const CouplingGains g = derive_gains(device, scene);
    const char* assumed = device.damping > 0 ? "" : " (assumed: the device does not say)";
    const char* turning_assumed = device.angular_damping > 0 ? "" : " (assumed)";
    const bool is_device = device.max_stiffness <= loop.stiffness;
    const double rule = loop.angular_stiffness / a,
                 size = g.stiffness * scene.gyration * scene.gyration;
    std::string turning;
    if (!loop.shows_torque)
        turning = text(
            "k_VC rho^2 = %.3g N m/rad: the device shows no torque, so that only the "
            "size of the tool counts",
            size);
    else
        turning = text(
            "least of k_VC rho^2 = %.3g, of what %.3g N m s/rad of damping%s carry at "
            "%g Hz, %.3g, and of what the device holds, %.3g N m/rad",
            size, loop.turning, turning_assumed, scene.rate, rule, loop.held_turning / a);
    std::string stiffness;
    if (loop.answered < std::min(device.max_stiffness, loop.sampled_stiffness))
        stiffness = text(
            "bodies answer %.3g ms late, in which a light handle of %g kg swings by a third of a "
            "radian on %.4g N/m; times the workspace scale %g",
            1e3 * scene.answer_time, kLightest, loop.answered, a);
    else
        stiffness = text(
            "%s: the device holds %g N/m, and %g N s/m of damping%s with %g N s/m injected carry "
            "%.4g N/m at %g Hz with %g sample%s of delay; times the workspace scale %g",
            is_device ? "limit of the device" : "limit of the sampled loop", device.max_stiffness,
            loop.damping, assumed, loop.injection, loop.sampled_stiffness, scene.rate, device.delay,
            device.delay == 1 ? "" : "s", a);
    return {
        stiffness,
        turning,
        text("half a cell of the distance field, %.3g m: deeper than a cell its gradient says "
             "little",
             scene.cell),
        text("largest force of the device, %g N: the tool is not pulled harder than the hand can "
             "feel",
             device.max_force),
        "max_force / max_depth: one point carries the whole force at the largest depth",
        text("max_force times half the radius of gyration, %.3g m", scene.gyration),
        text("a cell of the distance field, %.3g m, at most half the radius of gyration",
             scene.cell),
        text("half the radius of gyration, %.3g m", scene.gyration),
        "radius of gyration about the grasp point",
        ("radius of the tool about the grasp point: no point of it moves farther in a tick than "
         "the clearance allows"),
        "below it the saturated springs say nothing about a direction",
        "half of each step: converges without ringing; more feels sticky",
        text("%g m/s of the handle in a tick of %.3g s, in units of the scene; near contact half "
             "of max_depth and 0.7 of the clearance",
             kSpeed, h),
        text("360 degrees a second in a tick of %.3g s; near contact half of max_depth and 0.3 of "
             "the clearance, over the radius of the tool",
             h),
        loop.injection > 0
            ? text("the damping of the device, %g N s/m%s, does not carry its stiffness; more than "
                   "%g only amplifies the steps of the encoders",
                   loop.damping, assumed, kInjection)
            : text("the damping of the device, %g N s/m%s, carries its stiffness", loop.damping,
                   assumed),
        "largest force of the device",
        "largest torque of the device over the workspace scale",
    };
}

}  // namespace

CouplingGains derive_gains(const DeviceCapabilities& device, const CouplingScene& scene) {
    check(device);
    check_scene(scene);
    const LoopLimits loop(device, scene);
    const double a = scene.scale, rho = scene.gyration;
    CouplingGains g;
    g.injection = loop.injection;
    g.stiffness = a * std::min(device.max_stiffness, loop.stiffness);
    g.angular_stiffness = g.stiffness * rho * rho;
    if (loop.shows_torque)
        g.angular_stiffness =
            std::min({g.angular_stiffness, loop.angular_stiffness / a, loop.held_turning / a});
    g.max_depth = 0.5 * scene.cell;
    g.max_force = device.max_force;
    g.contact_stiffness = g.max_force / g.max_depth;
    g.largest_lever = 0.5 * rho;
    g.least_lever = std::min(scene.cell, g.largest_lever);
    g.max_torque = g.max_force * g.largest_lever;
    g.length = rho;
    g.reach = scene.bounding;
    g.max_shift = kSpeed / scene.rate / a;
    // small turns: rotations of one tick must stay in the range of Newton's method
    g.max_turn = std::min(kTurningSpeed / scene.rate, 0.1);
    g.rendered_force = device.max_force;
    g.rendered_torque = device.max_torque / a;
    return g;
}

std::vector<GainNote> explain(const CouplingGains& gains, const DeviceCapabilities& device,
                              const CouplingScene& scene) {
    const CouplingGains derived = derive_gains(device, scene);
    const std::vector<Range> range = ranges(gains, derived, device, scene);
    const std::vector<std::string> why = reasons(device, scene);
    std::vector<GainNote> notes;
    for (std::size_t i = 0; i < std::size(kFields); ++i) {
        const GainField& field = kFields[i];
        notes.push_back({field.name, field.unit, field.meaning, why[i], gains.*field.value,
                         range[i].least, range[i].largest, range[i].limit});
    }
    return notes;
}

std::string clamp_to_device(CouplingGains& gains, const DeviceCapabilities& device,
                            const CouplingScene& scene) {
    const CouplingGains derived = derive_gains(device, scene);
    for (const GainField& field : kFields) {
        const double value = gains.*field.value;
        const bool may_be_zero = field.least == 0;
        if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) continue;
        throw InputError("", std::string("coupling.") + field.name, text("%.4g", value),
                         std::string(may_be_zero ? "0 or more" : "more than 0") + unit_of(field) +
                             text(", by rule %.4g", derived.*field.value));
    }
    std::string changes;
    for (std::size_t i = 0; i < std::size(kFields); ++i) {
        const GainField& field = kFields[i];
        double& value = gains.*field.value;
        // ranges of later gains follow from earlier ones
        const Range range = ranges(gains, derived, device, scene)[i];
        const double before = value;
        value = std::clamp(value, range.least, range.limit);
        if (value == before) continue;
        changes += (changes.empty() ? "" : ", ") + std::string(field.name) +
                   text(" from %.4g to %.4g", before, value) + unit_of(field);
    }
    if (changes.empty()) return "";
    return "gains were brought into the range of " +
           (device.name.empty() ? "the device" : device.name) + ": " + changes;
}

void check_gains(const CouplingGains& gains) {
    for (const GainField& field : kFields) {
        const std::string name = std::string("coupling.") + field.name;
        require_range(name.c_str(), gains.*field.value, field.least, field.most, field.unit);
    }
    require_range("coupling.least_lever", gains.least_lever, 0, gains.largest_lever,
                  "m, the largest lever");
}

CouplingGains sane_gains(const CouplingGains& gains, const CouplingGains& last) noexcept {
    CouplingGains sane = gains;
    for (const GainField& field : kFields) {
        double& value = sane.*field.value;
        value =
            std::isfinite(value) ? std::clamp(value, field.least, field.most) : last.*field.value;
    }
    sane.largest_lever = std::max(sane.largest_lever, sane.least_lever);
    return sane;
}

double answered_stiffness(double answer_time) noexcept {
    return answer_time > 0 ? kLightest / (9 * answer_time * answer_time) : kInfinity;
}

}  // namespace pliant
