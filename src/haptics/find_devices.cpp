#include "pliant/haptics/find_devices.h"

#include "pliant/core/error.h"

#include <chrono>
#include <thread>

namespace pliant {
namespace {

FoundDevices find_network(const NetworkDescription& description) {
    FoundDevices found{kind(description), false, ""};
    try {
        const NetworkDevice device(description);
        found.is_ready = true;
        found.what = "port " + std::to_string(device.port()) + " of " + description.address +
                     " is free for a driver, by UDP or WebSocket";
    } catch (const InputError& error) {
        found.what = error.what();
    }
    return found;
}

FoundDevices find_haply_service(const HaplyDescription& description, double wait) {
    FoundDevices found{kind(description), false, ""};
    try {
        const HaplyDevice device(description);
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait);
        HaplyDeviceCounts counts;
        do {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            counts = device.counts();
        } while (counts.readings + counts.absent == 0 && std::chrono::steady_clock::now() < end);
        found.is_ready = counts.readings > 0;
        if (found.is_ready)
            found.what = "Inverse3 " + device.device_id() + " at " + description.url;
        else if (counts.connected == 0)
            found.what = "nobody answers at " + description.url +
                         "; install and start the Haply Inverse Service (https://docs.haply.co)";
        else
            found.what = "the service at " + description.url +
                         " lists no Inverse3; plug it in and switch it on";
    } catch (const InputError& error) {
        found.what = error.what();
    }
    return found;
}

FoundDevices find_force_dimension(const ForceDimensionDescription& description) {
    FoundDevices found{kind(description), false, ""};
    try {
        const ForceDimensionLibraryInfo info = inspect_force_dimension(description.library);
        found.is_ready = info.num_devices > 0;
        found.what = info.file + ", version " + info.version + "; " +
                     std::to_string(info.num_devices) +
                     (info.num_devices == 1 ? " device" : " devices");
    } catch (const InputError& error) {
        found.what = error.what();
    }
    return found;
}

FoundDevices find_open_haptics(const OpenHapticsDescription& description) {
    FoundDevices found{kind(description), false, ""};
    try {
        found.what = inspect_open_haptics(description.library) +
                     "; it lists no devices: open one to see whether it is there";
        found.is_ready = true;
    } catch (const InputError& error) {
        found.what = error.what();
    }
    return found;
}

}  // namespace

std::vector<FoundDevices> find_devices(const DeviceSearch& search) {
    return {{"simulated", true, "a device in a hand, in virtual time; always there"},
            {"scripted", true, "a handle on a path; always there"},
            {"recorded", true, "readings of a recording; always there"},
            find_network(search.network),
            find_haply_service(search.haply, search.wait),
            find_force_dimension(search.force_dimension),
            find_open_haptics(search.open_haptics),
            {"external", true, "a program that ticks the loop itself; always there"}};
}

}  // namespace pliant
