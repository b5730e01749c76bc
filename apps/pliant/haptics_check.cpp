#include "haptics_check.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "device_options.h"
#include "library_path.h"
#include "output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/version.h"
#include "pliant/haptics/device_check.h"
#include "pliant/haptics/open_device.h"
#include "pliant/scene/scene_file.h"
#include "reproduce/plot.h"
#include "reproduce/report.h"
#include "scene/own_profile.h"

namespace pliant::cli {
namespace {

/// The simulated device with the hand that obeys, and a motor that may be wired the wrong way.
class PracticeDevice final : public HapticDevice {
public:
    PracticeDevice(const DeviceModel& model, int mirrored_axis)
        : device_(model), mirrored_axis_(mirrored_axis) {}
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return device_.capabilities();
    }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        // a finger takes a moment after the question
        if (presses_ && ++ticks_asked_ > 100) device_.set_buttons(1);
        return device_.read(now);
    }
    void write(const DeviceCommand& command) noexcept override {
        DeviceCommand sent = command;
        if (mirrored_axis_ >= 0) sent.force[mirrored_axis_] *= -1;
        device_.write(sent);
    }
    void obey(CheckAction action) {
        device_.set_hand(action == CheckAction::LetGo ? HandModel::absent() : HandModel::loose());
        device_.set_buttons(0);
        presses_ = action == CheckAction::PressButton;
        ticks_asked_ = 0;
        // one motion after the other, each from where the last one ended; then to the middle
        if (action == CheckAction::MoveRight) target_.position.x() = 0.04;
        if (action == CheckAction::MoveAway) target_.position.y() = 0.04;
        if (action == CheckAction::MoveUp) target_.position.z() = 0.04;
        if (action == CheckAction::HoldLoosely) target_.position.setZero();
        device_.aim(target_);
    }

private:
    SimulatedDevice device_;
    Pose target_;
    int mirrored_axis_;
    bool presses_ = false;
    int ticks_asked_ = 0;
};

DeviceDescription described_device(const Arguments& arguments, const std::string& kind) {
    if (kind == "simulated") {
        SimulatedDescription device;
        device.model.delay = arguments.integer("--delay", device.model.delay, 0, 64);
        device.model.mass = arguments.real("--device-mass", device.model.mass, 0.001, 100);
        device.model.capabilities.name = "simulated device";
        return device;
    }
    if (kind == "network") {
        NetworkDescription device;
        device.port = arguments.integer("--port", device.port, 0, 65535);
        return device;
    }
    if (kind == "haply") return HaplyDescription{};
    if (kind == "force-dimension") return ForceDimensionDescription{};
    if (kind == "openhaptics") return OpenHapticsDescription{};
    throw InputError("", "--device", kind,
                     "simulated, network, haply, force-dimension or openhaptics");
}

DeviceDescription chosen_device(const Arguments& arguments, const std::string& kind) {
    DeviceDescription device = described_device(arguments, kind);
    reach_device(device, arguments);
    limit(device, device_limits(arguments));
    warn_of_network(device);
    return device;
}

int faulty_axis(const Arguments& arguments, const std::string& kind) {
    const std::string axis = arguments.text("--fault");
    if (axis.empty()) return -1;
    if (kind != "simulated")
        throw InputError("",
                         "--fault is for --device simulated, to see what a check does; drop it");
    if (axis != "x" && axis != "y" && axis != "z")
        throw InputError("", "--fault", axis, "x, y or z");
    return axis[0] - 'x';
}

/// Real time, and a person at the terminal.
CheckSurroundings person(bool says_yes) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    return {
        .wait_until =
            [start](double next) {
                if (Progress::none().is_cancelled()) throw Cancelled();
                std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                                          std::chrono::duration<double>(next)));
                return std::chrono::duration<double>(Clock::now() - start).count();
            },
        .ask =
            [says_yes](CheckAction action) {
                std::fprintf(stderr, "%s%s", says_yes ? "" : "Press Enter (s: skip), then:  ",
                             std::string(sentence(action)).c_str());
                if (says_yes) {
                    std::fprintf(stderr, "\n");
                    return true;
                }
                std::fprintf(stderr, " ");
                std::fflush(stderr);
                int c = std::getchar();
                const bool is_skipped = c == 's' || c == EOF;
                while (c != '\n' && c != EOF) c = std::getchar();
                return !is_skipped;
            }};
}

