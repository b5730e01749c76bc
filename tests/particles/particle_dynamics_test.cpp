#include "pliant/particles/particle_dynamics.h"

#include "core/numbers.h"
#include "particles/sample_particles.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gmock/gmock.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A solver with its state and everything around.
struct Simulation {
    explicit Simulation(ParticleLayout layout, ParticleOptions options = {})
        : dynamics(std::move(layout), std::move(options)),
          state(dynamics.make_state()),
          ws(dynamics.make_workspace()),
          forces(state.position.size(), Vector3d::Zero()),
          tuning(dynamics.tuning()) {}
    StepStatus step(double dt = 1e-3) {
        return dynamics.step(state, forces, gravity, dt, tuning, *ws);
    }
    [[nodiscard]] Vector3d momentum() const {
        Vector3d sum = Vector3d::Zero();
        for (std::size_t i = 0; i < state.velocity.size(); ++i)
            sum += dynamics.layout().particles[i].mass * state.velocity[i];
        return sum;
    }

    ParticleDynamics dynamics;
    ParticleState state;
    std::shared_ptr<ParticleDynamics::Workspace> ws;
    std::vector<Vector3d> forces;
    Vector3d gravity = Vector3d::Zero();
    ParticleDynamics::Tuning tuning;
};

TEST(ParticleDynamics, RestStaysAtRest) {
    Simulation run(particle_block(4, 3, 3));
    const ParticleState first = run.state;
    for (int k = 0; k < 200; ++k) EXPECT_EQ(run.step(), StepStatus::Ok);
    for (std::size_t i = 0; i < first.position.size(); ++i) {
        EXPECT_LT((run.state.position[i] - first.position[i]).norm(), 2e-6);
        EXPECT_LT(run.state.velocity[i].norm(), 1e-3);
    }
}

TEST(ParticleDynamics, DampingIsThatOfTheStep) {
    // sand, which nothing but eq. (1) moves; pushed and turning
    ParticleOptions options;
    options.damping = 5;
    Simulation run(particle_block(2, 1, 1, 0.1, 0), options);
    run.gravity = {0, 0, -9.81};
    const Vector3d v0(1, -2, 3), spin(4, 0, 3), force(0.02, 0, 0);
    for (Vector3d& v : run.state.velocity) v = v0;
    for (Vector3d& w : run.state.spin) w = spin;
    for (Vector3d& f : run.forces) f = force;
    const double dt = 1e-2, kept = 1 / (1 + options.damping * dt);
    const Vector3d a = force / 0.01 + run.gravity;
    Vector3d v = v0, x = run.state.position[1];
    double angle = 0, rate = spin.norm();
    for (int k = 0; k < 50; ++k) {
        ASSERT_EQ(run.step(dt), StepStatus::Ok);
        v = kept * v + dt * a;
        x += dt * v;
        rate *= kept;
        angle += dt * rate;
    }
    EXPECT_LT((run.state.velocity[1] - v).norm(), 1e-9);
    EXPECT_LT((run.state.position[1] - x).norm(), 1e-9);
    EXPECT_LT((run.state.spin[1] - rate * spin.normalized()).norm(), 1e-9);
    EXPECT_LT(run.state.turn[1].angularDistance(rotation_from_vector(angle * spin.normalized())),
              1e-7);
    EXPECT_NEAR(rate / spin.norm(), std::pow(1.05, -50), 1e-12);
}

TEST(ParticleDynamics, FreeFallIsThatOfTheStepFarFromTheOriginToo) {
    ParticleLayout layout = particle_block(3, 3, 3);
    for (Particle& p : layout.particles) p.position += Vector3d(100, -50, 30);
    Simulation run(layout);
    run.gravity = {0, 0, -9.81};
    const int n = 1000;
    for (int k = 0; k < n; ++k) run.step();
    // semi-implicit: n (n + 1) / 2 dt² g
    const double fall = -9.81 * 1e-6 * n * (n + 1) / 2;
    for (std::size_t i = 0; i < layout.particles.size(); ++i) {
        const Vector3d moved = run.state.position[i] - layout.particles[i].position;
        EXPECT_LT((moved - Vector3d(0, 0, fall)).norm(), 1e-4);
    }
}

