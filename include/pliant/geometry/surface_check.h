#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <string>

namespace pliant {

/// How often a defect occurs and the first place.
struct Defect {
    int count = 0;
    int first = -1;  ///< index of the first triangle, edge or vertex concerned
};

/// What is wrong, or right, with a surface mesh.
struct SurfaceReport {
    int num_vertices = 0, num_triangles = 0, num_components = 0, euler_number = 0;
    Defect non_finite_vertices;    ///< first: vertex
    Defect unused_vertices;        ///< first: vertex
    Defect invalid_indices;        ///< first: triangle
    Defect degenerate_triangles;   ///< repeated corner or zero area; first: triangle
    Defect duplicate_triangles;    ///< same three corners; first: the later triangle
    Defect open_edges;             ///< used once; first: triangle
    Defect non_manifold_edges;     ///< used more than twice; first: triangle
    Defect non_manifold_vertices;  ///< several fans meet; first: vertex
    Defect inconsistent_edges;     ///< both triangles run it in the same direction; first: triangle
    bool is_inside_out = false;    ///< closed and consistent, but of negative volume
    double area = 0, volume = 0;   ///< volume only when closed
    Box box;

    [[nodiscard]] bool is_closed()
        const noexcept;  ///< no open or non-manifold edge, consistent orientation; not empty
    [[nodiscard]] bool is_manifold()
        const noexcept;  ///< closed or with border, every vertex one fan
    /// True when nothing at all is to be reported.
    [[nodiscard]] bool is_clean() const noexcept;
    /// One line per defect: `12 open edges (first at triangle 431)`; empty when clean.
    [[nodiscard]] std::string text() const;
};
[[nodiscard]] SurfaceReport check_surface(const SurfaceMesh& mesh);

struct RepairOptions {
    double weld_distance = 1e-7;  ///< vertices closer than this times the box diagonal become one
};
/// What a repair changed.
struct RepairReport {
    int welded_vertices = 0, removed_vertices = 0, removed_degenerate = 0, removed_duplicate = 0,
        removed_invalid = 0;
    int flipped_triangles = 0;
    [[nodiscard]] bool has_changed() const noexcept;
    [[nodiscard]] std::string text()
        const;  ///< `welded 12 vertices; removed 3 degenerate triangles; …`, `nothing to repair`
};
/// Welds, drops degenerate, duplicate and invalid triangles and unused vertices, then orients each
/// component consistently: closed ones outwards (inwards around a cavity), open ones as the
/// majority of their triangles. docs/geometry.md section "Repair".
RepairReport repair_surface(SurfaceMesh& mesh, const RepairOptions& options = {});

/// A sheet with two faces: every triangle twice, once turned over, on the same vertices. Spheres
/// that touch a surface need it closed, docs/contact-moving.md. One that has them stays as it is.
[[nodiscard]] SurfaceMesh double_faced(const SurfaceMesh& sheet);
/// Whether it is a sheet that double_faced() made. A solid whose triangles were all written for
/// both sides has no border, and is none.
[[nodiscard]] bool is_double_faced(const SurfaceMesh& mesh);

}  // namespace pliant
