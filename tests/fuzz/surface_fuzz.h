#pragma once

#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace pliant::test {

/// Any bytes give a mesh with valid indices and finite coordinates, or an InputError, within the
/// time and memory that their number allows.
inline int fuzz_surface_reader(SurfaceMesh (*parse)(std::string_view, const std::string&),
                               const std::uint8_t* data, std::size_t size) {
    try {
        const SurfaceMesh mesh = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
        for (const Triangle& triangle : mesh.triangles) {
            for (const int vertex : triangle) {
                if (vertex < 0 || vertex >= mesh.num_vertices()) std::abort();
            }
        }
        for (const Eigen::Vector3d& x : mesh.vertices) {
            if (!x.allFinite()) std::abort();
        }
    } catch (const InputError&) {
        // a malformed file, refused
    }
    return 0;
}

}  // namespace pliant::test
