#pragma once

#include "pliant/greens/build_greens.h"

#include <vector>

namespace pliant {

/// Which nodes the reference problem holds, by `options.fixed`. Throws InputError for a selection
/// without nodes, or with fewer than three that are not on a line.
[[nodiscard]] std::vector<NodeKind> node_kinds(const std::vector<Eigen::Vector3d>& positions,
                                               double length, const GreensBuildOptions& options);
/// Nodes with columns, ascending: `options.contactable` as far as they are free, and those held if
/// they have columns too. Throws InputError for a selection without free nodes.
[[nodiscard]] std::vector<int> column_nodes(const std::vector<Eigen::Vector3d>& positions,
                                            const std::vector<NodeKind>& kinds,
                                            const GreensBuildOptions& options);

/// Which nodes move a vertex, by their weights: its own node (the first, where there are several),
/// or those of the triangles around it, by their areas.
void connect_vertices(GreensModel& model);

/// Needed at the same time [bytes].
struct GreensMemory {
    double matrix = 0;   ///< factored; iterative: with its preconditioner
    double loads = 0;    ///< right-hand sides
    double columns = 0;  ///< result
    bool is_iterative = false;
    [[nodiscard]] double total() const noexcept { return matrix + loads + columns; }
};
/// `num_kept`: nodes whose right-hand sides are kept; those of coarser functions are summed.
[[nodiscard]] GreensMemory boundary_memory(double num_nodes, double num_columns,
                                           double num_kept) noexcept;
[[nodiscard]] GreensMemory finite_memory(double num_unknowns, double num_nodes,
                                         double num_columns) noexcept;
/// Of the iterative solver, docs/greens-large.md eq. (L11).
[[nodiscard]] GreensMemory iterative_memory(double num_nodes, double num_columns) noexcept;
/// Which solver boundary elements take: the direct one while its memory is there.
[[nodiscard]] bool solves_iteratively(GreensSolver solver, const GreensMemory& direct,
                                      double available) noexcept;
/// Throws InputError that says what is needed, what there is and what would help.
void check_greens_memory(const GreensMemory& memory, double available, GreensMethod method,
                         int num_nodes, int num_columns);

}  // namespace pliant
