#include "fem/tet_rounds.h"

#include "fem/round_vectors.h"
#include "fem/scalar_elements.h"
#include "fem/tet_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pliant {
namespace {

struct alignas(64) RoundBlocks {
    double diagonal[kTetBlockSize * kMaxRoundNodes];
    double pairs[kTetBlockSize * kMaxRoundPairs];
};
using RedoBits = std::uint8_t[kMaxRoundTets / kTetLanes];

template <class T>
void load(const TetBatches& tets, const TetRound& round, const double* u, RoundVectors<T>& local) {
    load(tets.round_nodes.data() + round.first_node, round.num_nodes, u, local);
}
template <class T>
void clear(const TetRound& round, RoundVectors<T>& local) {
    clear(round.num_nodes, local);
}
template <class T>
void add_to_all(const TetBatches& tets, const TetRound& round, const RoundVectors<T>& local,
                double* all) {
    add_to_all(tets.round_nodes.data() + round.first_node, round.num_nodes, local, all);
}

/// Clears the round's blocks, and calls the columns of K that the next one needs in from memory.
void clear(const TetBatches& tets, const TetRound& round, const double* values,
           RoundBlocks& local) {
    std::fill_n(local.diagonal, kTetBlockSize * round.num_nodes, 0.0);
    std::fill_n(local.pairs, kTetBlockSize * round.num_pairs, 0.0);
    if (&round == &tets.rounds.back()) return;
    const TetRound& next = *(&round + 1);
    for (int i = next.first_node; i < next.first_node + next.num_nodes; ++i) {
        const NodeTarget& node = tets.node_targets[i];
        for (int k = 0; k < 3 * node.stride; k += 8)
            __builtin_prefetch(values + node.columns + k, 1, 2);
    }
}

/// Puts a block, columns four apart, into K, columns `stride` apart.
template <class Put>
void put_block(const double* block, double* to, std::ptrdiff_t stride, const Put& put) {
    for (int j = 0; j < 3; ++j, block += 4, to += stride) {
        put(to[0], block[0]);
        put(to[1], block[1]);
        put(to[2], block[2]);
    }
}
template <class Put>
void put_transposed(const double* block, double* to, std::ptrdiff_t stride, const Put& put) {
    for (int j = 0; j < 3; ++j, block += 1, to += stride) {
        put(to[0], block[0]);
        put(to[1], block[4]);
        put(to[2], block[8]);
    }
}

/// Adds the round's blocks to K, or writes them where they are the first.
void add_to_all(const TetBatches& tets, const TetRound& round, const RoundBlocks& local,
                double* values) {
    const NodeTarget* const nodes = tets.node_targets.data() + round.first_node;
    const auto put_nodes = [&](int first, int end, const auto& put) {
        for (int i = first; i < end; ++i)
            put_block(local.diagonal + kTetBlockSize * i, values + nodes[i].block, nodes[i].stride,
                      put);
    };
    const PairTarget* const pairs = tets.pair_targets.data() + round.first_pair;
    const auto put_pairs = [&](int first, int end, const auto& put) {
        for (int i = first; i < end; ++i) {
            const double* const block = local.pairs + kTetBlockSize * i;
            put_block(block, values + pairs[i].upper, pairs[i].upper_stride, put);
            put_transposed(block, values + pairs[i].lower, pairs[i].lower_stride, put);
        }
    };
    const auto write = [](double& value, double x) { value = x; };
    const auto add = [](double& value, double x) { value += x; };
    put_nodes(0, round.num_new_nodes, write);
    put_nodes(round.num_new_nodes, round.num_nodes, add);
    put_pairs(0, round.num_new_pairs, write);
    put_pairs(round.num_new_pairs, round.num_pairs, add);
}

template <class Body>
void for_each_round(const TetBatches& tets, int block, const Body& body) {
    for (int r = tets.round_offsets[block]; r < tets.round_offsets[block + 1]; ++r)
        body(tets.rounds[r]);
}

template <class T>
TetBatchView<T> view(const TetBatches& tets, const TetRun& run) {
    const auto& shapes = [&]() -> const auto& {
        if constexpr (sizeof(T) == sizeof(double))
            return tets.shapes;
        else
            return tets.shapes_single;
    }
    ();
    return {run.law, run.end_batch - run.first_batch, shapes.data() + run.first_batch,
            tets.nodes.data() + run.first_batch};
}

/// Calls `body(place)` for the elements of a run that have to take the scalar way.
template <class Body>
void for_each_left_out(const TetBatches& tets, const TetRun& run, const RedoBits& redo,
                       const Body& body) {
    if (run.law != TetLaw::Scalar && run.law != TetLaw::Corotational) return;
    for (int batch = run.first_batch; batch < run.end_batch; ++batch) {
        unsigned bits = run.law == TetLaw::Scalar ? 0xffU : redo[batch - run.first_batch];
        for (; bits != 0; bits &= bits - 1) {
            const int lane = std::countr_zero(bits);
            const int place =
                tets.element_places[static_cast<std::size_t>(batch) * kTetLanes + lane];
            if (place >= 0) body(place);
        }
    }
}

template <class T, bool kWithDetF>
SmallestDetF add_forces(const FemModelData& d, int block, const double* u, double* R) noexcept {
    const TetBatches& tets = d.tets;
    RoundVectors<T> local_u, local_R;
    RedoBits redo;
    SmallestDetF smallest = kNoDetF;
    for_each_round(tets, block, [&](const TetRound& round) {
        load(tets, round, u, local_u);
        clear(round, local_R);
        for (int r = round.first_run; r < round.end_run; ++r) {
            const TetRun& run = tets.runs[r];
            if (run.law != TetLaw::Scalar) {
                TetDetF of_run;
                add_tet_forces<T>(view<T>(tets, run), local_u.values, local_R.values, redo,
                                  kWithDetF ? &of_run : nullptr);
                if (kWithDetF) {
                    const int place = tets.element_places[static_cast<std::size_t>(run.first_batch +
                                                                                   of_run.batch) *
                                                              kTetLanes +
                                                          of_run.lane];
                    keep_smaller({of_run.value, d.blocks.elements[place]}, smallest);
                }
            }
            for_each_left_out(tets, run, redo, [&](int place) {
                add_element_force<4>(d, place, u, R);
                if (kWithDetF && run.law == TetLaw::Scalar)
                    keep_element_det_F<4>(d, place, u, smallest);
            });
        }
        add_to_all(tets, round, local_R, R);
    });
    return smallest;
}

}  // namespace

