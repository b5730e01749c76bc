// Part of Highway files, compiled once for each instruction set; the guard lets each of them in.
#if defined(PLIANT_FEM_HEX_MODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_HEX_MODES_INL_H_
#undef PLIANT_FEM_HEX_MODES_INL_H_
#else
#define PLIANT_FEM_HEX_MODES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "fem/hex_kernels.h"
#include "fem/hex_rows-inl.h"

// Loops of constant length: unrolled, so that arrays of vectors become registers.
#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Place among the four values of ∂/∂ξ_axis of the one at Gauss point q: the derivative along an
/// axis is the same at both points along it.
constexpr int slot(int axis, int q) {
    return axis == 0 ? q >> 1 : axis == 1 ? (q & 1) | (q >> 1 & 2) : q & 3;
}
/// The first of the two Gauss points at a slot; the other one is `| 1 << axis`.
constexpr int point_at_slot(int axis, int k) {
    return axis == 0 ? k << 1 : axis == 1 ? (k & 1) | (k & 2) << 1 : k;
}

/// Trilinear functions of several elements at once. Their modes are the factors of the polynomial
/// in ξ, η, ζ: at m that of Π ξ_k over the bits k of m, docs/fem.md eq. (H1).
template <class D>
struct HexModes {
    using V = hn::Vec<D>;
    using T = hn::TFromD<D>;
    static constexpr D d{};

    /// 8 × the modes from values at the corners.
    static HWY_INLINE void from_corners(V (&v)[8]) {
        PLIANT_UNROLL
        for (int axis = 1; axis < 8; axis *= 2) {
            PLIANT_UNROLL
            for (int a = 0; a < 8; ++a)
                if ((a & axis) == 0) {
                    const V low = v[a], high = v[a | axis];
                    v[a] = hn::Add(low, high);
                    v[a | axis] = hn::Sub(high, low);
                }
        }
    }
    /// The transpose.
    static HWY_INLINE void to_corners(V (&v)[8]) {
        PLIANT_UNROLL
        for (int axis = 1; axis < 8; axis *= 2) {
            PLIANT_UNROLL
            for (int a = 0; a < 8; ++a)
                if ((a & axis) == 0) {
                    const V even = v[a], odd = v[a | axis];
                    v[a] = hn::Sub(even, odd);
                    v[a | axis] = hn::Add(even, odd);
                }
        }
    }

    /// scale × what a product of no, one or two coordinates is at the Gauss points ±1/√3.
    struct Factors {
        V one, linear, bilinear;
        explicit HWY_INLINE Factors(V scale)
            : one(scale),
              linear(hn::Mul(scale, hn::Set(d, static_cast<T>(0.57735026918962576451)))),
              bilinear(hn::Mul(scale, hn::Set(d, static_cast<T>(1.0 / 3.0)))) {}
    };
    /// ∂/∂ξ_axis at its four slots.
    static HWY_INLINE void derivative(const V (&modes)[8], int axis, const Factors& f,
                                      V (&out)[4]) {
        const int own = 1 << axis, p = axis == 0 ? 2 : 1, q = axis == 2 ? 2 : 4;
        const V m0 = hn::Mul(f.one, modes[own]), mp = hn::Mul(f.linear, modes[own | p]);
        const V mq = hn::Mul(f.linear, modes[own | q]), mpq = hn::Mul(f.bilinear, modes[7]);
        const V a0 = hn::Sub(m0, mp), a1 = hn::Add(m0, mp);
        const V b0 = hn::Sub(mq, mpq), b1 = hn::Add(mq, mpq);
        out[0] = hn::Sub(a0, b0);
        out[1] = hn::Sub(a1, b1);
        out[2] = hn::Add(a0, b0);
        out[3] = hn::Add(a1, b1);
    }
    /// The transpose.
    static HWY_INLINE void add_derivative(const V (&in)[4], int axis, const Factors& f,
                                          V (&modes)[8]) {
        const int own = 1 << axis, p = axis == 0 ? 2 : 1, q = axis == 2 ? 2 : 4;
        const V a0 = hn::Add(in[0], in[2]), a1 = hn::Add(in[1], in[3]);
        const V b0 = hn::Sub(in[2], in[0]), b1 = hn::Sub(in[3], in[1]);
        modes[own] = hn::MulAdd(f.one, hn::Add(a0, a1), modes[own]);
        modes[own | p] = hn::MulAdd(f.linear, hn::Sub(a1, a0), modes[own | p]);
        modes[own | q] = hn::MulAdd(f.linear, hn::Add(b0, b1), modes[own | q]);
        modes[7] = hn::MulAdd(f.bilinear, hn::Sub(b1, b0), modes[7]);
    }

