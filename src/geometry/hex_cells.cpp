#include "geometry/hex_cells.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>

namespace pliant {
namespace {

using Point = std::array<int, 3>;

// corners of a unit cell in VTK order
constexpr std::array<Point, 8> kCorners{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

/// The lattice points in use, one bit each, and their numbers: a point's number is the count of
/// used points before it.
class UsedPoints {
public:
    explicit UsedPoints(const std::array<int, 3>& lattice_size)
        : nx_(static_cast<std::size_t>(lattice_size[0]) + 1),
          ny_(static_cast<std::size_t>(lattice_size[1]) + 1),
          bits_((nx_ * ny_ * (static_cast<std::size_t>(lattice_size[2]) + 1) + 63) / 64, 0) {}

    void insert(const Point& p) {
        const std::size_t i = index(p);
        bits_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    void number() {
        before_.resize(bits_.size());
        int count = 0;
        for (std::size_t word = 0; word < bits_.size(); ++word) {
            before_[word] = count;
            count += std::popcount(bits_[word]);
        }
        count_ = count;
    }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] bool contains(const Point& p) const {
        const std::size_t i = index(p);
        return (bits_[i / 64] >> (i % 64) & 1) != 0;
    }
    [[nodiscard]] int number_of(const Point& p) const {
        const std::size_t i = index(p);
        const std::uint64_t lower = bits_[i / 64] & ((std::uint64_t{1} << (i % 64)) - 1);
        return before_[i / 64] + std::popcount(lower);
    }
    /// Calls `visit(point)` in the order of the numbers.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t word = 0; word < bits_.size(); ++word)
            for (std::uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1) {
                const std::size_t i = word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
                visit(Point{static_cast<int>(i % nx_), static_cast<int>(i / nx_ % ny_),
                            static_cast<int>(i / (nx_ * ny_))});
            }
    }

private:
    [[nodiscard]] std::size_t index(const Point& p) const {
        return (static_cast<std::size_t>(p[2]) * ny_ + static_cast<std::size_t>(p[1])) * nx_ +
               static_cast<std::size_t>(p[0]);
    }
    std::size_t nx_, ny_;
    std::vector<std::uint64_t> bits_;
    std::vector<int> before_;
    int count_ = 0;
};

Point corner_of(const HexCell& cell, const Point& unit) {
    return {cell.corner[0] + cell.size * unit[0], cell.corner[1] + cell.size * unit[1],
            cell.corner[2] + cell.size * unit[2]};
}

/// Adds the used points in the middle of the edges and faces of one coarse cell.
void collect_hanging(const HexCell& cell, const UsedPoints& points,
                     std::vector<HangingNode>& hanging) {
    const auto add = [&](const Point& middle, std::initializer_list<Point> masters) {
        if (!points.contains(middle)) return;
        HangingNode node;
        node.vertex = points.number_of(middle);
        for (const Point& master : masters)
            node.masters[static_cast<std::size_t>(node.num_masters++)] = points.number_of(master);
        node.weight = 1.0 / node.num_masters;
        hanging.push_back(node);
    };
    const int half = cell.size / 2;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
        // the four edges along `axis`
        for (int k = 0; k < 4; ++k) {
            Point low{0, 0, 0};
            low[u] = k % 2;
            low[v] = k / 2;
            Point high = low;
            high[axis] = 1;
            Point middle = corner_of(cell, low);
            middle[axis] += half;
            add(middle, {corner_of(cell, low), corner_of(cell, high)});
        }
        // the two faces across it
        for (int side = 0; side < 2; ++side) {
            Point c00{0, 0, 0};
            c00[axis] = side;
            Point c10 = c00, c01 = c00, c11 = c00;
            c10[u] = c11[u] = 1;
            c01[v] = c11[v] = 1;
            Point middle = corner_of(cell, c00);
            middle[u] += half;
            middle[v] += half;
            add(middle, {corner_of(cell, c00), corner_of(cell, c10), corner_of(cell, c11),
                         corner_of(cell, c01)});
        }
    }
}

bool has_lower_vertex(const HangingNode& a, const HangingNode& b) { return a.vertex < b.vertex; }

[[maybe_unused]] bool are_masters_free(const std::vector<HangingNode>& sorted) {
    const auto is_hanging = [&](int vertex) {
        HangingNode probe;
        probe.vertex = vertex;
        return std::binary_search(sorted.begin(), sorted.end(), probe, has_lower_vertex);
    };
    return std::none_of(sorted.begin(), sorted.end(), [&](const HangingNode& node) {
        const auto masters = node.masters.begin();
        return std::any_of(masters, masters + node.num_masters, is_hanging);
    });
}

}  // namespace

void require_countable_cells(std::size_t num_cells) {
    constexpr std::size_t kMaxCells = std::numeric_limits<int>::max() / 8;
    if (num_cells > kMaxCells)
        throw InputError("", "the mesh would have " + std::to_string(num_cells) +
                                 " cells, but indices reach only " + std::to_string(kMaxCells) +
                                 "; lower the resolution");
}

VolumeMesh mesh_of_cells(const std::vector<HexCell>& cells, const std::array<int, 3>& lattice_size,
                         const Eigen::Vector3d& origin, double spacing) {
    require_countable_cells(cells.size());
    // number the corners in use
    UsedPoints points(lattice_size);
    for (const HexCell& cell : cells)
        for (const Point& unit : kCorners) points.insert(corner_of(cell, unit));
    points.number();

    VolumeMesh mesh;
    mesh.kind = ElementKind::Hex8;
    mesh.vertices.reserve(static_cast<std::size_t>(points.count()));
    points.for_each([&](const Point& p) {
        mesh.vertices.emplace_back(origin + spacing * Eigen::Vector3d(p[0], p[1], p[2]));
    });
    mesh.elements.reserve(cells.size() * 8);
    for (const HexCell& cell : cells)
        for (const Point& unit : kCorners)
            mesh.elements.push_back(points.number_of(corner_of(cell, unit)));

    // hanging nodes; neighbours of equal size find the same node with the same masters
    for (const HexCell& cell : cells)
        if (cell.size > 1) collect_hanging(cell, points, mesh.hanging);
    std::stable_sort(mesh.hanging.begin(), mesh.hanging.end(), has_lower_vertex);
    const auto same_vertex = [](const HangingNode& a, const HangingNode& b) {
        return a.vertex == b.vertex;
    };
    mesh.hanging.erase(std::unique(mesh.hanging.begin(), mesh.hanging.end(), same_vertex),
                       mesh.hanging.end());
    mesh.hanging.shrink_to_fit();
    // balance over vertices sees to it, docs/geometry-meshing.md section "Graded hexes"
    assert(are_masters_free(mesh.hanging));
    return mesh;
}

}  // namespace pliant
