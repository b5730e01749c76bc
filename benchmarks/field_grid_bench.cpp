#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/field_bench.h"
#include "pliant/core/simd.h"
#include "pliant/field/distance_grid.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

enum class GridPlaces { Coherent, NearSurface, Random };
enum class Ask { Value, Gradient, SingleValue, SingleGradient };

constexpr int kGridPoints = 16384, kGridBatch = 256;

/// A torus in n³ cells, two thirds as wide as the box. Dense grids are kept: they take a while.
std::shared_ptr<const DistanceGrid> torus_grid(int n, GridStorage storage) {
    static std::map<std::pair<int, GridStorage>, std::shared_ptr<const DistanceGrid>> kept;
    auto& grid = kept[{n, storage}];
    if (grid) return grid;
    if (storage == GridStorage::Sparse) {
        const auto dense = torus_grid(n, GridStorage::Dense);
        return grid = std::make_shared<const DistanceGrid>(
                   DistanceGrid::sparse(*dense, 4 * dense->frame().cell));
    }
    GridFrame frame;
    frame.low = {-0.5, -0.5, -0.5};
    frame.cell = 1.0 / n;
    frame.cells = {n, n, n};
    std::vector<float> values;
    for (int k = 0; k <= n; ++k)
        for (int j = 0; j <= n; ++j)
            for (int i = 0; i <= n; ++i) {
                const Vector3d x = frame.vertex(i, j, k);
                const double across = std::hypot(x.x(), x.y()) - 0.23;
                values.push_back(static_cast<float>(std::hypot(across, x.z()) - 0.1));
            }
    return grid = std::make_shared<const DistanceGrid>(
               DistanceGrid::dense(frame, std::move(values), 0.16f));
}

struct Points {
    Points(GridPlaces where, double cell) {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(0, 1);
        for (int i = 0; i < kGridPoints; ++i) {
            // a lattice through the surface, points all over the surface, points all over the box
            Vector3d p = Vector3d(0.33, 0, 0) +
                         0.5 * cell * Vector3d(i % 25 - 12, i / 25 % 25 - 12, i / 625 - 12);
            if (where == GridPlaces::NearSurface) {
                const double u = 2 * std::numbers::pi * uniform(random),
                             v = 2 * std::numbers::pi * uniform(random);
                const double tube = 0.1 + 2 * cell * (uniform(random) - 0.5);
                const double reach = 0.23 + tube * std::cos(v);
                p = {reach * std::cos(u), reach * std::sin(u), tube * std::sin(v)};
            } else if (where == GridPlaces::Random) {
                p = Vector3d(uniform(random), uniform(random), uniform(random)).array() - 0.5;
            }
            x.push_back(static_cast<float>(p.x()));
            y.push_back(static_cast<float>(p.y()));
            z.push_back(static_cast<float>(p.z()));
        }
        for (std::vector<float>* out : {&distance, &gx, &gy, &gz}) out->resize(x.size());
    }
    std::vector<float> x, y, z, distance, gx, gy, gz;
};

/// The obvious loop over points and eight corners, as the yardstick.
float plain_value(const DistanceGrid& grid, float x, float y, float z) {
    const GridArrays& a = grid.arrays();
    const auto& n = a.frame.cells;
    const auto inverse = static_cast<float>(1 / a.frame.cell);
    const float u[] = {(x - static_cast<float>(a.frame.low.x())) * inverse,
                       (y - static_cast<float>(a.frame.low.y())) * inverse,
                       (z - static_cast<float>(a.frame.low.z())) * inverse};
    int i[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (!(u[axis] >= 0 && u[axis] <= static_cast<float>(n[axis]))) return 1;
        i[axis] = std::min(static_cast<int>(u[axis]), n[axis] - 1);
    }
    const float* base = a.coarse.data();
    int row = n[0] + 1, slice = row * (n[1] + 1);
    float size = 1;
    if (a.storage == GridStorage::Dense) {
        base += (static_cast<std::ptrdiff_t>(i[2]) * (n[1] + 1) + i[1]) * row + i[0];
    } else {
        const int bx = i[0] / 8, by = i[1] / 8, bz = i[2] / 8;
        const int brick =
            a.brick_of_block[static_cast<std::size_t>((bz * (n[1] / 8) + by) * (n[0] / 8) + bx)];
        if (brick >= 0) {
            row = 9;
            slice = 81;
            base = a.bricks.data() + std::ptrdiff_t{brick} * kBrickFloats + i[2] % 8 * slice +
                   i[1] % 8 * row + i[0] % 8;
        } else {
            row = n[0] / 8 + 1;
            slice = row * (n[1] / 8 + 1);
            base += bz * slice + by * row + bx;
            for (int& cell : i) cell /= 8;
            size = 8;
        }
    }
    float sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        float weight = 1;
        for (int axis = 0; axis < 3; ++axis) {
            const float t = u[axis] / size - static_cast<float>(i[axis]);
            weight *= corner >> axis & 1 ? t : 1 - t;
        }
        sum += weight * base[(corner & 1) + (corner >> 1 & 1) * row + (corner >> 2) * slice];
    }
    return sum;
}

