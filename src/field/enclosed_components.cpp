#include "pliant/field/iso_surface.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

#include <cmath>

namespace pliant {
namespace {

/// The triangles of each component, with vertices of its own.
std::vector<SurfaceMesh> split(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    std::vector<SurfaceMesh> parts(topology.num_components());
    std::vector<int> number(mesh.vertices.size(), -1), owner(mesh.vertices.size(), -1);
    // components do not share edges, but in any mesh they may share vertices
    std::vector<std::vector<int>> triangles(topology.num_components());
    for (int t = 0; t < mesh.num_triangles(); ++t) triangles[topology.components()[t]].push_back(t);
    for (int c = 0; c < topology.num_components(); ++c)
        for (const int t : triangles[c]) {
            Triangle corners{};
            for (int k = 0; k < 3; ++k) {
                const int vertex = mesh.triangles[t][k];
                if (owner[vertex] != c) {
                    owner[vertex] = c;
                    number[vertex] = parts[c].num_vertices();
                    parts[c].vertices.push_back(mesh.vertices[vertex]);
                }
                corners[k] = number[vertex];
            }
            parts[c].triangles.push_back(corners);
        }
    return parts;
}

}  // namespace

int remove_enclosed_components(SurfaceMesh& mesh) {
    const SurfaceTopology topology(mesh);
    const int count = topology.num_components();
    if (count < 2) return 0;
    const std::vector<SurfaceMesh> parts = split(mesh, topology);
    std::vector<Box> boxes;
    for (const SurfaceMesh& part : parts) boxes.push_back(bounding_box(part.vertices));

    // inside another one: its box is, and the winding number there is not zero
    std::vector<char> is_enclosed(count, 0);
    for (int outer = 0; outer < count; ++outer) {
        if (is_enclosed[outer]) continue;  // what is in it is also in the one around it
        std::vector<int> candidates;
        for (int inner = 0; inner < count; ++inner)
            if (inner != outer && !is_enclosed[inner] && boxes[outer].contains(boxes[inner]))
                candidates.push_back(inner);
        if (candidates.empty()) continue;
        const SurfaceQuery query(parts[outer], SignMethod::WindingNumber);
        for (const int inner : candidates)
            is_enclosed[inner] = std::abs(query.winding_number(parts[inner].vertices[0])) > 0.5;
    }

    SurfaceMesh kept;
    int num_removed = 0;
    for (int c = 0; c < count; ++c) {
        if (is_enclosed[c])
            ++num_removed;
        else
            append(kept, parts[c]);
    }
    if (num_removed > 0) mesh = std::move(kept);
    return num_removed;
}

}  // namespace pliant
