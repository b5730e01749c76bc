// Bodies with Green's functions on several levels: touched on coarse ones, shown on fine ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/numbers.h"
#include "core/temporary_directory.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/greens/hierarchical_basis.h"
#include "pliant/greens/wavelet_greens.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using ::testing::HasSubstr;

/// A rabbit of 162 vertices, its belly pressed by a ball, and one cache for all tests.
class GreensLevels : public ::testing::Test {
protected:
    [[nodiscard]] static std::string scene(const std::string& greens, const std::string& touch,
                                           double radius = 0.01) {
        return R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
            {"name": "rabbit", "greens": {"shape": "rabbit", "levels": 2, "fixed": "z < 15 %")" +
               greens + R"(}},
            {"name": "ball", "rigid": {"sphere": {"radius": )" +
               std::to_string(radius) + R"(}, "motion": {"path": {"keyframes": [
                {"time": 0, "position": [0.07, 0, 0.042]}, {"time": 0.2, "position": [0.034, 0, 0.042]},
                {"time": 1, "position": [0.034, 0.001, 0.042]}]}}}}],
            "contacts": [{"greens": "rabbit", ")" +
               touch + R"(": ["ball"]}]})";
    }
    [[nodiscard]] World build(const std::string& text) {
        lines_.clear();
        return World(parse_scene(text, "scene.json", (folder_ / "x").parent_path()),
                     {.cache = folder_ / "cache",
                      .say = [this](const std::string& line) { lines_.push_back(line); }});
    }
    [[nodiscard]] static const GreensTouch& touch_of(const World& world) {
        return *world.loop(0).contact(0).greens();
    }
    /// Where all vertices are shown.
    [[nodiscard]] static std::vector<float> shown(const Body& body) {
        const auto display = body.display();
        std::vector<float> state(at(display->state_size()));
        body.write_display(state);
        std::vector<float> x(3 * at(body.surface().num_vertices()));
        display->positions(state, x);
        return x;
    }
    static void run(World& world, double seconds) { world.advance_to(seconds); }

    test::TemporaryDirectory folder_;
    std::vector<std::string> lines_;
};

TEST_F(GreensLevels, ToolsHoldVerticesOfTheLevelAndTheBodyShowsWhatTheSolverSays) {
    World world = build(scene(R"(, "constraint_level": 1)", "tools", 0.02));
    run(world, 0.3);
    const auto& tools = dynamic_cast<const GreensTools&>(touch_of(world));
    const DistributedContact& contact = tools.contact();
    EXPECT_EQ(contact.level(), 1);
    ASSERT_FALSE(contact.touched().empty());
    const GreensModel& model = tools.body().model();
    for (const TouchedNode& touched : contact.touched())
        EXPECT_LT(touched.node, model.surface.num_vertices[1]);

    // what is summed from the tractions of functions, against the solution of the contact
    auto& solver = const_cast<CapacitanceSolver&>(contact.solver());
    solver.evaluate(model.num_nodes());
    std::vector<float> u(3 * at(model.num_nodes()));
    solver.write_displacements(u);
    const std::vector<float> x = shown(tools.body());
    double largest = 0, worst = 0;
    for (std::size_t v = 0; v < u.size() / 3; ++v) {
        const Vector3d expected =
            Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * v).cast<double>();
        const Vector3d got = Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * v).cast<double>() -
                             model.surface.mesh.vertices[v];
        largest = std::max(largest, expected.norm());
        worst = std::max(worst, (got - expected).norm());
    }
    EXPECT_GT(largest, 1e-3);
    EXPECT_LT(worst, 1e-4 * largest);

    // the tool feels the tractions of the functions times their areas
    std::vector<LoadedNode> loads;
    const auto display = std::static_pointer_cast<const GreensDisplay>(tools.body().display());
    std::vector<float> state(at(display->state_size()));
    tools.body().write_display(state);
    display->loaded_nodes(state, loads);
    EXPECT_EQ(loads.size(), contact.touched().size());
    Vector3d sum = Vector3d::Zero();
    for (const LoadedNode& load : loads)
        sum += Eigen::Map<const Eigen::Vector3f>(load.force.data()).cast<double>();
    EXPECT_LT((sum + tools.load(0).force).norm(), 1e-4 * sum.norm());
    EXPECT_GT(tools.body().strain().displacement, 0);
}

