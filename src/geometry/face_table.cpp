#include "geometry/face_table.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pliant {
namespace {

/// Corners ascending; the −1 of a triangle comes last, so that the first one is a vertex.
std::array<int, 4> sorted_corners(std::array<int, 4> corners) {
    std::sort(corners.begin(), corners.begin() + (corners[3] < 0 ? 3 : 4));
    return corners;
}

}  // namespace

FaceTable::FaceTable(const VolumeMesh& mesh) : mesh_(mesh) {
    const int num_sides = faces_per_element(mesh.kind);
    const int num_faces = num_sides * mesh.num_elements();
    is_inner_.assign(num_faces, 0);

    // buckets by the lowest corner: a counting sort, then small sorts
    start_.assign(mesh.vertices.size() + 1, 0);
    for (int f = 0; f < num_faces; ++f) {
        const auto sorted = sorted_corners(corners(f));
        assert(sorted[0] >= 0 && sorted[nodes_per_face(mesh.kind) - 1] < mesh.num_vertices());
        ++start_[sorted[0] + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    entries_.resize(num_faces);
    std::vector<int> next(start_.begin(), start_.end() - 1);
    for (int f = 0; f < num_faces; ++f) {
        const auto sorted = sorted_corners(corners(f));
        entries_[next[sorted[0]]++] = {{sorted[1], sorted[2], sorted[3]}, f};
    }

    // runs of equal corners are shared faces
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const auto begin = entries_.begin() + start_[v], end = entries_.begin() + start_[v + 1];
        std::sort(begin, end, [](const Entry& p, const Entry& q) {
            return p.rest != q.rest ? p.rest < q.rest : p.face < q.face;
        });
        for (auto first = begin, e = begin; e != end; ++e) {
            if (e->rest != first->rest) first = e;
            if (e == first) continue;
            is_inner_[first->face] = is_inner_[e->face] = 1;
            neighbours_.emplace_back(first->face / num_sides, e->face / num_sides);
        }
    }
    match_hanging();
}

void FaceTable::match_hanging() {
    for (const HangingNode& node : mesh_.hanging)
        if (node.num_masters == 2) {
            const auto [a, b] = std::minmax({node.masters[0], node.masters[1]});
            middles_.push_back({a, b, node.vertex});
        }
    std::ranges::sort(middles_, {}, [](const Middle& m) { return std::array{m.a, m.b, m.vertex}; });

    for (const HangingNode& node : mesh_.hanging) {
        if (node.num_masters != 4) continue;
        const int coarse = find_single(node.masters);
        if (coarse < 0) continue;
        CutFace cut{coarse, node.vertex, {}};
        const auto c = corners(coarse);
        for (int k = 0; k < 4; ++k) {
            const int after = middle(c[k], c[(k + 1) % 4]), before = middle(c[(k + 3) % 4], c[k]);
            if (after < 0 || before < 0) continue;
            const int fine = find_single({c[k], after, node.vertex, before});
            if (fine < 0) continue;
            cut.is_covered[k] = true;
            is_inner_[fine] = 1;
            const int n = faces_per_element(mesh_.kind);
            neighbours_.emplace_back(coarse / n, fine / n);
        }
        if (std::ranges::all_of(cut.is_covered, [](bool covered) { return covered; }))
            is_inner_[coarse] = 1;
        cut_faces_.push_back(cut);
    }
    std::ranges::sort(cut_faces_, {}, &CutFace::face);
}

int FaceTable::middle(int a, int b) const noexcept {
    if (a > b) std::swap(a, b);
    const auto found = std::ranges::lower_bound(
        middles_, std::pair(a, b), {}, [](const Middle& m) { return std::pair(m.a, m.b); });
    return found != middles_.end() && found->a == a && found->b == b ? found->vertex : -1;
}

/// The face with these corners if it belongs to one element only, else −1.
int FaceTable::find_single(std::array<int, 4> wanted) const noexcept {
    wanted = sorted_corners(wanted);
    const std::array<int, 3> rest{wanted[1], wanted[2], wanted[3]};
    const auto end = entries_.begin() + start_[wanted[0] + 1];
    const auto found = std::lower_bound(entries_.begin() + start_[wanted[0]], end, rest,
                                        [](const Entry& e, const auto& r) { return e.rest < r; });
    return found != end && found->rest == rest && !is_inner_[found->face] ? found->face : -1;
}

}  // namespace pliant
