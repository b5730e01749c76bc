#include "pliant/greens/boundary_readouts.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "greens/boundary_cases.h"
#include "greens/interior_kernels.h"
#include "pliant/core/error.h"
#include "tests/greens/boundary_shapes.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Vector6d = Eigen::Matrix<double, 6, 1>;

Vector6d stress_of(const Matrix3d& gradient, double nu) {
    Matrix3d stress = gradient + gradient.transpose();
    if (nu < 0.5) stress += 2 * nu / (1 - 2 * nu) * gradient.trace() * Matrix3d::Identity();
    Vector6d values;
    for (int row = 0; row < 6; ++row)
        values[row] = stress(kStressPairs[row][0], kStressPairs[row][1]);
    return values;
}

TEST(BoundaryReadouts, LinearFieldsAreExactEverywhereInside) {
    Matrix3d gradient;
    gradient << 0.3, 0.1, -0.2, 0.05, -0.4, 0.15, 0.2, 0.1, 0.25;
    for (const double nu : {0.0, 0.3, 0.5}) {
        if (nu == 0.5) gradient -= gradient.trace() / 3 * Matrix3d::Identity();
        BoundaryOptions options;
        options.poisson_ratio = nu;
        options.crease_angle = 0.5;
        const BoundaryModel model(test::cube_surface(3), options);
        VectorXd u(3 * model.num_nodes()), p(3 * model.num_nodes());
        const Vector6d stress = stress_of(gradient, nu);
        Matrix3d tensor;
        for (int row = 0; row < 6; ++row)
            tensor(kStressPairs[row][0], kStressPairs[row][1]) =
                tensor(kStressPairs[row][1], kStressPairs[row][0]) = stress[row];
        for (int i = 0; i < model.num_nodes(); ++i) {
            u.segment<3>(3 * i) = gradient * model.positions()[at(i)];
            p.segment<3>(3 * i) = tensor * model.normals()[at(i)];
        }
        // in the middle, and at a fiftieth of a side from a face and from an edge
        std::vector<GreensReadout> readouts;
        for (const Vector3d& x :
             {Vector3d(0.5, 0.5, 0.5), Vector3d(0.4, 0.45, 0.007), Vector3d(0.007, 0.3, 0.993)}) {
            readouts.push_back({ReadoutKind::Displacement, x});
            readouts.push_back({ReadoutKind::Stress, x});
        }
        const BoundaryReadouts rows = boundary_readouts(model, readouts);
        ASSERT_EQ(rows.of_displacements.rows(), 27);
        const VectorXd values = rows.of_displacements * u + rows.of_tractions * p;
        for (int k = 0; k < 3; ++k) {
            const Vector3d& x = readouts[at(2 * k)].position;
            EXPECT_LT((values.segment<3>(9 * k) - gradient * x).norm(), 1e-5) << nu << " " << k;
            EXPECT_LT((values.segment<6>(9 * k + 3) - stress).norm(), 1e-3) << nu << " " << k;
        }
    }
}

TEST(BoundaryReadouts, StressRowsAreHookesLawOfDisplacementRows) {
    const double nu = 0.3, step = 1e-4;
    BoundaryOptions options;
    options.poisson_ratio = nu;
    for (const auto elements : {BoundaryElements::Linear, BoundaryElements::Constant}) {
        options.elements = elements;
        const BoundaryModel model(blob_case_surface(1), options);
        const Vector3d x(0.1, 0.3, -0.2);
        std::vector<GreensReadout> readouts{{ReadoutKind::Stress, x}};
        for (int k = 0; k < 3; ++k)
            for (const double sign : {1.0, -1.0})
                readouts.push_back(
                    {ReadoutKind::Displacement, x + sign * step * Vector3d::Unit(k)});
        const BoundaryReadouts rows = boundary_readouts(model, readouts);
        for (const MatrixXd* part :
             {&rows.of_displacements, &rows.of_tractions, &rows.of_body_forces})
            for (int column = 0; column < part->cols(); column += 3) {
                Matrix3d gradient;
                for (int k = 0; k < 3; ++k)
                    gradient.col(k) = (part->block<3, 1>(6 + 6 * k, column) -
                                       part->block<3, 1>(9 + 6 * k, column)) /
                                      (2 * step);
                const Vector6d expected = stress_of(gradient, nu);
                EXPECT_LT((part->block<6, 1>(0, column) - expected).norm(),
                          1e-5 * (1 + expected.norm()));
            }
    }
}

