#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace pliant {

/// Corner c of a cube is at (c & 1, c >> 1 & 1, c >> 2). Edge e runs along axis e / 4 from the
/// corner `kCubeEdgeStart[e]`.
inline constexpr std::array<std::uint8_t, 12> kCubeEdgeStart = {0, 2, 4, 6, 0, 4, 1, 5, 0, 1, 2, 3};

using CubeTriangle = std::array<std::uint8_t, 3>;  ///< cube edges, anticlockwise seen from outside

/// Triangles of the surface inside a cube for each set of inside corners (bit c: corner c),
/// docs/field.md section "Iso-surfaces". Corners inside at opposite ends of a face are kept apart
/// there, so that neighbouring cubes agree on the lines in their common face, and no triangle side
/// lies in a face except along such a line: all cubes together make a closed manifold.
[[nodiscard]] const std::array<std::vector<CubeTriangle>, 256>& cube_cases();

}  // namespace pliant
