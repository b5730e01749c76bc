#include "fuzz/archive_fuzz.h"
#include "pliant/core/error.h"
#include "tests/sample_archives.h"

namespace {

template <class T>
double sum_of(const pliant::Archive& archive, const std::string& name) {
    double sum = 0;
    for (const T value : archive.get<T>(name)) sum += static_cast<double>(value);
    return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_volume_sample);
    volatile double sink = 0;
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        // every byte of every chunk, and the wrong type of some
        for (const pliant::ChunkInfo& chunk : archive.chunks()) {
            try {
                sink = sink + sum_of<std::uint8_t>(archive, chunk.name);
            } catch (const pliant::InputError&) {
                if (chunk.type == pliant::ChunkType::F64)
                    sink = sink + sum_of<double>(archive, chunk.name);
                if (chunk.type == pliant::ChunkType::U16)
                    sink = sink + sum_of<std::uint16_t>(archive, chunk.name);
                if (chunk.type == pliant::ChunkType::I32)
                    sink = sink + sum_of<std::int32_t>(archive, chunk.name);
            }
        }
        archive.verify();
    } catch (const pliant::InputError&) {
        // refusing is what a reader does with a bad file
    }
    return 0;
}
