// Whole chains from a mesh to a reduced model, after the acceptance tests of the method; what one
// source file can show is in its own test. docs/reduction.md lists all of them.

#include "benchmarks/published_polynomial.h"
#include "core/dense_algebra.h"
#include "fem/fem_samples.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"
#include "pliant/reduction/basis.h"
#include "pliant/reduction/modal_derivatives.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "pliant/reduction/sketch.h"
#include "pliant/reduction/snapshots.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// Sides that differ, so that eigenvalues do.
VolumeMesh bar_mesh() { return hex_box(6, 2, 3, Box(Vector3d::Zero(), Vector3d(0.6, 0.11, 0.23))); }
FemModel bar(double modulus = 1e6, double density = 1000) {
    return FemModel(bar_mesh(), {isotropic(modulus, 0.3, density)});
}
Sparse tangent(const FemModel& model, const VectorXd& u) {
    Sparse K = model.make_matrix();
    model.tangent(u, K);
    return K;
}
VectorXd force(const FemModel& model, const VectorXd& u) {
    VectorXd R(u.size());
    model.internal_force(u, R);
    return R;
}
double mass_norm(const Sparse& M, const VectorXd& u) { return std::sqrt(u.dot(VectorXd(M * u))); }

/// Modes, derivatives, weights and mass-PCA.
Basis derivative_basis(const FemModel& model, const Constraints& constraints, int k, int r) {
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = k});
    const Sparse M = mass_matrix(model);
    return mass_pca(
        weighted_modes_and_derivatives(modes, modal_derivatives(model, constraints, modes), M), M,
        r);
}

ReducedDynamics reduced(const FemModel& model, const MatrixXd& U,
                        const ReducedOptions& options = {}) {
    return {make_polynomial_force(combine(build_coefficients(model, U), model.materials())),
            U.transpose() * (mass_matrix(model) * U), options};
}
/// Equilibrium of a reduced model, all 3n displacements.
VectorXd reduced_static(const FemModel& model, const MatrixXd& U, const VectorXd& f) {
    const ReducedDynamics dynamics = reduced(model, U);
    ReducedState state = dynamics.make_state();
    const auto ws = dynamics.make_workspace();
    const VectorXd f_r = U.transpose() * f;
    EXPECT_EQ(dynamics.solve_static(state, f_r, 100, *ws).status, StepStatus::Ok);
    return U * state.q;
}

// 1. (H : v) w by the element loop, by K and by R, which are polynomials of u
TEST(Acceptance, HessianByThreeRoutes) {
    for (const VolumeMesh& mesh : {test::distorted_hexes(2), test::distorted_tets(2)}) {
        const FemModel model(mesh, {isotropic(1e5, 0.3, 1000)});
        const int n = model.num_unknowns();
        const VectorXd v = test::random_displacements(n, 0.3, 1);
        const VectorXd w = test::random_displacements(n, 0.3, 2);
        VectorXd by_elements(n);
        model.hessian_contraction(VectorXd::Zero(n), v, w, by_elements);
        const VectorXd by_tangent = (tangent(model, v) - tangent(model, -v)) * w / 2;
        // even part of R: its quadratic terms
        const auto quadratic = [&](const VectorXd& u) -> VectorXd {
            return (force(model, u) + force(model, -u)) / 2;
        };
        const VectorXd by_force = quadratic(v + w) - quadratic(v) - quadratic(w);
        EXPECT_LT((by_elements - by_tangent).norm(), 1e-12 * by_elements.norm());
        EXPECT_LT((by_elements - by_force).norm(), 1e-12 * by_elements.norm());
    }
}

// 3. on bases as they are used, at displacements as large as the body
TEST(Acceptance, PolynomialsEqualDirectEvaluationOnBasesOfModesAndDerivatives) {
    const FemModel model = bar();
    const Basis basis = derivative_basis(model, test::held(model), 8, 30);
    ASSERT_EQ(basis.size(), 30);
    const ReducedCoefficients all = combine(build_coefficients(model, basis.U), model.materials());
    for (const int r : {5, 15, 30}) {
        const auto polynomial = make_polynomial_force(all.truncated(r));
        const auto direct = make_direct_force(model, basis.U.leftCols(r));
        const auto polynomial_ws = polynomial->make_workspace();
        const auto direct_ws = direct->make_workspace();
        for (unsigned seed = 1; seed <= 4; ++seed) {
            VectorXd q = test::random_vector(r, seed);
            q *= 0.3 / (basis.U.leftCols(r) * q).cwiseAbs().maxCoeff();
            VectorXd R(r), R_direct(r);
            MatrixXd K(r, r), K_direct(r, r);
            polynomial->force_and_stiffness(q, R, K, *polynomial_ws);
            direct->force_and_stiffness(q, R_direct, K_direct, *direct_ws);
            EXPECT_LE((R - R_direct).norm(), 1e-10 * R_direct.norm()) << r;
            EXPECT_LE((K - K_direct).norm(), 1e-10 * K_direct.norm()) << r;
        }
    }
}

