#include "contact/surface_samples.h"

#include "contact/repulsion.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

// Points by cell, chained, for insertion; the 27 cells around a place hold all within `cell`.
class CellChains {
public:
    CellChains(int capacity, double cell) : inverse_cell_(1 / cell) {
        std::size_t size = 64;
        while (size < 2 * static_cast<std::size_t>(capacity)) size *= 2;
        heads_.assign(size, -1);
    }

    void insert(const PointArrays& points, int i) {
        const auto k = static_cast<std::size_t>(i);
        next_.resize(std::max(next_.size(), k + 1), -1);
        int& head = heads_[bucket(along(points.x[k]), along(points.y[k]), along(points.z[k]))];
        next_[k] = head;
        head = i;
    }

    // Whether `test(i)` holds for a point of the cells around; some are asked more than once.
    template <class Test>
    [[nodiscard]] bool any_around(float x, float y, float z, Test&& test) const {
        const std::int64_t cx = along(x), cy = along(y), cz = along(z);
        for (std::int64_t k = cz - 1; k <= cz + 1; ++k)
            for (std::int64_t j = cy - 1; j <= cy + 1; ++j)
                for (std::int64_t i = cx - 1; i <= cx + 1; ++i)
                    for (int at = heads_[bucket(i, j, k)]; at >= 0;
                         at = next_[static_cast<std::size_t>(at)])
                        if (test(at)) return true;
        return false;
    }

private:
    [[nodiscard]] std::int64_t along(float value) const {
        return static_cast<std::int64_t>(std::floor(double{value} * inverse_cell_));
    }
    [[nodiscard]] std::size_t bucket(std::int64_t i, std::int64_t j, std::int64_t k) const {
        const std::uint64_t mixed = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u ^
                                    static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fu ^
                                    static_cast<std::uint64_t>(k) * 0x165667b19e3779f9u;
        return static_cast<std::size_t>(mixed ^ (mixed >> 29)) & (heads_.size() - 1);
    }
    double inverse_cell_;
    std::vector<int> heads_, next_;
};

// Fisher and Yates; std::shuffle differs between libraries.
std::vector<int> shuffled(int count, std::mt19937_64& random) {
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(random() % i)]);
    return order;
}

}  // namespace

PointArrays stratified_samples(const SurfaceMesh& surface, int count, std::mt19937_64& random) {
    // area up to the end of each triangle
    std::vector<double> end(surface.triangles.size());
    double area = 0;
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Eigen::Vector3d &a = surface.corner(t, 0), &b = surface.corner(t, 1),
                              &c = surface.corner(t, 2);
        area += 0.5 * (b - a).cross(c - a).norm();
        end[static_cast<std::size_t>(t)] = area;
    }

    PointArrays samples;
    samples.resize(count);
    const double golden = 0.6180339887498949, shift = next_unit(random);
    std::size_t t = 0;
    for (int i = 0; i < count; ++i) {
        const double u = (i + next_unit(random)) * area / count;
        while (t + 1 < end.size() && end[t] <= u) ++t;
        // in a triangle: along by the area passed, across by the golden ratio, which covers large
        // triangles evenly
        const double begin = t > 0 ? end[t - 1] : 0;
        const double along = std::sqrt(std::clamp((u - begin) / (end[t] - begin), 0.0, 1.0));
        const double across = std::fmod(i * golden + shift, 1.0);
        const int triangle = static_cast<int>(t);
        const Eigen::Vector3d x = (1 - along) * surface.corner(triangle, 0) +
                                  along * ((1 - across) * surface.corner(triangle, 1) +
                                           across * surface.corner(triangle, 2));
        const auto k = static_cast<std::size_t>(i);
        samples.x[k] = static_cast<float>(x.x());
        samples.y[k] = static_cast<float>(x.y());
        samples.z[k] = static_cast<float>(x.z());
    }
    return samples;
}

void fill_gaps(PointArrays& points, const PointArrays& candidates, int count, double spacing,
               std::mt19937_64& random) {
    assert(candidates.size() >= count);
    CellChains chains(points.size() + count, spacing);
    for (int i = 0; i < points.size(); ++i) chains.insert(points, i);

    // candidates not taken yet and, once one was refused, the square of its distance from the point
    // that was in its way: that radius must be reached before another try
    struct Waiting {
        int candidate;
        float square;
    };
    std::vector<Waiting> waiting;
    for (const int candidate : shuffled(candidates.size(), random))
        waiting.push_back({candidate, std::numeric_limits<float>::infinity()});
    const int wanted = points.size() + count;
    // most are found above 0.6 spacings; what is left near zero are copies of each other
    for (double radius = spacing; points.size() < wanted; radius *= 0.95) {
        if (radius < 0.05 * spacing) radius = 0;
        const auto square = static_cast<float>(radius * radius);
        std::size_t kept = 0;
        for (const Waiting& next : waiting) {
            if (points.size() == wanted) break;
            float blocked = next.square;
            const auto c = static_cast<std::size_t>(next.candidate);
            const float x = candidates.x[c], y = candidates.y[c], z = candidates.z[c];
            const auto is_in_the_way = [&](int other) {
                const auto k = static_cast<std::size_t>(other);
                const float dx = points.x[k] - x, dy = points.y[k] - y, dz = points.z[k] - z;
                const float d2 = dx * dx + dy * dy + dz * dz;
                if (d2 >= square || !is_same_side(points.nx[k] * candidates.nx[c] +
                                                  points.ny[k] * candidates.ny[c] +
                                                  points.nz[k] * candidates.nz[c]))
                    return false;
                blocked = d2;
                return true;
            };
            if (blocked < square || chains.any_around(x, y, z, is_in_the_way)) {
                waiting[kept++] = {next.candidate, blocked};
                continue;
            }
            points.push_back(candidates, next.candidate);
            chains.insert(points, points.size() - 1);
        }
        waiting.resize(kept);
    }
}

}  // namespace pliant
