#include "contact/point_grid.h"
#include "pliant/contact/build_pointshell.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>

namespace pliant {
namespace {

// Selects points one by one. Only points nearer to a new one than the farthest of all was to its
// own nearest can change, so a grid with cells of that length finds them; it is sorted anew when
// the length has halved.
class FarthestPoints {
public:
    explicit FarthestPoints(const std::vector<Eigen::Vector3f>& points) : points_(points) {
        arrays_.resize(static_cast<int>(points.size()));
        for (std::size_t i = 0; i < points.size(); ++i) {
            arrays_.x[i] = points[i].x();
            arrays_.y[i] = points[i].y();
            arrays_.z[i] = points[i].z();
        }
        square_.assign(points.size(), std::numeric_limits<double>::infinity());
        cell_of_.resize(points.size());
    }

    std::vector<int> order();

private:
    // Squared distance when it was entered; the present one may be less. The largest comes first,
    // of equal ones the lowest index.
    struct Entry {
        double square;
        int point;
        bool operator<(const Entry& other) const {
            return square != other.square ? square < other.square : point > other.point;
        }
    };

    [[nodiscard]] int first() const;
    [[nodiscard]] double square_between(int a, int b) const {
        return (points_[static_cast<std::size_t>(a)].cast<double>() -
                points_[static_cast<std::size_t>(b)].cast<double>())
            .squaredNorm();
    }
    void sort_points(double cell);
    void select(int point, double reach);

    const std::vector<Eigen::Vector3f>& points_;
    PointArrays arrays_;
    std::vector<double> square_;  // to the nearest selected point; −1 for those
    std::unique_ptr<PointGrid> grid_;
    std::vector<int> cell_of_;
};

int FarthestPoints::first() const {
    Eigen::AlignedBox3f box;
    for (const Eigen::Vector3f& x : points_) box.extend(x);
    const Eigen::Vector3d centre = box.cast<double>().center();
    int farthest = 0;
    double largest = -1;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const double square = (points_[i].cast<double>() - centre).squaredNorm();
        if (square <= largest) continue;
        largest = square;
        farthest = static_cast<int>(i);
    }
    return farthest;
}

void FarthestPoints::sort_points(double cell) {
    grid_ = std::make_unique<PointGrid>(arrays_.x, arrays_.y, arrays_.z, cell);
    for (int c = 0; c < grid_->num_cells(); ++c) {
        const PlaceRange own = grid_->places(c);
        for (int p = own.begin; p < own.end; ++p)
            cell_of_[static_cast<std::size_t>(grid_->order()[static_cast<std::size_t>(p)])] = c;
    }
}

void FarthestPoints::select(int point, double reach) {
    // rounding of the cells' borders must not hide a neighbour
    const double needed = reach * (1 + 1e-6);
    if (needed > grid_->cell_size() || needed < 0.5 * grid_->cell_size()) sort_points(needed);
    square_[static_cast<std::size_t>(point)] = -1;
    const int cell = cell_of_[static_cast<std::size_t>(point)];
    PointGrid::Walk walk(*grid_, cell);
    for (const PlaceRange& row : walk.around(cell))
        for (int p = row.begin; p < row.end; ++p) {
            const int other = grid_->order()[static_cast<std::size_t>(p)];
            double& square = square_[static_cast<std::size_t>(other)];
            square = std::min(square, square_between(point, other));
        }
}

std::vector<int> FarthestPoints::order() {
    std::vector<int> order;
    if (points_.empty()) return order;
    order.reserve(points_.size());
    Eigen::AlignedBox3f box;
    for (const Eigen::Vector3f& x : points_) box.extend(x);
    const double diagonal = double{box.diagonal().norm()};
    sort_points(diagonal);
    order.push_back(first());
    select(order.front(), diagonal);

    std::vector<Entry> entries;
    for (std::size_t i = 0; i < points_.size(); ++i)
        if (square_[i] >= 0) entries.push_back({square_[i], static_cast<int>(i)});
    std::priority_queue<Entry> queue(std::less<Entry>(), std::move(entries));
    while (!queue.empty()) {
        const Entry top = queue.top();
        queue.pop();
        const double square = square_[static_cast<std::size_t>(top.point)];
        if (square < top.square) {
            queue.push({square, top.point});
            continue;
        }
        order.push_back(top.point);
        // copies of selected points change nothing
        if (square > 0) select(top.point, std::sqrt(square));
    }
    return order;
}

}  // namespace

std::vector<int> farthest_point_order(const std::vector<Eigen::Vector3f>& points) {
    return FarthestPoints(points).order();
}

}  // namespace pliant
