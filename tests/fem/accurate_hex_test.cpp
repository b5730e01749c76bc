#include "fem/accurate_hex.h"

#include "core/dense_algebra.h"
#include "fem/fem_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Eigen::MatrixXd whole(const ElementMatrix<8>& K) {
    return Eigen::MatrixXd(K).selfadjointView<Eigen::Upper>();
}

/// One cell beside full ones, filled from below to some height.
VolumeMesh cut_layer(double filled) {
    VolumeMesh mesh = hex_box(3, 3, 2, Box(Vector3d::Zero(), Vector3d(3, 3, 2)));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        double z = 0;
        for (const int node : mesh.element(e)) z += mesh.vertices[node].z() / 8;
        mesh.filled.push_back(z > 1 ? filled : 1.0);
    }
    return mesh;
}
int middle_of_top(const FemModel& model) {
    for (int place = 0; place < model.mesh().num_elements(); ++place) {
        Vector3d centre = Vector3d::Zero();
        for (const int node : model.mesh().element(model.data().blocks.elements[place]))
            centre += model.mesh().vertices[node] / 8;
        if ((centre - Vector3d(1.5, 1.5, 1.5)).norm() < 1e-9) return place;
    }
    return -1;
}

TEST(AccurateHex, OnlyRigidMotionCostsNothing) {
    const NodeColumns<8> rest = NodeColumns<8>::Zero();
    for (const double nu : {-0.5, 0.0, 0.3, 0.49, 0.4995})
        for (const VolumeMesh& mesh :
             {hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d(1, 2, 0.5))),
              test::distorted_hexes(1), cut_layer(0.5), cut_layer(0.02)}) {
            const FemModel model(mesh, {isotropic(1, nu, 1)});
            const int place = mesh.num_elements() == 1 ? 0 : middle_of_top(model);
            ASSERT_TRUE(is_accurate_hex(model.data(), place));
            const VectorXd values =
                symmetric_eigenvalues(whole(AccurateHex(model.data(), place, rest).tangent()));
            EXPECT_LT(values.head<6>().cwiseAbs().maxCoeff(), 1e-13 * values[23]) << nu;
            EXPECT_GT(values[6], 1e-7 * values[23]) << nu;
        }
}

TEST(AccurateHex, StaysStableWhenStretchedAndPressed) {
    // a cube of the law's own sound range: the only negative eigenvalues are those of rotations
    for (const double stretch : {0.75, 1.5, 2.0})
        for (const double nu : {0.0, 0.3, 0.45}) {
            const FemModel model(hex_box(1, 1, 1, test::unit_box()), {isotropic(1, nu, 1)});
            // free to widen, so that only the stress along z is left
            const double E_zz = 0.5 * (stretch * stretch - 1);
            const double across = std::sqrt(1 - 2 * nu * E_zz);
            if (!std::isfinite(across)) continue;
            const Matrix3d F = Vector3d(across, across, stretch).asDiagonal();
            const VectorXd u =
                test::affine_displacements(model.mesh(), F - Matrix3d::Identity());
            const AccurateHex hex(model.data(), 0, gather<8>(u.data(), model.data().nodes.data()));
            const VectorXd values = symmetric_eigenvalues(whole(hex.tangent()));
            int negative = 0;
            for (const double value : values) negative += value < -1e-12 * values[23];
            EXPECT_LE(negative, stretch < 1 ? 2 : 0) << stretch << " " << nu;
        }
}

TEST(AccurateHex, UniformStrainIsExactInCutCells) {
    Matrix3d A;
    A << 0.2, 0.1, -0.05, 0.3, -0.1, 0.15, 0.02, -0.2, 0.1;
    const Material material = isotropic(1e4, 0.45, 1000);
    for (const double filled : {0.01, 0.3, 0.9}) {
        const FemModel model(cut_layer(filled), {material});
        ASSERT_NE(model.data().cut.of(middle_of_top(model)), nullptr);
        const VectorXd u = test::affine_displacements(model.mesh(), A);
        auto ws = model.make_workspace();
        const double expected = energy_density(material, Matrix3d::Identity() + A) *
                                total_volume(model.mesh(), true);
        EXPECT_NEAR(model.energy(u, ws), expected, 1e-12 * expected);
        // the nodes of the full cells that touch no cut one are in balance
        VectorXd R(u.size());
        model.internal_force(u, R);
        Vector3d sum = Vector3d::Zero();
        for (int i = 0; i < model.num_nodes(); ++i) sum += R.segment<3>(3 * i);
        EXPECT_LT(sum.norm(), 1e-12 * R.norm());
    }
}

TEST(AccurateHex, CutCellsHoldTheirSecondMoment) {
    // a layer filled to 0.4 bends by what is inside, not by what its corners say: u_x = z x
    const double filled = 0.4;
    const FemModel model(cut_layer(filled), {isotropic(1, 0, 1, Law::SmallStrain)});
    const int place = middle_of_top(model);
    NodeColumns<8> u = NodeColumns<8>::Zero();
    for (int a = 0; a < 8; ++a) {
        const Vector3d& x = model.mesh().vertices[model.data().nodes[8 * place + a]];
        u(0, a) = (x.x() - 1.5) * (x.z() - 1);
    }
    // ½ ∫ z² dz over 0 … 0.4; a twentieth is spread over the cell, where it is ½ 0.4 / 3
    const double expected = 0.95 * 0.5 * std::pow(filled, 3) / 3 + 0.05 * 0.5 * filled / 3;
    EXPECT_NEAR(AccurateHex(model.data(), place, u).energy(), expected, 0.02 * expected);
}

}  // namespace
}  // namespace pliant
