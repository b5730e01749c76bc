#pragma once

#include "fem/implicit_samples.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/basis.h"
#include "pliant/reduction/modal_derivatives.h"
#include "pliant/reduction/reduced_dynamics.h"

/// Small bodies in reduced coordinates.
namespace pliant::test {

/// The bar of implicit_samples.h of plain elements, held at one end, in a subspace of modes and
/// derivatives.
struct ReducedBar {
    FemModel model{bar().mesh(), bar().materials(), {ElementFormulation::Plain}};
    Constraints constraints = held(model);
    Eigen::SparseMatrix<double> M = mass_matrix(model);
    Eigen::MatrixXd U;
    ReducedCoefficients coefficients;
    std::shared_ptr<const ReducedForce> force;
    Eigen::VectorXd weight;  ///< load of gravity

    explicit ReducedBar(int r, int num_modes = 3) {
        const LinearModes modes = compute_modes(model, constraints, {.num_modes = num_modes});
        const Eigen::MatrixXd derivatives = modal_derivatives(model, constraints, modes);
        U = mass_pca(weighted_modes_and_derivatives(modes, derivatives, M), M, r).U;
        coefficients = combine(build_coefficients(model, U), model.materials());
        force = make_polynomial_force(coefficients);
        weight = U.transpose() * gravity_load(model, kGravity);
    }
    [[nodiscard]] ReducedDynamics dynamics(const ReducedOptions& options = {}) const {
        const int r = force->size();
        return {force, Eigen::MatrixXd::Identity(r, r), options};
    }
};

/// W = Σ ½ λ_i q_i² + ¼ κ_i q_i⁴.
inline std::shared_ptr<const ReducedForce> springs(const Eigen::VectorXd& lambda,
                                                   const Eigen::VectorXd& kappa) {
    const auto r = static_cast<int>(lambda.size());
    ReducedCoefficients c{r, std::vector<double>(static_cast<std::size_t>(num_quartic(r)))};
    for (int i = 1; i <= r; ++i) {
        c.w[static_cast<std::size_t>(quartic_index(0, 0, i, i))] = 0.5 * lambda[i - 1];
        c.w[static_cast<std::size_t>(quartic_index(i, i, i, i))] = 0.25 * kappa[i - 1];
    }
    return make_polynomial_force(c);
}
inline ReducedDynamics oscillator(double lambda, double kappa = 0,
                                  const ReducedOptions& options = {}) {
    return {springs(Eigen::VectorXd::Constant(1, lambda), Eigen::VectorXd::Constant(1, kappa)),
            Eigen::MatrixXd::Identity(1, 1), options};
}

/// All of `duration` in steps of dt from rest, under a load that starts with them.
inline ReducedState run(const ReducedDynamics& dynamics, const Eigen::VectorXd& f, double dt,
                        double duration) {
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    dynamics.set_acceleration(s, f, *ws);
    const auto steps = static_cast<int>(std::lround(duration / dt));
    for (int k = 0; k < steps; ++k)
        EXPECT_EQ(dynamics.step(s, f, dt, *ws).status, StepStatus::Ok) << "step " << k;
    return s;
}

}  // namespace pliant::test
