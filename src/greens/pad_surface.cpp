#include "pliant/greens/pad_surface.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Two rings of six around x and two poles; half sizes 1.
SurfaceMesh pad_control() {
    constexpr int kSides = 6;
    SurfaceMesh mesh;
    for (const double x : {-0.55, 0.55})
        for (int k = 0; k < kSides; ++k) {
            // corners above and below, the second ring turned by half a side
            const double angle = std::numbers::pi * (2.0 * k + (x > 0 ? 1 : 0)) / kSides;
            const double up = std::sin(angle);
            mesh.vertices.emplace_back(x, std::cos(angle), up > 0 ? 0.8 * up : up);
        }
    mesh.vertices.emplace_back(-1, 0, 0);
    mesh.vertices.emplace_back(1, 0, 0);
    const auto ring = [](int i, int k) { return kSides * i + (k + kSides) % kSides; };
    for (int k = 0; k < kSides; ++k) {
        mesh.triangles.push_back({12, ring(0, k + 1), ring(0, k)});
        mesh.triangles.push_back({13, ring(1, k), ring(1, k + 1)});
        mesh.triangles.push_back({ring(0, k), ring(0, k + 1), ring(1, k)});
        mesh.triangles.push_back({ring(0, k + 1), ring(1, k + 1), ring(1, k)});
    }
    return mesh;
}

}  // namespace

SemiRegularMesh pad_surface(const PadShape& shape, int levels) {
    for (const auto& [name, value] :
         {std::pair{"length", shape.length}, std::pair{"width", shape.width},
          std::pair{"height", shape.height}})
        if (!(value > 0) || !std::isfinite(value))
            throw InputError("", std::string("pad.") + name, std::to_string(value),
                             "more than 0 m");
    if (levels < 0 || levels > 6) throw InputError("", "levels", std::to_string(levels), "0 … 6");
    // the box of the smooth surface, not that of some level
    constexpr int kSmoothLevels = 4;
    SurfaceMesh control = pad_control();
    const Box smooth = bounding_box(loop_subdivide(control, kSmoothLevels).mesh.vertices);
    const Vector3d sizes(shape.length, shape.width, shape.height);
    const Vector3d low(0, -shape.width / 2, -shape.height);
    for (Vector3d& x : control.vertices)
        x = low + (x - smooth.min()).cwiseQuotient(smooth.sizes()).cwiseProduct(sizes);
    return loop_subdivide(control, levels);
}

}  // namespace pliant
