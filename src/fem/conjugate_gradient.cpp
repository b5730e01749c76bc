#include "pliant/fem/conjugate_gradient.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fem/incomplete_cholesky.h"

namespace pliant {

struct ConjugateGradient::Impl {
    CgOptions options;
    int num_unknowns = 0;
    Eigen::Index num_entries = 0;
    BlockMatrix A;
    std::vector<double> D_inverse;  ///< of the diagonal blocks, or of the diagonal
    IncompleteCholesky incomplete;
    /// One more than padded to blocks, for the kernels; what lies behind the unknowns stays zero.
    Eigen::VectorXd r, z, direction, product;
    Eigen::VectorXd p, q;  ///< the unknowns alone, for matrix-free products

    void invert_diagonal() noexcept;
    void precondition() noexcept;
};

namespace {

/// Also for matrices that are not definite: the preconditioner has to be.
void invert_absolute_diagonal(const double* block, double* inverse) noexcept {
    std::fill_n(inverse, 9, 0.0);
    for (std::size_t c = 0; c < 3; ++c) {
        const double value = 1.0 / std::abs(block[4 * c]);
        inverse[4 * c] = std::isfinite(value) && value > 0 ? value : 1.0;
    }
}

/// q = A p on arrays with the padding of the kernels.
void copy_and_apply(auto apply, const void* context, const Eigen::VectorXd& from,
                    Eigen::VectorXd& p, Eigen::VectorXd& q, Eigen::VectorXd& to) {
    p = from.head(p.size());
    apply(context, p, q);
    to.head(q.size()) = q;
}

}  // namespace

void ConjugateGradient::Impl::invert_diagonal() noexcept {
    const double* values = A.rows().values;
    for (int i = 0; i < A.num_rows(); ++i) {
        const double* block = values + std::size_t{9} * A.diagonal_position(i);
        double* inverse = D_inverse.data() + std::size_t{9} * i;
        const double reference[3] = {block[0], block[4], block[8]};
        if (options.preconditioner == Preconditioner::Diagonal ||
            !invert_definite_block(block, reference, inverse))
            invert_absolute_diagonal(block, inverse);
    }
}

void ConjugateGradient::Impl::precondition() noexcept {
    if (options.preconditioner == Preconditioner::IncompleteCholesky)
        incomplete.apply(r.data(), z.data());
    else
        multiply_diagonal_blocks(A.num_rows(), D_inverse.data(), r.data(), z.data());
}

ConjugateGradient::ConjugateGradient(const CgOptions& options) : impl_(std::make_unique<Impl>()) {
    impl_->options = options;
}
ConjugateGradient::ConjugateGradient(ConjugateGradient&&) noexcept = default;
ConjugateGradient& ConjugateGradient::operator=(ConjugateGradient&&) noexcept = default;
ConjugateGradient::~ConjugateGradient() = default;

void ConjugateGradient::analyse(const Matrix& A) {
    Impl& s = *impl_;
    s.num_unknowns = static_cast<int>(A.rows());
    s.num_entries = A.nonZeros();
    s.A.set_pattern(A);
    const auto num_rows = static_cast<std::size_t>(s.A.num_rows());
    s.D_inverse.assign(9 * num_rows + 1, 0.0);
    if (s.options.preconditioner == Preconditioner::IncompleteCholesky)
        s.incomplete.set_pattern(s.A);
    for (Eigen::VectorXd* v : {&s.r, &s.z, &s.direction, &s.product})
        v->setZero(3 * s.A.num_rows() + 1);
    for (Eigen::VectorXd* v : {&s.p, &s.q}) v->setZero(s.num_unknowns);
}

void ConjugateGradient::set_values(const Matrix& A, bool renews_factor) noexcept {
    assert(A.rows() == impl_->num_unknowns && A.nonZeros() == impl_->num_entries);
    assert(A.isCompressed());
    impl_->A.set_values(A);
    const bool is_incomplete = impl_->options.preconditioner == Preconditioner::IncompleteCholesky;
    if (is_incomplete && !renews_factor) return;
    impl_->invert_diagonal();
    if (is_incomplete) impl_->incomplete.factor(impl_->A, impl_->D_inverse);
}

CgResult ConjugateGradient::solve(const Eigen::Ref<const Eigen::VectorXd>& b,
                                  Eigen::Ref<Eigen::VectorXd> x) noexcept {
    return solve_with(nullptr, nullptr, b, x);
}

CgResult ConjugateGradient::solve_with(ApplyFunction apply, const void* context,
                                       const Eigen::Ref<const Eigen::VectorXd>& b,
                                       Eigen::Ref<Eigen::VectorXd> x) noexcept {
    Impl& s = *impl_;
    const int n = s.num_unknowns;
    assert(b.size() == n && x.size() == n);
    if (!x.allFinite()) x.setZero();
    if (!b.allFinite()) return {CgStatus::NotFinite, 0, 1.0};
    const double largest = n > 0 ? b.cwiseAbs().maxCoeff() : 0.0;
    if (largest == 0) {
        x.setZero();
        return {CgStatus::Converged, 0, 0.0};
    }

    const auto multiply = [&] {
        if (apply != nullptr)
            copy_and_apply(apply, context, s.direction, s.p, s.q, s.product);
        else
            multiply_blocks(s.A.rows(), s.direction.data(), s.product.data());
    };
    // Residuals are scaled by a power of two, so that squares of extreme loads neither overflow nor
    // vanish; x is not.
    const double scale = std::ldexp(1.0, -std::ilogb(largest));
    const double norm_b = (scale * b).norm(), goal = s.options.tolerance * norm_b;
    const auto set_residual = [&] {
        s.direction.head(n) = x;
        multiply();
        s.r.head(n) = scale * (b - s.product.head(n));
    };

    set_residual();
    double norm_r = s.r.norm();
    if (!std::isfinite(norm_r)) {
        x.setZero();
        s.r.head(n) = scale * b;
        norm_r = norm_b;
    }
    CgResult result{CgStatus::IterationLimit, 0, 0.0};
    bool residual_is_exact = true, restart = true;
    double rz = 0;
    while (true) {
        if (norm_r <= goal) {
            // the residual of the recursion drifts away from the true one
            if (!residual_is_exact) {
                set_residual();
                norm_r = s.r.norm();
                restart = true;
            }
            if (norm_r <= goal) {
                result.status = CgStatus::Converged;
                break;
            }
        }
        if (result.iterations == s.options.max_iterations) break;

        s.precondition();
        const double rz_prev = rz;
        rz = s.r.dot(s.z);
        if (restart)
            s.direction = s.z;
        else
            s.direction = s.z + (rz / rz_prev) * s.direction;
        restart = false;
        multiply();
        const double curvature = s.direction.dot(s.product);
        const double step = rz / curvature;
        if (!std::isfinite(curvature) || !std::isfinite(step / scale) || !(rz > 0) ||
            !(curvature > 0)) {
            const bool definite = !(curvature <= 0) && !(rz <= 0);
            result.status = definite ? CgStatus::NotFinite : CgStatus::NotPositiveDefinite;
            break;
        }
        x += (step / scale) * s.direction.head(n);
        s.r -= step * s.product;
        norm_r = s.r.norm();
        residual_is_exact = false;
        ++result.iterations;
    }
    result.relative_residual = norm_r / norm_b;
    if (!x.allFinite() || !std::isfinite(result.relative_residual)) {
        x.setZero();
        result.status = CgStatus::NotFinite;
    }
    if (result.status == CgStatus::NotFinite) result.relative_residual = 1.0;
    return result;
}

const CgOptions& ConjugateGradient::options() const noexcept { return impl_->options; }
void ConjugateGradient::set_tolerance(double tolerance) noexcept {
    impl_->options.tolerance = tolerance;
}
double ConjugateGradient::diagonal_shift() const noexcept { return impl_->incomplete.shift(); }

std::string_view to_string(CgStatus status) noexcept {
    switch (status) {
        case CgStatus::Converged: return "converged";
        case CgStatus::IterationLimit: return "iteration limit";
        case CgStatus::NotPositiveDefinite: return "not positive definite";
        case CgStatus::NotFinite: return "not finite";
    }
    return "unknown status";
}

}  // namespace pliant
