#include "pliant/greens/adaptive_surface.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/greens/capacitance_solver.h"
#include "tests/greens/wavelet_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3f;

/// A blob pressed at one place, as coefficients and as positions of all vertices.
struct PressedBlob {
    PressedBlob() {
        GreensBuildOptions options;
        options.fixed = "z < 25 %";
        options.wavelet = WaveletOptions{};
        model =
            std::make_shared<const GreensModel>(build_greens_model(test::eared_blob(3), options));
        const int n = model->num_nodes();
        for (const Vector3d& x : model->surface.mesh.vertices)
            if (top < 0 || x.z() > model->surface.mesh.vertices[at(top)].z())
                top = static_cast<int>(&x - model->surface.mesh.vertices.data());
        CapacitanceSolver solver(model->reference, UpdateCosts());
        (void)solver.solve(std::vector<ChangedDof>{{top, Vector3d::UnitZ()}},
                           std::vector<double>{-0.3});
        solver.evaluate(n);
        sum.assign(solver.sum().begin(), solver.sum().end());
        std::vector<float> u(3 * at(n));
        solver.write_displacements(u);
        for (int v = 0; v < n; ++v)
            positions.emplace_back(model->surface.mesh.vertices[at(v)].cast<float>() +
                                   Eigen::Map<const Vector3f>(u.data() + 3 * at(v)));
    }
    std::shared_ptr<const GreensModel> model;
    int top = -1;
    std::vector<float> sum;
    std::vector<Vector3f> positions;
};

const PressedBlob& pressed_blob() {
    static const PressedBlob blob;
    return blob;
}

