// The elastic laws of docs/fem.md section "Materials" for one tetrahedron in each lane of a vector;
// λ and μ come times the weight of the element. Each law is built from H = ∇u and then answers for
//     stress()             P = ∂W/∂F
//     stress_change(dF)    ∂P/∂F : dF
//     block(a, b)          Σ_kl g_ak ∂P_·k/∂F_·l g_bl, after set_gradients(g)
//     det_F()
// For the domains of tet_domain_kernels.h λ is zero, and θ of material_dilation.h counts instead:
//     dilation()           θ
//     dilation_gradient()  ∂θ/∂F
//     add_pressure(p)      to be called first: stress() becomes P + p ∂θ/∂F, and so on
// Highway includes this file once for each instruction set.
#if defined(PLIANT_FEM_TET_LAWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_TET_LAWS_INL_H
#undef PLIANT_FEM_TET_LAWS_INL_H
#else
#define PLIANT_FEM_TET_LAWS_INL_H
#endif

#include <hwy/highway.h>

#include "fem/matrix3-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Twice the Green strain, H + Hᵀ + HᵀH: near rest FᵀF − I would lose all digits of float.
template <class D>
HWY_INLINE Matrix3<D> twice_green_strain(const Matrix3<D>& H) {
    Matrix3<D> E;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        PLIANT_UNROLL
        for (int j = i; j < 3; ++j) {
            auto sum = hn::Add(H.m[i][j], H.m[j][i]);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) sum = hn::MulAdd(H.m[k][i], H.m[k][j], sum);
            E.m[i][j] = E.m[j][i] = sum;
        }
    }
    return E;
}
/// λ/2 tr(E) I + μ E: the stress of twice the strain E.
template <class D>
HWY_INLINE Matrix3<D> linear_stress(const hn::Vec<D>& lambda, const hn::Vec<D>& mu,
                                    const Matrix3<D>& twice_strain) {
    Matrix3<D> S = scaled<D>(mu, twice_strain);
    add_to_diagonal<D>(hn::Mul(hn::Mul(hn::Set(D(), 0.5), lambda), trace(twice_strain)), S);
    return S;
}

/// What all laws keep.
template <class D>
class LawLanes {
public:
    using V = hn::Vec<D>;
    static constexpr bool kMayRedo = false;  ///< there is a mask redo() of lanes left out

    HWY_INLINE void set_gradients(const Vector3<D>* g) { g_ = g; }
    HWY_INLINE V det_F() const { return determinant(F_, cofactor(F_)); }

protected:
    HWY_INLINE LawLanes(const Matrix3<D>& H, const V& lambda, const V& mu)
        : F_(H), lambda_(lambda), mu_(mu) {
        add_to_diagonal<D>(hn::Set(D(), 1), F_);
    }
    Matrix3<D> F_;
    V lambda_, mu_;
    const Vector3<D>* g_ = nullptr;
};

/// P = F S, S = λ tr(E) I + 2μ E, eq. (M3) and (M4).
template <class D>
class StVenantKirchhoffLanes : public LawLanes<D> {
public:
    using typename LawLanes<D>::V;

    HWY_INLINE StVenantKirchhoffLanes(const Matrix3<D>& H, const V& lambda, const V& mu)
        : LawLanes<D>(H, lambda, mu) {
        const Matrix3<D> twice_strain = twice_green_strain(H);
        dilation_ = hn::Mul(hn::Set(D(), 0.5), trace(twice_strain));
        S_ = linear_stress<D>(lambda, mu, twice_strain);
    }

