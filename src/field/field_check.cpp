#include "field/field_check.h"

#include "field/narrow_band.h"
#include "geometry/wording.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_check.h"

#include <bit>
#include <cstdio>

namespace pliant::detail {
namespace {

using Eigen::Vector3d;

constexpr int kMinResolution = 16, kMaxResolution = 1024;
constexpr int kThicknessSamples = 8000, kErrorSamples = 20000;
constexpr double kThinShare = 0.025;  // of the area that may be thinner than a cell
// what searches keep for each triangle, with what their construction needs for a while
constexpr std::size_t kBytesPerTriangle = 1000;
// of the offset surface: a layer of cells through the block, two triangles each
constexpr std::size_t kTrianglesPerBlock = 128;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}
std::string megabytes(std::size_t bytes) { return std::to_string((bytes + 999999) / 1000000); }
std::string length(double metres) {
    return metres < 0.1 ? number(1e3 * metres) + " mm" : number(metres) + " m";
}

void check_range(const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
        throw InputError("", name, number(value), number(low) + " to " + number(high));
}

std::string places(const Defect& defect, const std::string& singular, const std::string& plural,
                   const std::string& place) {
    return counted(defect.count, singular, plural) + (defect.count == 1 ? " (at " : " (first at ") +
           place + " " + std::to_string(defect.first) + ")";
}

/// What only a closed, outward mesh has: an inside.
void check_solid(const SurfaceReport& report) {
    const std::string end = "; use the offset surface or repair the mesh";
    if (report.open_edges.count > 0)
        throw InputError("", "a signed field needs a closed mesh, but there are " +
                                 places(report.open_edges, "open edge", "open edges", "triangle") +
                                 "; use the offset surface or close it");
    if (report.non_manifold_edges.count > 0)
        throw InputError("", "a signed field needs edges that join two triangles, but there are " +
                                 places(report.non_manifold_edges, "non-manifold edge",
                                        "non-manifold edges", "triangle") +
                                 end);
    if (report.inconsistent_edges.count > 0)
        throw InputError("",
                         "a signed field needs triangles that turn the same way, but there "
                         "are " +
                             places(report.inconsistent_edges, "inconsistent edge",
                                    "inconsistent edges", "triangle") +
                             end);
    if (report.non_manifold_vertices.count > 0)
        throw InputError("",
                         "a signed field needs one fan of triangles at each vertex, but there "
                         "are " +
                             places(report.non_manifold_vertices, "non-manifold vertex",
                                    "non-manifold vertices", "vertex") +
                             end);
    if (report.is_inside_out)
        throw InputError("", "the mesh is inside out (volume " + number(report.volume) +
                                 " m³): its normals point inwards; repair it or use the offset "
                                 "surface");
}

/// Points of the unit square that fill it evenly by an additive recurrence, and a third coordinate.
Vector3d spread(int i) {
    constexpr double kA = 0.8191725133961645, kB = 0.6710436067037893, kC = 0.5497004779019703;
    const Vector3d x = Vector3d::Constant(0.5) + (i + 1.0) * Vector3d(kA, kB, kC);
    return x.array() - x.array().floor();
}

}  // namespace

void check_field_options(const FieldBuildOptions& options) {
    const int n = options.resolution;
    if (n < kMinResolution || n > kMaxResolution || !std::has_single_bit(static_cast<unsigned>(n)))
        throw InputError("", "resolution", std::to_string(n), "a power of two, 16 to 1024");
    check_range("expansion", options.expansion, 1.05, 4);
    if (options.surface == FieldSurface::Offset)
        check_range("offset_cells", options.offset_cells, 0.9, 16);
    if (options.storage == GridStorage::Sparse)
        check_range("band_cells", options.band_cells, 1, 64);
}

void check_field_mesh(const SurfaceMesh& mesh, FieldSurface surface) {
    if (mesh.triangles.empty())
        throw InputError("", "the mesh has no triangles; a field needs a surface");
    const SurfaceReport report = check_surface(mesh);
    if (report.non_finite_vertices.count > 0)
        throw InputError("",
                         "the mesh has " +
                             places(report.non_finite_vertices, "vertex", "vertices", "vertex") +
                             " with a coordinate that is not a finite number; repair it");
    if (report.invalid_indices.count > 0)
        throw InputError("",
                         "the mesh has " +
                             places(report.invalid_indices, "triangle", "triangles", "triangle") +
                             " that name vertices it does not have; repair it");
    if (surface == FieldSurface::Signed) check_solid(report);
}

