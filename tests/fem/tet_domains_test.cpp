#include "fem/tet_domains.h"

#include "fem/fem_model_data.h"
#include "fem/fem_samples.h"
#include "fem/material_dilation.h"
#include "fem/random_matrices.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/implicit_dynamics.h"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>
#include <map>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::kLaws;

FemModel accurate(Law law, int n = 2, double poisson = 0.45) {
    return {test::distorted_tets(n), {isotropic(1e4, poisson, 1000, law)}};
}

/// All laws, one with λ < 0 and an anisotropic one, in regions that cross each other, and elements
/// that are filled in part.
FemModel mixed(int n) {
    VolumeMesh mesh = test::distorted_tets(n);
    std::vector<Material> materials;
    for (const Law law : kLaws) materials.push_back(isotropic(1e4, 0.4, 1000, law));
    materials.push_back(isotropic(3e4, -0.2, 1000));
    Matrix6d stiffness = isotropic_stiffness(2e4, 1e4);
    stiffness(0, 0) *= 2;
    materials.push_back(anisotropic(stiffness, 1000));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions.push_back(e * 7 % 31 % static_cast<int>(materials.size()));
        mesh.filled.push_back(1.0 / (1 + e % 3));
    }
    return {std::move(mesh), std::move(materials)};
}

double energy_of(const FemModel& model, const VectorXd& u) {
    auto ws = model.make_workspace();
    return model.energy(u, ws);
}
VectorXd force_of(const FemModel& model, const VectorXd& u) {
    VectorXd R(model.num_unknowns());
    model.internal_force(u, R);
    return R;
}
FemModel::Matrix tangent_of(const FemModel& model, const VectorXd& u) {
    auto K = model.make_matrix();
    // whatever is in K must not matter
    std::fill_n(K.valuePtr(), K.nonZeros(), std::numeric_limits<double>::quiet_NaN());
    model.tangent(u, K);
    return K;
}

/// ∇u of a tetrahedron and its volume, from the positions of its nodes.
struct Tet {
    Matrix3d H;
    double volume;
};
Tet tet_of(const VolumeMesh& mesh, int e, const VectorXd& u) {
    const auto nodes = mesh.element(e);
    Matrix3d X, x;
    for (int k = 0; k < 3; ++k) {
        X.col(k) = mesh.vertices[nodes[k + 1]] - mesh.vertices[nodes[0]];
        x.col(k) = u.segment<3>(3 * nodes[k + 1]) - u.segment<3>(3 * nodes[0]);
    }
    const double filled = mesh.filled.empty() ? 1.0 : mesh.filled[e];
    return {x * X.inverse(), filled * X.determinant() / 6};
}

/// The definition, eq. (W1)–(W3), with stars summed from tetrahedra where that is the same.
double slow_energy(const FemModel& model, const VectorXd& u) {
    const VolumeMesh& mesh = model.mesh();
    using Key = std::array<int, 3>;  // nodes and region
    std::map<Key, std::pair<double, Matrix3d>> edges;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Tet tet = tet_of(mesh, e, u);
        const auto nodes = mesh.element(e);
        const int region = mesh.regions.empty() ? 0 : mesh.regions[e];
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) {
                if (nodes[a] >= nodes[b]) continue;
                auto& edge = edges.try_emplace({nodes[a], nodes[b], region}, 0, Matrix3d::Zero())
                                 .first->second;
                edge.first += tet.volume / 6;
                edge.second += tet.volume / 6 * tet.H;
            }
    }
    double energy = 0;
    std::map<std::array<int, 2>, std::array<double, 2>> stars;  // Σ V θ and Σ V
    for (const auto& [key, edge] : edges) {
        const Material& m = model.materials()[key[2]];
        const Matrix3d F = Matrix3d::Identity() + edge.second / edge.first;
        Material rest = m;
        if (m.lambda > 0 && !m.anisotropy) {
            rest.lambda = 0;
            for (const int end : {key[0], key[1]}) {
                auto& star = stars[{end, key[2]}];
                star[0] += edge.first / 2 * dilation(m.law, F);
                star[1] += edge.first / 2;
            }
        }
        energy += edge.first * energy_density(rest, F);
    }
    for (const auto& [key, star] : stars)
        energy += 0.5 * model.materials()[key[1]].lambda * star[0] * star[0] / star[1];
    return energy;
}

