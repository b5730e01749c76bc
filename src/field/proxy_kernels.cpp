// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "field/proxy_kernels.h"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/proxy_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
using IndexTag = hn::RebindToSigned<Tag>;
using Vector = hn::Vec<Tag>;
using Index = hn::Vec<IndexTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

/// Whether vectors load and store a part of themselves at no cost.
constexpr bool kHasMasks = kLanes == 16;

/// The first `count` entries; lanes beyond them hold some finite number.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D tag, const T* p, int count) {
    if (count >= kLanes) return hn::LoadU(tag, p);
    if constexpr (kHasMasks) {
        return hn::MaskedLoad(hn::FirstN(tag, static_cast<std::size_t>(count)), tag, p);
    } else {
        HWY_ALIGN T values[kLanes];
        for (int i = 0; i < kLanes; ++i) values[i] = p[i < count ? i : count - 1];
        return hn::Load(tag, values);
    }
}
template <class D, class T>
HWY_INLINE void store_some(hn::Vec<D> v, D tag, T* p, int count) {
    if (count >= kLanes) return hn::StoreU(v, tag, p);
    if constexpr (kHasMasks) {
        hn::BlendedStore(v, hn::FirstN(tag, static_cast<std::size_t>(count)), tag, p);
    } else {
        HWY_ALIGN T values[kLanes];
        hn::Store(v, tag, values);
        for (int i = 0; i < count; ++i) p[i] = values[i];
    }
}

struct Point {
    Vector x, y, z;
};
HWY_INLINE Vector squared_norm(const Point& v) {
    return hn::MulAdd(v.x, v.x, hn::MulAdd(v.y, v.y, hn::Mul(v.z, v.z)));
}
HWY_INLINE Vector distance_between(const Point& a, const Point& b) {
    return hn::Sqrt(squared_norm({hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)}));
}

/// Squared distance of x from proxy i of rows p.
HWY_INLINE Vector square_to(const float* p, int stride, int i, const Point& x) {
    const Tag tag;
    return squared_norm({hn::Sub(x.x, hn::Set(tag, p[i])),
                         hn::Sub(x.y, hn::Set(tag, p[stride + i])),
                         hn::Sub(x.z, hn::Set(tag, p[2 * stride + i]))});
}

/// So many have room for their index in the last bits of a squared distance.
constexpr int kIndexBits = 6, kFewProxies = 1 << kIndexBits;

/// The K nearest proxies in ascending order of squared distance; of equally near ones the lower
/// index.
template <int K>
struct Neighbours {
    Vector squared[K];
    Index proxy[K];

    HWY_INLINE void find(const ProxyTable& table, const Point& x) {
        table.count <= kFewProxies ? find_of_few(table, x) : find_of_many(table, x);
    }

    /// Sorts whole numbers made of both: squares are positive, and ordered as their bits are. They
    /// lose 2⁻¹⁷ of themselves, which changes weights by less than 1e-5.
    HWY_INLINE void find_of_few(const ProxyTable& table, const Point& x) {
        const IndexTag tag;
        const Index bits = hn::Set(tag, kFewProxies - 1);
        Index keys[K];
        PLIANT_UNROLL for (int j = 0; j < K; ++j) keys[j] =
            hn::Set(tag, std::numeric_limits<int>::max());
        for (int i = 0; i < table.count; ++i) {
            const Vector d = square_to(table.rows, table.stride, i, x);
            Index key = hn::Or(hn::AndNot(bits, hn::BitCast(tag, d)), hn::Set(tag, i));
            PLIANT_UNROLL for (int j = 0; j < K; ++j) {
                const Index farther = hn::Max(key, keys[j]);
                keys[j] = hn::Min(key, keys[j]);
                key = farther;
            }
        }
        PLIANT_UNROLL for (int j = 0; j < K; ++j) {
            squared[j] = hn::BitCast(Tag(), hn::AndNot(bits, keys[j]));
            proxy[j] = hn::And(bits, keys[j]);
        }
    }

