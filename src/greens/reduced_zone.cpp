#include "pliant/greens/reduced_zone.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Eigenvalues>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Modes softer than this, over the stiffest, are rigid motions.
constexpr double kRigidMode = 1e-9;
/// A seam that resists a motion less than this, over what it resists most, does not hold the zone.
constexpr double kLoosest = 1e-12;
constexpr int kMaxHalvings = 6;

}  // namespace

ReducedZone::~ReducedZone() = default;

ReducedZone::ReducedZone(const ReducedModel& model, std::vector<int> seam,
                         const ReducedZoneOptions& options)
    : ReducedZone(model.make_force(), model.basis(), model.mesh().vertices, std::move(seam),
                  options) {}

ReducedZone::ReducedZone(std::shared_ptr<const ReducedForce> force, const MatrixXd& U,
                         std::span<const Vector3d> vertices, std::vector<int> seam,
                         const ReducedZoneOptions& options)
    : force_(std::move(force)), options_(options), seam_(std::move(seam)) {
    if (!(options.layer > 0) || !std::isfinite(options.layer))
        throw InputError("", "layer", std::to_string(options.layer), "more than 0");
    if (!(options.tolerance > 0) || options.max_iterations < 1)
        throw InputError("", "tolerance and iterations of a reduced zone must be positive");
    assert(U.rows() == 3 * static_cast<Eigen::Index>(vertices.size()) &&
           U.cols() == force_->size());
    load_ = VectorXd::Zero(U.cols());
    workspace_ = force_->make_workspace();
    take_seam(U, vertices, options);
    for (VectorXd* const x : {&q_, &tried_, &residual_, &step_}) *x = load_;
    gap_ = VectorXd::Zero(U_.rows());
    tangent_ = at_rest_;
}

ReducedZone::ReducedZone(std::shared_ptr<const ReducedForce> force, const MatrixXd& U,
                         SurfaceMesh surface, std::vector<int> seam,
                         const ReducedZoneOptions& options)
    : ReducedZone(std::move(force), U, surface.vertices, std::move(seam), options) {
    surface_ = std::move(surface);
    U_surface_ = U;
    weights_ = MatrixXd::Zero(U.cols(), 3);
    held_by_ = VectorXd::Zero(U_.rows());
    moved_ = VectorXd::Zero(U.rows());
}

std::shared_ptr<ReducedZone> ReducedZone::with_surface(const ReducedModel& model,
                                                       std::vector<int> seam,
                                                       const ReducedZoneOptions& options) {
    if (model.is_free())
        throw InputError("",
                         "a free reduced model cannot be a zone: rigid motions are not in its "
                         "subspace, and its seam could not follow; build it with \"fixed\"");
    const SurfaceMesh surface = model.surface();
    const Embedding embedding = model.embedding();
    const auto basis = model.basis();
    MatrixXd U(3 * static_cast<Eigen::Index>(surface.vertices.size()), model.rank());
    for (Eigen::Index i = 0; i < U.cols(); ++i)
        embedding.transfer({basis.col(i).data(), static_cast<std::size_t>(basis.rows())},
                           {U.col(i).data(), static_cast<std::size_t>(U.rows())});
    auto zone =
        std::make_shared<ReducedZone>(model.make_force(), U, surface, std::move(seam), options);
    for (int axis = 0; axis < 3; ++axis)
        zone->weights_.col(axis) = model.gravity_load(Vector3d::Unit(axis));
    return zone;
}

