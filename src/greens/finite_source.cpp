#include "greens/finite_source.h"

#include "core/numbers.h"
#include "core/resource_use.h"
#include "fem/element_quadrature.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/loads.h"
#include "pliant/geometry/embedding.h"

#include <utility>

#include <Eigen/LU>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Springs that hold supports beside the mesh, over the mean stiffness of a vertex.
constexpr double kSupportStiffness = 1e6;

/// Hexahedra are accurate. Accurate tetrahedra average over the elements around edges and nodes, so
/// that the stiffness of parts of a body does not add up to that of the whole, as zones at seams
/// must: tetrahedra stay plain.
FemOptions parts_that_add_up(const VolumeMesh& mesh) {
    return {mesh.kind == ElementKind::Tet4 ? ElementFormulation::Plain
                                           : ElementFormulation::Accurate};
}

/// ∇φ_a in column a, at the centre of the element: where stresses are most accurate.
MatrixXd centre_gradients(const VolumeMesh& mesh, int element) {
    return with_element(mesh.kind, [&](auto num_nodes_constant) -> MatrixXd {
        constexpr int N = num_nodes_constant;
        const auto& reference = ReferenceElement<N>::get();
        // the mean of symmetric points is the value in their middle
        Eigen::Matrix<double, 3, N> gradients = Eigen::Matrix<double, 3, N>::Zero();
        for (const auto& at_point : reference.gradients) gradients += at_point / reference.kPoints;
        Matrix3d jacobian = Matrix3d::Zero();
        for (int a = 0; a < N; ++a)
            jacobian +=
                mesh.vertices[at(mesh.element(element)[at(a)])] * gradients.col(a).transpose();
        return jacobian.inverse().transpose() * gradients;
    });
}

/// Rows that take read-outs from the displacements of all vertices.
Eigen::SparseMatrix<double, Eigen::RowMajor> readout_rows(const FiniteProblem& problem,
                                                          const FemModel& model) {
    if (problem.readouts.empty()) return {0, model.num_unknowns()};
    std::vector<Vector3d> points;
    for (const GreensReadout& readout : problem.readouts) points.push_back(readout.position);
    const Embedding embedding(problem.mesh, points);
    std::vector<Eigen::Triplet<double>> entries;
    int row = 0;
    for (std::size_t i = 0; i < problem.readouts.size(); ++i) {
        const GreensReadout& readout = problem.readouts[i];
        if (readout.kind == ReadoutKind::Displacement) {
            for (int k = embedding.start()[i]; k < embedding.start()[i + 1]; ++k)
                for (int axis = 0; axis < 3; ++axis)
                    entries.emplace_back(row + axis, 3 * embedding.vertices()[at(k)] + axis,
                                         embedding.weights()[at(k)]);
        } else {
            const int element = embedding.elements()[i];
            const MatrixXd gradients = centre_gradients(problem.mesh, element);
            for (int a = 0; a < gradients.cols(); ++a)
                for (int axis = 0; axis < 3; ++axis) {
                    // the law is linear: the stress of a unit displacement is a column of its rows
                    Matrix3d F = Matrix3d::Identity();
                    F.row(axis) += gradients.col(a).transpose();
                    const Matrix3d s = stress(model.material_of(element), F);
                    const int column = 3 * problem.mesh.element(element)[at(a)] + axis;
                    const double voigt[] = {s(0, 0), s(1, 1), s(2, 2), s(1, 2), s(2, 0), s(0, 1)};
                    for (int k = 0; k < 6; ++k) entries.emplace_back(row + k, column, voigt[k]);
                }
        }
        row += readout.num_values();
    }
    if (embedding.num_outside() > 0)
        throw InputError("", "readouts lie outside the finite elements: " +
                                 std::to_string(embedding.num_outside()) +
                                 " of the points; move them "
                                 "inside, or use a finer mesh");
    Eigen::SparseMatrix<double, Eigen::RowMajor> rows(row, model.num_unknowns());
    rows.setFromTriplets(entries.begin(), entries.end());
    return rows;
}

}  // namespace

