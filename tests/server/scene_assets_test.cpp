#include "server/scene_assets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "server/viewer_samples.h"

namespace pliant {
namespace {

using test::number_at;

TEST(SceneAssets, SurfaceIsWrittenNumberByNumber) {
    SurfaceMesh surface;
    surface.vertices = {{0, 0, 0}, {1.5, 0, 0}, {0, -2, 0.25}};
    surface.triangles = {{0, 1, 2}};
    const std::string bytes = *encode_surface(surface);
    ASSERT_EQ(bytes.size(), 8u + 36 + 12);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 0), 3u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 4), 1u);
    EXPECT_EQ(number_at<float>(bytes, 8 + 12), 1.5f);
    EXPECT_EQ(number_at<float>(bytes, 8 + 28), -2.0f);
    EXPECT_EQ(number_at<float>(bytes, 8 + 32), 0.25f);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 8 + 36 + 8), 2u);
}

TEST(SceneAssets, MeshEdgesAreWrittenNumberByNumber) {
    const std::array<int, 2> edges[] = {{0, 1}, {1, 70000}};
    const std::string bytes = *encode_mesh_edges(70001, edges);
    ASSERT_EQ(bytes.size(), 8u + 16);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 0), 70001u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 4), 2u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 20), 70000u);
}

/// What a page computes: X + Σ factor_k value/32767 q_k, against SurfaceShapes itself.
double largest_difference(const SurfaceShapes& shapes) {
    const std::string bytes = *encode_shapes(shapes);
    const std::size_t n = number_at<std::uint32_t>(bytes, 0),
                      r = number_at<std::uint32_t>(bytes, 4);
    EXPECT_EQ(n, static_cast<std::size_t>(shapes.num_vertices()));
    EXPECT_EQ(r, static_cast<std::size_t>(shapes.size()));
    EXPECT_EQ(bytes.size(), 8 + 4 * r + 8 * n * r);
    double worst = 0;
    for (std::size_t k = 0; k < r; ++k) {
        const float factor = number_at<float>(bytes, 8 + 4 * k);
        std::vector<float> q(r, 0.0f), x(3 * n);
        q[k] = 1;
        shapes.velocities(q, x);
        for (std::size_t v = 0; v < n; ++v)
            for (std::size_t axis = 0; axis < 4; ++axis) {
                const auto value =
                    number_at<std::int16_t>(bytes, 8 + 4 * r + 8 * (k * n + v) + 2 * axis);
                if (axis == 3) {
                    EXPECT_EQ(value, 0);
                    continue;
                }
                const double shown = static_cast<double>(factor) * value / 32767;
                worst = std::max(worst, std::abs(shown - static_cast<double>(x[3 * v + axis])) /
                                            static_cast<double>(factor));
            }
    }
    return worst;
}

TEST(SceneAssets, ShapesAreRightToHalfAStepOfTheirColumn) {
    // and what single precision adds to it
    constexpr double kHalfStep = 0.5 / 32767 + 1e-6;
    const ReducedModel model = test::bar_model({.rank = 6});
    EXPECT_LT(largest_difference(model.shapes()), kHalfStep);
    EXPECT_GT(largest_difference(model.shapes()), 0.1 * kHalfStep);
    EXPECT_LT(largest_difference(model.shapes().truncated(2)), kHalfStep);
    const ReducedModel small = test::bar_model({.rank = 6, .storage = ShapeStorage::Int16});
    // already in steps of the same size
    EXPECT_LT(largest_difference(small.shapes()), kHalfStep);
}

TEST(SceneAssets, ColumnOfZerosStaysZero) {
    const std::vector<float> rest(9, 0.0f);
    const std::vector<int> triangles = {0, 1, 2};
    std::vector<float> rows(18, 0.0f);
    rows[0] = -3;
    const SurfaceArrays arrays{.r = 2,
                               .storage = ShapeStorage::Float32,
                               .rest = rest,
                               .triangles = triangles,
                               .rows32 = rows,
                               .rows16 = {},
                               .scales = {}};
    const std::string bytes = *encode_shapes(SurfaceShapes(arrays, nullptr));
    EXPECT_EQ(number_at<float>(bytes, 8), 3.0f);
    EXPECT_EQ(number_at<float>(bytes, 12), 0.0f);
    EXPECT_EQ(number_at<std::int16_t>(bytes, 16), -32767);
    EXPECT_EQ(bytes.substr(18), std::string(bytes.size() - 18, '\0'));
}

TEST(SceneAssets, BodiesOfOneModelShareIt) {
    const auto world = test::small_world();
    SceneAssets assets(*world);
    ASSERT_EQ(assets.streams().size(), 4u);
    EXPECT_EQ(assets.assets().size(), 3u);
    const auto& streams = assets.streams();
    EXPECT_EQ(streams[0].asset, streams[3].asset);
    EXPECT_EQ(streams[0].encoding, StreamEncoding::Reduced);
    EXPECT_EQ(streams[0].rank, 4);
    EXPECT_EQ(streams[1].encoding, StreamEncoding::Positions);
    EXPECT_EQ(streams[2].encoding, StreamEncoding::Pose);
    EXPECT_NEAR(assets.assets()[0].size, 0.8, 1e-12);
    EXPECT_TRUE(assets.assets()[1].has_mesh);
    EXPECT_FALSE(assets.assets()[2].has_mesh);

    EXPECT_EQ(assets.find("0/surface")->size(), 8u + 8 * 12 + 12 * 12);
    EXPECT_EQ(assets.find("0/surface"), assets.find("0/surface")) << "encoded once";
    EXPECT_EQ(number_at<std::uint32_t>(*assets.find("0/shapes"), 4), 4u);
    EXPECT_EQ(number_at<std::uint32_t>(*assets.find("1/mesh"), 0), 27u);
    EXPECT_EQ(assets.find("1/shapes"), nullptr);
    EXPECT_EQ(assets.find("2/mesh"), nullptr);
    for (const char* path : {"", "/", "0", "0/", "3/surface", "-1/surface", "0/surface/", "x/mesh",
                             "99999999999999999999/mesh", "0/../1/mesh"})
        EXPECT_EQ(assets.find(path), nullptr) << path;
}

TEST(SceneAssets, StreamsFindTheirNumbersInTheLoops) {
    const auto world = test::small_world();
    world->advance_to(0.2);
    const SceneAssets assets(*world);
    const LoopFrame haptic = world->loop(0).make_frame(), soft = world->loop(1).make_frame();
    const LoopFrame* loops[] = {&haptic, &soft};
    FrameContent content;
    gather_frame(assets.streams(), loops, false, content);
    EXPECT_TRUE(content.has_tool);
    for (int i = 0; i < 4; ++i) {
        const BodyStream& stream = assets.streams()[static_cast<std::size_t>(i)];
        std::vector<float> state(static_cast<std::size_t>(stream.display->state_size()));
        world->body(i).write_display(state);
        EXPECT_TRUE(
            std::equal(state.begin(), state.end(),
                       content.display.begin() + static_cast<std::ptrdiff_t>(stream.offset)))
            << "body " << i;
    }
    // the ball at its place
    const float x = content.display[assets.streams()[2].offset];
    EXPECT_NEAR(x, 0.1 * std::sin(2 * M_PI * 0.2), 1e-6);
}

}  // namespace
}  // namespace pliant