void ReducedZone::take_seam(const MatrixXd& U, std::span<const Vector3d> vertices,
                            const ReducedZoneOptions& options) {
    if (seam_.empty()) throw InputError("", "a reduced zone needs seam vertices");
    std::vector<char> is_taken(vertices.size(), 0);
    U_.resize(static_cast<Eigen::Index>(3 * seam_.size()), U.cols());
    for (std::size_t k = 0; k < seam_.size(); ++k) {
        const int v = seam_[k];
        if (v < 0 || at(v) >= vertices.size())
            throw InputError("", "vertex " + std::to_string(v) +
                                     " of a zone is not there; its mesh has " +
                                     std::to_string(vertices.size()));
        if (std::exchange(is_taken[at(v)], 1))
            throw InputError("", "vertex " + std::to_string(v) + " of a zone is twice in its seam");
        if (U.middleRows(3 * v, 3).isZero(0))
            throw InputError("", "vertex " + std::to_string(v) +
                                     " of the seam of a zone is held by the reduced model itself: "
                                     "build it with its seam free");
        positions_.push_back(vertices[at(v)]);
        U_.middleRows(static_cast<Eigen::Index>(3 * k), 3) = U.middleRows(3 * v, 3);
    }
    UtU_ = U_.transpose() * U_;
    K_.resize(U.cols(), U.cols());
    VectorXd R(U.cols());
    force_->force_and_stiffness(VectorXd::Zero(U.cols()), R, K_, *workspace_);
    // of the elastic modes, docs/greens-zones.md eq. (13)
    const Eigen::SelfAdjointEigenSolver<MatrixXd> modes(K_);
    const VectorXd& stiffness = modes.eigenvalues();
    const MatrixXd at_seam = U_ * modes.eigenvectors();
    double compliance = 0;
    for (Eigen::Index i = 0; i < stiffness.size(); ++i)
        if (stiffness[i] > kRigidMode * stiffness[stiffness.size() - 1])
            compliance += at_seam.col(i).squaredNorm() / stiffness[i];
    compliance /= static_cast<double>(U_.rows());
    k_ = 1 / (options.layer * compliance);
    at_rest_.compute(K_ + k_ * UtU_);
    if (!(compliance > 0) || !std::isfinite(k_) || at_rest_.info() != Eigen::Success ||
        !(at_rest_.vectorD().minCoeff() > kLoosest * at_rest_.vectorD().maxCoeff()))
        throw InputError("",
                         "the seam of a reduced zone does not hold it: its subspace hardly moves "
                         "the seam vertices");
}

bool ReducedZone::set_load(const VectorXd& load) noexcept {
    if (load.size() != load_.size() || !load.allFinite()) return false;
    load_ = load;
    return true;
}

void ReducedZone::add_force(int vertex, const Vector3d& force, VectorXd& load) const noexcept {
    for (int axis = 0; axis < 3; ++axis)
        load += force[axis] * U_surface_.row(3 * vertex + axis).transpose();
}

void ReducedZone::add_weight(const Vector3d& acceleration, VectorXd& load) const noexcept {
    for (int axis = 0; axis < 3; ++axis) load += acceleration[axis] * weights_.col(axis);
}

void ReducedZone::place_surface(const VectorXd& u, std::span<Vector3d> x) const noexcept {
    assert(x.size() == surface_.vertices.size());
    seam_forces(u, held_by_);
    moved_.noalias() = U_surface_ * q_;
    for (std::size_t v = 0; v < x.size(); ++v)
        x[v] = surface_.vertices[v] + moved_.segment<3>(3 * static_cast<Eigen::Index>(v));
}

Eigen::Matrix3d ReducedZone::vertex_compliance(int moved, int pulled) const noexcept {
    Eigen::Matrix3d C;
    for (int axis = 0; axis < 3; ++axis) {
        step_ = U_surface_.row(3 * pulled + axis).transpose();
        at_rest_.solveInPlace(step_);
        for (int row = 0; row < 3; ++row) C(row, axis) = U_surface_.row(3 * moved + row).dot(step_);
    }
    return C;
}

/// docs/greens-zones.md eq. (15).
MatrixXd ReducedZone::seam_stiffness() const {
    MatrixXd K = -k_ * k_ * U_ * at_rest_.solve(U_.transpose());
    K.diagonal().array() += k_;
    return K;
}

/// Of the coordinates, left in residual_; K_ is the stiffness there.
double ReducedZone::imbalance(const VectorXd& q, const VectorXd& u) const noexcept {
    gap_ = -u;
    gap_.noalias() += U_ * q;
    force_->force_and_stiffness(q, residual_, K_, *workspace_);
    residual_ -= load_;
    residual_.noalias() += k_ * (U_.transpose() * gap_);
    return residual_.norm();
}

/// docs/greens-zones.md eq. (14), from the linear answer on.
void ReducedZone::seam_forces(const VectorXd& u, VectorXd& f) const noexcept {
    q_ = load_;
    q_.noalias() += k_ * (U_.transpose() * u);
    const double scale = q_.norm();
    at_rest_.solveInPlace(q_);
    double error = imbalance(q_, u);
    for (int i = 0; i < options_.max_iterations && error > options_.tolerance * scale; ++i) {
        K_ += k_ * UtU_;
        tangent_.compute(K_);
        step_ = residual_;
        tangent_.solveInPlace(step_);
        if (!step_.allFinite()) break;
        // halved until it gets better
        int halvings = 0;
        double next = 0;
        for (; halvings <= kMaxHalvings; ++halvings, step_ *= 0.5) {
            tried_ = q_ - step_;
            next = imbalance(tried_, u);
            if (next < error) break;
        }
        if (halvings > kMaxHalvings) break;
        q_ = tried_;
        error = next;
    }
    gap_ = u;
    gap_.noalias() -= U_ * q_;
    f = k_ * gap_;
}

}  // namespace pliant
