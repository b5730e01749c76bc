// Models with columns of coarser levels, as builds make them and files keep them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/numbers.h"
#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/hierarchical_greens.h"

namespace pliant {
namespace {

using test::input_error;

GreensBuildOptions rabbit_options() {
    GreensBuildOptions options;
    options.fixed = "z < 15 %";
    return options;
}

const SemiRegularMesh& rabbit_2() {
    static const SemiRegularMesh mesh = make_semi_regular("rabbit", 2);
    return mesh;
}

std::vector<int> ids_of(const GreensModel& model) {
    std::vector<int> ids;
    for (int id = 0; id < model.reference.functions->num_column_ids(); ++id)
        if (model.reference.functions->has_column(id)) ids.push_back(id);
    return ids;
}

/// Largest difference of a block over the largest block, over columns of `ids`.
double difference(const GreensFunctions& a, const GreensFunctions& b, const std::vector<int>& ids) {
    double largest = 0, worst = 0;
    std::array<float, 9> x, y;
    for (const int id : ids)
        for (int i = 0; i < a.num_nodes(); ++i) {
            a.element(i, id, x.data());
            b.element(i, id, y.data());
            for (std::size_t k = 0; k < 9; ++k) {
                largest = std::max(largest, std::abs(static_cast<double>(x[k])));
                worst = std::max(worst, std::abs(static_cast<double>(x[k]) - y[k]));
            }
        }
    return worst / largest;
}

TEST(BuildLevels, AreTheColumnsRefinedFromThoseOfNodes) {
    const GreensModel plain = build_greens_model(rabbit_2(), rabbit_options());
    const GreensModel refined = with_coarser_columns(plain, 0);
    GreensBuildOptions options = rabbit_options();
    options.coarsest_level = 0;
    const GreensModel built = build_greens_model(rabbit_2(), options);
    const std::vector<int> ids = ids_of(built);
    EXPECT_EQ(ids, ids_of(refined));
    EXPECT_GT(ids.size(), ids_of(plain).size() + 20);
    ASSERT_TRUE(built.reference.hierarchy);
    // single precision; sums of up to 50 columns
    EXPECT_LT(difference(*built.reference.functions, *refined.reference.functions, ids), 2e-5);
    EXPECT_EQ(difference(*built.reference.functions, *plain.reference.functions, ids_of(plain)), 0);
}

TEST(BuildLevels, CoarseColumnsAloneAreTheSame) {
    GreensBuildOptions options = rabbit_options();
    options.coarsest_level = 0;
    const GreensModel all = build_greens_model(rabbit_2(), options);
    options.finest_level = 1;
    const GreensModel few = build_greens_model(rabbit_2(), options);
    const std::vector<int> ids = ids_of(few);
    ASSERT_FALSE(ids.empty());
    EXPECT_GE(ids.front(), few.num_nodes());
    EXPECT_EQ(few.num_columns(), 0);
    EXPECT_LT(difference(*all.reference.functions, *few.reference.functions, ids), 2e-5);
    options.solver = GreensSolver::Iterative;
    options.residual = 1e-6;
    const GreensModel iterative = build_greens_model(rabbit_2(), options);
    EXPECT_EQ(ids_of(iterative), ids);
    // the hierarchical matrix approximates far blocks
    EXPECT_LT(difference(*few.reference.functions, *iterative.reference.functions, ids), 2e-3);
}

/// The solver is chosen for what is stored in the end: compressed columns, and few of them.
TEST(BuildLevels, MemoryIsEstimatedForTheColumnsThatAreMade) {
    const auto estimate = [](GreensBuildOptions options, GreensBuildReport& report) {
        report = {};
        (void)build_greens_model(rabbit_2(), options, Progress::none(), &report);
        return static_cast<double>(report.estimated_bytes);
    };
    GreensBuildReport report;
    GreensBuildOptions options = rabbit_options();
    const double dense = estimate(options, report);
    options.wavelet = WaveletOptions{};
    const double compressed = estimate(options, report);
    EXPECT_LT(compressed, dense - 1e5);
    // fits with compressed columns, and not with dense ones
    options.memory = (dense + compressed) / 2;
    EXPECT_EQ(estimate(options, report), compressed);
    EXPECT_FALSE(report.is_iterative);
    // right-hand sides of coarser functions are not kept
    options.wavelet.reset();
    options.memory = 0;
    options.coarsest_level = 0;
    options.finest_level = 1;
    const double coarse = estimate(options, report);
    const double rows = 3.0 * rabbit_2().mesh.num_vertices();
    EXPECT_EQ(coarse, 8 * rows * rows + 8 * rows * 3 * 256 + 4 * rows * 3 * report.num_columns);
}

TEST(BuildLevels, FilesKeepThem) {
    const test::TemporaryDirectory folder;
    for (const bool is_compressed : {false, true}) {
        GreensBuildOptions options = rabbit_options();
        options.coarsest_level = 1;
        if (is_compressed) options.wavelet.emplace();
        const GreensModel model = build_greens_model(rabbit_2(), options);
        save_greens_model(model, folder / "rabbit.pliant");
        const GreensModel loaded = load_greens_model(folder / "rabbit.pliant");
        ASSERT_TRUE(loaded.reference.hierarchy);
        EXPECT_EQ(loaded.reference.hierarchy->num_levels(), 2);
        const std::vector<int> ids = ids_of(model);
        EXPECT_EQ(ids_of(loaded), ids);
        EXPECT_GE(ids.back(), model.num_nodes());
        EXPECT_EQ(difference(*model.reference.functions, *loaded.reference.functions, ids), 0);
    }
}

TEST(BuildLevels, SayWhatTheyNeed) {
    GreensBuildOptions options = rabbit_options();
    options.coarsest_level = 3;
    EXPECT_EQ(input_error([&] { (void)build_greens_model(rabbit_2(), options); }),
              "constraint_level = 3 (expected 0 to 2, levels of the surface)");
    options.coarsest_level = 1;
    options.finest_level = 0;
    EXPECT_EQ(input_error([&] { check_options(options); }),
              "finest_constraint_level = 0 (expected at least the constraint level, 1)");
    options.coarsest_level = -1;
    EXPECT_EQ(input_error([&] { check_options(options); }),
              "finest_level goes with coarsest_level, the other end of the levels that have "
              "columns; add that or drop it");
    options.coarsest_level = 1;
    options.finest_level = -1;
    options.elements = BoundaryElements::Constant;
    EXPECT_EQ(input_error([&] { check_options(options); }),
              "constraint levels need one node at each vertex of a subdivision surface: linear "
              "boundary elements without creases");
    options.elements = BoundaryElements::Linear;
    const SemiRegularMesh flat = midpoint_subdivide(rabbit_2().mesh, 0);
    EXPECT_EQ(input_error([&] { (void)build_greens_model(flat, options); }),
              "constraint_level = 1 (expected a surface with levels, as pliant mesh --kind "
              "semiregular makes one)");
}

}  // namespace
}  // namespace pliant