TEST_F(GreensLevels, PointsPressWithFunctionsOfTheLevel) {
    World world = build(scene(R"(, "constraint_level": 1, "wavelet": "lifted-linear")", "points"));
    EXPECT_THAT(lines_.front(), HasSubstr(" on levels 1 to 2 · "));
    EXPECT_THAT(lines_.front(), HasSubstr(" coefficients, "));
    run(world, 0.3);
    const auto& points = dynamic_cast<const GreensPoints&>(touch_of(world));
    const GreensBody& body = points.body();
    const PointContact& contact = points.frame().points[0];
    ASSERT_TRUE(contact.is_touching());
    EXPECT_TRUE(
        dynamic_cast<const WaveletGreensFunctions*>(body.model().reference.functions.get()));
    for (int v = 0; v < body.model().surface.mesh.num_vertices(); ++v)
        for (const int id : body.stiffness().mask_nodes(v)) EXPECT_GE(id, body.model().num_nodes());
    // the surface goes the way of the point, about as far: exactly so at vertices of the level
    const Vector3d moved =
        body.model_position(contact.triangle, contact.barycentric) - contact.point;
    const Vector3d pressed = contact.tip - contact.point;
    EXPECT_GT(pressed.norm(), 1e-3);
    EXPECT_GT(moved.dot(pressed), 0.3 * pressed.squaredNorm());
    EXPECT_LT(moved.norm(), 1.3 * pressed.norm());
}

TEST_F(GreensLevels, TheLevelIsASlider) {
    World world = build(scene(R"(, "constraint_level": 1)", "tools", 0.02));
    auto& tools = const_cast<GreensTools&>(dynamic_cast<const GreensTools&>(touch_of(world)));
    const std::vector<LiveParameter> sliders = tools.body().parameters();
    ASSERT_EQ(sliders.size(), 4u);
    EXPECT_EQ(sliders[2].name, "constraint_level");
    EXPECT_EQ(sliders[2].value, 1);
    EXPECT_EQ(sliders[2].low, 1);
    EXPECT_EQ(sliders[2].high, 2);
    EXPECT_TRUE(sliders[2].is_integer);
    run(world, 0.3);
    EXPECT_EQ(tools.contact().level(), 1);
    const std::size_t num_coarse = tools.contact().touched().size();
    tools.body().set_parameter(2, 1.7);
    run(world, 0.5);
    EXPECT_EQ(tools.contact().level(), 1) << "masks take a moment";
    run(world, 0.6);
    EXPECT_EQ(tools.contact().level(), -1);
    EXPECT_EQ(tools.body().constraint_level(), -1);
    EXPECT_GT(tools.contact().touched().size(), num_coarse);
}

