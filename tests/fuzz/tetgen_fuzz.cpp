#include "fuzz/volume_fuzz.h"

// The two files are joined by a '|', which neither can contain outside comments.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t split = std::min(text.find('|'), size);
    const std::string_view ele = split < size ? text.substr(split + 1) : std::string_view();
    return pliant::test::fuzz_volume_reader(
        [&] { return pliant::parse_tetgen(text.substr(0, split), "fuzz.node", ele, "fuzz.ele"); });
}
