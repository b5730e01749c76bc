#include "geometry/disjoint_sets.h"
#include "geometry/face_table.h"
#include "geometry/triangle.h"
#include "geometry/wording.h"
#include "pliant/geometry/volume_mesh.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace pliant {
namespace {

/// Lists of variable length in one array: of i they are items[start[i]] … items[start[i + 1] − 1].
struct Lists {
    std::vector<int> start, items;
    [[nodiscard]] std::span<const int> of(int i) const {
        return {items.data() + start[i], static_cast<std::size_t>(start[i + 1] - start[i])};
    }
};

/// `visit(add)` must call add(list, item) for the same pairs each time; items keep that order.
template <class Visit>
Lists make_lists(int count, const Visit& visit) {
    Lists lists;
    lists.start.assign(count + 1, 0);
    visit([&](int i, int) { ++lists.start[i + 1]; });
    std::partial_sum(lists.start.begin(), lists.start.end(), lists.start.begin());
    lists.items.resize(lists.start.back());
    std::vector<int> next(lists.start.begin(), lists.start.end() - 1);
    visit([&](int i, int item) { lists.items[next[i]++] = item; });
    return lists;
}

Lists elements_at_vertices(const VolumeMesh& mesh) {
    const int n = nodes_per_element(mesh.kind);
    return make_lists(mesh.num_vertices(), [&](auto&& add) {
        for (int i = 0; i < n * mesh.num_elements(); ++i) add(mesh.elements[i], i / n);
    });
}

bool contains_masters(const VolumeMesh& mesh, int element, const HangingNode& node) {
    const auto nodes = mesh.element(element);
    return std::all_of(node.masters.begin(), node.masters.begin() + node.num_masters,
                       [&](int m) { return std::ranges::find(nodes, m) != nodes.end(); });
}

/// Elements at each vertex, those included in whose face or edge it hangs.
Lists elements_touching_vertices(const VolumeMesh& mesh) {
    const Lists at = elements_at_vertices(mesh);
    return make_lists(mesh.num_vertices(), [&](auto&& add) {
        for (int v = 0; v < mesh.num_vertices(); ++v)
            for (const int e : at.of(v)) add(v, e);
        for (const HangingNode& node : mesh.hanging)
            for (const int e : at.of(node.masters[0]))
                if (contains_masters(mesh, e, node)) add(node.vertex, e);
    });
}

/// Vertices whose elements are not all connected through faces of elements at the same vertex.
void find_weak_joints(const VolumeMesh& mesh, const FaceTable& faces, VolumeReport& report) {
    const Lists touching = elements_touching_vertices(mesh);
    const Lists across = make_lists(mesh.num_elements(), [&](auto&& add) {
        for (const auto& [a, b] : faces.neighbours()) {
            add(a, b);
            add(b, a);
        }
    });
    std::vector<int> position(mesh.num_elements(), -1);  // in the list of the current vertex
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const auto around = touching.of(v);
        if (around.size() < 2) continue;
        const int count = static_cast<int>(around.size());
        for (int i = 0; i < count; ++i) position[around[i]] = i;
        DisjointSets fans(count);
        for (int i = 0; i < count; ++i)
            for (const int other : across.of(around[i]))
                if (position[other] >= 0) fans.join(i, position[other]);
        for (const int e : around) position[e] = -1;
        if (fans.numbered().second == 1) continue;
        if (report.num_weak_joints++ == 0) report.first_weak_joint = v;
    }
}

std::pair<std::vector<int>, int> parts_of(const VolumeMesh& mesh, const FaceTable& faces) {
    DisjointSets parts(mesh.num_elements());
    for (const auto& [a, b] : faces.neighbours()) parts.join(a, b);
    return parts.numbered();
}

bool has_valid_nodes(const VolumeMesh& mesh, int element) {
    const auto nodes = mesh.element(element);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i] < 0 || nodes[i] >= mesh.num_vertices()) return false;
        for (std::size_t j = 0; j < i; ++j)
            if (nodes[i] == nodes[j]) return false;
    }
    return true;
}

bool has_usable_vertices(const VolumeMesh& mesh, int element) {
    return std::ranges::all_of(mesh.element(element),
                               [&](int v) { return is_usable(mesh.vertices[v]); });
}

void append_line(std::string& text, int count, const std::string& singular,
                 const std::string& plural, const std::string& first) {
    if (count == 0) return;
    text +=
        (text.empty() ? "" : "\n") + counted(count, singular, plural) + " (first: " + first + ")";
}

}  // namespace

bool VolumeReport::is_clean() const noexcept { return text().empty(); }

