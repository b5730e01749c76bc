#include "greens/body_forces.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "greens/boundary_cases.h"
#include "greens/graded_quadrature.h"
#include "greens/kelvin.h"
#include "pliant/core/error.h"
#include "pliant/greens/boundary_readouts.h"
#include "tests/greens/boundary_shapes.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

BoundaryOptions creased(double poisson_ratio) {
    BoundaryOptions options;
    options.poisson_ratio = poisson_ratio;
    options.crease_angle = 0.5;
    return options;
}

/// 1/(8π) ∮ { b r̂·n − (b·r̂) n / (2 (1 − ν)) }: the form from Galerkin's vector.
Matrix3d galerkin_form(const SurfaceMesh& mesh, double nu, const Vector3d& x) {
    Matrix3d sum = Matrix3d::Zero();
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const TriangleCorners corners{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
        const Vector3d area = (corners[1] - corners[0]).cross(corners[2] - corners[0]) / 2;
        for_each_point(corners, x, [&](const Vector3d& y, const Vector3d&, double w) {
            const Vector3d d = (y - x).normalized();
            sum += w * (d.dot(area) * Matrix3d::Identity() - area * d.transpose() / (2 * (1 - nu)));
        });
    }
    return sum / (8 * std::numbers::pi);
}

TEST(BodyForces, VolumeIntegralIsThatOfSmallCubesAndOfGalerkinsVector) {
    const SurfaceMesh mesh = test::cube_surface(2);
    for (const double nu : {0.0, 0.3, 0.5}) {
        BoundaryOptions options;
        options.poisson_ratio = nu;
        for (const Vector3d& x :
             {Vector3d(0.3, 0.4, 0.6), Vector3d(1.2, 0.5, 0.5), Vector3d(0.51, 0.26, 1)}) {
            const Matrix3d integral = volume_integral(mesh, options, x);
            // on the surface, the other form has a jump at x that halving resolves to 2⁻¹⁶
            EXPECT_LT((integral - galerkin_form(mesh, nu, x)).norm(), 1e-5 * integral.norm());
            Matrix3d sum = Matrix3d::Zero();
            const KelvinFactors factors(nu);
            const int n = 40;
            for (int i = 0; i < n * n * n; ++i) {
                const Vector3d y =
                    (Vector3d(i % n, i / n % n, i / (n * n)) + Vector3d::Constant(0.5)) / n;
                sum += kelvin_displacement(factors, y - x) / (n * n * n);
            }
            // the cube around x is off by a part of its share, some n⁻²
            EXPECT_LT((integral - sum).norm(), 2e-3 * integral.norm()) << nu;
        }
    }
}

TEST(BodyForces, LaplaceSourceInASphere) {
    // ∫ 1/(4π r) over a ball from its centre: R²/2
    BoundaryOptions options;
    options.physics = BoundaryPhysics::Laplace;
    const MatrixXd value = volume_integral(sphere_case_surface(4), options, Vector3d::Zero());
    ASSERT_EQ(value.size(), 1);
    EXPECT_NEAR(value(0, 0), 0.5, 0.005);  // a polyhedron
}

TEST(BodyForces, ACubeUnderItsWeightAsExactlyAsLinearElementsCan) {
    // σ_zz = b (1 − z), nothing else: hangs from z = 0 on the exact displacements there
    const double nu = 0.3, young = 2 * (1 + nu), b = 1;
    double errors[2];
    for (const int refined : {0, 1}) {
        const BoundaryModel model(test::cube_surface(refined ? 6 : 3), creased(nu));
        BoundaryValues exact{VectorXd(3 * model.num_nodes()), VectorXd(3 * model.num_nodes())};
        std::vector<char> is_fixed;
        for (int i = 0; i < model.num_nodes(); ++i) {
            const Vector3d &x = model.positions()[at(i)], &n = model.normals()[at(i)];
            const double stress = b * (1 - x.z());
            exact.tractions.segment<3>(3 * i) = Vector3d(0, 0, stress * n.z());
            exact.displacements.segment<3>(3 * i) =
                Vector3d(-nu * stress * x.x(), -nu * stress * x.y(),
                         b * (x.z() - x.z() * x.z() / 2) -
                             nu * b * (x.x() * x.x() + x.y() * x.y()) / 2) /
                young;
            is_fixed.push_back(n.z() < -0.5);
        }
        const VectorXd load = model.body_force_columns() * Vector3d(0, 0, b);
        const BoundaryValues result = solve_boundary_values(model, is_fixed, exact, load);
        errors[refined] =
            (result.displacements - exact.displacements).norm() / exact.displacements.norm();
        // the support carries the weight
        double reaction = 0;
        for (int i = 0; i < model.num_nodes(); ++i)
            if (is_fixed[at(i)]) reaction += model.areas()[at(i)] * result.tractions[3 * i + 2];
        EXPECT_NEAR(reaction, -b, 0.01);
    }
    EXPECT_LT(errors[1], 0.01);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.7);
}

TEST(BodyForces, ConcentratedForceInsideABlob) {
    // the field of a force in an unbounded body, cut out: its own values on the surface
    const Vector3d source(0.2, -0.1, 0.1), force(1, 2, -1);
    for (const double nu : {0.3, 0.5}) {
        double errors[2];
        for (const int refined : {0, 1}) {
            BoundaryOptions options;
            options.poisson_ratio = nu;
            const BoundaryModel model(blob_case_surface(1 + refined), options);
            const KelvinFactors factors(nu);
            BoundaryValues exact{VectorXd(3 * model.num_nodes()), VectorXd(3 * model.num_nodes())};
            std::vector<char> is_fixed;
            for (int i = 0; i < model.num_nodes(); ++i) {
                const Vector3d &x = model.positions()[at(i)], &n = model.normals()[at(i)];
                exact.displacements.segment<3>(3 * i) =
                    kelvin_displacement(factors, x - source).transpose() * force;
                exact.tractions.segment<3>(3 * i) =
                    kelvin_traction(factors, x - source, n).transpose() * force;
                is_fixed.push_back(x.z() < -0.3);
            }
            const VectorXd load = concentrated_force_columns(model, std::span(&source, 1)) * force;
            const BoundaryValues result = solve_boundary_values(model, is_fixed, exact, load);
            errors[refined] =
                (result.displacements - exact.displacements).norm() / exact.displacements.norm();
            // without the force it is far off
            const BoundaryValues without = solve_boundary_values(model, is_fixed, exact);
            EXPECT_GT((without.displacements - exact.displacements).norm(),
                      0.2 * exact.displacements.norm());
        }
        EXPECT_LT(errors[1], 0.03) << nu;
        EXPECT_LT(errors[1], 0.6 * errors[0]) << nu;
    }
}

TEST(BodyForces, AreRefusedInUnboundedBodies) {
    BoundaryOptions options;
    options.is_exterior = true;
    const BoundaryModel model(sphere_case_surface(1), options);
    try {
        static_cast<void>(model.body_force_columns());
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "a constant body force has no finite effect in the unbounded body of an "
                     "exterior problem; use loads on its surface or concentrated forces");
    }
}

}  // namespace
}  // namespace pliant
