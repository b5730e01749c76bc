#include "pliant/geometry/polygonize.h"

#include "geometry/surface_relaxation.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3i;

constexpr int kBlock = 8;            // cells along a block, the unit of parallel work
constexpr int kSide = kBlock + 1;    // nodes of each kind along a block
constexpr double kNodeGap = 0.1;     // crossings keep this part of an edge from its ends
constexpr int kRootIterations = 12;  // of regula falsi; smooth bodies need two or three

/// Body-centred lattice: nodes at integer points whose coordinates are all even (cell corners) or
/// all odd (cell centres), half a cell apart. Each pair of neighbouring centres makes four
/// tetrahedra with the edges of the face between them.
struct Lattice {
    Vector3d origin;
    double half;     ///< half the cell size
    Vector3i cells;  ///< per axis
    [[nodiscard]] Vector3d position(const Vector3i& node) const {
        return origin + half * node.cast<double>();
    }
};

Lattice lattice_around(const Box& box, int resolution) {
    const double cell = box.sizes().maxCoeff() / resolution;
    // two cells of margin: the outermost nodes are outside the body
    const Vector3i cells = (box.sizes() / cell).array().ceil().cast<int>() + 4;
    return {box.center() - 0.5 * cell * cells.cast<double>(), 0.5 * cell, cells};
}

/// Far enough from the surface that all tetrahedra of the cube of cells have one sign.
bool is_clear(const Implicit& body, const Lattice& lattice, const Vector3i& first_cell, int size) {
    const Vector3d centre = lattice.position(2 * first_cell + Vector3i::Constant(size));
    // a cell's tetrahedra end at the next centres; larger cubes, half a cell beyond their sides
    const double reach =
        size == 1 ? 2.0 : std::sqrt((size + 1.0) * (size + 1.0) + 2.0 * size * size);
    return std::abs(body(centre)) > body.lipschitz() * reach * lattice.half * (1.0 + 1e-9);
}

void collect_blocks(const Implicit& body, const Lattice& lattice, const Vector3i& first, int size,
                    std::vector<Vector3i>& blocks) {
    if ((first.array() >= lattice.cells.array()).any()) return;
    if (is_clear(body, lattice, first, size)) return;
    if (size == kBlock) {
        blocks.push_back(first);
        return;
    }
    const int half = size / 2;
    for (int i = 0; i < 8; ++i)
        collect_blocks(body, lattice, first + half * Vector3i(i & 1, i >> 1 & 1, i >> 2), half,
                       blocks);
}

/// Triangles of one block; vertices named by the lattice edge they lie on.
struct BlockSurface {
    std::vector<std::uint64_t> keys;
    std::vector<Vector3d> positions;
    std::vector<Triangle> triangles;
};

class BlockMarcher {
public:
    BlockMarcher(const Implicit& body, const Lattice& lattice, const Vector3i& first_cell)
        : body_(body), lattice_(lattice), first_(first_cell) {
        values_.fill(std::numeric_limits<double>::quiet_NaN());
        edge_vertex_.fill(-1);
    }

    BlockSurface run() {
        march(Vector3i::Zero(), kBlock);
        return std::move(surface_);
    }

private:
    static constexpr int kNodes = 2 * kSide * kSide * kSide;
    static constexpr int kDirections = 7;  // three along the axes, four along the diagonals
    struct Node {
        Vector3i at;  ///< lattice coordinates relative to the block
        double value;
    };

    void march(const Vector3i& cell, int size) {
        if (size < kBlock && is_clear(body_, lattice_, first_ + cell, size)) return;
        if (size == 1) return march_cell(cell);
        const int half = size / 2;
        for (int i = 0; i < 8; ++i) march(cell + half * Vector3i(i & 1, i >> 1 & 1, i >> 2), half);
    }

    void march_cell(const Vector3i& cell) {
        const Vector3i centre = 2 * cell + Vector3i::Ones();
        for (int axis = 0; axis < 3; ++axis) {
            const Vector3i next = centre + 2 * Vector3i::Unit(axis);
            // corners of the face between, anticlockwise seen from `next`
            const Vector3i u = Vector3i::Unit((axis + 1) % 3), v = Vector3i::Unit((axis + 2) % 3);
            const Vector3i middle = centre + Vector3i::Unit(axis);
            const std::array<Vector3i, 4> corner = {middle - u - v, middle + u - v, middle + u + v,
                                                    middle - u + v};
            for (int k = 0; k < 4; ++k)
                march_tetrahedron(
                    {node(centre), node(next), node(corner[k]), node(corner[(k + 1) % 4])});
        }
    }

