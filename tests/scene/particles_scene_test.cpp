#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

#include <gmock/gmock.h>

namespace pliant {
namespace {

using testing::HasSubstr;

std::string with_particles(const std::string& members, const std::string& more = "") {
    return R"({"pliant": 1, "bodies": [{"name": "fish", "particles": {)" + members + "}" + more +
           "}]}";
}
std::string error_of(const std::string& members, const std::string& more = "") {
    try {
        static_cast<void>(parse_scene(with_particles(members, more), "scene.json"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}
const std::string kFish = R"("shape": {"name": "fish", "resolution": 24}, "count": 40)";

TEST(ParticlesScene, KeysAreRead) {
    const SceneDescription scene = parse_scene(
        with_particles(kFish + R"(, "stiffness": 0.5, "spheres": true, "links": 6, "passes": 3,
            "parts": [{"where": "x > 70 %", "stiffness": 0.9}], "friction": 0.1, "damping": 2,
            "held": [{"where": "x < 20 %"}], "planes": [{"normal": [0, 1, 0], "offset": 0.2}],
            "objects": [{}, {"position": [0, 0, 1]}])"),
        "scene.json");
    const auto& source = std::get<ParticleSource>(scene.bodies[0].source);
    EXPECT_EQ(source.placement.count, 40);
    EXPECT_EQ(source.placement.links, 6);
    EXPECT_TRUE(source.placement.has_spheres);
    EXPECT_EQ(source.parts[0].stiffness, 0.9);
    EXPECT_EQ(source.body.held[0].selection, "x < 20 %");
    EXPECT_EQ(source.body.dynamics.planes[0].offset, 0.2);
    EXPECT_EQ(source.body.dynamics.iterations, 3);
    EXPECT_EQ(source.objects[1].position.z(), 1);
}

TEST(ParticlesScene, MistakesAreNamed) {
    EXPECT_THAT(error_of(kFish + R"(, "stifness": 1)"), HasSubstr("did you mean \"stiffness\"?"));
    EXPECT_THAT(error_of(kFish + R"(, "planes": [{"normal": [0, 0, 0]}])"),
                HasSubstr("planes[0].normal"));
    EXPECT_THAT(error_of(kFish + R"(, "held": [{"where": "behind"}])"), HasSubstr("held[0].where"));
    EXPECT_THAT(error_of(kFish, R"(, "contact": {"pointshell": {}})"),
                HasSubstr("particles touch the planes and objects of their own body; drop it"));
    EXPECT_THAT(error_of(R"("model": "none.pliant")"), HasSubstr("particles.model"));
}

TEST(ParticlesScene, ABodyFallsOnItsPlane) {
    World world(parse_scene(with_particles(kFish + R"(, "planes": [{}], "damping": 2)",
                                           R"(, "pose": {"position": [0, 0, 0.05]})"),
                            "scene.json"));
    world.advance_to(0.6);
    const Body& fish = world.body(0);
    EXPECT_EQ(fish.kind(), "particles");
    double lowest = kInfinity;
    for (int v = 0; v < fish.surface().num_vertices(); ++v)
        lowest = std::min(lowest, fish.position(SurfacePoint::at_vertex(v)).z());
    EXPECT_NEAR(lowest, 0, 0.01);
}

}  // namespace
}  // namespace pliant