Box surface_box(const SurfaceMesh& mesh) {
    Box box;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) box.extend(mesh.corner(t, k));
    return box;
}

GridFrame field_frame(const SurfaceMesh& mesh, const FieldBuildOptions& options) {
    const Box object = surface_box(mesh);
    const double size = object.sizes().maxCoeff();
    if (!(size > 0))
        throw InputError("", "all vertices of the mesh are at one place; a field needs a surface");

    // the offset surface and the cells it crosses, on both sides
    const int n = options.resolution;
    if (options.surface == FieldSurface::Offset) {
        const double share = 2 * (options.offset_cells + 2) / n;
        if (share > 0.75)
            throw InputError("", "offset_cells", number(options.offset_cells),
                             "at most " + number(0.375 * n - 2) + " at resolution " +
                                 std::to_string(n) + ", or the box cannot hold the surface");
        if (options.expansion < 1 / (1 - share))
            throw InputError("", "expansion", number(options.expansion),
                             "at least " + number(std::ceil(100 / (1 - share)) / 100) +
                                 " at resolution " + std::to_string(n) +
                                 ", or the box cannot hold the offset surface");
    }
    GridFrame frame;
    const double side = options.expansion * size;
    frame.cell = side / n;
    frame.low = object.center() - Vector3d::Constant(0.5 * side);
    frame.cells = {n, n, n};
    // points come in single precision: a hundredth of a cell must be told apart
    const double farthest = object.min().cwiseAbs().cwiseMax(object.max().cwiseAbs()).maxCoeff();
    if (farthest > 0.01 * 0x1p24 * frame.cell)
        throw InputError("", "the mesh lies " + length(farthest) +
                                 " from the origin, where cells of " + length(frame.cell) +
                                 " are lost in single precision; move it nearer to the origin");
    return frame;
}

FieldMemory estimate_memory(const SurfaceQuery& surface, const FieldBuildOptions& options) {
    const GridFrame frame = field_frame(surface.mesh(), options);
    const bool is_offset = options.surface == FieldSurface::Offset;
    const FieldSource source{&surface, is_offset ? options.offset_cells * frame.cell : 0.0};
    const auto cube = [](int n) {
        return static_cast<std::size_t>(n) * static_cast<std::size_t>(n) *
               static_cast<std::size_t>(n);
    };
    const bool is_sparse = options.storage == GridStorage::Sparse;
    const int n = options.resolution, blocks_along = n / kBlockCells;
    const double clearance =
        is_sparse ? brick_clearance(frame, options.band_cells * frame.cell) : 0.0;
    const std::size_t num_blocks =
        is_sparse || is_offset ? blocks_near_surface(source, frame, clearance).size() : 0;

    FieldMemory memory;
    memory.kept = sizeof(float) * (is_sparse ? cube(blocks_along + 1) + cube(blocks_along) +
                                                   num_blocks * kBrickFloats
                                             : cube(n + 1));
    memory.building = memory.kept + kBytesPerTriangle * surface.mesh().triangles.size();
    // the first field is still there while the offset surface and the second are made
    if (is_offset)
        memory.building += memory.kept + kBytesPerTriangle * kTrianglesPerBlock * num_blocks;
    return memory;
}

void check_field_memory(const SurfaceQuery& surface, const FieldBuildOptions& options,
                        std::size_t available) {
    const std::size_t needed = estimate_memory(surface, options).building;
    if (needed <= available) return;
    const bool is_dense = options.storage == GridStorage::Dense;
    std::string sentence = std::string("a ") + (is_dense ? "dense" : "sparse") +
                           " field of resolution " + std::to_string(options.resolution) +
                           " needs " + megabytes(needed) + " MB while it is built, but " +
                           megabytes(available) + " MB are free";

    // what would do
    FieldBuildOptions other = options;
    other.storage = GridStorage::Sparse;
    if (is_dense) {
        const std::size_t bytes = estimate_memory(surface, other).building;
        if (bytes <= available)
            sentence += "; sparse storage would fit (" + megabytes(bytes) + " MB)";
    }
    other = options;
    for (other.resolution /= 2; other.resolution >= kMinResolution; other.resolution /= 2) {
        const std::size_t bytes = estimate_memory(surface, other).building;
        if (bytes > available) continue;
        sentence += "; resolution " + std::to_string(other.resolution) + " would fit (" +
                    megabytes(bytes) + " MB)";
        break;
    }
    throw InputError("", sentence);
}

