#include "core/dense_algebra.h"
#include "geometry/option_check.h"
#include "reduction/reduced_system.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <string>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const ReducedOptions& checked(const ReducedOptions& o) {
    check_option(o.gamma >= 0.5 && o.gamma <= 1.5, "gamma", o.gamma, "0.5 <= value <= 1.5");
    check_option(o.max_iterations > 0, "max_iterations", o.max_iterations, "value > 0");
    check_option(o.tolerance > 0 && o.tolerance < 1, "tolerance", o.tolerance, "0 < value < 1");
    check_option(o.max_halvings >= 0 && o.max_halvings <= 16, "max_halvings", o.max_halvings,
                 "0 <= value <= 16");
    check_option(o.acceleration_limit >= 0 && std::isfinite(o.acceleration_limit),
                 "acceleration_limit", o.acceleration_limit, "0 <= value < infinity");
    check_option(o.damping.mass >= 0 && std::isfinite(o.damping.mass), "damping.mass",
                 o.damping.mass, "0 <= value < infinity");
    check_option(o.damping.stiffness >= 0 && std::isfinite(o.damping.stiffness),
                 "damping.stiffness", o.damping.stiffness, "0 <= value < infinity");
    return o;
}

/// 2/ω_max from K x = ω² M x.
double stable_step(const MatrixXd& K, const MatrixXd& mass) {
    const double largest = symmetric_eigenvalues(K, mass).maxCoeff();
    return largest > 0 ? 2 / std::sqrt(largest) : std::numeric_limits<double>::infinity();
}

/// β K, with K of the present shape last evaluated or of the rest shape.
StiffnessDamping stiffness_part(const ReducedSystem& m, const ReducedScratch& ws) noexcept {
    const double beta = ws.tuning.stiffness_damping;
    if (m.options.damping.is_tangential) return {ws.K, beta};
    return {m.K_rest, beta * ws.tuning.stiffness};
}

}  // namespace

ReducedScratch::ReducedScratch(const ReducedSystem& m)
    : force(m.force->make_workspace()), solver(m.size(), 1 + kMaxHeldRows) {
    const int r = m.size();
    f = R = residual = product = change = origin = VectorXd::Zero(r);
    contact.stiffness = MatrixXd::Zero(r, r);
    start = now = {f, f, f, 0};
    K = MatrixXd::Zero(r, r);
    if (const auto& viscosity = m.options.damping.viscosity) {
        D = K;
        pairs.resize(viscosity->num_pairs());
    }
    tuning = {1, m.options.damping.mass, m.options.damping.stiffness};
    X = MatrixXd::Zero(r, 1 + kMaxHeldRows);
    held = MatrixXd::Zero(r, kMaxHeldRows);
}

bool is_finite(const ReducedState& s) noexcept {
    return s.q.allFinite() && s.v.allFinite() && s.a.allFinite() && std::isfinite(s.time);
}

void set_to_rest(ReducedState& s) noexcept {
    s.q.setZero();
    s.v.setZero();
    s.a.setZero();
    s.time = 0;
}

void evaluate_force(const ReducedSystem& m, const VectorXd& q, ReducedScratch& ws) noexcept {
    m.force->force_and_stiffness(q, ws.R, ws.K, *ws.force);
    if (ws.tuning.stiffness == 1) return;
    ws.R *= ws.tuning.stiffness;
    ws.K *= ws.tuning.stiffness;
}
double elastic_energy(const ReducedSystem& m, const VectorXd& q, ReducedScratch& ws) noexcept {
    return ws.tuning.stiffness * m.force->energy(q, *ws.force);
}

void evaluate(const ReducedSystem& m, const VectorXd& q, ReducedScratch& ws) noexcept {
    evaluate_force(m, q, ws);
    if (!m.options.damping.viscosity) return;
    m.options.damping.viscosity->damping_matrix(q, ws.D, ws.pairs);
    if (const auto [K, factor] = stiffness_part(m, ws); factor > 0) ws.D += factor * K;
}

StiffnessDamping stiffness_damping(const ReducedSystem& m, const ReducedScratch& ws) noexcept {
    if (m.options.damping.viscosity) return {ws.D, 1};
    return stiffness_part(m, ws);
}

