#include "pliant/particles/particle_body.h"

#include "core/numbers.h"
#include "particles/sample_particles.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/shapes.h"

#include <gmock/gmock.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

const ParticleModel& small_fish() {
    static const ParticleModel model = [] {
        const SurfaceMesh surface = make_shape("fish", 40);
        return make_particle_model(place_particles(surface, {.count = 50}), surface);
    }();
    return model;
}

std::vector<float> shown(const ParticleBody& body) {
    std::vector<float> state(at(body.display()->state_size()));
    body.write_display(state);
    std::vector<float> x(3 * body.surface().vertices.size());
    body.display()->positions(state, x);
    return x;
}

TEST(ParticleBody, AtRestItIsItsSurfaceAtItsPose) {
    ParticleBodyOptions options;
    options.pose = {{1, 2, 3}, rotation_from_vector({0.3, -0.2, 1})};
    const ParticleBody body(small_fish(), options);
    const std::vector<float> x = shown(body);
    for (int v = 0; v < body.surface().num_vertices(); v += 17) {
        const Vector3d expected = options.pose.to_world(body.surface().vertices[at(v)]);
        EXPECT_LT((body.position(SurfacePoint::at_vertex(v)) - expected).norm(), 1e-6);
        EXPECT_LT(
            (Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * v).cast<double>() - expected).norm(),
            1e-5);
    }
    EXPECT_EQ(body.kind(), "particles");
    // centres, then three ellipses of ten places each
    const BodyDisplay& display = *body.display();
    ASSERT_EQ(display.num_mesh_nodes(), 50 * 31);
    EXPECT_EQ(display.mesh_edges().size(), body.model().layout.links.size() + 50 * 30);
    std::vector<float> state(at(display.state_size())), nodes(3 * 50 * 31);
    body.write_display(state);
    display.mesh_positions(state, nodes);
    for (int i = 0; i < 50; ++i) {
        const Particle& p = body.model().layout.particles[at(i)];
        const Vector3d centre = options.pose.to_world(p.position);
        for (int k = 0; k < 30; ++k) {
            const Vector3d node =
                Eigen::Map<const Eigen::Vector3f>(nodes.data() + 3 * (50 + 30 * i + k))
                    .cast<double>();
            const Vector3d y = (options.pose.rotation * p.rotation).conjugate() * (node - centre);
            EXPECT_NEAR(y.cwiseQuotient(p.radii).norm(), 1, 1e-3) << "on the ellipsoid";
        }
    }
}

TEST(ParticleBody, TheSkinFollowsRigidMotion) {
    ParticleBody body(small_fish());
    const Pose moved{{0.4, 0.1, -0.2}, rotation_from_vector({1, 2, -0.5})};
    std::vector<double> state(at(body.state_size()));
    body.save_state(state);
    for (std::size_t i = 0; i < small_fish().layout.particles.size(); ++i) {
        const Vector3d x = moved.to_world(small_fish().layout.particles[i].position);
        for (int c = 0; c < 3; ++c) state[2 + 13 * i + at(c)] = x[c];
        state[2 + 13 * i + 6] = moved.rotation.w();
        for (int c = 0; c < 3; ++c) state[2 + 13 * i + 7 + at(c)] = moved.rotation.vec()[c];
    }
    ASSERT_TRUE(body.restore_state(state));
    const std::vector<float> x = shown(body);
    for (int v = 0; v < body.surface().num_vertices(); v += 13) {
        const Vector3d expected = moved.to_world(body.surface().vertices[at(v)]);
        EXPECT_LT((body.position(SurfacePoint::at_vertex(v)) - expected).norm(), 1e-7);
        EXPECT_LT(
            (Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * v).cast<double>() - expected).norm(),
            1e-6);
    }
}

TEST(ParticleBody, ForcesOnTheSurfaceReachTheParticlesWhole) {
    ParticleBody body(small_fish());
    const Vector3d force(0.3, -0.2, 0.5);
    body.add_force(SurfacePoint::on_triangle(500, {0.2, 0.3, 0.5}), force);
    body.add_force(SurfacePoint::at_vertex(100), force);
    body.step(1e-3);
    Vector3d momentum = Vector3d::Zero();
    for (std::size_t i = 0; i < body.state().velocity.size(); ++i)
        momentum += small_fish().layout.particles[i].mass * body.state().velocity[i];
    EXPECT_LT((momentum - 2e-3 * force).norm(), 1e-9);
    // gone after the step
    body.step(1e-3);
    Vector3d later = Vector3d::Zero();
    for (std::size_t i = 0; i < body.state().velocity.size(); ++i)
        later += small_fish().layout.particles[i].mass * body.state().velocity[i];
    EXPECT_LT((later - momentum).norm(), 0.1 * momentum.norm());
}