TEST(ParticleDynamics, RigidMotionIsKept) {
    Simulation run(particle_block(3, 3, 3));
    const Vector3d spin(0.4, -0.7, 1.1);
    Vector3d centre = Vector3d::Zero();
    for (const Vector3d& x : run.state.position) centre += x / 27.0;
    for (std::size_t i = 0; i < 27; ++i) {
        run.state.velocity[i] = Vector3d(1, 2, 3) + spin.cross(run.state.position[i] - centre);
        run.state.spin[i] = spin;
    }
    for (int k = 0; k < 500; ++k) run.step();
    // shape as at rest, turned as a whole
    const auto& rest = run.dynamics.layout().particles;
    for (std::size_t i = 1; i < 27; ++i)
        EXPECT_NEAR((run.state.position[i] - run.state.position[0]).norm(),
                    (rest[i].position - rest[0].position).norm(), 1e-5);
    EXPECT_LT((run.momentum() - 0.27 * Vector3d(1, 2, 3)).norm(), 1e-9);
    const double turned = rotation_vector(run.state.turn[13]).norm();
    EXPECT_NEAR(turned, 0.5 * spin.norm(), 0.02 * 0.5 * spin.norm());
}

TEST(ParticleDynamics, StiffnessOneIsRigidAndZeroIsSand) {
    const auto stretched_by = [](double stiffness) {
        ParticleLayout layout = particle_chain(2, 0.1, stiffness);
        ParticleOptions options;
        options.iterations = 1;
        Simulation run(layout, options);
        run.state.velocity[0] = {-10, 0, 0};
        run.state.velocity[1] = {10, 0, 0};
        run.step();
        return (run.state.position[1] - run.state.position[0]).norm() - 0.1;
    };
    EXPECT_NEAR(stretched_by(1), 0, 1e-7);
    EXPECT_NEAR(stretched_by(0), 0.02, 1e-12);
    // two groups, each takes away its share: (1 − α)²
    EXPECT_NEAR(stretched_by(0.5), 0.02 * 0.25, 1e-7);
}

TEST(ParticleDynamics, ChainsAndSingleParticlesKeepTheirOrientation) {
    Simulation chain(particle_chain(6));
    for (Vector3d& w : chain.state.spin) w = {2, 0, 0};  // about the chain
    for (int k = 0; k < 250; ++k) chain.step();
    for (const Quaternion& q : chain.state.turn) {
        const Vector3d v = rotation_vector(q);
        EXPECT_NEAR(v.x(), 0.5, 0.01);
        EXPECT_LT(v.tail<2>().norm(), 1e-3);
    }
    ParticleLayout one;
    one.particles.resize(1);
    one.particles[0].radii = {0.01, 0.02, 0.03};
    one.particles[0].mass = 1;
    one.particles[0].stiffness = 0;
    Simulation single(one);
    single.state.spin[0] = {0, 3, 0};
    for (int k = 0; k < 100; ++k) single.step();
    EXPECT_LT((rotation_vector(single.state.turn[0]) - Vector3d(0, 0.3, 0)).norm(), 1e-9);
}

TEST(ParticleDynamics, ForcesChangeMomentumByTheirImpulse) {
    Simulation run(particle_block(3, 3, 3, 0.1, 0.6));
    run.forces[4] = {0.5, -1, 2};
    run.forces[20] = {1, 0, 0};
    for (int k = 0; k < 50; ++k) run.step();
    EXPECT_LT((run.momentum() - 0.05 * Vector3d(1.5, -1, 2)).norm(), 1e-9);
}

TEST(ParticleDynamics, SofterBodiesSagMore) {
    const auto sag = [](double stiffness) {
        ParticleLayout layout = particle_block(8, 2, 2, 0.1, stiffness);
        ParticleOptions options;
        options.damping = 5;
        options.iterations = 2;
        Attachment held;
        for (int i = 0; i < layout.num_particles(); ++i)
            if (layout.particles[at(i)].position.x() < 0.15) held.particles.push_back(i);
        options.attachments.push_back(held);
        Simulation run(layout, options);
        run.gravity = {0, 0, -9.81};
        for (int k = 0; k < 400; ++k) run.step(0.01);
        return layout.particles[7].position.z() - run.state.position[7].z();
    };
    const double soft = sag(0.05), medium = sag(0.2), hard = sag(0.9);
    EXPECT_GT(soft, 1.5 * medium);
    EXPECT_GT(medium, 1.5 * hard);
    EXPECT_GT(hard, 0);
}

