#include "server/greens_assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/core/json_value.h"
#include "pliant/greens/wavelet_greens.h"
#include "scene/greens_scenes.h"
#include "server/scene_assets.h"
#include "server/server_messages.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::GreensScenes, test::number_at;

class GreensAssets : public ::testing::Test, protected GreensScenes {
protected:
    GreensAssets()
        : world(std::make_unique<World>(
              build(scene(ball("ball", 0.055, "grasp"),
                          R"("contacts": [{"greens": "nodule", "tools": ["ball"]}])", "grasp")))),
          body(dynamic_cast<const GreensBody&>(world->body(0))) {}

    std::unique_ptr<World> world;
    const GreensBody& body;
};

TEST_F(GreensAssets, SayOfEachVertexWhatHoldsItAndHowStiffItIs) {
    SceneAssets assets(*world);
    ASSERT_EQ(assets.assets()[0].greens, &body);
    EXPECT_EQ(assets.streams()[0].encoding, StreamEncoding::Positions);
    const std::string bytes = *assets.find("0/greens");
    const auto count = static_cast<std::size_t>(body.surface().num_vertices());
    ASSERT_EQ(bytes.size(), 8 + 16 * count);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 0), count);
    int num_fixed = 0;
    double area = 0;
    for (std::size_t v = 0; v < count; ++v) {
        const auto field = [&](std::size_t k) {
            return number_at<float>(bytes, 8 + 16 * v + 4 * k);
        };
        const bool is_fixed = body.model().reference.kinds[v] == NodeKind::Fixed;
        EXPECT_EQ(field(0), is_fixed ? 1.0f : 0.0f);
        num_fixed += is_fixed ? 1 : 0;
        area += static_cast<double>(field(1));
        if (is_fixed) continue;
        EXPECT_GT(field(2), 0.0f);
        EXPECT_GT(field(3), field(2)) << "a mask spreads the force";
    }
    EXPECT_EQ(num_fixed, body.model().num_fixed());
    double whole = 0;
    for (const double one : body.model().reference.areas) whole += one;
    EXPECT_NEAR(area, whole, 1e-6 * whole);
    EXPECT_EQ(assets.find("1/greens"), nullptr) << "a ball";
}

TEST_F(GreensAssets, GiveTheResponseToAForceAtAVertex) {
    SceneAssets assets(*world);
    const auto& x = body.surface().vertices;
    const int top = static_cast<int>(
        std::max_element(x.begin(), x.end(),
                         [](const auto& a, const auto& b) { return a.z() < b.z(); }) -
        x.begin());
    const std::string bytes = *assets.find("0/unit/" + std::to_string(top));
    ASSERT_EQ(bytes.size(), 8 + 12 * x.size());
    const auto value = [&](int v, std::size_t k) {
        return static_cast<double>(number_at<float>(bytes, 8 + 12 * at(v) + 4 * k));
    };
    // pressed in by the compliance there, which is symmetric while this is not quite
    const Eigen::Matrix3d C = body.first_stiffness().compliance(top, top);
    const Vector3d expected = C * Vector3d(0, 0, -1);
    const Vector3d moved(value(top, 0), value(top, 1), value(top, 2));
    EXPECT_LT((moved - expected).norm(), 0.05 * expected.norm());
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        if (body.model().reference.kinds[at(v)] == NodeKind::Fixed) {
            EXPECT_EQ(value(v, 2), 0);
        }
    for (const char* path :
         {"0/unit/", "0/unit/34", "0/unit/-1", "0/unit/1x", "1/unit/0", "0/unit"})
        EXPECT_EQ(assets.find(path), nullptr) << path;
    EXPECT_EQ(encode_unit_field(body, -1), nullptr);
}

