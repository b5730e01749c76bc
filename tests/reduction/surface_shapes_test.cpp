#include "pliant/reduction/surface_shapes.h"

#include "fem/fem_samples.h"
#include "geometry/simple_surfaces.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/core/simd.h"
#include "reduction/force_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using ::testing::HasSubstr;

std::vector<float> to_float(const VectorXd& v) {
    std::vector<float> f;
    for (const double x : v) f.push_back(static_cast<float>(x));
    return f;
}
VectorXd to_double(const std::vector<float>& f) {
    return Eigen::Map<const Eigen::VectorXf>(f.data(), static_cast<Eigen::Index>(f.size()))
        .cast<double>();
}

/// A torus in a block of hexes, and the obvious Ū = W U.
struct Carried {
    explicit Carried(int r, int rings = 7)
        : surface(test::torus_surface(rings, 5, 0.3, 0.1)),
          mesh(hex_box(3, 3, 2, Box(Vector3d::Constant(-0.5), Vector3d::Constant(0.5)))),
          embedding(mesh, surface.vertices),
          U(test::random_basis(3 * mesh.num_vertices(), r, 1)),
          rows(MatrixXd::Zero(3 * surface.num_vertices(), r)),
          rest(3 * surface.num_vertices()) {
        for (int i = 0; i < surface.num_vertices(); ++i) {
            rest.segment<3>(3 * i) = surface.vertices[static_cast<std::size_t>(i)];
            for (int k = embedding.start()[i]; k < embedding.start()[i + 1]; ++k)
                rows.middleRows(3 * i, 3) +=
                    embedding.weights()[k] * U.middleRows(3 * embedding.vertices()[k], 3);
        }
    }
    [[nodiscard]] SurfaceShapes shapes(ShapeStorage storage = ShapeStorage::Float32) const {
        return {surface, embedding, U, storage};
    }
    SurfaceMesh surface;
    VolumeMesh mesh;
    Embedding embedding;
    MatrixXd U, rows;
    VectorXd rest;
};

/// Each entry, each product and each sum rounds once; sums have at most r + 2 terms.
VectorXd float_bound(const Carried& c, const VectorXd& q) {
    constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
    const double n = static_cast<double>(q.size()) + 4;
    return n * kEpsilon * (c.rows.cwiseAbs() * q.cwiseAbs() + c.rest.cwiseAbs());
}
/// And each entry is off by half a step, (22).
VectorXd int16_bound(const Carried& c, const VectorXd& q) {
    const double steps = (c.rows.cwiseAbs().colwise().maxCoeff() * q.cwiseAbs())(0) / 65534;
    return float_bound(c, q).array() + 1.001 * steps;
}
void expect_within(const VectorXd& value, const VectorXd& expected, const VectorXd& bound) {
    ASSERT_EQ(value.size(), expected.size());
    for (Eigen::Index i = 0; i < value.size(); ++i)
        EXPECT_LE(std::abs(value[i] - expected[i]), bound[i]) << i;
}

TEST(SurfaceShapes, AllPositionsAndVelocitiesAreTheObviousProductOnEveryTarget) {
    for (const std::string& target : simd_targets())
        // shorter than a vector, whole vectors, and with something left over
        for (const int r : {1, 3, 7, 8, 15, 16, 30, 61})
            for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
                SCOPED_TRACE(target + ", r = " + std::to_string(r));
                const ScopedSimdTarget scope(target);
                const Carried c(r);
                const SurfaceShapes shapes = c.shapes(storage);
                const std::vector<float> q = to_float(test::random_vector(r, 3, 0.1));
                const VectorXd exact = to_double(q);
                const VectorXd bound = storage == ShapeStorage::Float32 ? float_bound(c, exact)
                                                                        : int16_bound(c, exact);
                std::vector<float> x(static_cast<std::size_t>(c.rest.size()));
                shapes.positions(q, x);
                expect_within(to_double(x), c.rest + c.rows * exact, bound);
                shapes.velocities(q, x);
                expect_within(to_double(x), c.rows * exact, bound);
            }
}

