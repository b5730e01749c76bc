#include "pliant/greens/surface_stiffness.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "core/dense_algebra.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "tests/greens/touch_models.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

std::string stiffness_message(const std::shared_ptr<const GreensModel>& model,
                              const SurfaceStiffnessOptions& options) {
    try {
        const SurfaceStiffness stiffness(model, options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

SurfaceStiffnessOptions cone(double radius) {
    SurfaceStiffnessOptions options;
    options.mask.radius = radius;
    return options;
}

TEST(SurfaceStiffness, MasksHaveUnitForceAndLeaveOutSupportAndFarNodes) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    const double radius = 0.15 * model->reference.length;
    const SurfaceStiffness stiffness(model, cone(radius));
    int largest = 0;
    for (int v = 0; v < model->surface.mesh.num_vertices(); ++v) {
        const auto nodes = stiffness.mask_nodes(v);
        const bool is_fixed = model->reference.kinds[at(v)] == NodeKind::Fixed;
        EXPECT_EQ(stiffness.is_rigid(v), is_fixed);
        if (is_fixed) {
            EXPECT_EQ(stiffness.vertex_stiffness(v), 5000 * Matrix3d::Identity());
            continue;
        }
        double sum = 0;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            sum += stiffness.mask_densities(v)[k] * model->reference.areas[at(nodes[k])];
            EXPECT_EQ(model->reference.kinds[at(nodes[k])], NodeKind::Free);
            EXPECT_LT((model->reference.positions[at(nodes[k])] - model->reference.positions[at(v)])
                          .norm(),
                      radius);
        }
        EXPECT_NEAR(sum, 1, 1e-13);
        largest = std::max(largest, static_cast<int>(nodes.size()));
    }
    EXPECT_GT(largest, 6);
}

TEST(SurfaceStiffness, MasksDoNotReachThroughThinParts) {
    SemiRegularMesh sheet = make_semi_regular("kidney", 3);
    for (Vector3d& x : sheet.mesh.vertices) x.z() *= 0.05;
    const auto model = test::kelvin_model(sheet, 0.01);
    const double radius = 0.1 * model->reference.length;
    const SurfaceStiffness stiffness(model, cone(radius));
    // balls that reach the other side but not the rim
    int num_across = 0, num_loaded = 0;
    for (int v = 0; v < model->surface.mesh.num_vertices(); ++v) {
        std::vector<int> across;
        bool has_rim = stiffness.is_rigid(v);
        for (int w = 0; w < model->surface.mesh.num_vertices(); ++w) {
            if ((sheet.mesh.vertices[at(w)] - sheet.mesh.vertices[at(v)]).norm() >= radius)
                continue;
            has_rim = has_rim || std::abs(model->normals[at(w)].z()) < 0.8;
            if (model->normals[at(w)].dot(model->normals[at(v)]) < 0) across.push_back(w);
        }
        if (has_rim) continue;
        for (const int w : across) {
            const auto nodes = stiffness.mask_nodes(v);
            ++num_across;
            num_loaded += std::binary_search(nodes.begin(), nodes.end(), w);
        }
    }
    EXPECT_GT(num_across, 20);
    EXPECT_EQ(num_loaded, 0);
}

TEST(SurfaceStiffness, ComplianceIsTheResponseOfTheWholeBody) {
    const test::ElasticBox box = test::elastic_box();
    const double length = 0.08, modulus = 3e4;
    const auto model = test::box_model(box, length, modulus);
    const SurfaceStiffness stiffness(model, cone(0.4 * length));
    // condensed stiffness of the free nodes, in SI: K' G ℓ
    std::vector<int> free;
    for (int i = 0; i < model->num_nodes(); ++i)
        if (box.kinds[at(i)] == NodeKind::Free) free.push_back(i);
    const int size = 3 * static_cast<int>(free.size());
    Eigen::MatrixXd K(size, size);
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j)
            K(i, j) =
                modulus * length * box.K(3 * free[at(i / 3)] + i % 3, 3 * free[at(j / 3)] + j % 3);
    for (const int f : {3, 20, 31}) {
        const int j = free[at(f)];
        Eigen::MatrixXd load = Eigen::MatrixXd::Zero(size, 3);
        for (std::size_t m = 0; m < stiffness.mask_nodes(j).size(); ++m) {
            const int node = stiffness.mask_nodes(j)[m];
            const auto row = std::lower_bound(free.begin(), free.end(), node) - free.begin();
            load.middleRows<3>(3 * row) = model->reference.areas[at(node)] *
                                          stiffness.mask_densities(j)[m] * Matrix3d::Identity();
        }
        const Eigen::MatrixXd u = solve_dense(K, load);
        for (const int g : {0, f, 40}) {
            const Matrix3d expected = u.middleRows<3>(3 * g);
            // columns are stored in single precision
            EXPECT_LT((stiffness.compliance(free[at(g)], j) - expected).norm(),
                      1e-6 * u.middleRows<3>(3 * f).norm());
        }
        // load is spread but read at one vertex: not quite symmetric, made so
        const Matrix3d inverse = Matrix3d(u.middleRows<3>(3 * f)).inverse();
        const Matrix3d expected = 0.5 * (inverse + inverse.transpose());
        EXPECT_LT((stiffness.vertex_stiffness(j) - expected).norm(), 3e-6 * expected.norm());
    }
}

