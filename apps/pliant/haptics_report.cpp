#include "haptics_report.h"

#include <algorithm>
#include <cmath>

#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/version.h"
#include "reproduce/plot.h"
#include "reproduce/report.h"

namespace pliant::cli {
namespace {

using reproduce::Cell;
using reproduce::Plot;
using reproduce::Section;
using reproduce::Series;

constexpr double kLeastJump = 0.05;  ///< that a hand notices as a click [N]
constexpr std::size_t kShownJumps = 10;

double percentile(std::vector<double> values, double p) {
    if (values.empty()) return 0;
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

/// Least and largest value of each short piece of time: nothing that sticks out is lost.
template <class Value>
Series envelope(const std::string& label, const HapticStudy& study, int color, Value&& value) {
    constexpr std::size_t kPieces = 500;
    Series series{label, {}, color};
    const std::size_t count = study.ticks.size();
    const std::size_t length = std::max<std::size_t>(1, count / kPieces);
    for (std::size_t begin = 0; begin < count; begin += length) {
        const std::size_t end = std::min(count, begin + length);
        std::size_t low = begin, high = begin;
        for (std::size_t i = begin; i < end; ++i) {
            if (value(study.ticks[i]) < value(study.ticks[low])) low = i;
            if (value(study.ticks[i]) > value(study.ticks[high])) high = i;
        }
        for (const std::size_t i : {std::min(low, high), std::max(low, high)})
            series.points.emplace_back(static_cast<double>(i + 1) / study.rate,
                                       value(study.ticks[i]));
    }
    return series;
}

void measure_oscillation(HapticStudy& study) {
    OscillationMeter meter({.rate = study.rate});
    study.oscillation_limit = meter.options().force_limit;
    for (const HapticTick& tick : study.ticks) {
        meter.record({tick.command.force, tick.command.torque});
        if (meter.num_windows() == study.num_windows) continue;
        study.num_windows = meter.num_windows();
        study.oscillation = std::max(study.oscillation, meter.level().force);
        if (meter.level().force > study.oscillation_limit) ++study.num_loud_windows;
    }
}

void measure_signal(HapticStudy& study) {
    std::vector<Eigen::Vector3d> force;
    std::vector<double> size;
    for (const HapticTick& tick : study.ticks) {
        force.push_back(tick.command.force);
        size.push_back(tick.command.force.norm());
    }
    study.median_force = percentile(size, 0.5);
    study.p99_force = percentile(size, 0.99);
    study.max_force = percentile(size, 1);
    study.jumps = find_jumps(force, kLeastJump, static_cast<int>(force.size()));
    study.num_jumps = study.jumps.size();
    if (study.num_jumps > kShownJumps) study.jumps.resize(kShownJumps);
    study.spectrum = force_spectrum(force, study.rate);
    const OscillationOptions options;
    double loudest = 0;
    for (std::size_t i = 0; i < study.spectrum.frequency.size(); ++i)
        if (study.spectrum.frequency[i] > options.cutoff && study.spectrum.amplitude[i] > loudest) {
            loudest = study.spectrum.amplitude[i];
            study.loudest_frequency = study.spectrum.frequency[i];
        }
}

std::string device_words(const HapticStudy& study) {
    const DeviceCapabilities& can = study.device.capabilities;
    return format("%s (%s), up to %.3g N and %.3g N m, %.3g s at %.0f Hz",
                  can.name.empty() ? "device" : can.name.c_str(), study.device.kind.c_str(),
                  can.max_force, can.max_torque,
                  static_cast<double>(study.ticks.size()) / study.rate, study.rate);
}

/// What was measured, what is expected of it, in the order of the page.
struct Line {
    std::string what, value, limit;
    bool is_met = true;
};

std::vector<Line> lines(const HapticStudy& study) {
    const DeviceCapabilities& can = study.device.capabilities;
    const auto ticks = [](std::int64_t count) { return grouped(count) + " ticks"; };
    return {
        {"force at the device, median / p99 / largest",
         format("%.3g / %.3g / %.3g N", study.median_force, study.p99_force, study.max_force),
         format("%.3g N", can.max_force), study.max_force <= can.max_force * (1 + 1e-9)},
        {"largest torque", format("%.3g N m", study.max_torque), format("%.3g N m", can.max_torque),
         study.max_torque <= can.max_torque * (1 + 1e-9)},
        {"force at its limit", format("%.2f %% of the time", 100 * study.saturated), ""},
        {"in contact", format("%.1f %% of the time", 100 * study.contacting), ""},
        {"deepest contact", format("%.3g mm", 1e3 * study.deepest),
         study.bound > 0 ? format("%.3g mm", 1e3 * study.bound) : "", study.num_beyond == 0},
        {"deeper than its limit", ticks(study.num_beyond), "0", study.num_beyond == 0},
        {"least energy of the port above that of the springs, W − S",
         format("%.3g mJ", 1e3 * study.least_margin),
         format("%.3g mJ", -1e3 * PassivityOptions().tolerance),
         study.least_margin >= -PassivityOptions().tolerance},
        {"force above 15 Hz, worst half second", format("%.3g N", study.oscillation),
         format("%.3g N at rest", study.oscillation_limit), study.num_loud_windows == 0},
        {"half seconds above that", format("%d of %d", study.num_loud_windows, study.num_windows),
         "0 at rest", study.num_loud_windows == 0},
        {"loudest frequency above 15 Hz", format("%.4g Hz", study.loudest_frequency), ""},
        {"clicks of more than 0.05 N",
         study.jumps.empty()
             ? "none"
             : format("%zu, up to %.3g N", study.num_jumps, study.jumps.front().size),
         "", study.jumps.empty()},
        {"gains or steps were reduced",
         format("%.2f %% of the time, to %.3g and %.3g", 100 * study.reduced, study.least_gain,
                study.least_step),
         ""},
        {"no new reading of the device", ticks(study.num_unread), "", study.num_unread == 0},
        {"ticks that ignored or rejected something", ticks(study.num_not_ok), "0",
         study.num_not_ok == 0}};
}

std::vector<std::string> force_plots(const HapticStudy& study) {
    Plot force{.title = "Force at the device", .x_label = "time [s]", .y_label = "N"};
    for (int axis = 0; axis < 3; ++axis)
        force.series.push_back(
            envelope(std::string(1, "xyz"[axis]), study, axis,
                     [axis](const HapticTick& t) { return t.command.force[axis]; }));
    const Plot depth{
        .title = "Depth of contacts",
        .x_label = "time [s]",
        .y_label = "mm",
        .series = {
            envelope("deepest", study, 0, [](const HapticTick& t) { return 1e3 * t.depth; }),
            envelope("limit", study, 4, [](const HapticTick& t) { return 1e3 * t.max_depth; })}};
    return {drawn(force), drawn(depth)};
}

std::vector<std::string> energy_plots(const HapticStudy& study) {
    const Plot energy{
        .title = "Energy at the port",
        .x_label = "time [s]",
        .y_label = "mJ",
        .series = {envelope("W, from the hand", study, 0,
                            [](const HapticTick& t) { return 1e3 * t.port_energy; }),
                   envelope("S, in the springs", study, 1,
                            [](const HapticTick& t) { return 1e3 * t.stored_energy; }),
                   envelope("W − S", study, 2, [](const HapticTick& t) {
                       return 1e3 * (t.port_energy - t.stored_energy);
                   })}};
    const Plot help{
        .title = "Oscillation and what is done about it",
        .x_label = "time [s]",
        .y_label = "N; shares",
        .series = {envelope("force above 15 Hz [N]", study, 4,
                            [](const HapticTick& t) { return t.oscillation; }),
                   envelope("gains", study, 0, [](const HapticTick& t) { return t.gain_scale; }),
                   envelope("steps", study, 1, [](const HapticTick& t) { return t.step_scale; })}};
    return {drawn(energy), drawn(help)};
}

std::vector<std::string> signal_plots(const HapticStudy& study) {
    // neighbours on the logarithmic axis share a point: the loudest of them
    Series series{"", {}, 0};
    double next = 0;
    for (std::size_t i = 1; i < study.spectrum.frequency.size(); ++i) {
        const double f = study.spectrum.frequency[i], a = study.spectrum.amplitude[i];
        if (f >= next) {
            series.points.emplace_back(f, a);
            next = 1.01 * f;
        } else if (a > series.points.back().second) {
            series.points.back() = {f, a};
        }
    }
    const Plot spectrum{.title = "Spectrum of the force at the device",
                        .x_label = "Hz",
                        .y_label = "N",
                        .series = {series},
                        .guides = {{OscillationOptions().cutoff, "felt as buzzing", true}},
                        .log_x = true,
                        .log_y = true};
    const Plot stretch{.title = "Hand ahead of the tool",
                       .x_label = "time [s]",
                       .y_label = "mm",
                       .series = {envelope("", study, 3, [](const HapticTick& t) {
                           return 1e3 * (t.manipulandum.position - t.tool.position).norm();
                       })}};
    return {drawn(spectrum), drawn(stretch)};
}

}  // namespace

HapticStudy study_haptics(const Recording& recording, const std::string& file) {
    const RecordingHeader& header = recording.header();
    if (!header.device || recording.haptics(header.device->loop).empty())
        throw InputError(file,
                         "no tool is held in a hand in this recording; record a scene with "
                         "\"tool\": {\"body\": …}, as `pliant demo peg-hole` is one");
    HapticStudy study;
    study.file = file;
    study.device = *header.device;
    study.rate = header.loops[static_cast<std::size_t>(study.device.loop)].rate;
    const HapticTicks& ticks = recording.haptics(study.device.loop);
    study.ticks.assign(ticks.begin(), ticks.end());

    const double limit = study.device.capabilities.max_force;
    for (const HapticTick& tick : study.ticks) {
        const double sum = tick.command.force.sum() + tick.command.torque.sum() + tick.depth +
                           tick.max_depth + tick.port_energy + tick.stored_energy;
        if (!std::isfinite(sum))
            throw InputError(
                file, "tick " + std::to_string(&tick - study.ticks.data() + 1) +
                          " holds numbers that are not finite, of which nothing can be said; "
                          "record again");
        study.max_torque = std::max(study.max_torque, tick.command.torque.norm());
        if (tick.command.force.norm() > 0.999 * limit) ++study.saturated;
        if (tick.num_contacts > 0) ++study.contacting;
        if (tick.gain_scale < 1 || tick.step_scale < 1) ++study.reduced;
        study.deepest = std::max(study.deepest, tick.depth);
        study.bound = std::max(study.bound, tick.max_depth);
        // some tools have no bound
        if (tick.max_depth > 0 && tick.depth > tick.max_depth) ++study.num_beyond;
        study.least_margin = std::min(study.least_margin, tick.port_energy - tick.stored_energy);
        study.least_gain = std::min(study.least_gain, tick.gain_scale);
        study.least_step = std::min(study.least_step, tick.step_scale);
        if (tick.device.status != DeviceStatus::Ok &&
            tick.device.status != DeviceStatus::NoRotation)
            ++study.num_unread;
        if (tick.status != StepStatus::Ok) ++study.num_not_ok;
    }
    const auto count = static_cast<double>(study.ticks.size());
    for (double* const part : {&study.saturated, &study.contacting, &study.reduced}) *part /= count;
    measure_oscillation(study);
    measure_signal(study);
    return study;
}

void print(const HapticStudy& study) {
    std::printf("%s: %s\n\n", study.file.c_str(), device_words(study).c_str());
    Table table({"", "measured", "limit", ""});
    for (const Line& line : lines(study))
        table.add({line.what, line.value, line.limit, line.is_met ? "" : "look at this"});
    table.print();
}

std::string json_line(const HapticStudy& study) {
    JsonWriter json;
    json.begin_object().member("file", study.file).member("device", study.device.kind);
    json.member("rate", study.rate).member("ticks", static_cast<std::int64_t>(study.ticks.size()));
    json.member("median_force", study.median_force).member("p99_force", study.p99_force);
    json.member("max_force", study.max_force).member("max_torque", study.max_torque);
    json.member("saturated", study.saturated).member("contacting", study.contacting);
    json.member("deepest", study.deepest).member("max_depth", study.bound);
    json.member("violations", study.num_beyond).member("least_margin", study.least_margin);
    json.member("oscillation", study.oscillation).member("windows", study.num_windows);
    json.member("loud_windows", study.num_loud_windows);
    json.member("loudest_frequency", study.loudest_frequency);
    json.member("least_gain_scale", study.least_gain).member("least_step_scale", study.least_step);
    json.member("not_ok", study.num_not_ok);
    json.member("num_jumps", study.num_jumps).key("jumps").begin_array();
    for (const ForceJump& jump : study.jumps)
        json.begin_object()
            .member("time", static_cast<double>(jump.sample + 1) / study.rate)
            .member("size", jump.size)
            .end_object();
    return json.end_array().end_object().text();
}

std::string haptics_page(const HapticStudy& study) {
    Section section("haptics", "What the hand felt");
    section.text(study.file + ": " + device_words(study) + ".");
    reproduce::Table table{
        "summary", "In numbers", {{"what", ""}, {"value", "measured"}, {"limit", "limit"}}};
    for (const Line& line : lines(study)) {
        Cell value(line.value);
        value.deviates = !line.is_met;
        table.add({line.what, value, line.limit});
    }
    section.table(table);
    section.figure(force_plots(study),
                   "What the motors were asked for, and how deep the tool was.");
    section.figure(energy_plots(study),
                   "A loop that gives back more than the hand has put in and the springs still "
                   "hold has made energy: W − S below zero. Back-off takes steps and gains down "
                   "where the force oscillates.");
    section.figure(signal_plots(study),
                   "Where the force has its energy; how far the coupling was "
                   "stretched.");
    if (!study.jumps.empty()) {
        reproduce::Table clicks{"clicks",
                                study.num_jumps > study.jumps.size()
                                    ? "The largest jumps of the force"
                                    : "Jumps of the force",
                                {{"time", "time [s]"}, {"size", "size [N]"}}};
        for (const ForceJump& jump : study.jumps)
            clicks.add({Cell::number(static_cast<double>(jump.sample + 1) / study.rate, "%.3f"),
                        Cell::number(jump.size, "%.3g")});
        section.table(clicks);
    }
    return reproduce::html_page(
        "Haptic report", format("Written by pliant %s haptics report.", kVersion), {section});
}

}  // namespace pliant::cli