TEST_F(GreensAssets, StatisticsSayWhatWasDoneToTheCapacitanceMatrix) {
    world->advance_to(0.4);
    const int nodes = world->loop(1).make_frame().contacts[0].greens.num_nodes;
    test::VirtualWorld viewed(std::move(world));
    const JsonValue stats = parse_json(stats_message(viewed, {}), "stats");
    const JsonValue::Array& greens = stats.find("greens")->array();
    ASSERT_EQ(greens.size(), 1u);
    EXPECT_EQ(greens[0].find("name")->string(), "nodule/ball");
    EXPECT_GT(nodes, 0);
    EXPECT_EQ(greens[0].find("nodes")->number(), nodes);
    EXPECT_EQ(greens[0].find("size")->number(), 3 * nodes);
    EXPECT_THAT(greens[0].find("status")->string(),
                ::testing::AnyOf("hit", "updated", "refactored"));
    EXPECT_GT(greens[0].find("linear")->find("strain")->number(), 0);
    EXPECT_GT(greens[0].find("linear")->find("use")->number(), 0);
    double solved = 0;
    for (const char* name : {"hit", "updated", "refactored"})
        solved += greens[0].find("counts")->find(name)->number();
    EXPECT_GT(solved, 5);
    const JsonValue hello =
        parse_json(hello_message(viewed, SceneAssets(viewed.world()), {}, true), "hello");
    EXPECT_TRUE(hello.find("assets")->array()[0].find("has_greens")->boolean());
    EXPECT_FALSE(hello.find("assets")->array()[1].find("has_greens")->boolean());
    EXPECT_EQ(hello.find("assets")->array()[1].find("levels")->number(), 0);
    EXPECT_FALSE(hello.find("assets")->array()[0].find("has_wavelets")->boolean());
    EXPECT_TRUE(greens[0].find("compression")->is(JsonValue::Type::Null)) << "not compressed";
    EXPECT_EQ(greens[0].find("level")->number(), greens[0].find("levels")->number());
}

TEST_F(GreensAssets, SayWhichBlocksCompressionKept) {
    SceneAssets dense(*world);
    EXPECT_EQ(dense.find("0/sparsity"), nullptr) << "not compressed";
    const World rabbit =
        build(R"({"pliant": 1, "bodies": [{"name": "rabbit", "greens": {"shape": "rabbit",
            "levels": 2, "fixed": "z < 15 %", "wavelet": "lifted-linear", "display_level": 3}}]})");
    const auto& compressed = dynamic_cast<const GreensBody&>(rabbit.body(0));
    SceneAssets assets(rabbit);
    EXPECT_EQ(assets.assets()[0].num_levels, 3);
    EXPECT_EQ(number_at<std::uint32_t>(*assets.find("0/edges/1"), 0), 642u) << "of the surface";
    EXPECT_EQ(number_at<std::uint32_t>(*assets.find("0/edges/1"), 4), 480u);
    EXPECT_EQ(assets.find("0/edges/4"), nullptr);
    EXPECT_EQ(assets.find("0/edges/"), nullptr);
    const std::string bytes = *assets.find("0/sparsity");
    const auto width = number_at<std::uint32_t>(bytes, 0),
               height = number_at<std::uint32_t>(bytes, 4);
    // all of them fit: pixels are blocks
    ASSERT_EQ(width, static_cast<std::uint32_t>(compressed.model().num_columns()));
    ASSERT_EQ(height, static_cast<std::uint32_t>(compressed.model().num_nodes()));
    const auto& wavelets =
        dynamic_cast<const WaveletGreensFunctions&>(*compressed.model().reference.functions);
    const std::vector<int>& columns = wavelets.layout().columns;
    for (std::uint32_t x = 0; x < width; ++x) {
        const auto nodes = wavelets.column(columns[x]).nodes;
        for (std::uint32_t y = 0; y < height; ++y) {
            const bool is_kept =
                std::find(nodes.begin(), nodes.end(), static_cast<int>(y)) != nodes.end();
            ASSERT_EQ(number_at<float>(bytes, 8 + 4 * (std::size_t{y} * width + x)),
                      is_kept ? 1.0f : 0.0f);
        }
    }
    // of the finer surface that is shown
    EXPECT_EQ(number_at<std::uint32_t>(*assets.find("0/greens"), 0), 642u);
    EXPECT_EQ(assets.find("0/unit/641")->size(), 8 + 12 * 642u);
    EXPECT_EQ(assets.find("0/mesh"), nullptr) << "levels have edges of their own";
}

}  // namespace
}  // namespace pliant
