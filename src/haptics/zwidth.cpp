#include "pliant/haptics/zwidth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "haptics/input_range.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

constexpr double kMostDamping = 1000;  // [N s/m] searched
constexpr double kLost = 4;            // times the first amplitude: will not come back
constexpr double kGone = 1e-6;         // of the first amplitude: will not come back either
// A handle may toggle between the encoder steps around its place of rest.
constexpr double kToggling = 2;

void check(const ZWidthOptions& options) {
    for (const double k : options.stiffnesses) require_range("stiffness", k, 1, 1e6, "N/m");
    for (const double b : options.dampings) require_range("damping", b, 0, 1e5, "N s/m");
    require_range("duration", options.duration, 0.1, 600, "s");
    require_range("approach", options.approach, 1e-6, 10, "m/s");
    require_range("velocity_filter", options.velocity_filter, 1e-3, 1, "");
    (void)SimulatedDevice(options.device, options.hand);  // has its own checks
}

struct SwingRange {
    double low = std::numeric_limits<double>::infinity(), high = -low;

    void extend(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    [[nodiscard]] double half() const { return 0.5 * (high - low); }
};

/// 12 stiffnesses, evenly on a logarithmic scale.
std::vector<double> default_stiffnesses() {
    std::vector<double> values(12);
    for (int i = 0; i < 12; ++i)
        values[static_cast<std::size_t>(i)] = 50 * std::pow(200.0, i / 11.0);
    return values;
}

/// From none to above 2m/T, where a sampled damper alone makes the handle oscillate.
std::vector<double> default_dampings(const ZWidthOptions& options) {
    const double most = 2.5 * (options.device.mass + options.hand.mass) * options.device.rate;
    std::vector<double> values(12);
    for (int i = 1; i < 12; ++i)
        values[static_cast<std::size_t>(i)] = most * std::pow(1e-3, 1 - (i - 1) / 10.0);
    return values;
}

}  // namespace

ZWidthCell try_wall(const ZWidthOptions& options, double stiffness, double damping) {
    // the hand is relaxed where the handle rests; turning plays no part
    HandModel hand = options.hand;
    hand.angular_stiffness = hand.angular_damping = 0;
    SimulatedDevice device(options.device, hand);
    const double mass = options.device.mass + hand.mass;
    const double frequency = std::sqrt((stiffness + hand.stiffness) / mass);  // [rad/s]
    // the oscillation stays within the wall and within what the motors can do
    const double most_travel = device.capabilities().max_force / (3 * stiffness);
    const double speed = std::min(options.approach, frequency * most_travel);
    const double rest = 1.5 * speed / frequency, press = stiffness * rest;
    device.place({.position = {-rest, 0, 0}, .rotation = Quaternion::Identity()},
                 {.linear = {-speed, 0, 0}, .angular = Eigen::Vector3d::Zero()});

    const double rate = options.device.rate;
    const double period = 2 * std::numbers::pi / frequency;
    const int count = static_cast<int>(rate * std::max(options.duration, 4 * period));
    const int first_end = static_cast<int>(std::ceil(rate * period)) + options.device.delay;
    const int window = std::max(count / 10, first_end), last_begin = count - window;
    SwingRange first, middle, last;
    double depth = rest, depth_rate = 0;
    for (int i = 0; i < count; ++i) {
        const double measured = -device.read(i / rate).pose.position.x();
        if (i > 0) depth_rate += options.velocity_filter * ((measured - depth) * rate - depth_rate);
        depth = measured;
        DeviceCommand command;
        const double wall =
            depth > 0 ? std::max(0.0, stiffness * depth + damping * depth_rate) : 0.0;
        command.force.x() = wall - press;
        device.write(command);

        const double offset = device.true_pose().position.x() + rest;
        if (i <= first_end) first.extend(offset);
        if (i >= count / 2 && i < count / 2 + window) middle.extend(offset);
        if (i >= last_begin) last.extend(offset);
        // both ends come soon for most walls
        const double swing = std::hypot(offset, device.true_twist().linear.x() / frequency);
        const bool is_gone = i > first_end && swing < 0.5 * kGone * first.half();
        if (is_gone || swing > kLost * speed / frequency) {
            middle = {0, 0};
            last = {-swing, swing};
            break;
        }
    }
    // decay that is even reaches the root of its growth halfway; what stays far above it afterwards
    // keeps itself up
    const double growth = last.half() / first.half();
    const bool decays = growth < 1 && last.half() < middle.half() * std::pow(growth, 0.25);
    const double toggling = kToggling * device.capabilities().position_step;
    const bool has_ended = growth < kGone || last.half() <= toggling;
    return {.stiffness = stiffness,
            .damping = damping,
            .is_stable = decays || has_ended,
            .growth = growth,
            .remaining = last.half()};
}

double needed_damping(const ZWidthOptions& options, double stiffness) {
    check(options);
    require_range("stiffness", stiffness, 1, 1e6, "N/m");
    ZWidthOptions trial = options;
    const auto is_stable = [&](double damping) {
        trial.device.damping = damping;
        return try_wall(trial, stiffness, 0).is_stable;
    };
    if (is_stable(0)) return 0;
    // from the sampled-data bound to a bracket
    double low = 0, high = stiffness / options.device.rate * (0.5 + options.device.delay);
    while (!is_stable(high)) {
        low = high;
        high *= 2;
        if (high > kMostDamping) return std::numeric_limits<double>::infinity();
    }
    while (high - low > 2e-3 * high) {
        const double middle = 0.5 * (low + high);
        (is_stable(middle) ? high : low) = middle;
    }
    return 0.5 * (low + high);
}

ZWidthMap sweep_zwidth(const ZWidthOptions& options, Progress& progress) {
    check(options);
    ZWidthMap map;
    map.stiffnesses = options.stiffnesses.empty() ? default_stiffnesses() : options.stiffnesses;
    map.dampings = options.dampings.empty() ? default_dampings(options) : options.dampings;
    const std::size_t rows = map.stiffnesses.size(), columns = map.dampings.size();
    map.cells.resize(rows * columns);
    map.needed_damping.resize(rows);

    progress.stage("virtual walls", rows * columns + 10 * rows);
    parallel_for(rows, 1, [&](std::size_t row) {
        map.needed_damping[row] = needed_damping(options, map.stiffnesses[row]);
        progress.advance(10);
    });
    parallel_for(rows * columns, 1, [&](std::size_t i) {
        map.cells[i] = try_wall(options, map.stiffnesses[i / columns], map.dampings[i % columns]);
        progress.advance();
    });
    return map;
}

}  // namespace pliant
