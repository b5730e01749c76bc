#include "pliant/geometry/polygonize.h"

#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;
using namespace implicit;
using std::numbers::pi;
using test::fingerprint;
using testing::HasSubstr;

double smallest_angle(const SurfaceMesh& mesh) {
    double smallest = pi;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Vector3d u = mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k),
                           v = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, k);
            smallest = std::min(smallest, std::atan2(u.cross(v).norm(), u.dot(v)));
        }
    return smallest * 180.0 / pi;
}

void expect_clean(const SurfaceMesh& mesh, const std::string& what) {
    const SurfaceReport report = check_surface(mesh);
    EXPECT_TRUE(report.is_closed() && report.is_manifold() && report.is_clean()) << what << "\n"
                                                                                 << report.text();
    EXPECT_GT(report.volume, 0.0) << what;
}

/// Twelve random solids, some cut out of the others.
Implicit random_body(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    const auto point = [&] { return Vector3d(unit(random), unit(random), unit(random)); };
    Implicit body = sphere(Vector3d::Zero(), 0.6);
    for (int i = 0; i < 12; ++i) {
        const Vector3d a = point(), b = a + 0.6 * point();
        Implicit part = sphere(a, 0.25);
        switch (i % 4) {
            case 0: part = capsule(a, b, 0.2, 0.1); break;
            case 1: part = rotate(box(a, a + Vector3d(0.3, 0.4, 0.2)), point()); break;
            case 2: part = torus(a, b - a, 0.3, 0.08); break;
            default: break;
        }
        body = i % 3 == 2 ? subtract(body, part)
               : i % 2    ? unite({body, part})
                          : smooth_unite({body, part}, 0.1);
    }
    return body;
}

TEST(Polygonize, SphereConvergesAtSecondOrder) {
    std::vector<double> volume_error, area_error;
    for (const int resolution : {8, 16, 32}) {
        const SurfaceMesh mesh =
            polygonize(sphere({0.1, 0.2, 0.3}, 1.0), {.resolution = resolution});
        volume_error.push_back(std::abs(enclosed_volume(mesh) - 4.0 * pi / 3.0));
        area_error.push_back(std::abs(surface_area(mesh) - 4.0 * pi));
        EXPECT_EQ(check_surface(mesh).euler_number, 2);
    }
    for (int i = 0; i < 2; ++i) {
        EXPECT_GT(volume_error[i] / volume_error[i + 1], 3.4);
        EXPECT_GT(area_error[i] / area_error[i + 1], 3.4);
    }
    EXPECT_LT(volume_error[2], 2e-3);
}

TEST(Polygonize, TorusConvergesAtSecondOrder) {
    std::vector<double> volume_error, area_error;
    for (const int resolution : {12, 24, 48}) {
        const SurfaceMesh mesh = polygonize(torus(Vector3d::Zero(), {0.3, 0.1, 1.0}, 1.0, 0.4),
                                            {.resolution = resolution});
        volume_error.push_back(std::abs(enclosed_volume(mesh) - 2.0 * pi * pi * 0.16));
        area_error.push_back(std::abs(surface_area(mesh) - 4.0 * pi * pi * 0.4));
        EXPECT_EQ(check_surface(mesh).euler_number, 0);
    }
    for (int i = 0; i < 2; ++i) {
        EXPECT_GT(volume_error[i] / volume_error[i + 1], 3.4);
        EXPECT_GT(area_error[i] / area_error[i + 1], 3.4);
    }
}

TEST(Polygonize, VerticesLieOnTheSurface) {
    const Implicit body =
        smooth_unite({sphere({0, 0, 0}, 0.5), capsule({0, 0, 0}, {1, 0.2, 0.1}, 0.2, 0.1)}, 0.1);
    const SurfaceMesh mesh = polygonize(body, {.resolution = 30});
    const double cell = body.box().sizes().maxCoeff() / 30;
    for (const Vector3d& v : mesh.vertices) EXPECT_LT(std::abs(body(v)), 1e-3 * cell);
}

TEST(Polygonize, RandomSolidsAreClosedAndManifoldAtAnyResolution) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const Implicit body = random_body(seed);
        for (const int resolution : {5, 7, 13, 29, 41})
            for (const int smoothing : {0, 3})
                expect_clean(
                    polygonize(body, {resolution, smoothing}),
                    "seed " + std::to_string(seed) + " resolution " + std::to_string(resolution));
    }
}

