#include "reduction/linear_force.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class LinearForce final : public ReducedForce {
public:
    explicit LinearForce(MatrixXd K) : K_(std::move(K)) {
        assert(K_.rows() == K_.cols() && K_.allFinite());
        // r² |K| q² bounds the energy
        const double sum = std::max(K_.cwiseAbs().sum(), 1.0);
        limit_ = std::sqrt(1e300 / sum);
    }

    [[nodiscard]] int size() const noexcept override { return static_cast<int>(K_.rows()); }
    [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
        auto ws = std::make_unique<Scratch>();
        ws->q = ws->R = VectorXd::Zero(size());
        return ws;
    }
    [[nodiscard]] double energy(const ConstRef& q, Workspace& workspace) const noexcept override {
        auto& ws = static_cast<Scratch&>(workspace);
        force(q, ws.R, ws);
        return 0.5 * ws.q.dot(ws.R);
    }
    void force(const ConstRef& q, Eigen::Ref<VectorXd> R,
               Workspace& workspace) const noexcept override {
        auto& ws = static_cast<Scratch&>(workspace);
        ws.q = q.cwiseMax(-limit_).cwiseMin(limit_);
        R.noalias() = K_ * ws.q;
    }
    void force_and_stiffness(const ConstRef& q, Eigen::Ref<VectorXd> R, Eigen::Ref<MatrixXd> K,
                             Workspace& ws) const noexcept override {
        force(q, R, ws);
        K = K_;
    }

private:
    struct Scratch final : Workspace {
        VectorXd q, R;
    };
    MatrixXd K_;
    double limit_ = 0;  ///< of coordinates
};

}  // namespace

std::unique_ptr<ReducedForce> make_linear_force(MatrixXd K) {
    return std::make_unique<LinearForce>(std::move(K));
}

std::unique_ptr<ReducedForce> linearized(const ReducedForce& force) {
    const int r = force.size();
    VectorXd R(r);
    MatrixXd K(r, r);
    force.force_and_stiffness(VectorXd::Zero(r), R, K, *force.make_workspace());
    return make_linear_force(std::move(K));
}

}  // namespace pliant