    HWY_INLINE V dilation() const { return dilation_; }
    HWY_INLINE Matrix3<D> dilation_gradient() const { return this->F_; }
    HWY_INLINE void add_pressure(const V& p) { add_to_diagonal<D>(p, S_); }
    HWY_INLINE Matrix3<D> stress() const { return product(this->F_, S_); }
    HWY_INLINE Matrix3<D> stress_change(const Matrix3<D>& dF) const {
        const Matrix3<D> dS =
            linear_stress<D>(this->lambda_, this->mu_, twice_symmetric(this->F_, dF));
        Matrix3<D> dP = product(dF, S_);
        add_scaled<D>(hn::Set(D(), 1), product(this->F_, dS), dP);
        return dP;
    }
    HWY_INLINE void set_gradients(const Vector3<D>* g) {
        this->g_ = g;
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            Fg_[a] = product(this->F_, g[a]);
            Sg_[a] = product(S_, g[a]);
        }
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = i; j < 3; ++j) {
                const auto& F = this->F_.m;
                mu_FFt_.m[i][j] = mu_FFt_.m[j][i] =
                    hn::Mul(this->mu_, dot(F[i][0], F[i][1], F[i][2], F[j][0], F[j][1], F[j][2]));
            }
        }
    }
    /// λ Fg_a Fg_bᵀ + μ Fg_b Fg_aᵀ + g_a·g_b μ FFᵀ + g_a·S g_b I.
    HWY_INLINE Matrix3<D> block(int a, int b) const {
        Matrix3<D> K = scaled<D>(dot(this->g_[a], this->g_[b]), mu_FFt_);
        add_to_diagonal<D>(dot(this->g_[a], Sg_[b]), K);
        add_outer<D>(this->lambda_, Fg_[a], Fg_[b], K);
        add_outer<D>(this->mu_, Fg_[b], Fg_[a], K);
        return K;
    }

private:
    V dilation_;
    Matrix3<D> S_, mu_FFt_;
    Vector3<D> Fg_[3], Sg_[3];
};

/// P = λ tr(H) I + μ (H + Hᵀ).
template <class D>
class SmallStrainLanes : public LawLanes<D> {
public:
    using typename LawLanes<D>::V;

    HWY_INLINE SmallStrainLanes(const Matrix3<D>& H, const V& lambda, const V& mu)
        : LawLanes<D>(H, lambda, mu), H_(H), pressure_(hn::Zero(D())) {}

    HWY_INLINE V dilation() const { return trace(H_); }
    HWY_INLINE Matrix3<D> dilation_gradient() const {
        return multiple_of_identity<D>(hn::Set(D(), 1));
    }
    HWY_INLINE void add_pressure(const V& p) { pressure_ = p; }
    HWY_INLINE Matrix3<D> stress() const {
        Matrix3<D> P = stress_change(H_);
        add_to_diagonal<D>(pressure_, P);
        return P;
    }
    HWY_INLINE Matrix3<D> stress_change(const Matrix3<D>& dF) const {
        Matrix3<D> dP;
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = i; j < 3; ++j)
                dP.m[i][j] = dP.m[j][i] = hn::Mul(this->mu_, hn::Add(dF.m[i][j], dF.m[j][i]));
        }
        add_to_diagonal<D>(hn::Mul(this->lambda_, trace(dF)), dP);
        return dP;
    }
    /// λ g_a g_bᵀ + μ g_b g_aᵀ + μ g_a·g_b I.
    HWY_INLINE Matrix3<D> block(int a, int b) const {
        const Vector3<D>* const g = this->g_;
        Matrix3<D> K = multiple_of_identity<D>(hn::Mul(this->mu_, dot(g[a], g[b])));
        add_outer<D>(this->lambda_, g[a], g[b], K);
        add_outer<D>(this->mu_, g[b], g[a], K);
        return K;
    }

private:
    Matrix3<D> H_;
    V pressure_;
};

/// P = a F + b C, C = cof F, eq. (M8), in terms of H: a and b cancel at rest.
template <class D>
class NeoHookeanLanes : public LawLanes<D> {
public:
    using typename LawLanes<D>::V;

