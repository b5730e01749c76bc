#include "fuzz/volume_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return pliant::test::fuzz_volume_reader([&] {
        return pliant::parse_msh({reinterpret_cast<const char*>(data), size}, "fuzz");
    });
}
