#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/surface_query.h"

#include <span>

namespace pliant {

/// Where the vertices of a control mesh go under endless Loop subdivision.
struct LimitSurface {
    std::vector<Eigen::Vector3d> positions;
    /// Unit, outward. On a crease the middle of its two sides, at a corner that of its triangles;
    /// zero where the tangents do not span a plane.
    std::vector<Eigen::Vector3d> normals;
};

/// Limit of every vertex, docs/geometry-subdivision.md eqs. (5)–(8). Errors as those of
/// loop_subdivide.
[[nodiscard]] LimitSurface loop_limit(const SurfaceMesh& control,
                                      const SubdivisionRules& rules = {});

/// How a DisplacedSurface was fitted.
struct DisplacementReport {
    int num_pierced = 0;      ///< vertices whose normal meets the surface
    int num_closest = 0;      ///< offset of the closest point along the normal instead
    int num_averaged = 0;     ///< offset of the neighbours instead
    double max_distance = 0;  ///< from a displaced vertex to the surface [m]
    double mean_distance = 0;
};

/// A display surface that follows a coarse mesh: Loop's limit surface s of moved control vertices,
/// sampled on a finer level, plus a scalar offset D along its normal, x = s + D n,
/// docs/geometry-subdivision.md eq. (9). Stencils are computed once; immutable but for `fit` and
/// `set_offsets`, which may not run beside `evaluate`.
class DisplacedSurface {
public:
    /// `levels` rounds below the control mesh. Offsets are zero. Errors as those of loop_subdivide.
    DisplacedSurface(const SurfaceMesh& control, int levels, const SubdivisionRules& rules = {});

    [[nodiscard]] int num_control_vertices() const noexcept { return num_control_; }
    [[nodiscard]] int num_vertices() const noexcept { return static_cast<int>(offsets_.size()); }
    [[nodiscard]] const std::vector<Triangle>& triangles() const noexcept { return triangles_; }
    [[nodiscard]] const std::vector<double>& offsets() const noexcept {
        return offsets_;
    }  ///< D [m]
    /// Throws InputError for another number of offsets or ones that are not finite.
    void set_offsets(std::vector<double> offsets);

    /// Offsets that put the vertices on `surface` while the control mesh is as it was given: along
    /// the limit normal to the nearest place where `surface` faces the same way within `reach`
    /// [m]; else as far as the closest point if that is within reach, else as far as neighbours.
    DisplacementReport fit(const SurfaceQuery& surface, double reach,
                           Progress& progress = Progress::none());

    /// Positions and unit area-weighted normals of the fine vertices for these control vertices.
    /// Sizes num_control_vertices() and num_vertices(). Finite for finite input (a normal without
    /// direction is zero); allocates nothing.
    void evaluate(std::span<const Eigen::Vector3d> control, std::span<Eigen::Vector3d> positions,
                  std::span<Eigen::Vector3d> normals) const noexcept;
    /// Positions alone.
    void evaluate(std::span<const Eigen::Vector3d> control,
                  std::span<Eigen::Vector3d> positions) const noexcept;

private:
    struct Entry {
        int vertex;
        double position, tangent1, tangent2;  // weights
    };

    struct SideEntry {
        int vertex;
        double tangent;
    };

    int num_control_;
    std::vector<Triangle> triangles_;
    std::vector<Eigen::Vector3d> rest_;  // control mesh as given
    std::vector<int> start_;             // of each fine vertex's entries
    std::vector<Entry> entries_;
    std::vector<int> side_start_;  // the same for the other side of creases
    std::vector<SideEntry> side_entries_;
    std::vector<double> offsets_;
};

}  // namespace pliant