// 4. sizes of the published layout, and that of ours
TEST(Acceptance, CoefficientSizes) {
    const auto mebibytes = [](std::int64_t r) {
        const std::int64_t p = r * (r + 1) / 2;
        const std::int64_t numbers =
            r * (r * (r + 1) * (r + 2) / 6) + r * p + r * r + p * (p + r + 1);
        return 8.0 * static_cast<double>(numbers) / (1 << 20);
    };
    EXPECT_NEAR(mebibytes(12) * 1024, 98, 0.5);
    EXPECT_NEAR(mebibytes(15) * 1024, 223, 0.5);
    EXPECT_NEAR(mebibytes(30), 3.0, 0.05);
    EXPECT_NEAR(mebibytes(40), 9.2, 0.05);
    EXPECT_NEAR(mebibytes(60), 44.6, 0.05);
    for (const int r : {12, 30, 40}) {
        const bench::PublishedPolynomial published(test::random_coefficients(r, 1));
        EXPECT_EQ(static_cast<double>(published.num_bytes()), mebibytes(r) * (1 << 20)) << r;
        // all degrees, against the quartic ones alone: C(r + 3, 4)
        EXPECT_EQ(num_quartic(r) - num_quartic(r - 1), (r + 1) * (r + 2) * (r + 3) / 6);
    }
    EXPECT_EQ(num_quartic(29), 40920);
    EXPECT_EQ(num_quartic(60), 635376);
}

// 5. one derivative by two linear static problems, with the modes exchanged
TEST(Acceptance, DerivativesAreSymmetricAndBasesMassOrthonormal) {
    const FemModel model = bar();
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 4});
    const MatrixXd derivatives = modal_derivatives(model, constraints, modes);
    const VectorXd rest = VectorXd::Zero(model.num_unknowns());
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            VectorXd load(model.num_unknowns());
            model.hessian_contraction(rest, modes.shapes.col(j), modes.shapes.col(i), load);
            const VectorXd phi = solve_linear_static(model, constraints, -load);
            EXPECT_LT((derivatives.col(derivative_column(i, j)) - phi).norm(), 1e-9 * phi.norm())
                << i << ' ' << j;
        }
    const Basis basis = derivative_basis(model, constraints, 6, 25);
    ASSERT_EQ(basis.size(), 25);
    const MatrixXd gram = basis.U.transpose() * (mass_matrix(model) * basis.U);
    EXPECT_LT((gram - MatrixXd::Identity(25, 25)).cwiseAbs().maxCoeff(), 1e-12);
}

// 6. each alone and both, held and free
TEST(Acceptance, BasesDoNotDependOnTheScaleOfModulusAndDensity) {
    const Sparse M = mass_matrix(bar(1e6, 1));
    for (const bool is_free : {false, true}) {
        std::vector<MatrixXd> bases;
        for (const auto& [modulus, density] :
             {std::pair{1e6, 1000.0}, {7e8, 1000.0}, {1e6, 13.0}, {3e3, 5000.0}}) {
            const FemModel model = bar(modulus, density);
            const Constraints constraints =
                is_free ? Constraints(model.num_nodes()) : test::held(model);
            // mass-orthonormal for density 1
            bases.push_back(std::sqrt(density) * derivative_basis(model, constraints, 5, 9).U);
        }
        for (std::size_t i = 1; i < bases.size(); ++i) {
            const MatrixXd lost = bases[i] - bases[0] * (bases[0].transpose() * (M * bases[i]));
            // the sine of the largest angle between the subspaces; modes are found to 1e-8
            EXPECT_LT(std::sqrt((lost.transpose() * (M * lost)).trace()), 1e-6)
                << is_free << ' ' << i;
        }
    }
}

