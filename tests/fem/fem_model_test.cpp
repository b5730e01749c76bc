#include "pliant/fem/fem_model.h"

#include "fem/fem_samples.h"
#include "fem/random_matrices.h"
#include "geometry/trilinear.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using test::kLaws;

Material model_material(Law law = Law::StVenantKirchhoff) { return isotropic(1e4, 0.3, 1000, law); }

FemModel hex_model(Law law = Law::StVenantKirchhoff, int n = 2) {
    return {test::distorted_hexes(n), {model_material(law)}};
}
FemModel tet_model(Law law = Law::StVenantKirchhoff, int n = 2) {
    return {test::distorted_tets(n), {model_material(law)}};
}
FemModel graded_model() { return {graded_box(6), {model_material()}}; }

VectorXd force(const FemModel& model, const VectorXd& u) {
    VectorXd R(model.num_unknowns());
    model.internal_force(u, R);
    return R;
}
FemModel::Matrix tangent(const FemModel& model, const VectorXd& u) {
    auto K = model.make_matrix();
    model.tangent(u, K);
    return K;
}
double energy(const FemModel& model, const VectorXd& u) {
    auto ws = model.make_workspace();
    return model.energy(u, ws);
}

/// St. Venant–Kirchhoff by the strain–displacement matrices B₀, A, G: the textbook form, dense.
struct SlowResult {
    double energy = 0;
    VectorXd R;
    MatrixXd K;
};

SlowResult slow_reference(const FemModel& model, const VectorXd& u) {
    const VolumeMesh& mesh = model.mesh();
    const int N = nodes_per_element(mesh.kind), n = model.num_unknowns();
    SlowResult result{0, VectorXd::Zero(n), MatrixXd::Zero(n, n)};
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Material& m = model.material_of(e);
        const Matrix6d Lambda =
            m.anisotropy ? m.anisotropy->stiffness : isotropic_stiffness(m.lambda, m.mu);
        const auto nodes = mesh.element(e);
        VectorXd ue(3 * N);
        for (int a = 0; a < N; ++a) ue.segment<3>(3 * a) = u.segment<3>(3 * nodes[a]);
        for (int k = 0; k < (N == 8 ? 8 : 1); ++k) {
            // gradients from the positions
            MatrixXd dphi(N, 3);
            if (N == 8) {
                const auto& s = kHexSigns[k];
                dphi = hex_shape_gradient(Vector3d(s[0], s[1], s[2]) / std::numbers::sqrt3);
            } else {
                dphi << -1, -1, -1, 1, 0, 0, 0, 1, 0, 0, 0, 1;
            }
            Matrix3d J = Matrix3d::Zero();
            for (int a = 0; a < N; ++a) J += mesh.vertices[nodes[a]] * dphi.row(a);
            const MatrixXd g = dphi * J.inverse();
            const double filled = mesh.filled.empty() ? 1.0 : mesh.filled[e];
            const double weight = filled * J.determinant() / (N == 8 ? 1 : 6);

            MatrixXd B0 = MatrixXd::Zero(6, 3 * N), G = MatrixXd::Zero(9, 3 * N);
            for (int a = 0; a < N; ++a) {
                const double x = g(a, 0), y = g(a, 1), z = g(a, 2);
                B0.middleCols<3>(3 * a) << x, 0, 0, 0, y, 0, 0, 0, z, 0, z, y, z, 0, x, y, x, 0;
                for (int c = 0; c < 3; ++c)
                    G.block<3, 3>(3 * c, 3 * a) = g(a, c) * Matrix3d::Identity();
            }
            const VectorXd theta = G * ue;
            const auto tx = theta.segment<3>(0).transpose(), ty = theta.segment<3>(3).transpose(),
                       tz = theta.segment<3>(6).transpose();
            MatrixXd A = MatrixXd::Zero(6, 9);
            A.block<1, 3>(0, 0) = tx;
            A.block<1, 3>(1, 3) = ty;
            A.block<1, 3>(2, 6) = tz;
            A.block<1, 3>(3, 3) = tz;
            A.block<1, 3>(3, 6) = ty;
            A.block<1, 3>(4, 0) = tz;
            A.block<1, 3>(4, 6) = tx;
            A.block<1, 3>(5, 0) = ty;
            A.block<1, 3>(5, 3) = tx;
            const VectorXd eps = B0 * ue + 0.5 * A * theta;
            const VectorXd sigma = Lambda * eps;
            const MatrixXd B = B0 + A * G;
            Matrix3d P;
            P << sigma[0], sigma[5], sigma[4], sigma[5], sigma[1], sigma[3], sigma[4], sigma[3],
                sigma[2];
            MatrixXd Sig(9, 9);
            for (int p = 0; p < 3; ++p)
                for (int q = 0; q < 3; ++q)
                    Sig.block<3, 3>(3 * p, 3 * q) = P(p, q) * Matrix3d::Identity();
            result.energy += weight * 0.5 * eps.dot(sigma);
            const VectorXd Re = weight * B.transpose() * sigma;
            const MatrixXd Ke = weight * (B.transpose() * Lambda * B + G.transpose() * Sig * G);
            for (int a = 0; a < N; ++a) {
                result.R.segment<3>(3 * nodes[a]) += Re.segment<3>(3 * a);
                for (int b = 0; b < N; ++b)
                    result.K.block<3, 3>(3 * nodes[a], 3 * nodes[b]) +=
                        Ke.block<3, 3>(3 * a, 3 * b);
            }
        }
    }
    return result;
}

