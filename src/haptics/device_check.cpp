#include "pliant/haptics/device_check.h"

#include "geometry/wording.h"
#include "pliant/core/error.h"
#include "pliant/haptics/device_safety.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};
constexpr std::array<const char*, 3> kAxisWays = {"to the right", "away from the user", "up"};
constexpr double kServoStiffness = 60, kServoDamping = 1.5;  // [N/m], [N s/m]: gentle
constexpr int kNumSteps = 6;                                 // of force, for the round trip

__attribute__((format(printf, 1, 2))) std::string words(const char* pattern, ...) {
    std::array<char, 512> text;
    va_list values;
    va_start(values, pattern);
    std::vsnprintf(text.data(), text.size(), pattern, values);
    va_end(values);
    return text.data();
}

std::string millimetres(const Vector3d& x) {
    return words("(%.1f, %.1f, %.1f) mm", 1e3 * x.x(), 1e3 * x.y(), 1e3 * x.z());
}

int largest_axis(const Vector3d& x) {
    Eigen::Index axis = 0;
    x.cwiseAbs().maxCoeff(&axis);
    return static_cast<int>(axis);
}

std::string signed_axis(const Vector3d& x) {
    const int axis = largest_axis(x);
    return std::string(x[axis] < 0 ? "-" : "+") + kAxisNames[static_cast<std::size_t>(axis)];
}

void check_options_of_check(const DeviceCheckOptions& options) {
    const auto require = [](const char* name, double value, double low, double high) {
        if (!(value >= low && value <= high))
            throw InputError("", name, words("%g", value), words("%g to %g", low, high));
    };
    require("rate", options.rate, 100, 10000);
    require("push", options.push, 0.05, 2);
    require("push_time", options.push_time, 0.05, 5);
    require("answer", options.answer, 1e-6, 0.01);
    require("wrong_way", options.wrong_way, 1e-5, 0.01);
    require("let_go", options.let_go, 1e-3, 0.1);
    require("hand_motion", options.hand_motion, 1e-3, 0.1);
    require("patience", options.patience, 0.01, 600);
}

/// One run of check_device.
class Check {
public:
    Check(HapticDevice& device, const CheckSurroundings& surroundings,
          const DeviceCheckOptions& options)
        : device_(device),
          surroundings_(surroundings),
          options_(options),
          can_(device.capabilities()),
          safety_(can_),
          push_(std::min(options.push, 0.1 * can_.max_force)) {
        report_.capabilities = can_;
    }
    ~Check() { device_.write({}); }

    DeviceCheckReport run() {
        if (readings() && axes() && button() && push()) {
            if (report_.steps.back().result == CheckResult::Passed) {
                latency();
                weight();
            } else {  // motors whose signs nobody has seen
                add("latency", CheckResult::Skipped, "needs the push");
                add("gravity", CheckResult::Skipped, "needs the push");
            }
        }
        device_.write({});
        report_.gains = derive_gains(report_.capabilities, {.rate = options_.rate});
        return std::move(report_);
    }

private:
    // A tick in two parts, for those who look at the reading before anything is shown.
    const DeviceState& read_next() {
        now_ = surroundings_.wait_until(now_ + 1 / options_.rate);
        return state_ = device_.read(now_);
    }
    void show(const Vector3d& force) {
        DeviceCommand wanted;
        wanted.force = force;
        device_.write(safety_.filter(wanted, state_, now_));
    }
    const DeviceState& tick(const Vector3d& force) {
        read_next();
        show(force);
        return state_;
    }
    void stop() {
        device_.write({});
        safety_.reset();
    }
    bool ask(CheckAction action) {
        stop();
        const bool is_done = surroundings_.ask(action);
        now_ = surroundings_.wait_until(now_);  // a person takes time
        return is_done;
    }
    /// No force while the ramp of the safety ends and the handle comes to rest.
    void settle(double seconds) {
        safety_.enable();
        const double end = now_ + seconds;
        while (now_ < end) tick(Vector3d::Zero());
    }
    /// Without output, until the handle stays within `tolerance` [m] for a fifth of a second; a
    /// hand that trembles is waited for so long and no longer.
    void come_to_rest(double tolerance) {
        Vector3d place = state_.pose.position;
        double since = now_;
        for (const double end = now_ + 3; now_ < end && now_ < since + 0.2;) {
            if ((tick(Vector3d::Zero()).pose.position - place).norm() < tolerance) continue;
            place = state_.pose.position;
            since = now_;
        }
    }
    bool add(const char* name, CheckResult result, std::string finding, std::string remedy = {}) {
        if (result == CheckResult::Failed) stop();
        report_.steps.push_back({name, result, std::move(finding), std::move(remedy)});
        return result != CheckResult::Failed;
    }