std::vector<SurfaceSample> sample_surface(const SurfaceMesh& mesh, int count) {
    std::vector<double> area_up_to(mesh.triangles.size());
    std::vector<Vector3d> normals = face_normals(mesh);
    double area = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d ab = mesh.corner(t, 1) - mesh.corner(t, 0);
        area += 0.5 * ab.cross(mesh.corner(t, 2) - mesh.corner(t, 0)).norm();
        area_up_to[static_cast<std::size_t>(t)] = area;
    }
    std::vector<SurfaceSample> samples;
    samples.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const auto at =
            std::upper_bound(area_up_to.begin(), area_up_to.end() - 1, (i + 0.5) / count * area);
        const int t = static_cast<int>(at - area_up_to.begin());
        Vector3d u = spread(i);
        if (u.x() + u.y() > 1) u = Vector3d(1 - u.x(), 1 - u.y(), 0);  // the other half of a square
        const Vector3d& a = mesh.corner(t, 0);
        samples.push_back({a + u.x() * (mesh.corner(t, 1) - a) + u.y() * (mesh.corner(t, 2) - a),
                           normals[static_cast<std::size_t>(t)]});
    }
    return samples;
}

double check_thickness(const SurfaceQuery& solid, const GridFrame& frame) {
    const std::vector<SurfaceSample> samples = sample_surface(solid.mesh(), kThicknessSamples);
    std::vector<double> thickness(samples.size());
    parallel_for(samples.size(), 64, [&](std::size_t i) {
        // from just below the surface to the other side
        const SurfaceSample& s = samples[i];
        const double skin = 1e-6 * frame.cell;
        const auto hit = solid.ray(s.point - skin * s.normal, -s.normal);
        thickness[i] = hit ? hit->t + skin : std::numeric_limits<double>::infinity();
    });
    std::sort(thickness.begin(), thickness.end());
    const auto quantile =
        static_cast<std::size_t>(kThinShare * static_cast<double>(samples.size()));
    const double thin = thickness[quantile];
    if (thin >= frame.cell) return thin;

    const auto num_thin =
        std::lower_bound(thickness.begin(), thickness.end(), frame.cell) - thickness.begin();
    const double needed = frame.cell / thin * frame.cells[0];
    const std::string remedy =
        needed <= kMaxResolution
            ? "use resolution " +
                  std::to_string(std::bit_ceil(static_cast<unsigned>(std::ceil(needed)))) +
                  " or the offset surface"
            : "use the offset surface";
    throw InputError(
        "", number(100.0 * static_cast<double>(num_thin) / static_cast<double>(samples.size())) +
                " % of the surface bounds parts thinner than a cell of " + length(frame.cell) +
                " (some " + length(thin) + "), which the grid would lose; " + remedy);
}

double largest_error(const DistanceGrid& grid, const FieldSource& source,
                     const SurfaceMesh& surface) {
    const std::vector<SurfaceSample> samples = sample_surface(surface, kErrorSamples);
    return parallel_reduce(
        samples.size(), 64, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double largest = 0;
            for (std::size_t i = begin; i < end; ++i) {
                const double height =
                    2 * grid.frame().cell * (2 * spread(static_cast<int>(i)).z() - 1);
                // where single precision puts it
                const Eigen::Vector3f x =
                    (samples[i].point + height * samples[i].normal).cast<float>();
                const Vector3d place = x.cast<double>();
                if (!grid.bounds().contains(place)) continue;
                FieldWalk walk(source);
                largest = std::max(largest, std::abs(grid.distance(place) - walk(place)));
            }
            return largest;
        },
        [](double a, double b) { return std::max(a, b); });
}

}  // namespace pliant::detail
