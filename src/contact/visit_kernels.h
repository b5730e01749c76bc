#pragma once

/// Kernels of a visit to tree nodes, compiled for each instruction set; docs/contact.md eq. (6) and
/// (7). The numbers of a node depend on that node alone, not on its place in a batch.
namespace pliant {

/// Nodes that go through a visit together; a multiple of every vector length.
inline constexpr int kVisitBatch = 128;
/// Lists that kernels append to need this much room beyond their last entry.
inline constexpr int kVisitPadding = 16;

/// Where nodes keep what a visit reads: rows as in PointTree::row(), and the factor b of node i at
/// b[i * b_stride].
struct VisitRows {
    const float* rows;
    int stride, rank;
    const float* b;
    int b_stride;
};

/// Shape and placement of the shell in a tick.
struct VisitMotion {
    /// As long as a row, 64-byte aligned: (q_j q_j q_j |q_j|) of each coordinate, then (1 1 1 1).
    const float* factors = nullptr;
    float norm = 0;          ///< |q|
    float rotation[9] = {};  ///< to the axes of the field, by rows
    float shift[3] = {};
};

/// Components apart. `place_nodes` also writes up to the next multiple of the vector length.
struct alignas(64) VisitBatch {
    float x[kVisitBatch], y[kVisitBatch], z[kVisitBatch], radius[kVisitBatch];
    float distance[kVisitBatch];
    float gap[kVisitBatch];
    int contacts[kVisitBatch + kVisitPadding];  ///< places in the batch
};

/// Positions in the axes of the field and radii of nodes[0 … count). `available` ≥ count nodes are
/// listed; rows of the later ones are called into the cache.
void place_nodes(const VisitRows& rows, const VisitMotion& motion, const int* nodes, int count,
                 int available, VisitBatch& batch) noexcept;

/// When a node is left alone, eq. (7).
struct CullRule {
    float near, far, band;  ///< CullingMargin
    float inverse_stretch;
    float slack;  ///< for rounding
};

/// Where a visit puts its nodes: appended.
struct VisitLists {
    int* open = nullptr;
    float* open_distance = nullptr;
    int num_open = 0;
    int* culled = nullptr;
    int num_culled = 0;
    float least = 0;  ///< no point under the nodes seen is nearer: the least distance or gap
};

/// Gaps of the nodes of a batch whose distances and radii are known, eq. (7): culled if positive,
/// else open. Returns how many have negative distance; their places are batch.contacts.
int sort_nodes(const int* nodes, int count, const CullRule& rule, VisitBatch& batch,
               VisitLists& lists) noexcept;

}  // namespace pliant
