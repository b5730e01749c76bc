#include "pliant/geometry/mesh_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Spreads 21 bits so that two zero bits follow each.
std::uint64_t spread_bits(std::uint64_t v) {
    v = (v | v << 32) & 0x001f00000000ffffULL;
    v = (v | v << 16) & 0x001f0000ff0000ffULL;
    v = (v | v << 8) & 0x100f00f00f00f00fULL;
    v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
    return (v | v << 2) & 0x1249249249249249ULL;
}

/// The values in a new order: `order` holds the old index of each.
template <class Value>
void permute(std::vector<Value>& values, const std::vector<int>& order) {
    if (values.empty()) return;
    std::vector<Value> old(values.size());
    old.swap(values);
    for (std::size_t i = 0; i < old.size(); ++i) values[i] = old[order[i]];
}

}  // namespace

std::vector<int> elements_along_curve(const VolumeMesh& mesh) {
    const int n = mesh.num_elements();
    std::vector<Vector3d> centroids(static_cast<std::size_t>(n), Vector3d::Zero());
    for (int e = 0; e < n; ++e) {
        for (const int node : mesh.element(e)) centroids[e] += mesh.vertices[node];
        centroids[e] /= nodes_per_element(mesh.kind);
    }
    Vector3d low = Vector3d::Zero(), high = low;
    if (n > 0) low = high = centroids[0];
    for (const Vector3d& c : centroids) {
        low = low.cwiseMin(c);
        high = high.cwiseMax(c);
    }
    const double side = (high - low).maxCoeff();
    const double scale = side > 0 ? static_cast<double>((1 << 21) - 1) / side : 0.0;
    std::vector<std::uint64_t> code(static_cast<std::size_t>(n));
    for (int e = 0; e < n; ++e)
        for (int k = 0; k < 3; ++k)
            code[e] |= spread_bits(static_cast<std::uint64_t>(scale * (centroids[e][k] - low[k])))
                       << k;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order,
                      [&](int a, int b) { return code[a] != code[b] ? code[a] < code[b] : a < b; });
    return order;
}

std::vector<int> renumber_vertices(VolumeMesh& mesh) {
    const std::vector<int> elements = elements_along_curve(mesh);
    std::vector<int> new_index(mesh.vertices.size(), -1), old_index;
    old_index.reserve(mesh.vertices.size());
    const auto number = [&](int vertex) {
        if (new_index[vertex] >= 0) return;
        new_index[vertex] = static_cast<int>(old_index.size());
        old_index.push_back(vertex);
    };
    for (const int e : elements)
        for (const int vertex : mesh.element(e)) number(vertex);
    for (int vertex = 0; vertex < mesh.num_vertices(); ++vertex) number(vertex);

    std::vector<int> nodes;
    nodes.reserve(mesh.elements.size());
    for (const int e : elements)
        for (const int vertex : mesh.element(e)) nodes.push_back(new_index[vertex]);
    mesh.elements = std::move(nodes);
    permute(mesh.regions, elements);
    permute(mesh.filled, elements);
    permute(mesh.vertices, old_index);
    for (HangingNode& hanging : mesh.hanging) {
        hanging.vertex = new_index[hanging.vertex];
        for (int k = 0; k < hanging.num_masters; ++k)
            hanging.masters[k] = new_index[hanging.masters[k]];
    }
    return old_index;
}

}  // namespace pliant
