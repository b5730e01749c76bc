#pragma once

#include "pliant/greens/greens_body.h"
#include "pliant/reduction/reduced_body.h"
#include "pliant/reduction/reduced_force.h"

#include <memory>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace pliant {

/// What became of a body that was handed over.
struct HandOverReport {
    bool is_done = false;      ///< false: a state that is not finite; nothing has changed
    double jump = 0;           ///< largest of a surface vertex [m]
    double relative_jump = 0;  ///< RMS over that of the displacement
};

/// Hands a body with Green's functions over to a reduced model of the same surface when linear
/// theory ends, docs/greens-measured.md eqs. (W4)–(W6): the displacement is projected into the
/// subspace, loads go on, and a force that keeps the projection at rest fades out, so that nothing
/// jumps. Bodies may go on being touched through contact of the reduced body instead.
class HandOver {
public:
    /// Throws InputError when the surfaces differ or the reduced body is free.
    HandOver(std::shared_ptr<const GreensModel> from, const ReducedModel& to);

    /// Puts `to` where `from` is, at rest. `to` must be of the model given, with the same pose.
    HandOverReport apply(const GreensBody& from, ReducedBody& to);
    /// Loads of the next step of `to`: those that acted on the other body, and (1 − fade) times
    /// the force that holds the shape that was handed over; fade from 0 to 1. No allocation.
    void add_loads(ReducedBody& to, double fade) noexcept;
    /// Reduced load of what acted on the other body, and what keeps the shape at rest besides.
    [[nodiscard]] const Eigen::VectorXd& load() const noexcept { return load_; }
    [[nodiscard]] const Eigen::VectorXd& balance() const noexcept { return balance_; }

private:
    std::shared_ptr<const GreensModel> from_;
    ReducedModel model_;
    std::shared_ptr<const ReducedForce> force_;
    Eigen::MatrixXd shapes_;   // Ū: 3 n × r
    Eigen::VectorXd weights_;  // areas of vertices, thrice each
    Eigen::LDLT<Eigen::MatrixXd> normal_;
    Eigen::VectorXd load_, balance_, sum_;
};

}  // namespace pliant
