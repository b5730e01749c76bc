#include <pliant/pliant.h>

#include <cstdio>

// What a project outside the tree does: exits with 0 only if the installed library works.
int main() {
    const pliant::SurfaceMesh surface = pliant::polygonize(
        pliant::implicit::sphere(Eigen::Vector3d::Zero(), 0.1), {.resolution = 16});
    const pliant::VolumeMesh mesh =
        pliant::build_voxel_mesh(pliant::SurfaceQuery(surface), {.resolution = 12});
    std::printf("%s: %d hexes\n", pliant::kVersion, mesh.num_elements());
    return mesh.num_elements() > 0 ? 0 : 1;
}
