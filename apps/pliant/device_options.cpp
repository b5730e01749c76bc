#include "device_options.h"

#include <cstdio>
#include <limits>

#include "pliant/core/error.h"

namespace pliant::cli {
namespace {

void put_option(const Arguments& arguments, const char* option, std::string* place,
                const char* kinds, const DeviceDescription& device) {
    if (!arguments.has(option)) return;
    if (!place)
        throw InputError("", std::string(option) + " is of a " + kinds + " device, not of a " +
                                 kind(device) + " one; choose it with --device");
    *place = arguments.text(option);
}

}  // namespace

std::vector<Option> device_options() {
    return {
        {"--device-library", "FILE",
         "of the maker, for force-dimension and openhaptics (default: where the system looks)"},
        {"--device-address", "A",
         "where a network device listens (default 127.0.0.1; 0.0.0.0: to other computers, "
         "too), or the URL of a haply service"},
        {"--max-force", "N", "largest force of the device, at most what it and the scene say"},
        {"--max-torque", "NM", "the same of its torque [N m] (default: lowered as the force is)"}};
}

DeviceLimits device_limits(const Arguments& arguments) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return {arguments.real("--max-force", kNone, 1e-3, 1000),
            arguments.real("--max-torque", kNone, 0, 100)};
}

void reach_device(DeviceDescription& device, const Arguments& arguments) {
    put_option(arguments, "--device-library", library_of(device), "force-dimension or openhaptics",
               device);
    put_option(arguments, "--device-address", address_of(device), "network or haply", device);
}

void warn_of_network(const DeviceDescription& device) {
    const std::string warning = network_warning(device);
    if (!warning.empty()) std::fprintf(stderr, "Warning: %s.\n", warning.c_str());
}

}  // namespace pliant::cli
