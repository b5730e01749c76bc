#include "pliant/reduction/modes.h"

#include "pliant/core/error.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/mass.h"
#include "reduction/block_lanczos.h"
#include "reduction/rigid_motions.h"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// The entry of largest size is positive, so that runs and machines agree.
void fix_signs(MatrixXd& shapes) {
    for (Eigen::Index j = 0; j < shapes.cols(); ++j) {
        Eigen::Index largest = 0;
        shapes.col(j).cwiseAbs().maxCoeff(&largest);
        if (shapes(largest, j) < 0) shapes.col(j) *= -1;
    }
}

void check(const FemModel& model, const Constraints& constraints, const ModeOptions& options,
           bool is_free, int num_unknowns) {
    if (model.mesh().num_elements() == 0) throw InputError("", "the mesh has no elements");
    const int largest = std::max(num_unknowns / 10, 1);
    if (options.num_modes < 1 || options.num_modes > largest)
        throw InputError("", "num_modes", std::to_string(options.num_modes),
                         "1 to " + std::to_string(largest) +
                             ", a tenth of the unknowns: higher modes are artefacts of the mesh");
    if (!(options.tolerance > 0) || options.tolerance >= 1)
        throw InputError("", "tolerance", std::to_string(options.tolerance), "0 < value < 1");
    if (!is_free) {
        check_supported(model.mesh(), constraints);
        return;
    }
    const FreeMotions motions = free_rigid_motions(model.mesh(), constraints);
    if (!motions.is_whole_body)
        throw InputError("",
                         "the mesh has several parts that move independently; keep the largest "
                         "(pliant mesh does) or hold each of them");
}

/// Of the lowest bending of a slender body, by its longest side and stiffest material.
double typical_eigenvalue(const FemModel& model) {
    double speed_squared = 0;
    for (const Material& material : model.materials())
        speed_squared = std::max(speed_squared, material.youngs_modulus() / material.density);
    Eigen::AlignedBox3d box;
    for (const Eigen::Vector3d& x : model.mesh().vertices) box.extend(x);
    return 0.1 * speed_squared / box.sizes().squaredNorm();
}

bool has_conditions(const Constraints& constraints) {
    for (int node = 0; node < constraints.num_nodes(); ++node)
        for (int axis = 0; axis < 3; ++axis)
            if (constraints.is_prescribed(node, axis)) return true;
    return false;
}

}  // namespace

double LinearModes::frequency(int mode) const noexcept {
    return std::sqrt(std::max(eigenvalues[mode], 0.0)) / (2 * std::numbers::pi);
}

LinearModes compute_modes(const FemModel& model, const Constraints& constraints,
                          const ModeOptions& options, Progress& progress) {
    const bool is_free = !has_conditions(constraints);
    const FreeSystem system(model, constraints);
    check(model, constraints, options, is_free, system.num_unknowns());

    progress.stage("stiffness and mass");
    Sparse K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    const Sparse M_all = mass_matrix(model);
    Sparse K_free = system.make_matrix(), M_free = system.make_matrix();
    auto ws = system.make_workspace();
    system.fold(K, K_free, ws);
    system.fold(M_all, M_free, ws);

    LinearModes modes;
    MatrixXd rigid(K_free.rows(), 0);
    double shift = 0;
    if (is_free) {
        modes.rigid = rigid_motions(model.mesh(), M_all);
        rigid = free_rows(system, modes.rigid);
        // any positive shift makes K definite; one of the size of the lowest eigenvalue is best
        shift = typical_eigenvalue(model);
        K_free += shift * M_free;
    }

    progress.stage("factorisation");
    const auto solver = make_linear_solver(options.solver);
    if (const FactorResult factored = solver->factor(K_free); !factored.is_ok())
        throw InputError("", "the stiffness matrix cannot be factored (" +
                                 std::string(to_string(factored.status)) +
                                 "): an element or a joint has no stiffness; see pliant inspect");

    EigenPairs pairs =
        largest_eigenpairs([&](Eigen::Ref<MatrixXd> b) { solver->solve_in_place(b); }, M_free,
                           options.num_modes, options.tolerance, rigid, progress);
    modes.eigenvalues = pairs.values.cwiseInverse().array() - shift;
    modes.shapes = system.T() * pairs.vectors;
    fix_signs(modes.shapes);
    return modes;
}

}  // namespace pliant
