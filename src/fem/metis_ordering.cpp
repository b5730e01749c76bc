#include "fem/metis_ordering.h"

#include <metis.h>

#include <mutex>
#include <new>
#include <stdexcept>

namespace pliant {

std::vector<int> metis_order(const NodeGraph& graph, std::uint64_t seed,
                             std::span<const int> weights) {
    // METIS wants no isolated nodes
    std::vector<int> order, coupled, index(static_cast<std::size_t>(graph.num_nodes()), -1);
    for (int i = 0; i < graph.num_nodes(); ++i)
        if (graph.of(i).empty()) {
            order.push_back(i);
        } else {
            index[i] = static_cast<int>(coupled.size());
            coupled.push_back(i);
        }
    if (coupled.empty()) return order;

    std::vector<idx_t> offsets{0}, neighbours, coupled_weights;
    neighbours.reserve(graph.neighbours.size());
    for (const int i : coupled) {
        for (const int j : graph.of(i)) neighbours.push_back(index[j]);
        offsets.push_back(static_cast<idx_t>(neighbours.size()));
        if (!weights.empty()) coupled_weights.push_back(weights[i]);
    }
    std::vector<idx_t> permuted(coupled.size()), position(coupled.size());
    auto n = static_cast<idx_t>(coupled.size());
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);

    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const int status = METIS_NodeND(&n, offsets.data(), neighbours.data(),
                                    weights.empty() ? nullptr : coupled_weights.data(), options,
                                    permuted.data(), position.data());
    if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
    if (status != METIS_OK) throw std::runtime_error("METIS_NodeND failed");
    for (const idx_t k : permuted) order.push_back(coupled[k]);
    return order;
}

}  // namespace pliant
