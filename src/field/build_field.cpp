#include "pliant/field/build_field.h"

#include "field/field_check.h"
#include "field/narrow_band.h"
#include "geometry/wording.h"
#include "pliant/core/error.h"
#include "pliant/field/iso_surface.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <numbers>

namespace pliant {
namespace {

using detail::FieldSource;

/// Least distance from the faces of the grid's box to the box of a mesh, docs/field.md eq. (C4).
double gap_around(const SurfaceMesh& mesh, const GridFrame& frame) {
    const Box object = detail::surface_box(mesh), box = frame.box();
    return std::min((object.min() - box.min()).minCoeff(), (box.max() - object.max()).minCoeff());
}

DistanceGrid make_grid(const FieldSource& source, const GridFrame& frame,
                       const FieldBuildOptions& options, double boundary, Progress& progress) {
    // rounded down: a bound
    const auto bound = static_cast<float>(boundary - 1e-6 * std::abs(boundary));
    if (options.storage == GridStorage::Dense)
        return DistanceGrid::dense(frame, detail::dense_values(source, frame, progress), bound);
    const double band = options.band_cells * frame.cell, clearance = brick_clearance(frame, band);
    const std::vector<int> blocks = detail::blocks_near_surface(source, frame, clearance);
    return make_sparse_grid(frame, detail::brick_values(source, frame, clearance, blocks, progress),
                            bound, band);
}

/// Distance minus offset; then, if the surface at the offset encloses parts of itself, once more
/// with all that is inside of its outer parts made solid, docs/field.md eq. (C2), (C3).
DistanceGrid build_offset(const SurfaceQuery& surface, const GridFrame& frame,
                          const FieldBuildOptions& options, Progress& progress,
                          FieldReport& report) {
    FieldSource source{&surface, options.offset_cells * frame.cell};
    // the interpolated surface is at most √3/2 cells from the true one, and so are the values
    // taken from it
    const double boundary =
        gap_around(surface.mesh(), frame) - source.offset - std::numbers::sqrt3 * frame.cell;
    DistanceGrid grid = make_grid(source, frame, options, boundary, progress);
    SurfaceMesh outer = iso_surface(
        grid, {.drops_enclosed = true, .num_removed = &report.removed_components}, progress);
    report.offset = source.offset;
    const SurfaceQuery hull(std::move(outer), SignMethod::PseudoNormal);
    const detail::SolidSigns signs(hull);
    if (report.removed_components > 0) {
        source.hull = &hull;
        source.signs = &signs;
        grid = make_grid(source, frame, options, boundary, progress);
        // across the hull values are as steep as distances only up to their error
        CullingMargin margin = grid.margin();
        const auto error = static_cast<float>(0.5 * std::numbers::sqrt3 * frame.cell);
        margin.near += error;
        margin.far += error;
        grid = grid.with_margin(margin);
    }
    report.largest_error = detail::largest_error(grid, source, hull.mesh());
    return grid;
}

DistanceGrid build_signed(const SurfaceQuery& solid, const GridFrame& frame,
                          const FieldBuildOptions& options, Progress& progress,
                          FieldReport& report) {
    if (solid.sign_method() != SignMethod::PseudoNormal)
        throw InputError("",
                         "parts of the mesh overlap or are inside out, so that it has no clear "
                         "inside; use the offset surface or repair it");
    report.thinnest = detail::check_thickness(solid, frame);
    const detail::SolidSigns signs(solid);
    const FieldSource source{.surface = &solid, .signs = &signs};
    DistanceGrid grid =
        make_grid(source, frame, options, gap_around(solid.mesh(), frame), progress);
    report.largest_error = detail::largest_error(grid, source, solid.mesh());
    return grid;
}

}  // namespace

std::string FieldReport::text() const {
    char line[160];
    std::string result;
    if (offset > 0) {
        std::snprintf(line, sizeof line, "surface at %.3g mm, ", 1e3 * offset);
        result += line;
        if (removed_components > 0)
            result += counted(removed_components, "enclosed component", "enclosed components") +
                      " removed, ";
    }
    if (thinnest > 0) {
        std::snprintf(line, sizeof line, "thinnest parts %.3g mm, ", 1e3 * thinnest);
        result += line;
    }
    std::snprintf(line, sizeof line,
                  "error near the surface at most %.3g mm (sampled), %.1f MB, %.1f s",
                  1e3 * largest_error, 1e-6 * static_cast<double>(memory), seconds);
    return result + line;
}

DistanceGrid build_field(const SurfaceMesh& mesh, const FieldBuildOptions& options,
                         Progress& progress, FieldReport* report) {
    const auto start = std::chrono::steady_clock::now();
    detail::check_field_options(options);
    progress.stage("field: surface");
    detail::check_field_mesh(mesh, options.surface);
    const GridFrame frame = detail::field_frame(mesh, options);
    const SurfaceQuery surface(mesh);
    detail::check_field_memory(surface, options, available_memory());

    FieldReport made;
    DistanceGrid grid = options.surface == FieldSurface::Signed
                            ? build_signed(surface, frame, options, progress, made)
                            : build_offset(surface, frame, options, progress, made);
    made.memory = grid.memory();
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report) *report = made;
    return grid;
}

FieldMemory field_memory(const SurfaceMesh& mesh, const FieldBuildOptions& options) {
    detail::check_field_options(options);
    detail::check_field_mesh(mesh, FieldSurface::Offset);  // what any field needs
    return detail::estimate_memory(SurfaceQuery(mesh), options);
}

}  // namespace pliant
