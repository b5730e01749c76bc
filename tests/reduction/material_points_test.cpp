#include "pliant/reduction/material_points.h"

#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/core/pose.h"
#include "reduction/carrier_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::carrier_model;
using test::random_basis;

std::vector<Vector3d> random_points(int count, double low, double high, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(low, high);
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i)
        points.emplace_back(place(random), place(random), place(random));
    return points;
}

Matrix3d gradient(const MaterialPoints& points, int s, const VectorXd& q) {
    const Eigen::Matrix<double, 9, 1> F = points.F(s) * q;
    return Eigen::Map<const Matrix3d>(F.data());
}

std::vector<VolumeMesh> sample_meshes() {
    return {test::distorted_hexes(3), test::distorted_tets(3), graded_box(8)};
}

TEST(MaterialPoints, LinearFieldsAndRotationsAreExactInsideAndJustOutside) {
    const Matrix3d R = rotation_from_vector(Vector3d(0.9, -1.3, 0.7)).toRotationMatrix();
    Matrix3d A;
    A << 0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 0.2, 0.7, -0.1;
    const Vector3d b(0.3, -2, 1);
    for (const VolumeMesh& mesh : sample_meshes()) {
        const ReducedModel model = carrier_model(mesh, test::affine_basis(mesh));
        // less than a quarter of an element outside, so that extrapolation is not clamped
        const auto points = random_points(500, -0.02, 1.02, 1);
        const MaterialPoints carried = material_points(model, points, true);
        ASSERT_EQ(carried.num_points(), 500);
        EXPECT_EQ(carried.r, 12);
        EXPECT_GT(carried.num_outside, 10);
        EXPECT_LT(carried.num_outside, 250);
        for (const Matrix3d& slope : {A, Matrix3d(R - Matrix3d::Identity())}) {
            const VectorXd q = test::affine_coordinates(slope, b);
            double worst_place = 0, worst_gradient = 0;
            for (int s = 0; s < 500; ++s) {
                const Vector3d u = carried.U(s) * q;
                worst_place = std::max(worst_place, (u - slope * points[s] - b).norm());
                worst_gradient = std::max(worst_gradient, (gradient(carried, s, q) - slope).norm());
            }
            // rounding, divided by elements of 1/8 at least
            EXPECT_LT(worst_place, 1e-12);
            EXPECT_LT(worst_gradient, 1e-12);
        }
    }
}

TEST(MaterialPoints, PositionsAreThoseOfTheEmbedding) {
    for (const VolumeMesh& mesh : sample_meshes()) {
        const MatrixXd U = random_basis(3 * mesh.num_vertices(), 5, 1);
        const auto points = random_points(200, -0.1, 1.1, 2);
        const MaterialPoints carried = material_points(carrier_model(mesh, U), points, false);
        const Embedding embedding(mesh, points);
        const VectorXd q = test::random_vector(5, 3), u = U * q;
        std::vector<double> expected(600);
        embedding.transfer({u.data(), static_cast<std::size_t>(u.size())}, expected);
        EXPECT_EQ(carried.num_outside, embedding.num_outside());
        for (int s = 0; s < 200; ++s)
            EXPECT_LT((carried.U(s) * q - Eigen::Map<const Vector3d>(&expected[3 * s])).norm(),
                      1e-12);
    }
}

TEST(MaterialPoints, GradientsAreDifferencesOfTheDisplacementField) {
    constexpr double h = 1e-5;
    for (const VolumeMesh& mesh : sample_meshes()) {
        const MatrixXd U = random_basis(3 * mesh.num_vertices(), 4, 1);
        const ReducedModel model = carrier_model(mesh, U);
        // distorted meshes have their outermost vertices 0.05 inside
        const auto points = random_points(300, 0.06, 0.94, 4);
        const MaterialPoints carried = material_points(model, points, true);
        const Embedding embedding(mesh, points);
        const VectorXd q = test::random_vector(4, 5);
        double worst = 0;
        int num_compared = 0;
        for (int k = 0; k < 3; ++k) {
            auto before = points, after = points;
            for (int s = 0; s < 300; ++s) {
                before[s][k] -= h;
                after[s][k] += h;
            }
            const MaterialPoints u0 = material_points(model, before, false),
                                 u1 = material_points(model, after, false);
            const Embedding e0(mesh, before), e1(mesh, after);
            for (int s = 0; s < 300; ++s) {
                // the field has kinks between elements
                const int element = embedding.elements()[s];
                if (e0.elements()[s] != element || e1.elements()[s] != element) continue;
                const Vector3d difference = (u1.U(s) - u0.U(s)) * q / (2 * h);
                worst = std::max(worst, (difference - gradient(carried, s, q).col(k)).norm());
                ++num_compared;
            }
        }
        EXPECT_GT(num_compared, 850);
        EXPECT_EQ(carried.num_outside, 0);
        // gradients are about 10; h² times third derivatives of about 1e4, and rounding over h
        EXPECT_LT(worst, 1e-5);
    }
}