TEST(BoundaryReadouts, AroundACavityUnderPressure) {
    for (const double nu : {0.3, 0.5}) {
        BoundaryOptions options;
        options.poisson_ratio = nu;
        options.is_exterior = true;
        const BoundaryModel model(sphere_case_surface(2), options);
        BoundaryValues known{VectorXd::Zero(3 * model.num_nodes()),
                             VectorXd(3 * model.num_nodes())};
        for (int i = 0; i < model.num_nodes(); ++i)
            known.tractions.segment<3>(3 * i) = -model.normals()[at(i)];
        const BoundaryValues result =
            solve_boundary_values(model, std::vector<char>(at(model.num_nodes()), 0), known);
        const Vector3d x(0, 0, 1.5);
        const std::array<GreensReadout, 2> readouts{GreensReadout{ReadoutKind::Displacement, x},
                                                    GreensReadout{ReadoutKind::Stress, x}};
        const BoundaryReadouts rows = boundary_readouts(model, readouts);
        const VectorXd values =
            rows.of_displacements * result.displacements + rows.of_tractions * result.tractions;
        // u = 1/(4 r²); σ_rr = −1/r³, σ_θθ = 1/(2 r³); the polyhedron has 4 % less volume
        EXPECT_NEAR(values[2], 0.25 / 2.25, 0.04 * 0.11);
        EXPECT_NEAR(values[5], -1 / 3.375, 0.04 * 0.3);
        EXPECT_NEAR(values[3], 0.5 / 3.375, 0.04 * 0.3);
        EXPECT_NEAR(values[4], 0.5 / 3.375, 0.04 * 0.3);
    }
}

TEST(BoundaryReadouts, GradientOfALaplaceField) {
    BoundaryOptions options;
    options.physics = BoundaryPhysics::Laplace;
    options.crease_angle = 0.5;
    const BoundaryModel model(test::cube_surface(2), options);
    const Vector3d gradient(1, -2, 0.5), x(0.3, 0.6, 0.2);
    VectorXd u(model.num_nodes()), q(model.num_nodes());
    for (int i = 0; i < model.num_nodes(); ++i) {
        u[i] = gradient.dot(model.positions()[at(i)]);
        q[i] = gradient.dot(model.normals()[at(i)]);
    }
    const std::array<GreensReadout, 2> readouts{GreensReadout{ReadoutKind::Displacement, x},
                                                GreensReadout{ReadoutKind::Stress, x}};
    const BoundaryReadouts rows = boundary_readouts(model, readouts);
    const VectorXd values = rows.of_displacements * u + rows.of_tractions * q;
    ASSERT_EQ(values.size(), 4);
    EXPECT_NEAR(values[0], gradient.dot(x), 1e-5);
    EXPECT_LT((values.tail<3>() - gradient).norm(), 1e-4);
}

TEST(BoundaryReadouts, ConcentratedForcesAddTheirOwnField) {
    BoundaryOptions options;
    const BoundaryModel model(blob_case_surface(1), options);
    const Vector3d source(0.1, 0.2, 0.3), x(-0.2, 0.1, 0);
    const std::array<GreensReadout, 2> readouts{GreensReadout{ReadoutKind::Displacement, x},
                                                GreensReadout{ReadoutKind::Stress, x}};
    const MatrixXd values = concentrated_force_readouts(model, readouts, std::span(&source, 1));
    EXPECT_LT((values.topRows<3>() - kelvin_displacement(KelvinFactors(0.3), source - x)).norm(),
              1e-15);
    EXPECT_LT((values.bottomRows<6>() - kelvin_stress_of_traction(0.3, source - x)).norm(), 1e-15);
}

template <class Call>
std::string readout_refusal(const Call& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(BoundaryReadouts, PointsOutsideTheMaterialAreRefused) {
    BoundaryOptions options;
    const BoundaryModel model(sphere_case_surface(1), options);
    const auto refusal_at = [&](const BoundaryModel& m, const Vector3d& x) {
        const std::array<GreensReadout, 2> readouts{
            GreensReadout{ReadoutKind::Stress,
                          m.options().is_exterior ? Vector3d(0, 0, 3) : Vector3d(0, 0, 0)},
            GreensReadout{ReadoutKind::Displacement, x}};
        return readout_refusal([&] { static_cast<void>(boundary_readouts(m, readouts)); });
    };
    EXPECT_EQ(refusal_at(model, {0.5, 0, 0}), "accepted");
    EXPECT_EQ(refusal_at(model, {0, 1.25, 0}), "read-out 1 at (0, 1.25, 0) is not inside the body");
    EXPECT_EQ(refusal_at(model, {NAN, 0, 0}), "read-out 1 at (nan, 0, 0) is not inside the body");
    const Vector3d near = 0.9999 * model.mesh().vertices[0];
    EXPECT_NE(refusal_at(model, near)
                  .find("is 9.4e-05 from the surface (at least 0.0031 is "
                        "needed); take the nodes there, or move it inwards"),
              std::string::npos)
        << refusal_at(model, near);
    options.is_exterior = true;
    const BoundaryModel cavity(sphere_case_surface(1), options);
    EXPECT_EQ(refusal_at(cavity, {0, 1.25, 0}), "accepted");
    EXPECT_EQ(refusal_at(cavity, {0.5, 0, 0}),
              "read-out 1 at (0.5, 0, 0) is not outside the cavity");
    const std::array<Vector3d, 1> forces{Vector3d(2, 0, 0)};
    EXPECT_EQ(
        readout_refusal([&] { static_cast<void>(concentrated_force_columns(model, forces)); }),
        "force 0 at (2, 0, 0) is not inside the body");
    const std::array<GreensReadout, 1> readouts{GreensReadout{ReadoutKind::Stress, {2, 0, 0}}};
    EXPECT_EQ(readout_refusal(
                  [&] { static_cast<void>(concentrated_force_readouts(model, readouts, forces)); }),
              "read-out 0 is where force 0 acts, and its value there is infinite; move it away");
}

}  // namespace
}  // namespace pliant
