#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/reduction/reduced_coefficients.h"

#include <memory>

namespace pliant {

/// Elastic force of a body in reduced coordinates. Real-time: nothing allocates, all is finite for
/// finite q. Immutable; scratch belongs to the caller.
class ReducedForce {
public:
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    struct Workspace {
        virtual ~Workspace() = default;
    };

    virtual ~ReducedForce() = default;
    [[nodiscard]] virtual int size() const noexcept = 0;  ///< r
    [[nodiscard]] virtual std::unique_ptr<Workspace> make_workspace() const = 0;
    /// W(q) [J].
    [[nodiscard]] virtual double energy(const ConstRef& q, Workspace& ws) const noexcept = 0;
    /// R = ∂W/∂q.
    virtual void force(const ConstRef& q, Eigen::Ref<Eigen::VectorXd> R,
                       Workspace& ws) const noexcept = 0;
    /// And K = ∂R/∂q, both triangles.
    virtual void force_and_stiffness(const ConstRef& q, Eigen::Ref<Eigen::VectorXd> R,
                                     Eigen::Ref<Eigen::MatrixXd> K,
                                     Workspace& ws) const noexcept = 0;
};

/// By the coefficients, in Highway kernels: cost depends on r alone, docs/reduction.md section
/// "Evaluation". One array of C(r + 4, 4) coefficients (and 4–15 % zeros from r = 20 on) serves all
/// functions and is read once per call: 2 multiply-adds for each in force and energy, 3 in force
/// and stiffness. r = 30: 0.39 MB, 93 k and 139 k multiply-adds, 4.9 and 8.3 µs; r = 60: 5.2 MB,
/// 1.3 M and 1.9 M, 61 and 98 µs (Zen 4, one thread, double). From r = 30 on, force takes 1.1–1.4
/// times the bound of the cache's bandwidth, force and stiffness 1.5–1.8 times that of arithmetic.
/// Single keeps coefficients and products in float: about 1e-6 relative, half the time.
///
/// Coordinates so large that results would overflow count as the largest that do not. Throws
/// InputError for r outside 1 … 256 and for coefficients beyond the range of the precision.
[[nodiscard]] std::unique_ptr<ReducedForce> make_polynomial_force(
    const ReducedCoefficients& coefficients, Precision precision = Precision::Double);
/// Through the elements: any material, any r, cost grows with the mesh. R = Uᵀ R(Uq),
/// K = Uᵀ K(Uq) U; parallel, with the same bits for every number of threads; allocates nothing
/// on one thread. One at a time per workspace.
[[nodiscard]] std::unique_ptr<ReducedForce> make_direct_force(FemModel model,
                                                              const Eigen::MatrixXd& U);

}  // namespace pliant
