#include <cstddef>
#include <cstdint>
#include <string>

#include "pliant/core/error.h"
#include "pliant/greens/measured_greens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        (void)pliant::parse_measurement(std::string(reinterpret_cast<const char*>(data), size),
                                        "fuzz");
    } catch (const pliant::InputError&) {
    }
    return 0;
}
