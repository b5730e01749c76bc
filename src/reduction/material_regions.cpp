#include "reduction/material_regions.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

void check_one_part(const VolumeMesh& mesh) {
    const VolumeReport found = check_volume(mesh);
    if (found.num_parts <= 1) return;
    VolumeMesh largest = mesh;
    keep_largest_part(largest);
    const int percent =
        static_cast<int>(std::floor(100 * total_volume(largest) / total_volume(mesh)));
    throw InputError("", "the simulation mesh falls into " + std::to_string(found.num_parts) +
                             " parts that share no face, the largest with " +
                             std::to_string(percent) +
                             " % of the volume; raise the resolution so that thin joints are "
                             "meshed, or keep the largest part only (--keep-largest)");
}

void assign_regions(VolumeMesh& mesh, std::span<const MaterialRegion> regions) {
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    for (std::size_t i = 0; i < regions.size(); ++i)
        for (const int e : select_elements(regions[i].selection, mesh, "region"))
            mesh.regions[static_cast<std::size_t>(e)] = static_cast<int>(i) + 1;
    for (int region = 0; region <= static_cast<int>(regions.size()); ++region)
        if (std::find(mesh.regions.begin(), mesh.regions.end(), region) == mesh.regions.end())
            throw InputError("", "region " + std::to_string(region) +
                                     " has no element left: later ones cover all of it; drop it "
                                     "or make the others smaller");
}

}  // namespace pliant