// 9. λ and μ of two regions changed at run time, against a model built with them
TEST(Acceptance, EditedMaterialsEqualARebuiltModel) {
    VolumeMesh mesh = bar_mesh();
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    for (int e = 0; e < mesh.num_elements(); e += 3) mesh.regions[e] = 1;
    const FemModel built(mesh, {isotropic(1e6, 0.3, 1000), isotropic(5e6, 0.2, 2000)});
    const std::vector<Material> edited{isotropic(3e6, 0.45, 700), isotropic(1e5, 0.1, 4000)};
    const FemModel rebuilt(mesh, edited);
    const MatrixXd U = derivative_basis(built, test::held(built), 5, 12).U;
    const ReducedCoefficients a = combine(build_coefficients(built, U), edited);
    const ReducedCoefficients b = combine(build_coefficients(rebuilt, U), edited);
    ASSERT_EQ(a.w.size(), b.w.size());
    const auto w_a = Eigen::Map<const VectorXd>(a.w.data(), static_cast<int>(a.w.size()));
    const auto w_b = Eigen::Map<const VectorXd>(b.w.data(), static_cast<int>(b.w.size()));
    EXPECT_LE((w_a - w_b).cwiseAbs().maxCoeff(), 1e-12 * w_b.cwiseAbs().maxCoeff());
    // and against the elements of the rebuilt model
    const auto polynomial = make_polynomial_force(a);
    const auto direct = make_direct_force(rebuilt, U);
    const VectorXd q = 0.01 * test::random_vector(12, 3);
    VectorXd R(12), R_direct(12);
    polynomial->force(q, R, *polynomial->make_workspace());
    direct->force(q, R_direct, *direct->make_workspace());
    EXPECT_LE((R - R_direct).norm(), 1e-10 * R_direct.norm());
}

/// A free body small enough for dense matrices.
struct FreeBody {
    FemModel model{hex_box(3, 1, 2, Box(Vector3d::Zero(), Vector3d(0.6, 0.11, 0.23))),
                   {isotropic(1e6, 0.3, 1000)}};
    Constraints none{model.num_nodes()};
    LinearModes modes = compute_modes(model, none, {.num_modes = 4});
    Sparse M = mass_matrix(model);
    Sparse K = tangent(model, VectorXd::Zero(model.num_unknowns()));

    /// −(H : Ψ^j) Ψ^i.
    [[nodiscard]] VectorXd load(int i, int j) const {
        VectorXd b(model.num_unknowns());
        model.hessian_contraction(VectorXd::Zero(b.size()), modes.shapes.col(j),
                                  modes.shapes.col(i), b);
        return -b;
    }
};
/// Minimal residuals for symmetric matrices, indefinite or singular: Lanczos and plane rotations.
VectorXd minres(MatrixXd A, const VectorXd& b) {
    // scaled by the sizes of columns: fewer iterations
    const VectorXd scale = A.colwise().norm().cwiseSqrt().cwiseInverse();
    A = scale.asDiagonal() * A * scale.asDiagonal();
    VectorXd v = scale.cwiseProduct(b), v_last = VectorXd::Zero(b.size());
    VectorXd x = v_last, w = v_last, w_last = v_last;
    double beta = v.norm(), residual = beta, c = 1, c_last = 1, s = 0, s_last = 0;
    const double limit = 1e-13 * beta;
    v /= beta;
    for (int k = 0; k < 2000 && std::abs(residual) > limit; ++k) {
        VectorXd next = A * v - beta * v_last;
        const double alpha = v.dot(next);
        next -= alpha * v;
        const double beta_next = next.norm();
        // the new column of the tridiagonal matrix, rotated
        const double diagonal = c * alpha - c_last * s * beta;
        const double rotated = std::hypot(diagonal, beta_next);
        const double second = s * alpha + c_last * c * beta, third = s_last * beta;
        c_last = std::exchange(c, diagonal / rotated);
        s_last = std::exchange(s, beta_next / rotated);
        const VectorXd w_next = (v - third * w_last - second * w) / rotated;
        w_last = std::exchange(w, w_next);
        x += c * residual * w;
        residual *= -s;
        v_last = std::exchange(v, next / beta_next);
        beta = beta_next;
    }
    return scale.cwiseProduct(x);
}

