// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "reduction/quartic_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/quartic_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At most 256 bits: wider vectors bring nothing where they are split inside (measured on Zen 4),
/// and cost more zeros.
template <class T>
using LaneTag = hn::CappedTag<T, QuarticLayout<T>::kGranule>;
template <class D>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

/// Keeps a vector in its register: g++ loads it again for each use, and the loads are the limit.
template <class V>
HWY_INLINE V kept(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    __asm__("" : "+v"(v.raw));
#endif
    return v;
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_to(D d, const hn::Vec<D>& v, T* to) {
    hn::StoreU(hn::Add(hn::LoadU(d, to), v), d, to);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void set_zero(D d, std::size_t count, T* to) {
    // kept: a loop that g++ takes for memset becomes a slow string instruction
    const auto zero = kept(hn::Zero(d));
    for (std::size_t c = 0; c < count; c += kLanes<D>) hn::Store(zero, d, to + c);
}

// add_sums: to_r += sum of the lanes of v_r, r = 0 … 3
#if HWY_MAX_BYTES >= 16
HWY_INLINE void add_sums(hn::FixedTag<double, 2> d, const hn::Vec<hn::FixedTag<double, 2>>* v,
                         double* to) {
    for (int r = 0; r < 4; r += 2)
        add_to(
            d,
            hn::Add(hn::InterleaveLower(d, v[r], v[r + 1]), hn::InterleaveUpper(d, v[r], v[r + 1])),
            to + r);
}
HWY_INLINE void add_sums(hn::FixedTag<float, 4> d, const hn::Vec<hn::FixedTag<float, 4>>* v,
                         float* to) {
    const auto a = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const auto b = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    add_to(d, hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a)), to);
}
#endif
#if HWY_MAX_BYTES >= 32
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_sums(D, const hn::Vec<D>* v, T* to) {
    const hn::Half<D> half;
    hn::Vec<hn::Half<D>> folded[4];
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) folded[r] =
        hn::Add(hn::LowerHalf(half, v[r]), hn::UpperHalf(half, v[r]));
    add_sums(half, folded, to);
}
#elif HWY_MAX_BYTES < 16
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_sums(D, const hn::Vec<D>* v, T* to) {
    for (int r = 0; r < 4; ++r) to[r] += hn::GetLane(v[r]);
}
#endif

/// Products of all pairs of variables.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_pairs(D d, int R, const T* q, T* products) {
    for (int k = 0; k < R; ++k) {
        // what goes too far is overwritten by the next run, or lies behind the last
        const auto qk = hn::Set(d, q[k]);
        for (int l = k; l < R; l += kLanes<D>)
            hn::StoreU(hn::Mul(qk, hn::LoadU(d, q + l)), d, products + l - k);
        products += R - k;
    }
    // these meet coefficients that are zero
    for (int c = 0; c < QuarticLayout<T>::kGranule; ++c) products[c] = 0;
}

/// g_a = factor Σ_b (M_ab + M_ba) q_b. Rows behind the last are zero.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_symmetrised(D d, const QuarticEvaluation<T>& e, T factor) {
    const QuarticLayout<T> layout{e.num_variables};
    const int R = e.num_variables, stride = layout.padded();
    T* const HWY_RESTRICT g = e.gradient;
    set_zero(d, static_cast<std::size_t>(stride), g);
    for (int a = 0; a < R; a += 4) {
        const T* const M = e.matrix + a * stride;
        hn::Vec<D> sums[4], qa[4];
        PLIANT_UNROLL for (int r = 0; r < 4; ++r) {
            sums[r] = hn::Zero(d);
            qa[r] = hn::Set(d, e.q[a + r]);
        }
        for (int b = 0; b < R; b += kLanes<D>) {
            const auto x = hn::Load(d, e.q + b);
            auto y = hn::Load(d, g + b);
            PLIANT_UNROLL for (int r = 0; r < 4; ++r) {
                const auto v = hn::Load(d, M + r * stride + b);
                sums[r] = hn::MulAdd(v, x, sums[r]);
                y = hn::MulAdd(v, qa[r], y);
            }
            hn::Store(y, d, g + b);
        }
        add_sums(d, sums, g + a);
    }
    for (int a = 0; a < R; ++a) g[a] *= factor;
}

/// One block of columns, and where the rows of j and j + 1 stand in it.
template <class T>
struct TileRows {
    const T* products;  ///< of the first column
    int count;          ///< columns
    const T* qj;
    T* s;  ///< row of j in the matrix
    int stride;
};