    HWY_INLINE void find_of_many(const ProxyTable& table, const Point& x) {
        const IndexTag tag;
        PLIANT_UNROLL for (int j = 0; j < K; ++j) {
            squared[j] = hn::Set(Tag(), std::numeric_limits<float>::infinity());
            proxy[j] = hn::Zero(tag);
        }
        for (int i = 0; i < table.count; ++i) {
            Vector d = square_to(table.rows, table.stride, i, x);
            Index index = hn::Set(tag, i);
            PLIANT_UNROLL for (int j = 0; j < K; ++j) {
                const auto is_nearer = hn::Lt(d, squared[j]);
                const Vector farther = hn::Max(d, squared[j]);
                squared[j] = hn::Min(d, squared[j]);
                d = farther;
                const auto is_nearer_index = hn::RebindMask(tag, is_nearer);
                const Index other = hn::IfThenElse(is_nearer_index, proxy[j], index);
                proxy[j] = hn::IfThenElse(is_nearer_index, index, proxy[j]);
                index = other;
            }
        }
    }
};

/// Weights of the first K − 1 neighbours, eq. (11), all times d₁ so that nothing divides by zero.
template <int K>
HWY_INLINE void find_weights(const Neighbours<K>& near, Vector* weight) {
    const Tag tag;
    const Vector zero = hn::Zero(tag), one = hn::Set(tag, 1.0f);
    const Vector nearest = hn::Sqrt(near.squared[0]), farthest = hn::Sqrt(near.squared[K - 1]);
    weight[0] = hn::Sub(farthest, nearest);
    Vector sum = weight[0];
    PLIANT_UNROLL for (int j = 1; j < K - 1; ++j) {
        const Vector d = hn::Sqrt(near.squared[j]);
        const Vector ratio = hn::IfThenElse(hn::Gt(d, zero), hn::Div(nearest, d), one);
        weight[j] = hn::Mul(hn::Sub(farthest, d), ratio);
        sum = hn::Add(sum, weight[j]);
    }
    // all as far: any convex combination will do
    const auto has_sum = hn::Gt(sum, zero);
    const Vector factor = hn::Div(one, hn::IfThenElse(has_sum, sum, one));
    const Vector equal = hn::Set(tag, 1.0f / static_cast<float>(K - 1));
    PLIANT_UNROLL for (int j = 0; j < K - 1; ++j) weight[j] =
        hn::IfThenElse(has_sum, hn::Mul(weight[j], factor), equal);
}

/// Row `row` of the table for each lane's proxy.
HWY_INLINE Vector gather(const ProxyTable& table, int row, Index proxy) {
    return hn::GatherIndex(Tag(), table.rows + row * table.stride, proxy);
}

/// Entries of rows for each lane's proxy. Rows of few proxies are looked up in registers, several
/// times faster than gathers where vectors are long.
class RowPicker {
public:
    HWY_INLINE RowPicker(const ProxyTable& table, Index proxy)
        : table_(table), proxy_(proxy), is_few_(kLanes == 16 && table.stride <= 4 * kLanes) {}

    HWY_INLINE Vector operator()(int row) const {
        if constexpr (kLanes < 16) {
            return gather(table_, row, proxy_);
        } else {
            if (!is_few_) return gather(table_, row, proxy_);
            const IndexTag tag;
            const float* p = table_.rows + row * table_.stride;
            const auto lanes = hn::IndicesFromVec(Tag(), hn::And(proxy_, hn::Set(tag, kLanes - 1)));
            Vector picked = hn::TableLookupLanes(hn::LoadU(Tag(), p), lanes);
            for (int begin = kLanes; begin < table_.stride; begin += kLanes) {
                const auto is_here = hn::RebindMask(Tag(), hn::Gt(proxy_, hn::Set(tag, begin - 1)));
                picked = hn::IfThenElse(
                    is_here, hn::TableLookupLanes(hn::LoadU(Tag(), p + begin), lanes), picked);
            }
            return picked;
        }
    }

private:
    const ProxyTable& table_;
    Index proxy_;
    bool is_few_;
};

