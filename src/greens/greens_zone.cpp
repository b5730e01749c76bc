#include "pliant/greens/zones.h"

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/greens/hierarchical_basis.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Whether three of the points are not on a line.
bool span_a_plane(const std::vector<Vector3d>& points) {
    if (points.size() < 3) return false;
    const auto farthest = std::ranges::max_element(
        points, {}, [&](const Vector3d& x) { return (x - points[0]).squaredNorm(); });
    const Vector3d along = *farthest - points[0];
    return std::ranges::any_of(points, [&](const Vector3d& x) {
        return along.cross(x - points[0]).norm() > 1e-6 * along.squaredNorm();
    });
}

}  // namespace

GreensZone::GreensZone(const ReferenceProblem& reference, std::vector<int> seam_nodes,
                       const std::string& name, std::shared_ptr<const PreciseElements> precise)
    : reference_(reference), seam_nodes_(std::move(seam_nodes)), precise_(std::move(precise)) {
    check(name);
    const auto n = static_cast<Eigen::Index>(seam_nodes_.size());
    for (const int node : seam_nodes_) positions_.push_back(reference_.positions[at(node)]);
    load_nodes_.reserve(kMaxLoads);
    load_values_.reserve(kMaxLoads);
    body_values_.assign(at(reference_.functions->num_body_columns()), 0);
    held_ = difference_ = VectorXd::Zero(3 * n);

    // docs/greens-zones.md eq. (2): stiffness of displaced seams, compliance of free ones
    K_.resize(3 * n, 3 * n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            const int row = seam_nodes_[static_cast<std::size_t>(i)];
            const int column = seam_nodes_[static_cast<std::size_t>(j)];
            const double unit =
                is_displaced_
                    ? reference_.areas[at(row)] * reference_.modulus / reference_.length
                    : reference_.length / (reference_.areas[at(column)] * reference_.modulus);
            K_.block<3, 3>(3 * i, 3 * j) = unit * block(row, column);
        }
    if (is_displaced_) return;
    K_ = solve_dense(K_, MatrixXd::Identity(3 * n, 3 * n));
    if (!K_.allFinite())
        throw InputError("", "zone \"" + name +
                                 "\": the compliance of its seam nodes is singular; are two of "
                                 "them at one place?");
}

void GreensZone::check(const std::string& name) {
    const std::string zone = "zone \"" + name + "\": ";
    const auto num_nodes = static_cast<int>(reference_.kinds.size());
    if (!reference_.functions || reference_.functions->block() != 3)
        throw InputError("", zone + "needs the Green's functions of an elastic body");
    if (seam_nodes_.empty()) throw InputError("", zone + "has no seam nodes");
    if (seam_nodes_.size() > at(kMaxSeamNodes))
        throw InputError("", zone + "has " + std::to_string(seam_nodes_.size()) +
                                 " seam nodes; at most " + std::to_string(kMaxSeamNodes) +
                                 " are possible: choose those near the outer surface");
    seam_place_.assign(at(num_nodes), -1);
    for (std::size_t k = 0; k < seam_nodes_.size(); ++k) {
        const int node = seam_nodes_[k];
        if (node < 0 || node >= num_nodes)
            throw InputError("", zone + "seam node " + std::to_string(node) +
                                     " is not there; it has " + std::to_string(num_nodes));
        if (std::exchange(seam_place_[at(node)], static_cast<int>(k)) >= 0)
            throw InputError("", zone + "seam node " + std::to_string(node) +
                                     " is twice in the "
                                     "lists: a node can be in one seam only");
        if (!reference_.functions->has_column(node))
            throw InputError("", zone + "seam node " + std::to_string(node) +
                                     " has no Green's function: build the model with columns of "
                                     "its fixed nodes, or make it contactable");
        if (!(reference_.areas[at(node)] > 0))
            throw InputError("", zone + "seam node " + std::to_string(node) + " has no area");
    }
    is_displaced_ = reference_.kinds[at(seam_nodes_[0])] == NodeKind::Fixed;
    for (const int node : seam_nodes_)
        if ((reference_.kinds[at(node)] == NodeKind::Fixed) != is_displaced_)
            throw InputError("", zone + "seam nodes " + std::to_string(seam_nodes_[0]) + " and " +
                                     std::to_string(node) +
                                     " differ: all of a zone must be fixed in its reference "
                                     "problem, or all free");
    if (is_displaced_) return;
    std::vector<Vector3d> held;
    for (int node = 0; node < num_nodes; ++node)
        if (reference_.kinds[at(node)] == NodeKind::Fixed)
            held.push_back(reference_.positions[at(node)]);
    if (!span_a_plane(held))
        throw InputError("", zone + "is without support: its seams are free, and " +
                                 std::to_string(held.size()) +
                                 " fixed nodes do not hold it; fix three that are not on a line, "
                                 "or fix the seams");
}

Matrix3d GreensZone::block(int i, int j) const noexcept {
    if (precise_ && j < reference_.functions->num_nodes()) {
        Eigen::Matrix<double, 3, 3, Eigen::RowMajor> values;
        precise_->element(i, j, values.data());
        return values;
    }
    Eigen::Matrix<float, 3, 3, Eigen::RowMajor> values;
    reference_.functions->element(i, j, values.data());
    return values.cast<double>();
}

