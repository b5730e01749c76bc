// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/triangle_kernels.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/triangle_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, TriangleBlock::kSize>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

struct TriangleVector {
    Vector x, y, z;
};
HWY_INLINE TriangleVector operator-(const TriangleVector& a, const TriangleVector& b) {
    return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
}
HWY_INLINE TriangleVector operator+(const TriangleVector& a, const TriangleVector& b) {
    return {hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.z, b.z)};
}
HWY_INLINE Vector dot(const TriangleVector& a, const TriangleVector& b) {
    return hn::MulAdd(a.x, b.x, hn::MulAdd(a.y, b.y, hn::Mul(a.z, b.z)));
}
HWY_INLINE TriangleVector cross(const TriangleVector& a, const TriangleVector& b) {
    return {hn::MulSub(a.y, b.z, hn::Mul(a.z, b.y)), hn::MulSub(a.z, b.x, hn::Mul(a.x, b.z)),
            hn::MulSub(a.x, b.y, hn::Mul(a.y, b.x))};
}
/// Corner k of triangles from lane i on.
HWY_INLINE TriangleVector corner(const double (&x)[9][TriangleBlock::kSize], int k, int i) {
    const Tag tag;
    return {hn::Load(tag, x[3 * k] + i), hn::Load(tag, x[3 * k + 1] + i),
            hn::Load(tag, x[3 * k + 2] + i)};
}
HWY_INLINE TriangleVector broadcast(const double* p) {
    const Tag tag;
    return {hn::Set(tag, p[0]), hn::Set(tag, p[1]), hn::Set(tag, p[2])};
}
HWY_INLINE Vector unit_clamp(Vector t) {
    const Tag tag;
    return hn::Min(hn::Max(t, hn::Zero(tag)), hn::Set(tag, 1.0));
}
/// p − v b − w c
HWY_INLINE TriangleVector rest_of(const TriangleVector& p, const TriangleVector& b,
                                  const TriangleVector& c, Vector v, Vector w) {
    return {hn::NegMulAdd(v, b.x, hn::NegMulAdd(w, c.x, p.x)),
            hn::NegMulAdd(v, b.y, hn::NegMulAdd(w, c.y, p.y)),
            hn::NegMulAdd(v, b.z, hn::NegMulAdd(w, c.z, p.z))};
}

/// A vector and its square.
struct Offset {
    TriangleVector from;
    Vector square;

    template <class Mask>
    HWY_INLINE void replace(Mask is_replaced, const Offset& by) {
        from = {hn::IfThenElse(is_replaced, by.from.x, from.x),
                hn::IfThenElse(is_replaced, by.from.y, from.y),
                hn::IfThenElse(is_replaced, by.from.z, from.z)};
        square = hn::IfThenElse(is_replaced, by.square, square);
    }
};
/// From the nearest points of triangles with corners 0, b and c to p; not numbers where they have
/// no area.
HWY_INLINE Offset nearest_offset(const TriangleVector& p, const TriangleVector& b,
                                 const TriangleVector& c) {
    const Tag tag;
    const Vector zero = hn::Zero(tag), one = hn::Set(tag, 1.0);
    const auto offset = [&](Vector v, Vector w) HWY_ATTR {
        const TriangleVector rest = rest_of(p, b, c, v, w);
        return Offset{rest, dot(rest, rest)};
    };
    const Vector bb = dot(b, b), bc = dot(b, c), cc = dot(c, c);
    const Vector pb = dot(p, b), pc = dot(p, c);
    // weights of the foot of p on the plane, times the determinant
    const Vector det = hn::MulSub(bb, cc, hn::Mul(bc, bc));
    const Vector v = hn::MulSub(cc, pb, hn::Mul(bc, pc));
    const Vector w = hn::MulSub(bb, pc, hn::Mul(bc, pb));
    const auto is_inside =
        hn::And(hn::And(hn::Ge(v, zero), hn::Ge(w, zero)), hn::Le(hn::Add(v, w), det));
    const Vector inverse = hn::Div(one, det);
    // sides
    const Vector t_b = unit_clamp(hn::Div(pb, bb)), t_c = unit_clamp(hn::Div(pc, cc));
    const Vector opposite = hn::Sub(hn::Add(bb, cc), hn::Add(bc, bc));
    const Vector t_bc = unit_clamp(hn::Div(hn::Add(hn::Sub(pc, pb), hn::Sub(bb, bc)), opposite));
    Offset nearest = offset(t_b, zero);
    const Offset on_c = offset(zero, t_c), on_bc = offset(hn::Sub(one, t_bc), t_bc);
    nearest.replace(hn::Lt(on_c.square, nearest.square), on_c);
    nearest.replace(hn::Lt(on_bc.square, nearest.square), on_bc);
    nearest.replace(is_inside, offset(hn::Mul(v, inverse), hn::Mul(w, inverse)));
    return nearest;
}