template <int K>
HWY_INLINE void places_of(const ProxyTable& table, const float* x, const float* y, const float* z,
                          int n, const ProxyPlaces& places) {
    const Tag tag;
    for (int i = 0; i < n; i += kLanes) {
        const int count = n - i;
        const Point at{load_some(tag, x + i, count), load_some(tag, y + i, count),
                       load_some(tag, z + i, count)};
        Neighbours<K> near;
        near.find(table, at);
        Vector weight[K];
        find_weights(near, weight);
        store_some(hn::Sqrt(near.squared[0]), tag, places.nearest + i, count);
        for (int j = 0; j < K - 1; ++j) {
            // pull back, eq. (12)
            const RowPicker pick(table, near.proxy[j]);
            Vector material[3], inside[3];
            PLIANT_UNROLL for (int axis = 0; axis < 3; ++axis) {
                const int row = 6 + 3 * axis;
                material[axis] =
                    hn::MulAdd(pick(row), at.x,
                               hn::MulAdd(pick(row + 1), at.y,
                                          hn::MulAdd(pick(row + 2), at.z, pick(3 + axis))));
                inside[axis] = hn::Min(hn::Max(material[axis], hn::Set(tag, table.low[axis])),
                                       hn::Set(tag, table.high[axis]));
            }
            const Vector outside = hn::Sqrt(
                squared_norm({hn::Sub(material[0], inside[0]), hn::Sub(material[1], inside[1]),
                              hn::Sub(material[2], inside[2])}));
            const int place = j * n + i;
            store_some(inside[0], tag, places.x + place, count);
            store_some(inside[1], tag, places.y + place, count);
            store_some(inside[2], tag, places.z + place, count);
            store_some(weight[j], tag, places.weight + place, count);
            store_some(outside, tag, places.outside + place, count);
            store_some(near.proxy[j], IndexTag(), places.proxy + place, count);
        }
    }
}

void find_all_places(const ProxyTable& table, const float* x, const float* y, const float* z, int n,
                     const ProxyPlaces& places) {
    switch (table.num_neighbours) {
        case 3: return places_of<3>(table, x, y, z, n, places);
        case 4: return places_of<4>(table, x, y, z, n, places);
        case 5: return places_of<5>(table, x, y, z, n, places);
        case 6: return places_of<6>(table, x, y, z, n, places);
        case 7: return places_of<7>(table, x, y, z, n, places);
        default: return places_of<8>(table, x, y, z, n, places);
    }
}

void stretch_all_weights(const ProxyTable& table, int count, const float* const* corners,
                         float half, const int* proxy, float* weight) {
    const Tag tag;
    // keeps the factor continuous where the gradient vanishes
    const Vector least = hn::Set(tag, 0.05f * 0.05f);
    const Vector scale = hn::Set(tag, 0.25f / half);
    for (int i = 0; i < count; i += kLanes) {
        const int rest = count - i;
        Vector v[4];
        PLIANT_UNROLL for (int c = 0; c < 4; ++c) v[c] = load_some(tag, corners[c] + i, rest);
        const Vector sum = hn::Add(v[0], v[1]), difference = hn::Sub(v[0], v[1]);
        const Point g{hn::Mul(scale, hn::Sub(sum, hn::Add(v[2], v[3]))),
                      hn::Mul(scale, hn::Add(difference, hn::Sub(v[2], v[3]))),
                      hn::Mul(scale, hn::Sub(difference, hn::Sub(v[2], v[3])))};
        const Index of = load_some(IndexTag(), proxy + i, rest);
        const auto column = [&](int axis) {
            return hn::MulAdd(gather(table, 6 + axis, of), g.x,
                              hn::MulAdd(gather(table, 9 + axis, of), g.y,
                                         hn::Mul(gather(table, 12 + axis, of), g.z)));
        };
        const Vector mapped = squared_norm({column(0), column(1), column(2)});
        const Vector factor =
            hn::Sqrt(hn::Div(hn::Add(squared_norm(g), least), hn::Add(mapped, least)));
        store_some(hn::Mul(load_some(tag, weight + i, rest), factor), tag, weight + i, rest);
    }
}

/// The values at a vector of places; outside the box two lower bounds, both continuous at its
/// faces.
HWY_INLINE Vector values_at(const ProxyTable& table, const float* values, const float* outside,
                            int count) {
    const Tag tag;
    const Vector zero = hn::Zero(tag), boundary = hn::Set(tag, table.boundary);
    const Vector value = load_some(tag, values, count);
    const Vector out = load_some(tag, outside, count);
    const Vector far = hn::Max(hn::Sqrt(hn::MulAdd(out, out, hn::Mul(value, value))),
                               hn::Add(out, hn::Min(boundary, value)));
    const Vector bound = hn::IfThenElse(hn::Gt(value, zero), far, hn::Add(value, out));
    return hn::IfThenElse(hn::Gt(out, zero), bound, value);
}

