#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "haptics/haply_message.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

/// Any text gives a reading whose numbers can be, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* id : {"", "049D"}) {
        const auto parsed = pliant::parse_haply_message(text, id);
        const auto* reading = std::get_if<pliant::HaplyReading>(&parsed);
        if (!reading) continue;
        require(!reading->device_id.empty());
        require(reading->state.pose.position.cwiseAbs().maxCoeff() <= 10);
        require(reading->state.twist.linear.allFinite());
        require(std::abs(reading->state.pose.rotation.norm() - 1) < 1e-9);
    }
    return 0;
}
