#include <algorithm>
#include <filesystem>

#include "build_kinds.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/nearest_name.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/shapes.h"

namespace pliant::cli {

void check_input_name(const std::string& name) {
    if (std::filesystem::exists(name)) return;
    std::vector<std::string> known;
    for (const ShapeInfo& shape : shape_list()) known.push_back(shape.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const std::string nearest = nearest_name(name, known);
    throw InputError("", "there is no file or shape \"" + name + "\"; " +
                             (nearest.empty() ? "'pliant shape list' names the shapes"
                                              : "did you mean '" + nearest + "'?"));
}

BuildInput load_build_input(const std::string& name, Progress& progress) {
    if (!std::filesystem::exists(name)) {
        SurfaceMesh surface = make_shape(name, 0, progress);
        const std::string hash = hash_text(content_hash(surface));
        return {std::move(surface), hash};
    }
    SurfaceMesh surface = load_surface(name);
    const std::string bytes = read_file(name);
    return {std::move(surface), hash_text(hash_bytes(bytes.data(), bytes.size()))};
}

}  // namespace pliant::cli