TEST(ParticleDynamics, CompliantLinksHangAsSpringsWhateverTheStepAndPasses) {
    // a weight on a compliant link: m g c
    ParticleLayout layout = particle_chain(2, 0.1, 0);
    layout.is_cloth = true;
    layout.particles[1].mass = 0.5;
    for (const double dt : {1e-3, 4e-3})
        for (const int iterations : {1, 10}) {
            ParticleOptions options;
            options.cloth_compliance = 2e-3;
            options.iterations = iterations;
            options.damping = 20;
            options.attachments.push_back({{0}, std::nullopt});
            Simulation run(layout, options);
            run.gravity = {9.81, 0, 0};
            for (int k = 0; k < 2000; ++k) run.step(dt);
            const double hang = (run.state.position[1] - run.state.position[0]).norm() - 0.1;
            EXPECT_NEAR(hang, 0.5 * 9.81 * 2e-3, 1e-5) << dt << " " << iterations;
        }
}

TEST(ParticleDynamics, PublishedLinksRemoveTheirShareInEveryPass) {
    ParticleLayout layout = particle_chain(2, 0.1, 0);
    layout.is_cloth = true;
    layout.particles[1].mass = 0.03;  // three times the other
    ParticleOptions options;
    options.cloth_stiffness = 0.5;
    options.iterations = 3;
    Simulation run(layout, options);
    run.state.velocity[1] = {10, 0, 0};
    const Vector3d before = run.momentum();
    run.step();
    EXPECT_NEAR((run.state.position[1] - run.state.position[0]).norm(), 0.1 + 0.01 / 8, 1e-7);
    EXPECT_LT((run.momentum() - before).norm(), 1e-5);
}

TEST(ParticleDynamics, UnconnectedPartsOfAnObjectKeepTheirOwnMomentum) {
    // one object: a block of uneven stiffness that shakes, one far from it, and one that is held
    ParticleLayout layout;
    for (int part = 0; part < 3; ++part) {
        ParticleLayout block = particle_block(3, 2, 2);
        for (Particle& p : block.particles) p.position.z() += 5 * part;
        for (auto& [a, b] : block.links) layout.links.push_back({a + 12 * part, b + 12 * part});
        layout.particles.insert(layout.particles.end(), block.particles.begin(),
                                block.particles.end());
    }
    for (int i = 0; i < 12; ++i)
        layout.particles[static_cast<std::size_t>(i)].stiffness = 0.2 + 0.06 * i;
    ParticleOptions options;
    options.attachments.push_back({{30}, {}});
    Simulation run(layout, options);
    std::mt19937 random(3);
    for (std::size_t i = 0; i < 12; ++i) run.state.velocity[i] = random_vector(random);
    const auto momentum_of = [&](std::size_t first) {
        Vector3d sum = Vector3d::Zero();
        for (std::size_t i = first; i < first + 12; ++i)
            sum += layout.particles[i].mass * run.state.velocity[i];
        return sum;
    };
    const Vector3d before = momentum_of(0);
    for (int k = 0; k < 20; ++k) run.step();
    EXPECT_LT((momentum_of(0) - before).norm(), 1e-9) << "although the object is held elsewhere";
    for (std::size_t i = 12; i < 24; ++i)
        EXPECT_LT(run.state.velocity[i].norm(), 1e-9) << "shakes with another part";
}

TEST(ParticleDynamics, PlanesCarryAndRub) {
    ParticleOptions options;
    options.planes.push_back({{0, 0, 2}, 0.2});  // z ≥ 0.1
    options.friction = 0.5;
    ParticleLayout layout = particle_block(3, 3, 1);
    for (Particle& p : layout.particles) p.position.z() = 0.141;
    Simulation run(layout, options);
    run.gravity = {0, 0, -9.81};
    for (Vector3d& v : run.state.velocity) v.x() = 1;
    for (int k = 0; k < 500; ++k) run.step();
    for (const Vector3d& x : run.state.position) EXPECT_NEAR(x.z(), 0.14, 1e-4);
    // v² / (2 μ g), and it has stopped
    EXPECT_NEAR(run.state.position[0].x(), 1 / (2 * 0.5 * 9.81), 0.02);
    EXPECT_LT(run.state.velocity[0].norm(), 0.01);
}

ParticleLayout two_objects(double apart) {
    ParticleLayout layout = particle_block(3, 3, 3);
    ParticleLayout other = layout;
    for (Particle& p : other.particles) {
        p.position += Vector3d(apart, 0.03, 0.02);
        p.object = 1;
    }
    for (auto& [a, b] : other.links) {
        a += 27;
        b += 27;
    }
    layout.particles.insert(layout.particles.end(), other.particles.begin(), other.particles.end());
    layout.links.insert(layout.links.end(), other.links.begin(), other.links.end());
    return layout;
}

