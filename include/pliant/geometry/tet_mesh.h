#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

struct TetOptions {
    int resolution = 40;           ///< lattice cells along the longest side of the surface's box
    double box_enlargement = 1.0;  ///< the lattice always reaches two cells beyond the surface
};

/// Isosurface stuffing [LabelleShewchuk2007] on a body-centred lattice: conforming tets whose
/// boundary follows the surface, all dihedral angles between `kStuffingMinAngle` and
/// `kStuffingMaxAngle`.
[[nodiscard]] VolumeMesh build_tet_mesh(const SurfaceQuery& surface, const TetOptions& options = {},
                                        Progress& progress = Progress::none());
[[nodiscard]] VolumeMesh build_tet_mesh(const Implicit& body, const TetOptions& options = {},
                                        Progress& progress = Progress::none());
/// The proven bounds of the warping parameters we use [degrees].
inline constexpr double kStuffingMinAngle = 10.78;
inline constexpr double kStuffingMaxAngle = 164.74;

struct GradedTetOptions {
    double growth = 0.5;  ///< longest edge h(d) = max(h₀, growth · d) at depth d below the surface
    int resolution = 64;  ///< finest cells along the longest side
    int max_levels = 4;   ///< coarsest over finest edge: 2^max_levels
};
/// Conforming graded tets by tagged bisection of a Kuhn lattice [Maubach1995]; keeps the tets that
/// reach inside the surface. `filled` holds their fraction inside.
[[nodiscard]] VolumeMesh build_graded_tets(const SurfaceQuery& surface,
                                           const GradedTetOptions& options = {},
                                           Progress& progress = Progress::none());
/// The box [0, n]³ scaled to `side`, bisected until every tet's longest edge is at most max(√3 h₀,
/// growth · depth of its nearest point below the box surface), h₀ = side / n; n a power of two
/// times `coarsest`.
[[nodiscard]] VolumeMesh graded_tet_box(int n, int coarsest, double growth, double side = 1.0);

}  // namespace pliant
