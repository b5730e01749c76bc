#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

struct TetOptions {
    int resolution = 40;  ///< lattice cells along the longest side of the body's box, 4 … 512
};

/// Isosurface stuffing [LabelleShewchuk2007] on a body-centred lattice: conforming tets whose
/// boundary vertices lie on the surface, all dihedral angles between `kStuffingMinAngle` and
/// `kStuffingMaxAngle`. Sharp edges are rounded, and parts thinner than a cell are lost. Open
/// surfaces and soups are filled by their winding number. Throws InputError for a surface without
/// extent or that faces inwards, and when no lattice node lies inside, naming the resolution that
/// would do. Vertices are numbered in the lattice's order, whatever the number of threads.
[[nodiscard]] VolumeMesh build_tet_mesh(const SurfaceQuery& surface, const TetOptions& options = {},
                                        Progress& progress = Progress::none());
[[nodiscard]] VolumeMesh build_tet_mesh(const Implicit& body, const TetOptions& options = {},
                                        Progress& progress = Progress::none());
/// Bounds of the dihedral angles over all shapes [degrees], docs/geometry-meshing.md.
inline constexpr double kStuffingMinAngle = 11.78;
inline constexpr double kStuffingMaxAngle = 162.32;

struct GradedTetOptions {
    double growth = 0.5;  ///< longest edge at most max(√3 h₀, growth · d) at depth d
    int resolution = 64;  ///< finest cubes, of side h₀, along the box's longest side, 2 … 512
    int max_levels = 4;   ///< coarsest over finest cube: 2^max_levels, 0 … 9
};
/// Conforming graded tets by tagged bisection of a Kuhn lattice [Maubach1995]; keeps the tets that
/// reach inside the surface, those that meet it at the finest size. `filled` holds their fraction
/// inside. All dihedral angles lie between 45° and 120°. Parts thinner than about h₀/2 may be lost.
/// Errors as in build_tet_mesh, and where the lattice would begin with more than 20 million tets.
/// Vertices are numbered by z, y, x.
[[nodiscard]] VolumeMesh build_graded_tets(const SurfaceQuery& surface,
                                           const GradedTetOptions& options = {},
                                           Progress& progress = Progress::none());
/// The box [0, side]³, bisected until every tet's longest edge is at most max(√3 h₀, growth · depth
/// of its nearest point below the box surface), h₀ = side / n, from `coarsest` cubes along each
/// side; n is a power of two times `coarsest`.
[[nodiscard]] VolumeMesh graded_tet_box(int n, int coarsest, double growth, double side = 1.0);

}  // namespace pliant