TEST_F(GreensLevels, FinerLevelsAreShown) {
    World world = build(scene(R"(, "display_level": 4)", "points"));
    const auto& points = dynamic_cast<const GreensPoints&>(touch_of(world));
    const GreensBody& body = points.body();
    EXPECT_EQ(body.model().num_nodes(), 162);
    ASSERT_EQ(body.surface().num_vertices(), 2562);
    EXPECT_EQ(body.surface().num_triangles(), 5120);
    // edges of every level are there for wireframes
    const auto& display = dynamic_cast<const GreensDisplay&>(*body.display());
    ASSERT_EQ(display.num_levels(), 4);
    for (const int level : {0, 2, 4}) {
        const auto edges = display.level_edges(level);
        // in as many pieces as the finest level makes of them
        EXPECT_EQ(edges.size(), 30u << (2 * level + 4 - level));
        std::map<std::array<int, 2>, int> on_surface;
        for (const Triangle& t : body.surface().triangles)
            for (std::size_t k = 0; k < 3; ++k)
                ++on_surface[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}];
        for (const auto& [a, b] : edges)
            EXPECT_EQ(on_surface.count({std::min(a, b), std::max(a, b)}), 1u);
    }

    // at rest where it is said to be
    const std::vector<float> rest = shown(body);
    double worst = 0;
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        worst = std::max(
            worst, (Eigen::Map<const Eigen::Vector3f>(rest.data() + 3 * at(v)).cast<double>() -
                    body.surface().vertices[at(v)])
                       .norm());
    EXPECT_LT(worst, 1e-6);
    const SurfacePoint picked = SurfacePoint::on_triangle(1234, {0.2, 0.5, 0.3});
    const Vector3d there = 0.2 * body.surface().corner(1234, 0) +
                           0.5 * body.surface().corner(1234, 1) +
                           0.3 * body.surface().corner(1234, 2);
    EXPECT_LT((body.position(picked) - there).norm(), 1e-12);
    EXPECT_EQ(body.place_on_model(picked).triangle, 1234 / 16);

    // pressed, it goes with the elastic surface under it
    run(world, 0.3);
    const PointContact& contact = points.frame().points[0];
    ASSERT_TRUE(contact.is_touching());
    const std::vector<float> pressed = shown(body);
    double largest = 0;
    for (int v = 0; v < 162; ++v) {
        // vertices of coarser levels come first
        const Vector3d fine = (Eigen::Map<const Eigen::Vector3f>(pressed.data() + 3 * at(v)) -
                               Eigen::Map<const Eigen::Vector3f>(rest.data() + 3 * at(v)))
                                  .cast<double>();
        largest = std::max(largest, fine.norm());
    }
    EXPECT_GT(largest, 2e-4);
    EXPECT_GT((body.position(SurfacePoint::on_triangle(16 * contact.triangle, Vector3d(1, 0, 0))) -
               body.surface().corner(16 * contact.triangle, 0))
                  .norm(),
              2e-4);
}

TEST_F(GreensLevels, PicturesGoByDisplayLevelAndToleranceWhileItRuns) {
    World world = build(scene(R"(, "constraint_level": 1, "wavelet": "lifted-linear")", "points"));
    const auto& points = dynamic_cast<const GreensPoints&>(touch_of(world));
    auto& body = const_cast<GreensBody&>(points.body());
    const std::vector<LiveParameter> sliders = body.parameters();
    ASSERT_EQ(sliders.size(), 5u);
    EXPECT_EQ(sliders[3].name, "display_level");
    EXPECT_EQ(sliders[3].high, 2);
    EXPECT_TRUE(sliders[3].is_integer);
    EXPECT_FALSE(sliders[4].is_integer);
    EXPECT_EQ(sliders[4].name, "tolerance");
    EXPECT_EQ(sliders[4].value, 0.05);
    run(world, 0.3);
    const std::vector<float> all = shown(body);
    const Vector3d felt = points.frame().points[0].force;
    AllocationGuard guard;
    body.set_parameter(3, 1);
    body.set_parameter(4, 0.3);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(body.shown_tolerance(), 0.3);
    EXPECT_EQ(points.frame().points[0].force, felt) << "touch stays as it is";

    // vertices of finer levels are in the middle of their edges, others within the tolerance
    const std::vector<float> coarse = shown(body);
    const SemiRegularMesh& surface = body.model().surface;
    const auto vertex = [](const std::vector<float>& x, int v) {
        return Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * at(v));
    };
    for (int v = surface.num_vertices[1]; v < surface.num_vertices[2]; ++v) {
        const auto& from = surface.neighbourhood[at(v - surface.num_vertices[0])];
        EXPECT_LT(
            (vertex(coarse, v) - 0.5f * (vertex(coarse, from[0]) + vertex(coarse, from[1]))).norm(),
            1e-7f);
    }
    double largest = 0, moved = 0;
    for (int v = 0; v < surface.num_vertices[1]; ++v) {
        largest = std::max(largest, double{(vertex(coarse, v) - vertex(all, v)).norm()});
        moved =
            std::max(moved, (vertex(all, v).cast<double>() - surface.mesh.vertices[at(v)]).norm());
    }
    EXPECT_GT(largest, 0);
    EXPECT_LT(largest, 0.5 * moved);
    // and back
    body.set_parameter(3, 2);
    body.set_parameter(4, 0);
    EXPECT_EQ(shown(body), all);
}

