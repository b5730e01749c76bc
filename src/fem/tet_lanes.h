#pragma once

#include "fem/tet_batches.h"

/// Arrays that the kernels of tet_domain_kernels.h read and write, one entry in each lane.
namespace pliant {

/// A number of each lane.
template <class T>
struct alignas(64) LaneNumbers {
    T v[kTetLanes];
};
/// A vector or a 3 × 3 matrix (by rows) of each lane.
template <class T>
struct alignas(64) LaneVectors {
    T v[3][kTetLanes];
};
template <class T>
struct alignas(64) LaneMatrices {
    T m[9][kTetLanes];
};
/// Where a node of each lane is in the round, times 4.
struct alignas(16) LanePlaces {
    std::uint16_t v[kTetLanes];
};

/// Eight edges; lanes with fewer nodes repeat their first with a gradient of zero.
struct DomainBatch {
    int num_nodes;
    int first_gradient;  ///< of all nodes but the first
    int first_place;     ///< of all nodes
};

}  // namespace pliant
