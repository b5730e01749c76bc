#pragma once

#include <cstddef>

/// Kernels of clusters of triangles in boxes, compiled for each instruction set;
/// docs/contact-moving.md eq. (1).
namespace pliant {

inline constexpr int kBoxGroup = 16;
/// Sixteen boxes, components apart; those that do not exist are empty.
struct alignas(64) BoxGroup {
    float low[3][kBoxGroup], high[3][kBoxGroup];
};

/// Triangles of a cluster: fewer cost more boxes, more cost tests of triangles far away.
inline constexpr int kClusterTriangles = 64;

/// Vertices of a cluster: own ones side by side, which no cluster before it has, and those it
/// shares with clusters before it: pairs side by side, then single ones.
struct ClusterVertices {
    int first, last;
    int first_pair, last_pair;  ///< a multiple of kSharedPairs of them
    int last_single;            ///< a multiple of 2 kSharedPairs
};
/// Shared pairs are looked at so many at a time, single ones twice as many.
inline constexpr int kSharedPairs = 2;
/// Offsets are read so far ahead, to call positions into the cache.
inline constexpr int kOffsetsAhead = 128;

/// What a pass over all clusters reads and writes.
struct ClusterPass {
    const float* source;  ///< x y z of each vertex, caller's order
    /// Where each of our vertices is in it, and kOffsetsAhead more; of the caller's last one a
    /// place too early, so that four numbers can be read.
    const int* offsets;
    int last_slot;  ///< of the caller's last vertex
    const ClusterVertices* clusters;
    int num_clusters;
    const int* shared;  ///< where shared pairs and single vertices are in `positions`
    float* positions;   ///< x y z and anything of each vertex, in the order of clusters; written
    BoxGroup* boxes;    ///< of clusters; written
};
/// Returns whether all positions are finite (and their sums).
bool write_clusters(const ClusterPass& pass) noexcept;
/// Boxes around two sets of `count` groups, and around each group of the result.
void join_boxes(const BoxGroup* a, const BoxGroup* b, int count, BoxGroup* joined,
                BoxGroup* groups) noexcept;

struct FloatSphere {
    float centre[3];
    float radius;
};
/// Appends the numbers of the boxes of group `number` that the sphere reaches; returns how many.
int find_boxes(const BoxGroup& group, int number, const FloatSphere& sphere, int* found) noexcept;
/// Appends which triangles [first, last), at most kClusterTriangles, have boxes around their
/// corners in both sets of positions that the sphere reaches; returns how many. `corners`: where
/// they are in both.
int find_triangles(const int* corners, int first, int last, const float* start, const float* end,
                   const FloatSphere& sphere, int* found) noexcept;

}  // namespace pliant
