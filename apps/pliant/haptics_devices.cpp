#include "haptics_devices.h"

#include <cstdio>
#include <type_traits>

#include "device_options.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/haptics/find_devices.h"

namespace pliant::cli {

int list_haptic_devices(const Arguments& arguments) {
    DeviceSearch search;
    search.network.port = arguments.integer("--port", search.network.port, 0, 65535);
    const std::string kind = arguments.text("--device");
    if (kind.empty() && (arguments.has("--device-library") || arguments.has("--device-address")))
        throw InputError("",
                         "whose library or address it is, --device KIND says: network, haply, "
                         "force-dimension or openhaptics");
    bool is_found = kind.empty();
    const auto reach = [&](auto& one) {
        DeviceDescription description = one;
        if (kind != pliant::kind(description)) return;
        is_found = true;
        reach_device(description, arguments);
        warn_of_network(description);
        one = std::get<std::decay_t<decltype(one)>>(description);
    };
    reach(search.network);
    reach(search.haply);
    reach(search.force_dimension);
    reach(search.open_haptics);
    if (!is_found)
        throw InputError("", "--device", kind, "network, haply, force-dimension or openhaptics");
    for (const FoundDevices& found : find_devices(search)) {
        if (arguments.json()) {
            JsonWriter json;
            json.begin_object().member("kind", found.kind).member("ready", found.is_ready);
            std::printf("%s\n", json.member("found", found.what).end_object().text().c_str());
        } else {
            std::printf("%-16s %-6s %s\n", found.kind.c_str(), found.is_ready ? "ready" : "-",
                        found.what.c_str());
        }
    }
    return 0;
}

}  // namespace pliant::cli
