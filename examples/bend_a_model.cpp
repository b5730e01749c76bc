// From a surface to a model that bends, and one second of its motion under a pull.
#include <pliant/pliant.h>

#include <cstdio>

int main(int argc, char** argv) {
    using namespace pliant;
    const SurfaceMesh surface = argc > 1 ? load_surface(argv[1]) : make_shape("beam");
    const ReducedModel model =
        build_reduced_model(surface, {.size = 0.2,
                                      .material = material_preset("silicone"),
                                      .fixed = "x < 5 %",
                                      .mesh = {.resolution = 32},
                                      .num_modes = 8,
                                      .rank = 20});
    const ReducedDynamics dynamics(model.make_force(), model.mass(),
                                   {.damping = {.stiffness = 0.02}});
    const SurfaceShapes shapes = model.shapes();
    const int tip = select(highest(0.0, 0), model.surface().vertices).front();
    Eigen::VectorXd load = model.gravity_load({0, 0, -9.81});
    shapes.add_force(tip, {0, 0, 2}, load);  // up, 2 N

    ReducedState state = dynamics.make_state();
    const auto workspace = dynamics.make_workspace();
    for (int tick = 0; tick < 1000; ++tick)
        (void)dynamics.step(state, load, model.suggested_step(), *workspace);
    const double lift = shapes.position(tip, state.q).z() - shapes.position(tip, 0 * state.q).z();
    std::printf("%d elements, r = %d: the tip moved up by %.1f mm\n", model.num_elements(),
                model.rank(), 1e3 * lift);
}
