#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Tet4 elements laid out for the SIMD kernels; docs/fem.md section "Tet4 kernels". A block of
/// elements is cut into rounds small enough for the first two levels of cache. A round copies its
/// nodes' displacements, sums forces and stiffness in places of its own, and adds each sum to the
/// body's once.
namespace pliant {

struct FemModelData;

inline constexpr int kTetLanes = 8;  ///< elements in a batch, whatever the instruction set
/// Pairs of nodes: the edges of a tetrahedron.
inline constexpr int kTetPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
inline constexpr int kMaxRoundTets = 512;
inline constexpr int kMaxRoundNodes = 256;
inline constexpr int kMaxRoundPairs = 1280;  ///< of different nodes that share an element

/// How the elements of a batch respond; Scalar ones are left to the loops over single elements.
enum class TetLaw : std::uint8_t {
    StVenantKirchhoff,
    SmallStrain,
    NeoHookean,
    Corotational,
    Scalar
};

/// Rest shapes and materials. A lane without element has the shape of lane 0 and no stiffness.
template <class T>
struct alignas(64) TetShapes {
    T gradients[3][3][kTetLanes];        ///< ∂φ_a/∂x_k of nodes a = 1, 2, 3
    T lambda[kTetLanes], mu[kTetLanes];  ///< times the weight [N m]
};
/// Where the nodes of each lane are in the round, times 4. Nodes of a lane ascend.
struct alignas(64) TetNodes {
    std::uint16_t places[4][kTetLanes];
};
/// Where the pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3) of each lane are in the round.
struct alignas(32) TetPairs {
    std::uint16_t places[6][kTetLanes];
};

/// Batches of one law.
struct TetRun {
    TetLaw law;
    int first_batch, end_batch;
};
/// Where the three columns of a node start in the values of K, how long each is, and where the
/// diagonal block is in the first.
struct NodeTarget {
    int columns, stride, block;
};
/// The blocks (p, q) and (q, p) of two nodes p < q.
struct PairTarget {
    int upper, upper_stride, lower, lower_stride;
};
/// Nodes and pairs that no earlier round has come first: their blocks are written, not added.
struct TetRound {
    int first_run, end_run;
    int first_node, num_nodes, num_new_nodes;
    int first_pair, num_pairs, num_new_pairs;
};

struct TetBatches {
    std::vector<TetShapes<double>> shapes;
    std::vector<TetShapes<float>> shapes_single;
    std::vector<TetNodes> nodes;
    std::vector<TetPairs> pairs;
    std::vector<int> element_places;  ///< of each lane in ElementBlocks; −1: none
    std::vector<TetRun> runs;
    std::vector<TetRound> rounds;
    std::vector<int> round_offsets{0};  ///< of each block's first round
    std::vector<int> round_nodes;       ///< 3 × node, by rounds
    std::vector<NodeTarget> node_targets;
    std::vector<PairTarget> pair_targets;
};

/// From everything else of a model of Tet4 elements.
[[nodiscard]] TetBatches make_tet_batches(const FemModelData& model);

}  // namespace pliant