/// A tile of kRows i: s_ij += Σ_c w_ijc Q_c and t_c += Σ w_ijc q_i q_j.
template <int kRows, bool kIsLast, class D, class T = hn::TFromD<D>>
HWY_INLINE const T* gradient_tile(D d, const T* HWY_RESTRICT w, const TileRows<T>& rows,
                                  const T* qi, int i, T* HWY_RESTRICT t) {
    constexpr int kGranule = QuarticLayout<T>::kGranule;
    constexpr int kSize = 2 * kRows + (kIsLast ? 1 : 0);
    hn::Vec<D> s0[4], s1[4], factors[kRows];
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) s0[r] = s1[r] = hn::Zero(d);
    PLIANT_UNROLL for (int r = 0; r < kRows; ++r) factors[r] = hn::Set(d, qi[r]);
    const auto q0 = hn::Set(d, rows.qj[0]), q1 = hn::Set(d, rows.qj[1]);
    for (int c = 0; c < rows.count; c += kGranule, w += kSize * kGranule)
        PLIANT_UNROLL for (int h = 0; h < kGranule; h += kLanes<D>) {
            const auto x = hn::Load(d, rows.products + c + h);
            auto y0 = hn::Zero(d), y1 = hn::Zero(d);
            PLIANT_UNROLL for (int r = 0; r < kRows; ++r) {
                const auto w0 = kept(hn::Load(d, w + 2 * r * kGranule + h));
                const auto w1 = kept(hn::Load(d, w + (2 * r + 1) * kGranule + h));
                s0[r] = hn::MulAdd(w0, x, s0[r]);
                s1[r] = hn::MulAdd(w1, x, s1[r]);
                y0 = r == 0 ? hn::Mul(factors[r], w0) : hn::MulAdd(factors[r], w0, y0);
                y1 = r == 0 ? hn::Mul(factors[r], w1) : hn::MulAdd(factors[r], w1, y1);
            }
            if constexpr (kIsLast) {
                const auto w1 = kept(hn::Load(d, w + 2 * kRows * kGranule + h));
                s1[kRows] = hn::MulAdd(w1, x, s1[kRows]);
                y1 = hn::MulAdd(q1, w1, y1);
            }
            T* const to = t + c + h;
            hn::Store(hn::MulAdd(q0, y0, hn::MulAdd(q1, y1, hn::Load(d, to))), d, to);
        }
    add_sums(d, s0, rows.s + i);
    add_sums(d, s1, rows.s + rows.stride + i);
    return w;
}

template <class T>
HWY_INLINE void gradient(const QuarticEvaluation<T>& e) {
    using Layout = QuarticLayout<T>;
    const LaneTag<T> d;
    const int R = e.num_variables;
    const Layout layout{R};
    const int stride = layout.padded();
    const T* const q = e.q;
    T *const t = e.sums, *const M = e.matrix;
    multiply_pairs(d, R, q, e.products);
    set_zero(d, layout.num_products(), t);
    set_zero(d, layout.matrix_size(), M);

    // M_ji = Σ_kl w q_k q_l, t_kl = Σ_ij w q_i q_j
    const T* w = e.w;
    for (int first = 0; first < layout.num_columns(); first += Layout::kBlock)
        for (int j = 0; j < R && layout.column_of(j) < first + Layout::kBlock; j += 2) {
            const int begin = layout.begin(first, j);
            const TileRows<T> rows{e.products + first + begin, layout.width(first) - begin, q + j,
                                   M + j * stride, stride};
            T* const to = t + first + begin;
            int i = 0;
            for (; i + 4 <= j; i += 4) w = gradient_tile<4, false>(d, w, rows, q + i, i, to);
            w = i == j ? gradient_tile<1, true>(d, w, rows, q + i, i, to)
                       : gradient_tile<3, true>(d, w, rows, q + i, i, to);
        }
    // M_kl += t_kl; what goes too far lies behind the last column
    const T* from = t;
    for (int k = 0; k < R; ++k) {
        for (int l = k; l < R; l += kLanes<LaneTag<T>>)
            add_to(d, hn::LoadU(d, from + l - k), M + k * stride + l);
        from += R - k;
    }
    multiply_symmetrised(d, e, T(1));
}

