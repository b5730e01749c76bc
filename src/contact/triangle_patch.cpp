#include "pliant/contact/triangle_patch.h"

#include <cassert>

namespace pliant {
namespace {

Corners read_corners(const double (&x)[9][TriangleBlock::kSize], int lane) noexcept {
    const auto corner = [&](int k) {
        return Eigen::Vector3d(x[3 * k][lane], x[3 * k + 1][lane], x[3 * k + 2][lane]);
    };
    return {corner(0), corner(1), corner(2)};
}

}  // namespace

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

Corners TrianglePatch::start(int i) const noexcept {
    return read_corners(blocks_[index(i) / TriangleBlock::kSize].start, i % TriangleBlock::kSize);
}

Corners TrianglePatch::end(int i) const noexcept {
    return read_corners(blocks_[index(i) / TriangleBlock::kSize].end, i % TriangleBlock::kSize);
}

Corners TrianglePatch::between(int i, double s) const noexcept {
    const Corners from = start(i), to = end(i);
    return {from.a + s * (to.a - from.a), from.b + s * (to.b - from.b),
            from.c + s * (to.c - from.c)};
}

}  // namespace pliant