/// Every edge has a triangle on each side, turned the same way.
void expect_closed(const AdaptiveSurface& surface) {
    std::map<std::pair<int, int>, int> edges;
    for (const auto& t : surface.triangles)
        for (std::size_t k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
    for (const auto& [edge, count] : edges) {
        ASSERT_EQ(count, 1);
        ASSERT_EQ(edges.count({edge.second, edge.first}), 1u) << "a crack";
    }
    // a closed surface of the same genus
    const auto num_edges = edges.size() / 2;
    EXPECT_EQ(surface.vertices.size() + surface.triangles.size(), num_edges + 2);
}

TEST(AdaptiveDisplay, ShowsEverythingWithoutTolerance) {
    const PressedBlob& blob = pressed_blob();
    AdaptiveDisplay display(blob.model);
    AdaptiveSurface surface;
    display.update(blob.sum, 0, surface);
    ASSERT_EQ(surface.vertices.size(), 642u);
    EXPECT_EQ(surface.triangles.size(), 1280u);
    EXPECT_EQ(surface.refined.size(), 630u);
    for (std::size_t v = 0; v < 642; ++v)
        ASSERT_LT((surface.positions[v] - blob.positions[v]).norm(), 1e-5f);
    expect_closed(surface);
}

TEST(AdaptiveDisplay, HasNoCracksAndStaysNearTheSurface) {
    const PressedBlob& blob = pressed_blob();
    AdaptiveDisplay display(blob.model);
    AdaptiveSurface surface;
    std::size_t last = 643;
    for (const double tolerance : {0.003, 0.01, 0.03, 0.1, 10.0}) {
        display.update(blob.sum, tolerance, surface);
        expect_closed(surface);
        EXPECT_LT(surface.vertices.size(), last);
        last = surface.vertices.size();
        // what is left out of every level adds up
        for (std::size_t k = 0; k < surface.vertices.size() && tolerance < 1; ++k)
            ASSERT_LT((surface.positions[k] - blob.positions[at(surface.vertices[k])]).norm(),
                      4 * tolerance);
    }
    // vertices between the base of fixed ones may have no coarser ones of their domain
    const auto& transform =
        dynamic_cast<const WaveletGreensFunctions&>(*blob.model->reference.functions).transform();
    for (const int v : surface.refined) EXPECT_LE(transform.level(v), 2);
}

TEST(AdaptiveDisplay, RefinesWhereItIsLookedAt) {
    const PressedBlob& blob = pressed_blob();
    AdaptiveDisplay display(blob.model);
    std::vector<float> weights(642, 0.0f);
    const Vector3d& top = blob.model->surface.mesh.vertices[at(blob.top)];
    for (std::size_t v = 0; v < 642; ++v)
        weights[v] = (blob.model->surface.mesh.vertices[v] - top).norm() < 0.6 ? 1.0f : 0.0f;
    AdaptiveSurface all, some;
    display.update(blob.sum, 0.002, all);
    display.update(blob.sum, 0.002, some, weights);
    expect_closed(some);
    EXPECT_LT(some.vertices.size(), all.vertices.size() / 2);
    std::size_t num_near = 0, num_seen = 0;
    for (const int v : all.vertices) num_near += weights[at(v)] > 0;
    for (const int v : some.vertices) num_seen += weights[at(v)] > 0;
    EXPECT_GE(num_seen, num_near);
}

/// A support that is pushed up, one that is let go of, and a free node that is held.
TEST(AdaptiveDisplay, MovesSupportsThatAreMoved) {
    const auto model = std::make_shared<const GreensModel>([] {
        GreensBuildOptions options;
        options.fixed = "z < 25 %";
        options.has_fixed_columns = true;
        options.wavelet = WaveletOptions{};
        return build_greens_model(test::eared_blob(2), options);
    }());
    const int n = model->num_nodes();
    std::vector<int> fixed;
    std::vector<Vector3d> pushed;
    for (int node = 0; node < n; ++node)
        if (model->reference.kinds[at(node)] == NodeKind::Fixed) {
            fixed.push_back(node);
            pushed.emplace_back(0.1 * model->reference.positions[at(node)].y(), 0, 0.05);
        }
    ASSERT_GT(fixed.size(), 10u);
    CapacitanceSolver solver(model->reference, UpdateCosts(),
                             {.max_loads = static_cast<int>(fixed.size())});
    ASSERT_TRUE(solver.set_loads(fixed, pushed));
    ASSERT_FALSE(is_refused(
        solver.solve(std::vector<ChangedDof>{{fixed[3], Vector3d::UnitX()}, {0, Vector3d::UnitZ()}},
                     std::vector<double>{0, -0.1})));
    solver.evaluate(n);
    std::vector<float> u(3 * at(n));
    solver.write_displacements(u);
    std::vector<Vector3d> moved(fixed.size());
    solver.displacements(fixed, moved);

    AdaptiveDisplay display(model);
    AdaptiveSurface surface;
    display.update(solver.sum(), 0, surface, {}, {fixed, moved});
    ASSERT_EQ(surface.vertices.size(), at(n));
    double largest = 0;
    for (int v = 0; v < n; ++v) {
        const Vector3f x = model->surface.mesh.vertices[at(v)].cast<float>() +
                           Eigen::Map<const Vector3f>(u.data() + 3 * at(v));
        ASSERT_LT((surface.positions[at(v)] - x).norm(), 1e-5f) << v;
        if (model->reference.kinds[at(v)] == NodeKind::Fixed)
            largest = std::max(largest, double{u[3 * at(v) + 2]});
    }
    EXPECT_GT(largest, 0.04);
    // those at rest again
    const std::vector<Vector3d> none(fixed.size(), Vector3d::Zero());
    ASSERT_TRUE(solver.set_loads(fixed, none));
    (void)solver.solve({}, {});
    solver.evaluate(n);
    display.update(solver.sum(), 0, surface);
    for (const int v : fixed)
        EXPECT_LT(
            (surface.positions[at(v)] - model->surface.mesh.vertices[at(v)].cast<float>()).norm(),
            1e-6f);
}

TEST(AdaptiveDisplay, NeedsWavelets) {
    EXPECT_EQ(test::input_error([] { AdaptiveDisplay(std::make_shared<const GreensModel>()); }),
              "adaptive output needs a model with wavelet Green's functions, as from pliant build "
              "--kind greens --wavelet lifted-linear");
}

}  // namespace
}  // namespace pliant