/// What a scene's "device" takes.
void write_scene_device(JsonWriter& json, const std::string& kind, const Arguments& arguments,
                        const DeviceCheckReport& report) {
    const DeviceCapabilities& can = report.capabilities;
    json.begin_object().member("kind", kind);
    if (kind == "simulated") {
        json.member("mass", arguments.real("--device-mass", DeviceModel().mass, 0.001, 100));
        if (report.latency > 0) json.member("delay", static_cast<int>(can.delay));
    }
    if (kind == "network" && arguments.has("--port"))
        json.member("port", arguments.integer("--port", 0, 0, 65535));
    if (arguments.has("--device-address"))
        json.member(kind == "haply" ? "url" : "address", arguments.text("--device-address"));
    if (arguments.has("--device-library"))
        json.member("library", whole_library_path(arguments.text("--device-library")));
    json.member("max_force", can.max_force).member("max_torque", can.max_torque);
    if (kind == "simulated" || kind == "network") {
        json.key("workspace").begin_array();
        for (const double side : can.workspace) json.value(side);
        json.end_array()
            .member("continuous_force", can.continuous_force)
            .member("max_stiffness", can.max_stiffness);
    }
    if (kind != "simulated" && report.latency > 0) json.member("latency", report.latency);
    if (report.button >= 0) json.member("clutch", report.button);
    json.end_object();
}

/// The profile, and with the steps the line of --json.
std::string profile(const std::string& kind, const Arguments& arguments,
                    const DeviceCheckReport& report, double rate) {
    const DeviceCapabilities& can = report.capabilities;
    JsonWriter json;
    json.begin_object().member("pliant_device_profile", 1).member("name", can.name);
    json.member("passed", report.has_passed()).key("steps").begin_array();
    for (const CheckStep& step : report.steps)
        json.begin_object()
            .member("step", step.name)
            .member("result", to_string(step.result))
            .member("finding", step.finding)
            .member("remedy", step.remedy)
            .end_object();
    const TickHistogram::Summary told = report.intervals.summary();
    json.end_array().key("device");
    write_scene_device(json, kind, arguments, report);
    json.key("measured")
        .begin_object()
        .member("readings_per_s", report.reading_rate)
        .member("interval_p50_us", told.p50_us)
        .member("interval_p99_us", told.p99_us)
        .member("interval_max_us", told.max_us)
        .member("latency_s", report.latency)
        .member("delay_samples", can.delay)
        .member("button", report.button);
    json.key("weight_n").begin_array();
    for (const double force : report.weight) json.value(force);
    json.end_array().end_object();
    json.key("gains").begin_array();
    for (const GainNote& note : explain(report.gains, can, {.rate = rate}))
        json.begin_object()
            .member("name", note.name)
            .member("value", note.value)
            .member("unit", note.unit)
            .member("meaning", note.meaning)
            .member("reason", note.reason)
            .end_object();
    json.end_array();
    return json.end_object().text();
}

/// How many intervals between readings are in each of equal classes.
struct IntervalClasses {
    double low = 0, width = 0;  // [µs]
    std::vector<int> counts;    // empty where there are no intervals
};
IntervalClasses classes_of(const std::vector<double>& interval_us, std::size_t num_classes) {
    if (interval_us.empty()) return {};
    const auto [low, high] = std::minmax_element(interval_us.begin(), interval_us.end());
    // clocks that never differ get one class of a microsecond
    IntervalClasses classes{
        *low, std::max((*high - *low) / static_cast<double>(num_classes), 1.0), {}};
    for (const double interval : interval_us) {
        const auto place = std::min(
            num_classes - 1, static_cast<std::size_t>((interval - classes.low) / classes.width));
        if (place >= classes.counts.size()) classes.counts.resize(place + 1, 0);
        ++classes.counts[place];
    }
    return classes;
}

/// One line for each class, for terminals.
void print_intervals(const std::vector<double>& interval_us) {
    constexpr std::size_t kClasses = 8;
    constexpr int kLongest = 40;
    const IntervalClasses classes = classes_of(interval_us, kClasses);
    if (classes.counts.empty()) return;
    const int most = *std::max_element(classes.counts.begin(), classes.counts.end());
    std::printf("\nTime between new readings:\n");
    for (std::size_t i = 0; i < classes.counts.size(); ++i) {
        // classes of one reading are seen beside those of thousands
        const int length = (kLongest * classes.counts[i] + most - 1) / most;
        std::string bar;
        for (int k = 0; k < length; ++k) bar += "█";
        std::printf("  from %8.0f µs %7d %s\n",
                    classes.low + static_cast<double>(i) * classes.width, classes.counts[i],
                    bar.c_str());
    }
}

