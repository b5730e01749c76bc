#pragma once

#include "fem/sound_origin.h"
#include "fem/tet_batches.h"

#include <algorithm>

namespace pliant {

/// A vector of each node of a round, in four numbers. `nodes` below are 3 × node.
template <class T>
struct alignas(64) RoundVectors {
    T values[4 * kMaxRoundNodes];
};

/// Copies the round's part of u. In float relative to a place near its nodes, so that digits are
/// not spent on how far the body has moved.
template <class T>
void load(const int* nodes, int num_nodes, const double* u, RoundVectors<T>& local) {
    double origin[3] = {0, 0, 0};
    if (num_nodes == 0) return;
    if constexpr (sizeof(T) < sizeof(double)) {
        const double* const first = u + nodes[0];
        const double* const middle = u + nodes[num_nodes / 2];
        const double* const last = u + nodes[num_nodes - 1];
        for (int k = 0; k < 3; ++k) origin[k] = sound_origin(first[k], middle[k], last[k]);
    }
    for (int i = 0; i < num_nodes; ++i) {
        const double* const from = u + nodes[i];
        T* const to = local.values + 4 * i;
        for (int k = 0; k < 3; ++k) to[k] = static_cast<T>(from[k] - origin[k]);
        to[3] = 0;
    }
}

template <class T>
void clear(int num_nodes, RoundVectors<T>& local) {
    std::fill_n(local.values, 4 * num_nodes, T{0});
}

template <class T>
void add_to_all(const int* nodes, int num_nodes, const RoundVectors<T>& local, double* all) {
    for (int i = 0; i < num_nodes; ++i)
        for (int k = 0; k < 3; ++k)
            all[nodes[i] + k] += static_cast<double>(local.values[4 * i + k]);
}

}  // namespace pliant