// derivatives of a free body by the published way: MINRES on the regularised systems
TEST(Acceptance, FreeDerivativesEqualThoseByMinres) {
    const FreeBody body;
    const int k = body.modes.size();
    const MatrixXd retaining = inertia_retaining_derivatives(body.model, body.modes);
    const MatrixXd relief = modal_derivatives(body.model, body.none, body.modes);
    const MatrixXd& rigid = body.modes.rigid;
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) {
            // (K − λ M + (MΨ)(MΨ)ᵀ) Φ = (I − MΨΨᵀ) b, rigid part taken out
            const VectorXd psi = body.modes.shapes.col(i), m_psi = body.M * psi;
            const VectorXd b = body.load(i, j);
            MatrixXd A = MatrixXd(body.K) - body.modes.eigenvalues[i] * MatrixXd(body.M);
            // the size of the regulariser is free; of that of A
            A += A.norm() / m_psi.squaredNorm() * m_psi * m_psi.transpose();
            MatrixXd phi = minres(A, b - m_psi * psi.dot(b));
            remove_rigid(rigid, body.M, phi);
            EXPECT_LT((phi - retaining.col(i * k + j)).norm(), 1e-6 * phi.norm()) << i << ' ' << j;
            // K Φ = (I − M Ψ_R Ψ_Rᵀ) b: singular but consistent
            MatrixXd relieved =
                minres(MatrixXd(body.K), b - body.M * (rigid * (rigid.transpose() * b)));
            remove_rigid(rigid, body.M, relieved);
            EXPECT_LT((relieved - relief.col(derivative_column(i, j))).norm(),
                      1e-6 * relieved.norm())
                << i << ' ' << j;
        }
}

// along mode m the two forms are b_m / λ_m and b_m / (λ_m − λ_i): alike where mode m is far stiffer
TEST(Acceptance, BothFormsOfFreeDerivativesAnswerTheSameModalLoads) {
    const FreeBody body;
    const SymmetricEigen dense = symmetric_eigen(MatrixXd(body.K), MatrixXd(body.M));
    const int k = body.modes.size();
    const MatrixXd retaining = inertia_retaining_derivatives(body.model, body.modes);
    const MatrixXd relief = modal_derivatives(body.model, body.none, body.modes);
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) {
            const double lambda_i = body.modes.eigenvalues[i];
            const VectorXd b = dense.vectors.transpose() * body.load(i, j);
            const MatrixXd MV = body.M * dense.vectors;
            const VectorXd of_relief = MV.transpose() * relief.col(derivative_column(i, j));
            const VectorXd of_retaining = MV.transpose() * retaining.col(i * k + j);
            for (Eigen::Index m = 6; m < b.size(); ++m) {
                const double lambda = dense.values[m];
                EXPECT_NEAR(lambda * of_relief[m], b[m], 1e-8 * b.norm());
                const double gap = m == 6 + i ? 0 : lambda - lambda_i;
                EXPECT_NEAR(gap * of_retaining[m], m == 6 + i ? 0 : b[m], 1e-6 * b.norm());
                if (lambda > 100 * lambda_i) {
                    EXPECT_NEAR(of_relief[m], of_retaining[m],
                                0.011 * std::abs(of_relief[m]) + 1e-8 * of_relief.norm());
                }
            }
        }
}

// modes and derivatives together hold the static response up to its third order
TEST(Acceptance, ReducedEquilibriaMeetFullOnesToThirdOrder) {
    const FemModel model = bar();
    const Constraints constraints = test::held(model);
    const Sparse M = mass_matrix(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 3});
    MatrixXd all(model.num_unknowns(), 9);
    all << modes.shapes, modal_derivatives(model, constraints, modes);
    const MatrixXd U = mass_gram_schmidt(all, M);
    ASSERT_EQ(U.cols(), 9);
    const VectorXd direction = VectorXd::LinSpaced(3, 1.0, -0.5);
    const double largest = (modes.shapes * direction).cwiseAbs().maxCoeff();
    std::vector<double> errors, linear_errors;
    for (const double size : {0.04, 0.02, 0.01}) {
        const VectorXd p = size * 0.6 / largest * direction;
        const VectorXd f = M * (modes.shapes * modes.eigenvalues.cwiseProduct(p));
        const StaticResult exact = solve_static(model, constraints, f, {.tolerance = 1e-12});
        ASSERT_TRUE(exact.has_converged()) << exact.message;
        const double length = mass_norm(M, exact.u);
        errors.push_back(mass_norm(M, reduced_static(model, U, f) - exact.u) / length);
        linear_errors.push_back(mass_norm(M, reduced_static(model, modes.shapes, f) - exact.u) /
                                length);
    }
    // relative to u one order less
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.2);
    EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2.0, 0.2);
    // modes alone lock almost at once
    EXPECT_GT(linear_errors[2], 1000 * errors[2]);
}

