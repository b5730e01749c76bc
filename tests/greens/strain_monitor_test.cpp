#include "pliant/greens/strain_monitor.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "pliant/core/allocation_guard.h"
#include "pliant/greens/greens_body.h"
#include "tests/greens/bent_ball.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

const std::shared_ptr<const GreensModel>& watched_model() {
    static const auto model = std::make_shared<const GreensModel>(test::bent_ball_model(2));
    return model;
}

/// Tractions that press the top and pull at a side, nondimensional.
struct SurfaceLoads {
    std::vector<int> nodes;
    std::vector<Vector3d> tractions;
};
SurfaceLoads watched_loads(double size) {
    SurfaceLoads loads;
    for (int v = 0; v < watched_model()->num_nodes(); ++v) {
        const Vector3d& x = watched_model()->reference.positions[at(v)];
        if (watched_model()->reference.kinds[at(v)] != NodeKind::Free || x.z() < 0.02) continue;
        loads.nodes.push_back(v);
        loads.tractions.push_back(size * Vector3d(0.4, 0.1, -1 + 5 * x.x()));
    }
    return loads;
}

/// Of u = M x with its own tractions σ n: the gradient is M, whatever the orientation.
TEST(SurfaceGradient, IsExactForLinearFields) {
    Matrix3d M;
    M << 0.02, -0.01, 0.03, 0.005, -0.04, 0.01, -0.02, 0.015, 0.01;
    for (const double nu : {-0.2, 0.0, 0.3, 0.45, 0.5}) {
        Matrix3d field = M;
        double pressure = 0;  // of an incompressible body: any
        if (nu == 0.5) {
            field -= field.trace() / 3 * Matrix3d::Identity();
            pressure = 0.7;
        }
        const Matrix3d strain = 0.5 * (field + field.transpose());
        Matrix3d stress = 2 * strain;  // over the shear modulus
        stress +=
            (nu == 0.5 ? pressure : 2 * nu / (1 - 2 * nu) * strain.trace()) * Matrix3d::Identity();
        const std::array<Vector3d, 3> x = {Vector3d(0.1, 0.2, 0.3), Vector3d(0.4, 0.1, 0.2),
                                           Vector3d(0.2, 0.5, 0.45)};
        const Vector3d n = (x[1] - x[0]).cross(x[2] - x[0]).normalized();
        const std::array<Vector3d, 3> u = {field * x[0], field * x[1], field * x[2]};
        EXPECT_LT((surface_gradient(x, u, stress * n, nu) - field).norm(), 1e-14) << nu;
    }
}

TEST(StrainReading, TellsStrainAndRotationApart) {
    const StrainLimits limits;
    Matrix3d turn = Matrix3d::Zero();
    turn(0, 1) = -0.1;
    turn(1, 0) = 0.1;
    StrainReading reading = reading_of(turn, Vector3d::Zero(), limits, 3);
    EXPECT_NEAR(reading.rotation, 0.1, 1e-15);
    EXPECT_NEAR(reading.strain, 0, 1e-15);
    EXPECT_NEAR(reading.use, 0.1 / 0.26, 1e-12);
    EXPECT_FALSE(reading.is_exceeded());
    const StrainReading pressed =
        reading_of(Vector3d(-0.2, 0.05, 0.01).asDiagonal(), Vector3d(0, 0.03, 0.04), limits, 7);
    EXPECT_NEAR(pressed.strain, 0.2, 1e-14);
    EXPECT_NEAR(pressed.displacement, 0.05, 1e-15);
    EXPECT_TRUE(pressed.is_exceeded());
    reading.merge(pressed);
    EXPECT_NEAR(reading.rotation, 0.1, 1e-15);
    EXPECT_EQ(reading.triangle, 7);
    EXPECT_EQ(reading_of(kNan * turn, Vector3d::Zero(), limits, 1).use, 0);
}