/// Appends the numbers of those that are marked, from `first` on, below `count`.
template <class Mask>
HWY_INLINE int list_triangles(Mask marked, int first, int count, int* found) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(Tag(), marked, bits);
    int num_found = 0;
    for (unsigned left = bits[0]; left != 0; left &= left - 1) {
        const int i = first + static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(left));
        if (i < count) found[num_found++] = i;
    }
    return num_found;
}

void run_measure_distances(const TriangleBlock* blocks, int count, const double* point,
                           double* squares) {
    const Tag tag;
    const TriangleVector x = broadcast(point);
    for (int first = 0; first < count; first += TriangleBlock::kSize) {
        const TriangleBlock& block = blocks[first / TriangleBlock::kSize];
        for (int i = 0; i < TriangleBlock::kSize; i += kLanes) {
            const TriangleVector a = corner(block.end, 0, i);
            const Offset nearest =
                nearest_offset(x - a, corner(block.end, 1, i) - a, corner(block.end, 2, i) - a);
            hn::StoreU(nearest.square, tag, squares + first + i);
        }
    }
}

int run_find_reached(const TriangleBlock* blocks, int count, const double* point, const double* way,
                     double rho, int* found) {
    const Tag tag;
    const Vector zero = hn::Zero(tag), reach = hn::Set(tag, rho * rho * (1 + 1e-9));
    const TriangleVector x = broadcast(point), d = broadcast(way);
    int num_found = 0;
    for (int first = 0; first < count; first += TriangleBlock::kSize) {
        const TriangleBlock& block = blocks[first / TriangleBlock::kSize];
        for (int i = 0; i < TriangleBlock::kSize; i += kLanes) {
            const TriangleVector a = x - corner(block.end, 0, i), b = x - corner(block.end, 1, i),
                                 c = x - corner(block.end, 2, i);
            // any direction u will do: how far all corners stay behind the way along it, times |u|
            const auto separates = [&](const TriangleVector& u, Vector square) HWY_ATTR {
                const Vector behind = hn::Add(hn::Min(dot(u, a), hn::Min(dot(u, b), dot(u, c))),
                                              hn::Min(dot(u, d), zero));
                return hn::And(hn::Gt(behind, zero),
                               hn::Gt(hn::Mul(behind, behind), hn::Mul(reach, square)));
            };
            const Offset nearest = nearest_offset(a, a - b, a - c);
            const TriangleVector n = cross(a - b, a - c);
            const auto is_apart =
                hn::Or(separates(nearest.from, nearest.square), separates(n, dot(n, n)));
            num_found += list_triangles(hn::Not(is_apart), first + i, count, found + num_found);
        }
    }
    return num_found;
}

int run_find_in_way(const TriangleBlock* blocks, int count, const double* point,
                    const double* direction, double length, int* found) {
    const Tag tag;
    const Vector reach = hn::Set(tag, length);
    const TriangleVector x = broadcast(point), d = broadcast(direction);
    int num_found = 0;
    for (int first = 0; first < count; first += TriangleBlock::kSize) {
        const TriangleBlock& block = blocks[first / TriangleBlock::kSize];
        for (int i = 0; i < TriangleBlock::kSize; i += kLanes) {
            const TriangleVector a = corner(block.end, 0, i);
            const TriangleVector u = corner(block.end, 1, i) - a, v = corner(block.end, 2, i) - a,
                                 p = x - a;
            const TriangleVector n = cross(u, v);
            const Vector speed = dot(n, d), height = dot(n, p);
            // roundings are relative to the largest products
            const Vector noise =
                hn::Mul(hn::Mul(hn::Set(tag, 1e-13), hn::Add(dot(u, u), dot(v, v))),
                        hn::Add(reach, hn::Add(hn::Abs(p.x), hn::Add(hn::Abs(p.y), hn::Abs(p.z)))));
            // height at the end of the way
            const Vector end = hn::MulAdd(speed, reach, height);
            const auto is_crossed =
                hn::And(hn::And(hn::Le(end, noise), hn::Ge(height, hn::Neg(noise))),
                        hn::Le(hn::Mul(speed, reach), noise));
            num_found += list_triangles(is_crossed, first + i, count, found + num_found);
        }
    }
    return num_found;
}

