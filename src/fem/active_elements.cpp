#include "fem/active_elements.h"

#include <cassert>

namespace pliant {

ActiveElements active_elements(const VolumeMesh& mesh, std::span<const int> fixed) {
    std::vector<char> is_fixed(mesh.vertices.size(), 0);
    for (const int node : fixed) {
        assert(node >= 0 && node < mesh.num_vertices());
        is_fixed[node] = 1;
    }
    std::vector<int> hanging(mesh.vertices.size(), -1);
    for (int h = 0; h < static_cast<int>(mesh.hanging.size()); ++h)
        hanging[mesh.hanging[h].vertex] = h;

    ActiveElements active;
    active.is_active.assign(mesh.vertices.size(), 0);
    std::vector<int> last_element(mesh.vertices.size(), -1);  // that took this node
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const auto take = [&](int node) {
            if (is_fixed[node] || last_element[node] == e) return;
            last_element[node] = e;
            active.is_active[node] = 1;
            active.nodes.push_back(node);
        };
        for (const int node : mesh.element(e))
            if (hanging[node] < 0) {
                take(node);
            } else {
                const HangingNode& h = mesh.hanging[hanging[node]];
                for (int m = 0; m < h.num_masters; ++m) take(h.masters[m]);
            }
        active.offsets.push_back(static_cast<int>(active.nodes.size()));
    }
    return active;
}

}  // namespace pliant