std::string VolumeReport::text() const {
    if (num_elements == 0) return "no elements";
    std::string text;
    const auto element = [](int e) { return "element " + std::to_string(e); };
    const auto vertex = [](int v) { return "vertex " + std::to_string(v); };
    append_line(text, num_invalid, "element with a vertex index out of range or repeated",
                "elements with a vertex index out of range or repeated", element(first_invalid));
    append_line(text, num_non_finite, "vertex that is not finite or beyond 1e30",
                "vertices that are not finite or beyond 1e30", vertex(first_non_finite));
    char jacobian[32];
    std::snprintf(jacobian, sizeof jacobian, "%.2g", worst_jacobian);
    append_line(text, num_inverted, "inverted element", "inverted elements",
                element(first_inverted) + ", Jacobian " + jacobian);
    append_line(text, num_orphans, "vertex that no element uses", "vertices that no element uses",
                vertex(first_orphan));
    if (num_parts > 1)
        text +=
            (text.empty() ? "" : "\n") + std::to_string(num_parts) + " parts that share no face";
    if (num_weak_joints > 0)
        text += (text.empty() ? "" : "\n") +
                std::string("parts joined only by an edge or a vertex at ") +
                counted(num_weak_joints, "vertex", "vertices") +
                " (first: " + vertex(first_weak_joint) + "): stiffness will be near-singular there";
    return text;
}

VolumeReport check_volume(const VolumeMesh& mesh) {
    VolumeReport report;
    report.num_vertices = mesh.num_vertices();
    report.num_elements = mesh.num_elements();
    const auto note = [](int& count, int& first, int index) {
        if (count++ == 0) first = index;
    };

    // vertices and single elements
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        if (is_usable(mesh.vertices[v]))
            report.box.extend(mesh.vertices[v]);
        else
            note(report.num_non_finite, report.first_non_finite, v);
    }
    std::vector<char> is_used(mesh.vertices.size(), 0);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        if (!has_valid_nodes(mesh, e)) {
            note(report.num_invalid, report.first_invalid, e);
            continue;
        }
        for (const int v : mesh.element(e)) is_used[v] = 1;
        if (!has_usable_vertices(mesh, e)) continue;
        const double jacobian = smallest_jacobian(mesh, e);
        if (!(jacobian > 0)) {
            if (report.num_inverted == 0) report.worst_jacobian = jacobian;
            note(report.num_inverted, report.first_inverted, e);
        }
    }
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (!is_used[v]) note(report.num_orphans, report.first_orphan, v);

    // how they hang together
    const VolumeMesh valid = valid_elements(mesh);
    const FaceTable faces(valid);
    report.num_parts = parts_of(valid, faces).second;
    find_weak_joints(valid, faces, report);
    return report;
}

VolumeMesh valid_elements(const VolumeMesh& mesh) {
    VolumeMesh valid;
    valid.kind = mesh.kind;
    valid.vertices = mesh.vertices;
    valid.region_names = mesh.region_names;
    valid.hanging = mesh.hanging;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        if (!has_valid_nodes(mesh, e) || !has_usable_vertices(mesh, e)) continue;
        const auto nodes = mesh.element(e);
        valid.elements.insert(valid.elements.end(), nodes.begin(), nodes.end());
        if (!mesh.regions.empty()) valid.regions.push_back(mesh.regions[e]);
        if (!mesh.filled.empty()) valid.filled.push_back(mesh.filled[e]);
    }
    return valid;
}

int keep_largest_part(VolumeMesh& mesh) {
    // the largest; the first of equals
    const auto [part_of, num_parts] = parts_of(mesh, FaceTable(mesh));
    if (num_parts == 0) return 0;
    std::vector<double> volumes(num_parts, 0);
    for (int e = 0; e < mesh.num_elements(); ++e) volumes[part_of[e]] += element_volume(mesh, e);
    const int largest = static_cast<int>(std::ranges::max_element(volumes) - volumes.begin());

    VolumeMesh kept;
    kept.kind = mesh.kind;
    kept.region_names = mesh.region_names;
    std::vector<int> place(mesh.vertices.size(), -1);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        if (part_of[e] != largest) continue;
        for (const int v : mesh.element(e)) {
            kept.elements.push_back(v);
            place[v] = 0;
        }
        if (!mesh.regions.empty()) kept.regions.push_back(mesh.regions[e]);
        if (!mesh.filled.empty()) kept.filled.push_back(mesh.filled[e]);
    }

    // a vertex hangs as long as the coarse element it hangs in is there
    kept.vertices.resize(mesh.vertices.size());
    const Lists at = elements_at_vertices(kept);
    for (const HangingNode& node : mesh.hanging)
        if (place[node.vertex] >= 0 && std::ranges::any_of(at.of(node.masters[0]), [&](int e) {
                return contains_masters(kept, e, node);
            }))
            kept.hanging.push_back(node);

    // close up the vertices
    int num_kept = 0;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (place[v] >= 0) {
            place[v] = num_kept;
            kept.vertices[num_kept++] = mesh.vertices[v];
        }
    kept.vertices.resize(num_kept);
    for (int& v : kept.elements) v = place[v];
    for (HangingNode& node : kept.hanging) {
        node.vertex = place[node.vertex];
        for (int k = 0; k < node.num_masters; ++k) node.masters[k] = place[node.masters[k]];
    }
    const int removed = mesh.num_elements() - kept.num_elements();
    mesh = std::move(kept);
    return removed;
}

}  // namespace pliant
