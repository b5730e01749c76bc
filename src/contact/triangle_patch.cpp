#include "pliant/contact/triangle_patch.h"

#include <cassert>

namespace pliant {

TrianglePatch::TrianglePatch(int capacity)
    : blocks_(new TriangleBlock[index(capacity) / TriangleBlock::kSize + 1]),
      ids_(index(capacity)) {}

void TrianglePatch::add(int surface, int triangle, const double* start,
                        const double* end) noexcept {
    assert(index(size_) < ids_.size());
    TriangleBlock& block = blocks_[index(size_) / TriangleBlock::kSize];
    const int lane = size_ % TriangleBlock::kSize;
    for (int k = 0; k < 9; ++k) {
        block.start[k][lane] = start[k];
        block.end[k][lane] = end[k];
    }
    ids_[index(size_++)] = {surface, triangle};
}

Corners TrianglePatch::between(int i, double s) const noexcept {
    const Corners from = start(i), to = end(i);
    return {from.a + s * (to.a - from.a), from.b + s * (to.b - from.b),
            from.c + s * (to.c - from.c)};
}

}  // namespace pliant