    /// Something at the slots of all three derivatives: [axis][slot][component].
    using Columns = V[3][4][3];
    static HWY_INLINE void derivatives(const V (&modes)[3][8], const Factors& f, Columns& out) {
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V column[4];
                derivative(modes[c], axis, f, column);
                PLIANT_UNROLL
                for (int k = 0; k < 4; ++k) out[axis][k][c] = column[k];
            }
        }
    }
    /// The transpose.
    static HWY_INLINE void sum_derivatives(const Columns& in, const Factors& f, V (&modes)[3][8]) {
        clear(modes);
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                const V column[4] = {in[axis][0][c], in[axis][1][c], in[axis][2][c],
                                     in[axis][3][c]};
                add_derivative(column, axis, f, modes[c]);
            }
        }
    }
    static HWY_INLINE void clear(V (&modes)[3][8]) {
        PLIANT_UNROLL
        for (int c = 0; c < 3; ++c) {
            PLIANT_UNROLL
            for (int m = 0; m < 8; ++m) modes[c][m] = hn::Zero(d);
        }
    }
    static HWY_INLINE void clear(Columns& columns) {
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            PLIANT_UNROLL
            for (int k = 0; k < 4; ++k) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) columns[axis][k][c] = hn::Zero(d);
            }
        }
    }

    /// 8 × the modes of what the rows hold at the corners of the elements from `lane` on.
    static HWY_INLINE void load(const T* rows, const HexBatch& batch, int lane, V (&modes)[3][8]) {
        PLIANT_UNROLL
        for (int a = 0; a < 8; ++a) {
            V xyz[3];
            load_rows(d, rows, batch.corners[a] + lane, xyz);
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) modes[c][a] = xyz[c];
        }
        PLIANT_UNROLL
        for (int c = 0; c < 3; ++c) from_corners(modes[c]);
    }
    /// The transpose.
    static HWY_INLINE void add_to(T* rows, const HexBatch& batch, int lane, V (&modes)[3][8]) {
        PLIANT_UNROLL
        for (int c = 0; c < 3; ++c) to_corners(modes[c]);
        PLIANT_UNROLL
        for (int a = 0; a < 8; ++a) {
            const V xyz[3] = {modes[0][a], modes[1][a], modes[2][a]};
            add_to_rows(d, xyz, batch.corners[a] + lane, rows);
        }
    }

    static HWY_INLINE V dot(const V (&a)[3], const V (&b)[3]) {
        return hn::MulAdd(a[2], b[2], hn::MulAdd(a[1], b[1], hn::Mul(a[0], b[0])));
    }
    static HWY_INLINE void cross(const V (&a)[3], const V (&b)[3], V (&out)[3]) {
        out[0] = hn::NegMulAdd(a[2], b[1], hn::Mul(a[1], b[2]));
        out[1] = hn::NegMulAdd(a[0], b[2], hn::Mul(a[2], b[0]));
        out[2] = hn::NegMulAdd(a[1], b[0], hn::Mul(a[0], b[1]));
    }
    /// Component c of the matrix with the given columns times v.
    static HWY_INLINE V row_times(const V (&columns)[3][3], int c, const V (&v)[3]) {
        return hn::MulAdd(columns[2][c], v[2],
                          hn::MulAdd(columns[1][c], v[1], hn::Mul(columns[0][c], v[0])));
    }
};

/// The values of a batch at the lanes of a vector, and those of the batch after it.
template <class D>
struct HexValues {
    using T = hn::TFromD<D>;
    const T *here, *next;

    HWY_INLINE hn::Vec<D> operator[](int k) const { return hn::Load(D(), here + k * kHexLanes); }
    HWY_INLINE void prefetch(int k) const { hwy::Prefetch(next + k * kHexLanes); }

    HWY_INLINE hn::Vec<D> lambda_ratio() const { return (*this)[0]; }
    HWY_INLINE hn::Vec<D> weight() const { return (*this)[1]; }
    HWY_INLINE hn::Vec<D> inverse_side(int k) const { return (*this)[2 + k]; }
    /// ∂x/∂ξ at the centre of elements of any shape, by columns.
    HWY_INLINE void centre_jacobian(hn::Vec<D> (&J)[3][3]) const {
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) J[k][c] = (*this)[1 + 7 * c + (1 << k)];
        }
    }
    /// ∂x/∂ξ of elements of any shape.
    HWY_INLINE void rest_derivatives(typename HexModes<D>::Columns& dX) const {
        using Modes = HexModes<D>;
        hn::Vec<D> modes[3][8];
        PLIANT_UNROLL
        for (int c = 0; c < 3; ++c) {
            modes[c][0] = hn::Zero(D());
            PLIANT_UNROLL
            for (int m = 1; m < 8; ++m) modes[c][m] = (*this)[1 + 7 * c + m];
        }
        Modes::derivatives(modes, typename Modes::Factors(hn::Set(D(), T{1})), dX);
    }
};

/// J⁻¹ by rows, the gradients of ξ, η, ζ, and weights at the Gauss points.
template <class D, bool is_box>
class HexShape {
    using Modes = HexModes<D>;
    using V = typename Modes::V;
    const HexValues<D>& values_;
    typename Modes::Columns dX_;

public:
    explicit HWY_INLINE HexShape(const HexValues<D>& values) : values_(values) {
        if constexpr (!is_box) values.rest_derivatives(dX_);
    }
    /// ∂x/∂ξ at the centre, by columns.
    HWY_INLINE void centre_jacobian(V (&J)[3][3]) const {
        if constexpr (is_box) {
            // any length will do: only its direction counts
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l)
                    J[k][l] = hn::Set(D(), static_cast<typename Modes::T>(k == l));
            }
        } else {
            values_.centre_jacobian(J);
        }
    }
    /// Returns filled μ det J / 8.
    HWY_INLINE V at_point(int q, V (&J_inverse)[3][3]) const {
        if constexpr (is_box) {
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l)
                    J_inverse[k][l] = k == l ? values_.inverse_side(k) : hn::Zero(D());
            }
            return values_.weight();
        } else {
            const V(&J0)[3] = dX_[0][slot(0, q)];
            const V(&J1)[3] = dX_[1][slot(1, q)];
            const V(&J2)[3] = dX_[2][slot(2, q)];
            Modes::cross(J1, J2, J_inverse[0]);
            Modes::cross(J2, J0, J_inverse[1]);
            Modes::cross(J0, J1, J_inverse[2]);
            const V det = Modes::dot(J0, J_inverse[0]);
            const V inverse_det = hn::Div(hn::Set(D(), typename Modes::T{1}), det);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) J_inverse[k][l] = hn::Mul(J_inverse[k][l], inverse_det);
            }
            return hn::Mul(values_.weight(), det);
        }
    }
};

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