    bool readings() {
        int num_connected = 0;
        double last = -1;
        Vector3d farthest = Vector3d::Zero();
        for (const double end = now_ + 1; now_ < end;) {
            const DeviceState& state = tick(Vector3d::Zero());
            if (state.status == DeviceStatus::Disconnected) continue;
            ++num_connected;
            farthest = farthest.cwiseMax(state.pose.position.cwiseAbs());
            if (state.status == DeviceStatus::Stale || state.time <= last) continue;
            if (last >= 0) {
                report_.interval_us.push_back(1e6 * (state.time - last));
                report_.intervals.record(1e6 * (state.time - last));
            }
            last = state.time;
        }
        if (state_.status == DeviceStatus::Uncalibrated)
            return add("readings", CheckResult::Failed, "the device is not calibrated",
                       *device_.remedy() ? device_.remedy() : "calibrate it as its maker says");
        if (num_connected == 0 || report_.interval_us.empty())
            return add("readings", CheckResult::Failed, "no reading came within 1 s",
                       "plug the device in and start its driver; pliant haptics devices says what "
                       "is there");
        double sum = 0;
        for (const double interval : report_.interval_us) sum += 1e-6 * interval;
        report_.reading_rate = static_cast<double>(report_.interval_us.size()) / sum;
        const Vector3d limit = 2 * can_.workspace;
        if (!(farthest.array() <= limit.array()).all())
            return add("readings", CheckResult::Failed,
                       "the handle is at " + millimetres(farthest) + ", far outside its workspace",
                       "readings must be in metres from the middle of the workspace: change the "
                       "driver, or \"workspace\" of the device");
        const TickHistogram::Summary told = report_.intervals.summary();
        const bool is_slow = report_.reading_rate < 500;
        return add(
            "readings", CheckResult::Passed,
            words("%.0f a second; interval %.0f µs in the middle, %.0f at 99 %%, %.0f at most",
                  report_.reading_rate, told.p50_us, told.p99_us, told.max_us),
            is_slow ? "slower than the loop: stiff walls will feel soft; raise the rate of "
                      "the driver to 1000 a second"
                    : "");
    }

    /// Where a person moved the handle; zero: not far enough in time.
    Vector3d hand_motion() {
        tick(Vector3d::Zero());
        const Vector3d start = state_.pose.position;
        for (const double end = now_ + options_.patience; now_ < end;) {
            Vector3d moved = tick(Vector3d::Zero()).pose.position - start;
            if (moved.norm() > options_.hand_motion) return moved;
        }
        return Vector3d::Zero();
    }