template <class T>
void add_tet_block_forces(const FemModelData& d, int block, const double* u, double* R) noexcept {
    add_forces<T, false>(d, block, u, R);
}
template void add_tet_block_forces<double>(const FemModelData&, int, const double*,
                                           double*) noexcept;
template void add_tet_block_forces<float>(const FemModelData&, int, const double*,
                                          double*) noexcept;

template <class T>
SmallestDetF add_tet_block_forces_and_det_F(const FemModelData& d, int block, const double* u,
                                            double* R) noexcept {
    return add_forces<T, true>(d, block, u, R);
}
template SmallestDetF add_tet_block_forces_and_det_F<double>(const FemModelData&, int,
                                                             const double*, double*) noexcept;
template SmallestDetF add_tet_block_forces_and_det_F<float>(const FemModelData&, int, const double*,
                                                            double*) noexcept;

void add_tet_block_tangents(const FemModelData& d, int block, const double* u, double* R,
                            double* values) noexcept {
    const TetBatches& tets = d.tets;
    RoundVectors<double> local_u, local_R;
    RoundBlocks local_K;
    RedoBits redo;
    for_each_round(tets, block, [&](const TetRound& round) {
        load(tets, round, u, local_u);
        clear(round, local_R);
        clear(tets, round, values, local_K);
        for (int r = round.first_run; r < round.end_run; ++r) {
            const TetRun& run = tets.runs[r];
            if (run.law != TetLaw::Scalar)
                add_tet_tangents(view<double>(tets, run), tets.pairs.data() + run.first_batch,
                                 local_u.values, local_R.values, local_K.diagonal, local_K.pairs,
                                 redo);
        }
        if (R != nullptr) add_to_all(tets, round, local_R, R);
        add_to_all(tets, round, local_K, values);
        for (int r = round.first_run; r < round.end_run; ++r)
            for_each_left_out(tets, tets.runs[r], redo,
                              [&](int place) { add_element_tangent<4>(d, place, u, R, values); });
    });
}

void add_tet_block_products(const FemModelData& d, int block, const double* u, const double* p,
                            double* Kp) noexcept {
    const TetBatches& tets = d.tets;
    RoundVectors<double> local_u, local_p, local_Kp;
    RedoBits redo;
    for_each_round(tets, block, [&](const TetRound& round) {
        load(tets, round, u, local_u);
        load(tets, round, p, local_p);
        clear(round, local_Kp);
        for (int r = round.first_run; r < round.end_run; ++r) {
            const TetRun& run = tets.runs[r];
            if (run.law != TetLaw::Scalar)
                add_tet_tangent_products(view<double>(tets, run), local_u.values, local_p.values,
                                         local_Kp.values, redo);
            for_each_left_out(tets, run, redo,
                              [&](int place) { add_element_product<4>(d, place, u, p, Kp); });
        }
        add_to_all(tets, round, local_Kp, Kp);
    });
}

}  // namespace pliant
