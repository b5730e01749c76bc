#pragma once

#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace pliant::test {

/// Aborts unless a mesh that a reader returned can be used without further checks.
inline void require_usable(const VolumeMesh& mesh) {
    const auto num_elements = static_cast<std::size_t>(mesh.num_elements());
    const auto num_corners = static_cast<std::size_t>(nodes_per_element(mesh.kind));
    if (mesh.elements.size() != num_elements * num_corners) std::abort();
    for (const int vertex : mesh.elements) {
        if (vertex < 0 || vertex >= mesh.num_vertices()) std::abort();
    }
    for (const Eigen::Vector3d& x : mesh.vertices) {
        if (!x.allFinite()) std::abort();
    }
    if (!mesh.regions.empty() && mesh.regions.size() != num_elements) std::abort();
    for (const int region : mesh.regions) {
        if (region < 0) std::abort();
    }
    if (!mesh.filled.empty() && mesh.filled.size() != num_elements) std::abort();
    std::vector<char> is_hanging(mesh.vertices.size(), 0);
    for (const HangingNode& node : mesh.hanging) {
        if (node.vertex < 0 || node.vertex >= mesh.num_vertices()) std::abort();
        if (node.num_masters != 2 && node.num_masters != 4) std::abort();
        is_hanging[static_cast<std::size_t>(node.vertex)] = 1;
    }
    for (const HangingNode& node : mesh.hanging) {
        const auto first = node.masters.begin(), last = first + node.num_masters;
        for (auto master = first; master != last; ++master) {
            if (*master < 0 || *master >= mesh.num_vertices()) std::abort();
            if (is_hanging[static_cast<std::size_t>(*master)]) std::abort();
            if (std::find(first, master, *master) != master) std::abort();
        }
    }
}

/// Any bytes give a usable mesh or an InputError, within the time and memory that their number
/// allows.
template <class Read>
int fuzz_volume_reader(Read read) {
    try {
        require_usable(read());
    } catch (const InputError&) {
        // a malformed file, refused
    }
    return 0;
}

}  // namespace pliant::test
