#include "pliant/body/body.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Implements only what must be.
class PlainBody final : public Body {
public:
    explicit PlainBody(BodySurface surface) : Body(std::move(surface)) {}
    StepStatus next = StepStatus::Ok;
    int resets = 0;
    [[nodiscard]] bool knows(const SurfacePoint& point) const { return is_valid(point); }
    [[nodiscard]] int normal_triangle(const SurfacePoint& p) const { return triangle_of(p); }

    [[nodiscard]] std::string_view kind() const noexcept override { return "plain"; }
    [[nodiscard]] std::shared_ptr<const BodyDisplay> display() const override { return {}; }
    void add_force(const SurfacePoint&, const Vector3d&) noexcept override {}
    void set_gravity(const Vector3d&) noexcept override {}
    void set_wind_direction(const Vector3d&) override {}
    void set_wind_pressure(double) noexcept override {}
    [[nodiscard]] Vector3d position(const SurfacePoint&, TickMoment) const noexcept override {
        return Vector3d::Zero();
    }
    [[nodiscard]] Vector3d velocity(const SurfacePoint&) const noexcept override {
        return Vector3d::Zero();
    }
    [[nodiscard]] Vector3d normal(const SurfacePoint&) const noexcept override {
        return Vector3d::Zero();
    }
    [[nodiscard]] double mobility(const SurfacePoint&) const noexcept override { return 0; }
    [[nodiscard]] Energy energy() const noexcept override { return {}; }
    [[nodiscard]] int state_size() const noexcept override { return 0; }
    void save_state(std::span<double>) const noexcept override {}
    bool restore_state(std::span<const double>) noexcept override { return true; }
    void write_display(std::span<float>) const noexcept override {}

private:
    StepStatus do_step(double) noexcept override { return next; }
    void do_reset() noexcept override { ++resets; }
};

TEST(Body, StepsAreCountedAndTimed) {
    PlainBody body(test::box_surface());
    for (const StepStatus status : {StepStatus::Ok, StepStatus::Ok, StepStatus::NotConverged}) {
        body.next = status;
        EXPECT_EQ(body.step(1e-3), status);
    }
    EXPECT_EQ(body.report().last, StepStatus::NotConverged);
    EXPECT_EQ(body.report().counts[static_cast<std::size_t>(StepStatus::Ok)], 2u);
    EXPECT_EQ(body.report().counts[static_cast<std::size_t>(StepStatus::NotConverged)], 1u);
    EXPECT_EQ(body.report().steps.count(), 3u);
    body.reset();
    EXPECT_EQ(body.resets, 1);
    EXPECT_EQ(body.report().last, StepStatus::Ok);
    EXPECT_EQ(body.report().counts[static_cast<std::size_t>(StepStatus::Ok)], 0u);
    EXPECT_EQ(body.report().steps.count(), 0u);
}

TEST(Body, KnowsWhichPointsAreOnItsSurface) {
    const PlainBody body(test::box_surface());
    const auto on = [](int triangle, double weight) {
        return SurfacePoint::on_triangle(triangle, {weight, 0.5, 0.5});
    };
    EXPECT_TRUE(body.knows(SurfacePoint::at_vertex(0)));
    EXPECT_TRUE(body.knows(SurfacePoint::at_vertex(7)));
    EXPECT_TRUE(body.knows(on(0, 0)));
    EXPECT_TRUE(body.knows(on(11, 0)));
    EXPECT_FALSE(body.knows(SurfacePoint::at_vertex(8)));
    EXPECT_FALSE(body.knows(SurfacePoint::at_vertex(-1)));
    EXPECT_FALSE(body.knows({}));
    EXPECT_FALSE(body.knows(on(12, 0)));
    EXPECT_FALSE(body.knows(on(-2, 0)));
    EXPECT_FALSE(body.knows(on(3, kNan)));
}

