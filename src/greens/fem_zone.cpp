#include "pliant/greens/fem_zone.h"

#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/loads.h"

#include <cassert>
#include <string>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kFixedComponent = -1;

}  // namespace

struct FemZone::Solver {
    std::unique_ptr<LinearSolver> inner;
    FemModel::Matrix K;
};

FemZone::~FemZone() = default;

FemZone::FemZone(FemModel model, std::vector<int> seam, std::vector<int> fixed)
    : model_(std::move(model)), seam_(std::move(seam)), solver_(std::make_unique<Solver>()) {
    if (seam_.empty()) throw InputError("", "a zone of finite elements needs seam vertices");
    if (!model_.mesh().hanging.empty())
        throw InputError("", "a zone of finite elements needs a mesh without hanging vertices");
    // seam components are −2 − their place
    place_.assign(at(model_.num_unknowns()), 0);
    const auto claim = [&](int vertex, int first) {
        if (vertex < 0 || vertex >= model_.num_nodes())
            throw InputError("", "vertex " + std::to_string(vertex) +
                                     " of a zone is not there; its mesh has " +
                                     std::to_string(model_.num_nodes()));
        if (place_[at(3 * vertex)] != 0)
            throw InputError("", "vertex " + std::to_string(vertex) +
                                     " of a zone is twice among its seam and fixed vertices");
        for (int axis = 0; axis < 3; ++axis)
            place_[at(3 * vertex + axis)] = first == kFixedComponent ? first : first - axis;
    };
    for (std::size_t k = 0; k < seam_.size(); ++k) {
        claim(seam_[k], -2 - 3 * static_cast<int>(k));
        positions_.push_back(model_.mesh().vertices[at(seam_[k])]);
    }
    for (const int vertex : fixed) claim(vertex, kFixedComponent);
    int num_inner = 0;
    for (int& place : place_)
        if (place == 0) place = num_inner++;

    FemModel::Matrix& K = solver_->K;
    K = model_.make_matrix();
    model_.tangent(VectorXd::Zero(model_.num_unknowns()), K);
    // K_ii, K_is and K_ss of docs/greens-zones.md eq. (8)
    const auto num_seam = static_cast<Eigen::Index>(3 * seam_.size());
    std::vector<Eigen::Triplet<double>> inner;
    responses_ = MatrixXd::Zero(num_inner, num_seam);
    K_seam_ = MatrixXd::Zero(num_seam, num_seam);
    for (Eigen::Index c = 0; c < K.outerSize(); ++c)
        for (FemModel::Matrix::InnerIterator k(K, c); k; ++k) {
            const int row = place_[static_cast<std::size_t>(k.row())];
            const int column = place_[static_cast<std::size_t>(c)];
            if (row >= 0 && column >= 0) inner.emplace_back(row, column, k.value());
            if (row >= 0 && column <= -2) responses_(row, -2 - column) = -k.value();
            if (row <= -2 && column <= -2) K_seam_(-2 - row, -2 - column) = k.value();
        }
    FemModel::Matrix K_inner(num_inner, num_inner);
    K_inner.setFromTriplets(inner.begin(), inner.end());
    solver_->inner = make_linear_solver();
    if (const FactorResult factored = solver_->inner->factor(K_inner); !factored.is_ok())
        throw InputError("", "a zone of finite elements cannot be condensed to its seams: " +
                                 std::string(to_string(factored.status)) +
                                 "; its seam and fixed vertices must hold it");
    MatrixXd coupling = -responses_;
    solver_->inner->solve_in_place(responses_);
    K_seam_.noalias() += coupling.transpose() * responses_;
    held_ = VectorXd::Zero(num_seam);
    loaded_ = VectorXd::Zero(num_inner);
}

void FemZone::set_loads(std::span<const int> vertices, std::span<const Vector3d> forces,
                        const Vector3d& gravity) {
    assert(vertices.size() == forces.size());
    VectorXd f = gravity_load(model_, gravity);
    for (std::size_t k = 0; k < vertices.size(); ++k) {
        if (vertices[k] < 0 || vertices[k] >= model_.num_nodes())
            throw InputError("", "vertex " + std::to_string(vertices[k]) +
                                     " of a zone is not there; its mesh has " +
                                     std::to_string(model_.num_nodes()));
        f.segment<3>(3 * vertices[k]) += forces[k];
    }
    check_load(f);
    held_.setZero();
    for (int i = 0; i < model_.num_unknowns(); ++i) {
        const int place = place_[at(i)];
        if (place >= 0) loaded_[place] = f[i];
        if (place <= -2) held_[-2 - place] = -f[i];
    }
    held_.noalias() -= responses_.transpose() * loaded_;  // K_si K_ii⁻¹ f_i
    solver_->inner->solve_in_place(loaded_);
    if (moved_.size()) moved_ = on_surface(loaded_);
}

void FemZone::seam_forces(const VectorXd& u, VectorXd& f) const noexcept {
    f = held_;
    f.noalias() += K_seam_ * u;
}

