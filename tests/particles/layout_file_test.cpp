#include "particles/sample_particles.h"
#include "pliant/core/error.h"
#include "pliant/particles/particle_layout.h"

#include <gmock/gmock.h>
#include <filesystem>

namespace pliant {
namespace {

const std::string kTwo = R"({"format": "pliant-particles-1", "particles": [
    {"position": [0, 0, 0], "radius": 0.01, "mass": 0.1},
    {"position": [0.02, 0, 0], "radii": [0.01, 0.02, 0.01], "rotation": [1, 0, 0, 0],
     "mass": 0.2, "stiffness": 0.5}], "links": [[0, 1]]})";

std::string message_of(const std::string& text) {
    try {
        static_cast<void>(parse_layout(text, "fish.json"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}
std::string with(const std::string& what, const std::string& by) {
    std::string text = kTwo;
    text.replace(text.find(what), what.size(), by);
    return text;
}

TEST(LayoutFile, IsReadAndWrittenBack) {
    const ParticleLayout layout = parse_layout(kTwo, "two.json");
    ASSERT_EQ(layout.num_particles(), 2);
    EXPECT_EQ(layout.particles[1].radii, Eigen::Vector3d(0.01, 0.02, 0.01));
    EXPECT_EQ(layout.particles[1].stiffness, 0.5);
    EXPECT_EQ(layout.particles[0].stiffness, 1);
    const auto path = std::filesystem::temp_directory_path() / "pliant_layout_test.json";
    save_layout(layout, path);
    const ParticleLayout again = load_layout(path);
    std::filesystem::remove(path);
    EXPECT_EQ(again.links, layout.links);
    EXPECT_EQ(again.particles[1].position, layout.particles[1].position);
    EXPECT_EQ(again.particles[1].radii, layout.particles[1].radii);
    EXPECT_EQ(again.particles[1].mass, 0.2);
}

TEST(LayoutFile, MistakesAreNamed) {
    EXPECT_EQ(message_of(with("\"radius\": 0.01", "\"radius\": 0")),
              "fish.json: particles[0].radius = 0 0 0 (expected more than 0 m: an oriented "
              "particle has a size)");
    EXPECT_EQ(message_of(with("\"mass\": 0.2", "\"mass\": -1")),
              "fish.json: particles[1].mass = -1 (expected more than 0 kg)");
    EXPECT_EQ(message_of(with("\"mass\": 0.2", "\"mass\": 1e-40")),
              "fish.json: particles[1].mass = 1e-40 (expected 1e-20 to 1e20 kg)");
    EXPECT_EQ(message_of(with("[[0, 1]]", "[]")),
              "fish.json: particle 0 has no links, so that it would be a group of one; link it "
              "with its neighbours, or give it stiffness 0 if it is to move alone");
    EXPECT_EQ(message_of(with("[[0, 1]]", "[[0, 2]]")),
              "fish.json: links[0] = 0 2 (expected two different particles of 0 to 1)");
    EXPECT_EQ(message_of(with("[[0, 1]]", "[[0, 1], [1, 0]]")),
              "fish.json: links[1] = 1 0 (expected a pair that was not linked before)");
    EXPECT_EQ(message_of(with("\"radius\"", "\"raduis\"")),
              "fish.json: particles[0].raduis: unknown key; did you mean \"radius\"?");
    EXPECT_EQ(message_of(with("\"radius\": 0.01, ", "")),
              "fish.json: particles[0] needs either \"radius\" (a sphere) or \"radii\" (an "
              "ellipsoid)");
    EXPECT_EQ(message_of(with("[0, 0, 0]", "[0, 0]")),
              "fish.json: particles[0].position = [0,0] (expected 3 numbers in brackets)");
    EXPECT_EQ(message_of(with("pliant-particles-1", "particles")),
              "fish.json: format = \"particles\" (expected \"pliant-particles-1\")");
    EXPECT_EQ(message_of(with("\"stiffness\": 0.5", "\"stiffness\": 1.5")),
              "fish.json: particles[1].stiffness = 1.5 (expected 0 to 1)");
    EXPECT_THAT(message_of(with("\"mass\": 0.1", "\"mass\": 1e999")),
                testing::StartsWith("fish.json"));
}

TEST(LayoutFile, NumbersThatAreNotFiniteAreRefused) {
    ParticleLayout layout = particle_block(2, 2, 1);
    layout.particles[3].position.x() = std::nan("");
    EXPECT_THROW(check_layout(layout), InputError);
    layout = particle_block(2, 2, 1);
    layout.particles[2].rotation = Quaternion(0, 0, 0, 0);
    EXPECT_THROW(check_layout(layout), InputError);
}

TEST(LayoutFile, ParticlesAloneMayHaveNoLinksWithoutStiffness) {
    ParticleLayout layout = particle_block(2, 1, 1);
    layout.links.clear();
    for (Particle& p : layout.particles) p.stiffness = 0;
    EXPECT_NO_THROW(check_layout(layout));
}

}  // namespace
}  // namespace pliant
