#pragma once

#include "field/field_walk.h"
#include "pliant/field/build_field.h"

#include <vector>

namespace pliant::detail {

/// Throws InputError for options out of range.
void check_field_options(const FieldBuildOptions& options);
/// Throws InputError for a mesh that the options' kind of field cannot be made of.
void check_field_mesh(const SurfaceMesh& mesh, FieldSurface surface);
/// Of the corners of triangles.
[[nodiscard]] Box surface_box(const SurfaceMesh& mesh);
/// The box of the options around a mesh. Throws InputError if it is too small for the offset
/// surface or if its cells are too small for where it lies.
[[nodiscard]] GridFrame field_frame(const SurfaceMesh& mesh, const FieldBuildOptions& options);

/// At most, with the mesh and the searches.
[[nodiscard]] FieldMemory estimate_memory(const SurfaceQuery& surface,
                                          const FieldBuildOptions& options);
/// Throws InputError with what would fit when the field needs more than `available` bytes.
void check_field_memory(const SurfaceQuery& surface, const FieldBuildOptions& options,
                        std::size_t available);

/// Places spread evenly over the area of a mesh, the same every time.
struct SurfaceSample {
    Eigen::Vector3d point, normal;
};
[[nodiscard]] std::vector<SurfaceSample> sample_surface(const SurfaceMesh& mesh, int count);
/// Thickness below which a fortieth of the area of a solid lies [m], measured along inward
/// normals. Throws InputError if that is less than a cell: such parts have holes in the grid.
[[nodiscard]] double check_thickness(const SurfaceQuery& solid, const GridFrame& frame);
/// Largest difference between the grid and the source within two cells of the surface, sampled.
[[nodiscard]] double largest_error(const DistanceGrid& grid, const FieldSource& source,
                                   const SurfaceMesh& surface);

}  // namespace pliant::detail