/// Two regions, one anisotropic, and half-filled elements.
FemModel mixed_model(VolumeMesh mesh,
                     ElementFormulation elements = ElementFormulation::Accurate) {
    mesh.regions.resize(static_cast<std::size_t>(mesh.num_elements()));
    mesh.filled.resize(mesh.regions.size());
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions[e] = e % 3 == 0;
        mesh.filled[e] = 1.0 / (1 + e % 2);
    }
    OrthotropicConstants c;
    c.youngs_modulus << 3e4, 1e4, 2e4;
    c.poisson_ratio << 0.2, 0.1, 0.3;
    c.shear_modulus << 5e3, 7e3, 6e3;
    return {std::move(mesh), {model_material(), anisotropic(orthotropic_stiffness(c), 500)},
            {elements}};
}

TEST(FemModel, EqualsTheStrainDisplacementMatrices) {
    for (const FemModel& model :
         {mixed_model(test::distorted_hexes(2), ElementFormulation::Plain),
          mixed_model(test::distorted_tets(2), ElementFormulation::Plain)}) {
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 5);
        const SlowResult slow = slow_reference(model, u);
        EXPECT_NEAR(energy(model, u), slow.energy, 1e-13 * slow.energy);
        EXPECT_LT((force(model, u) - slow.R).norm(), 1e-13 * slow.R.norm());
        EXPECT_LT((MatrixXd(tangent(model, u)) - slow.K).norm(), 1e-13 * slow.K.norm());
    }
}

TEST(FemModel, RigidMotionHasNoForceAndNoEnergy) {
    std::mt19937 generator(7);
    for (const Law law : {Law::StVenantKirchhoff, Law::NeoHookean, Law::Corotational})
        for (const FemModel& model : {hex_model(law), tet_model(law)}) {
            const Matrix3d rotation = test::random_rotation(generator);
            const VectorXd u = test::affine_displacements(
                model.mesh(), rotation - Matrix3d::Identity(), Vector3d(1, -2, 3));
            const auto K0 = tangent(model, VectorXd::Zero(u.size()));
            EXPECT_LT(force(model, u).norm(), 1e-14 * K0.norm() * u.norm());
            EXPECT_LT(std::abs(energy(model, u)), 1e-18 * K0.norm() * u.squaredNorm());
        }
    // linear strain takes the rotation for a stretch
    const FemModel linear = hex_model(Law::SmallStrain);
    const VectorXd u = test::affine_displacements(
        linear.mesh(),
        Eigen::AngleAxisd(1, Vector3d::UnitZ()).toRotationMatrix() - Matrix3d::Identity());
    EXPECT_GT(energy(linear, u), 100);
}

TEST(FemModel, ForceIsTheEnergyGradientAndTangentItsJacobian) {
    // central differences: the error falls by 4 when the step is halved, down to rounding
    for (const Law law : kLaws)
        for (const FemModel& model : {hex_model(law), tet_model(law)}) {
            const int n = model.num_unknowns();
            const VectorXd u = test::random_displacements(n, 0.08, 11);
            const VectorXd v = test::random_displacements(n, 1, 12).normalized();
            const VectorXd R = force(model, u), Kv = tangent(model, u) * v;
            const auto slope_error = [&](double h) {
                return std::abs((energy(model, u + h * v) - energy(model, u - h * v)) / (2 * h) -
                                R.dot(v));
            };
            const auto jacobian_error = [&](double h) {
                return ((force(model, u + h * v) - force(model, u - h * v)) / (2 * h) - Kv).norm();
            };
            EXPECT_LT(slope_error(1e-4), 1e-8 * R.norm()) << to_string(law);
            EXPECT_LT(jacobian_error(1e-5), 1e-8 * Kv.norm()) << to_string(law);
            if (law == Law::SmallStrain) continue;
            EXPECT_NEAR(slope_error(0.02) / slope_error(0.01), 4, 0.4) << to_string(law);
            EXPECT_NEAR(jacobian_error(0.02) / jacobian_error(0.01), 4, 0.4) << to_string(law);
        }
}