Workload look_up_workload(int n, GridStorage storage, GridPlaces where, Ask ask) {
    const auto grid = torus_grid(n, storage);
    const auto p = std::make_shared<Points>(where, grid->frame().cell);
    const int batch = ask == Ask::Value || ask == Ask::Gradient ? kGridBatch : 1;
    const bool with_gradient = ask == Ask::Gradient || ask == Ask::SingleGradient;
    Workload workload;
    workload.operations = workload.reference_operations = kGridPoints;
    workload.run = [=] {
        for (int i = 0; i < kGridPoints; i += batch) {
            const PointBatch points = {p->x.data() + i, p->y.data() + i, p->z.data() + i, batch};
            float* const distance = p->distance.data() + i;
            if (with_gradient)
                grid->samples(points,
                              {distance, p->gx.data() + i, p->gy.data() + i, p->gz.data() + i});
            else
                grid->distances(points, distance);
        }
        return double{simd_sum(p->distance.data(), p->distance.size())} +
               double{simd_sum(p->gx.data(), p->gx.size())};
    };
    workload.run_reference = [=] {
        double sum = 0;
        for (std::size_t i = 0; i < p->x.size(); ++i)
            sum += double{plain_value(*grid, p->x[i], p->y[i], p->z[i])};
        return sum;
    };
    return workload;
}

Benchmark look_up(int n, GridStorage storage, GridPlaces where, Ask ask, double max_ns) {
    static const std::map<GridPlaces, std::string> places = {
        {GridPlaces::Coherent, "coherent"},
        {GridPlaces::NearSurface, "near the surface"},
        {GridPlaces::Random, "random"}};
    static const std::map<Ask, std::string> questions = {{Ask::Value, "value"},
                                                         {Ask::Gradient, "gradient"},
                                                         {Ask::SingleValue, "single value"},
                                                         {Ask::SingleGradient, "single gradient"}};
    return {.module = "field",
            .name = "look-up/" + questions.at(ask) + "/" +
                    (storage == GridStorage::Dense ? "dense" : "sparse") +
                    "/resolution=" + std::to_string(n) + "/" + places.at(where),
            .setup = [=] { return look_up_workload(n, storage, where, ask); },
            .reference = "plain loop, value only",
            .max_us = 1e-3 * max_ns,
            .samples = 100};
}

}  // namespace

std::vector<Benchmark> field_grid_benchmarks() {
    std::vector<Benchmark> all;
    for (const GridStorage storage : {GridStorage::Dense, GridStorage::Sparse}) {
        for (const GridPlaces where :
             {GridPlaces::Coherent, GridPlaces::NearSurface, GridPlaces::Random}) {
            // targets are for 128³ and points that share cache lines with others
            const double target = where == GridPlaces::Random ? 0 : 1;
            all.push_back(look_up(128, storage, where, Ask::Value, 8 * target));
            all.push_back(look_up(128, storage, where, Ask::Gradient, 20 * target));
            all.push_back(look_up(128, storage, where, Ask::SingleValue, 15 * target));
        }
        all.push_back(look_up(128, storage, GridPlaces::NearSurface, Ask::SingleGradient, 0));
        all.push_back(look_up(256, storage, GridPlaces::NearSurface, Ask::Value, 0));
        all.push_back(look_up(256, storage, GridPlaces::NearSurface, Ask::Gradient, 0));
    }
    return all;
}

}  // namespace pliant::bench
