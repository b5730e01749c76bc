#include "pliant/geometry/structured_mesh.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace pliant {
namespace {

/// Refuses counts and boxes that give no mesh, or one whose indices do not fit.
void check(int nx, int ny, int nz, const Box& box, int indices_per_cell) {
    const std::array<std::pair<const char*, int>, 3> counts{{{"nx", nx}, {"ny", ny}, {"nz", nz}}};
    for (const auto& [name, n] : counts)
        if (n < 1) throw InputError("", name, std::to_string(n), "at least 1 cell");
    const double num_vertices = (nx + 1.0) * (ny + 1.0) * (nz + 1.0);
    const double num_indices = static_cast<double>(nx) * ny * nz * indices_per_cell;
    if (std::max(num_vertices, num_indices) > std::numeric_limits<int>::max())
        throw InputError("", "a box of " + std::to_string(nx) + " × " + std::to_string(ny) + " × " +
                                 std::to_string(nz) +
                                 " cells is too large to be indexed; use fewer cells");
    if (box.isEmpty() || !box.sizes().allFinite() || box.sizes().minCoeff() <= 0)
        throw InputError("", "the box to be meshed must have finite, positive sides");
}

/// Calls `cell(corners)` for each cell, i fastest; corner bits 1, 2, 4 mean +x, +y, +z.
template <class Cell>
VolumeMesh lattice(int nx, int ny, int nz, const Box& box, const Cell& cell) {
    VolumeMesh mesh;
    const auto at = [&](int i, int j, int k) { return i + (nx + 1) * (j + (ny + 1) * k); };
    const auto place = [](int i, int n, double low, double high) {
        return i == n ? high : low + i * ((high - low) / n);  // the last one exactly on the box
    };
    mesh.vertices.reserve(static_cast<std::size_t>(at(nx, ny, nz)) + 1);
    for (int k = 0; k <= nz; ++k)
        for (int j = 0; j <= ny; ++j)
            for (int i = 0; i <= nx; ++i)
                mesh.vertices.emplace_back(place(i, nx, box.min().x(), box.max().x()),
                                           place(j, ny, box.min().y(), box.max().y()),
                                           place(k, nz, box.min().z(), box.max().z()));
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                std::array<int, 8> corners;
                for (int c = 0; c < 8; ++c)
                    corners[c] = at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
                cell(mesh, corners);
            }
    return mesh;
}

}  // namespace

VolumeMesh hex_box(int nx, int ny, int nz, const Box& box) {
    check(nx, ny, nz, box, 8);
    return lattice(nx, ny, nz, box, [](VolumeMesh& mesh, const std::array<int, 8>& c) {
        mesh.kind = ElementKind::Hex8;
        const std::array<int, 8> nodes{c[0], c[1], c[3], c[2], c[4], c[5], c[7], c[6]};
        mesh.elements.insert(mesh.elements.end(), nodes.begin(), nodes.end());
    });
}

VolumeMesh tet_box(int nx, int ny, int nz, const Box& box) {
    check(nx, ny, nz, box, 24);
    // a path along the axes, in each of the six orders, from corner 0 to corner 7; odd orders are
    // mirrored, so their middle corners change places
    static constexpr std::array<std::array<int, 4>, 6> kKuhnTets{
        {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}}};
    return lattice(nx, ny, nz, box, [](VolumeMesh& mesh, const std::array<int, 8>& c) {
        mesh.kind = ElementKind::Tet4;
        for (const auto& tet : kKuhnTets)
            for (const int corner : tet) mesh.elements.push_back(c[corner]);
    });
}

}  // namespace pliant
