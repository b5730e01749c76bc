#include "pliant/particles/particle_model.h"

#include "core/numbers.h"
#include "input_error.h"
#include "particles/sample_particles.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"

#include <gmock/gmock.h>
#include <filesystem>

namespace pliant {
namespace {

using Eigen::Vector3d;

const ParticleModel& fish() {
    static const ParticleModel model = [] {
        const SurfaceMesh surface = make_shape("fish", 40);
        return make_particle_model(place_particles(surface, {.count = 40}), surface);
    }();
    return model;
}

TEST(ParticleModel, SkinWeightsAddUpAndPreferTheNearest) {
    const SkinWeights& skin = fish().skin;
    for (std::size_t v = 0; v < skin.weights.size(); ++v) {
        float sum = 0;
        for (const float w : skin.weights[v]) {
            EXPECT_GE(w, 0);
            sum += w;
        }
        EXPECT_NEAR(sum, 1, 3e-7);
        EXPECT_GE(skin.weights[v][0], skin.weights[v][3]);
    }
}

TEST(ParticleModel, AVertexAtAParticleIsItsAlone) {
    const ParticleLayout layout = particle_block(3, 3, 3);
    const SkinWeights skin = skin_weights(layout, {layout.particles[13].position});
    EXPECT_EQ(skin.particles[0][0], 13);
    EXPECT_EQ(skin.weights[0][0], 1);
    EXPECT_EQ(skin.weights[0][1], 0);
}

TEST(ParticleModel, WeightsFadeWhereInfluencesChange) {
    // along a line through a block: no jump of what is carried
    const ParticleLayout layout = particle_block(5, 5, 1, 0.1);
    std::vector<Vector3d> line;
    for (int k = 0; k <= 2000; ++k) line.emplace_back(0.05 + 0.3 * k / 2000.0, 0.13, 0.02);
    const SkinWeights skin = skin_weights(layout, line);
    const auto carried = [&](std::size_t v) {
        double sum = 0;
        for (std::size_t k = 0; k < 4; ++k)
            sum += skin.weights[v][k] * std::sin(37.0 * skin.particles[v][k]);
        return sum;
    };
    for (std::size_t v = 1; v < line.size(); ++v)
        EXPECT_LT(std::abs(carried(v) - carried(v - 1)), 0.05);
}

TEST(ParticleModel, IsSavedAndLoaded) {
    const auto path = std::filesystem::temp_directory_path() / "pliant_particle_model_test.pliant";
    save_particle_model(fish(), path, {{"input", "fish"}});
    const ParticleModel again = load_particle_model(path);
    EXPECT_EQ(Archive(path).provenance().at("input"), "fish");
    std::filesystem::remove(path);
    EXPECT_EQ(again.layout.links, fish().layout.links);
    EXPECT_EQ(again.skin.weights, fish().skin.weights);
    EXPECT_EQ(again.skin.particles, fish().skin.particles);
    EXPECT_EQ(again.surface.triangles, fish().surface.triangles);
    EXPECT_EQ(again.layout.particles[3].radii, fish().layout.particles[3].radii);
    EXPECT_EQ(again.layout.particles[3].rotation.coeffs(),
              fish().layout.particles[3].rotation.coeffs());
}

/// What loading says about a file of the fish with fewer numbers in a chunk.
std::string refusal_of(const std::string& shorter, std::size_t num_kept) {
    const auto path = std::filesystem::temp_directory_path() / "pliant_particle_cut_test.pliant";
    save_particle_model(fish(), path);
    const Archive whole(path);
    ArchiveWriter writer(ParticleModel::kArchiveKind);
    const auto add = [&]<class T>(const ChunkInfo& chunk, T) {
        const std::span<const T> values = whole.get<T>(chunk.name);
        if (chunk.name == shorter)
            writer.add<T>(chunk.name, values.first(num_kept));
        else
            writer.add<T>(chunk.name, values, chunk.shape);
    };
    for (const ChunkInfo& chunk : whole.chunks()) {
        if (chunk.type == ChunkType::F64) add(chunk, double{});
        if (chunk.type == ChunkType::F32) add(chunk, float{});
        if (chunk.type == ChunkType::I32) add(chunk, int{});
    }
    const auto cut = std::filesystem::temp_directory_path() / "pliant_particle_cut_test_2.pliant";
    writer.save(cut);
    const std::string said = test::input_error([&] { (void)load_particle_model(cut); });
    std::filesystem::remove(path);
    std::filesystem::remove(cut);
    return said.substr(std::min(said.size(), cut.string().size() + 2));
}

TEST(ParticleModel, FilesWithPartsOfRowsOrNoSurfaceAreRefused) {
    EXPECT_EQ(refusal_of("", 0), "");
    EXPECT_EQ(refusal_of("particles/links", 3),
              "chunk \"particles/links\" has 3 values, not a multiple of 2");
    EXPECT_EQ(refusal_of("surface/vertices", 7),
              "chunk \"surface/vertices\" has 7 values, not a multiple of 3");
    EXPECT_EQ(refusal_of("surface/triangles", 8),
              "chunk \"surface/triangles\" has 8 values, not a multiple of 3");
    EXPECT_THAT(refusal_of("surface/triangles", 0),
                testing::StartsWith("the surface has no triangles; build the model again"));
}

TEST(ParticleModel, ParticlesOutsideTheSurfaceAreNamed) {
    ParticleLayout layout = fish().layout;
    layout.particles[5].position = {1, 0, 0};
    try {
        static_cast<void>(make_particle_model(layout, fish().surface, "fish.json"));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    testing::StartsWith("fish.json: particles[5].position = 1 0 0 (expected "
                                        "inside the surface or within its radius of it; it is "));
    }
}

TEST(ParticleModel, CombinedModelsAreObjectsOfTheirOwn) {
    const Pose moved{{1, 2, 3}, rotation_from_vector({0, 0, 1})};
    const std::vector<PlacedParticles> parts{{&fish(), {}}, {&fish(), moved}};
    const ParticleModel both = combine(parts);
    const int n = fish().layout.num_particles();
    EXPECT_EQ(both.layout.num_particles(), 2 * n);
    EXPECT_EQ(both.layout.num_objects(), 2);
    EXPECT_LT((both.layout.particles[at(n + 4)].position -
               moved.to_world(fish().layout.particles[4].position))
                  .norm(),
              1e-12);
    EXPECT_EQ(both.skin.particles.back()[0], fish().skin.particles.back()[0] + n);
    EXPECT_NO_THROW(check_layout(both.layout));
    EXPECT_NO_THROW(check_layout_inside(both.layout, both.surface));
}

}  // namespace
}  // namespace pliant