TEST(Body, BodiesOfOneShapeShareItsSurface) {
    SurfaceMesh mesh = test::box_surface({0, 0, 0}, {1, 3, 2});
    mesh.vertices.emplace_back(0.5, 0.5, 0.5);  // of no triangle
    const BodySurface surface(mesh);
    const PlainBody a(surface), b(surface);
    EXPECT_EQ(&a.surface(), &b.surface());
    EXPECT_EQ(a.size(), 3);
    EXPECT_EQ(a.normal_triangle(SurfacePoint::at_vertex(5)), 2);
    EXPECT_EQ(a.normal_triangle(SurfacePoint::at_vertex(8)), -1);
    EXPECT_EQ(a.normal_triangle(SurfacePoint::on_triangle(9, {1, 0, 0})), 9);
    EXPECT_EQ(PlainBody(SurfaceMesh{}).size(), 0);
}

TEST(Body, WithoutAMethodSaysSo) {
    PlainBody body(test::box_surface());
    const SurfacePoint point = SurfacePoint::at_vertex(0);
    Eigen::Matrix3d C;
    EXPECT_FALSE(body.prescribe(point, Vector3d::Zero()));
    EXPECT_FALSE(body.compliance(point, C));
    EXPECT_EQ(body.holding_force(0), Vector3d(Vector3d::Zero()));
    EXPECT_TRUE(body.parameters().empty());
    body.set_parameter(3, 1);
    body.release_all();
}

TEST(LiveParameter, KeepsValuesInItsRange) {
    LiveParameter parameter;
    parameter.value = 3;
    parameter.low = 1;
    parameter.high = 10;
    EXPECT_EQ(clamped(parameter, 5), 5);
    EXPECT_EQ(clamped(parameter, 0.1), 1);
    EXPECT_EQ(clamped(parameter, 11), 10);
    EXPECT_EQ(clamped(parameter, kNan), 3);
    EXPECT_EQ(clamped(parameter, std::numeric_limits<double>::infinity()), 3);
}

TEST(SurfaceDisplay, NormalsAreMeansOfFacesByArea) {
    // the edge between two faces of areas 1 and 3 at a right angle
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 6}, {9, 9, 9}};
    mesh.triangles = {{0, 1, 2}, {0, 3, 1}};
    std::vector<float> x, n(15, 7.0f);
    for (const Vector3d& v : mesh.vertices)
        for (const double c : v) x.push_back(static_cast<float>(c));
    area_weighted_normals(mesh.triangles, x, n);
    const auto normal = [&](std::size_t v) {
        return Vector3d(n[3 * v], n[3 * v + 1], n[3 * v + 2]);
    };
    EXPECT_LT((normal(0) - Vector3d(0, 3, 1).normalized()).norm(), 1e-6);
    EXPECT_LT((normal(2) - Vector3d(0, 0, 1)).norm(), 1e-6);
    EXPECT_LT((normal(3) - Vector3d(0, 1, 0)).norm(), 1e-6);
    EXPECT_EQ(normal(4), Vector3d(Vector3d::Zero()));
}

TEST(SurfaceDisplay, NormalsOfTinyTrianglesAreUnit) {
    SurfaceMesh mesh = test::make_sphere(1e-8, 6);
    std::vector<float> x, n(3 * mesh.vertices.size());
    for (const Vector3d& v : mesh.vertices)
        for (const double c : v) x.push_back(static_cast<float>(c));
    area_weighted_normals(mesh.triangles, x, n);
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        const Vector3d normal(n[3 * v], n[3 * v + 1], n[3 * v + 2]);
        EXPECT_GT(normal.dot(mesh.vertices[v].normalized()), 0.9);
    }
}

TEST(LiveParameter, IsKeptInItsRangeAndWhole) {
    LiveParameter level{.name = "level", .value = 3, .low = 1, .high = 4, .is_integer = true};
    EXPECT_EQ(clamped(level, 2.4), 2);
    EXPECT_EQ(clamped(level, 2.6), 3);
    EXPECT_EQ(clamped(level, 9), 4);
    EXPECT_EQ(clamped(level, -kInfinity), 3) << "the start";
    level.is_integer = false;
    EXPECT_EQ(clamped(level, 2.4), 2.4);
}

}  // namespace
}  // namespace pliant