// The same for a made-up compliance; verification item 11 itself is in touch_built_test.cpp.
TEST(SurfaceStiffness, OfOneVertexVanishesUnderRefinementAndOfAMaskConverges) {
    std::vector<double> single, masked;
    for (int level = 1; level <= 3; ++level) {
        const auto model = test::kelvin_model(make_semi_regular("kidney", level), 0.2);
        SurfaceStiffnessOptions options;
        options.mask.kind = MaskKind::Vertex;
        const SurfaceStiffness point(model, options);
        const SurfaceStiffness patch(model, cone(0.3 * model->reference.length));
        // vertices of the control mesh are there on all levels
        double sum_point = 0, sum_patch = 0;
        for (int v = 0; v < model->surface.num_vertices[0]; ++v) {
            if (point.is_rigid(v)) continue;
            sum_point += point.vertex_stiffness(v).trace();
            sum_patch += patch.vertex_stiffness(v).trace();
        }
        single.push_back(sum_point);
        masked.push_back(sum_patch);
    }
    EXPECT_LT(single[1], 0.65 * single[0]);
    EXPECT_LT(single[2], 0.65 * single[1]);
    EXPECT_NEAR(masked[1] / masked[2], 1, 0.06);  // the mask itself is sampled at nodes
    EXPECT_LT(std::abs(masked[1] - masked[2]), 0.5 * std::abs(masked[0] - masked[2]));
}

TEST(SurfaceStiffness, IsSymmetricAndPositiveEvenForCrookedFunctions) {
    auto model = test::kelvin_model(make_semi_regular("kidney", 1), 0.2);
    // a vertex whose own block would push back the wrong way in one direction
    const auto& old = *model->reference.functions;
    DenseGreensLayout layout{.num_nodes = old.num_nodes(), .block = 3, .columns = {}};
    for (int v = 0; v < old.num_nodes(); ++v)
        if (old.has_column(v)) layout.columns.push_back(v);
    auto crooked = std::make_shared<DenseGreensFunctions>(layout);
    for (const int v : layout.columns) {
        Eigen::MatrixXd column = 1e-3 * test::random_matrix(3 * old.num_nodes(), 3, 7);
        column.middleRows<3>(3 * v) << 1, 0.3, 0, -0.2, 0.7, 0, 0, 0, -0.5;
        crooked->set_column(v, column);
    }
    model->reference.functions = crooked;
    SurfaceStiffnessOptions options;
    options.mask.kind = MaskKind::Vertex;
    const SurfaceStiffness stiffness(model, options);
    for (const int v : layout.columns) {
        const Matrix3d& K = stiffness.vertex_stiffness(v);
        EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm());
        EXPECT_GE(symmetric_eigenvalues(K).minCoeff(),
                  0.9e-6 * symmetric_eigenvalues(K).maxCoeff());
    }
}

