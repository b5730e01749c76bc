#pragma once

#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {

/// Sharp edges (ends ascending, sorted) and corners of one level.
class SharpFeatures {
public:
    /// Throws InputError for creases that are no edges and corners out of range.
    SharpFeatures(const SurfaceMesh& control, const SubdivisionRules& rules);

    [[nodiscard]] bool is_crease(const SurfaceTopology::Edge& edge) const {
        return is_crease(edge.a, edge.b);
    }
    [[nodiscard]] bool is_crease(int a, int b) const;
    [[nodiscard]] bool is_corner(int vertex) const noexcept;
    /// Both halves of a crease are creases of the next level.
    void split(const std::vector<SurfaceTopology::Edge>& edges, int num_vertices);

private:
    std::vector<std::array<int, 2>> creases_;
    std::vector<char> is_corner_;  // of the control vertices
};

/// Loop's weight of each of k neighbours, docs/geometry-subdivision.md eq. (2).
[[nodiscard]] double loop_weight(int k);

}  // namespace pliant