TEST(SurfaceShapes, ChosenVerticesAgreeWithAllOfThemOnEveryTarget) {
    const std::vector<int> chosen = {34, 0, 7, 7, 20};
    for (const std::string& target : simd_targets())
        for (const int r : {2, 8, 30})
            for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
                SCOPED_TRACE(target + ", r = " + std::to_string(r));
                const ScopedSimdTarget scope(target);
                const Carried c(r);
                const SurfaceShapes shapes = c.shapes(storage);
                const std::vector<float> q = to_float(test::random_vector(r, 3, 0.1));
                const VectorXd bound = 2 * float_bound(c, to_double(q));
                std::vector<float> all(static_cast<std::size_t>(c.rest.size())), some(15);
                const auto compare = [&] {
                    for (std::size_t i = 0; i < 15; ++i) {
                        const std::size_t at = 3 * static_cast<std::size_t>(chosen[i / 3]) + i % 3;
                        EXPECT_NEAR(some[i], all[at], bound[static_cast<Eigen::Index>(at)]);
                    }
                };
                shapes.positions(q, all);
                shapes.positions(chosen, q, some);
                compare();
                shapes.velocities(q, all);
                shapes.velocities(chosen, q, some);
                compare();
            }
}

TEST(SurfaceShapes, SinglePointsAreTheObviousProductInDouble) {
    const int r = 12;
    const Carried c(r);
    const VectorXd q = test::random_vector(r, 4, 0.1), x = c.rest + c.rows * q, v = c.rows * q;
    const Vector3d weights(0.2, 0.5, 0.3);
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const SurfaceShapes shapes = c.shapes(storage);
        // entries and rest positions are rounded, sums are not
        const double tolerance =
            storage == ShapeStorage::Float32 ? 3e-7 : int16_bound(c, q).maxCoeff();
        for (int i = 0; i < shapes.num_vertices(); ++i) {
            EXPECT_LE((shapes.position(i, q) - x.segment<3>(3 * i)).norm(), 2 * tolerance);
            EXPECT_LE((shapes.velocity(i, q) - v.segment<3>(3 * i)).norm(), 2 * tolerance);
        }
        for (int t = 0; t < shapes.num_triangles(); ++t) {
            Vector3d position = Vector3d::Zero(), velocity = Vector3d::Zero(), corner[3];
            for (int k = 0; k < 3; ++k) {
                const int vertex =
                    c.surface.triangles[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)];
                corner[k] = x.segment<3>(3 * vertex);
                position += weights[k] * corner[k];
                velocity += weights[k] * v.segment<3>(3 * vertex);
            }
            EXPECT_LE((shapes.position(t, weights, q) - position).norm(), 2 * tolerance);
            EXPECT_LE((shapes.velocity(t, weights, q) - velocity).norm(), 2 * tolerance);
            const Vector3d face = (corner[1] - corner[0]).cross(corner[2] - corner[0]);
            const double smallest_edge = std::sqrt(face.norm());
            EXPECT_LE((shapes.normal(t, q) - face.normalized()).norm(),
                      50 * tolerance / smallest_edge);
            EXPECT_NEAR(shapes.normal(t, q).norm(), 1, 1e-14);
        }
    }
}

TEST(SurfaceShapes, ProjectedForceDoesTheWorkOfTheForce) {
    const int r = 9;
    const Carried c(r);
    const Vector3d force(1, -2, 3), weights(0.1, 0.7, 0.2);
    const VectorXd v = test::random_vector(r, 5);
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const SurfaceShapes shapes = c.shapes(storage);
        VectorXd f = VectorXd::Zero(r);
        shapes.add_force(11, force, f);
        EXPECT_NEAR(f.dot(v), force.dot(shapes.velocity(11, v)), 1e-13 * f.norm() * v.norm());
        const VectorXd before = f;
        shapes.add_force(6, weights, force, f);
        EXPECT_NEAR((f - before).dot(v), force.dot(shapes.velocity(6, weights, v)),
                    1e-13 * f.norm() * v.norm());
    }
}

