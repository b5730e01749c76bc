#pragma once

#include "pliant/core/progress.h"
#include "pliant/field/distance_grid.h"

#include <filesystem>

namespace pliant {

struct IsoSurfaceOptions {
    double level = 0;  ///< [m]
    /// Drop components that lie inside others (the inner walls of offset surfaces).
    bool drops_enclosed = false;
    int* num_removed = nullptr;
};
/// The set where the interpolated field has this value, closed, manifold, outward-oriented, with
/// vertices on grid edges, their values within 0.01 cells of the level; empty if there is none. All
/// that is beyond the box counts as outside: the surface is closed 0.01 cells from it where it
/// leaves it. Both cores, the same bits for every number of threads. Throws InputError for a level
/// that is not finite. docs/field.md section "Iso-surfaces".
[[nodiscard]] SurfaceMesh iso_surface(const DistanceGrid& grid,
                                      const IsoSurfaceOptions& options = {},
                                      Progress& progress = Progress::none());
/// Of any field, sampled on a grid of its own over `box` (e.g. a deformed field for pictures), with
/// `resolution` cells, 4 … 512, along its longest side; the other sides are rounded up to cells.
[[nodiscard]] SurfaceMesh iso_surface(const DistanceField& field, const Box& box, int resolution,
                                      const IsoSurfaceOptions& options = {},
                                      Progress& progress = Progress::none());
/// Components that lie inside another component are dropped (by its winding number), also those in
/// cavities of those dropped, so that what remains is solid; returns how many.
int remove_enclosed_components(SurfaceMesh& mesh);

/// A plane cut through a field: width × height values, row by row from the top.
struct FieldSlice {
    int width = 0, height = 0;
    std::vector<float> values;  ///< [m]
};
/// At origin + s across + t up, s and t from 0 to 1 over the picture: ½ / width at the first pixel
/// centre. Throws InputError for sizes beyond 1 … 16384 pixels and planes that are not finite.
[[nodiscard]] FieldSlice slice_field(const DistanceField& field, const Eigen::Vector3d& origin,
                                     const Eigen::Vector3d& across, const Eigen::Vector3d& up,
                                     int width, int height);
/// Picture with shades by sign (blue inside), iso-lines every `spacing` metres (0: chosen; every
/// fifth is stronger) and the surface drawn strongly. `pixel_size` [m] is |across| / width.
void save_slice_png(const FieldSlice& slice, const std::filesystem::path& path, double pixel_size,
                    double spacing = 0);

}  // namespace pliant