TEST(FemModel, TangentIsExactlySymmetricAndConstantForSmallStrain) {
    for (const Law law : kLaws)
        for (const FemModel& model : {hex_model(law), tet_model(law)}) {
            const VectorXd u = test::random_displacements(model.num_unknowns(), 0.08, 13);
            const auto K = tangent(model, u);
            EXPECT_EQ((MatrixXd(K) - MatrixXd(K).transpose()).norm(), 0) << to_string(law);
            const auto K0 = tangent(model, VectorXd::Zero(u.size()));
            const double change = (K - K0).norm();
            if (law == Law::SmallStrain)
                EXPECT_EQ(change, 0);
            else
                EXPECT_GT(change, 0.01 * K0.norm());
        }
}

TEST(FemModel, ForceAndTangentTogetherEqualThoseApart) {
    for (const FemModel& model : {hex_model(), tet_model()}) {
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.05, 14);
        VectorXd R(u.size());
        auto K = model.make_matrix();
        model.force_and_tangent(u, R, K);
        EXPECT_LT((R - force(model, u)).norm(), 1e-14 * R.norm());
        EXPECT_EQ((K - tangent(model, u)).norm(), 0);
    }
}

TEST(FemModel, TangentProductNeedsNoMatrix) {
    for (const Law law : kLaws)
        for (const FemModel& model : {hex_model(law), tet_model(law), graded_model()}) {
            const VectorXd u = test::random_displacements(model.num_unknowns(), 0.05, 24);
            const VectorXd p = test::random_displacements(model.num_unknowns(), 1, 25);
            const auto K = tangent(model, u);
            VectorXd Kp(u.size());
            model.tangent_product(u, p, Kp);
            EXPECT_LT((Kp - K * p).norm(), 1e-14 * K.norm() * p.norm()) << to_string(law);
        }
}

TEST(FemModel, ForceComesWithTheSmallestDetFInBothPrecisions) {
    std::vector<FemModel> models{graded_model(), mixed_model(test::distorted_hexes(4)),
                                 mixed_model(test::distorted_tets(4))};
    for (const Law law : kLaws) {
        models.push_back(hex_model(law, 4));
        models.push_back(tet_model(law, 4));
    }
    for (const FemModel& model : models) {
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.04, 26);
        auto ws = model.make_workspace();
        VectorXd R(u.size());
        const VectorXd expected_R = force(model, u);
        SmallestDetF smallest = model.internal_force(u, R, ws);
        const SmallestDetF of_elements = model.smallest_det_F(u, ws);
        // tetrahedra that do not lock have forces from the means around edges, which are less extreme
        const bool is_mean = model.mesh().kind == ElementKind::Tet4;
        const SmallestDetF expected = is_mean ? smallest : of_elements;
        EXPECT_LE(of_elements.value, smallest.value + 1e-13);
        EXPECT_LT((R - expected_R).norm(), 1e-14 * R.norm());
        EXPECT_NEAR(smallest.value, expected.value, 1e-13);
        EXPECT_EQ(smallest.element, expected.element);
        smallest = model.internal_force(u, R, ws, Precision::Single);
        EXPECT_LT((R - expected_R).norm(), 1e-6 * R.norm());
        EXPECT_NEAR(smallest.value, expected.value, 1e-5);
        EXPECT_EQ(smallest.element, expected.element);
    }
}

