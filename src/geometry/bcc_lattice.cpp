#include "geometry/bcc_lattice.h"

#include <cassert>
#include <utility>

namespace pliant {
namespace {

using Int3 = std::array<int, 3>;

/// Index of the direction from one node to a neighbour; `step` in half cells.
int direction_of(const Int3& step) {
    if (step[0] * step[1] * step[2] != 0)
        return 6 + (step[0] > 0 ? 1 : 0) + (step[1] > 0 ? 2 : 0) + (step[2] > 0 ? 4 : 0);
    for (int axis = 0; axis < 3; ++axis) {
        const int component = step[static_cast<std::size_t>(axis)];
        if (component != 0) return 2 * axis + (component > 0 ? 1 : 0);
    }
    assert(false);
    return -1;
}

Int3 minus(const Int3& a, const Int3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

int determinant(const Int3& a, const Int3& b, const Int3& c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// True when the order of four corners is an even permutation of (0, 1, 2, 3).
bool is_even_permutation(const std::array<int, 4>& order) {
    int inversions = 0;
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = a + 1; b < 4; ++b) inversions += order[a] > order[b] ? 1 : 0;
    return inversions % 2 == 0;
}

void append_tet(std::vector<int>& elements, int a, int b, int c, int d, bool positive = true) {
    if (!positive) std::swap(c, d);
    elements.insert(elements.end(), {a, b, c, d});
}

/// Splits the prism between the triangles x and y along the diagonals x0–y1, x0–y2, x1–y2.
/// `positive`: (x0, x1, x2, y2) has positive volume.
void append_prism(std::vector<int>& elements, const std::array<int, 3>& x,
                  const std::array<int, 3>& y, bool positive) {
    append_tet(elements, x[0], x[1], x[2], y[2], positive);
    append_tet(elements, x[0], x[1], y[2], y[1], positive);
    append_tet(elements, x[0], y[1], y[2], y[0], positive);
}

}  // namespace

BccLattice::BccLattice(const Eigen::Vector3d& origin, double cell, const std::array<int, 3>& cells)
    : origin_(origin), cell_(cell), cells_(cells) {
    const auto node_of_half_cells = [&](const Int3& p) {
        return node((p[0] - (p[0] & 1)) / 2, (p[1] - (p[1] & 1)) / 2, (p[2] - (p[2] & 1)) / 2,
                    p[0] & 1);
    };
    // neighbours, seen from one corner and one centre
    for (int s = 0; s < 2; ++s) {
        const Int3 from{2 + s, 2 + s, 2 + s};
        const auto add = [&](const Int3& step) {
            const int to =
                node_of_half_cells({from[0] + step[0], from[1] + step[1], from[2] + step[2]});
            offset_[static_cast<std::size_t>(s)][static_cast<std::size_t>(direction_of(step))] =
                to - node_of_half_cells(from);
        };
        for (const int sign : {-2, 2}) {
            add({sign, 0, 0});
            add({0, sign, 0});
            add({0, 0, sign});
        }
        for (const int x : {-1, 1})
            for (const int y : {-1, 1})
                for (const int z : {-1, 1}) add({x, y, z});
    }
    // each cell owns the tets around its three upper faces: two centres and an edge of the face
    const Int3 centre{1, 1, 1};
    std::size_t count = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (int side = 0; side < 4; ++side) {
            std::array<Int3, 4> corner{centre, centre, centre, centre};
            corner[1][axis] += 2;
            corner[2][axis] = corner[3][axis] = 2;
            const std::size_t along = side < 2 ? u : v, across = side < 2 ? v : u;
            corner[2][along] = 0;
            corner[3][along] = 2;
            corner[2][across] = corner[3][across] = 2 * (side & 1);
            if (determinant(minus(corner[1], corner[0]), minus(corner[2], corner[0]),
                            minus(corner[3], corner[0])) < 0)
                std::swap(corner[2], corner[3]);
            Tet& tet = tets_[count++];
            for (std::size_t a = 0; a < 4; ++a) {
                tet.offset[a] = node_of_half_cells(corner[a]) - node_of_half_cells(centre);
                for (std::size_t b = 0; b < 4; ++b)
                    tet.direction[a][b] = static_cast<std::int8_t>(
                        a == b ? -1 : direction_of(minus(corner[b], corner[a])));
            }
        }
    }
}

std::size_t BccLattice::num_nodes() const noexcept {
    std::size_t count = 2;
    for (const int n : cells_) count *= static_cast<std::size_t>(n) + 1;
    return count;
}

std::array<int, 3> BccLattice::indices(int node) const noexcept {
    const int cube = node / 2, row = cube / (cells_[0] + 1);
    return {cube % (cells_[0] + 1), row % (cells_[1] + 1), row / (cells_[1] + 1)};
}

Eigen::Vector3d BccLattice::position(int node) const noexcept {
    const std::array<int, 3> index = indices(node);
    const double half = 0.5 * (node & 1);
    return origin_ + cell_ * Eigen::Vector3d(index[0] + half, index[1] + half, index[2] + half);
}

bool BccLattice::is_border(int node) const noexcept {
    const std::array<int, 3> index = indices(node);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (index[axis] == 0 || index[axis] == cells_[axis]) return true;
    return false;
}

void append_stencil(const CutTet& tet, const std::vector<Eigen::Vector3d>& vertices,
                    std::vector<int>& elements) {
    std::array<int, 4> inside{}, outside{};
    int num_inside = 0, num_outside = 0, on_surface = -1;
    for (int a = 0; a < 4; ++a) {
        const int sign = tet.sign[static_cast<std::size_t>(a)];
        if (sign > 0) inside[static_cast<std::size_t>(num_inside++)] = a;
        if (sign < 0) outside[static_cast<std::size_t>(num_outside++)] = a;
        if (sign == 0) on_surface = a;
    }
    if (num_inside == 0) return;
    const auto corner = [&](int a) { return tet.corner[static_cast<std::size_t>(a)]; };
    const auto cut = [&](int a, int b) {
        return tet.cut[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    };
    const auto squared_distance = [&](int a, int b) {
        return (vertices[static_cast<std::size_t>(a)] - vertices[static_cast<std::size_t>(b)])
            .squaredNorm();
    };
    // The face (p, q, m) with m outside is cut to a quadrilateral: true when its diagonal runs from
    // p to the cut point of edge q–m. It starts where the longer piece of edge is kept. Both tets
    // of the face decide alike, and comparing lengths cannot run in circles round a tet.
    const auto leads = [&](int p, int q, int m) {
        const double kept_p = squared_distance(corner(p), cut(p, m));
        const double kept_q = squared_distance(corner(q), cut(q, m));
        return kept_p != kept_q ? kept_p > kept_q : corner(p) < corner(q);
    };

    if (num_outside == 0 || num_inside == 1) {
        // one tet: the outside corners move to their cut points
        std::array<int, 4> vertex{};
        for (int a = 0; a < 4; ++a)
            vertex[static_cast<std::size_t>(a)] =
                tet.sign[static_cast<std::size_t>(a)] < 0 ? cut(inside[0], a) : corner(a);
        append_tet(elements, vertex[0], vertex[1], vertex[2], vertex[3]);
    } else if (num_inside == 2 && num_outside == 1) {
        // a pyramid on the cut face, its apex on the surface
        int p = inside[0], q = inside[1];
        const int m = outside[0], apex = corner(on_surface);
        if (!leads(p, q, m)) std::swap(p, q);
        const bool positive = is_even_permutation({p, q, m, on_surface});
        append_tet(elements, corner(p), corner(q), cut(q, m), apex, positive);
        append_tet(elements, corner(p), cut(q, m), cut(p, m), apex, positive);
    } else if (num_inside == 3) {
        // a prism between the inside face and the cut points, columns sorted by their diagonals
        const int m = outside[0];
        int p = inside[0], q = inside[1], r = inside[2];
        if (!leads(p, q, m)) std::swap(p, q);
        if (!leads(q, r, m)) std::swap(q, r);
        if (!leads(p, q, m)) std::swap(p, q);
        append_prism(elements, {corner(p), corner(q), corner(r)}, {cut(p, m), cut(q, m), cut(r, m)},
                     is_even_permutation({p, q, r, m}));
    } else {
        // a prism between the two inside corners p and q
        int p = inside[0], q = inside[1], m = outside[0], n = outside[1];
        if (leads(p, q, m) == leads(p, q, n)) {
            // both diagonals start at p; the face on the surface is free to take its shorter one
            if (!leads(p, q, m)) std::swap(p, q);
            if (squared_distance(cut(p, n), cut(q, m)) < squared_distance(cut(p, m), cut(q, n)))
                std::swap(m, n);
            append_prism(elements, {corner(p), cut(p, m), cut(p, n)},
                         {corner(q), cut(q, m), cut(q, n)}, is_even_permutation({p, q, m, n}));
        } else {
            // they start at different ends, which fixes the diagonal on the surface
            if (!leads(p, q, m)) std::swap(m, n);
            append_prism(elements, {cut(p, n), corner(p), cut(p, m)},
                         {cut(q, n), corner(q), cut(q, m)}, is_even_permutation({p, q, m, n}));
        }
    }
}

}  // namespace pliant
