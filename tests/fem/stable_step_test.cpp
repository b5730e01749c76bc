#include "pliant/fem/stable_step.h"

#include "core/dense_algebra.h"
#include "fem/element_eigenvalue.h"
#include "fem/fem_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/free_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kE = 2e4, kDensity = 1000;

Material step_material(double poisson_ratio = 0.3) {
    return isotropic(kE, poisson_ratio, kDensity);
}
FemModel cube(double side, double poisson_ratio) {
    return {hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Constant(side))),
            {step_material(poisson_ratio)}};
}

MatrixXd dense_tangent(const FemModel& model, const VectorXd& u) {
    FemModel::Matrix K = model.make_matrix();
    model.tangent(u, K);
    return K;
}
double largest_dense_eigenvalue(const MatrixXd& K, const MatrixXd& M) {
    return symmetric_eigenvalues(K, M).maxCoeff();
}
/// 2/ω of the assembled lumped system with hanging nodes folded, by dense algebra.
double dense_stable_step(const FemModel& model, const Constraints& constraints, const VectorXd& u,
                         Lumping lumping = Lumping::RowSum) {
    const FreeSystem system(model, constraints);
    const MatrixXd T = system.T();
    const VectorXd m = T.transpose() * lumped_mass(model, lumping);
    return 2 / std::sqrt(largest_dense_eigenvalue(T.transpose() * dense_tangent(model, u) * T,
                                                  m.asDiagonal()));
}
VectorXd zero_of(const FemModel& model) { return VectorXd::Zero(model.num_unknowns()); }

/// Of two materials, and all elements filled in part.
FemModel mixed(VolumeMesh mesh, bool is_filled_in_part = true,
               ElementFormulation elements = ElementFormulation::Accurate) {
    mesh.regions.resize(static_cast<std::size_t>(mesh.num_elements()));
    if (is_filled_in_part) mesh.filled.resize(mesh.regions.size());
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions[e] = e % 2;
        if (is_filled_in_part) mesh.filled[e] = 1.0 / (1 + e % 3);
    }
    return {std::move(mesh), {step_material(0.1), isotropic(5e4, 0.45, 700)}, {elements}};
}

TEST(StableStep, OfTetrahedraThatDoNotLockIsBelowThatOfTheBodyAndLongerThanOfPlainOnes) {
    for (const double poisson : {-0.2, 0.0, 0.3, 0.45, 0.4995})
        for (const int n : {2, 3}) {
            const VolumeMesh mesh = test::distorted_tets(n);
            const std::vector<Material> materials{isotropic(kE, poisson, kDensity)};
            const FemModel model(mesh, materials);
            const FemModel plain(mesh, materials, {ElementFormulation::Plain});
            const double dt = element_stable_step(model).dt;
            const double assembled =
                dense_stable_step(model, Constraints(model.num_nodes()), zero_of(model));
            EXPECT_LE(dt, assembled) << poisson;
            // an edge takes all dilation for its own, where stars take the mean
            EXPECT_GT(dt, 0.4 * assembled) << poisson;
            EXPECT_GE(dt, element_stable_step(plain).dt) << poisson;
        }
    const FemModel model = mixed(test::distorted_tets(3));
    EXPECT_LE(element_stable_step(model).dt,
              dense_stable_step(model, Constraints(model.num_nodes()), zero_of(model)));
}

TEST(StableStep, OfACubeIsTheClosedForm) {
    for (const double nu : {0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49})
        for (const double h : {0.01, 0.1, 3.0}) {
            const StableStep step = element_stable_step(cube(h, nu));
            const double expected = h * std::sqrt(kDensity * (1 - 2 * nu) / kE);
            EXPECT_NEAR(step.dt, expected, 1e-12 * expected) << nu;
            EXPECT_EQ(step.element, 0);
        }
}

TEST(StableStep, LumpingEnlargesThatOfACubeBySqrt3) {
    const FemModel model = cube(0.1, 0.3);
    const MatrixXd K = dense_tangent(model, zero_of(model));
    const double consistent = largest_dense_eigenvalue(K, MatrixXd(mass_matrix(model)));
    const double lumped = largest_dense_eigenvalue(K, MatrixXd(lumped_mass(model).asDiagonal()));
    EXPECT_NEAR(std::sqrt(consistent / lumped), std::sqrt(3.0), 1e-12);
}