TEST_F(GreensLevels, ABudgetChoosesTheLevelAndPicturesFadeFromOneToTheNext) {
    // the largest change of what is shown in one tick, and the levels on the way
    const auto changes_of = [&](const std::string& budget) {
        std::string text = scene(R"(, "constraint_level": 1)", "tools", 0.02);
        text.replace(text.find(R"(["ball"])"), 8, R"(["ball"])" + budget);
        World world = build(text);
        const auto& tools = dynamic_cast<const GreensTools&>(touch_of(world));
        std::vector<float> before = shown(tools.body());
        double largest = 0;
        std::vector<int> levels;
        for (int tick = 1; tick <= 300; ++tick) {
            run(world, 0.001 * tick);
            const std::vector<float> now = shown(tools.body());
            for (std::size_t i = 0; i < now.size(); ++i)
                largest = std::max(largest, double{std::abs(now[i] - before[i])});
            before = now;
            if (levels.empty() || tools.contact().level() != levels.back())
                levels.push_back(tools.contact().level());
        }
        return std::pair(largest, levels);
    };
    const auto [alone, one_level] = changes_of("");
    EXPECT_EQ(one_level, std::vector<int>{1});
    const auto [wide, fine] = changes_of(R"(, "budget": 1)");
    EXPECT_EQ(fine, std::vector<int>{-1}) << "the finest fits";
    const auto [narrow, degraded] = changes_of(R"(, "budget": 1e-5)");
    EXPECT_EQ(degraded, (std::vector<int>{-1, 1})) << "finest first, coarser under the ball";
    EXPECT_LT(narrow, 1.5 * std::max(alone, wide)) << "no pop";
}

/// The whole script of the demo: the largest way of a vertex in one tick.
TEST_F(GreensLevels, APlateThatPressesAndLeavesMakesNoPop) {
    struct Run {
        double largest = 0;
        std::vector<int> levels;
    };
    const auto run_with = [&](double budget) {
        SceneDescription pressed = demo_scene("rabbit-press");
        auto& contact = std::get<GreensContactDescription>(pressed.contacts[0]);
        if (budget > 0) contact.budget = budget;
        World world(std::move(pressed), {.cache = folder_ / "cache"});
        int loop = 0;
        while (world.loop(loop).num_contacts() == 0) ++loop;
        const auto& tools = dynamic_cast<const GreensTools&>(*world.loop(loop).contact(0).greens());
        std::vector<float> before = shown(tools.body());
        Run result;
        for (int tick = 1; tick <= 450; ++tick) {
            world.advance_to(0.01 * tick + 1e-4);
            const std::vector<float> now = shown(tools.body());
            for (std::size_t v = 0; v < now.size(); v += 3)
                result.largest =
                    std::max(result.largest,
                             double{std::hypot(now[v] - before[v], now[v + 1] - before[v + 1],
                                               now[v + 2] - before[v + 2])});
            before = now;
            if (result.levels.empty() || tools.contact().level() != result.levels.back())
                result.levels.push_back(tools.contact().level());
        }
        return result;
    };
    const Run fine = run_with(1), demo = run_with(0);
    EXPECT_EQ(fine.levels, std::vector<int>{-1});
    EXPECT_EQ(demo.levels, (std::vector<int>{-1, 2, -1}));
    EXPECT_LT(fine.largest, 0.4e-3) << "the step of the plate";
    EXPECT_LT(demo.largest, fine.largest + 0.13e-3) << "and a tenth of a jump of 1.3 mm";
}