    HWY_INLINE NeoHookeanLanes(const Matrix3<D>& H, const V& lambda, const V& mu)
        : LawLanes<D>(H, lambda, mu) {
        const D d;
        const V mu_n = hn::Mul(hn::Set(d, 4.0 / 3.0), mu);
        lambda_n_ = hn::MulAdd(hn::Set(d, 5.0 / 6.0), mu, lambda);
        const Matrix3<D> cof_H = cofactor(H);
        const V trace_H = trace(H);
        dilation_ = hn::Add(trace_H, hn::Add(trace(cof_H), determinant(H, cof_H)));
        // I − 3 = 2 tr H + H:H
        const V stretch = hn::Add(hn::Add(trace_H, trace_H), contraction(H, H));
        const V r = hn::Div(hn::Set(d, 1), hn::Add(hn::Set(d, 4), stretch));
        const V mu_r = hn::Mul(mu_n, r);
        a_ = hn::Sub(mu_n, mu_r);
        twice_da_ = hn::Mul(hn::Set(d, 2), hn::Mul(mu_r, r));
        a_plus_b_ =
            hn::MulAdd(lambda_n_, dilation_, hn::Mul(hn::Set(d, 0.25), hn::Mul(mu_r, stretch)));
        // cof F = (1 + tr H) I − Hᵀ + cof H
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = 0; j < 3; ++j) {
                C_.m[i][j] = hn::Sub(cof_H.m[i][j], H.m[j][i]);
                F_minus_C_.m[i][j] = hn::Sub(H.m[i][j], C_.m[i][j]);
            }
        }
        add_to_diagonal<D>(hn::Add(hn::Set(d, 1), trace_H), C_);
        add_to_diagonal<D>(hn::Neg(trace_H), F_minus_C_);
    }

    HWY_INLINE V det_F() const { return hn::Add(hn::Set(D(), 1), dilation_); }
    HWY_INLINE V dilation() const { return dilation_; }
    HWY_INLINE Matrix3<D> dilation_gradient() const { return C_; }
    HWY_INLINE void add_pressure(const V& p) { a_plus_b_ = hn::Add(a_plus_b_, p); }
    HWY_INLINE Matrix3<D> stress() const {
        Matrix3<D> P = scaled<D>(a_, F_minus_C_);
        add_scaled<D>(a_plus_b_, C_, P);
        return P;
    }
    /// a dF + 2a' (F:dF) F + λ' (C:dF) C + b ∂C/∂F : dF.
    HWY_INLINE Matrix3<D> stress_change(const Matrix3<D>& dF) const {
        const auto& F = this->F_.m;
        Matrix3<D> dC;
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = 0; j < 3; ++j) {
                const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                const V plus =
                    hn::MulAdd(F[i1][j1], dF.m[i2][j2], hn::Mul(dF.m[i1][j1], F[i2][j2]));
                const V minus =
                    hn::MulAdd(F[i1][j2], dF.m[i2][j1], hn::Mul(dF.m[i1][j2], F[i2][j1]));
                dC.m[i][j] = hn::Sub(plus, minus);
            }
        }
        Matrix3<D> dP = scaled<D>(a_, dF);
        add_scaled<D>(hn::Mul(twice_da_, contraction(this->F_, dF)), this->F_, dP);
        add_scaled<D>(hn::Mul(lambda_n_, contraction(C_, dF)), C_, dP);
        add_scaled<D>(hn::Sub(a_plus_b_, a_), dC, dP);
        return dP;
    }
    HWY_INLINE void set_gradients(const Vector3<D>* g) {
        this->g_ = g;
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            Fg_[a] = product(this->F_, g[a]);
            Cg_[a] = product(C_, g[a]);
        }
    }
    /// a g_a·g_b I + 2a' Fg_a Fg_bᵀ + λ' Cg_a Cg_bᵀ − b [F (g_a × g_b)]×.
    HWY_INLINE Matrix3<D> block(int a, int b) const {
        const Vector3<D>* const g = this->g_;
        Matrix3<D> K = multiple_of_identity<D>(hn::Mul(a_, dot(g[a], g[b])));
        add_outer<D>(twice_da_, Fg_[a], Fg_[b], K);
        add_outer<D>(lambda_n_, Cg_[a], Cg_[b], K);
        if (a == b) return K;
        const Vector3<D> x = product(this->F_, cross(g[a], g[b]));
        const V minus_b = hn::Sub(a_, a_plus_b_);
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            K.m[k][j] = hn::MulAdd(minus_b, x.v[i], K.m[k][j]);
            K.m[j][k] = hn::NegMulAdd(minus_b, x.v[i], K.m[j][k]);
        }
        return K;
    }

private:
    Matrix3<D> C_, F_minus_C_;
    V lambda_n_, dilation_, a_, twice_da_, a_plus_b_;
    Vector3<D> Fg_[3], Cg_[3];
};

/// P = R (2μ (S − I) + λ tr(S − I) I), F = R S, eq. (M11). Lanes where the rotation or its
/// derivative needs care (collapsed, inverted, not finite) are marked for the scalar law and
/// contribute nothing here.
template <class D, bool kWithDerivative>
class CorotationalLanes : public LawLanes<D> {
public:
    using typename LawLanes<D>::V;
    using Mask = hn::Mask<D>;
    static constexpr bool kMayRedo = true;