TEST(MaterialDilation, SplitsEveryEnergy) {
    std::mt19937 generator(3);
    for (const Law law : kLaws) {
        SCOPED_TRACE(to_string(law));
        const Material m = isotropic(1e4, 0.4, 1000, law), rest = without_dilation_part(m);
        EXPECT_EQ(rest.lambda, 0);
        for (int k = 0; k < 20; ++k) {
            const Matrix3d F = Matrix3d::Identity() + 0.3 * Matrix3d::Random();
            const double theta = dilation(law, F);
            const double w = energy_density(m, F);
            EXPECT_NEAR(energy_density(rest, F) + 0.5 * m.lambda * theta * theta, w, 1e-12 * w);
            const Matrix3d G = dilation_gradient(law, F);
            EXPECT_LT((stress(rest, F) + m.lambda * theta * G - stress(m, F)).norm(),
                      1e-12 * stress(m, F).norm());
            // derivatives by central differences
            const Matrix3d dF = Matrix3d::Random(), dF2 = Matrix3d::Random();
            const double h = 1e-5;
            EXPECT_NEAR((dilation(law, F + h * dF) - dilation(law, F - h * dF)) / (2 * h),
                        G.cwiseProduct(dF).sum(), 1e-8);
            Matrix3d change;
            change.reshaped() = dilation_hessian(law, F) * dF.reshaped();
            EXPECT_LT(((dilation_gradient(law, F + h * dF) - dilation_gradient(law, F - h * dF)) /
                           (2 * h) -
                       change)
                          .norm(),
                      1e-7);
            Matrix3d plus, minus;
            plus.reshaped() = dilation_hessian(law, F + h * dF2) * dF.reshaped();
            minus.reshaped() = dilation_hessian(law, F - h * dF2) * dF.reshaped();
            EXPECT_LT(((plus - minus) / (2 * h) - dilation_third(law, F, dF, dF2)).norm(), 1e-6);
        }
    }
}

TEST(TetDomains, EnergyIsThatOfTheDefinition) {
    for (const Law law : kLaws) {
        SCOPED_TRACE(to_string(law));
        const FemModel model = accurate(law);
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 1);
        const double slow = slow_energy(model, u);
        EXPECT_NEAR(energy_of(model, u), slow, 1e-13 * slow);
    }
    const FemModel model = mixed(4);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.04, 2);
    const double slow = slow_energy(model, u);
    EXPECT_NEAR(energy_of(model, u), slow, 1e-13 * slow);
}

/// Richardson's differences of f at 0, whose error is of fourth order.
template <class F>
auto slope(const F& f, double h) {
    return ((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)).eval();
}

void expect_derivatives(const FemModel& model, const VectorXd& u) {
    const int n = model.num_unknowns();
    const VectorXd p = test::random_displacements(n, 1, 7), q = test::random_displacements(n, 1, 8);
    const VectorXd R = force_of(model, u);
    const auto K = tangent_of(model, u);
    const double h = 1e-4;
    // force = energy gradient
    const auto W = [&](double t) { return energy_of(model, u + t * p); };
    EXPECT_NEAR((8 * (W(h) - W(-h)) - (W(2 * h) - W(-2 * h))) / (12 * h), R.dot(p),
                1e-8 * R.norm() * p.norm());
    // tangent = force derivative, symmetric to the bit, and the product is that of the matrix
    const VectorXd dR = slope([&](double t) { return force_of(model, u + t * p); }, h);
    VectorXd Kp(n);
    model.tangent_product(u, p, Kp);
    EXPECT_LT((K * p - dR).norm(), 1e-8 * dR.norm());
    EXPECT_LT((K * p - Kp).norm(), 1e-13 * K.norm() * p.norm());
    EXPECT_EQ((FemModel::Matrix(K.transpose()) - K).norm(), 0);
    // second derivative of the force
    VectorXd H(n), H_swapped(n);
    model.hessian_contraction(u, p, q, H);
    model.hessian_contraction(u, q, p, H_swapped);
    const VectorXd dKq = slope(
        [&](double t) {
            VectorXd product(n);
            model.tangent_product(u + t * p, q, product);
            return product;
        },
        h);
    EXPECT_LE((H - dKq).norm(), 1e-7 * dKq.norm());
    EXPECT_LE((H - H_swapped).norm(), 1e-13 * H.norm());
    // all ways to the force are one
    VectorXd R2(n), R3(n);
    auto K2 = model.make_matrix();
    auto ws = model.make_workspace();
    model.force_and_tangent(u, R2, K2);
    (void)model.internal_force(u, R3, ws);
    EXPECT_EQ((R - R2).norm(), 0);
    EXPECT_EQ((R - R3).norm(), 0);
    EXPECT_EQ((K - K2).norm(), 0);
}