TEST_F(GreensLevels, EveryKeyMakesAModelOfItsOwn) {
    const auto is_built = [&](const std::string& keys) {
        (void)build(scene(keys, "points"));
        return lines_.front().find("built in ") != std::string::npos;
    };
    EXPECT_TRUE(is_built(R"(, "wavelet": "linear")"));
    EXPECT_FALSE(is_built(R"(, "wavelet": "linear", "tolerance": 0.05)")) << "the default";
    EXPECT_TRUE(is_built(R"(, "wavelet": "linear", "tolerance": 0.1)"));
    EXPECT_TRUE(is_built(R"(, "wavelet": "butterfly")"));
    EXPECT_TRUE(is_built(R"(, "wavelet": "linear", "constraint_level": 1)"));
    EXPECT_TRUE(is_built(R"(, "constraint_level": 0)"));
    EXPECT_TRUE(is_built(R"(, "constraint_level": 0, "finest_constraint_level": 1)"));
    EXPECT_TRUE(is_built(""));
    EXPECT_FALSE(is_built(R"(, "display_level": 3)")) << "shown only";
    EXPECT_FALSE(is_built(R"(, "constraint_level": 0)"));
}

// The demo itself has 9,920 vertices and takes minutes.
TEST_F(GreensLevels, ASmallSerpentIsHeldAtItsCoarsestLevel) {
    SceneDescription scene = demo_scene("serpent-ring");
    std::get<GreensRecipe>(std::get<GreensSource>(scene.bodies[0].source).model).levels = 1;
    World world(std::move(scene), {.cache = {}});
    int most = 0;
    for (int frame = 1; frame <= 150; ++frame) {
        world.advance_to(frame / 50.0 + 1e-4);
        for (int l = 0; l < world.num_loops(); ++l)
            if (world.loop(l).num_contacts() > 0) {
                const auto& tools =
                    dynamic_cast<const GreensTools&>(*world.loop(l).contact(0).greens());
                EXPECT_EQ(tools.contact().level(), 0);
                EXPECT_EQ(tools.contact().report().status, DistributedContact::Status::Settled);
                most = std::max(most, static_cast<int>(tools.contact().touched().size()));
            }
    }
    EXPECT_GE(most, 1);
}

/// Probed, estimated, compressed and touched.
TEST_F(GreensLevels, AMeasuredBodyIsTouchedThroughItsWavelets) {
    const std::string probes = R"(, "measured": {"noise": 1e-6, "hidden": 0.2})";
    const auto pressed = [&](const std::string& more) {
        World world = build(scene(probes + more, "points"));
        run(world, 0.3);
        const Eigen::Vector3d force = touch_of(world).load(0).force;
        const auto* wavelets = dynamic_cast<const WaveletGreensFunctions*>(
            touch_of(world).body().model().reference.functions.get());
        return std::pair(force, wavelets ? wavelets->report() : CompressionReport());
    };
    const auto [exact, none] = pressed("");
    const auto [close, with_base] = pressed(R"(, "wavelet": "lifted-linear", "tolerance": 0.02)");
    const auto [without, thresholded] =
        pressed(R"(, "wavelet": "lifted-linear", "tolerance": 0.02, "base_threshold": true)");
    EXPECT_EQ(none.num_blocks, 0);
    EXPECT_GT(with_base.compression, 1.2);
    EXPECT_FALSE(with_base.options.thresholds_base);
    EXPECT_TRUE(thresholded.options.thresholds_base);
    EXPECT_LE(thresholded.num_blocks, with_base.num_blocks);
    EXPECT_GT(exact.norm(), 0.05);
    EXPECT_LT((close - exact).norm(), 0.05 * exact.norm());
    EXPECT_LT((without - exact).norm(), 0.05 * exact.norm());
    EXPECT_NE(close, exact);
}

}  // namespace
}  // namespace pliant