StepInput take_input(const ReducedSystem& m, ReducedState& s, const ReducedDynamics::ConstRef& f,
                     double dt, ReducedScratch& ws) noexcept {
    assert(s.q.size() == m.size() && s.v.size() == m.size() && s.a.size() == m.size());
    assert(f.size() == m.size());
    assert(ws.tuning.stiffness > 0 && ws.tuning.mass_damping >= 0);
    assert(ws.tuning.stiffness_damping >= 0);
    (void)m;
    // also NaN, and steps whose square or its inverse is no number
    if (!(dt > 0) || !std::isfinite(dt * dt) || !std::isfinite(1 / (dt * dt)))
        return {StepStatus::InputIgnored, false};
    if (!is_finite(s)) {
        set_to_rest(s);
        return {StepStatus::StateReset, false};
    }
    if (f.allFinite()) {
        ws.f = f;
        return {};
    }
    ws.f.setZero();
    return {StepStatus::InputIgnored, true};
}

ReducedDynamics::ReducedDynamics(std::shared_ptr<const ReducedForce> force, MatrixXd mass,
                                 const ReducedOptions& options)
    : impl_(std::make_unique<Impl>()) {
    assert(force);
    Impl& m = *impl_;
    const int r = force->size();
    m.options = checked(options);
    if (mass.rows() != r || mass.cols() != r)
        throw InputError("", "size of the reduced mass",
                         std::to_string(mass.rows()) + " x " + std::to_string(mass.cols()),
                         std::to_string(r) + " x " + std::to_string(r) + ", as the force");
    m.mass_factor.compute(mass);
    if (!mass.allFinite() || m.mass_factor.info() != Eigen::Success)
        throw InputError("",
                         "the reduced mass is not positive definite; check the densities and that "
                         "the basis has independent columns");
    if (options.damping.viscosity && options.damping.viscosity->size() != r)
        throw InputError("", "reduced coordinates of damping.viscosity",
                         std::to_string(options.damping.viscosity->size()),
                         std::to_string(r) + ", as the force");
    m.mass = std::move(mass);
    m.force = std::move(force);

    const std::unique_ptr<ReducedForce::Workspace> ws = m.force->make_workspace();
    VectorXd R(r);
    m.K_rest.resize(r, r);
    m.force->force_and_stiffness(VectorXd::Zero(r), R, m.K_rest, *ws);
    m.explicit_limit = stable_step(m.K_rest, m.mass);
}
ReducedDynamics::ReducedDynamics(ReducedDynamics&&) noexcept = default;
ReducedDynamics& ReducedDynamics::operator=(ReducedDynamics&&) noexcept = default;
ReducedDynamics::~ReducedDynamics() = default;

int ReducedDynamics::size() const noexcept { return impl_->size(); }
const ReducedForce& ReducedDynamics::force() const noexcept { return *impl_->force; }
const ReducedOptions& ReducedDynamics::options() const noexcept { return impl_->options; }
double ReducedDynamics::explicit_limit() const noexcept { return impl_->explicit_limit; }

ReducedState ReducedDynamics::make_state() const {
    const VectorXd zero = VectorXd::Zero(size());
    return {zero, zero, zero, 0};
}
std::unique_ptr<ReducedDynamics::Workspace> ReducedDynamics::make_workspace() const {
    return std::make_unique<ReducedScratch>(*impl_);
}

void ReducedDynamics::set_acceleration(ReducedState& s, const ConstRef& f,
                                       Workspace& workspace) const noexcept {
    auto& ws = static_cast<ReducedScratch&>(workspace);
    assert(f.size() == size());
    if (!is_finite(s) || !f.allFinite()) return;
    evaluate(*impl_, s.q, ws);
    ws.residual = f - ws.R;
    if (const auto [D, factor] = stiffness_damping(*impl_, ws); factor > 0)
        ws.residual.noalias() -= factor * (D * s.v);
    impl_->mass_factor.solveInPlace(ws.residual);
    ws.residual -= ws.tuning.mass_damping * s.v;
    if (ws.residual.allFinite()) s.a = ws.residual;
}

double ReducedDynamics::kinetic_energy(const ReducedState& s) const noexcept {
    double sum = 0;
    for (int i = 0; i < size(); ++i) sum += s.v[i] * impl_->mass.col(i).dot(s.v);
    return 0.5 * sum;
}
double ReducedDynamics::elastic_energy(const ReducedState& s, Workspace& ws) const noexcept {
    return pliant::elastic_energy(*impl_, s.q, static_cast<ReducedScratch&>(ws));
}

}  // namespace pliant