TEST(SurfaceShapes, NormalsAreFaceNormalsWeightedByArea) {
    const Carried c(5);
    const SurfaceShapes shapes = c.shapes();
    const std::vector<float> q = to_float(test::random_vector(5, 6, 0.02));
    std::vector<float> x(static_cast<std::size_t>(c.rest.size())), n(x.size(), 7.0f);
    shapes.positions(q, x);
    shapes.normals(x, n);
    const VectorXd position = to_double(x);
    VectorXd expected = VectorXd::Zero(c.rest.size());
    for (const Triangle& t : c.surface.triangles) {
        const Vector3d a = position.segment<3>(3 * t[0]), b = position.segment<3>(3 * t[1]),
                       d = position.segment<3>(3 * t[2]);
        for (const int vertex : t) expected.segment<3>(3 * vertex) += (b - a).cross(d - a);
    }
    for (Eigen::Index i = 0; i < expected.size(); i += 3) {
        expected.segment<3>(i).normalize();
        // float positions, edges of a tenth
        EXPECT_LE((to_double(n).segment<3>(i) - expected.segment<3>(i)).norm(), 1e-5);
    }
}

TEST(SurfaceShapes, NormalsStayFiniteForFacesWithoutAreaAndPositionsOfAnySize) {
    const SurfaceShapes shapes = Carried(2).shapes();
    const std::vector<float> rest(shapes.arrays().rest.begin(), shapes.arrays().rest.end());
    std::vector<float> x(rest.size(), 1.0f), n(rest.size(), 7.0f), expected(rest.size());
    shapes.normals(x, n);
    for (const float value : n) EXPECT_EQ(value, 0.0f);
    // a micrometre has areas of 1e-14 m²
    shapes.normals(rest, expected);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-6f * rest[i];
    shapes.normals(x, n);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(n[i], expected[i], 1e-5);
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
        x = rest;
        x[4] = bad;
        shapes.normals(x, n);
        for (const float value : n) EXPECT_TRUE(std::isfinite(value)) << bad;
    }
}

TEST(SurfaceShapes, FirstVectorsOfABasisGiveItsFirstTerms) {
    const Carried whole(30);
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const SurfaceShapes all = whole.shapes(storage), few = all.truncated(11);
        EXPECT_EQ(few.size(), 11);
        EXPECT_EQ(few.arrays().rows32.data(), all.arrays().rows32.data());
        VectorXd q = VectorXd::Zero(30);
        q.head(11) = test::random_vector(11, 7, 0.1);
        std::vector<float> x(static_cast<std::size_t>(whole.rest.size())), y(x.size());
        all.positions(to_float(q), x);
        few.positions(to_float(q.head(11)), y);
        const VectorXd bound = 2 * float_bound(whole, q);
        expect_within(to_double(y), to_double(x), bound);
        EXPECT_LE((few.position(3, q.head(11)) - all.position(3, q)).norm(), 1e-15);
    }
    try {
        (void)whole.shapes().truncated(31);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("to keep = 31 (expected 1 to 30)"));
    }
}

TEST(SurfaceShapes, StoredArraysAreViewedAndKeptAlive) {
    const Carried c(6);
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const SurfaceShapes original = c.shapes(storage);
        const SurfaceArrays& a = original.arrays();
        auto stored = std::make_shared<std::vector<float>>(a.rows32.begin(), a.rows32.end());
        const std::weak_ptr<std::vector<float>> watched = stored;
        SurfaceArrays view = a;
        view.rows32 = *stored;
        {
            const SurfaceShapes loaded(view, std::move(stored));
            EXPECT_EQ(loaded.arrays().rows32.data(), view.rows32.data());
            const std::vector<float> q = to_float(test::random_vector(6, 8));
            std::vector<float> x(a.rest.size()), y(a.rest.size());
            original.positions(q, x);
            loaded.positions(q, y);
            EXPECT_EQ(x, y);
            EXPECT_FALSE(watched.expired());
        }
        EXPECT_TRUE(watched.expired());
    }
}

