#include "pliant/fem/node_graph.h"

#include "fem/active_elements.h"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// Sorts each row and drops what is double.
NodeGraph from_rows(std::vector<std::vector<int>>& rows) {
    NodeGraph graph;
    for (auto& row : rows) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        graph.neighbours.insert(graph.neighbours.end(), row.begin(), row.end());
        graph.offsets.push_back(static_cast<int>(graph.neighbours.size()));
    }
    return graph;
}

}  // namespace

NodeGraph node_graph(const VolumeMesh& mesh, std::span<const int> fixed) {
    const ActiveElements elements = active_elements(mesh, fixed);
    std::vector<std::vector<int>> rows(mesh.vertices.size());
    for (int e = 0; e < elements.size(); ++e)
        for (const int i : elements.of(e))
            for (const int j : elements.of(e))
                if (i != j) rows[i].push_back(j);
    NodeGraph graph = from_rows(rows);
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (!elements.is_active[i]) graph.inactive.push_back(i);
    return graph;
}

NodeGraph node_graph(const Eigen::SparseMatrix<double>& A, int unknowns_per_node) {
    assert(A.rows() == A.cols() && unknowns_per_node > 0 && A.rows() % unknowns_per_node == 0);
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(A.rows() / unknowns_per_node));
    for (int column = 0; column < A.outerSize(); ++column)
        for (Eigen::SparseMatrix<double>::InnerIterator entry(A, column); entry; ++entry) {
            const int i = static_cast<int>(entry.row()) / unknowns_per_node;
            const int j = column / unknowns_per_node;
            // a block brings up to b² equal entries in a row: look at the last one
            if (i != j && (rows[i].empty() || rows[i].back() != j)) rows[i].push_back(j);
            if (i != j && (rows[j].empty() || rows[j].back() != i)) rows[j].push_back(i);
        }
    return from_rows(rows);
}

}  // namespace pliant
