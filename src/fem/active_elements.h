#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <span>
#include <vector>

namespace pliant {

/// The nodes that each element couples in the system: fixed ones left out, hanging ones replaced by
/// their masters, each once.
struct ActiveElements {
    std::vector<int> offsets{0};
    std::vector<int> nodes;
    std::vector<char> is_active;  ///< of each vertex of the mesh: some element couples it

    [[nodiscard]] int size() const noexcept { return static_cast<int>(offsets.size()) - 1; }
    [[nodiscard]] std::span<const int> of(int element) const noexcept {
        return {nodes.data() + offsets[element], nodes.data() + offsets[element + 1]};
    }
};

[[nodiscard]] ActiveElements active_elements(const VolumeMesh& mesh, std::span<const int> fixed);

}  // namespace pliant