/// A tile of kRows i: s_ij += Σ_c w_ijc Q_c, z_ic += w_ijc q_j and z_jc += w_ijc q_i; twice for
/// i = j.
template <int kRows, bool kIsLast, class D, class T = hn::TFromD<D>>
HWY_INLINE const T* hessian_tile(D d, const T* HWY_RESTRICT w, const TileRows<T>& rows, const T* qi,
                                 int i, T* HWY_RESTRICT zi, T* HWY_RESTRICT zj) {
    constexpr int kGranule = QuarticLayout<T>::kGranule;
    constexpr int kNext = QuarticLayout<T>::kSumsOfVariable;
    constexpr int kSize = 2 * kRows + (kIsLast ? 1 : 0);
    hn::Vec<D> s0[4], s1[4], factors[kRows];
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) s0[r] = s1[r] = hn::Zero(d);
    PLIANT_UNROLL for (int r = 0; r < kRows; ++r) factors[r] = hn::Set(d, qi[r]);
    const auto q0 = hn::Set(d, rows.qj[0]), q1 = hn::Set(d, rows.qj[1]);
    for (int c = 0; c < rows.count; c += kGranule, w += kSize * kGranule)
        PLIANT_UNROLL for (int h = 0; h < kGranule; h += kLanes<D>) {
            const auto x = hn::Load(d, rows.products + c + h);
            auto z0 = hn::Load(d, zj + c + h), z1 = hn::Load(d, zj + kNext + c + h);
            PLIANT_UNROLL for (int r = 0; r < kRows; ++r) {
                const auto w0 = kept(hn::Load(d, w + 2 * r * kGranule + h));
                const auto w1 = kept(hn::Load(d, w + (2 * r + 1) * kGranule + h));
                s0[r] = hn::MulAdd(w0, x, s0[r]);
                s1[r] = hn::MulAdd(w1, x, s1[r]);
                z0 = hn::MulAdd(factors[r], w0, z0);
                z1 = hn::MulAdd(factors[r], w1, z1);
                if (kIsLast && r == kRows - 1) {  // i = j
                    z0 = hn::MulAdd(q0, w0, hn::MulAdd(q1, w1, z0));
                } else {
                    T* const to = zi + r * kNext + c + h;
                    hn::Store(hn::MulAdd(q0, w0, hn::MulAdd(q1, w1, hn::Load(d, to))), d, to);
                }
            }
            if constexpr (kIsLast) {
                const auto w1 = kept(hn::Load(d, w + 2 * kRows * kGranule + h));
                s1[kRows] = hn::MulAdd(w1, x, s1[kRows]);
                z1 = hn::MulAdd(hn::Add(q1, q1), w1, z1);
            }
            hn::Store(z0, d, zj + c + h);
            hn::Store(z1, d, zj + kNext + c + h);
        }
    add_sums(d, s0, rows.s + i);
    add_sums(d, s1, rows.s + rows.stride + i);
    return w;
}

/// A run of columns of one k in a block.
template <class T>
struct Run {
    int k, l, count;  ///< l: the first
    const T* z;       ///< sums of variable 0
    T* t;
};

/// For kRows m ≤ k: M_ml += q_k z_ml, M_km += Σ_l q_l z_ml and t_l += Σ_m q_m z_ml.
template <int kRows, class D, class T = hn::TFromD<D>>
HWY_INLINE void spread_rows(D d, const QuarticEvaluation<T>& e, const Run<T>& run, int m) {
    constexpr int kNext = QuarticLayout<T>::kSumsOfVariable;
    const int stride = QuarticLayout<T>{e.num_variables}.padded();
    const T* const z = run.z + m * kNext;
    T *const M = e.matrix + m * stride + run.l, *const HWY_RESTRICT t = run.t;
    hn::Vec<D> sums[4], factors[kRows];
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) sums[r] = hn::Zero(d);
    PLIANT_UNROLL for (int r = 0; r < kRows; ++r) factors[r] = hn::Set(d, e.q[m + r]);
    const auto qk = hn::Set(d, e.q[run.k]);
    for (int c = 0; c < run.count; c += kLanes<D>) {
        const auto x = hn::LoadU(d, e.q + run.l + c);
        auto y = hn::Load(d, t + c);
        PLIANT_UNROLL for (int r = 0; r < kRows; ++r) {
            const auto v = kept(hn::LoadU(d, z + r * kNext + c));
            sums[r] = hn::MulAdd(v, x, sums[r]);
            y = hn::MulAdd(factors[r], v, y);
            T* const to = M + r * stride + c;
            hn::StoreU(hn::MulAdd(qk, v, hn::LoadU(d, to)), d, to);
        }
        hn::Store(y, d, t + c);
    }
    add_sums(d, sums, e.matrix + run.k * stride + m);
}

/// All m ≤ k, and M_kl += ½ Σ_m q_m z_ml. Vectors that go over the end of a run write behind the
/// last column and read variables that are zero; those over the end of the block read sums that are
/// zero.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void spread(D d, const QuarticEvaluation<T>& e, const Run<T>& run) {
    set_zero(d, static_cast<std::size_t>(run.count), run.t);
    int m = 0;
    for (; m + 4 <= run.k + 1; m += 4) spread_rows<4>(d, e, run, m);
    switch (run.k + 1 - m) {
        case 1: spread_rows<1>(d, e, run, m); break;
        case 2: spread_rows<2>(d, e, run, m); break;
        case 3: spread_rows<3>(d, e, run, m); break;
        default: break;
    }
    T* const M = e.matrix + run.k * QuarticLayout<T>{e.num_variables}.padded() + run.l;
    const auto half = hn::Set(d, T(0.5));
    for (int c = 0; c < run.count; c += kLanes<D>)
        hn::StoreU(hn::MulAdd(half, hn::Load(d, run.t + c), hn::LoadU(d, M + c)), d, M + c);
}