TEST(FemModel, HessianContractionIsTheDerivativeOfTheTangent) {
    for (const Law law : kLaws)
        for (const FemModel& model : {hex_model(law), tet_model(law)}) {
            const int n = model.num_unknowns();
            const VectorXd u = test::random_displacements(n, 0.05, 15);
            const VectorXd v = test::random_displacements(n, 1, 16);
            const VectorXd w = test::random_displacements(n, 1, 17);
            VectorXd Hvw(n), Hwv(n);
            model.hessian_contraction(u, v, w, Hvw);
            model.hessian_contraction(u, w, v, Hwv);
            const double h = 1e-5, scale = (tangent(model, u) * w).norm();
            const VectorXd differences =
                (tangent(model, u + h * v) * w - tangent(model, u - h * v) * w) / (2 * h);
            EXPECT_LT((Hvw - differences).norm(), 1e-7 * (scale + Hvw.norm())) << to_string(law);
            EXPECT_LT((Hvw - Hwv).norm(), 1e-13 * (scale + Hvw.norm())) << to_string(law);
        }
    // K of St. Venant–Kirchhoff is a quadratic polynomial: exact at any step
    const FemModel model = hex_model();
    const int n = model.num_unknowns();
    const VectorXd v = test::random_displacements(n, 1, 18);
    const VectorXd w = test::random_displacements(n, 1, 19);
    VectorXd Hvw(n);
    model.hessian_contraction(VectorXd::Zero(n), v, w, Hvw);
    EXPECT_LT((Hvw - (tangent(model, v) * w - tangent(model, -v) * w) / 2).norm(),
              1e-13 * Hvw.norm());
}

TEST(FemModel, ThreadsDoNotChangeASingleBit) {
    for (const FemModel& model :
         {hex_model(Law::StVenantKirchhoff, 9), tet_model(Law::StVenantKirchhoff, 9)}) {
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 20);
        std::vector<VectorXd> forces, values;
        std::vector<double> energies, smallest;
        for (const int threads : {1, 2, 3}) {
            set_num_threads(threads);
            VectorXd R(u.size()), R_with_det(u.size()), Kp(u.size());
            auto K = model.make_matrix();
            auto ws = model.make_workspace();
            model.force_and_tangent(u, R, K);
            forces.push_back(R);
            smallest.push_back(model.internal_force(u, R_with_det, ws, Precision::Single).value);
            model.tangent_product(u, u, Kp);
            forces.back() += R_with_det + Kp;
            values.emplace_back(Eigen::Map<VectorXd>(K.valuePtr(), K.nonZeros()));
            energies.push_back(model.energy(u, ws));
            smallest.push_back(model.smallest_det_F(u, ws).value);
        }
        set_num_threads(0);
        for (int k = 1; k < 3; ++k) {
            EXPECT_EQ((forces[k] - forces[0]).norm(), 0);
            EXPECT_EQ((values[k] - values[0]).norm(), 0);
            EXPECT_EQ(energies[k], energies[0]);
            for (int i = 0; i < 2; ++i) EXPECT_EQ(smallest[2 * k + i], smallest[i]);
        }
    }
}

TEST(FemModel, LoopsAllocateNothing) {
    set_num_threads(1);
    for (const Law law : kLaws)
        for (const FemModel& model : {hex_model(law, 6), tet_model(law, 6)}) {
            const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 21);
            VectorXd R(u.size());
            auto K = model.make_matrix();
            auto ws = model.make_workspace();
            const AllocationGuard guard;
            double sum = model.energy(u, ws);
            model.internal_force(u, R);
            model.tangent(u, K);
            model.force_and_tangent(u, R, K);
            model.hessian_contraction(u, u, u, R);
            model.tangent_product(u, u, R);
            sum += model.smallest_det_F(u, ws).value + model.internal_force(u, R, ws).value +
                   model.internal_force(u, R, ws, Precision::Single).value;
            const auto allocations = guard.count();
            EXPECT_EQ(allocations, 0u) << to_string(law);
            EXPECT_TRUE(std::isfinite(sum));
        }
    set_num_threads(0);
}

TEST(FemModel, HomogeneousDeformationHasConstantStressAndBalancedInnerNodes) {
    // patch test: inner nodes carry no force
    Matrix3d A;
    A << 0.2, 0.1, -0.05, 0.3, -0.1, 0.15, 0.02, -0.2, 0.1;
    for (const Law law : kLaws)
        for (VolumeMesh mesh :
             {hex_box(4, 4, 4, test::unit_box()), tet_box(4, 4, 4, test::unit_box())}) {
            const auto is_inner = [](const Vector3d& x) {
                return x.minCoeff() > 1e-9 && x.maxCoeff() < 1 - 1e-9;
            };
            const auto inner = test::vertices_where(mesh, is_inner);
            const auto free = test::random_displacements(3 * mesh.num_vertices(), 0.03, 22);
            for (const int i : inner) mesh.vertices[i] += free.segment<3>(3 * i);
            const FemModel model(mesh, {model_material(law)});
            const VectorXd R = force(model, test::affine_displacements(mesh, A));
            for (const int i : inner)
                EXPECT_LT(R.segment<3>(3 * i).norm(), 1e-14 * R.norm()) << to_string(law);
            // the work of R in the field z e is that of the stress: volume · P e_z · e
            const Matrix3d P = stress(model_material(law), Matrix3d::Identity() + A);
            Vector3d virtual_work = Vector3d::Zero();
            for (int i = 0; i < mesh.num_vertices(); ++i)
                virtual_work += mesh.vertices[i].z() * R.segment<3>(3 * i);
            EXPECT_LT((virtual_work - P.col(2)).norm(), 1e-12 * P.norm());
        }
}