    void march_tetrahedron(const std::array<Node, 4>& n) {
        int inside = 0;
        for (int i = 0; i < 4; ++i) inside |= (n[i].value < 0.0) << i;
        // even permutations that bring the inside nodes (or the single outside one) to the front
        static constexpr std::array<std::array<int, 4>, 4> kSingle = {
            {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 0, 1, 3}, {3, 0, 2, 1}}};
        static constexpr std::array<std::array<int, 4>, 6> kPair = {
            {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}}};
        switch (std::popcount(static_cast<unsigned>(inside))) {
            case 1:
            case 3: {
                const bool alone_inside = std::popcount(static_cast<unsigned>(inside)) == 1;
                const int alone =
                    std::countr_zero(static_cast<unsigned>(alone_inside ? inside : ~inside));
                const auto [a, b, c, d] = kSingle[alone];
                const int p = crossing(n[a], n[b]), q = crossing(n[a], n[c]),
                          r = crossing(n[a], n[d]);
                surface_.triangles.push_back(alone_inside ? Triangle{p, q, r} : Triangle{p, r, q});
                break;
            }
            case 2: {
                int row = 0;
                while (inside != (1 << kPair[row][0] | 1 << kPair[row][1])) ++row;
                const auto [a, b, c, d] = kPair[row];
                const std::array<int, 4> q = {crossing(n[a], n[c]), crossing(n[a], n[d]),
                                              crossing(n[b], n[d]), crossing(n[b], n[c])};
                // the shorter diagonal makes the rounder triangles
                const auto& x = surface_.positions;
                const int s =
                    (x[q[0]] - x[q[2]]).squaredNorm() <= (x[q[1]] - x[q[3]]).squaredNorm() ? 0 : 1;
                surface_.triangles.push_back({q[s], q[s + 1], q[s + 2]});
                surface_.triangles.push_back({q[s], q[s + 2], q[(s + 3) % 4]});
                break;
            }
            default: break;
        }
    }

    static int node_index(const Vector3i& at) {
        const Vector3i i(at[0] >> 1, at[1] >> 1, at[2] >> 1);
        return (((at[0] & 1) * kSide + i[2]) * kSide + i[1]) * kSide + i[0];
    }

    Node node(const Vector3i& at) {
        double& value = values_[node_index(at)];
        if (std::isnan(value)) value = body_(lattice_.position(2 * first_ + at));
        return {at, value};
    }

    /// Vertex where the surface crosses the edge a–b.
    int crossing(const Node& a, const Node& b) {
        // the edge runs from the end with the smaller z, then y, then x
        const Vector3i step = b.at - a.at;
        const bool forward = step[2] != 0 ? step[2] > 0 : step[1] != 0 ? step[1] > 0 : step[0] > 0;
        const Node &low = forward ? a : b, &high = forward ? b : a;
        const Vector3i d = high.at - low.at;
        int direction = 3 + (d[0] > 0) + 2 * (d[1] > 0);
        for (int axis = 0; axis < 3; ++axis)
            if (d[axis] == 2) direction = axis;
        int& vertex = edge_vertex_[node_index(low.at) * kDirections + direction];
        if (vertex < 0) {
            vertex = static_cast<int>(surface_.keys.size());
            const Vector3i at = 2 * first_ + low.at;
            std::uint64_t key = 0;
            for (int axis = 2; axis >= 0; --axis)
                key = key << 16 | static_cast<std::uint64_t>(at[axis]);
            surface_.keys.push_back(key << 3 | static_cast<std::uint64_t>(direction));
            surface_.positions.push_back(root(low, high));
        }
        return vertex;
    }

    /// Regula falsi (Illinois), kept away from the nodes so that no triangle degenerates.
    Vector3d root(const Node& a, const Node& b) const {
        const Vector3d xa = lattice_.position(2 * first_ + a.at),
                       xb = lattice_.position(2 * first_ + b.at);
        const double tolerance = 1e-3 * lattice_.half;
        double ta = 0.0, tb = 1.0, fa = a.value, fb = b.value, t = 0.5;
        int last_side = 0;
        for (int i = 0; i < kRootIterations; ++i) {
            t = fa / (fa - fb);
            t = ta + (tb - ta) * t;
            const double f = body_(xa + t * (xb - xa));
            if (std::abs(f) <= tolerance) break;
            const int side = (f < 0.0) == (fa < 0.0) ? -1 : 1;
            (side < 0 ? ta : tb) = t;
            (side < 0 ? fa : fb) = f;
            if (side == last_side) (side < 0 ? fb : fa) *= 0.5;
            last_side = side;
        }
        return xa + std::clamp(t, kNodeGap, 1.0 - kNodeGap) * (xb - xa);
    }

    const Implicit& body_;
    const Lattice& lattice_;
    Vector3i first_;
    std::array<double, kNodes> values_;
    std::array<int, kNodes * kDirections> edge_vertex_;
    BlockSurface surface_;
};