template <class T>
HWY_INLINE void hessian(const QuarticEvaluation<T>& e, double* out, std::ptrdiff_t out_stride) {
    using Layout = QuarticLayout<T>;
    constexpr int kBlock = Layout::kBlock, kNext = Layout::kSumsOfVariable;
    const LaneTag<T> d;
    const int R = e.num_variables;
    const Layout layout{R};
    const int stride = layout.padded();
    const T* const q = e.q;
    T *const Z = e.sums, *const M = e.matrix;
    multiply_pairs(d, R, q, e.products);
    set_zero(d, layout.matrix_size(), M);

    const T* w = e.w;
    int k = 0;  // of the first column in the block
    for (int first = 0; first < layout.num_columns(); first += kBlock) {
        // M_ji = Σ_kl w q_k q_l; for each column z_m = Σ_i w_im q_i + Σ_j w_mj q_j
        for (int j = 0; j < R && layout.column_of(j) < first + kBlock; j += 2) {
            const int begin = layout.begin(first, j);
            const TileRows<T> rows{e.products + first + begin, layout.width(first) - begin, q + j,
                                   M + j * stride, stride};
            T *const zj = Z + j * kNext + begin, *zi = Z + begin;
            const std::size_t zeros = static_cast<std::size_t>(rows.count) + Layout::kGranule;
            set_zero(d, zeros, zj);
            set_zero(d, zeros, zj + kNext);
            int i = 0;
            for (; i + 4 <= j; i += 4, zi += 4 * kNext)
                w = hessian_tile<4, false>(d, w, rows, q + i, i, zi, zj);
            w = i == j ? hessian_tile<1, true>(d, w, rows, q + i, i, zi, zj)
                       : hessian_tile<3, true>(d, w, rows, q + i, i, zi, zj);
        }
        // the other pairs of each coefficient
        HWY_ALIGN T t[kBlock];
        const int end = std::min(first + kBlock, layout.num_columns());
        for (int c = first; c < end;) {
            const int l = k + c - layout.column_of(k);
            const Run<T> run{k, l, std::min(R - l, end - c), Z + c - first, t};
            spread(d, e, run);
            c += run.count;
            if (l + run.count == R) ++k;
        }
    }

    // the Hessian is M + Mᵀ; three times the gradient by Euler's identity
    multiply_symmetrised(d, e, T(1) / 3);
    for (int a = 1; a < R; ++a)
        for (int b = 1; b <= a; ++b) {
            const T value = M[a * stride + b] + M[b * stride + a];
            out[(a - 1) * out_stride + b - 1] = value;
            out[(b - 1) * out_stride + a - 1] = value;
        }
}

void gradient_f64(const QuarticEvaluation<double>& e) { gradient(e); }
void gradient_f32(const QuarticEvaluation<float>& e) { gradient(e); }
void hessian_f64(const QuarticEvaluation<double>& e, double* out, std::ptrdiff_t stride) {
    hessian(e, out, stride);
}
void hessian_f32(const QuarticEvaluation<float>& e, double* out, std::ptrdiff_t stride) {
    hessian(e, out, stride);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(gradient_f64);
HWY_EXPORT(gradient_f32);
HWY_EXPORT(hessian_f64);
HWY_EXPORT(hessian_f32);

void quartic_gradient(const QuarticEvaluation<double>& evaluation) noexcept {
    HWY_DYNAMIC_DISPATCH(gradient_f64)(evaluation);
}
void quartic_gradient(const QuarticEvaluation<float>& evaluation) noexcept {
    HWY_DYNAMIC_DISPATCH(gradient_f32)(evaluation);
}
void quartic_hessian(const QuarticEvaluation<double>& evaluation, double* hessian,
                     std::ptrdiff_t stride) noexcept {
    HWY_DYNAMIC_DISPATCH(hessian_f64)(evaluation, hessian, stride);
}
void quartic_hessian(const QuarticEvaluation<float>& evaluation, double* hessian,
                     std::ptrdiff_t stride) noexcept {
    HWY_DYNAMIC_DISPATCH(hessian_f32)(evaluation, hessian, stride);
}

}  // namespace pliant
#endif
