// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/visit_kernels.h"

#include <cstddef>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/visit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
/// Floats of a row that are multiplied together: four groups.
constexpr int kChunk = 16;
constexpr int kVectors = kChunk / kLanes;
/// Rows are called into the cache this many nodes ahead.
constexpr int kAhead = 16;

HWY_INLINE const float* row_of(const VisitRows& rows, int node) {
    return rows.rows + static_cast<std::size_t>(node) * static_cast<std::size_t>(rows.stride);
}
HWY_INLINE const float* b_of(const VisitRows& rows, int node) {
    return rows.b + static_cast<std::size_t>(node) * static_cast<std::size_t>(rows.b_stride);
}
HWY_INLINE void prefetch(const VisitRows& rows, int node) {
    const float* row = row_of(rows, node);
    for (int i = 0; i < rows.stride; i += kChunk) hwy::Prefetch(row + i);
    hwy::Prefetch(b_of(rows, node));
}

/// The four groups of a chunk in one: (0 + 2) + (1 + 3), whatever the vector length.
HWY_INLINE void store_folded(const Vector* sums, float* out) {
#if HWY_MAX_BYTES >= 64
    const hn::Half<Tag> half;
    const hn::Half<hn::Half<Tag>> quarter;
    const auto pair = hn::Add(hn::LowerHalf(half, sums[0]), hn::UpperHalf(half, sums[0]));
    hn::StoreU(hn::Add(hn::LowerHalf(quarter, pair), hn::UpperHalf(quarter, pair)), quarter, out);
#elif HWY_MAX_BYTES >= 32
    const hn::Half<Tag> half;
    const auto pair = hn::Add(sums[0], sums[1]);
    hn::StoreU(hn::Add(hn::LowerHalf(half, pair), hn::UpperHalf(half, pair)), half, out);
#else
    constexpr int kGroup = 4 / kLanes;
    for (int i = 0; i < kGroup; ++i)
        hn::StoreU(hn::Add(hn::Add(sums[i], sums[i + 2 * kGroup]),
                           hn::Add(sums[i + kGroup], sums[i + 3 * kGroup])),
                   Tag(), out + i * kLanes);
#endif
}

/// (x, y, z, sum bound) of each node in body axes, and the Euclidean bound of its radius.
HWY_INLINE void deform(const VisitRows& rows, const VisitMotion& motion, const int* nodes,
                       int count, int available, float* local, float* euclidean) {
    const Tag tag;
    for (int i = 0; i < count; ++i) {
        if (i + kAhead < available) prefetch(rows, nodes[i + kAhead]);
        const float* row = row_of(rows, nodes[i]);
        Vector sums[kVectors];
        for (int k = 0; k < kVectors; ++k)
            sums[k] = hn::Mul(hn::LoadU(tag, row + k * kLanes),
                              hn::Load(tag, motion.factors + k * kLanes));
        for (int chunk = kChunk; chunk < rows.stride; chunk += kChunk)
            for (int k = 0; k < kVectors; ++k) {
                const int at = chunk + k * kLanes;
                sums[k] = hn::MulAdd(hn::LoadU(tag, row + at), hn::Load(tag, motion.factors + at),
                                     sums[k]);
            }
        store_folded(sums, local + 4 * i);
        euclidean[i] = row[4 * rows.rank + 3] + *b_of(rows, nodes[i]) * motion.norm;
    }
}

HWY_INLINE void copy_rigid(const VisitRows& rows, const int* nodes, int count, int available,
                           float* local) {
    const hn::CappedTag<float, 4> tag;
    for (int i = 0; i < count; ++i) {
        if (i + kAhead < available) hwy::Prefetch(row_of(rows, nodes[i + kAhead]));
        const float* row = row_of(rows, nodes[i]);
        for (int k = 0; k < 4; k += static_cast<int>(hn::MaxLanes(tag)))
            hn::StoreU(hn::LoadU(tag, row + k), tag, local + 4 * i + k);
    }
}