Vector3d GreensZone::body_block(int i, int k) const noexcept {
    if (precise_) {
        Vector3d values;
        precise_->body_element(i, k, values.data());
        return values;
    }
    Eigen::Vector3f values;
    reference_.functions->body_element(i, k, values.data());
    return values.cast<double>();
}

double GreensZone::held_unit(int place) const noexcept {
    return is_displaced_ ? reference_.areas[at(seam_nodes_[at(place)])] * reference_.modulus
                         : reference_.length;
}

bool GreensZone::set_loads(std::span<const int> columns,
                           std::span<const Vector3d> values) noexcept {
    if (columns.size() != values.size() || columns.size() > kMaxLoads) return false;
    // functions of coarser levels have the kind of their vertex, and are zero at nodes of the other
    const GreensFunctions& functions = *reference_.functions;
    const auto kind = [&](int column) { return reference_.kinds[at(functions.row_of(column))]; };
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (!values[i].allFinite() || !functions.has_column(columns[i]) ||
            (is_displaced_ && moves_seam(columns[i])))
            return false;
    load_nodes_.assign(columns.begin(), columns.end());
    load_values_.clear();
    for (std::size_t i = 0; i < columns.size(); ++i)
        load_values_.push_back(values[i] / (kind(columns[i]) == NodeKind::Free
                                                ? reference_.modulus
                                                : reference_.length));
    hold_loads();
    return true;
}

/// Whether its function is not zero at a displaced seam node.
bool GreensZone::moves_seam(int column) const noexcept {
    if (column < reference_.functions->num_nodes()) return seam_place(column) >= 0;
    const WeightedVertices values = reference_.hierarchy->values(column);
    return std::ranges::any_of(values.vertices, [&](int node) { return seam_place(node) >= 0; });
}

bool GreensZone::set_body_loads(std::span<const double> parameters) noexcept {
    if (parameters.size() != body_values_.size() ||
        !std::ranges::all_of(parameters, [](double x) { return std::isfinite(x); }))
        return false;
    std::ranges::copy(parameters, body_values_.begin());
    hold_loads();
    return true;
}

void GreensZone::hold_loads() noexcept {
    for (std::size_t i = 0; i < seam_nodes_.size(); ++i) {
        Vector3d sum = Vector3d::Zero();
        for (std::size_t k = 0; k < load_nodes_.size(); ++k)
            sum += block(seam_nodes_[i], load_nodes_[k]) * load_values_[k];
        for (std::size_t k = 0; k < body_values_.size(); ++k)
            if (body_values_[k] != 0)
                sum += body_values_[k] * body_block(seam_nodes_[i], static_cast<int>(k));
        const int place = static_cast<int>(i);
        held_.segment<3>(3 * place) = held_unit(place) * sum;
    }
}

MatrixXd GreensZone::held_by(int node) const {
    MatrixXd held(held_.size(), 3);
    for (int i = 0; at(i) < seam_nodes_.size(); ++i)
        held.middleRows<3>(3 * i) = held_unit(i) * block(seam_nodes_[at(i)], node);
    return held;
}

VectorXd GreensZone::held_by_body(int k) const {
    VectorXd held(held_.size());
    for (int i = 0; at(i) < seam_nodes_.size(); ++i)
        held.segment<3>(3 * i) = held_unit(i) * body_block(seam_nodes_[at(i)], k);
    return held;
}

void GreensZone::forces_of(const VectorXd& held, const VectorXd& u, VectorXd& f) const noexcept {
    // K u + f̂ or K (u − û)
    if (is_displaced_) {
        f = held;
        f.noalias() += K_ * u;
    } else {
        f.noalias() = K_ * u;
        f.noalias() -= K_ * held;
    }
}

void GreensZone::known_of(const VectorXd& held, const VectorXd& u, VectorXd& known) const noexcept {
    if (is_displaced_) {
        known = u / reference_.length;
        return;
    }
    forces_of(held, u, known);
    for (int i = 0; at(i) < seam_nodes_.size(); ++i)
        known.segment<3>(3 * i) /= reference_.areas[at(seam_nodes_[at(i)])] * reference_.modulus;
}

void GreensZone::seam_forces(const VectorXd& u, VectorXd& f) const noexcept {
    forces_of(held_, u, f);
}

void GreensZone::seam_known(const VectorXd& u, VectorXd& known) const noexcept {
    known_of(held_, u, known);
}

MatrixXd GreensZone::seam_compliance() const {
    assert(!is_displaced_);
    return solve_dense(K_, MatrixXd::Identity(K_.rows(), K_.cols()));
}

Vector3d GreensZone::unknown(int node, const VectorXd& u) const noexcept {
    if (const int place = seam_place(node); place >= 0) return u.segment<3>(3 * place);
    seam_known(u, difference_);
    Vector3d sum = Vector3d::Zero();
    for (int k = 0; at(k) < seam_nodes_.size(); ++k)
        sum += block(node, seam_nodes_[at(k)]) * difference_.segment<3>(3 * k);
    for (std::size_t k = 0; k < load_nodes_.size(); ++k)
        sum += block(node, load_nodes_[k]) * load_values_[k];
    for (std::size_t k = 0; k < body_values_.size(); ++k)
        if (body_values_[k] != 0) sum += body_values_[k] * body_block(node, static_cast<int>(k));
    return sum *
           (reference_.kinds[at(node)] == NodeKind::Free ? reference_.length : reference_.modulus);
}

}  // namespace pliant
