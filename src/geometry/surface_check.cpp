#include "pliant/geometry/surface_check.h"

#include "geometry/disjoint_sets.h"
#include "geometry/triangle.h"
#include "geometry/wording.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>

namespace pliant {
namespace {

void note(Defect& defect, int index) {
    ++defect.count;
    if (defect.first < 0 || index < defect.first) defect.first = index;
}

void append_line(std::string& text, const std::string& line) {
    text += (text.empty() ? "" : "\n") + line;
}

void append_line(std::string& text, const Defect& defect, const std::string& singular,
                 const std::string& plural, const std::string& place) {
    if (defect.count == 0) return;
    append_line(text, counted(defect.count, singular, plural) +
                          (defect.count == 1 ? " (at " : " (first at ") + place + " " +
                          std::to_string(defect.first) + ")");
}

Defect find_duplicates(const SurfaceMesh& mesh, const std::vector<int>& triangles) {
    std::vector<std::pair<Triangle, int>> sorted;
    sorted.reserve(triangles.size());
    for (const int t : triangles) {
        Triangle corners = mesh.triangles[t];
        std::ranges::sort(corners);
        sorted.emplace_back(corners, t);
    }
    std::ranges::sort(sorted);
    Defect duplicates;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i].first == sorted[i - 1].first) note(duplicates, sorted[i].second);
    return duplicates;
}

/// Vertices whose triangles fall into several fans; two triangles are in one fan when they share
/// an edge at the vertex.
Defect find_split_vertices(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    Defect split;
    std::vector<std::pair<int, int>> spokes;  // edge at the vertex, position in the fan
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const auto around = topology.triangles_at(v);
        spokes.clear();
        for (int i = 0; i < static_cast<int>(around.size()); ++i)
            for (int side = 0; side < 3; ++side) {
                const int e = topology.edge_of(around[i], side);
                if (topology.edges()[e].a == v || topology.edges()[e].b == v)
                    spokes.emplace_back(e, i);
            }
        std::ranges::sort(spokes);
        DisjointSets fans(static_cast<int>(around.size()));
        for (std::size_t k = 1; k < spokes.size(); ++k)
            if (spokes[k].first == spokes[k - 1].first)
                fans.join(spokes[k].second, spokes[k - 1].second);
        if (fans.numbered().second > 1) note(split, v);
    }
    return split;
}

}  // namespace

bool SurfaceReport::is_closed() const noexcept {
    return num_components > 0 && open_edges.count == 0 && non_manifold_edges.count == 0 &&
           inconsistent_edges.count == 0;
}

bool SurfaceReport::is_manifold() const noexcept {
    return non_manifold_edges.count == 0 && non_manifold_vertices.count == 0;
}

bool SurfaceReport::is_clean() const noexcept { return text().empty(); }

std::string SurfaceReport::text() const {
    std::string text;
    if (num_triangles == 0) append_line(text, "no triangles");
    append_line(text, invalid_indices, "triangle with a vertex index out of range",
                "triangles with a vertex index out of range", "triangle");
    append_line(text, non_finite_vertices, "vertex that is not finite or beyond 1e30",
                "vertices that are not finite or beyond 1e30", "vertex");
    append_line(text, unused_vertices, "unused vertex", "unused vertices", "vertex");
    append_line(text, degenerate_triangles, "degenerate triangle", "degenerate triangles",
                "triangle");
    append_line(text, duplicate_triangles, "duplicate triangle", "duplicate triangles", "triangle");
    append_line(text, open_edges, "open edge", "open edges", "triangle");
    append_line(text, non_manifold_edges, "edge shared by more than two triangles",
                "edges shared by more than two triangles", "triangle");
    append_line(text, non_manifold_vertices, "vertex where separate fans meet",
                "vertices where separate fans meet", "vertex");
    append_line(text, inconsistent_edges, "edge between triangles of opposite orientation",
                "edges between triangles of opposite orientation", "triangle");
    if (is_inside_out) append_line(text, "the surface is inside out: its volume is negative");
    return text;
}

SurfaceReport check_surface(const SurfaceMesh& mesh) {
    SurfaceReport report;
    report.num_vertices = mesh.num_vertices();
    report.num_triangles = mesh.num_triangles();

    // vertices
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        if (is_usable(mesh.vertices[v]))
            report.box.extend(mesh.vertices[v]);
        else
            note(report.non_finite_vertices, v);
    }

    // single triangles; only those that are good so far take part in what follows
    std::vector<char> is_used(mesh.vertices.size(), 0);
    std::vector<int> usable;    // all corners exist and are usable
    std::vector<int> original;  // of the triangles of `proper`, those with three different corners
    SurfaceMesh proper;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Triangle& corners = mesh.triangles[t];
        if (std::ranges::any_of(corners,
                                [&](int v) { return v < 0 || v >= mesh.num_vertices(); })) {
            note(report.invalid_indices, t);
            continue;
        }
        for (const int v : corners) is_used[v] = 1;
        if (std::ranges::any_of(corners, [&](int v) { return !is_usable(mesh.vertices[v]); }))
            continue;
        usable.push_back(t);
        const bool repeats = has_repeated_corner(corners);
        if (repeats || has_no_area(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)))
            note(report.degenerate_triangles, t);
        if (repeats) continue;
        original.push_back(t);
        proper.triangles.push_back(corners);
    }
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (!is_used[v]) note(report.unused_vertices, v);
    report.duplicate_triangles = find_duplicates(mesh, usable);

    // how they fit together
    proper.vertices = mesh.vertices;
    const SurfaceTopology topology(proper);
    report.num_components = topology.num_components();
    report.euler_number = topology.euler_number();
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        const auto uses = topology.uses(edge);
        const int first = original[uses[0].triangle];
        if (edge.num_uses == 1) note(report.open_edges, first);
        if (edge.num_uses > 2) note(report.non_manifold_edges, first);
        if (edge.num_uses == 2 && uses[0].is_forward == uses[1].is_forward)
            note(report.inconsistent_edges, first);
    }
    report.non_manifold_vertices = find_split_vertices(proper, topology);

    report.area = surface_area(proper);
    if (report.is_closed()) report.volume = enclosed_volume(proper);
    report.is_inside_out = report.volume < 0;
    return report;
}

}  // namespace pliant