/// Of the inner components; others are zero.
MatrixXd FemZone::on_surface(const MatrixXd& inner) const {
    MatrixXd rows = MatrixXd::Zero(3 * static_cast<Eigen::Index>(shown_.size()), inner.cols());
    for (std::size_t v = 0; v < shown_.size(); ++v)
        for (int axis = 0; axis < 3; ++axis)
            if (const int place = place_[at(3 * shown_[v] + axis)]; place >= 0)
                rows.row(3 * static_cast<Eigen::Index>(v) + axis) = inner.row(place);
    return rows;
}

void FemZone::show_surface() {
    std::vector<int> place(at(model_.num_nodes()), -1);
    surface_ = {};
    shown_.clear();
    for (const Triangle& corners : boundary_triangles(model_.mesh())) {
        Triangle& triangle = surface_.triangles.emplace_back();
        for (std::size_t k = 0; k < 3; ++k) {
            int& v = place[at(corners[k])];
            if (v < 0) {
                v = static_cast<int>(shown_.size());
                shown_.push_back(corners[k]);
                surface_.vertices.push_back(model_.mesh().vertices[at(corners[k])]);
            }
            triangle[k] = v;
        }
    }
    if (const std::size_t found = shown_.size(); found > at(kMaxShownVertices)) {
        surface_ = {};
        shown_.clear();
        throw InputError("", "a zone of finite elements has " + std::to_string(found) +
                                 " vertices on its surface; at most " +
                                 std::to_string(kMaxShownVertices) +
                                 " can be shown: choose a coarser mesh");
    }
    const auto num_seam = held_.size(), num_shown = static_cast<Eigen::Index>(3 * shown_.size());
    // forces on the components of the surface, and the three weights
    MatrixXd f = MatrixXd::Zero(loaded_.size(), num_shown + 3);
    MatrixXd all = MatrixXd::Zero(num_seam + num_shown, num_shown + 3);
    const auto put = [&](int component, Eigen::Index column, double value) {
        const int where = place_[at(component)];
        if (where >= 0) f(where, column) = value;
        if (where <= -2) all(-2 - where, column) = -value;
    };
    for (Eigen::Index i = 0; i < num_shown; ++i)
        put(3 * shown_[static_cast<std::size_t>(i / 3)] + static_cast<int>(i % 3), i, 1);
    for (int axis = 0; axis < 3; ++axis) {
        const VectorXd weight = gravity_load(model_, Vector3d::Unit(axis));
        for (int i = 0; i < model_.num_unknowns(); ++i) put(i, num_shown + axis, weight[i]);
    }
    all.topRows(num_seam).noalias() -= responses_.transpose() * f;
    solver_->inner->solve_in_place(f);
    all.bottomRows(num_shown) = on_surface(f);
    by_force_ = all.leftCols(num_shown);
    by_weight_ = all.rightCols<3>();
    by_seam_ = on_surface(responses_);
    for (Eigen::Index i = 0; i < num_shown; ++i)
        if (const int where =
                place_[at(3 * shown_[static_cast<std::size_t>(i / 3)] + static_cast<int>(i % 3))];
            where <= -2)
            by_seam_(i, -2 - where) = 1;
    moved_ = on_surface(loaded_);
    placed_ = moved_;
}

void FemZone::add_force(int vertex, const Vector3d& force, VectorXd& load) const noexcept {
    for (int axis = 0; axis < 3; ++axis) load += force[axis] * by_force_.col(3 * vertex + axis);
}

void FemZone::add_weight(const Vector3d& acceleration, VectorXd& load) const noexcept {
    for (int axis = 0; axis < 3; ++axis) load += acceleration[axis] * by_weight_.col(axis);
}

bool FemZone::set_load(const VectorXd& load) noexcept {
    if (load.size() != load_size() || !load.allFinite()) return false;
    held_ = load.head(held_.size());
    moved_ = load.tail(moved_.size());
    return true;
}

void FemZone::place_surface(const VectorXd& u, std::span<Vector3d> x) const noexcept {
    assert(x.size() == surface_.vertices.size());
    placed_ = moved_;
    placed_.noalias() += by_seam_ * u;
    for (std::size_t v = 0; v < x.size(); ++v)
        x[v] = surface_.vertices[v] + placed_.segment<3>(3 * static_cast<Eigen::Index>(v));
}

Eigen::Matrix3d FemZone::vertex_compliance(int moved, int pulled) const noexcept {
    return by_force_.block<3, 3>(held_.size() + 3 * moved, 3 * pulled);
}

VectorXd FemZone::displacements(const VectorXd& u_seam) const {
    const VectorXd inner = loaded_ + responses_ * u_seam;
    VectorXd u = VectorXd::Zero(model_.num_unknowns());
    for (int i = 0; i < model_.num_unknowns(); ++i) {
        if (place_[at(i)] >= 0) u[i] = inner[place_[at(i)]];
        if (place_[at(i)] <= -2) u[i] = u_seam[-2 - place_[at(i)]];
    }
    return u;
}

}  // namespace pliant
