#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "geometry/mutated_surfaces.h"

namespace {

/// Choices out of the fuzzer's bytes, 0 where they have ended.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    int below(int bound) { return static_cast<int>(next() % static_cast<unsigned>(bound)); }
    double uniform(double low, double high) { return low + (high - low) * next() / 65536.0; }

private:
    unsigned next() {
        unsigned number = 0;
        for (int k = 0; k < 2 && size_ > 0; ++k, ++data_, --size_) number = number << 8 | *data_;
        return number;
    }
    const std::uint8_t* data_;
    std::size_t size_;
};

constexpr int kMaxTriangles = 3000;  // keeps each run short

}  // namespace

/// The bytes choose a shape, what is wrong with it and a mesher: a sound mesh or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes choose(data, size);
    const int mesher = choose.below(pliant::test::kNumMeshers);
    const int resolution = 4 + choose.below(8), levels = choose.below(12);
    const bool is_repaired = choose.below(2) == 0;
    try {
        const pliant::SurfaceMesh surface = pliant::test::mutated_surface(choose);
        if (surface.num_triangles() > kMaxTriangles) return 0;
        const std::string fault =
            pliant::test::mesh_and_check(surface, mesher, resolution, levels, is_repaired);
        if (!fault.empty()) {
            std::fprintf(stderr, "%s: %s\n", pliant::test::kMesherNames[mesher], fault.c_str());
            std::abort();
        }
    } catch (const pliant::InputError&) {
        // a surface that is refused
    }
    return 0;
}