TEST(MaterialPoints, OutsideTheMeshGradientsAreThoseOfTheNearestFace) {
    const VolumeMesh mesh = hex_box(3, 3, 3, test::unit_box());
    const ReducedModel model = carrier_model(mesh, random_basis(3 * mesh.num_vertices(), 4, 1));
    const std::vector<Vector3d> outside{{1.1, 0.4, 0.7}, {1.05, 1.1, 0.2}, {-0.1, -0.2, -0.05}};
    std::vector<Vector3d> feet, farther;
    for (const Vector3d& p : outside) {
        const Vector3d foot = p.cwiseMax(0).cwiseMin(1);
        feet.push_back(foot);
        farther.push_back(p + 1e-3 * (p - foot));
    }
    const VectorXd q = test::random_vector(4, 6);
    const MaterialPoints at = material_points(model, outside, true),
                         foot = material_points(model, feet, true),
                         beyond = material_points(model, farther, false);
    EXPECT_EQ(at.num_outside, 3);
    for (int s = 0; s < 3; ++s) {
        EXPECT_LT((at.F(s) - foot.F(s)).norm(), 1e-11);
        // and the displacement goes on with that slope
        const Vector3d step = farther[s] - outside[s];
        EXPECT_LT(((beyond.U(s) - at.U(s)) * q - gradient(at, s, q) * step).norm(), 1e-12);
    }
}

TEST(MaterialPoints, HangingVerticesFollowTheirMasters) {
    const VolumeMesh mesh = graded_box(8);
    ASSERT_FALSE(mesh.hanging.empty());
    MatrixXd U = random_basis(3 * mesh.num_vertices(), 3, 1);
    const auto points = random_points(400, 0, 1, 7);
    const MaterialPoints carried = material_points(carrier_model(mesh, U), points, true);
    for (const HangingNode& node : mesh.hanging) U.middleRows(3 * node.vertex, 3).setConstant(77);
    const MaterialPoints other = material_points(carrier_model(mesh, U), points, true);
    EXPECT_EQ(carried.modes, other.modes);
    EXPECT_EQ(carried.gradients, other.gradients);
}

TEST(MaterialPoints, ThreadsChangeNothing) {
    const VolumeMesh mesh = test::distorted_hexes(3);
    const ReducedModel model = carrier_model(mesh, random_basis(3 * mesh.num_vertices(), 3, 1));
    const auto points = random_points(2000, -0.1, 1.1, 8);
    set_num_threads(1);
    const MaterialPoints one = material_points(model, points, true);
    set_num_threads(3);
    const MaterialPoints three = material_points(model, points, true);
    set_num_threads(0);
    EXPECT_EQ(one.modes, three.modes);
    EXPECT_EQ(one.gradients, three.gradients);
    EXPECT_EQ(one.num_outside, three.num_outside);
}

TEST(MaterialPoints, GradientsAreMadeOnlyWhenAskedFor) {
    const VolumeMesh mesh = test::distorted_tets(2);
    const ReducedModel model = carrier_model(mesh, random_basis(3 * mesh.num_vertices(), 3, 1));
    const auto points = random_points(20, 0.1, 0.9, 9);
    const MaterialPoints with = material_points(model, points, true),
                         without = material_points(model, points, false);
    EXPECT_TRUE(with.has_gradients());
    EXPECT_FALSE(without.has_gradients());
    EXPECT_EQ(with.modes, without.modes);
    EXPECT_EQ(material_points(model, {}, true).num_points(), 0);
}

TEST(MaterialPoints, TruncatedModelsHaveTheFirstModes) {
    const VolumeMesh mesh = test::distorted_tets(2);
    const ReducedModel model = carrier_model(mesh, random_basis(3 * mesh.num_vertices(), 6, 1));
    const auto points = random_points(20, 0.1, 0.9, 10);
    const MaterialPoints all = material_points(model, points, true),
                         first = material_points(model.truncated(2), points, true);
    EXPECT_EQ(first.r, 2);
    for (int s = 0; s < 20; ++s) {
        EXPECT_EQ(MatrixXd(first.U(s)), MatrixXd(all.U(s).leftCols(2)));
        EXPECT_EQ(MatrixXd(first.F(s)), MatrixXd(all.F(s).leftCols(2)));
    }
}

TEST(MaterialPoints, PointsThatAreNotFiniteAreRefusedByIndex) {
    const VolumeMesh mesh = test::distorted_tets(2);
    const ReducedModel model = carrier_model(mesh, random_basis(3 * mesh.num_vertices(), 2, 1));
    const std::vector<Vector3d> points{Vector3d::Zero(), Vector3d(0, std::nan(""), 0)};
    EXPECT_NE(test::input_error([&] {
                  (void)material_points(model, points, true);
              }).find("point 1 to be embedded is not finite"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