void place(const VisitRows& rows, const VisitMotion& motion, const int* nodes, int count,
           int available, VisitBatch& batch) {
    const Tag tag;
    HWY_ALIGN float local[4 * kVisitBatch];
    HWY_ALIGN float euclidean[kVisitBatch];
    const bool is_rigid = rows.rank == 0;
    if (is_rigid) {
        copy_rigid(rows, nodes, count, available, local);
    } else {
        deform(rows, motion, nodes, count, available, local, euclidean);
    }
    // fill the last vector
    const int padded = (count + kLanes - 1) / kLanes * kLanes;
    for (int i = count; i < padded; ++i) {
        for (int k = 0; k < 4; ++k) local[4 * i + k] = local[k];
        euclidean[i] = 0;
    }

    const float* R = motion.rotation;
    const auto component = [&](int k, Vector x, Vector y, Vector z) {
        const Vector sum = hn::MulAdd(hn::Set(tag, R[3 * k + 2]), z, hn::Set(tag, motion.shift[k]));
        return hn::MulAdd(hn::Set(tag, R[3 * k]), x,
                          hn::MulAdd(hn::Set(tag, R[3 * k + 1]), y, sum));
    };
    for (int i = 0; i < padded; i += kLanes) {
        Vector x, y, z, radius;
        hn::LoadInterleaved4(tag, local + 4 * i, x, y, z, radius);
        hn::Store(component(0, x, y, z), tag, batch.x + i);
        hn::Store(component(1, x, y, z), tag, batch.y + i);
        hn::Store(component(2, x, y, z), tag, batch.z + i);
        if (!is_rigid) radius = hn::Min(radius, hn::Load(tag, euclidean + i));
        hn::Store(radius, tag, batch.radius + i);
    }
}

HWY_INLINE int append(Vector values, hn::Mask<Tag> mask, float* list) {
    hn::StoreU(hn::Compress(values, mask), Tag(), list);
    return static_cast<int>(hn::CountTrue(Tag(), mask));
}
HWY_INLINE int append(Vector values, hn::Mask<Tag> mask, int* list) {
    const hn::RebindToSigned<Tag> integers;
    hn::StoreU(hn::BitCast(integers, hn::Compress(values, mask)), integers, list);
    return static_cast<int>(hn::CountTrue(Tag(), mask));
}

int sort(const int* nodes, int count, const CullRule& rule, VisitBatch& batch, VisitLists& lists) {
    const Tag tag;
    const hn::RebindToSigned<Tag> integers;
    const Vector zero = hn::Zero(tag);
    Vector least = hn::Set(tag, lists.least);
    int num_contacts = 0;
    for (int i = 0; i < count; i += kLanes) {
        const auto is_node = hn::FirstN(tag, static_cast<std::size_t>(count - i));
        const Vector distance = hn::Load(tag, batch.distance + i);
        const Vector margin = hn::IfThenElse(hn::Lt(distance, hn::Set(tag, rule.band)),
                                             hn::Set(tag, rule.near), hn::Set(tag, rule.far));
        const Vector reach = hn::Add(hn::Load(tag, batch.radius + i), hn::Set(tag, rule.slack));
        const Vector gap =
            hn::MulSub(hn::Sub(distance, margin), hn::Set(tag, rule.inverse_stretch), reach);
        hn::Store(gap, tag, batch.gap + i);
        const auto is_far = hn::Gt(gap, zero);
        const Vector bound = hn::IfThenElse(is_far, gap, distance);
        least = hn::Min(least, hn::IfThenElse(is_node, bound, least));

        const Vector places = hn::BitCast(tag, hn::Iota(integers, i));
        num_contacts +=
            append(places, hn::And(is_node, hn::Lt(distance, zero)), batch.contacts + num_contacts);
        // a bit pattern travels as a float through the compression
        const Vector ids = hn::BitCast(tag, hn::LoadU(integers, nodes + i));
        const auto is_open = hn::AndNot(is_far, is_node);
        append(ids, is_open, lists.open + lists.num_open);
        lists.num_open += append(distance, is_open, lists.open_distance + lists.num_open);
        lists.num_culled += append(ids, hn::And(is_node, is_far), lists.culled + lists.num_culled);
    }
    lists.least = hn::GetLane(hn::MinOfLanes(tag, least));
    return num_contacts;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(place);
HWY_EXPORT(sort);

void place_nodes(const VisitRows& rows, const VisitMotion& motion, const int* nodes, int count,
                 int available, VisitBatch& batch) noexcept {
    HWY_DYNAMIC_DISPATCH(place)(rows, motion, nodes, count, available, batch);
}
int sort_nodes(const int* nodes, int count, const CullRule& rule, VisitBatch& batch,
               VisitLists& lists) noexcept {
    return HWY_DYNAMIC_DISPATCH(sort)(nodes, count, rule, batch, lists);
}

}  // namespace pliant
#endif
