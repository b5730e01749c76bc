#pragma once

#include "pliant/core/progress.h"
#include "pliant/field/distance_grid.h"

#include <string>

namespace pliant {

enum class FieldSurface {
    Signed,  ///< of a closed, outward mesh: its own surface
    Offset,  ///< of anything, also soups, sheets and wires: the surface at `offset` from it
};

struct FieldBuildOptions {
    FieldSurface surface = FieldSurface::Signed;
    int resolution = 128;  ///< cells along each side of the box; a power of two, 16 … 1024
    /// Of the cube around the object, about its centre: how much larger the box is, 1.05 … 4.
    double expansion = 1.5;
    double offset_cells = 1.4;  ///< of FieldSurface::Offset, in cells, 0.9 … 16
    GridStorage storage = GridStorage::Sparse;
    /// Sparse: values up to this are those of the dense field, in cells, 1 … 64.
    double band_cells = 4;
};

/// What a field was made of.
struct FieldReport {
    double seconds = 0;          ///< that it took [s]
    double offset = 0;           ///< [m]; 0 for a signed field
    int removed_components = 0;  ///< of the offset surface: enclosed by others
    double thinnest = 0;         ///< a fortieth of the area bounds thinner parts [m]; 0: unknown
    double largest_error = 0;    ///< of interpolated values near the surface, sampled [m]
    std::size_t memory = 0;      ///< of the grid [bytes]
    [[nodiscard]] std::string text() const;
};

/// Distances from a mesh, exact at every grid vertex, with the right sign everywhere; docs/field.md
/// section "Construction". Uses all cores; the same bits for every number of threads. Throws
/// InputError for an open or inside-out mesh (the remedy is FieldSurface::Offset or a repair), for
/// parts thinner than a cell (says the resolution needed), for options out of range, and before it
/// starts when the memory would not suffice.
[[nodiscard]] DistanceGrid build_field(const SurfaceMesh& mesh,
                                       const FieldBuildOptions& options = {},
                                       Progress& progress = Progress::none(),
                                       FieldReport* report = nullptr);

/// Bytes needed while the field is built and afterwards, at most; before its arrays are allocated.
struct FieldMemory {
    std::size_t building = 0, kept = 0;
};
[[nodiscard]] FieldMemory field_memory(const SurfaceMesh& mesh, const FieldBuildOptions& options);
/// Physical memory that a process may still take [bytes].
[[nodiscard]] std::size_t available_memory() noexcept;

}  // namespace pliant