std::string page_of(const DeviceCheckReport& report, double rate) {
    using reproduce::Cell;
    reproduce::Section section("check", "Bring-up of " + report.capabilities.name);
    reproduce::Table steps{"steps",
                           "What was tried",
                           {{"step", "step"},
                            {"result", "result"},
                            {"finding", "finding"},
                            {"remedy", "what to change"}}};
    for (const CheckStep& step : report.steps)
        steps.add({step.name, std::string(to_string(step.result)), step.finding, step.remedy});
    section.table(steps);
    // outline of the bars
    const IntervalClasses classes = classes_of(report.interval_us, 24);
    reproduce::Series bars{"", {}, 0, reproduce::Stroke::Line};
    for (std::size_t i = 0; i < classes.counts.size(); ++i) {
        const double left = classes.low + static_cast<double>(i) * classes.width;
        for (const auto& [x, y] : {std::pair{left, 0}, std::pair{left, classes.counts[i]},
                                   std::pair{left + classes.width, classes.counts[i]},
                                   std::pair{left + classes.width, 0}})
            bars.points.emplace_back(x, y);
    }
    section.figure(
        {reproduce::drawn({.title = "Time between new readings",
                           .x_label = "interval [µs]",
                           .y_label = "readings",
                           .series = {bars}})},
        format("Jitter over one second; %.2f ms from a command to motion.", 1e3 * report.latency));
    reproduce::Table gains{"gains",
                           "Gains by rule for this device",
                           {{"name", "gain"},
                            {"value", "value"},
                            {"unit", "unit"},
                            {"meaning", "what it does"},
                            {"reason", "why this value"}}};
    for (const GainNote& note : explain(report.gains, report.capabilities, {.rate = rate}))
        gains.add({note.name, Cell::number(note.value), note.unit, note.meaning, note.reason});
    section.table(gains);
    return reproduce::html_page("Device check",
                                format("Written by pliant %s haptics check.", kVersion), {section});
}

void write_and_tell(const std::string& path, const std::string& text) {
    write_file(path, text);
    std::fprintf(stderr, "wrote %s\n", path.c_str());
}

void print_check(const DeviceCheckReport& report, double rate) {
    for (const CheckStep& step : report.steps) {
        std::printf("%-9s %-8s %s\n", step.name.c_str(),
                    std::string(to_string(step.result)).c_str(), step.finding.c_str());
        if (!step.remedy.empty()) std::printf("%18s → %s\n", "", step.remedy.c_str());
    }
    print_intervals(report.interval_us);
    if (!report.has_passed()) return;
    std::printf(
        "\nSuggested gains (tool of 5 cm, field of 1 mm cells; scenes derive their own):\n");
    for (const GainNote& note : explain(report.gains, report.capabilities, {.rate = rate}))
        std::printf("  %-24s %10.4g %-9s %s\n", note.name.c_str(), note.value, note.unit.c_str(),
                    note.reason.c_str());
}

}  // namespace

int check_haptic_device(const Arguments& arguments) {
    const std::string kind = arguments.text("--device", "simulated");
    const DeviceDescription description = chosen_device(arguments, kind);
    const int fault = faulty_axis(arguments, kind);
    const bool is_simulated = kind == "simulated";
    const bool says_yes = arguments.has("--yes");
    if (!is_simulated && !says_yes && isatty(STDIN_FILENO) == 0)
        throw InputError("", "pliant haptics check --device " + kind +
                                 " asks for motions of the handle and needs a terminal; --yes "
                                 "goes on without waiting for answers");
    const std::string page = wanted_page(arguments, "check.html");
    if (arguments.has("--profile")) check_output(arguments.text("--profile"), {".json"});
    DeviceCheckOptions options;
    options.rate = arguments.real("--rate", options.rate, 100, 10000);
    options.push = arguments.real("--push", options.push, 0.05, 2);

    DeviceCheckReport report;
    if (is_simulated) {
        DeviceModel model = std::get<SimulatedDescription>(description).model;
        model.rate = options.rate;
        PracticeDevice device(model, fault);
        report = check_device(device,
                              {.wait_until = [](double next) { return next; },
                               .ask =
                                   [&device](CheckAction action) {
                                       device.obey(action);
                                       return true;
                                   }},
                              options);
    } else {
        const std::unique_ptr<HapticDevice> device = open_device(description);
        report = check_device(*device, person(says_yes), options);
    }
    if (const std::string loose = loose_limits(device_limits(arguments), report.capabilities);
        !loose.empty())
        std::fprintf(stderr, "%s\n", loose.c_str());
    const std::string json = profile(kind, arguments, report, options.rate);
    if (arguments.json())
        std::printf("%s\n", json.c_str());
    else
        print_check(report, options.rate);
    if (!page.empty()) write_and_tell(page, page_of(report, options.rate));
    if (arguments.has("--profile")) {
        if (report.has_passed()) {
            write_own_profile(arguments.text("--profile"), json + "\n");
            std::fprintf(stderr, "wrote %s\n", arguments.text("--profile").c_str());
            if (arguments.has("--device-library") || is_beyond_computer(description))
                std::fprintf(stderr,
                             "Its library or address counts only where the profile is your own, in "
                             "%s; elsewhere give it again.\n",
                             own_profile_folder().c_str());
        } else {
            std::fprintf(stderr, "no profile was written: the check did not pass\n");
        }
    }
    return report.has_passed() ? 0 : 1;
}

}  // namespace pliant::cli
