// Strokes a fish of oriented particles with a sphere that never gets inside, at 1 kHz.
#include <pliant/pliant.h>

#include <algorithm>
#include <cstdio>

int main() {
    using namespace pliant;
    const SurfaceMesh fish = make_shape("fish");
    ParticleBodyOptions options;
    options.held = {{.selection = "x > 80 %", .motion = {}},
                    {.selection = "x < 20 %", .motion = {}}};
    ParticleBody body(make_particle_model(place_particles(fish), fish), options);
    body.set_gravity(Eigen::Vector3d::Zero());

    const auto surface = make_moving_surface(body);
    ProxyOptions touch;
    touch.sphere.radius = 5e-3;
    touch.stiffness = 500;
    touch.static_friction = touch.dynamic_friction = 0.3;
    VirtualProxy proxy({surface.get()}, touch);

    // the hand comes from the side, goes on behind the skin, along the body and away again
    const Eigen::Vector3d start(-0.02, 0.08, 0.06);
    proxy.reset(start);
    for (int tick = 1; tick <= 2000; ++tick) {
        const double t = 1e-3 * tick, way = 0.07 * std::min(1.0, std::min(t, 2 - t) / 0.5);
        const Eigen::Vector3d hand = start + Eigen::Vector3d(0.02 * t, -way, 0);
        body.step(1e-3);
        const ProxyState& felt = proxy.tick(hand);
        proxy.apply_forces();
        if (tick % 250 == 0)
            std::printf("%.2f s: hand at y = %4.1f mm, proxy at %4.1f mm, force %5.2f N\n", t,
                        1e3 * hand.y(), 1e3 * felt.position.y(), felt.force.norm());
    }
}