TEST(TetDomains, ForcesAndTangentsAreDerivatives) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        for (const Law law : kLaws) {
            SCOPED_TRACE(to_string(law));
            const FemModel model = accurate(law);
            expect_derivatives(model, test::random_displacements(model.num_unknowns(), 0.02, 3));
        }
        const FemModel model = mixed(4);
        expect_derivatives(model, test::random_displacements(model.num_unknowns(), 0.01, 4));
    }
}

TEST(TetDomains, RigidMotionsProduceNoForce) {
    std::mt19937 generator(5);
    for (const Law law : kLaws) {
        SCOPED_TRACE(to_string(law));
        const FemModel model = accurate(law, 3, 0.499);
        for (int k = 0; k < 5; ++k) {
            const Matrix3d A = law == Law::SmallStrain
                                   ? Matrix3d::Zero()
                                   : Matrix3d(test::random_rotation(generator) -
                                              Matrix3d::Identity());
            const VectorXd u = test::affine_displacements(model.mesh(), A, Vector3d(1, 2, 3));
            // λ = 1.7e6 Pa, areas of 0.1 m²
            EXPECT_LT(force_of(model, u).lpNorm<Eigen::Infinity>(), 1e-9);
        }
    }
}

TEST(TetDomains, PatchTestHoldsOnDistortedMeshes) {
    const Matrix3d A = 0.1 * Matrix3d::Random();
    for (const Law law : kLaws) {
        SCOPED_TRACE(to_string(law));
        const FemModel model = accurate(law, 4, 0.49);
        const VectorXd u = test::affine_displacements(model.mesh(), A);
        const VectorXd R = force_of(model, u);
        const Matrix3d P = stress(model.materials()[0], Matrix3d::Identity() + A);
        for (int i = 0; i < model.num_nodes(); ++i) {
            const Vector3d& x = model.mesh().vertices[i];
            if (x.minCoeff() > 0.13 && x.maxCoeff() < 0.87)
                EXPECT_LT(R.segment<3>(3 * i).norm(), 1e-13 * P.norm());
        }
        // and the energy is that of the material, whatever the shares
        const double exact =
            total_volume(model.mesh()) * energy_density(model.materials()[0],
                                                        Matrix3d::Identity() + A);
        EXPECT_NEAR(energy_of(model, u), exact, 1e-13 * exact);
    }
}

TEST(TetDomains, HaveNoZeroEnergyModesButRigidOnes) {
    for (const double poisson : {0.0, 0.3, 0.4995}) {
        const FemModel model = accurate(Law::StVenantKirchhoff, 3, poisson);
        const MatrixXd K(tangent_of(model, VectorXd::Zero(model.num_unknowns())));
        const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(K).eigenvalues();
        const FemModel plain(model.mesh(), model.materials(),
                             {.elements = ElementFormulation::Plain});
        const VectorXd of_plain =
            Eigen::SelfAdjointEigenSolver<MatrixXd>(
                MatrixXd(tangent_of(plain, VectorXd::Zero(model.num_unknowns()))))
                .eigenvalues();
        EXPECT_LT(values[5], 1e-9 * values[6]);
        EXPECT_GT(values[6], 0.3 * of_plain[6]);
        // never stiffer than plain elements: the stable step of those is a bound
        for (int i = 6; i < values.size(); ++i) EXPECT_LE(values[i], (1 + 1e-9) * of_plain[i]);
    }
}

