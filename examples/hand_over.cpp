// Presses on a body with Green's functions until linear theory is exceeded, and hands it over to a
// nonlinear reduced model of the same surface.
#include <pliant/pliant.h>

#include <cstdio>
#include <memory>

int main() {
    using namespace pliant;
    GreensBuildOptions linear;
    linear.size = 0.1;
    linear.youngs_modulus = 2e4;
    linear.fixed = "z < 10 %";
    const auto model = std::make_shared<const GreensModel>(
        build_greens_model(make_semi_regular("nodule", 2), linear));
    const ReducedModel reduced_model = build_reduced_model(
        model->surface.mesh, {.material = isotropic(2e4, 0.3, 1000, Law::StVenantKirchhoff),
                              .fixed = linear.fixed,
                              .mesh = {.kind = "tet", .resolution = 14},
                              .num_modes = 10,
                              .rank = 24});
    GreensBody body(model);
    ReducedBody reduced(reduced_model, {.damping = {.mass = 20}});
    HandOver over(model, reduced_model);
    const auto top = SurfacePoint::at_vertex(select(highest(0), body.surface().vertices).front());

    // a force that grows by 1 N/s; what it does is felt at once, the hand lags by 50 ms
    double newtons = 0;
    while (!body.strain().is_exceeded() && newtons < 20) {
        newtons += 1e-3;
        body.add_force(top, {newtons, 0, -newtons});
        body.step(1e-3);
    }
    const StrainReading& strain = body.strain();
    std::printf("%.2f N: strain %.1f %%, turned %.1f degrees, moved %.1f %% of the size\n", newtons,
                100 * strain.strain, 57.3 * strain.rotation, 100 * strain.displacement);

    const HandOverReport report = over.apply(body, reduced);
    std::printf("handed over with a jump of %.2f mm, %.1f %% of the displacement\n",
                1e3 * report.jump, 100 * report.relative_jump);
    for (int tick = 0; tick < 1000; ++tick) {
        over.add_loads(reduced, tick / 200.0);
        reduced.step(1e-3);
    }
    const Eigen::Vector3d rest = body.surface().vertices[static_cast<std::size_t>(top.vertex)];
    std::printf("the top moved by %.1f mm in linear theory, by %.1f mm without it\n",
                1e3 * (body.position(top) - rest).norm(),
                1e3 * (reduced.position(top) - rest).norm());
}