/// Joins the blocks: vertices with the same key, on the same lattice edge, become one.
SurfaceMesh merge(const std::vector<BlockSurface>& blocks) {
    struct Name {
        std::uint64_t key;
        int index;  ///< in the concatenation of all blocks
    };
    std::vector<Name> names;
    std::vector<Vector3d> positions;
    std::size_t num_triangles = 0;
    for (const BlockSurface& block : blocks) {
        for (const std::uint64_t key : block.keys)
            names.push_back({key, static_cast<int>(names.size())});
        positions.insert(positions.end(), block.positions.begin(), block.positions.end());
        num_triangles += block.triangles.size();
    }
    std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
    });
    // the first of its name stands for all; numbered in the order of the blocks
    std::vector<int> representative(names.size()), number(names.size(), -1);
    for (std::size_t i = 0, first = 0; i < names.size(); ++i) {
        if (names[i].key != names[first].key) first = i;
        representative[names[i].index] = names[first].index;
    }
    SurfaceMesh mesh;
    for (std::size_t i = 0; i < representative.size(); ++i) {
        if (representative[i] == static_cast<int>(i)) {
            number[i] = mesh.num_vertices();
            mesh.vertices.push_back(positions[i]);
        } else {
            number[i] = number[representative[i]];
        }
    }
    mesh.triangles.reserve(num_triangles);
    int offset = 0;
    for (const BlockSurface& block : blocks) {
        for (const Triangle& t : block.triangles)
            mesh.triangles.push_back(
                {number[offset + t[0]], number[offset + t[1]], number[offset + t[2]]});
        offset += static_cast<int>(block.keys.size());
    }
    return mesh;
}

}  // namespace

SurfaceMesh polygonize(const Implicit& body, const PolygonizeOptions& options, Progress& progress) {
    if (options.resolution < 4 || options.resolution > 2048)
        throw InputError("", "resolution", std::to_string(options.resolution), "4 to 2048");
    const Lattice lattice = lattice_around(body.box(), options.resolution);

    // blocks that may meet the surface
    std::vector<Vector3i> first_cells;
    const auto span = static_cast<unsigned>(std::max(kBlock, lattice.cells.maxCoeff()));
    collect_blocks(body, lattice, Vector3i::Zero(), static_cast<int>(std::bit_ceil(span)),
                   first_cells);

    progress.stage("polygonize", first_cells.size());
    std::vector<BlockSurface> blocks(first_cells.size());
    parallel_for(blocks.size(), 4, [&](std::size_t i) {
        blocks[i] = BlockMarcher(body, lattice, first_cells[i]).run();
        progress.advance();
    });

    SurfaceMesh mesh = merge(blocks);
    if (mesh.triangles.empty())
        throw InputError("", "resolution = " + std::to_string(options.resolution) +
                                 " is too coarse: no lattice point lies inside the shape; raise "
                                 "the resolution");
    relax_onto_surface(mesh, body, 2.0 * lattice.half, options.smoothing, progress);
    return mesh;
}

}  // namespace pliant
