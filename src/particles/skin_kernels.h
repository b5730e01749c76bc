#pragma once

#include <array>
#include <span>

/// Linear-blend skinning, compiled for each instruction set. Per vertex 64 multiply-adds and
/// 48 bytes, the placements stay in the caches.
namespace pliant {

/// x = turn · x_rest + shift: columns of the turn, then the shift; fourth numbers zero.
struct alignas(64) SkinPlacement {
    float columns[4][4];
};

/// Where vertices are, docs/particles.md eq. (8). `rest`: x y z of each at rest; `x`: as many.
void skin_vertices(std::span<const SkinPlacement> placements,
                   std::span<const std::array<int, 4>> particles,
                   std::span<const std::array<float, 4>> weights, std::span<const float> rest,
                   std::span<float> x) noexcept;

}  // namespace pliant
