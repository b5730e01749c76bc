#include "fuzz/surface_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return pliant::test::fuzz_surface_reader(pliant::parse_obj, data, size);
}