/// The rows of the gauges against displacements of the whole surface, summed the plain way.
TEST(StrainMonitor, GaugesReadWhatTheFieldSays) {
    const GreensModel& model = *watched_model();
    std::vector<int> all;
    for (int t = 0; t < model.surface.mesh.num_triangles(); ++t) all.push_back(t);
    const StrainMonitor monitor(watched_model(), {.triangles = all});
    const SurfaceLoads loads = watched_loads(0.02);
    const std::array<double, 3> gravity = {0.003, -0.002, -0.01};
    // displacements of free nodes, reactions of fixed ones
    std::vector<Vector3d> unknown(at(model.num_nodes()), Vector3d::Zero());
    for (int i = 0; i < model.num_nodes(); ++i) {
        for (std::size_t j = 0; j < loads.nodes.size(); ++j) {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
            model.reference.functions->element(i, loads.nodes[j], block.data());
            unknown[at(i)] += block.cast<double>() * loads.tractions[j];
        }
        for (int k = 0; k < 3; ++k) {
            Eigen::Vector3f column;
            model.reference.functions->body_element(i, k, column.data());
            unknown[at(i)] += gravity[at(k)] * column.cast<double>();
        }
    }
    StrainReading slow;
    double worst = 0;
    for (const int t : all) {
        std::array<Vector3d, 3> x, corners;
        Vector3d traction = Vector3d::Zero(), mean = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) {
            const int node = model.surface.mesh.triangles[at(t)][at(k)];
            x[at(k)] = model.reference.positions[at(node)] / model.reference.length;
            const bool is_fixed = model.reference.kinds[at(node)] == NodeKind::Fixed;
            corners[at(k)] = is_fixed ? Vector3d(Vector3d::Zero()) : unknown[at(node)];
            mean += corners[at(k)] / 3;
            if (is_fixed) traction += unknown[at(node)] / 3;
            for (std::size_t j = 0; j < loads.nodes.size(); ++j)
                if (loads.nodes[j] == node) traction += loads.tractions[j] / 3;
        }
        const Matrix3d gradient = surface_gradient(x, corners, traction, model.poisson_ratio);
        slow.merge(reading_of(gradient, mean, monitor.limits(), t));
        Matrix3d read;
        Vector3d displacement;
        monitor.measure(t, {loads.nodes, loads.tractions, gravity}, read, displacement);
        worst = std::max(worst, (read - gradient).norm() + (displacement - mean).norm());
    }
    EXPECT_GT(slow.strain, 0.01);
    EXPECT_LT(worst, 1e-5 * slow.strain);
    const StrainReading fast =
        monitor.read(0, monitor.num_gauges(), {loads.nodes, loads.tractions, gravity});
    EXPECT_EQ(fast.triangle, slow.triangle);
    EXPECT_NEAR(fast.strain, slow.strain, 1e-5 * slow.strain);
    EXPECT_NEAR(fast.rotation, slow.rotation, 1e-5 * slow.strain);
    EXPECT_NEAR(fast.use, slow.use, 1e-5 * slow.use);

    // a few gauges miss little of a smooth load
    const StrainMonitor sparse(watched_model(), {.num_gauges = 32});
    EXPECT_EQ(sparse.num_gauges(), 32);
    const StrainReading some = sparse.read(0, 32, {loads.nodes, loads.tractions, gravity});
    EXPECT_LE(some.use, fast.use * (1 + 1e-6));
    EXPECT_GT(some.use, 0.6 * fast.use);
}

TEST(StrainMonitor, BodiesTellWhenLinearTheoryIsExceeded) {
    GreensBody body(watched_model());
    const double modulus = watched_model()->reference.modulus;
    const auto press = [&](double size) {
        const SurfaceLoads loads = watched_loads(size);
        std::vector<Vector3d> tractions = loads.tractions;
        for (Vector3d& p : tractions) p *= modulus;
        std::uint64_t allocations = 0;
        for (int step = 0; step < 40; ++step) {
            AllocationGuard guard;
            body.add_tractions(loads.nodes, tractions, 0);
            (void)body.step(1e-3);
            allocations += guard.count();
        }
        EXPECT_EQ(allocations, 0u);
        return body.strain();
    };
    const StrainReading small = press(0.02), large = press(0.2);
    EXPECT_GT(small.strain, 0);
    EXPECT_FALSE(small.is_exceeded());
    EXPECT_NEAR(large.strain, 10 * small.strain, 1e-4 * large.strain);
    EXPECT_NEAR(large.use, 10 * small.use, 1e-4 * large.use);
    EXPECT_TRUE(large.is_exceeded());
    EXPECT_GE(large.triangle, 0);
    for (int step = 0; step < 40; ++step) (void)body.step(1e-3);
    EXPECT_EQ(body.strain().use, 0);
    (void)press(0.2);
    body.reset();
    EXPECT_EQ(body.strain().use, 0);
}