TEST(StableStep, IsThatOfTheStiffestElementAloneAndBelowThatOfTheBody) {
    // equal shapes of two materials, and different ones of one material, are not taken for equal
    VolumeMesh layered = hex_box(3, 3, 3, test::unit_box());
    layered.regions.assign(27, 0);
    std::fill_n(layered.regions.rbegin(), 5, 1);
    VolumeMesh nearly_equal = hex_box(3, 3, 3, test::unit_box());
    test::jitter(nearly_equal, 1e-6, 3);
    const std::vector<FemModel> models{mixed(test::distorted_hexes(3)),
                                       mixed(test::distorted_tets(2), true,
                                             ElementFormulation::Plain),
                                       mixed(graded_box(4), false),
                                       {test::distorted_hexes(3), {step_material()}},
                                       {nearly_equal, {step_material()}},
                                       {layered, {step_material(0.1), isotropic(5e4, 0.45, 700)}}};
    for (const Lumping lumping : {Lumping::RowSum, Lumping::Nodal})
        for (const FemModel& model : models) {
            const VolumeMesh& mesh = model.mesh();
            const StableStep step = element_stable_step(model, lumping);
            // one element at a time
            std::vector<double> steps;
            for (int e = 0; e < mesh.num_elements(); ++e) {
                VolumeMesh one;
                one.kind = mesh.kind;
                for (const int v : mesh.element(e)) {
                    one.elements.push_back(one.num_vertices());
                    one.vertices.push_back(mesh.vertices[v]);
                }
                const FemModel alone(one, {model.material_of(e)});
                steps.push_back(dense_stable_step(alone, Constraints(alone.num_nodes()),
                                                  zero_of(alone), lumping));
            }
            const double smallest = *std::ranges::min_element(steps);
            EXPECT_NEAR(step.dt, smallest, 2e-9 * smallest);
            EXPECT_NEAR(step.dt, steps[step.element], 1e-12 * smallest);
            const double assembled =
                dense_stable_step(model, Constraints(model.num_nodes()), zero_of(model), lumping);
            EXPECT_LE(step.dt, assembled);
            EXPECT_GT(step.dt, 0.5 * assembled);
        }
}

TEST(StableStep, DoesNotDependOnThreads) {
    const FemModel model = mixed(test::distorted_hexes(14));  // several ranges
    set_num_threads(1);
    const StableStep one = element_stable_step(model);
    set_num_threads(2);
    const StableStep two = element_stable_step(model);
    set_num_threads(0);
    EXPECT_EQ(one.dt, two.dt);
    EXPECT_EQ(one.element, two.element);
}

TEST(StableStep, AllowsForTheInitialStressOfAMaterial) {
    Material tense =
        anisotropic(isotropic_stiffness(step_material().lambda, step_material().mu), kDensity);
    tense.anisotropy->initial_stress << 2e4, 0, 0, 0, 0, 0;
    const FemModel model(hex_box(1, 1, 1, test::unit_box()), {tense});
    const StableStep step = element_stable_step(model);
    EXPECT_LT(step.dt, 0.95 * element_stable_step(cube(1, 0.3)).dt);
    EXPECT_NEAR(step.dt, dense_stable_step(model, Constraints(8), zero_of(model)), 1e-12 * step.dt);
}

TEST(StableStep, ViscousEigenvalueIsThatOfTheDampingMatrix) {
    const FemModel model(test::distorted_hexes(1), {step_material()});
    const Damping damping{.bulk_viscosity = 30, .shear_viscosity = 20};
    FemModel::Matrix D = model.make_matrix();
    add_damping_matrix(model, damping, zero_of(model), D, D);
    const double expected = largest_dense_eigenvalue(MatrixXd(D), lumped_mass(model).asDiagonal());
    EXPECT_NEAR(largest_viscous_eigenvalue(model, damping, Lumping::RowSum), expected,
                1e-12 * expected);
    EXPECT_EQ(largest_viscous_eigenvalue(model, {}, Lumping::RowSum), 0);
}

TEST(StepEstimator, FindsTheLimitOfTheAssembledBodyFromAbove) {
    // the stiffest part of the graded one lies at its hanging nodes
    VolumeMesh graded = graded_box(4);
    for (int e = 0; e < graded.num_elements(); ++e)
        graded.regions.push_back(element_volume(graded, e) > 0.1 ? 1 : 0);
    const Material stiff = isotropic(100 * kE, 0.3, kDensity);
    const std::vector<FemModel> models{{test::distorted_hexes(3), {step_material()}},
                                       {test::distorted_tets(3), {step_material()}},
                                       {graded, {step_material(), stiff}}};
    for (const FemModel& model : models) {
        const VolumeMesh& mesh = model.mesh();
        Constraints constraints(model.num_nodes());
        constraints.fix(test::clamped_end(mesh));
        VectorXd mass = lumped_mass(model);
        for (const HangingNode& h : mesh.hanging)
            for (int m = 0; m < h.num_masters; ++m)
                mass.segment<3>(3 * h.masters[m]) += h.weight * mass.segment<3>(3 * h.vertex);
        for (const HangingNode& h : mesh.hanging) mass.segment<3>(3 * h.vertex).setZero();
        for (const int node : constraints.held_nodes()) mass.segment<3>(3 * node).setZero();

        Matrix3d A = Matrix3d::Zero();
        A(0, 0) = 0.3;
        const VectorXd u = test::affine_displacements(mesh, A);
        const double exact = dense_stable_step(model, constraints, u);
        const StepEstimator estimator(model, mass);
        auto ws = estimator.make_workspace();
        // eigenvalues from below, so steps from above
        const double rough = estimator.stable_step(u, 20, ws);
        EXPECT_GE(rough, exact * (1 - 1e-12));
        EXPECT_LT(rough, 1.1 * exact);
        // the vector found is the next start: better with every call
        const double better = estimator.stable_step(u, 5, ws);
        EXPECT_LE(better, rough * (1 + 1e-12));
        EXPECT_GE(better, exact * (1 - 1e-12));
        EXPECT_NEAR(estimator.stable_step(u, 500, ws), exact, 1e-2 * exact);
    }
}