TEST(ParticleDynamics, ObjectsCollideAndKeepMomentum) {
    for (const bool are_ellipsoids : {false, true}) {
        ParticleLayout layout = two_objects(0.4);
        if (are_ellipsoids)
            for (Particle& p : layout.particles) p.radii = {0.05, 0.048, 0.044};
        ParticleOptions options;
        options.friction = 0;
        Simulation run(layout, options);
        for (std::size_t i = 0; i < 27; ++i) run.state.velocity[i] = {2, 0, 0};
        int contacts = 0;
        for (int k = 0; k < 300; ++k) {
            run.step();
            contacts = std::max(contacts, ParticleDynamics::report(*run.ws).num_contacts);
        }
        EXPECT_GT(contacts, 0);
        EXPECT_LT((run.momentum() - 0.27 * Vector3d(2, 0, 0)).norm(), 1e-5);
        double left = -kInfinity, right = kInfinity;
        for (std::size_t i = 0; i < 27; ++i) {
            left = std::max(left, run.state.position[i].x());
            right = std::min(right, run.state.position[27 + i].x());
        }
        EXPECT_LT(left, right) << are_ellipsoids;
        EXPECT_GT(run.state.velocity[30].x(), run.state.velocity[3].x());
    }
}

TEST(ParticleDynamics, TooManyPairsAreReported) {
    ParticleLayout layout = two_objects(0.01);
    for (Particle& p : layout.particles) p.radii.setConstant(0.3);
    ParticleOptions options;
    options.collision_capacity = 1;
    Simulation run(layout, options);
    EXPECT_EQ(run.step(), StepStatus::CapacityExceeded);
}

TEST(ParticleDynamics, ScriptedParticlesFollowTheirPathAndPullTheRest) {
    ParticleLayout layout = particle_block(5, 2, 2);
    Attachment moved;
    moved.particles = {0, 5, 10, 15};
    moved.motion = ScriptedMotion::oscillation({}, {0, 0, 0.05}, Vector3d::Zero(), 2.0);
    ParticleOptions options;
    options.attachments.push_back(moved);
    Simulation run(layout, options);
    for (int k = 0; k < 125; ++k) run.step();  // a quarter of a period
    EXPECT_NEAR(run.state.position[0].z(), 0.05, 1e-6);
    EXPECT_NEAR(run.state.position[15].z(), 0.15, 1e-6);
    EXPECT_GT(run.state.position[4].z(), 0.01);
}

TEST(ParticleDynamics, ResultsDoNotDependOnTheNumberOfThreads) {
    const auto run_with = [](int threads) {
        set_num_threads(threads);
        Simulation run(particle_block(17, 16, 16, 0.1, 0.5));
        EXPECT_GE(run.dynamics.num_groups(), ParticleDynamics::kSerialGroups);
        for (std::size_t i = 0; i < 100; ++i) run.state.velocity[i] = {1, 2, 3};
        for (int k = 0; k < 3; ++k) run.step();
        set_num_threads(0);
        return run.state;
    };
    const ParticleState one = run_with(1), two = run_with(2), four = run_with(4);
    for (std::size_t i = 0; i < one.position.size(); ++i) {
        ASSERT_EQ(one.position[i], two.position[i]);
        ASSERT_EQ(one.position[i], four.position[i]);
        ASSERT_EQ(one.turn[i].coeffs(), four.turn[i].coeffs());
    }
}

