#pragma once

#include "pliant/field/distance_field.h"

#include <functional>
#include <random>

namespace pliant::test {

/// Points with the components apart.
struct QueryPoints {
    std::vector<float> x, y, z;
    void add(const Eigen::Vector3d& p) {
        x.push_back(static_cast<float>(p[0]));
        y.push_back(static_cast<float>(p[1]));
        z.push_back(static_cast<float>(p[2]));
    }
    [[nodiscard]] int count() const { return static_cast<int>(x.size()); }
    [[nodiscard]] PointBatch batch() const { return {x.data(), y.data(), z.data(), count()}; }
    [[nodiscard]] Eigen::Vector3d at(int i) const { return {x[i], y[i], z[i]}; }
};

inline QueryPoints points_in_cube(int count, double half_side, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-half_side, half_side);
    QueryPoints points;
    for (int i = 0; i < count; ++i) {
        const double a = uniform(generator), b = uniform(generator), c = uniform(generator);
        points.add({a, b, c});
    }
    return points;
}

inline std::vector<float> distances_of(const DistanceField& field, const QueryPoints& points) {
    std::vector<float> distance(points.x.size());
    field.distances(points.batch(), distance.data());
    return distance;
}

struct QuerySamples {
    std::vector<float> distance, gx, gy, gz;
    [[nodiscard]] Eigen::Vector3d gradient(int i) const { return {gx[i], gy[i], gz[i]}; }
};
inline QuerySamples samples_of(const DistanceField& field, const QueryPoints& points) {
    const std::size_t n = points.x.size();
    QuerySamples s{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n),
                   std::vector<float>(n)};
    field.samples(points.batch(), {s.distance.data(), s.gx.data(), s.gy.data(), s.gz.data()});
    return s;
}

/// A field by any function of the point.
class LambdaField final : public DistanceField {
public:
    explicit LambdaField(std::function<double(const Eigen::Vector3d&)> value,
                         CullingMargin margin = {},
                         const Box& box = Box(Eigen::Vector3d::Constant(-1),
                                              Eigen::Vector3d::Constant(1)))
        : value_(std::move(value)), margin_(margin), box_(box) {}
    void distances(const PointBatch& p, float* distance) const noexcept override {
        for (int i = 0; i < p.count; ++i)
            distance[i] = static_cast<float>(value_({p.x[i], p.y[i], p.z[i]}));
    }
    void samples(const PointBatch& p, const SampleBatch& s) const noexcept override {
        distances(p, s.distance);
        for (int i = 0; i < p.count; ++i) s.gx[i] = s.gy[i] = s.gz[i] = 0;
    }
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return margin_; }
    [[nodiscard]] double resolution() const noexcept override { return 0; }

private:
    std::function<double(const Eigen::Vector3d&)> value_;
    CullingMargin margin_;
    Box box_;
};

}  // namespace pliant::test
