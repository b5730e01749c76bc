// Rigid bodies in scenes that come to mind first.
#include <gtest/gtest.h>

#include "everyday/everyday_scene.h"

namespace pliant {
namespace {

using test::EverydayScene, test::SeenBody;

TEST(EverydayRigid, ABoxDroppedOnTheGroundLiesOnIt) {
    EverydayScene scene(R"({"pliant": 1, "bodies": [
        {"name": "floor", "rigid": {"ground": {}}},
        {"name": "box", "rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 1000},
         "contact": {"pointshell": {"points": 300, "levels": 2, "resolution": 32}},
         "pose": {"position": [0, 0, 0.1]}}],
        "contacts": [{"among": ["floor", "box"], "friction": 0.5}]})");
    scene.run(3);
    const SeenBody box = scene.see("box");
    EXPECT_NEAR(box.lowest(), 0, 0.001);
    EXPECT_LT(box.speed, 0.001);
    EXPECT_EQ(scene.num_troubled_steps("box"), 0u);
}

}  // namespace
}  // namespace pliant