TEST(FemModel, SmallestDetFNamesTheSqueezedElement) {
    const VolumeMesh mesh = hex_box(3, 1, 1, test::unit_box());
    const FemModel model(mesh, {model_material()});
    VectorXd u = VectorXd::Zero(model.num_unknowns());
    // the second element is squeezed to a quarter along x, the third stretched
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (std::abs(mesh.vertices[i].x() - 2.0 / 3) < 1e-9) u[3 * i] = -0.25;
    auto ws = model.make_workspace();
    const SmallestDetF smallest = model.smallest_det_F(u, ws);
    EXPECT_NEAR(smallest.value, 0.25, 1e-14);
    EXPECT_EQ(smallest.element, 1);
    EXPECT_EQ(model.smallest_det_F(VectorXd::Zero(u.size()), ws).element, 0);
}

TEST(FemModel, MeshAndMaterialsThatDoNotFitAreRefused) {
    const VolumeMesh mesh = hex_box(2, 1, 1, test::unit_box());
    const auto error = [](const VolumeMesh& m, const std::vector<Material>& materials) {
        return input_error([&] { (void)FemModel(m, materials); });
    };
    EXPECT_EQ(error(mesh, {model_material()}), "");
    EXPECT_EQ(error(mesh, {}), "materials.size = 0 (expected 1, one for each region of the mesh)");
    VolumeMesh bad = mesh;
    bad.regions = {0, 2};
    EXPECT_EQ(error(bad, {model_material(), model_material()}),
              "materials.size = 2 (expected 3, one for each region of the mesh)");
    bad.regions = {0, -1};
    EXPECT_EQ(error(bad, {model_material()}), "regions[1] = -1 (expected value >= 0)");
    bad.regions = {0};
    EXPECT_EQ(error(bad, {model_material()}),
              "regions.size = 1 (expected one for each of 2 elements)");
    bad = mesh;
    bad.vertices.emplace_back(5, 5, 5);
    EXPECT_NE(error(bad, {model_material()}).find("vertex 12 belongs to no element"),
              std::string::npos);
    bad = mesh;
    bad.elements[9] = 12;
    EXPECT_EQ(error(bad, {model_material()}),
              "elements[1] = vertex 12 (expected a vertex from 0 to 11)");
    bad = mesh;
    bad.vertices[3].y() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(error(bad, {model_material()}).find("vertices[3] = "), std::string::npos);
    bad = mesh;
    bad.filled = {1, 0};
    EXPECT_EQ(error(bad, {model_material()}), "filled[1] = 0 (expected 0 < value <= 1)");
    bad.filled = {1};
    EXPECT_EQ(error(bad, {model_material()}),
              "filled.size = 1 (expected one for each of 2 elements)");
    Material unphysical = model_material();
    unphysical.density = -1;
    EXPECT_EQ(error(mesh, {unphysical}), "density = -1 (expected a finite value > 0)");
    bad = mesh;
    std::swap(bad.elements[0], bad.elements[1]);
    EXPECT_NE(error(bad, {model_material()}).find("element 0 is inverted: its Jacobian is -"),
              std::string::npos);
    bad = graded_box(6);
    bad.hanging[5].masters[1] = bad.hanging[6].vertex;
    EXPECT_EQ(error(bad, {model_material()}),
              "hanging[5] = vertex " + std::to_string(bad.hanging[5].vertex) +
                  " (expected a vertex that is the mean of 2 or 4 free ones)");
    EXPECT_NE(error({}, {model_material()}).find("the mesh has no elements"), std::string::npos);
}

TEST(FemModel, GradedMeshHasPlacesForHangingNodes) {
    const FemModel model = graded_model();
    EXPECT_EQ(model.num_unknowns(), 3 * 317);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 23);
    EXPECT_TRUE(force(model, u).allFinite());
}

}  // namespace
}  // namespace pliant