FiniteElementSource::FiniteElementSource(FiniteProblem problem)
    : problem_(std::move(problem)),
      model_(problem_.mesh, problem_.materials, parts_that_add_up(problem_.mesh)) {
    readouts_ = readout_rows(problem_, model_);
    unknown_of_.assign(at(model_.num_unknowns()), 0);
    for (std::size_t node = 0; node < problem_.vertices.size(); ++node)
        if (problem_.kinds[node] == NodeKind::Fixed && !problem_.places)
            for (int axis = 0; axis < 3; ++axis)
                unknown_of_[at(3 * problem_.vertices[node] + axis)] = -1;
    for (int& unknown : unknown_of_)
        if (unknown == 0) unknown = num_unknowns_++;
}

void FiniteElementSource::prepare(Progress& progress) {
    progress.stage("stiffness matrix");
    const FemModel::Matrix K_free = assemble();
    progress.stage("factorisation");
    const SecondsOfScope scope(factor_seconds_);
    solver_ = make_linear_solver();
    const FactorResult factored = solver_->factor(K_free);
    if (factored.is_ok()) return;
    throw InputError(
        "", "the stiffness matrix cannot be factored: " + std::string(to_string(factored.status)) +
                (factored.status == FactorStatus::OutOfMemory
                     ? "; lower the resolution"
                     : "; hold more of the body, or repair loose parts of its mesh"));
}

FemModel::Matrix FiniteElementSource::assemble() {
    const SecondsOfScope scope(assembly_seconds_);
    K_ = model_.make_matrix();
    model_.tangent(VectorXd::Zero(model_.num_unknowns()), K_);
    Constraints constraints(model_.num_nodes());
    std::vector<int> held;
    for (std::size_t node = 0; node < problem_.vertices.size(); ++node)
        if (problem_.kinds[node] == NodeKind::Fixed) held.push_back(problem_.vertices[node]);
    constraints.fix(held);
    check_supported(model_.mesh(), constraints);
    if (problem_.places) {
        spring_ = kSupportStiffness * K_.diagonal().mean();
        return with_springs();
    }
    const FreeSystem system(model_, constraints);
    FreeSystem::Workspace workspace = system.make_workspace();
    FemModel::Matrix K_free = system.make_matrix();
    system.fold(K_, K_free, workspace);
    return K_free;
}

template <class Visit>
void FiniteElementSource::each_vertex(int node, const Visit& visit) const {
    const Embedding& places = *problem_.places;
    for (int k = places.start()[at(node)]; k < places.start()[at(node + 1)]; ++k)
        visit(places.vertices()[at(k)], places.weights()[at(k)]);
}

/// K + k W_fᵀW_f: weights of a node are of one element, whose entries are there.
FemModel::Matrix FiniteElementSource::with_springs() const {
    FemModel::Matrix K = K_;
    for (int node = 0; node < num_nodes(); ++node)
        if (problem_.kinds[at(node)] == NodeKind::Fixed)
            each_vertex(node, [&](int i, double w_i) {
                each_vertex(node, [&](int j, double w_j) {
                    for (int axis = 0; axis < 3; ++axis)
                        K.coeffRef(3 * i + axis, 3 * j + axis) += spring_ * w_i * w_j;
                });
            });
    return K;
}

template <class AddKnown, class SubtractLoad>
void FiniteElementSource::solve(MatrixXd& loads, Eigen::Ref<MatrixXd> values,
                                const AddKnown& add_known, const SubtractLoad& subtract_load) {
    solver_->solve_in_place(loads);
    parallel_ranges(at(static_cast<int>(loads.cols())), 4, [&](std::size_t begin, std::size_t end) {
        VectorXd u(model_.num_unknowns());
        for (Eigen::Index c = static_cast<Eigen::Index>(begin); c < static_cast<Eigen::Index>(end);
             ++c) {
            for (int i = 0; i < model_.num_unknowns(); ++i)
                u[i] = unknown_of_[at(i)] < 0 ? 0 : loads(unknown_of_[at(i)], c);
            add_known(c, u);
            for (int node = 0; node < num_nodes(); ++node) {
                if (problem_.places) {
                    Vector3d sum = Vector3d::Zero();
                    each_vertex(node, [&](int v, double weight) {
                        sum += weight * u.segment<3>(3 * v);
                    });
                    if (problem_.kinds[at(node)] == NodeKind::Fixed)
                        sum *= -spring_ / problem_.areas[at(node)];
                    values.col(c).segment<3>(3 * node) = sum;
                    continue;
                }
                const int first = 3 * problem_.vertices[at(node)];
                if (problem_.kinds[at(node)] == NodeKind::Free) {
                    values.col(c).segment<3>(3 * node) = u.segment<3>(first);
                    continue;
                }
                // tractions of the support, eq. (C4); rows of K are its columns
                for (int axis = 0; axis < 3; ++axis)
                    values(3 * node + axis, c) =
                        (K_.col(first + axis).dot(u) - subtract_load(c, first + axis)) /
                        problem_.areas[at(node)];
            }
            values.col(c).tail(num_readouts()) = readouts_ * u;
        }
    });
}

