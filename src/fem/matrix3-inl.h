// Vectors and 3×3 matrices, one in each lane. Highway includes this file once for each instruction
// set.
#if defined(PLIANT_FEM_MATRIX3_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_MATRIX3_INL_H
#undef PLIANT_FEM_MATRIX3_INL_H
#else
#define PLIANT_FEM_MATRIX3_INL_H
#endif

#include <hwy/highway.h>

// arrays of vectors live in registers only if every index is a constant
#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct Vector3 {
    hn::Vec<D> v[3];
};
template <class D>
struct Matrix3 {
    hn::Vec<D> m[3][3];  ///< [row][column]
};

template <class V>
HWY_INLINE V dot(const V& a0, const V& a1, const V& a2, const V& b0, const V& b1, const V& b2) {
    return hn::MulAdd(a0, b0, hn::MulAdd(a1, b1, hn::Mul(a2, b2)));
}
template <class D>
HWY_INLINE hn::Vec<D> dot(const Vector3<D>& a, const Vector3<D>& b) {
    return dot(a.v[0], a.v[1], a.v[2], b.v[0], b.v[1], b.v[2]);
}
template <class D>
HWY_INLINE Vector3<D> cross(const Vector3<D>& a, const Vector3<D>& b) {
    Vector3<D> c;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c.v[i] = hn::NegMulAdd(a.v[k], b.v[j], hn::Mul(a.v[j], b.v[k]));
    }
    return c;
}
template <class D>
HWY_INLINE Vector3<D> product(const Matrix3<D>& A, const Vector3<D>& x) {
    Vector3<D> y;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i)
        y.v[i] = dot(A.m[i][0], A.m[i][1], A.m[i][2], x.v[0], x.v[1], x.v[2]);
    return y;
}
template <class D>
HWY_INLINE Matrix3<D> product(const Matrix3<D>& A, const Matrix3<D>& B) {
    Matrix3<D> C;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        PLIANT_UNROLL
        for (int j = 0; j < 3; ++j)
            C.m[i][j] = dot(A.m[i][0], A.m[i][1], A.m[i][2], B.m[0][j], B.m[1][j], B.m[2][j]);
    }
    return C;
}
/// A : B.
template <class D>
HWY_INLINE hn::Vec<D> contraction(const Matrix3<D>& A, const Matrix3<D>& B) {
    auto sum = hn::Mul(A.m[0][0], B.m[0][0]);
    PLIANT_UNROLL
    for (int k = 1; k < 9; ++k) sum = hn::MulAdd(A.m[k / 3][k % 3], B.m[k / 3][k % 3], sum);
    return sum;
}
template <class D>
HWY_INLINE hn::Vec<D> trace(const Matrix3<D>& A) {
    return hn::Add(A.m[0][0], hn::Add(A.m[1][1], A.m[2][2]));
}
template <class D>
HWY_INLINE void add_to_diagonal(const hn::Vec<D>& x, Matrix3<D>& A) {
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) A.m[i][i] = hn::Add(A.m[i][i], x);
}
template <class D>
HWY_INLINE Matrix3<D> scaled(const hn::Vec<D>& s, const Matrix3<D>& A) {
    Matrix3<D> B;
    PLIANT_UNROLL
    for (int k = 0; k < 9; ++k) B.m[k / 3][k % 3] = hn::Mul(s, A.m[k / 3][k % 3]);
    return B;
}
/// B += s A.
template <class D>
HWY_INLINE void add_scaled(const hn::Vec<D>& s, const Matrix3<D>& A, Matrix3<D>& B) {
    PLIANT_UNROLL
    for (int k = 0; k < 9; ++k)
        B.m[k / 3][k % 3] = hn::MulAdd(s, A.m[k / 3][k % 3], B.m[k / 3][k % 3]);
}
/// B += s a bᵀ.
template <class D>
HWY_INLINE void add_outer(const hn::Vec<D>& s, const Vector3<D>& a, const Vector3<D>& b,
                          Matrix3<D>& B) {
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        const auto sa = hn::Mul(s, a.v[i]);
        PLIANT_UNROLL
        for (int j = 0; j < 3; ++j) B.m[i][j] = hn::MulAdd(sa, b.v[j], B.m[i][j]);
    }
}
template <class D>
HWY_INLINE Matrix3<D> multiple_of_identity(const hn::Vec<D>& s) {
    const auto zero = hn::Zero(D());
    return {{{s, zero, zero}, {zero, s, zero}, {zero, zero, s}}};
}
/// Row i is the cross product of the two rows that follow.
template <class D>
HWY_INLINE Matrix3<D> cofactor(const Matrix3<D>& A) {
    Matrix3<D> C;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        PLIANT_UNROLL
        for (int j = 0; j < 3; ++j) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            C.m[i][j] = hn::NegMulAdd(A.m[i1][j2], A.m[i2][j1], hn::Mul(A.m[i1][j1], A.m[i2][j2]));
        }
    }
    return C;
}
/// det A with C = cof A.
template <class D>
HWY_INLINE hn::Vec<D> determinant(const Matrix3<D>& A, const Matrix3<D>& C) {
    return dot(A.m[0][0], A.m[0][1], A.m[0][2], C.m[0][0], C.m[0][1], C.m[0][2]);
}
/// AᵀB + BᵀA.
template <class D>
HWY_INLINE Matrix3<D> twice_symmetric(const Matrix3<D>& A, const Matrix3<D>& B) {
    Matrix3<D> S;
    PLIANT_UNROLL
    for (int i = 0; i < 3; ++i) {
        PLIANT_UNROLL
        for (int j = i; j < 3; ++j) {
            auto sum = hn::Mul(A.m[0][i], B.m[0][j]);
            PLIANT_UNROLL
            for (int k = 1; k < 3; ++k) sum = hn::MulAdd(A.m[k][i], B.m[k][j], sum);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) sum = hn::MulAdd(B.m[k][i], A.m[k][j], sum);
            S.m[i][j] = S.m[j][i] = sum;
        }
    }
    return S;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
