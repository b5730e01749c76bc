#pragma once

namespace pliant {

/// Eight triangles as kernels read them: x y z of each corner, components apart, at the start and
/// at the end of a tick.
struct alignas(64) TriangleBlock {
    static constexpr int kSize = 8;
    double start[9][kSize], end[9][kSize];
};

}  // namespace pliant
