#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"
#include "pliant/fem/linear_solver.h"

namespace pliant {

/// Free vibrations of a body at rest, K ψ = λ M ψ with the consistent mass M, docs/reduction.md
/// eq. (1). Shapes have all 3n rows, hanging and fixed nodes included; ΨᵀMΨ = I.
struct LinearModes {
    Eigen::VectorXd eigenvalues;  ///< λ = ω² [1/s²] of the elastic modes, ascending
    Eigen::MatrixXd shapes;       ///< 3n × k, one elastic mode per column, eigenvalues' order
    Eigen::MatrixXd rigid;  ///< 3n × 6 rigid motions of a free body, mass-orthonormal; or none

    [[nodiscard]] int size() const noexcept { return static_cast<int>(eigenvalues.size()); }
    [[nodiscard]] bool is_free() const noexcept { return rigid.cols() > 0; }
    [[nodiscard]] double frequency(int mode) const noexcept;  ///< [Hz]
};

struct ModeOptions {
    int num_modes = 20;       ///< elastic ones
    double tolerance = 1e-8;  ///< relative residual |K ψ − λ M ψ| / (λ |M ψ|)
    SolverKind solver = SolverKind::Auto;
};

/// The lowest elastic modes. Without any condition the body is free: its six rigid motions are
/// taken out exactly. Signs and, within clusters, directions are fixed by a rule, so that runs
/// agree. Throws InputError for a partly supported body (naming the free motions; hold it or free
/// it), for a mesh in several parts, and for more modes than a tenth of the unknowns.
[[nodiscard]] LinearModes compute_modes(const FemModel& model, const Constraints& constraints,
                                        const ModeOptions& options = {},
                                        Progress& progress = Progress::none());

}  // namespace pliant