/// The message of an InputError.
template <class Action>
std::string message_of(const Action& action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(SurfaceShapes, ArraysThatDoNotFitTogetherAreRejected) {
    const Carried c(6);
    const SurfaceShapes wide = c.shapes(), narrow = c.shapes(ShapeStorage::Int16);
    const auto message = [](const SurfaceShapes& from, const auto& change) {
        SurfaceArrays arrays = from.arrays();
        change(arrays);
        return message_of([&] { (void)SurfaceShapes(arrays, nullptr); });
    };
    EXPECT_THAT(message(wide, [](SurfaceArrays& a) { a.r = 0; }),
                HasSubstr("columns of the surface matrix = 0 (expected 1 to 1024)"));
    EXPECT_THAT(message(wide, [](SurfaceArrays& a) { a.r = 1025; }), HasSubstr("1 to 1024"));
    EXPECT_THAT(message(wide, [](SurfaceArrays& a) { a.rest = a.rest.first(4); }),
                HasSubstr("coordinates of surface vertices = 4 (expected a multiple of 3)"));
    EXPECT_THAT(message(wide, [](SurfaceArrays& a) { a.triangles = a.triangles.first(5); }),
                HasSubstr("corners of surface triangles = 5"));
    EXPECT_THAT(message(wide, [](SurfaceArrays& a) { a.rows32 = a.rows32.first(6); }),
                HasSubstr("32-bit entries of the surface matrix = 6 (expected 630, 6 for each"));
    EXPECT_THAT(message(wide, [&](SurfaceArrays& a) { a.rows16 = narrow.arrays().rows16; }),
                HasSubstr("16-bit entries of the surface matrix = 630 (expected none"));
    EXPECT_THAT(message(narrow, [](SurfaceArrays& a) { a.rows16 = a.rows16.first(6); }),
                HasSubstr("16-bit entries of the surface matrix = 6 (expected 630"));
    EXPECT_THAT(message(narrow, [](SurfaceArrays& a) { a.scales = a.scales.first(2); }),
                HasSubstr("factors of the columns of the surface matrix = 2"));
    const std::vector<int> triangles = {0, 1, 2, 0, 35, 2};
    EXPECT_THAT(message(wide, [&](SurfaceArrays& a) { a.triangles = triangles; }),
                HasSubstr("triangle 1 of the surface = vertex 35 (expected 0 to 34)"));
}

TEST(SurfaceShapes, ABasisOfAnotherMeshIsRejected) {
    const Carried c(4), other(4, 8);
    const auto message = [&](const SurfaceMesh& surface, const MatrixXd& U) {
        return message_of([&] { (void)SurfaceShapes(surface, c.embedding, U); });
    };
    EXPECT_THAT(message(other.surface, c.U),
                HasSubstr("embedded points = 35 (expected one for each of the 40 vertices"));
    EXPECT_THAT(message(c.surface, c.U.topRows(9)), HasSubstr("rows of the basis = 9 (expected 3"));
    EXPECT_THAT(message(c.surface, MatrixXd(c.U.rows(), 0)),
                HasSubstr("columns of the basis = 0 (expected 1 to 1024)"));
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 1e39}) {
        MatrixXd U = c.U;
        U.col(2).setConstant(bad);
        EXPECT_THAT(message(c.surface, U), HasSubstr("an entry in column 2 that is not finite"));
    }
}

TEST(SurfaceShapes, ColumnsOfZerosAreKeptIn16Bits) {
    Carried c(3);
    c.U.col(1).setZero();
    const SurfaceShapes shapes = c.shapes(ShapeStorage::Int16);
    EXPECT_EQ(shapes.velocity(4, Vector3d(0, 1, 0)).norm(), 0);
}

TEST(SurfaceShapes, EvaluationAllocatesNothing) {
    const int r = 30;
    const Carried c(r, 200);
    const VectorXd q = test::random_vector(r, 9, 0.1);
    const std::vector<float> q_float = to_float(q);
    std::vector<float> x(static_cast<std::size_t>(c.rest.size())), n(x.size());
    std::vector<int> chosen(static_cast<std::size_t>(c.surface.num_vertices()));
    std::iota(chosen.begin(), chosen.end(), 0);
    VectorXd f = VectorXd::Zero(r);
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const SurfaceShapes shapes = c.shapes(storage);
        const AllocationGuard guard;
        shapes.positions(q_float, x);
        shapes.normals(x, n);
        shapes.velocities(chosen, q_float, x);
        const Vector3d point = shapes.position(5, Vector3d(0.2, 0.3, 0.5), q);
        shapes.add_force(5, Vector3d(0.2, 0.3, 0.5), point, f);
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
    }
}

}  // namespace
}  // namespace pliant
