#include "fuzz/volume_fuzz.h"
#include "pliant/geometry/mesh_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    return pliant::test::fuzz_volume_reader([&] {
        const pliant::Archive archive = pliant::Archive::from_bytes({bytes, bytes + size}, "fuzz");
        pliant::VolumeMesh mesh = pliant::read_volume_mesh(archive, "fuzz");
        if (archive.has("embedding/start")) {
            static_cast<void>(pliant::read_embedding(archive, mesh.num_vertices(), "fuzz"));
        }
        return mesh;
    });
}