TEST(SurfaceStiffness, DeviceLimitHoldsBetweenVerticesAndLeavesSoftDirectionsAlone) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    const SurfaceStiffness stiffness(model);
    const auto& mesh = model->surface.mesh;
    // a limit between the stiffest and the softest direction of most vertices
    std::vector<double> stiffest;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (!stiffness.is_rigid(v))
            stiffest.push_back(symmetric_eigenvalues(stiffness.vertex_stiffness(v)).maxCoeff());
    std::sort(stiffest.begin(), stiffest.end());
    const double limit = 0.95 * stiffest[stiffest.size() / 2];
    int num_mixed = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        for (const double modulus : {1.0, 8.0}) {
            const Matrix3d K = stiffness.stiffness_at(t, {0.2, 0.5, 0.3}, {modulus, limit});
            EXPECT_LE(symmetric_eigenvalues(K).maxCoeff(), limit * (1 + 1e-12));
            // that of a device which is as stiff along all axes
            EXPECT_LE(K.norm(), std::sqrt(3.0) * limit * (1 + 1e-12));
        }
        const int v = mesh.triangles[at(t)][0];
        if (stiffness.is_rigid(v)) continue;
        const Matrix3d elastic = 0.9 * stiffness.vertex_stiffness(v);
        const Matrix3d K = stiffness.stiffness_at(t, {1, 0, 0}, {0.9, limit});
        const auto eigen = symmetric_eigen(elastic);
        for (int axis = 0; axis < 3; ++axis) {
            const double wanted = std::min(eigen.values[axis], limit);
            EXPECT_LT((K * eigen.vectors.col(axis) - wanted * eigen.vectors.col(axis)).norm(),
                      1e-12 * limit);
        }
        num_mixed += eigen.values[0] < limit && eigen.values[2] > limit;
        // nowhere softer than the whole matrix scaled down to the same norm
        const double factor = std::min(1.0, limit / eigen.values[2]);
        EXPECT_GE(symmetric_eigenvalues(K - factor * elastic).minCoeff(), -1e-12 * limit);
    }
    EXPECT_GT(num_mixed, 20);
}

TEST(SurfaceStiffness, TakesAnyDensity) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    const double radius = 0.2 * model->reference.length;
    SurfaceStiffnessOptions options = cone(radius);
    options.mask.kind = MaskKind::Custom;
    options.mask.density = [&](const Vector3d& centre, const Vector3d& x) {
        return 7 * (1 - (x - centre).norm() / radius);
    };
    const SurfaceStiffness custom(model, options), plain(model, cone(radius));
    for (int v = 0; v < model->surface.mesh.num_vertices(); ++v)
        EXPECT_LT((custom.vertex_stiffness(v) - plain.vertex_stiffness(v)).norm(),
                  1e-9 * plain.vertex_stiffness(v).norm());
}

TEST(SurfaceStiffness, SaysWhatIsWrong) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 1), 0.2);
    EXPECT_EQ(stiffness_message(model, cone(-1)),
              "mask.radius = -1.000000 (expected value ≥ 0 [m]; 0: 1.5 mean edges)");
    SurfaceStiffnessOptions options;
    options.rigid_stiffness = 0;
    EXPECT_EQ(stiffness_message(model, options),
              "rigid_stiffness = 0.000000 (expected value > 0 [N/m])");
    options = {};
    options.mask.kind = MaskKind::Custom;
    EXPECT_EQ(stiffness_message(model, options), "mask.density: missing; a custom mask needs one");
    options.mask.density = [](const Vector3d&, const Vector3d&) { return -1.0; };
    EXPECT_EQ(stiffness_message(model, options),
              "mask.density = -1.000000 (expected finite values that are not negative)");
}

TEST(LiveSurfaceStiffness, SwapsInWhatTheOtherThreadHasBuilt) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    const double small = 0.08 * model->reference.length, large = 0.2 * model->reference.length;
    LiveSurfaceStiffness live(model, cone(small)), immediate(model, cone(small), true);
    const std::uint64_t first = live.for_tick().id();
    EXPECT_EQ(live.for_tick().radius(), small);
    EXPECT_FALSE(live.request(-1));
    EXPECT_FALSE(live.request(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_TRUE(live.request(large));
    EXPECT_TRUE(immediate.request(large));
    EXPECT_EQ(immediate.for_tick().radius(), large);
    std::uint64_t allocations = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (live.for_tick().radius() != large && std::chrono::steady_clock::now() < end) {
        const AllocationGuard guard;
        (void)live.for_tick();
        allocations += guard.count();
    }
    EXPECT_EQ(allocations, 0u);
    ASSERT_EQ(live.for_tick().radius(), large);
    EXPECT_NE(live.for_tick().id(), first);
    for (int v = 0; v < model->surface.mesh.num_vertices(); ++v)
        EXPECT_EQ(live.for_tick().vertex_stiffness(v), immediate.for_display().vertex_stiffness(v));
}

}  // namespace
}  // namespace pliant