TEST(TetDomains, MaterialsThatMeetKeepTheirOwnStrain) {
    // two cubes in series under a pull, no lateral strain: u' of each follows from σ = (λ + 2μ) u'
    VolumeMesh mesh = tet_box(4, 2, 2, {Vector3d::Zero(), Vector3d(2, 1, 1)});
    for (int e = 0; e < mesh.num_elements(); ++e) {
        double x = 0;
        for (const int node : mesh.element(e)) x += mesh.vertices[node].x() / 4;
        mesh.regions.push_back(x > 1 ? 1 : 0);
    }
    std::vector<Material> materials = {isotropic(1e4, 0.45, 1000), isotropic(1e6, 0.3, 1000)};
    const FemModel model(mesh, materials);
    const auto modulus = [&](int k) { return materials[k].lambda + 2 * materials[k].mu; };
    VectorXd u = VectorXd::Zero(model.num_unknowns());
    const double soft = 1e-6, hard = soft * modulus(0) / modulus(1);
    for (int i = 0; i < model.num_nodes(); ++i) {
        const double x = mesh.vertices[i].x();
        u[3 * i] = soft * std::min(x, 1.0) + hard * std::max(x - 1, 0.0);
    }
    const VectorXd R = tangent_of(model, VectorXd::Zero(u.size())) * u;
    for (int i = 0; i < model.num_nodes(); ++i)
        if (mesh.vertices[i].x() > 0.1 && mesh.vertices[i].x() < 1.9)
            EXPECT_LT(std::abs(R[3 * i]), 1e-12 * soft * modulus(0));
}

TEST(TetDomains, SingleIsCloseToDouble) {
    for (const Law law : kLaws) {
        SCOPED_TRACE(to_string(law));
        const FemModel model = accurate(law, 5);
        const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 6);
        auto ws = model.make_workspace();
        VectorXd R(u.size()), R_single(u.size());
        const SmallestDetF exact = model.internal_force(u, R, ws);
        const SmallestDetF single = model.internal_force(u, R_single, ws, Precision::Single);
        EXPECT_LT((R - R_single).norm(), 2e-6 * R.norm());
        EXPECT_NEAR(exact.value, single.value, 1e-5);
    }
}

TEST(TetDomains, ReportInversionsOfElementsAndEdges) {
    const FemModel model = accurate(Law::NeoHookean, 3);
    VectorXd u = VectorXd::Zero(model.num_unknowns());
    auto ws = model.make_workspace();
    VectorXd R(u.size());
    EXPECT_EQ(model.internal_force(u, R, ws).value, 1);
    EXPECT_EQ(model.smallest_det_F(u, ws).value, 1);
    // one inner node pushed through the opposite side of its elements
    const auto inner = test::vertices_where(model.mesh(), [](const Vector3d& x) {
        return x.minCoeff() > 0.2 && x.maxCoeff() < 0.5;
    });
    ASSERT_FALSE(inner.empty());
    u.segment<3>(3 * inner[0]) = Vector3d(0.5, 0, 0);
    const SmallestDetF of_edges = model.internal_force(u, R, ws);
    const SmallestDetF of_all = model.smallest_det_F(u, ws);
    EXPECT_LT(of_edges.value, 0);
    EXPECT_LE(of_all.value, of_edges.value);
    double lowest = 1;
    for (int e = 0; e < model.mesh().num_elements(); ++e)
        lowest = std::min(lowest,
                          (Matrix3d::Identity() + tet_of(model.mesh(), e, u).H).determinant());
    EXPECT_NEAR(of_all.value, lowest, 1e-12);
    EXPECT_GE(of_edges.element, 0);
    EXPECT_TRUE(R.allFinite());
    // collapsed to a point
    u = test::affine_displacements(model.mesh(), -Matrix3d::Identity());
    (void)model.internal_force(u, R, ws);
    EXPECT_TRUE(R.allFinite());
}

