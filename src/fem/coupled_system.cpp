#include "fem/coupled_system.h"

#include "fem/lanczos.h"
#include "geometry/option_check.h"

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;
using RowMatrix = CoupledSystem::RowMatrix;
using Triplets = std::vector<Eigen::Triplet<double>>;

bool holds_whole_nodes(const Constraints& constraints) {
    for (int node = 0; node < constraints.num_nodes(); ++node)
        for (int axis = 1; axis < 3; ++axis)
            if (constraints.is_prescribed(node, axis) != constraints.is_prescribed(node, 0))
                return false;
    return true;
}

/// A ⊗ I₃.
Matrix for_components(const Matrix& A) {
    Triplets entries;
    entries.reserve(3 * static_cast<std::size_t>(A.nonZeros()));
    for (int j = 0; j < A.outerSize(); ++j)
        for (Matrix::InnerIterator it(A, j); it; ++it)
            for (int c = 0; c < 3; ++c)
                entries.emplace_back(3 * static_cast<int>(it.row()) + c, 3 * j + c, it.value());
    Matrix result(3 * A.rows(), 3 * A.cols());
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

/// The part of T that moves components x: T = result ⊗ I₃ where whole nodes are held.
Matrix of_first_component(const Matrix& T) {
    Triplets entries;
    for (int j = 0; j < T.outerSize(); j += 3)
        for (Matrix::InnerIterator it(T, j); it; ++it)
            entries.emplace_back(static_cast<int>(it.row()) / 3, j / 3, it.value());
    Matrix result(T.rows() / 3, T.cols() / 3);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

/// y = (A ⊗ I₃) x for a symmetric A.
void multiply_components(const Matrix& A, const VectorXd& x, VectorXd& y) noexcept {
    for (int j = 0; j < A.outerSize(); ++j) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (Matrix::InnerIterator it(A, j); it; ++it)
            sum += it.value() * x.segment<3>(3 * it.row());
        y.segment<3>(3 * j) = sum;
    }
}

/// A lumped quantity, handed from the hanging nodes to their masters.
VectorXd folded_lumps(const VolumeMesh& mesh, VectorXd lumps) {
    for (const HangingNode& h : mesh.hanging) {
        for (int m = 0; m < h.num_masters; ++m)
            lumps.segment<3>(3 * h.masters[m]) += h.weight * lumps.segment<3>(3 * h.vertex);
        lumps.segment<3>(3 * h.vertex).setZero();
    }
    return lumps;
}

bool is_used(const Matrix& A) { return A.nonZeros() > 0; }

}  // namespace

CoupledSystem::CoupledSystem(const FemModel& model, const Constraints& constraints,
                             const CoupledOptions& options)
    : system_(model, constraints),
      hanging_(model.mesh().hanging),
      T_by_rows_(system_.T()),
      is_scalar_(holds_whole_nodes(constraints) && !options.damping.has_stiffness_part()) {
    std::vector<char> is_hanging(static_cast<std::size_t>(model.num_nodes()), 0);
    for (const HangingNode& h : hanging_) is_hanging[h.vertex] = 1;
    for (int i = 0; i < model.num_unknowns(); ++i)
        if (!is_hanging[i / 3])
            (constraints.is_prescribed(i / 3, i % 3) ? prescribed_ : free_).push_back(i);
    product_ = prescribed_motion_ = VectorXd::Zero(model.num_unknowns());

    build_matrices(model, options);
    build_factors(model, options);
    stable_step_ = find_stable_step(model);
    if (options.largest_step > stable_step_) {
        std::ostringstream value, limit;
        value << options.largest_step;
        limit << "at most " << stable_step_ << " s, the stability limit 2/ω of the body at rest";
        throw InputError("", "largest_step", value.str(), limit.str());
    }
}

void CoupledSystem::build_matrices(const FemModel& model, const CoupledOptions& options) {
    const VolumeMesh& mesh = model.mesh();
    const Damping& damping = options.damping;
    mass_ = drag_ = VectorXd::Zero(model.num_unknowns());
    if (options.has_consistent_mass)
        M_nodes_ = node_mass_matrix(model);
    else
        mass_ = folded_lumps(mesh, lumped_mass(model, options.lumping));
    drag_ = damping.mass * mass_;
    if (options.has_lumped_drag)
        drag_ += folded_lumps(mesh, pliant::lumped_drag(model, options.lumping));

    const bool has_drag =
        std::ranges::any_of(model.materials(), [](const Material& m) { return m.viscosity != 0; });
    Matrix D_nodes(model.num_nodes(), model.num_nodes());
    if (has_drag && !options.has_lumped_drag) D_nodes = node_drag_matrix(model);
    if (options.has_consistent_mass && damping.mass != 0)
        D_nodes = Matrix(D_nodes + damping.mass * M_nodes_);

    if (!damping.has_stiffness_part()) {
        D_nodes_.swap(D_nodes);
        return;
    }
    const VectorXd at_rest = VectorXd::Zero(model.num_unknowns());
    Matrix K = model.make_matrix(), D = model.make_matrix();
    model.tangent(at_rest, K);
    Damping stiffness_part = damping;
    stiffness_part.is_tangential = false;
    add_damping_matrix(model, stiffness_part, at_rest, K, D);
    if (is_used(D_nodes)) D = Matrix(D + for_components(D_nodes));
    D_unknowns_.swap(D);
}

