#include "pliant/haptics/body_grip.h"

#include "core/numbers.h"
#include "haptics/tool_samples.h"
#include "input_error.h"
#include "pliant/body/rigid_body.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/shapes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A fish whose tail is in a hand, above a block whose top is z = 0.
struct HeldFish {
    explicit HeldFish(bool is_driven = true) {
        const SurfaceMesh mesh = make_shape("fish", 30);
        ParticleBodyOptions options;
        options.pose.position = Vector3d(0, 0, 0.2);
        options.held.push_back({.selection = "x < 20 %", .motion = {}, .is_driven = is_driven});
        fish = std::make_unique<ParticleBody>(
            make_particle_model(place_particles(mesh, {.count = 40}), mesh), options);
        fish->set_gravity(Vector3d(0, 0, -9.81));
        RigidBodyOptions fixed;
        block = std::make_unique<RigidBody>(RigidShape::sphere(0.1), test::block_below(0.5, 0.5),
                                            fixed);
        surface = make_moving_surface(*block);
    }
    void step(BodyGrip& grip, SurfaceSet& set, const Pose& hand) {
        set.advance();
        (void)grip.tick(hand);
        grip.apply_forces();
        EXPECT_EQ(fish->step(1e-3), StepStatus::Ok);
        EXPECT_EQ(block->step(1e-3), StepStatus::Ok);
    }
    std::unique_ptr<ParticleBody> fish;
    std::unique_ptr<RigidBody> block;
    std::unique_ptr<MovingSurface> surface;
};

TEST(BodyGrip, CarriesABodyByPartOfItAndTouchesOthersWithIt) {
    HeldFish held;
    SurfaceSet set({held.surface.get()});
    BodyGrip grip(*held.fish, set);
    ASSERT_EQ(grip.tool().num_spheres(), static_cast<int>(held.fish->driven().size()));
    Pose hand = grip.start();
    // in the air: no force, what is held goes exactly along, the rest follows
    const auto head = [&] {
        Vector3d farthest = held.fish->state().position[0];
        for (const Vector3d& x : held.fish->state().position)
            if (x.x() > farthest.x()) farthest = x;
        return farthest;
    };
    const Vector3d first = head();
    for (int i = 0; i < 200; ++i) {
        hand.position.y() += 2.5e-4;
        held.step(grip, set, hand);
        ASSERT_EQ(grip.tool().state().wrench.force, Vector3d::Zero());
    }
    for (int i = 0; i < grip.tool().num_spheres(); ++i)
        EXPECT_NEAR((held.fish->state().position[at(held.fish->driven()[at(i)])] -
                     hand.to_world(grip.tool().offset(i)))
                        .norm(),
                    0, 1e-12);
    for (int i = 0; i < 300; ++i) held.step(grip, set, hand);
    EXPECT_NEAR(head().y() - first.y(), 0.05, 0.02);

    // down: the tail is stopped by the block, and the hand feels it
    for (int i = 0; i < 300; ++i) {
        hand.position.z() -= 1e-3;
        held.step(grip, set, hand);
    }
    EXPECT_LT(hand.position.z(), 0);
    EXPECT_GT(grip.tool().state().wrench.force.z(), 1);
    for (const int i : held.fish->driven()) EXPECT_GT(held.fish->state().position[at(i)].z(), 0);
    EXPECT_NEAR((held.block->last_load().force + grip.tool().state().wrench.force).norm(), 0, 1e-9);
}

TEST(BodyGrip, TicksWithoutAllocationAndRefusesBodiesThatNobodyHolds) {
    HeldFish held;
    SurfaceSet set({held.surface.get()});
    BodyGrip grip(*held.fish, set);
    Pose hand = grip.start();
    AllocationGuard guard;
    for (int i = 0; i < 100; ++i) {
        hand.position.z() -= 3e-3;
        set.advance();
        (void)grip.tick(hand);
        grip.apply_forces();
    }
    hand.position.z() = kNan;
    (void)grip.tick(hand);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);

    const HeldFish other(false);
    EXPECT_EQ(test::input_error([&] { const BodyGrip none(*other.fish, set); }),
              "particles of the body that a hand holds = none (expected some of them held with "
              "is_driven)");
}

TEST(BodyGrip, StartsAgainWithItsBody) {
    HeldFish held;
    SurfaceSet set({held.surface.get()});
    BodyGrip grip(*held.fish, set);
    const std::vector<Vector3d> first = held.fish->state().position;
    Pose hand = grip.start();
    hand.position.x() += 0.1;
    for (int i = 0; i < 50; ++i) held.step(grip, set, hand);
    EXPECT_GT((held.fish->state().position[at(held.fish->driven()[0])] -
               first[at(held.fish->driven()[0])])
                  .norm(),
              0.05);
    held.fish->reset();
    grip.reset();
    held.step(grip, set, grip.start());
    for (const int i : held.fish->driven())
        EXPECT_NEAR((held.fish->state().position[at(i)] - first[at(i)]).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace pliant