int run_find_crossings(const TriangleBlock* blocks, int count, const double* point, double radius,
                       int* found) {
    const Tag tag;
    const Vector reach = hn::Set(tag, radius);
    const TriangleVector x = broadcast(point);
    int num_found = 0;
    for (int first = 0; first < count; first += TriangleBlock::kSize) {
        const TriangleBlock& block = blocks[first / TriangleBlock::kSize];
        for (int i = 0; i < TriangleBlock::kSize; i += kLanes) {
            const TriangleVector a = x - corner(block.start, 0, i),
                                 b = x - corner(block.start, 1, i),
                                 c = x - corner(block.start, 2, i),
                                 a1 = x - corner(block.end, 0, i), b1 = x - corner(block.end, 1, i),
                                 c1 = x - corner(block.end, 2, i);
            // swept box
            const auto axis = [&](Vector p, Vector q, Vector r, Vector s, Vector t, Vector u) {
                const Vector low = hn::Min(hn::Min(hn::Min(p, q), hn::Min(r, s)), hn::Min(t, u));
                const Vector high = hn::Max(hn::Max(hn::Max(p, q), hn::Max(r, s)), hn::Max(t, u));
                return hn::And(hn::Le(low, reach), hn::Ge(high, hn::Neg(reach)));
            };
            const auto is_near = hn::And(axis(a.x, b.x, c.x, a1.x, b1.x, c1.x),
                                         hn::And(axis(a.y, b.y, c.y, a1.y, b1.y, c1.y),
                                                 axis(a.z, b.z, c.z, a1.z, b1.z, c1.z)));
            // f(s) in the Bernstein basis: its coefficients are determinants of mixed moments,
            // and no root is left where they are all of one sign
            const TriangleVector u = a - b, v = a - c, u1 = a1 - b1, v1 = a1 - c1;
            const TriangleVector n0 = cross(u, v), n2 = cross(u1, v1);
            const TriangleVector n1 = cross(u, v1) + cross(u1, v);  // twice the mixed one
            const Vector third = hn::Set(tag, 1.0 / 3.0);
            const Vector f0 = dot(a, n0), f3 = dot(a1, n2);
            const Vector f1 = hn::Mul(third, hn::Add(dot(a1, n0), dot(a, n1)));
            const Vector f2 = hn::Mul(third, hn::Add(dot(a, n2), dot(a1, n1)));
            const Vector low = hn::Min(hn::Min(f0, f1), hn::Min(f2, f3));
            const Vector high = hn::Max(hn::Max(f0, f1), hn::Max(f2, f3));
            // roundings are relative to the largest products
            const Vector sizes = hn::Mul(
                hn::Add(hn::Add(hn::Abs(a.x), hn::Abs(a.y)),
                        hn::Add(hn::Abs(a.z),
                                hn::Add(hn::Abs(a1.x), hn::Add(hn::Abs(a1.y), hn::Abs(a1.z))))),
                hn::Add(hn::Add(dot(u, u), dot(v, v)), hn::Add(dot(u1, u1), dot(v1, v1))));
            const Vector noise = hn::Mul(hn::Set(tag, 1e-13), sizes);
            const auto may_meet = hn::And(hn::Le(low, noise), hn::Ge(high, hn::Neg(noise)));
            num_found +=
                list_triangles(hn::And(is_near, may_meet), first + i, count, found + num_found);
        }
    }
    return num_found;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(run_measure_distances);
HWY_EXPORT(run_find_crossings);
HWY_EXPORT(run_find_reached);
HWY_EXPORT(run_find_in_way);

void measure_distances(const TriangleBlock* blocks, int count, const double* p,
                       double* squares) noexcept {
    HWY_DYNAMIC_DISPATCH(run_measure_distances)(blocks, count, p, squares);
}
int find_crossings(const TriangleBlock* blocks, int count, const double* p, double radius,
                   int* found) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_find_crossings)(blocks, count, p, radius, found);
}
int find_reached(const TriangleBlock* blocks, int count, const double* p, const double* d,
                 double rho, int* found) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_find_reached)(blocks, count, p, d, rho, found);
}
int find_in_way(const TriangleBlock* blocks, int count, const double* p, const double* direction,
                double length, int* found) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_find_in_way)(blocks, count, p, direction, length, found);
}

}  // namespace pliant
#endif