/// Supports that turn as one turn the whole body: rotation everywhere, strain nowhere.
TEST(StrainMonitor, SeesSupportsThatAreMoved) {
    const auto model = std::make_shared<const GreensModel>([] {
        GreensBuildOptions options;
        options.fixed = "z < 30 %";
        options.youngs_modulus = 2e4;
        options.has_fixed_columns = true;
        return build_greens_model(test::bent_ball_surface(2), options);
    }());
    GreensBodyOptions options;
    std::vector<Vector3d> turned, sheared;
    const Vector3d turn(0.1, -0.05, 0.2);
    for (int node = 0; node < model->num_nodes(); ++node)
        if (model->reference.kinds[at(node)] == NodeKind::Fixed) {
            const Vector3d& x = model->reference.positions[at(node)];
            options.driven.push_back(node);
            turned.push_back(turn.cross(x));
            sheared.emplace_back(2 * (x.z() + 0.02), 0, 0);
        }
    GreensBody body(model, options);
    const auto read = [&](std::span<const Vector3d> driven) {
        body.place(Pose(), driven);
        std::uint64_t allocations = 0;
        for (int step = 0; step < 40; ++step) {
            AllocationGuard guard;
            (void)body.step(1e-3);
            allocations += guard.count();
        }
        EXPECT_EQ(allocations, 0u);
        return body.strain();
    };
    const StrainReading rigid = read(turned);
    EXPECT_NEAR(rigid.rotation, turn.norm(), 2e-3 * turn.norm());
    EXPECT_LT(rigid.strain, 4e-3 * turn.norm());
    EXPECT_FALSE(rigid.is_exceeded());
    // a shear of 2 is no small one, and largest at the border of the supports
    const StrainReading shear = read(sheared);
    EXPECT_TRUE(shear.is_exceeded());
    const auto& corners = model->corner_nodes[at(shear.triangle)];
    EXPECT_TRUE(std::ranges::any_of(
        corners, [&](int node) { return model->reference.kinds[at(node)] == NodeKind::Fixed; }));
    const std::vector<Vector3d> none(turned.size(), Vector3d::Zero());
    EXPECT_EQ(read(none).use, 0);

    // reactions of supports count among the tractions of a gauge
    const StrainMonitor monitor(model, {.num_gauges = 1000, .covers_supports = true});
    std::vector<Vector3d> displacements = turned;
    for (Vector3d& u : displacements) u /= model->reference.length;
    for (int gauge = 0; gauge < monitor.num_gauges(); ++gauge) {
        Matrix3d gradient;
        Vector3d displacement;
        monitor.measure(gauge, {.supports = options.driven, .displacements = displacements},
                        gradient, displacement);
        for (int axis = 0; axis < 3; ++axis)
            EXPECT_LT((gradient.col(axis) - turn.cross(Vector3d(Vector3d::Unit(axis)))).norm(),
                      5e-3 * turn.norm());
    }
}

TEST(StrainMonitor, IgnoresWhatItDoesNotKnow) {
    const StrainMonitor monitor(watched_model());
    const std::vector<int> nodes = {-1, 1 << 20, 2};
    const std::vector<Vector3d> tractions = {Vector3d::Ones(), Vector3d::Ones(),
                                             Vector3d::Constant(kNan)};
    EXPECT_EQ(monitor.read(0, 99, {nodes, tractions}).use, 0);
    EXPECT_EQ(monitor.read(-5, 3, {nodes, tractions}).use, 0);
    EXPECT_EQ(test::input_error([] { (void)StrainMonitor(watched_model(), {.triangles = {320}}); }),
              "gauges = 320 (expected triangles of the surface, 0 to 319)");
    EXPECT_EQ(
        test::input_error([] { (void)StrainMonitor(watched_model(), {.limits = {.strain = 0}}); }),
        "limits of strain, rotation and displacement must be positive");
    EXPECT_EQ(test::input_error([] { (void)StrainMonitor(watched_model(), {.num_gauges = 0}); }),
              "num_gauges = 0 (expected at least 1)");
}

}  // namespace
}  // namespace pliant
