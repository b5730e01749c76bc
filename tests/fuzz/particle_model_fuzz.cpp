#include <cstdlib>

#include "fuzz/archive_fuzz.h"
#include "pliant/core/error.h"
#include "tests/sample_archives.h"

/// Any bytes give a model that can be stepped or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_particle_sample);
    try {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        const pliant::ParticleModel model = pliant::read_particle_model(archive, "fuzz");
        if (model.layout.num_particles() < 1 || model.surface.num_triangles() < 1) std::abort();
    } catch (const pliant::InputError&) {
        // a malformed file, refused
    }
    return 0;
}