TEST(ParticleDynamics, AStepAllocatesNothing) {
    ParticleLayout layout = two_objects(0.26);
    layout.is_cloth = true;
    ParticleOptions options;
    options.planes.push_back({});
    Simulation run(layout, options);
    run.gravity = {0, 0, -9.81};
    run.step();
    EXPECT_GT(ParticleDynamics::report(*run.ws).num_pairs, 0);
    AllocationGuard guard;
    for (int k = 0; k < 20; ++k) run.step();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(ParticleDynamics, ForcesBeyondAllNumbersAreRejectedAndTheStateKept) {
    Simulation run(particle_block(3, 3, 3));
    run.forces[2].setConstant(1e300);
    const ParticleState before = run.state;
    EXPECT_EQ(run.step(), StepStatus::StepRejected);
    EXPECT_EQ(run.state.position[2], before.position[2]);
    EXPECT_EQ(run.state.time, before.time);
    EXPECT_EQ(run.step(-1), StepStatus::InputIgnored);
    run.forces[2].setZero();
    EXPECT_EQ(run.step(), StepStatus::Ok);
}

TEST(ParticleDynamics, ProjectionBringsBackTheShapeWithoutTime) {
    std::mt19937 random(3);
    const ParticleDynamics dynamics(particle_block(3, 3, 1, 0.1, 0.7));
    const auto ws = dynamics.make_workspace();
    const Pose pose{Vector3d(3, -2, 1), random_rotation(random)};
    std::vector<Vector3d> rest, x;
    for (const Particle& p : dynamics.layout().particles) rest.push_back(pose.to_world(p.position));
    std::vector<Quaternion> turns(rest.size(), pose.rotation);
    // a shape that is right stays to the last bit
    x = rest;
    ASSERT_TRUE(dynamics.project(x, turns, 4, *ws));
    EXPECT_EQ(x, rest);
    // one that is not comes nearer with every pass, and keeps its middle
    const auto error = [&](int iterations) {
        x = rest;
        x[4].z() += 0.05;
        std::ranges::fill(turns, pose.rotation);
        EXPECT_TRUE(dynamics.project(x, turns, iterations, *ws));
        Vector3d middle = Vector3d::Zero();
        for (std::size_t i = 0; i < x.size(); ++i) middle += (x[i] - rest[i]) / 9;
        EXPECT_NEAR((middle - Vector3d(0, 0, 0.05 / 9)).norm(), 0, 1e-6);
        double sum = 0;
        for (const auto& [a, b] : dynamics.layout().links)
            sum += std::abs((x[at(a)] - x[at(b)]).norm() - (rest[at(a)] - rest[at(b)]).norm());
        return sum;
    };
    EXPECT_LT(error(1), 0.5 * error(0));
    EXPECT_LT(error(5), 0.5 * error(1));
    // what is not finite changes nothing
    x = rest;
    x[2].y() = kInfinity;
    const std::vector<Vector3d> before = x;
    EXPECT_FALSE(dynamics.project(x, turns, 2, *ws));
    EXPECT_EQ(x, before);
}

TEST(ParticleDynamics, DrivenParticlesAreWhereTheyAreDriven) {
    ParticleOptions options;
    options.attachments = {{{0, 1}, std::nullopt, true}};
    const ParticleDynamics dynamics(particle_chain(6), options);
    ParticleState state = dynamics.make_state();
    const auto ws = dynamics.make_workspace();
    const std::vector<Vector3d> forces(6, Vector3d::Zero());
    const auto step = [&] {
        return dynamics.step(state, forces, Vector3d::Zero(), 1e-3, dynamics.tuning(), *ws);
    };
    ASSERT_EQ(step(), StepStatus::Ok);
    EXPECT_EQ(state.position[1], Vector3d(0.1, 0, 0)) << "held until told";
    const Quaternion turn = rotation_from_vector(Vector3d(0, 0, 0.2));
    for (int k = 0; k < 500; ++k) {
        dynamics.drive(0, Vector3d(0, 1e-3 * k, 0), turn, *ws);
        dynamics.drive(1, Vector3d(0.1, 1e-3 * k, 0), turn, *ws);
        dynamics.drive(3, Vector3d(9, 9, 9), turn, *ws);  // is not driven
        ASSERT_EQ(step(), StepStatus::Ok);
    }
    EXPECT_EQ(state.position[1], Vector3d(0.1, 0.499, 0));
    EXPECT_NEAR((state.velocity[1] - Vector3d(0, 1, 0)).norm(), 0, 1e-9);
    EXPECT_NEAR(state.turn[0].angularDistance(turn), 0, 1e-6);
    EXPECT_NEAR(state.position[5].y(), 0.5, 0.2) << "the others follow";
    dynamics.drive(0, Vector3d(kNan, 0, 0), turn, *ws);
    ASSERT_EQ(step(), StepStatus::Ok);
    EXPECT_EQ(state.position[0], Vector3d(0, 0.499, 0));
}

TEST(ParticleDynamics, OptionsOutOfRangeAreNamed) {
    const auto message = [](const ParticleOptions& options) -> std::string {
        try {
            ParticleDynamics dynamics(particle_block(2, 2, 1), options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    };
    ParticleOptions options;
    options.iterations = 0;
    EXPECT_EQ(message(options), "iterations = 0 (expected 1 to 1000)");
    options = {};
    options.attachments = {{{7}, std::nullopt}};
    EXPECT_EQ(message(options), "attachment = 7 (expected the number of a particle)");
    options.attachments = {{{1}, std::nullopt}, {{1}, std::nullopt}};
    EXPECT_EQ(message(options), "particle 1 is attached twice; leave it out of one attachment");
    options = {};
    options.planes.push_back({Vector3d::Zero(), 0});
    EXPECT_EQ(message(options), "the normal of a plane must be finite and not zero");
}

}  // namespace
}  // namespace pliant