Matrix CoupledSystem::folded(const Matrix& of_nodes, const Matrix& of_unknowns,
                             const VectorXd& diagonal) const {
    const auto n = static_cast<int>(is_scalar_ ? free_.size() / 3 : free_.size());
    Matrix result(n, n);
    for (int k = 0; k < n; ++k) result.insert(k, k) = diagonal[free_[is_scalar_ ? 3 * k : k]];
    const Matrix T = is_scalar_ ? of_first_component(system_.T()) : system_.T();
    if (is_used(of_nodes)) {
        const Matrix A = is_scalar_ ? of_nodes : for_components(of_nodes);
        result = Matrix(result + Matrix(T.transpose() * A * T));
    }
    if (is_used(of_unknowns)) result = Matrix(result + Matrix(T.transpose() * of_unknowns * T));
    return result;
}

void CoupledSystem::build_factors(const FemModel& model, const CoupledOptions& options) {
    // the nodes' order of elimination, in the numbering of the factors
    const std::vector<int> held = system_.constraints().held_nodes();
    std::vector<int> number(static_cast<std::size_t>(model.num_unknowns()), -1);
    for (int k = 0; k < num_free(); ++k) number[free_[k]] = k;
    std::vector<int> order;
    for (const int node : elimination_order(model.mesh(), held, options.ordering))
        for (int c = 0; c < (is_scalar_ ? 1 : 3); ++c)
            if (const int k = number[3 * node + c]; k >= 0) order.push_back(is_scalar_ ? k / 3 : k);

    steps_ =
        std::make_unique<StepSet>(folded(M_nodes_, {}, mass_), folded(D_nodes_, D_unknowns_, drag_),
                                  order, options.largest_step, options.num_steps, options.solver);
    if (is_scalar_) by_component_ = Eigen::MatrixXd::Zero(num_free() / 3, 3 * kMaxColumns);
}

double CoupledSystem::find_stable_step(const FemModel& model) {
    const VectorXd at_rest = VectorXd::Zero(model.num_unknowns());
    VectorXd x = at_rest, Kx = at_rest;
    const double square = largest_eigenvalue(
        num_free(),
        [&](const VectorXd& x_free, VectorXd& Kx_free) {
            scatter(x_free, x);
            model.tangent_product(at_rest, x, Kx);
            fold(Kx, Kx_free);
        },
        [&](VectorXd& x_free) { solve_mass(x_free); });
    return square > 0 ? 2 / std::sqrt(square) : std::numeric_limits<double>::infinity();
}

void CoupledSystem::follow(VectorXd& x) const noexcept {
    for (const HangingNode& h : hanging_) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int m = 0; m < h.num_masters; ++m) sum += x.segment<3>(3 * h.masters[m]);
        x.segment<3>(3 * h.vertex) = h.weight * sum;
    }
}

void CoupledSystem::scatter(const ConstRef& x_free, VectorXd& x) const noexcept {
    for (int k = 0; k < num_free(); ++k) x[free_[k]] = x_free[k];
    follow(x);
}

void CoupledSystem::subtract_damping(const VectorXd& v, VectorXd& f) noexcept {
    f.array() -= drag_.array() * v.array();
    if (is_used(D_nodes_)) {
        multiply_components(D_nodes_, v, product_);
        f -= product_;
    }
    if (is_used(D_unknowns_)) {
        product_.noalias() = D_unknowns_ * v;
        f -= product_;
    }
}

void CoupledSystem::subtract_prescribed_inertia(const VectorXd& a, VectorXd& f) noexcept {
    // lumped masses couple nothing
    if (!is_used(M_nodes_)) return;
    bool is_moving = false;
    for (const int i : prescribed_) {
        prescribed_motion_[i] = a[i];
        is_moving = is_moving || a[i] != 0;
    }
    if (!is_moving) return;
    follow(prescribed_motion_);
    multiply_components(M_nodes_, prescribed_motion_, product_);
    f -= product_;
}

template <class Solve>
void CoupledSystem::solve_by_components(MatrixRef b_free, const Solve& solve) {
    if (!is_scalar_) {
        solve(b_free);
        return;
    }
    // (x, y, z) of a node side by side → one column per component
    const auto num_nodes = by_component_.rows();
    for (Eigen::Index j = 0; j < b_free.cols(); ++j)
        for (Eigen::Index k = 0; k < num_nodes; ++k)
            for (int c = 0; c < 3; ++c) by_component_(k, 3 * j + c) = b_free(3 * k + c, j);
    solve(by_component_.leftCols(3 * b_free.cols()));
    for (Eigen::Index j = 0; j < b_free.cols(); ++j)
        for (Eigen::Index k = 0; k < num_nodes; ++k)
            for (int c = 0; c < 3; ++c) b_free(3 * k + c, j) = by_component_(k, 3 * j + c);
}

void CoupledSystem::solve(int i, MatrixRef b_free) {
    solve_by_components(b_free, [&](MatrixRef b) { steps_->solve(i, b); });
}

void CoupledSystem::solve_mass(MatrixRef b_free) {
    solve_by_components(b_free, [&](MatrixRef b) { steps_->solve_mass(b); });
}

double CoupledSystem::kinetic_energy(const VectorXd& v) noexcept {
    double twice = (mass_.array() * v.array().square()).sum();
    if (is_used(M_nodes_)) {
        multiply_components(M_nodes_, v, product_);
        twice += v.dot(product_);
    }
    return 0.5 * twice;
}

}  // namespace pliant