    HWY_INLINE CorotationalLanes(const Matrix3<D>& H, const V& lambda, const V& mu)
        : LawLanes<D>(H, lambda, mu) {
        const D d;
        det_F_ = LawLanes<D>::det_F();
        redo_ = hn::Not(rotate());
        Matrix3<D> S = stretch();
        if constexpr (kWithDerivative) redo_ = hn::Or(redo_, hn::Not(invert_G()));

        // S − I = E − ½ (S − I)², which keeps the digits that the difference loses near rest
        add_to_diagonal<D>(hn::Set(d, -1), S);
        Matrix3<D> twice_D = twice_green_strain(H);
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = i; j < 3; ++j) {
                V sum = twice_D.m[i][j];
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k) sum = hn::NegMulAdd(S.m[i][k], S.m[k][j], sum);
                twice_D.m[i][j] = twice_D.m[j][i] = sum;
            }
        }
        // lanes left out: at rest, without stiffness
        this->lambda_ = hn::IfThenZeroElse(redo_, lambda);
        this->mu_ = hn::IfThenZeroElse(redo_, mu);
        PLIANT_UNROLL
        for (int k = 0; k < 9; ++k) {
            const int i = k / 3, j = k % 3;
            const V rest = hn::Set(d, i == j ? 1 : 0);
            R_.m[i][j] = hn::IfThenElse(redo_, rest, R_.m[i][j]);
            twice_D.m[i][j] = hn::IfThenZeroElse(redo_, twice_D.m[i][j]);
            if constexpr (kWithDerivative)
                G_inverse_.m[i][j] = hn::IfThenZeroElse(redo_, G_inverse_.m[i][j]);
        }
        dilation_ = hn::Mul(hn::Set(d, 0.5), trace(twice_D));
        T_ = linear_stress<D>(this->lambda_, this->mu_, twice_D);
        if constexpr (kWithDerivative)
            kappa_ = hn::Sub(hn::Mul(hn::Mul(hn::Set(d, 0.5), this->lambda_), trace(twice_D)),
                             hn::Add(this->mu_, this->mu_));
    }

    HWY_INLINE V det_F() const { return det_F_; }
    HWY_INLINE Mask redo() const { return redo_; }
    HWY_INLINE V dilation() const { return dilation_; }
    HWY_INLINE Matrix3<D> dilation_gradient() const { return R_; }
    HWY_INLINE void add_pressure(const V& given) {
        const V p = hn::IfThenZeroElse(redo_, given);
        add_to_diagonal<D>(p, T_);
        if constexpr (kWithDerivative) kappa_ = hn::Add(kappa_, p);
    }
    HWY_INLINE Matrix3<D> stress() const { return product(R_, T_); }

    /// 2μ dF + λ (R:dF) R + κ [w]× R,  G w = 2 axial(dF Rᵀ).
    HWY_INLINE Matrix3<D> stress_change(const Matrix3<D>& dF) const {
        Vector3<D> axial;
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            axial.v[i] = hn::Sub(row_dot(dF, k, j), row_dot(dF, j, k));
        }
        const Vector3<D> w = product(G_inverse_, axial);
        Matrix3<D> dP = scaled<D>(hn::Add(this->mu_, this->mu_), dF);
        add_scaled<D>(hn::Mul(this->lambda_, contraction(R_, dF)), R_, dP);
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const V wj = hn::Mul(kappa_, w.v[j]), wk = hn::Mul(kappa_, w.v[k]);
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c)
                dP.m[i][c] = hn::MulAdd(wj, R_.m[k][c], hn::NegMulAdd(wk, R_.m[j][c], dP.m[i][c]));
        }
        return dP;
    }
    HWY_INLINE void set_gradients(const Vector3<D>* g) {
        this->g_ = g;
        PLIANT_UNROLL
        for (int a = 0; a < 3; ++a) {
            Rg_[a] = product(R_, g[a]);
            // −κ [Rg_a]× G⁻¹
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) {
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                const V rj = hn::Mul(kappa_, Rg_[a].v[j]), rk = hn::Mul(kappa_, Rg_[a].v[k]);
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c)
                    turn_[a].m[i][c] =
                        hn::NegMulAdd(rj, G_inverse_.m[k][c], hn::Mul(rk, G_inverse_.m[j][c]));
            }
        }
    }
    /// 2μ g_a·g_b I + λ Rg_a Rg_bᵀ − κ [Rg_a]× G⁻¹ [Rg_b]×.
    HWY_INLINE Matrix3<D> block(int a, int b) const {
        Matrix3<D> K = multiple_of_identity<D>(
            hn::Mul(hn::Add(this->mu_, this->mu_), dot(this->g_[a], this->g_[b])));
        add_outer<D>(this->lambda_, Rg_[a], Rg_[b], K);
        const auto& r = Rg_[b].v;
        const auto& A = turn_[a].m;
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = 0; j < 3; ++j) {
                const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                K.m[i][j] = hn::MulAdd(A[i][j1], r[j2], hn::NegMulAdd(A[i][j2], r[j1], K.m[i][j]));
            }
        }
        return K;
    }