TEST(ParticleBody, VelocitiesAreDifferencesOfPositions) {
    ParticleBody body(small_fish());
    body.add_force(SurfacePoint::at_vertex(40), {1, 2, 3});
    for (int k = 0; k < 10; ++k) body.step(1e-3);
    for (int v = 0; v < body.surface().num_vertices(); v += 101) {
        const SurfacePoint point = SurfacePoint::at_vertex(v);
        const Vector3d difference =
            (body.position(point) - body.position(point, TickMoment::Start)) / 1e-3;
        EXPECT_LT((body.velocity(point) - difference).norm(),
                  0.02 * body.velocity(point).norm() + 1e-4);
    }
}

TEST(ParticleBody, MobilityBoundsWhatAnImpulseDoes) {
    for (int v = 0; v < small_fish().surface.num_vertices(); v += 401) {
        ParticleBody body(small_fish());
        const SurfacePoint point = SurfacePoint::at_vertex(v);
        body.add_force(point, {0, 0, 1000 * 1e-3});
        body.step(1e-3);
        EXPECT_LE(body.velocity(point).norm(), 1e-3 * body.mobility(point) * 1.5) << v;
        EXPECT_GT(body.mobility(point), 0);
    }
}

TEST(ParticleBody, AStateIsRestoredExactly) {
    ParticleBody body(small_fish());
    body.set_gravity({0, 0, -9.81});
    for (int k = 0; k < 20; ++k) body.step(1e-3);
    std::vector<double> saved(at(body.state_size())), again(saved), bad(saved);
    body.save_state(saved);
    for (int k = 0; k < 20; ++k) body.step(1e-3);
    const std::vector<float> later = shown(body);
    ASSERT_TRUE(body.restore_state(saved));
    body.save_state(again);
    EXPECT_EQ(saved, again);
    for (int k = 0; k < 20; ++k) body.step(1e-3);
    EXPECT_EQ(shown(body), later);
    bad[5] = kNan;
    EXPECT_FALSE(body.restore_state(bad));
    bad = saved;
    for (std::size_t k = 8; k < 12; ++k) bad[k] = 0;
    EXPECT_FALSE(body.restore_state(bad)) << "no rotation";
    body.reset();
    EXPECT_LT((body.position(SurfacePoint::at_vertex(7)) - body.surface().vertices[7]).norm(),
              1e-7);
}

TEST(ParticleBody, HeldParticlesStayAndPartsHaveTheirStiffness) {
    ParticleBodyOptions options;
    options.held.push_back({"x < 30 %", std::nullopt});
    options.dynamics.damping = 2;
    ParticleModel model = small_fish();
    set_stiffness(model.layout, "x > 50 %", 0.25);
    ParticleBody body(model, options);
    body.set_gravity({0, 0, -9.81});
    for (int k = 0; k < 300; ++k) EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    int held = 0;
    for (std::size_t i = 0; i < body.state().position.size(); ++i) {
        const Particle& p = body.model().layout.particles[i];
        if (!body.dynamics().is_attached(static_cast<int>(i))) continue;
        ++held;
        EXPECT_LT((body.state().position[i] - p.position).norm(), 1e-12);
    }
    EXPECT_GT(held, 0);
    EXPECT_LT(held, 50);
    int soft = 0;
    for (const Particle& p : body.model().layout.particles) soft += p.stiffness == 0.25 ? 1 : 0;
    EXPECT_GT(soft, 5);
}

TEST(ParticleBody, SelectionsWithoutParticlesAreNamed) {
    ParticleBodyOptions options;
    options.held.push_back({"x < -5", std::nullopt});
    try {
        ParticleBody body(small_fish(), options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("held"));
    }
}

TEST(ParticleBody, ABadTickLeavesTheNumbersFinite) {
    ParticleBody body(small_fish());
    body.add_force(SurfacePoint::at_vertex(1), {kNan, 0, 0});
    body.add_force(SurfacePoint::at_vertex(-4), {1, 0, 0});
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    StepStatus status = StepStatus::Ok;
    for (int k = 0; k < 20; ++k) {
        body.add_force(SurfacePoint::at_vertex(1), {1e300, 1e300, 0});
        status = body.step(1e-3);
    }
    EXPECT_EQ(status, StepStatus::StateReset);
    EXPECT_TRUE(is_finite(body.state()));
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.step(kNan), StepStatus::InputIgnored);
}

TEST(ParticleBody, ATickAllocatesNothing) {
    ParticleBody body(small_fish());
    body.set_gravity({0, 0, -9.81});
    std::vector<float> state(at(body.display()->state_size()));
    AllocationGuard guard;
    for (int k = 0; k < 10; ++k) {
        body.add_force(SurfacePoint::on_triangle(5, {1, 0, 0}), {0, 0, 1});
        body.step(1e-3);
        static_cast<void>(body.position(SurfacePoint::at_vertex(3)));
        static_cast<void>(body.normal(SurfacePoint::at_vertex(3)));
        body.write_display(state);
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
