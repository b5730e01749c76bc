#pragma once

#include "pliant/field/distance_grid.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

/// Grids sampled from analytic solids, and points to ask them about.
namespace pliant::grid_test {

using Solid = std::function<double(const Eigen::Vector3d&)>;  ///< distance [m], negative inside

inline Solid ball(const Eigen::Vector3d& centre, double radius) {
    return [=](const Eigen::Vector3d& x) { return (x - centre).norm() - radius; };
}
inline Solid capsule(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double radius) {
    return [=](const Eigen::Vector3d& x) {
        const double t = (x - a).dot(b - a) / (b - a).squaredNorm();
        return (x - a - std::clamp(t, 0.0, 1.0) * (b - a)).norm() - radius;
    };
}
inline Solid box(const Eigen::Vector3d& centre, const Eigen::Vector3d& half) {
    return [=](const Eigen::Vector3d& x) {
        const Eigen::Vector3d e = (x - centre).cwiseAbs() - half;
        return e.cwiseMax(0).norm() + std::min(e.maxCoeff(), 0.0);
    };
}
/// Distances outside; inside a bound that changes no faster than distances do.
inline Solid join(const std::vector<Solid>& solids) {
    return [=](const Eigen::Vector3d& x) {
        double d = solids.front()(x);
        for (const Solid& solid : solids) d = std::min(d, solid(x));
        return d;
    };
}

/// A box with its lowest corner at an odd place, `n` cells of 1 cm along each axis.
inline GridFrame frame_of(int n) {
    GridFrame frame;
    frame.low = {-0.31, 0.17, 0.52};
    frame.cell = 0.01;
    frame.cells = {n, n, n};
    return frame;
}

/// Thin needles, a plate thinner than a cell, a speck and a body in the middle of the box.
inline Solid spiky_solid(const GridFrame& frame) {
    const Eigen::Vector3d c = frame.box().center();
    const double h = frame.cell;
    std::vector<Solid> parts = {ball(c, 4 * h), box(c + Eigen::Vector3d(5 * h, 0, 0),
                                                    Eigen::Vector3d(3 * h, 3 * h, 0.3 * h))};
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 12; ++i) {
        const Eigen::Vector3d way =
            Eigen::Vector3d(normal(random), normal(random), normal(random)).normalized();
        parts.push_back(capsule(c, c + 12 * h * way, (0.2 + 0.1 * i) * h));
    }
    // specks at a vertex and in the middle of a cell
    const Eigen::Vector3d vertex =
        frame.vertex(frame.cells[0] / 2 - 9, frame.cells[1] / 2 - 9, frame.cells[2] / 2 + 9);
    parts.push_back(ball(vertex, 0.05 * h));
    parts.push_back(ball(vertex + Eigen::Vector3d(4.5 * h, -3.5 * h, 0.5 * h), 0.9 * h));
    return join(parts);
}

inline DistanceGrid sample_dense(const GridFrame& frame, const Solid& solid, double boundary) {
    std::vector<float> values;
    for (int k = 0; k <= frame.cells[2]; ++k)
        for (int j = 0; j <= frame.cells[1]; ++j)
            for (int i = 0; i <= frame.cells[0]; ++i)
                values.push_back(static_cast<float>(solid(frame.vertex(i, j, k))));
    return DistanceGrid::dense(frame, std::move(values), static_cast<float>(boundary));
}

/// Spiky solid in 64³ cells, its box 10 cells away.
struct SpikyGrids {
    GridFrame frame = frame_of(64);
    Solid solid = spiky_solid(frame);
    DistanceGrid dense = sample_dense(frame, solid, 10 * frame.cell);
    DistanceGrid sparse = DistanceGrid::sparse(dense, 2 * frame.cell);
};

/// Points with room for their answers.
struct Points {
    std::vector<float> x, y, z, distance, gx, gy, gz;

    void add(const Eigen::Vector3d& p) {
        x.push_back(static_cast<float>(p.x()));
        y.push_back(static_cast<float>(p.y()));
        z.push_back(static_cast<float>(p.z()));
    }
    [[nodiscard]] int count() const { return static_cast<int>(x.size()); }
    [[nodiscard]] Eigen::Vector3d point(std::size_t i) const { return {x[i], y[i], z[i]}; }
    [[nodiscard]] Eigen::Vector3d gradient(std::size_t i) const { return {gx[i], gy[i], gz[i]}; }
    [[nodiscard]] PointBatch batch(int begin, int size) const {
        return {x.data() + begin, y.data() + begin, z.data() + begin, size};
    }
    void make_room() {
        for (std::vector<float>* out : {&distance, &gx, &gy, &gz}) out->assign(x.size(), -7.0f);
    }
    void ask_distances(const DistanceField& field) {
        make_room();
        field.distances(batch(0, count()), distance.data());
    }
    void ask_samples(const DistanceField& field) {
        make_room();
        field.samples(batch(0, count()), {distance.data(), gx.data(), gy.data(), gz.data()});
    }
};

/// Half as wide as the box, around the solid.
inline Box middle(const GridFrame& frame) {
    const Box box = frame.box();
    return {box.center() - 0.25 * box.sizes(), box.center() + 0.25 * box.sizes()};
}

/// Uniform in a box.
inline Points random_points(const Box& box, int count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    Points points;
    for (int i = 0; i < count; ++i) {
        const Eigen::Vector3d t(uniform(random), uniform(random), uniform(random));
        points.add(box.min() + t.cwiseProduct(box.sizes()));
    }
    return points;
}

}  // namespace pliant::grid_test
