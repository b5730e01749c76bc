#include "contact/normal_spread.h"

#include "contact/point_grid.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pliant {

namespace {

constexpr std::size_t kNeighbours = 8;
constexpr float kFlatSpread = 0.93969262f;  ///< cosine of 20°
constexpr float kOtherSideOfSheet = -0.5f;  ///< of 120°
constexpr double kSpreadReach = 2;          ///< spacings that hold the neighbours of even shells

struct SpreadNeighbour {
    float distance = std::numeric_limits<float>::infinity();  ///< squared
    int point = -1;
};

}  // namespace

std::vector<float> normal_spread(const Pointshell& shell) {
    const auto n = static_cast<std::size_t>(shell.num_points());
    std::vector<float> spread(n, 1.0f), x(n), y(n), z(n);
    if (n == 0) return spread;
    Eigen::Vector3f low = shell.points.front(), high = low;
    for (std::size_t i = 0; i < n; ++i) {
        const Eigen::Vector3f& p = shell.points[i];
        x[i] = p.x();
        y[i] = p.y();
        z[i] = p.z();
        low = low.cwiseMin(p);
        high = high.cwiseMax(p);
    }
    // a shell that does not say: the surface of its box, evenly
    const Eigen::Vector3d size = (high - low).cast<double>();
    const double area = 2 * (size.x() * size.y() + size.y() * size.z() + size.z() * size.x());
    double spacing = shell.spacing > 0 ? double{shell.spacing} : std::sqrt(area / double(n));
    spacing = std::max(spacing, 1e-6 * std::max(size.maxCoeff(), 1e-30));
    const PointGrid grid(x, y, z, kSpreadReach * spacing);
    const std::vector<int>& order = grid.order();
    PointGrid::Walk walk(grid, 0);
    for (int cell = 0; cell < grid.num_cells(); ++cell) {
        const std::array<PlaceRange, 9> rows = walk.around(cell);
        const PlaceRange own = grid.places(cell);
        for (int place = own.begin; place < own.end; ++place) {
            const auto i = static_cast<std::size_t>(order[static_cast<std::size_t>(place)]);
            std::array<SpreadNeighbour, kNeighbours> nearest;
            for (const PlaceRange& row : rows)
                for (int other = row.begin; other < row.end; ++other) {
                    const int j = order[static_cast<std::size_t>(other)];
                    const auto k = static_cast<std::size_t>(j);
                    if (k == i || shell.normals[i].dot(shell.normals[k]) < kOtherSideOfSheet)
                        continue;
                    const float distance = (shell.points[k] - shell.points[i]).squaredNorm();
                    if (!(distance < nearest.back().distance)) continue;
                    nearest.back() = {distance, j};
                    for (std::size_t m = kNeighbours - 1;
                         m > 0 && nearest[m].distance < nearest[m - 1].distance; --m)
                        std::swap(nearest[m], nearest[m - 1]);
                }
            float least = 1;
            for (const SpreadNeighbour& near : nearest)
                if (near.point >= 0)
                    least = std::min(
                        least,
                        shell.normals[i].dot(shell.normals[static_cast<std::size_t>(near.point)]));
            if (least < kFlatSpread) spread[i] = least;
        }
    }
    return spread;
}

}  // namespace pliant
