#pragma once

#include "pliant/core/error.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

/// Said where no lattice finds anything inside.
inline std::string nothing_to_fill(int finest_resolution) {
    return "the body is empty or too thin for lattice tetrahedra at any resolution up to " +
           std::to_string(finest_resolution) + "; use voxels or give the surface a volume";
}
/// Said where the inside of an open surface, or of a function, reaches beyond the box.
inline constexpr const char* kEndlessInside =
    "points beyond the bounding box count as inside: the body does not end there, as open surfaces "
    "may not; use voxels";

/// Throws InputError for a surface that no mesher can fill: without triangles or size, or so far
/// from the origin that rounding deforms it.
inline void require_fillable(const SurfaceMesh& mesh) {
    if (mesh.triangles.empty())
        throw InputError("",
                         "the surface has no triangles, so there is nothing to fill with cells");
    const Box box = box_of_triangles(mesh);
    const double longest = box.sizes().maxCoeff();
    if (!(longest > 1e-30))
        throw InputError("",
                         "the surface has no size, all its vertices lie at one point; check its "
                         "units");
    if (longest <
        1e-9 * std::max(box.min().lpNorm<Eigen::Infinity>(), box.max().lpNorm<Eigen::Infinity>()))
        throw InputError("",
                         "the surface is too small for its distance from the origin, where "
                         "rounding deforms it; move it there");
}

/// The same, and a closed surface must face outwards.
inline void require_fillable_outwards(const SurfaceQuery& surface) {
    require_fillable(surface.mesh());
    // a sheet with two faces has a little volume of either sign
    const double rounding =
        1e-12 * std::pow(box_of_triangles(surface.mesh()).sizes().maxCoeff(), 3);
    if (surface.sign_method() == SignMethod::PseudoNormal &&
        enclosed_volume(surface.mesh()) < -rounding)
        throw InputError("",
                         "points beyond the bounding box count as inside: the surface is inside "
                         "out; repair it so that its triangles face outwards");
}

}  // namespace pliant
