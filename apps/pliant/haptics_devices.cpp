#include "haptics_devices.h"

#include <cstdio>

#include "pliant/core/json_writer.h"
#include "pliant/haptics/find_devices.h"

namespace pliant::cli {

int list_haptic_devices(const Arguments& arguments) {
    DeviceSearch search;
    search.network.port = arguments.integer("--port", search.network.port, 0, 65535);
    search.haply.url = arguments.text("--haply", search.haply.url);
    search.force_dimension.library = arguments.text("--dhd");
    search.open_haptics.library = arguments.text("--hd");
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
