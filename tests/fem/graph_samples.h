#pragma once

#include "geometry/test_meshes.h"
#include "pliant/fem/node_graph.h"
#include "pliant/geometry/structured_mesh.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace pliant::test {

/// Every pair of nodes is coupled with the given probability.
inline NodeGraph random_graph(int n, double probability, Random& random) {
    std::vector<std::set<int>> rows(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (random.uniform(0, 1) < probability) {
                rows[i].insert(j);
                rows[j].insert(i);
            }
    NodeGraph graph;
    for (const auto& row : rows) {
        graph.neighbours.insert(graph.neighbours.end(), row.begin(), row.end());
        graph.offsets.push_back(static_cast<int>(graph.neighbours.size()));
    }
    return graph;
}

/// Elimination as in a textbook: the neighbours of an eliminated node become a clique.
class PlainElimination {
public:
    explicit PlainElimination(const NodeGraph& graph) {
        for (int i = 0; i < graph.num_nodes(); ++i)
            open_.emplace_back(graph.of(i).begin(), graph.of(i).end());
    }
    /// Neighbours that are not eliminated yet.
    [[nodiscard]] const std::set<int>& neighbours(int node) const { return open_[node]; }
    void eliminate(int node) {
        for (const int i : open_[node]) {
            open_[i].erase(node);
            for (const int j : open_[node])
                if (i != j) open_[i].insert(j);
        }
    }

private:
    std::vector<std::set<int>> open_;
};

inline bool is_permutation_of_all(std::vector<int> order, int n) {
    std::sort(order.begin(), order.end());
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return order == all;
}

inline Box box_of(double x, double y, double z) {
    return {Eigen::Vector3d::Zero(), Eigen::Vector3d(x, y, z)};
}

/// A lattice of tets, its inner order lost: nodes moved and renumbered, one tet in ten taken away.
inline VolumeMesh irregular_tets(int n, Random& random) {
    const VolumeMesh lattice = tet_box(n, n, n, box_of(1, 1, 1));
    std::vector<int> index(lattice.vertices.size());
    std::iota(index.begin(), index.end(), 0);
    for (int i = lattice.num_vertices() - 1; i > 0; --i)
        std::swap(index[i], index[random.below(i + 1)]);
    VolumeMesh mesh;
    mesh.vertices.resize(lattice.vertices.size());
    for (int i = 0; i < lattice.num_vertices(); ++i)
        mesh.vertices[index[i]] = lattice.vertices[i] + random.in_cube(0.2 / n);
    for (int e = 0; e < lattice.num_elements(); ++e)
        if (random.below(10) > 0)
            for (const int node : lattice.element(e)) mesh.elements.push_back(index[node]);
    return mesh;
}

/// Tets between any four of `num_nodes` random points, overlapping at will: no plane separates
/// them.
inline VolumeMesh tangled_tets(int num_nodes, int num_tets, Random& random) {
    VolumeMesh mesh;
    for (int i = 0; i < num_nodes; ++i) mesh.vertices.push_back(random.in_cube(1));
    for (int e = 0; e < num_tets; ++e) {
        std::set<int> nodes;
        while (nodes.size() < 4) nodes.insert(random.below(num_nodes));
        mesh.elements.insert(mesh.elements.end(), nodes.begin(), nodes.end());
    }
    return mesh;
}

/// Vertices with x = 0.
inline std::vector<int> nodes_at_x0(const VolumeMesh& mesh) {
    std::vector<int> nodes;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (mesh.vertices[i].x() == 0) nodes.push_back(i);
    return nodes;
}

}  // namespace pliant::test