// a slender bar bent over by its tip: derivatives lock, a sketch of the gesture does not
TEST(Acceptance, SketchReachesWhereDerivativesLock) {
    const FemModel model(hex_box(16, 2, 2, Box(Vector3d::Zero(), Vector3d(1.6, 0.1, 0.1))),
                         {isotropic(1e6, 0.3, 1000)});
    const Constraints constraints = test::held(model);
    const int tip = test::vertices_where(model.mesh(), [](const Vector3d& x) {
                        return (x - Vector3d(1.6, 0.05, 0.05)).norm() < 1e-9;
                    }).at(0);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 10});
    std::vector<SketchLoad> loads;
    for (int i = 1; i <= 40; ++i) loads.push_back({{tip}, {Vector3d(0, -5 * i, 0)}});
    const Sketch sketch = solve_sketch(model, constraints, modes, loads);
    ASSERT_GE(sketch.shapes.cols(), 6);
    // a load between those recorded
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    f[3 * tip + 1] = -153.1;
    const StaticResult exact = solve_static(model, constraints, f);
    ASSERT_TRUE(exact.has_converged());
    const double depth = exact.u[3 * tip + 1];
    EXPECT_LT(depth, -0.9 * 1.6);
    const MatrixXd by_sketch = mass_pca(sketch.shapes, mass_matrix(model), 6).U;
    const MatrixXd by_derivatives = derivative_basis(model, constraints, 6, 12).U;
    EXPECT_NEAR(reduced_static(model, by_sketch, f)[3 * tip + 1] / depth, 1.0, 0.002);
    EXPECT_LT(reduced_static(model, by_derivatives, f)[3 * tip + 1] / depth, 0.95);
}

/// The reference bar in vibration after a sudden load: displacements every 5 ms.
MatrixXd full_motion(const FemModel& model, const Constraints& constraints, const VectorXd& f,
                     int num_steps) {
    ImplicitDynamics dynamics(model, constraints,
                              {.max_iterations = 10, .cg = {.tolerance = 1e-10}});
    FemState state = dynamics.make_state();
    dynamics.set_acceleration(state, f);
    MatrixXd motion(model.num_unknowns(), num_steps);
    for (int i = 0; i < num_steps; ++i) {
        EXPECT_EQ(dynamics.step(state, f, 5e-3).status, StepStatus::Ok);
        motion.col(i) = state.u;
    }
    return motion;
}
MatrixXd reduced_motion(const ReducedDynamics& dynamics, const VectorXd& f_r, int num_steps) {
    ReducedState state = dynamics.make_state();
    const auto ws = dynamics.make_workspace();
    dynamics.set_acceleration(state, f_r, *ws);
    MatrixXd motion(dynamics.size(), num_steps);
    for (int i = 0; i < num_steps; ++i) {
        EXPECT_EQ(dynamics.step(state, f_r, 5e-3, *ws).status, StepStatus::Ok);
        motion.col(i) = state.q;
    }
    return motion;
}

// a motion simulated again in the subspace of its own snapshots
TEST(Acceptance, SnapshotsResimulateTheirMotion) {
    const FemModel model(test::reference_bar(), {isotropic(2e5, 0.3, 1000)});
    const Constraints constraints = test::held(model);
    const Sparse M = mass_matrix(model);
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    for (const int node :
         test::vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() > 0.79; }))
        f.segment<3>(3 * node) = Vector3d(0, -4, 1);
    const int num_steps = 200;
    const MatrixXd full = full_motion(model, constraints, f, num_steps);
    SnapshotRecorder recorder(model, constraints, 0.02);
    for (int i = 0; i < num_steps; ++i) recorder.record(5e-3 * (i + 1), full.col(i));
    ASSERT_EQ(recorder.size(), 50);
    const auto error = [&](const MatrixXd& U) {
        const MatrixXd q =
            reduced_motion(reduced(model, U, {.max_iterations = 10}), U.transpose() * f, num_steps);
        double largest = 0, size = 0;
        for (int i = 0; i < num_steps; ++i) {
            largest = std::max(largest, mass_norm(M, U * q.col(i) - full.col(i)));
            size = std::max(size, mass_norm(M, full.col(i)));
        }
        return largest / size;
    };
    const double by_snapshots = error(mass_pca(recorder.shapes(), M, 10).U);
    const double by_derivatives = error(derivative_basis(model, constraints, 6, 10).U);
    const double by_modes = error(compute_modes(model, constraints, {.num_modes = 10}).shapes);
    EXPECT_LT(by_snapshots, 0.01);
    EXPECT_LT(by_derivatives, 0.1);
    EXPECT_LT(3 * by_snapshots, by_derivatives);
    // ten linear modes hold the bar nearly still
    EXPECT_GT(by_modes, 0.5);
}

}  // namespace
}  // namespace pliant
