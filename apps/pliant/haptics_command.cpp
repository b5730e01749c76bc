#include <cstdio>

#include "commands.h"
#include "device_options.h"
#include "haptics_check.h"
#include "haptics_devices.h"
#include "haptics_report.h"
#include "lab.h"
#include "output.h"
#include "pliant/core/error.h"
#include "zwidth_report.h"

namespace pliant::cli {
namespace {

HandModel chosen_hand(const std::string& name) {
    if (name == "none") return HandModel::absent();
    if (name == "loose") return HandModel::loose();
    if (name == "firm") return HandModel::firm();
    throw InputError("", "--hand", name, "none, loose or firm");
}

ZWidthOptions zwidth_options(const Arguments& arguments) {
    ZWidthOptions options;
    DeviceModel& device = options.device;
    device.mass = arguments.real("--device-mass", device.mass, 0.001, 100);
    device.damping = arguments.real("--damping", device.damping, 0, 1000);
    device.friction = arguments.real("--friction", device.friction, 0, 100);
    device.motor_bandwidth = arguments.real("--bandwidth", device.motor_bandwidth, 1, 1e5);
    device.rate = arguments.real("--rate", device.rate, 10, 1e5);
    device.delay = arguments.integer("--delay", device.delay, 0, 64);
    double& step = device.capabilities.position_step;
    step = arguments.real("--encoder", step, 0, 0.01);
    options.hand = chosen_hand(arguments.text("--hand", "none"));
    options.duration = arguments.real("--duration", options.duration, 0.1, 60);
    options.velocity_filter =
        arguments.real("--velocity-filter", options.velocity_filter, 0.001, 1);
    return options;
}

void run_zwidth(const Arguments& arguments) {
    const ZWidthOptions options = zwidth_options(arguments);
    const std::string path = wanted_page(arguments, "zwidth.html");
    Progress progress(progress_style(arguments));
    const ZWidthStudy walls = study_zwidth(options, progress);
    progress.finish();
    if (arguments.json())
        for (const std::string& line : json_lines(walls)) std::printf("%s\n", line.c_str());
    else
        print(walls);
    if (!path.empty()) write_page(arguments, path, zwidth_page(walls));
}

void run_report(const Arguments& arguments) {
    const std::string& file = arguments.operands()[1];
    const std::string path = wanted_page(arguments, "haptics.html");
    const HapticStudy study = study_haptics(Recording::load(file), file);
    if (arguments.json())
        std::printf("%s\n", json_line(study).c_str());
    else
        print(study);
    if (!path.empty()) write_page(arguments, path, haptics_page(study));
}

int run(const Arguments& arguments) {
    const std::string& study = arguments.operands()[0];
    const std::size_t num_operands = arguments.operands().size();
    if (study == "report") {
        if (num_operands < 2)
            throw InputError("", "`pliant haptics report` needs the recording: FILE.pliantrec");
        run_report(arguments);
        return 0;
    }
    if (study != "devices" && study != "zwidth" && study != "check")
        throw InputError("", "study", study, "check, devices, zwidth or report FILE");
    if (num_operands > 1)
        throw InputError("", "operand", arguments.operands()[1], "nothing after " + study);
    if (study == "devices") return list_haptic_devices(arguments);
    if (study == "check") return check_haptic_device(arguments);
    run_zwidth(arguments);
    return 0;
}

}  // namespace

Command haptics_command() {
    std::vector<Option> options{
        {"--device-mass", "KG", "felt at the handle (default 0.1)"},
        {"--damping", "NS/M", "viscous, of the device (default 0.1)"},
        {"--friction", "N", "dry, of the device (default 0)"},
        {"--bandwidth", "HZ", "of the motors (default: forces follow at once)"},
        {"--delay", "N", "whole samples until a force acts (default 1)"},
        {"--encoder", "M", "step of the encoders at the handle (default 2e-5)"},
        {"--hand", "NAME", "none, loose or firm (default none)"},
        {"--rate", "HZ", "of readings and forces (default 1000)"},
        {"--velocity-filter", "W", "one pole per sample of the wall's velocity (default 1: none)"},
        {"--duration", "S", "of one trial (default 4)"},
        {"--device", "KIND",
         "check: simulated, network, haply, force-dimension or openhaptics (default simulated); "
         "devices: whose library or address is given"},
        {"--yes", "", "check: asks nothing and does not wait"},
        {"--push", "N", "check: force of the trials (default 0.8)"},
        {"--profile", "FILE.json", "check: what was found, for scenes"},
        {"--fault", "AXIS", "check: simulated motor wired the wrong way, to practise"},
        {"--port", "N", "check, devices: of the network device (default 7717)"}};
    const std::vector<Option> device = device_options();
    options.insert(options.end(), device.begin(), device.end());
    options.push_back({"-o", "PATH", kPageHelp});
    return {.name = "haptics",
            .summary = kHapticsSummary,
            .operands = "check|devices|zwidth|report [FILE]",
            .example = "pliant haptics zwidth --hand loose -o zwidth.html",
            .min_operands = 1,
            .max_operands = 2,
            .options = std::move(options),
            .run = run};
}

}  // namespace pliant::cli
