#include "pliant/fem/ordering.h"

#include "fem/mesh_dissection.h"
#include "fem/metis_ordering.h"
#include "fem/minimum_degree.h"
#include "pliant/core/error.h"

#include <cassert>
#include <numeric>
#include <random>
#include <string>

namespace pliant {
namespace {

/// Fisher–Yates with its own draw: std::shuffle differs between standard libraries.
std::vector<int> random_order(int n, std::uint64_t seed) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 engine(seed);
    for (int i = n - 1; i > 0; --i) {
        const auto j = engine() % (static_cast<std::uint64_t>(i) + 1);
        std::swap(order[i], order[j]);
    }
    return order;
}

/// Moves the inactive nodes to the front.
std::vector<int> inactive_first(const NodeGraph& graph, const std::vector<int>& order) {
    std::vector<char> is_inactive(static_cast<std::size_t>(graph.num_nodes()), 0);
    for (const int node : graph.inactive) is_inactive[node] = 1;
    std::vector<int> result = graph.inactive;
    for (const int node : order)
        if (!is_inactive[node]) result.push_back(node);
    return result;
}

}  // namespace

std::string_view to_string(Ordering method) noexcept {
    switch (method) {
        case Ordering::Natural: return "natural";
        case Ordering::Random: return "random";
        case Ordering::MinimumDegree: return "minimum-degree";
        case Ordering::Metis: return "metis";
        case Ordering::RegularNestedDissection: return "regular-nested-dissection";
        case Ordering::SimpleNestedDissection: return "simple-nested-dissection";
        case Ordering::CoverNestedDissection: return "cover-nested-dissection";
    }
    return "";
}

bool needs_mesh(Ordering method) noexcept {
    return method == Ordering::RegularNestedDissection ||
           method == Ordering::SimpleNestedDissection || method == Ordering::CoverNestedDissection;
}

std::vector<int> elimination_order(const NodeGraph& graph, Ordering method, std::uint64_t seed) {
    std::vector<int> order;
    switch (method) {
        case Ordering::Natural:
            order.resize(static_cast<std::size_t>(graph.num_nodes()));
            std::iota(order.begin(), order.end(), 0);
            break;
        case Ordering::Random: order = random_order(graph.num_nodes(), seed); break;
        case Ordering::MinimumDegree: order = minimum_degree_order(graph); break;
        case Ordering::Metis: order = metis_order(graph, seed); break;
        default:
            throw InputError(
                "", "ordering", std::string(to_string(method)),
                "a method that needs no mesh: natural, random, minimum-degree or metis");
    }
    return inactive_first(graph, order);
}

std::vector<int> elimination_order(const VolumeMesh& mesh, std::span<const int> fixed,
                                   Ordering method, std::uint64_t seed) {
    if (!needs_mesh(method)) return elimination_order(node_graph(mesh, fixed), method, seed);
    const ActiveElements elements = active_elements(mesh, fixed);
    const Dissection dissection =
        method == Ordering::RegularNestedDissection  ? regular_dissection(mesh, elements)
        : method == Ordering::SimpleNestedDissection ? simple_dissection(mesh, elements)
                                                     : cover_dissection(mesh, elements);
    std::vector<int> order;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (!elements.is_active[i]) order.push_back(i);
    order.insert(order.end(), dissection.order.begin(), dissection.order.end());
    return order;
}

std::vector<int> order_of_unknowns(std::span<const int> order, int unknowns_per_node) {
    std::vector<int> unknowns;
    unknowns.reserve(order.size() * static_cast<std::size_t>(unknowns_per_node));
    for (const int node : order)
        for (int c = 0; c < unknowns_per_node; ++c)
            unknowns.push_back(node * unknowns_per_node + c);
    return unknowns;
}

std::vector<int> positions_in(std::span<const int> order) {
    std::vector<int> position(order.size(), -1);
    for (int k = 0; k < static_cast<int>(order.size()); ++k) {
        assert(order[k] >= 0 && order[k] < static_cast<int>(order.size()) &&
               position[order[k]] == -1);
        position[order[k]] = k;
    }
    return position;
}

}  // namespace pliant