TEST(StepEstimator, FollowsTheStiffeningUnderStretch) {
    // ν = 0, stretched along x: waves along x see a stiffness of E (3 s² − 1)/2
    const FemModel model(hex_box(4, 4, 4, test::unit_box()), {step_material(0)});
    const StepEstimator estimator(model, lumped_mass(model));
    auto ws = estimator.make_workspace();
    const double at_rest = estimator.stable_step(zero_of(model), 300, ws);
    for (const double s : {1.2, 1.5, 2.0}) {
        Matrix3d A = Matrix3d::Zero();
        A(0, 0) = s - 1;
        const double stretched =
            estimator.stable_step(test::affine_displacements(model.mesh(), A), 300, ws);
        EXPECT_NEAR(stretched, at_rest / std::sqrt((3 * s * s - 1) / 2), 1e-3 * at_rest);
    }
}

TEST(StepEstimator, SurvivesShapesThatAreNotFiniteAndBodiesThatDoNotResist) {
    const FemModel model = cube(1, 0.3);
    const StepEstimator estimator(model, lumped_mass(model));
    auto ws = estimator.make_workspace();
    const VectorXd rest = zero_of(model);
    EXPECT_EQ(estimator.stable_step(VectorXd::Constant(24, 1e300 * 1e300), 20, ws), 0);
    EXPECT_NEAR(estimator.stable_step(rest, 100, ws), element_stable_step(model).dt, 1e-9);
    const StepEstimator held(model, VectorXd::Zero(24));
    auto held_ws = held.make_workspace();
    EXPECT_EQ(held.stable_step(rest, 20, held_ws), std::numeric_limits<double>::infinity());
}

TEST(StepEstimator, AllocatesNothing) {
    const FemModel model(graded_box(4), {step_material()});
    const StepEstimator estimator(model, lumped_mass(model));
    auto ws = estimator.make_workspace();
    const VectorXd u = test::random_displacements(model.num_unknowns(), 1e-3, 1);
    set_num_threads(1);
    AllocationGuard guard;
    const double dt = estimator.stable_step(u, 3, ws);
    const auto allocations = guard.count();
    EXPECT_GT(dt, 0);
    EXPECT_EQ(allocations, 0u);
    set_num_threads(0);
}

/// Largest |z| of one step of q̈ + c q̇ + d q̇ + ω² q = 0 with c acting half a step late and d
/// implicit, from h' = h + dt a', q' = q + dt h.
double amplification(double omega, double c, double d, double dt) {
    const double weight = 1 / (1 + 0.5 * dt * d);
    Eigen::Matrix2d step;  // (q, h) → (q + dt h, h + dt a')
    const Eigen::RowVector2d a(-omega * omega * weight, -(omega * omega * dt + c + d) * weight);
    step << 1, dt, dt * a[0], 1 + dt * a[1];
    const double half_trace = 0.5 * step.trace();
    const std::complex<double> root =
        std::sqrt(std::complex<double>(half_trace * half_trace - step.determinant()));
    return std::max(std::abs(half_trace + root), std::abs(half_trace - root));
}

TEST(StepEstimator, LimitWithDampingIsThatOfTheAmplification) {
    const double omega = 50;
    for (const double zeta : {0.0, 0.05, 0.3, 1.0, 4.0})
        for (const double drag : {0.0, 10.0, 500.0}) {
            const double dt = StepEstimator::with_damping(2 / omega, zeta);
            const double c = 2 * zeta * omega;
            EXPECT_LE(amplification(omega, c, drag, 0.999 * dt), 1 + 1e-12) << zeta;
            EXPECT_GT(amplification(omega, c, drag, 1.001 * dt), 1 + 1e-5) << zeta;
        }
}

}  // namespace
}  // namespace pliant
