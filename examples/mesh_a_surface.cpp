// From a surface to a simulation mesh that carries it.
#include <pliant/pliant.h>

#include <cstdio>

int main(int argc, char** argv) {
    using namespace pliant;
    const SurfaceMesh surface = argc > 1 ? load_surface(argv[1]) : make_shape("spoon");
    const VolumeMesh mesh = build_tet_mesh(SurfaceQuery(surface), {.resolution = 60});
    const Embedding embedding(mesh, surface.vertices);

    // stretch the simulation mesh by 10 % and carry the surface along
    std::vector<double> u(3 * mesh.vertices.size()), u_surface(3 * surface.vertices.size());
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) u[3 * i] = 0.1 * mesh.vertices[i].x();
    embedding.transfer(u, u_surface);
    std::printf("%d tets carry %d surface vertices; the first moved by %.2f mm\n",
                mesh.num_elements(), embedding.num_points(), 1e3 * u_surface[0]);
}
