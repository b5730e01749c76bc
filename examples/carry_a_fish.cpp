// Holds a fish of oriented particles by its tail, carries it, and presses the tail on a table.
#include <pliant/pliant.h>

#include <cstdio>

int main() {
    using namespace pliant;
    // nobody but the hand moves what is driven
    const SurfaceMesh fish = make_shape("fish", 30);
    ParticleBodyOptions options;
    options.pose.position = Eigen::Vector3d(0, 0, 0.2);
    options.held = {{.selection = "x < 20 %", .motion = {}, .is_driven = true}};
    ParticleBody body(make_particle_model(place_particles(fish, {.count = 40}), fish), options);
    body.set_gravity(Eigen::Vector3d(0, 0, -9.81));

    // a table whose top is z = 0; surfaces are told before each tick that time went on
    const VolumeMesh block =
        hex_box(4, 4, 1, Box(Eigen::Vector3d(-0.5, -0.5, -0.1), Eigen::Vector3d(0.5, 0.5, 0)));
    const SurfaceMesh plate{block.vertices, boundary_triangles(block)};
    RigidBody table(RigidShape::mesh(plate), plate, {});
    const auto top = make_moving_surface(table);
    SurfaceSet surfaces({top.get()});
    BodyGrip grip(body, surfaces);

    Pose hand = grip.start();
    double in_air = 0, on_table = 0;
    for (int tick = 1; tick <= 1000; ++tick) {
        // aside, then down into the table
        hand.position += tick <= 500 ? Eigen::Vector3d(0, 1e-4, 0) : Eigen::Vector3d(0, 0, -6e-4);
        surfaces.advance();
        const SphereToolState& felt = grip.tick(hand);
        grip.apply_forces();
        body.step(1e-3);
        table.step(1e-3);
        (tick <= 500 ? in_air : on_table) = felt.wrench.force.norm();
        if (tick % 125 == 0)
            std::printf("%.3f s: hand at z = %6.1f mm, %d of %d spheres touch, force %5.2f N\n",
                        1e-3 * tick, 1e3 * hand.position.z(), felt.num_touching,
                        grip.tool().num_spheres(), felt.wrench.force.norm());
    }
    // what is held is assigned: the hand feels the table, not the weight
    return in_air == 0 && on_table > 1 ? 0 : 1;
}
