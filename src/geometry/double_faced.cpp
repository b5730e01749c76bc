#include "pliant/geometry/double_faced.h"

namespace pliant {

SurfaceMesh double_faced(const SurfaceMesh& sheet) {
    SurfaceMesh mesh = sheet;
    mesh.triangles.reserve(2 * sheet.triangles.size());
    for (const Triangle& t : sheet.triangles) mesh.triangles.push_back({t[0], t[2], t[1]});
    return mesh;
}

}  // namespace pliant