private:
    /// Row i of A times row j of R.
    HWY_INLINE V row_dot(const Matrix3<D>& A, int i, int j) const {
        return dot(A.m[i][0], A.m[i][1], A.m[i][2], R_.m[j][0], R_.m[j][1], R_.m[j][2]);
    }

    /// Newton's iteration of polar_rotation(), and which lanes it serves.
    HWY_INLINE Mask rotate() {
        const D d;
        const V half = hn::Set(d, 0.5);
        const V tolerance = hn::Set(d, sizeof(hn::TFromD<D>) == 8 ? 1e-16 : 1e-8);
        const V size2 = contraction(this->F_, this->F_);
        R_ = scaled<D>(hn::Sqrt(hn::Div(hn::Set(d, 3), size2)), this->F_);
        Matrix3<D> C = cofactor(R_);
        V det = determinant(R_, C);
        const Mask is_fit = hn::Gt(det, hn::Set(d, 0.05));
        Mask is_done = hn::Not(is_fit);
        for (int step = 0; step < 12 && !hn::AllTrue(d, is_done); ++step) {
            const V factor = hn::Div(half, det);
            V change2 = hn::Zero(d);
            PLIANT_UNROLL
            for (int k = 0; k < 9; ++k) {
                V& x = R_.m[k / 3][k % 3];
                const V next = hn::MulAdd(factor, C.m[k / 3][k % 3], hn::Mul(half, x));
                const V change = hn::Sub(next, x);
                change2 = hn::MulAdd(change, change, change2);
                x = next;
            }
            is_done = hn::Or(is_done, hn::Lt(change2, tolerance));
            C = cofactor(R_);
            det = determinant(R_, C);
        }
        return hn::And(is_fit, is_done);
    }

    /// The symmetric part of RᵀF.
    HWY_INLINE Matrix3<D> stretch() const {
        return scaled<D>(hn::Set(D(), 0.5), twice_symmetric(R_, this->F_));
    }

    /// G = tr S I − R S Rᵀ, and where its inverse needs no guard; the threshold is that of the
    /// scalar law.
    HWY_INLINE Mask invert_G() {
        const D d;
        Matrix3<D> G;
        PLIANT_UNROLL
        for (int i = 0; i < 3; ++i) {
            PLIANT_UNROLL
            for (int j = i; j < 3; ++j) {
                const V sum = hn::Add(row_dot(this->F_, i, j), row_dot(this->F_, j, i));
                G.m[i][j] = G.m[j][i] = hn::Mul(hn::Set(d, -0.5), sum);
            }
        }
        add_to_diagonal<D>(hn::Neg(trace(G)), G);
        const Matrix3<D> adjugate = cofactor(G);
        const V det = determinant(G, adjugate);
        G_inverse_ = scaled<D>(hn::Div(hn::Set(d, 1), det), adjugate);
        const V smallest_sum2 = hn::Set(d, 1e-6);
        return hn::And(
            hn::Gt(det, hn::Zero(d)),
            hn::Lt(hn::Mul(smallest_sum2, contraction(adjugate, adjugate)), hn::Mul(det, det)));
    }

    Matrix3<D> R_, T_, G_inverse_, turn_[3];
    V det_F_, dilation_, kappa_;
    Vector3<D> Rg_[3];
    Mask redo_;
};

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
