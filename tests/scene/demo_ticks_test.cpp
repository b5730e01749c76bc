#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>

#include "pliant/core/allocation_guard.h"
#include "scene/coarse_demos.h"
#include "scene/lock_count.h"

// Ticks of every demo with a tool neither allocate nor lock.

namespace pliant {
namespace {

using test::coarse_demo, test::LockCount;

std::vector<std::string> demos_with_tools() {
    std::vector<std::string> names;
    for (const DemoInfo& demo : demo_list()) {
        const SceneDescription scene = demo_scene(demo.name);
        if (scene.held_tool || scene.tool) names.push_back(demo.name);
    }
    return names;
}

class DemoTicks : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tools, DemoTicks, testing::ValuesIn(demos_with_tools()),
                         [](const auto& demo) {
                             std::string name = demo.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST_P(DemoTicks, AllocateAndLockNothing) {
    if (!AllocationGuard::is_active() || !LockCount::is_active()) GTEST_SKIP();
    World world(coarse_demo(GetParam()), {.cache = {}});
    std::vector<LoopFrame> frames;
    for (int l = 0; l < world.num_loops(); ++l) frames.push_back(world.loop(l).make_frame());
    int num_touching = 0;

    const AllocationGuard allocations;
    const LockCount locks;
    for (int k = 0; k < 5000 && num_touching < 1000; ++k) {
        const int loop = world.advance();
        if (k % 16 == 0) world.loop(loop).fill(frames[static_cast<std::size_t>(loop)]);
        if (world.loop(loop).sample().force != std::array<double, 3>{}) ++num_touching;
    }
    const auto num_allocations = allocations.count(), num_locks = locks.count();

    EXPECT_EQ(num_allocations, 0u);
    EXPECT_EQ(num_locks, 0u);
    EXPECT_GT(num_touching, 100);
}

/// On the path of the demo, and into walls beside it.
class DemoDepth : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tools, DemoDepth, testing::Values("hoses", "peg-hole", "alpha-puzzle"),
                         [](const auto& demo) {
                             std::string name = demo.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST_P(DemoDepth, StaysWithinItsBoundWithForceFeedbackAndWithout) {
    SceneDescription scene = coarse_demo(GetParam());
    std::optional<ScriptedMotion> path;
    for (const BodyDescription& body : scene.bodies)
        if (body.name == scene.held_tool->body) path = std::get<RigidSource>(body.source).motion;
    World world(std::move(scene), {.cache = {}});
    const SimulationLoop& loop = world.loop(0);
    const int feedback = world.find_parameter("tool.force");
    for (const double wander : {0.0, 0.01})
        for (const bool has_force : {true, false}) {
            world.apply({.kind = Command::Kind::Reset});
            world.apply({.kind = Command::Kind::SetParameter,
                         .parameter = feedback,
                         .value = has_force ? 1.0 : 0.0});
            const double shift = wander / loop.haptics()->workspace.scale;
            double depth = 0, force = 0;
            int num_touching = 0;
            for (int k = 0; k < 5000; ++k) {
                const double time = k * loop.dt();
                Pose wanted = path->at(time).pose;
                wanted.position +=
                    shift * Eigen::Vector3d(std::sin(5 * time), std::sin(6 * time + 1),
                                            std::sin(7 * time + 2));
                const Quaternion& q = wanted.rotation;
                if (wander > 0)
                    world.apply(
                        {.kind = Command::Kind::MoveTool,
                         .target = {wanted.position.x(), wanted.position.y(), wanted.position.z()},
                         .rotation = {q.w(), q.x(), q.y(), q.z()}});
                world.advance();
                const HapticTick& tick = *loop.haptic_tick();
                depth = std::max(depth, tick.depth / tick.max_depth);
                force = std::max(force, tick.command.force.norm());
                if (tick.num_contacts > 0) ++num_touching;
            }
            SCOPED_TRACE(testing::Message() << "wander " << wander << ", force " << has_force);
            // beside the path the tool is wedged: docs/haptics.md eq. (20b)
            EXPECT_LE(depth, wander > 0 ? 1.1 : 1.0);
            if (!has_force) EXPECT_LT(force, 1e-3);
            if (has_force && wander > 0) EXPECT_GT(force, 0.5);
            if (wander > 0) EXPECT_GT(num_touching, 500);
        }
}

TEST(LockCount, CountsMutexesOfThisThread) {
    if (!LockCount::is_active()) GTEST_SKIP();
    std::mutex mutex;
    std::shared_mutex shared;
    const LockCount locks;
    { const std::scoped_lock lock(mutex); }
    { const std::shared_lock lock(shared); }
    { const std::unique_lock lock(shared); }
    if (mutex.try_lock()) mutex.unlock();
    const auto here = locks.count();
    EXPECT_EQ(here, 4u);
}

}  // namespace
}  // namespace pliant
