#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pliant/core/error.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/voxel_mesh.h"

namespace {

constexpr int kMaxTriangles = 2000;  // keeps each run short

void require(bool condition) {
    if (!condition) std::abort();
}

void embed(const pliant::SurfaceMesh& mesh) {
    const pliant::SurfaceQuery query(mesh);
    pliant::VoxelOptions options;
    options.resolution = 8;
    const pliant::VolumeMesh voxels = pliant::build_voxel_mesh(query, options);
    require(voxels.num_elements() > 0);
    for (const double filled : voxels.filled) require(filled > 0 && filled <= 1);
    const pliant::Embedding embedding(voxels, mesh.vertices);
    for (const double weight : embedding.weights()) require(std::isfinite(weight));
}

}  // namespace

/// Whatever an OBJ file holds, every step from the file to the embedded surface gives a usable
/// result or an InputError: with the surface as it is, and repaired.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        pliant::SurfaceMesh mesh =
            pliant::parse_obj({reinterpret_cast<const char*>(data), size}, "fuzz");
        if (mesh.num_triangles() > kMaxTriangles) return 0;
        const pliant::SurfaceReport report = pliant::check_surface(mesh);
        require(std::isfinite(report.area) && std::isfinite(report.volume));
        try {
            embed(mesh);
        } catch (const pliant::InputError&) {
            // repairing may help
        }
        pliant::repair_surface(mesh);
        embed(mesh);
    } catch (const pliant::InputError&) {
        // a file or surface that is refused
    }
    return 0;
}
