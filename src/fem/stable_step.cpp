#include "pliant/fem/stable_step.h"

#include "fem/element_eigenvalue.h"

#include <cassert>
#include <cmath>
#include <random>

namespace pliant {

StableStep element_stable_step(const FemModel& model, Lumping lumping) {
    const ElementEigenvalue largest = largest_elastic_eigenvalue(model, lumping);
    if (!(largest.value > 0)) return {};
    return {.dt = 2 / std::sqrt(largest.value), .element = largest.element};
}

StepEstimator::StepEstimator(FemModel model, Eigen::VectorXd mass)
    : model_(std::move(model)), inverse_mass_(std::move(mass)) {
    assert(inverse_mass_.size() == model_.num_unknowns());
    for (double& m : inverse_mass_) m = m > 0 ? 1 / m : 0;
}

StepEstimator::Workspace StepEstimator::make_workspace() const {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(inverse_mass_.size());
    Workspace ws{zero, zero};
    start(ws.direction);
    return ws;
}

void StepEstimator::start(Eigen::VectorXd& p) const noexcept {
    // all modes take part in a random direction
    std::mt19937 generator(1);
    double norm_squared = 0;
    for (Eigen::Index i = 0; i < p.size(); ++i) {
        p[i] = static_cast<double>(generator()) - 0x1p31;
        if (inverse_mass_[i] > 0) norm_squared += p[i] * p[i] / inverse_mass_[i];
    }
    for (Eigen::Index i = 0; i < p.size(); ++i)
        p[i] = inverse_mass_[i] > 0 ? p[i] / std::sqrt(norm_squared) : 0;
}

double StepEstimator::stable_step(const FemModel::ConstRef& u, int iterations,
                                  Workspace& ws) const {
    const std::vector<HangingNode>& hanging = model_.mesh().hanging;
    Eigen::VectorXd &p = ws.direction, &Kp = ws.product;
    double eigenvalue = 0;
    for (int k = 0; k < iterations; ++k) {
        // Tᵀ K T p: hanging nodes follow their masters and hand them their force
        for (const HangingNode& h : hanging) {
            p.segment<3>(3 * h.vertex).setZero();
            for (int m = 0; m < h.num_masters; ++m)
                p.segment<3>(3 * h.vertex) += h.weight * p.segment<3>(3 * h.masters[m]);
        }
        model_.tangent_product(u, p, Kp);
        for (const HangingNode& h : hanging)
            for (int m = 0; m < h.num_masters; ++m)
                Kp.segment<3>(3 * h.masters[m]) += h.weight * Kp.segment<3>(3 * h.vertex);
        // |p| = 1 in the norm of M, so that |M⁻¹K p| is at most the largest eigenvalue
        p = inverse_mass_.cwiseProduct(Kp);
        eigenvalue = std::sqrt(p.dot(Kp));
        if (!(eigenvalue > 0 && std::isfinite(eigenvalue))) {
            start(p);
            return eigenvalue == 0 ? std::numeric_limits<double>::infinity() : 0;
        }
        p /= eigenvalue;
    }
    return 2 / std::sqrt(eigenvalue);
}

double StepEstimator::with_damping(double dt_crit, double damping_ratio) noexcept {
    return dt_crit * (std::sqrt(1 + damping_ratio * damping_ratio) - damping_ratio);
}

}  // namespace pliant
