#include "greens/domain_borders.h"

#include "core/numbers.h"

namespace pliant {

std::array<int, 2> aunts_in_domain(const SemiRegularMesh& mesh, std::span<const int> domains,
                                   int vertex, int num_coarser) {
    const int domain = domains[at(vertex)];
    const auto& around = mesh.neighbourhood[at(vertex - mesh.num_vertices[0])];
    const bool has_first = domains[at(around[0])] == domain,
               has_second = domains[at(around[1])] == domain;
    if (has_first || has_second)
        return {has_first ? around[0] : around[1], has_second ? around[1] : around[0]};
    int nearest = vertex;
    double least = kInfinity;
    for (int k = 0; k < num_coarser; ++k) {
        if (domains[at(k)] != domain) continue;
        const double distance =
            (mesh.mesh.vertices[at(k)] - mesh.mesh.vertices[at(vertex)]).squaredNorm();
        if (distance < least) {
            least = distance;
            nearest = k;
        }
    }
    return {nearest, nearest};
}

}  // namespace pliant
