#include "field/cube_cases.h"

#include <cassert>

namespace pliant {
namespace {

constexpr int kNumEdges = 12;

/// Edge of the cube between two neighbouring corners.
int edge_between(int a, int b) {
    const int axis = (a ^ b) >> 1;  // 1, 2, 4 → 0, 1, 2
    for (int e = 4 * axis; e < 4 * axis + 4; ++e)
        if (kCubeEdgeStart[e] == (a & b)) return e;
    assert(false);
    return -1;
}

/// Corners of a face, anticlockwise seen from outside the cube.
std::array<int, 4> face_corners(int axis, int side) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
    if (side == 1) return {base, base | u, base | u | v, base | v};
    return {base, base | v, base | u | v, base | u};
}

/// Whether both edges are in one face of the cube.
bool share_face(int e, int f) {
    for (int axis = 0; axis < 3; ++axis) {
        const auto side = [axis](int edge) {  // of the axis; −1: the edge runs along it
            return edge / 4 == axis ? -1 : kCubeEdgeStart[edge] >> axis & 1;
        };
        if (side(e) >= 0 && side(e) == side(f)) return true;
    }
    return false;
}

/// Triangles of the loop between its places i and j; false if every way has a side in a face.
bool triangulate(const std::vector<int>& loop, int i, int j, std::vector<CubeTriangle>& triangles) {
    if (j - i < 2) return true;
    const auto is_allowed = [&](int a, int b) {
        return b - a == 1 || !share_face(loop[a], loop[b]);
    };
    // halves first: rounder triangles than a fan
    for (int step = 0; step < j - i - 1; ++step) {
        const int middle = (i + j) / 2 + (step % 2 ? (step + 1) / 2 : -(step / 2));
        if (middle <= i || middle >= j || !is_allowed(i, middle) || !is_allowed(middle, j))
            continue;
        const std::size_t before = triangles.size();
        triangles.push_back({static_cast<std::uint8_t>(loop[i]),
                             static_cast<std::uint8_t>(loop[middle]),
                             static_cast<std::uint8_t>(loop[j])});
        if (triangulate(loop, i, middle, triangles) && triangulate(loop, middle, j, triangles))
            return true;
        triangles.resize(before);
    }
    return false;
}

std::vector<CubeTriangle> triangles_of(int inside) {
    // lines in the faces: each run of inside corners is cut off, from the edge where it begins to
    // the edge where it ends
    std::array<int, kNumEdges> next;
    next.fill(-1);
    for (int face = 0; face < 6; ++face) {
        const std::array<int, 4> corner = face_corners(face / 2, face % 2);
        const auto is_inside = [&](int k) { return (inside >> corner[k % 4] & 1) != 0; };
        for (int k = 0; k < 4; ++k) {
            if (is_inside(k) || !is_inside(k + 1)) continue;
            int end = k + 1;
            while (is_inside(end + 1)) ++end;
            next[edge_between(corner[k], corner[(k + 1) % 4])] =
                edge_between(corner[end % 4], corner[(end + 1) % 4]);
        }
    }
    // each crossed edge begins one line and ends another: the lines make loops
    std::vector<CubeTriangle> triangles;
    std::array<bool, kNumEdges> is_done{};
    for (int e = 0; e < kNumEdges; ++e) {
        if (next[e] < 0 || is_done[e]) continue;
        std::vector<int> loop;
        for (int f = e; !is_done[f]; f = next[f]) {
            is_done[f] = true;
            loop.push_back(f);
        }
        [[maybe_unused]] const bool found =
            triangulate(loop, 0, static_cast<int>(loop.size()) - 1, triangles);
        assert(found);
    }
    return triangles;
}

}  // namespace

const std::array<std::vector<CubeTriangle>, 256>& cube_cases() {
    static const auto cases = [] {
        std::array<std::vector<CubeTriangle>, 256> all;
        for (int inside = 0; inside < 256; ++inside) all[inside] = triangles_of(inside);
        return all;
    }();
    return cases;
}

}  // namespace pliant