TEST(Polygonize, FacesOnLatticePlanesAreClosedToo) {
    // at these resolutions the sides pass exactly through lattice nodes, where values are zero
    for (const int resolution : {4, 8, 16}) {
        const SurfaceMesh mesh = polygonize(box({0, 0, 0}, {1, 1, 1}), {.resolution = resolution});
        expect_clean(mesh, "box");
        EXPECT_NEAR(enclosed_volume(mesh), 1.0, 1.0 / resolution);
        EXPECT_GT(smallest_angle(mesh), 15.0);
    }
}

TEST(Polygonize, ThinShapesStayClosed) {
    const Implicit sheet = box({-1, -1, -0.015}, {1, 1, 0.015});
    const Implicit wire = sweep({{{-1, 0, 0}, 0.02}, {{0, 0.5, 0.3}, 0.02}, {{1, 0, 0}, 0.02}});
    const Implicit skin = shell(sphere({0, 0, 0}, 1.0), 0.05);
    for (const int resolution : {23, 40, 64})
        for (const Implicit& body : {sheet, wire, skin})
            expect_clean(polygonize(body, {.resolution = resolution}),
                         "thin at " + std::to_string(resolution));
}

TEST(Polygonize, SmoothingMakesRoundTriangles) {
    const Implicit body = torus({0.01, 0.02, 0.03}, {0.2, 0.3, 1.0}, 1.0, 0.4);
    const double raw = smallest_angle(polygonize(body, {32, 0})),
                 smooth = smallest_angle(polygonize(body, {32, 3}));
    EXPECT_GT(raw, 3.0);
    EXPECT_GT(smooth, 20.0);
}

TEST(Polygonize, SteepFunctionsAreNotCutOff) {
    // a twisted bar needs its raised Lipschitz constant for the skipping to be right
    const Implicit bar = twist(box({-0.3, -0.1, -1.0}, {0.3, 0.1, 1.0}, 0.02), 2, 3.0);
    const SurfaceMesh mesh = polygonize(bar, {.resolution = 40});
    expect_clean(mesh, "twisted bar");
    // twisting keeps volume; the rounded corners take a little away
    EXPECT_NEAR(enclosed_volume(mesh), 0.6 * 0.2 * 2.0, 0.02 * 0.24);
    EXPECT_EQ(check_surface(mesh).num_components, 1);
}

TEST(Polygonize, ResultDoesNotDependOnTheNumberOfThreads) {
    const Implicit body = random_body(3);
    set_num_threads(1);
    const std::uint64_t one = fingerprint(polygonize(body, {.resolution = 40}));
    set_num_threads(2);
    const std::uint64_t two = fingerprint(polygonize(body, {.resolution = 40}));
    set_num_threads(0);
    EXPECT_EQ(one, two);
}

TEST(Polygonize, RidgesDoNotDependOnWhatMemoryHeldBefore) {
    const Implicit box = implicit::box({-1, -1, -1}, {1, 1, 1});
    const SurfaceMesh first = polygonize(box, {.resolution = 16});
    for (int k = 0; k < 3; ++k) {
        // of the size of the vertices' normals, so that they get these bytes
        std::vector<Eigen::Vector3d> used(first.vertices.size(), Eigen::Vector3d(k, -k, 0.5));
        EXPECT_EQ(used.front().x(), k);
        used = {};
        used.shrink_to_fit();
        EXPECT_EQ(polygonize(box, {.resolution = 16}).vertices, first.vertices);
    }
}

TEST(Polygonize, ErrorsNameTheResolution) {
    const auto message = [](const Implicit& body, int resolution) {
        return test::input_error([&] { (void)polygonize(body, {.resolution = resolution}); });
    };
    const Implicit ball = sphere({0, 0, 0}, 1.0);
    EXPECT_THAT(message(ball, 3), HasSubstr("resolution = 3 (expected 4 to 2048)"));
    EXPECT_THAT(message(ball, 2049), HasSubstr("resolution = 2049 (expected 4 to 2048)"));
    const Implicit speck(
        [](const Vector3d& x) { return (x - Vector3d(0.123, 0.234, 0.345)).norm() - 0.01; },
        Box(Vector3d(-1, -1, -1), Vector3d(1, 1, 1)));
    EXPECT_THAT(message(speck, 8), HasSubstr("resolution = 8 is too coarse"));
    EXPECT_THAT(message(speck, 8), HasSubstr("raise the resolution"));
}

}  // namespace
}  // namespace pliant
