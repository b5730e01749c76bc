// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "fem/block_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Three numbers in a register.
#if HWY_MAX_BYTES >= 32
class Triple {
    using Tag = hn::FixedTag<double, 4>;
    hn::Vec<Tag> v_;

public:
    HWY_INLINE Triple() : v_(hn::Zero(Tag())) {}
    HWY_INLINE void load(const double* p) { v_ = hn::LoadU(Tag(), p); }
    HWY_INLINE void add_scaled(const double* p, double s) {
        v_ = hn::MulAdd(hn::LoadU(Tag(), p), hn::Set(Tag(), s), v_);
    }
    HWY_INLINE void subtract_scaled(const double* p, double s) {
        v_ = hn::NegMulAdd(hn::LoadU(Tag(), p), hn::Set(Tag(), s), v_);
    }
    HWY_INLINE void add(const Triple& other) { v_ = hn::Add(v_, other.v_); }
    /// Keeps p[3] as it is.
    HWY_INLINE void store(double* p) const {
        hn::StoreU(hn::IfThenElse(hn::FirstN(Tag(), 3), v_, hn::LoadU(Tag(), p)), Tag(), p);
    }
};
#else
class Triple {
    double v_[3] = {0, 0, 0};

public:
    HWY_INLINE void load(const double* p) {
        for (int i = 0; i < 3; ++i) v_[i] = p[i];
    }
    HWY_INLINE void add_scaled(const double* p, double s) {
        for (int i = 0; i < 3; ++i) v_[i] += p[i] * s;
    }
    HWY_INLINE void subtract_scaled(const double* p, double s) {
        for (int i = 0; i < 3; ++i) v_[i] -= p[i] * s;
    }
    HWY_INLINE void add(const Triple& other) {
        for (int i = 0; i < 3; ++i) v_[i] += other.v_[i];
    }
    HWY_INLINE void store(double* p) const {
        for (int i = 0; i < 3; ++i) p[i] = v_[i];
    }
};
#endif

/// Σ_j A_ij x_j; three sums hide the latency of an addition.
HWY_INLINE Triple row_product(const BlockRows& A, int row, const double* x) {
    Triple sums[3];
    for (int k = A.offsets[row]; k < A.offsets[row + 1]; ++k) {
        const double* block = A.values + std::size_t{9} * k;
        const double* xj = x + std::size_t{3} * A.columns[k];
        sums[0].add_scaled(block, xj[0]);
        sums[1].add_scaled(block + 3, xj[1]);
        sums[2].add_scaled(block + 6, xj[2]);
    }
    sums[0].add(sums[1]);
    sums[0].add(sums[2]);
    return sums[0];
}

void multiply(const BlockRows& A, const double* x, double* y) {
    for (int i = 0; i < A.num_rows; ++i) row_product(A, i, x).store(y + std::size_t{3} * i);
}

void multiply_diagonal(int num_rows, const double* D, const double* x, double* y) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(num_rows); ++i) {
        Triple sum;
        for (std::size_t c = 0; c < 3; ++c) sum.add_scaled(D + 9 * i + 3 * c, x[3 * i + c]);
        sum.store(y + 3 * i);
    }
}

HWY_INLINE void solve_row(const BlockRows& L, int row, double* y) {
    double product[4] = {0, 0, 0, 0};
    row_product(L, row, y).store(product);
    for (std::size_t c = 0; c < 3; ++c) y[std::size_t{3} * row + c] -= product[c];
}

void solve_lower(const BlockRows& L, double* y) {
    for (int i = 0; i < L.num_rows; ++i) solve_row(L, i, y);
}

void solve_upper(const BlockRows& U, double* y) {
    for (int i = U.num_rows - 1; i >= 0; --i) solve_row(U, i, y);
}

/// C −= A Bᵀ.
HWY_INLINE void subtract_product(const double* A, const double* B, Triple* C) {
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t m = 0; m < 3; ++m) C[c].subtract_scaled(A + 3 * m, B[3 * m + c]);
}

