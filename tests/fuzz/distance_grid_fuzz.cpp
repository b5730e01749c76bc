#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/archive_fuzz.h"
#include "pliant/core/error.h"
#include "pliant/field/distance_grid.h"
#include "tests/sample_archives.h"

/// Any bytes give a field that answers everywhere or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_field_sample);
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::DistanceGrid grid = pliant::DistanceGrid::from_archive(archive, "fuzz");
        const pliant::Box box = grid.bounds();
        for (int k = 0; k < 64; ++k) {
            const Eigen::Vector3d t(k % 4 / 3.0, k / 4 % 4 / 3.0, k / 16 / 3.0);
            const Eigen::Vector3d x = box.min() + t.cwiseProduct(box.sizes());
            if (std::isnan(grid.distance(x)) || std::isnan(grid.sample(x).distance)) std::abort();
        }
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
