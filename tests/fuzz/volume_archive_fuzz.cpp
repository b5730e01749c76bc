#include "fuzz/archive_fuzz.h"
#include "fuzz/volume_fuzz.h"
#include "pliant/geometry/mesh_archive.h"
#include "tests/sample_archives.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::byte> sample =
        pliant::test::archive_sample(pliant::test::write_volume_sample);
    return pliant::test::fuzz_volume_reader([&] {
        const pliant::Archive archive =
            pliant::Archive::from_bytes(pliant::test::fuzzed_archive(data, size, sample), "fuzz");
        pliant::VolumeMesh mesh = pliant::read_volume_mesh(archive, "fuzz");
        if (archive.has("embedding/start")) {
            static_cast<void>(pliant::read_embedding(archive, mesh.num_vertices(), "fuzz"));
        }
        return mesh;
    });
}
