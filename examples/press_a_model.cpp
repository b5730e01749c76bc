// Presses on a reduced model of a mesh at 1 kHz and prints how hard it presses back.
#include <pliant/pliant.h>

#include <cstdio>

int main(int argc, char** argv) {
    using namespace pliant;
    const SurfaceMesh mesh = argc > 1 ? load_surface(argv[1]) : make_shape("heart");
    ReducedBody body(build_reduced_model(mesh, {.size = 0.12,
                                                .material = material_preset("tissue"),
                                                .fixed = "z < 10 %",
                                                .num_modes = 10,
                                                .rank = 20}));
    const auto top = SurfacePoint::at_vertex(select(highest(0), body.surface().vertices).front());
    for (int tick = 1; tick <= 1000; ++tick) {
        body.prescribe(top, body.position(top) - Eigen::Vector3d(0, 0, 1e-5));  // 1 cm/s
        body.step(1e-3);
        if (tick % 100 == 0) std::printf("%d mm: %.3f N\n", tick / 100, -body.holding_force(0).z());
    }
}