void blend_all_places(const ProxyTable& table, int n, const float* values,
                      const ProxyPlaces& places, float* distance) {
    const Tag tag;
    for (int i = 0; i < n; i += kLanes) {
        const int count = n - i;
        Vector sum = hn::Zero(tag);
        for (int j = 0; j < table.num_neighbours - 1; ++j) {
            const int place = j * n + i;
            const Vector s = values_at(table, values + place, places.outside + place, count);
            sum = hn::MulAdd(load_some(tag, places.weight + place, count), s, sum);
        }
        const Vector beyond =
            hn::Sub(load_some(tag, places.nearest + i, count), hn::Set(tag, table.cover));
        const Vector bound = hn::Min(beyond, hn::Mul(hn::Set(tag, kCoverSteepness), beyond));
        const Vector before = load_some(tag, distance + i, count);
        store_some(hn::Min(before, hn::Max(sum, bound)), tag, distance + i, count);
    }
}

void find_all_nearest(const float* p, int stride, int num_proxies, const float* x, const float* y,
                      const float* z, int n, int* proxy) {
    const Tag tag;
    for (int i = 0; i < n; i += kLanes) {
        const int count = n - i;
        const Point at{load_some(tag, x + i, count), load_some(tag, y + i, count),
                       load_some(tag, z + i, count)};
        Vector least = hn::Set(tag, std::numeric_limits<float>::infinity());
        Index nearest = hn::Zero(IndexTag());
        for (int k = 0; k < num_proxies; ++k) {
            const Vector d = square_to(p, stride, k, at);
            const auto is_nearer = hn::Lt(d, least);
            least = hn::Min(d, least);
            nearest = hn::IfThenElse(hn::RebindMask(IndexTag(), is_nearer), hn::Set(IndexTag(), k),
                                     nearest);
        }
        store_some(nearest, IndexTag(), proxy + i, count);
    }
}

void blend_all_outside_balls(const ProxyTable& table, int n, const float* values,
                             const ProxyPlaces& places, const BallRows& balls, float* distance) {
    const Tag tag;
    const Vector reach = hn::Set(tag, table.reach);
    for (int i = 0; i < n; i += kLanes) {
        const int count = n - i;
        const Point centre{load_some(tag, balls.x + i, count), load_some(tag, balls.y + i, count),
                           load_some(tag, balls.z + i, count)};
        const Vector radius = load_some(tag, balls.radius + i, count);
        Vector sum = hn::Zero(tag);
        for (int j = 0; j < table.num_neighbours - 1; ++j) {
            const int place = j * n + i;
            const Point at{load_some(tag, places.x + place, count),
                           load_some(tag, places.y + place, count),
                           load_some(tag, places.z + place, count)};
            const Index proxy = load_some(IndexTag(), places.proxy + place, count);
            const Point rest{gather(table, 15, proxy), gather(table, 16, proxy),
                             gather(table, 17, proxy)};
            const Vector s = values_at(table, values + place, places.outside + place, count);
            const Vector outside = hn::Max(hn::Sub(radius, distance_between(at, centre)),
                                           hn::Sub(distance_between(at, rest), reach));
            sum =
                hn::MulAdd(load_some(tag, places.weight + place, count), hn::Max(s, outside), sum);
        }
        store_some(sum, tag, distance + i, count);
    }
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(find_all_places);
HWY_EXPORT(stretch_all_weights);
HWY_EXPORT(blend_all_places);
HWY_EXPORT(find_all_nearest);
HWY_EXPORT(blend_all_outside_balls);

void find_places(const ProxyTable& table, const float* x, const float* y, const float* z, int n,
                 const ProxyPlaces& places) noexcept {
    HWY_DYNAMIC_DISPATCH(find_all_places)(table, x, y, z, n, places);
}
void stretch_weights(const ProxyTable& table, int count, const float* const corners[4], float half,
                     const int* proxy, float* weight) noexcept {
    HWY_DYNAMIC_DISPATCH(stretch_all_weights)(table, count, corners, half, proxy, weight);
}
void blend_places(const ProxyTable& table, int n, const float* values, const ProxyPlaces& places,
                  float* distance) noexcept {
    HWY_DYNAMIC_DISPATCH(blend_all_places)(table, n, values, places, distance);
}
void find_nearest_proxies(const float* p, int stride, int count, const float* x, const float* y,
                          const float* z, int n, int* proxy) noexcept {
    HWY_DYNAMIC_DISPATCH(find_all_nearest)(p, stride, count, x, y, z, n, proxy);
}
void blend_outside_balls(const ProxyTable& table, int n, const float* values,
                         const ProxyPlaces& places, const BallRows& balls,
                         float* distance) noexcept {
    HWY_DYNAMIC_DISPATCH(blend_all_outside_balls)(table, n, values, places, balls, distance);
}

}  // namespace pliant
#endif