    bool axes() {
        constexpr std::array actions = {CheckAction::MoveRight, CheckAction::MoveAway,
                                        CheckAction::MoveUp};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (!ask(actions[axis]))
                return add("axes", CheckResult::Skipped, "nobody moved the handle");
            const Vector3d moved = hand_motion();
            come_to_rest(1e-3);
            if (moved.isZero())
                return add("axes", CheckResult::Failed,
                           words("the handle did not move %s by %.0f mm within %.0f s",
                                 kAxisWays[axis], 1e3 * options_.hand_motion, options_.patience),
                           "move it further; if readings stay, the driver sends old ones");
            const int found = largest_axis(moved);
            if (found == static_cast<int>(axis) && moved[found] > 0) continue;
            const bool is_mirrored = found == static_cast<int>(axis);
            return add(
                "axes", CheckResult::Failed,
                words("moved %s, but readings go along %s instead of +%s: %s", kAxisWays[axis],
                      signed_axis(moved).c_str(), kAxisNames[axis], millimetres(moved).c_str()),
                is_mirrored
                    ? words("change the sign of %s in the driver, of positions and of forces",
                            kAxisNames[axis])
                    : "exchange the axes in the driver, of positions and of forces, so that "
                      "x is to the right, y away from the user and z up; if the device is "
                      "merely turned, \"rotation\" of the scene's device does it");
        }
        return add("axes", CheckResult::Passed, "x to the right, y away from the user, z up");
    }

    bool button() {
        if (!ask(CheckAction::PressButton))
            return add("button", CheckResult::Skipped, "nobody pressed a button");
        const std::uint32_t before = tick(Vector3d::Zero()).buttons;
        for (const double end = now_ + options_.patience; now_ < end;) {
            const std::uint32_t changed = tick(Vector3d::Zero()).buttons & ~before;
            if (changed == 0) continue;
            report_.button = std::countr_zero(changed);
            return add("button", CheckResult::Passed,
                       words("button %d; \"clutch\": %d or \"deadman\": %d of the scene's device "
                             "use it",
                             report_.button, report_.button, report_.button));
        }
        return add("button", CheckResult::Skipped, "no button went down",
                   "press it after the question; without one leave out \"clutch\" and \"deadman\"");
    }

    bool push() {
        if (!ask(CheckAction::HoldLoosely))
            return add("push", CheckResult::Skipped, "no force without a hand on the handle");
        settle(0.8);
        std::string told;
        for (int axis = 0; axis < 3; ++axis) {
            if (!can_.is_actuated[static_cast<std::size_t>(axis)]) continue;
            come_to_rest(0.2 * options_.wrong_way);  // what swings back is no answer
            const char* axis_name = kAxisNames[static_cast<std::size_t>(axis)];
            const Vector3d start = tick(Vector3d::Zero()).pose.position;
            const double begin = now_;
            Vector3d moved = Vector3d::Zero();
            while (now_ < begin + options_.push_time && moved.norm() < options_.let_go) {
                const double part = std::min(1.0, 2 * (now_ - begin) / options_.push_time);
                moved = read_next().pose.position - start;
                const double along = moved[axis];
                const double across = (moved - along * Vector3d::Unit(axis)).norm();
                if (along > -options_.wrong_way &&
                    across < std::max(options_.wrong_way, std::abs(along))) {
                    show(part * push_ * Vector3d::Unit(axis));
                    continue;
                }
                const bool is_mirrored = -along > across;
                stop();  // instead of the push of this tick
                return add(
                    "push", CheckResult::Failed,
                    words("pushed along +%s, the handle moved along %s: %s. Force set to zero",
                          axis_name, signed_axis(moved).c_str(), millimetres(moved).c_str()),
                    is_mirrored
                        ? words("change the sign of the force along %s in the driver: readings "
                                "were right",
                                axis_name)
                        : words("the force along %s goes to another motor: exchange the axes of "
                                "forces in the driver as those of positions",
                                axis_name));
            }
            if (state_.status == DeviceStatus::Disabled)
                return add("push", CheckResult::Failed, "the motors are off",
                           "switch them on: a key, a foot switch or the button of the device");
            if (moved[axis] < options_.answer)
                return add("push", CheckResult::Failed,
                           words("pushed along +%s with %.2g N, the handle did not move", axis_name,
                                 push_),
                           words("hold it more loosely; if it is free, its motor of %s is off",
                                 axis_name));
            told += words("%s%s %.1f mm", told.empty() ? "" : ", ", axis_name, 1e3 * moved[axis]);
        }
        return add("push", CheckResult::Passed,
                   words("%.2g N move it the right way: ", push_) + told);
    }

    void latency() {
        std::vector<double> onsets, times, distances;
        const double tick_time = 1 / options_.rate;
        for (int trial = 0; trial < kNumSteps; ++trial) {
            come_to_rest(std::max(1.5 * can_.position_step, 1e-6));
            const double way = trial % 2 == 0 ? 1 : -1;
            const double start = tick(Vector3d::Zero()).pose.position.x();
            tick({way * push_, 0, 0});
            const double begin = now_;  // of the command
            times.clear();
            distances.clear();
            while (now_ < begin + 0.08) {
                const DeviceState& state = tick({way * push_, 0, 0});
                times.push_back(state.time - begin);
                distances.push_back(way * (state.pose.position.x() - start));
            }
            const double onset = motion_onset(times, distances, can_.position_step);
            if (onset >= 0) onsets.push_back(onset);
        }
        if (onsets.size() < kNumSteps / 2) {
            add("latency", CheckResult::Skipped, "the handle moved too little to tell",
                "hold it more loosely; gains take the delay that the driver states");
            return;
        }
        std::nth_element(onsets.begin(), onsets.begin() + onsets.size() / 2, onsets.end());
        report_.latency = onsets[onsets.size() / 2];
        report_.capabilities.delay = std::round(report_.latency / tick_time);
        add("latency", CheckResult::Passed,
            words("%.2f ms from a command to motion: ", 1e3 * report_.latency) +
                counted(static_cast<int>(report_.capabilities.delay), "sample", "samples") +
                " of the loop",
            report_.capabilities.delay > 5
                ? "each sample costs stiffness: shorten buffers of the driver, use a wire"
                : "");
    }

    void weight() {
        if (!ask(CheckAction::LetGo)) {
            add("gravity", CheckResult::Skipped, "needs a handle that nobody holds");
            return;
        }
        // a soft spring holds the handle: its mean force is what the device lacks
        const Vector3d start = tick(Vector3d::Zero()).pose.position;
        safety_ = DeviceSafety(can_, {.ramp_time = 0.02});  // the spring begins at zero anyhow
        safety_.enable();
        Vector3d sum = Vector3d::Zero(), velocity = Vector3d::Zero(), last = start;
        int count = 0;
        for (const double begin = now_; now_ < begin + 3;) {
            const double before = now_;
            const Vector3d place = state_.pose.position;
            velocity += 0.1 * ((place - last) * options_.rate - velocity);
            last = place;
            Vector3d force = kServoStiffness * (start - place) - kServoDamping * velocity;
            force = force.cwiseMax(-0.3 * can_.max_force).cwiseMin(0.3 * can_.max_force);
            tick(force);
            if ((state_.pose.position - start).norm() > 2 * options_.let_go) {
                stop();
                add("gravity", CheckResult::Skipped, "the handle got away from a soft spring",
                    "hold it, or switch on the maker's compensation of gravity");
                return;
            }
            if (before < begin + 2) continue;
            sum += force;
            ++count;
        }
        report_.weight = -sum / std::max(count, 1);
        const double size = report_.weight.norm();
        add("gravity", CheckResult::Passed,
            words("the handle pulls with (%.2f, %.2f, %.2f) N by itself", report_.weight.x(),
                  report_.weight.y(), report_.weight.z()),
            size > 0.3 ? "switch on the maker's compensation of gravity, or add the opposite force "
                         "in the driver"
                       : "");
    }

    HapticDevice& device_;
    const CheckSurroundings& surroundings_;
    DeviceCheckOptions options_;
    DeviceCapabilities can_;
    DeviceSafety safety_;
    DeviceCheckReport report_;
    DeviceState state_;
    double push_, now_ = 0;
};

}  // namespace

