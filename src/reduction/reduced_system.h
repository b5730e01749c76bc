#pragma once

#include "pliant/reduction/reduced_dynamics.h"
#include "reduction/symmetric_solver.h"

#include <Eigen/Cholesky>

namespace pliant {

constexpr int kMaxHeldRows = 12;

/// What ReducedDynamics knows of its body.
struct ReducedSystem {
    std::shared_ptr<const ReducedForce> force;
    Eigen::MatrixXd mass;
    Eigen::LLT<Eigen::MatrixXd> mass_factor;
    ReducedOptions options;
    Eigen::MatrixXd K_rest;
    double explicit_limit = 0;

    [[nodiscard]] int size() const noexcept { return static_cast<int>(mass.rows()); }
};
struct ReducedDynamics::Impl : ReducedSystem {};

struct ReducedScratch final : ReducedDynamics::Workspace {
    explicit ReducedScratch(const ReducedSystem& m);

    std::unique_ptr<ReducedForce::Workspace> force;
    SymmetricSolver solver;
    ReducedState start, now;
    Eigen::VectorXd f, R, residual, product, change;
    Eigen::MatrixXd K;       ///< stiffness
    Eigen::MatrixXd D;       ///< damping, where there is viscosity
    Eigen::VectorXd pairs;   ///< of the viscosity
    Eigen::MatrixXd X;       ///< loads and solutions, one for each column
    Eigen::MatrixXd held;    ///< M⁻¹Cᵀ of positions held
    Eigen::VectorXd origin;  ///< q at the start of the whole step, where contact was found
    double force_scale = 1;  ///< below 1 where the acceleration limit is reached
};

[[nodiscard]] bool is_finite(const ReducedState& s) noexcept;
void set_to_rest(ReducedState& s) noexcept;

/// All of the damping but α M: factor · matrix.
struct StiffnessDamping {
    const Eigen::MatrixXd& matrix;
    double factor;  ///< 0: none
};

/// Sets R and K of `q`.
void evaluate_force(const ReducedSystem& m, const Eigen::VectorXd& q, ReducedScratch& ws) noexcept;
[[nodiscard]] double elastic_energy(const ReducedSystem& m, const Eigen::VectorXd& q,
                                    ReducedScratch& ws) noexcept;
/// Sets R and K of `q`, and D where there is viscosity.
void evaluate(const ReducedSystem& m, const Eigen::VectorXd& q, ReducedScratch& ws) noexcept;
/// Of the shape last evaluated.
[[nodiscard]] StiffnessDamping stiffness_damping(const ReducedSystem& m,
                                                 const ReducedScratch& ws) noexcept;

/// What is wrong with the input of a step, before it starts; copies the load.
struct StepInput {
    StepStatus status = StepStatus::Ok;
    bool is_possible = true;
};
[[nodiscard]] StepInput take_input(const ReducedSystem& m, ReducedState& s,
                                   const ReducedDynamics::ConstRef& f, double dt,
                                   ReducedScratch& ws) noexcept;

}  // namespace pliant
