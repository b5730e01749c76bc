#pragma once

#include "pliant/contact/sphere_carry.h"
#include "pliant/geometry/surface_check.h"

#include <random>

/// Rough sheets with two faces that cross a sphere within one step: the table of
/// docs/contact-moving.md.
namespace pliant::test {

struct RoughSheetCounts {
    int cases = 0, wrong_side = 0, intersecting = 0;
};

class RoughSheets {
public:
    static constexpr int kSquares = 8;
    static constexpr double kSpacing = 0.05, kRadius = 0.03;

    RoughSheets() : surface_(make_sheet()), near_({&surface_}) {}

    RoughSheetCounts run(int cases, unsigned seed, const SphereCarryOptions& given, bool has_ccd,
                         bool has_pop_out) {
        SphereCarryOptions options = given;
        options.radius = kRadius;
        random_.seed(seed);
        RoughSheetCounts counts;
        while (counts.cases < cases) {
            const Eigen::Vector3d p = Eigen::Vector3d::Zero();
            // where and when the middle of the sheet meets the centre
            Eigen::Vector3d move(uniform(-0.4, 0.4), uniform(-0.4, 0.4),
                                 uniform(0, 1) < 0.5 ? 1 : -1);
            move *= uniform(0.1, 0.6) / move.norm();
            const Eigen::Vector3d at(uniform(-0.06, 0.06), uniform(-0.06, 0.06), 0);
            const double rough = uniform(0, 0.04);
            for (double& h : heights_) h = uniform(-rough, rough);
            place(-uniform(0, 1.2) * move - at);
            surface_.restart();
            near_.forget();
            near_.require(p, kRadius, 0);
            if (near_.clearance(p) < kRadius) continue;
            const double side = above(p);
            shift(move);
            surface_.advance();
            near_.forget();
            near_.gather_swept(p, 1.2 * kRadius);
            Eigen::Vector3d x = p;
            if (has_ccd) x = carry_sphere(near_, x, options).position;
            if (has_pop_out) x = pop_out(near_, x, options).position;
            counts.cases += 1;
            near_.require(x, kRadius, 0);
            const bool is_wrong = side * above(x) < 0;
            counts.wrong_side += is_wrong;
            counts.intersecting += !is_wrong && near_.clearance(x) < 0.99 * kRadius;
        }
        return counts;
    }

private:
    static SurfaceMesh make_sheet() {
        SurfaceMesh mesh;
        for (int i = 0; i <= kSquares; ++i)
            for (int j = 0; j <= kSquares; ++j) mesh.vertices.emplace_back(j, i, 0);
        for (int i = 0; i < kSquares; ++i)
            for (int j = 0; j < kSquares; ++j) {
                const int a = i * (kSquares + 1) + j, b = a + 1, c = b + kSquares + 1, d = c - 1;
                mesh.triangles.push_back({a, b, c});
                mesh.triangles.push_back({a, c, d});
            }
        return double_faced(mesh);
    }
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }
    void place(const Eigen::Vector3d& origin) {
        std::size_t v = 0;
        for (int i = 0; i <= kSquares; ++i)
            for (int j = 0; j <= kSquares; ++j, ++v)
                vertices_[v] =
                    origin + Eigen::Vector3d(kSpacing * (j - 0.5 * kSquares),
                                             kSpacing * (i - 0.5 * kSquares), heights_[v]);
        write();
    }
    void shift(const Eigen::Vector3d& move) {
        for (Eigen::Vector3d& x : vertices_) x += move;
        write();
    }
    void write() {
        std::vector<float> x;
        for (const Eigen::Vector3d& v : vertices_)
            for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(v[k]));
        surface_.set_positions(x);
    }
    /// 1 above the sheet, −1 below it, 0 beside it.
    [[nodiscard]] double above(const Eigen::Vector3d& x) const {
        const Eigen::Vector3d& low = vertices_.front();
        const int j = static_cast<int>(std::floor((x.x() - low.x()) / kSpacing));
        const int i = static_cast<int>(std::floor((x.y() - (low.y())) / kSpacing));
        if (i < 0 || j < 0 || i >= kSquares || j >= kSquares) return 0;
        const auto at = [&](int di, int dj) {
            return vertices_[static_cast<std::size_t>((i + di) * (kSquares + 1) + j + dj)];
        };
        const Eigen::Vector3d a = at(0, 0), c = at(1, 1);
        const double u = (x.x() - a.x()) / kSpacing, v = (x.y() - a.y()) / kSpacing;
        const Eigen::Vector3d b = u > v ? at(0, 1) : at(1, 0);
        const double z = u > v ? a.z() + u * (b.z() - a.z()) + v * (c.z() - b.z())
                               : a.z() + v * (b.z() - a.z()) + u * (c.z() - b.z());
        return x.z() > z ? 1 : -1;
    }

    VertexSurface surface_;
    SurfaceNeighbourhood near_;
    std::array<Eigen::Vector3d, (kSquares + 1) * (kSquares + 1)> vertices_;
    std::array<double, (kSquares + 1) * (kSquares + 1)> heights_;
    std::mt19937 random_;
};

}  // namespace pliant::test