void FiniteElementSource::columns(std::span<const int> nodes, Eigen::Ref<MatrixXd> values) {
    const double one = 1;
    std::vector<SpreadKnown> single;
    for (const int& node : nodes) single.push_back({{&node, 1}, {&one, 1}});
    spread_columns(single, values);
}

/// Columns of nodes beside the mesh, eq. (C6).
void FiniteElementSource::spread_on_places(std::span<const SpreadKnown> spreads,
                                           Eigen::Ref<MatrixXd> values) {
    MatrixXd loads = MatrixXd::Zero(num_unknowns_, values.cols());
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
        const auto& [nodes, weights] = spreads[static_cast<std::size_t>(c / 3)];
        const int axis = static_cast<int>(c % 3);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const bool is_free = problem_.kinds[at(nodes[i])] == NodeKind::Free;
            const double load = weights[i] * (is_free ? problem_.areas[at(nodes[i])] : spring_);
            each_vertex(nodes[i],
                        [&](int v, double weight) { loads(3 * v + axis, c) += weight * load; });
        }
    }
    solve(
        loads, values, [](Eigen::Index, VectorXd&) {}, [](Eigen::Index, int) { return 0.0; });
    // springs of supports that are moved
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
        const auto& [nodes, weights] = spreads[static_cast<std::size_t>(c / 3)];
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (problem_.kinds[at(nodes[i])] == NodeKind::Fixed)
                values(3 * nodes[i] + c % 3, c) +=
                    spring_ * weights[i] / problem_.areas[at(nodes[i])];
    }
}

void FiniteElementSource::spread_columns(std::span<const SpreadKnown> spreads,
                                         Eigen::Ref<MatrixXd> values) {
    if (problem_.places) return spread_on_places(spreads, values);
    // visits the components of column c with their weights
    const auto each = [&](Eigen::Index c, auto&& visit) {
        const auto& [nodes, weights] = spreads[static_cast<std::size_t>(c / 3)];
        for (std::size_t i = 0; i < nodes.size(); ++i)
            visit(nodes[i], 3 * problem_.vertices[at(nodes[i])] + static_cast<int>(c % 3),
                  weights[i]);
    };
    MatrixXd loads = MatrixXd::Zero(num_unknowns_, values.cols());
    for (Eigen::Index c = 0; c < values.cols(); ++c)
        each(c, [&](int node, int i, double weight) {
            if (problem_.kinds[at(node)] == NodeKind::Free) {
                loads(unknown_of_[at(i)], c) = weight * problem_.areas[at(node)];  // eq. (C2)
            } else {
                for (FemModel::Matrix::InnerIterator k(K_, i); k; ++k)  // eq. (C3)
                    if (const int row = unknown_of_[at(static_cast<int>(k.row()))]; row >= 0)
                        loads(row, c) -= weight * k.value();
            }
        });
    solve(
        loads, values,
        [&](Eigen::Index c, VectorXd& u) {
            each(c, [&](int, int i, double weight) {
                if (unknown_of_[at(i)] < 0) u[i] = weight;
            });
        },
        [](Eigen::Index, int) { return 0.0; });
}

void FiniteElementSource::body_columns(Eigen::Ref<MatrixXd> values) {
    MatrixXd forces(model_.num_unknowns(), 3), loads(num_unknowns_, 3);
    for (int axis = 0; axis < 3; ++axis)
        forces.col(axis) = gravity_load(model_, Vector3d::Unit(axis));
    for (int i = 0; i < model_.num_unknowns(); ++i)
        if (unknown_of_[at(i)] >= 0) loads.row(unknown_of_[at(i)]) = forces.row(i);
    solve(
        loads, values, [](Eigen::Index, VectorXd&) {},
        [&](Eigen::Index c, int i) { return forces(i, c); });
}

}  // namespace pliant