std::string_view sentence(CheckAction action) noexcept {
    switch (action) {
        case CheckAction::MoveRight: return "Move the handle to your right";
        case CheckAction::MoveAway: return "Move the handle away from you";
        case CheckAction::MoveUp: return "Move the handle up";
        case CheckAction::PressButton: return "Press the button that you want to use";
        case CheckAction::HoldLoosely: return "Hold the handle loosely in the middle; it will push";
        case CheckAction::LetGo: break;
    }
    return "Let go of the handle; a soft spring holds it";
}

std::string_view to_string(CheckResult result) noexcept {
    return result == CheckResult::Passed    ? "passed"
           : result == CheckResult::Skipped ? "skipped"
                                            : "failed";
}

bool DeviceCheckReport::has_passed() const noexcept {
    return std::none_of(steps.begin(), steps.end(),
                        [](const CheckStep& step) { return step.result == CheckResult::Failed; });
}

double motion_onset(const std::vector<double>& times, const std::vector<double>& distances,
                    double step) {
    // where the parabola stands out of the encoder's steps, before the hand's spring bends it
    constexpr std::size_t kNumPoints = 8;
    const double least = std::max(2.5 * step, 1e-6);
    std::size_t first = 0;
    while (first < distances.size() && distances[first] < least) ++first;
    if (first + kNumPoints > distances.size()) return -1;
    double t = 0, root = 0, tt = 0, tr = 0;
    for (std::size_t i = first; i < first + kNumPoints; ++i) {
        if (!(distances[i] > 0)) return -1;
        const double r = std::sqrt(distances[i]);
        t += times[i], root += r, tt += times[i] * times[i], tr += times[i] * r;
    }
    const double n = kNumPoints, slope = (n * tr - t * root) / (n * tt - t * t);
    if (!(slope > 0)) return -1;
    return std::max(0.0, (t - root / slope) / n);
}

DeviceCheckReport check_device(HapticDevice& device, const CheckSurroundings& surroundings,
                               const DeviceCheckOptions& options) {
    check_options_of_check(options);
    return Check(device, surroundings, options).run();
}

}  // namespace pliant
