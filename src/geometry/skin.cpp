#include "geometry/skin.h"

#include "core/numbers.h"
#include "geometry/surface_spread.h"

#include <algorithm>
#include <cmath>

namespace pliant::shape_parts {
namespace {

constexpr int kCoarseVertices = 160;  // at least, of the level that relaxation begins on

/// Newton steps along the gradient towards the skin, each of at most `reach`.
Vector3d pulled_to_skin(const Implicit& skin, Vector3d x, double reach, int steps) {
    const double e = 1e-6 * skin.box().sizes().maxCoeff();
    for (int k = 0; k < steps; ++k) {
        const double value = skin(x);
        Vector3d gradient;
        for (int i = 0; i < 3; ++i) gradient[i] = (skin(x + e * Vector3d::Unit(i)) - value) / e;
        // where parts blend the slope is less than one, but next to nothing only by accident
        const double slope = std::max(gradient.norm(), 0.2);
        x -= std::clamp(value / slope, -reach, reach) / slope * gradient;
    }
    return x;
}

}  // namespace

SemiRegularMesh skinned_subdivide(const ControlMesh& control, int levels) {
    const Implicit& skin = *control.skin;
    const int last = std::max(levels, control.levels);
    SemiRegularMesh result = midpoint_subdivide(control.mesh, last);
    int first = 0;
    while (first < control.levels && result.num_vertices[at(first)] < kCoarseVertices) ++first;
    std::vector<char> is_pinned(result.mesh.vertices.size(), 0);
    for (const int v : control.pinned) is_pinned[at(v)] = 1;

    // Loop's surface to begin with
    std::vector<Vector3d> x = loop_subdivide(control.mesh, first, control.rules).mesh.vertices;
    for (const int v : control.pinned) x[at(v)] = control.mesh.vertices[at(v)];
    for (int level = first; level <= last; ++level) {
        std::size_t num_done = 0;
        if (level > first) {
            num_done = x.size();
            x.resize(at(result.num_vertices[at(level)]));
            for (std::size_t v = num_done; v < x.size(); ++v)
                x[v] = butterfly_point(x, result.neighbourhood[v - control.mesh.vertices.size()]);
        }
        SurfaceSpread relaxation(result.triangles[at(level)], is_pinned, x);
        if (level <= control.levels) {
            num_done = 0;
            // what is left to even out is shorter on each level: a quarter of the rounds
            for (int k = control.rounds >> 2 * (level - first); k > 0; --k)
                relaxation.round(control.evenness,
                                 [&](const Vector3d& p, const Vector3d&, double reach) {
                                     return pulled_to_skin(skin, p, reach, 1);
                                 });
        }
        // beyond the levels of the control mesh the vertices there stay where they are
        relaxation.pull(num_done, [&](const Vector3d& p, const Vector3d&, double reach) {
            return pulled_to_skin(skin, p, reach, 8);
        });
    }

    result.mesh.vertices = std::move(x);
    return result;
}

}  // namespace pliant::shape_parts