bool factor(const IncompleteFactorBlocks& f, double shift) {
    const auto block = [](auto* blocks, int k) { return blocks + std::size_t{9} * k; };
    for (int i = 0; i < f.num_rows; ++i) {
        Triple D[3];
        for (std::size_t c = 0; c < 3; ++c) D[c].load(block(f.A_diagonal, i) + 3 * c);
        for (int p = f.offsets[i]; p < f.offsets[i + 1]; ++p) {
            // (L D)_ij = A_ij − Σ_k (L D)_ik L_jkᵀ
            Triple S[3];
            for (std::size_t c = 0; c < 3; ++c) S[c].load(block(f.A_lower, p) + 3 * c);
            for (int u = f.update_offsets[p]; u < f.update_offsets[p + 1]; ++u)
                subtract_product(block(f.scaled, f.updates[2 * u]),
                                 block(f.L, f.updates[2 * u + 1]), S);
            double* scaled = block(f.scaled, p);
            for (std::size_t c = 0; c < 3; ++c) S[c].store(scaled + 3 * c);

            // L_ij = (L D)_ij D_j⁻¹
            double* L = block(f.L, p);
            double* L_transposed = block(f.L_transposed, f.transposed[p]);
            const double* D_inverse = block(f.D_inverse, f.columns[p]);
            for (std::size_t c = 0; c < 3; ++c) {
                Triple column;
                for (std::size_t m = 0; m < 3; ++m)
                    column.add_scaled(scaled + 3 * m, D_inverse[3 * c + m]);
                column.store(L + 3 * c);
                for (std::size_t r = 0; r < 3; ++r) L_transposed[3 * r + c] = L[3 * c + r];
            }
            // D_i = A_ii − Σ_j L_ij (L D)_ijᵀ
            subtract_product(L, scaled, D);
        }
        double pivots[10] = {}, reference[3];
        for (std::size_t c = 0; c < 3; ++c) {
            D[c].store(pivots + 3 * c);
            const double diagonal = block(f.A_diagonal, i)[4 * c];
            reference[c] = (1 + shift) * diagonal;
            pivots[4 * c] += shift * diagonal;
        }
        if (!invert_definite_block(pivots, reference, block(f.D_inverse, i))) return false;
    }
    return true;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(multiply);
HWY_EXPORT(multiply_diagonal);
HWY_EXPORT(solve_lower);
HWY_EXPORT(solve_upper);
HWY_EXPORT(factor);

void multiply_blocks(const BlockRows& A, const double* x, double* y) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply)(A, x, y);
}
void multiply_diagonal_blocks(int num_rows, const double* D, const double* x, double* y) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply_diagonal)(num_rows, D, x, y);
}
void solve_unit_lower(const BlockRows& L, double* y) noexcept {
    HWY_DYNAMIC_DISPATCH(solve_lower)(L, y);
}
void solve_unit_upper(const BlockRows& U, double* y) noexcept {
    HWY_DYNAMIC_DISPATCH(solve_upper)(U, y);
}
bool factor_incompletely(const IncompleteFactorBlocks& blocks, double shift) noexcept {
    return HWY_DYNAMIC_DISPATCH(factor)(blocks, shift);
}

bool invert_definite_block(const double* block, const double* reference, double* inverse) noexcept {
    constexpr double kSmallestPivot = 1e-4;
    // L D Lᵀ of the block; comparisons are written so that a NaN fails
    const double d0 = block[0];
    if (!(d0 > kSmallestPivot * reference[0])) return false;
    const double l1 = block[1] / d0, l2 = block[2] / d0;
    const double d1 = block[4] - l1 * block[1];
    if (!(d1 > kSmallestPivot * reference[1])) return false;
    const double s = block[5] - l1 * block[2], l3 = s / d1;
    const double d2 = block[8] - l2 * block[2] - l3 * s;
    if (!(d2 > kSmallestPivot * reference[2] && d2 < 1e300)) return false;
    // L⁻ᵀ D⁻¹ L⁻¹
    const double m = l1 * l3 - l2;
    inverse[8] = 1 / d2;
    inverse[5] = inverse[7] = -l3 / d2;
    inverse[2] = inverse[6] = m / d2;
    inverse[4] = 1 / d1 + l3 * l3 / d2;
    inverse[1] = inverse[3] = -l1 / d1 - l3 * m / d2;
    inverse[0] = 1 / d0 + l1 * l1 / d1 + m * m / d2;
    return true;
}

}  // namespace pliant
#endif
