#include "pliant/fem/mass.h"

#include "fem/fem_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

Material fluid() {
    Material m = isotropic(1e4, 0.3, 1200);
    m.viscosity = 200;
    return m;
}

/// Two regions and partly filled elements; `expected` is ∫ ρ dV.
FemModel mixed_model(VolumeMesh mesh, double& expected) {
    mesh.regions.resize(static_cast<std::size_t>(mesh.num_elements()));
    mesh.filled.resize(mesh.regions.size());
    expected = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions[e] = e % 2;
        mesh.filled[e] = 1.0 / (1 + e % 3);
        expected += element_volume(mesh, e) * mesh.filled[e] * (e % 2 == 0 ? 1200 : 700);
    }
    return {std::move(mesh), {fluid(), isotropic(1e4, 0.3, 700)}};
}

TEST(Mass, TotalsAreDensityTimesVolume) {
    for (const VolumeMesh& mesh :
         {test::distorted_hexes(3), test::distorted_tets(3), graded_box(6)}) {
        double expected = 0;
        const FemModel model = mixed_model(mesh, expected);
        EXPECT_NEAR(lumped_mass(model).sum() / 3, expected, 1e-12 * expected);
        EXPECT_NEAR(node_mass_matrix(model).sum(), expected, 1e-12 * expected);
        EXPECT_NEAR(mass_matrix(model).sum() / 3, expected, 1e-12 * expected);
        EXPECT_GT(lumped_mass(model).minCoeff(), 0);
    }
}

TEST(Mass, CubeHasTheClosedForm) {
    // ρ h³ / 216 · {8, 4, 2, 1}: same node, edge, face diagonal, body diagonal
    const double h = 0.3;
    const FemModel model(hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Constant(h))), {fluid()});
    const MatrixXd M = node_mass_matrix(model);
    const double unit = 1200 * h * h * h / 216;
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b) {
            const int differing =
                ((model.mesh().vertices[a] - model.mesh().vertices[b]).array().abs() > 1e-9)
                    .count();
            EXPECT_NEAR(M(a, b), unit * (8 >> differing), 1e-14 * unit * 8);
        }
}

TEST(Mass, TetHasTheClosedForm) {
    VolumeMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0.2, 1, 0}, {0.1, 0.3, 2}};
    mesh.elements = {0, 1, 2, 3};
    const FemModel model(mesh, {fluid()});
    const double mass = 1200 * element_volume(mesh, 0);
    const MatrixXd M = node_mass_matrix(model);
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) EXPECT_NEAR(M(a, b), mass / 20 * (1 + (a == b)), 1e-12 * mass);
    for (const Lumping lumping : {Lumping::RowSum, Lumping::Nodal})
        EXPECT_LT((lumped_mass(model, lumping).array() - mass / 4).abs().maxCoeff(), 1e-12 * mass);
}

TEST(Mass, RowSumsAreThoseOfTheConsistentMatrix) {
    for (const VolumeMesh& mesh : {test::distorted_hexes(2), test::distorted_tets(2)}) {
        const FemModel model(mesh, {fluid()});
        const VectorXd sums = mass_matrix(model) * VectorXd::Ones(model.num_unknowns());
        EXPECT_LT((sums - lumped_mass(model)).norm(), 1e-14 * sums.norm());
    }
}

TEST(Mass, FullMatrixRepeatsTheNodeMatrixForEachComponent) {
    const FemModel model(test::distorted_hexes(2), {fluid()});
    const auto M = mass_matrix(model);
    EXPECT_EQ(M.nonZeros(), model.make_matrix().nonZeros());
    const MatrixXd full = M, nodes = node_mass_matrix(model);
    for (int a = 0; a < model.num_nodes(); ++a)
        for (int b = 0; b < model.num_nodes(); ++b)
            EXPECT_EQ(
                (full.block<3, 3>(3 * a, 3 * b) - nodes(a, b) * Eigen::Matrix3d::Identity()).norm(),
                0);
}

TEST(Mass, NodalAndRowSumLumpingAgreeOnParallelepipedsOnly) {
    VolumeMesh mesh = hex_box(2, 3, 2, test::unit_box());
    for (Vector3d& x : mesh.vertices) x = Vector3d(x.x() + 0.3 * x.y(), x.y(), x.z() - 0.2 * x.x());
    const FemModel sheared(mesh, {fluid()});
    EXPECT_LT((lumped_mass(sheared, Lumping::Nodal) - lumped_mass(sheared)).norm(), 1e-12);

    const FemModel distorted(test::distorted_hexes(1, 4), {fluid()});
    const VectorXd nodal = lumped_mass(distorted, Lumping::Nodal), rows = lumped_mass(distorted);
    EXPECT_GT((nodal - rows).cwiseAbs().maxCoeff(), 0.02 * rows.maxCoeff());
    EXPECT_GT(std::abs(nodal.sum() - rows.sum()), 1e-6 * rows.sum());
    EXPECT_NEAR(nodal.sum(), rows.sum(), 0.02 * rows.sum());

    VolumeMesh half = test::distorted_hexes(1, 4);
    half.filled = {0.5};
    EXPECT_LT((lumped_mass({half, {fluid()}}, Lumping::Nodal) - 0.5 * nodal).norm(), 1e-12);
}

TEST(Drag, IsProportionalToMassForOneMaterial) {
    const FemModel model(test::distorted_hexes(2), {fluid()});
    const double ratio = 200.0 / 1200.0;
    EXPECT_LT((drag_matrix(model) - ratio * mass_matrix(model)).norm(), 1e-13);
    EXPECT_LT((node_drag_matrix(model) - ratio * node_mass_matrix(model)).norm(), 1e-13);
    for (const Lumping lumping : {Lumping::RowSum, Lumping::Nodal})
        EXPECT_LT((lumped_drag(model, lumping) - ratio * lumped_mass(model, lumping)).norm(),
                  1e-12);
}

}  // namespace
}  // namespace pliant