TEST(TetDomains, SameBitsForAnyNumberOfThreads) {
    const FemModel model = mixed(7);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 9);
    const VectorXd p = test::random_displacements(model.num_unknowns(), 1, 10);
    VectorXd R[2], Kp[2], H[2];
    FemModel::Matrix K[2];
    double W[2];
    for (int k = 0; k < 2; ++k) {
        set_num_threads(k == 0 ? 1 : 3);
        R[k] = force_of(model, u);
        K[k] = tangent_of(model, u);
        W[k] = energy_of(model, u);
        Kp[k] = H[k] = R[k];
        model.tangent_product(u, p, Kp[k]);
        model.hessian_contraction(u, p, p, H[k]);
    }
    set_num_threads(0);
    EXPECT_EQ((R[0] - R[1]).norm(), 0);
    EXPECT_EQ((K[0] - K[1]).norm(), 0);
    EXPECT_EQ((Kp[0] - Kp[1]).norm(), 0);
    EXPECT_EQ((H[0] - H[1]).norm(), 0);
    EXPECT_EQ(W[0], W[1]);
}

TEST(TetDomains, ExplicitStepsNearTheLimitKeepTheEnergy) {
    for (const double poisson : {0.3, 0.4995}) {
        const FemModel model = accurate(Law::NeoHookean, 3, poisson);
        Constraints constraints(model.num_nodes());
        constraints.fix(
            test::vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() < 0.05; }));
        const ExplicitDynamics dynamics(model, constraints);
        FemState s = dynamics.make_state();
        auto ws = dynamics.make_workspace();
        const VectorXd f = VectorXd::Zero(model.num_unknowns());
        for (int i = 0; i < model.num_nodes(); ++i)
            s.v[3 * i] = 0.05 * std::max(0.0, model.mesh().vertices[i].z());
        dynamics.set_acceleration(s, f, ws);
        const double start = dynamics.energy(s, ws).total();
        for (int k = 0; k < 3000; ++k)
            ASSERT_EQ(dynamics.step(s, f, 0.95 * dynamics.stable_step().dt, ws).status,
                      StepStatus::Ok);
        EXPECT_NEAR(dynamics.energy(s, ws).total(), start, 0.05 * start) << poisson;
    }
}

TEST(TetDomains, ImplicitStepsWithoutTheMatrixAreThoseWithIt) {
    for (const Damping& damping :
         {Damping{}, Damping{.stiffness = 0.01}, Damping{.stiffness = 0.01, .is_tangential = false},
          Damping{.mass = 1, .bulk_viscosity = 5, .shear_viscosity = 20}})
        for (const bool is_held : {true, false}) {
            const FemModel model = accurate(Law::NeoHookean, 3, 0.48);
            Constraints constraints(model.num_nodes());
            if (is_held)
                constraints.fix(test::vertices_where(
                    model.mesh(), [](const Vector3d& x) { return x.z() < 0.05; }));
            VectorXd f = VectorXd::Zero(model.num_unknowns());
            for (int i = 0; i < model.num_nodes(); ++i) f[3 * i] = 5 * model.mesh().vertices[i].z();
            ImplicitOptions options{.gamma = 1.125, .alpha = 1, .max_iterations = 20};
            options.damping = damping;
            options.cg.tolerance = 1e-9;
            ImplicitDynamics iterative(model, constraints, options);
            options.solver = StepSolver::Direct;
            ImplicitDynamics direct(model, constraints, options);
            FemState a = iterative.make_state(), b = a;
            for (int k = 0; k < 5; ++k) {
                const ImplicitReport report = iterative.step(a, f, 0.02);
                EXPECT_EQ(report.status, StepStatus::Ok);
                EXPECT_LE(report.newton_iterations, 6);
                EXPECT_EQ(direct.step(b, f, 0.02).status, StepStatus::Ok);
            }
            EXPECT_GT(b.u.norm(), 0.01);
            EXPECT_LT((a.u - b.u).norm(), 1e-6 * b.u.norm());
        }
}

TEST(TetDomains, AllocateNothing) {
    const FemModel model = accurate(Law::NeoHookean, 4);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.02, 11);
    VectorXd R(u.size());
    auto K = model.make_matrix();
    auto ws = model.make_workspace();
    set_num_threads(1);
    AllocationGuard guard;
    model.internal_force(u, R);
    (void)model.internal_force(u, R, ws, Precision::Single);
    model.force_and_tangent(u, R, K);
    model.tangent_product(u, u, R);
    (void)model.energy(u, ws);
    (void)model.smallest_det_F(u, ws);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
