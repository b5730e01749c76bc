#include <cmath>
#include <memory>
#include <random>

#include "benchmarks/bench.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_query.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr int kQueryPoints = 20000, kPerSample = 200;

SurfaceMesh heart_70k() { return make_shape("heart", 72); }

enum class QueryPlaces { Near, Box, Far };

/// Near: within 1 % of the longest side of the surface; Box: anywhere in its box; Far: five sides
/// away.
std::vector<Vector3d> points(const SurfaceMesh& mesh, QueryPlaces where) {
    std::mt19937_64 engine(1);
    const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0; };
    const Box box = bounding_box(mesh.vertices);
    const double size = box.sizes().maxCoeff();
    std::vector<Vector3d> result;
    while (static_cast<int>(result.size()) < kQueryPoints) {
        const double u = uniform(), v = uniform(), w = uniform();
        const Vector3d offset(u, v, w);
        if (offset.norm() > 1 || offset.norm() < 0.1) continue;
        const auto t = static_cast<int>(engine() % mesh.triangles.size());
        const Vector3d middle = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3.0;
        if (where == QueryPlaces::Near)
            result.push_back(middle + 0.01 * size * offset);
        else if (where == QueryPlaces::Box)
            result.push_back(box.center() + 0.5 * offset.cwiseProduct(box.sizes()));
        else
            result.push_back(box.center() + 5.0 * size * offset.normalized());
    }
    return result;
}

enum class SurfaceKind { Solid, Soup, Open };

/// One sample is `kPerSample` queries at points that move on from sample to sample.
template <class Query>
Benchmark query(const std::string& name, QueryPlaces where, Query&& ask, double max_us = 0,
                SurfaceKind kind = SurfaceKind::Solid) {
    return {.module = "geometry",
            .name = name + "/70k",
            .setup =
                [=] {
                    SurfaceMesh mesh = heart_70k();
                    if (kind == SurfaceKind::Open) mesh.triangles.pop_back();
                    const auto surface = std::make_shared<SurfaceQuery>(
                        mesh, kind == SurfaceKind::Solid ? SignMethod::PseudoNormal
                                                         : SignMethod::WindingNumber);
                    const auto xs = std::make_shared<std::vector<Vector3d>>(points(mesh, where));
                    const auto next = std::make_shared<std::size_t>(0);
                    return Workload{.run =
                                        [=] {
                                            double sum = 0;
                                            for (int i = 0; i < kPerSample; ++i)
                                                sum +=
                                                    ask(*surface, (*xs)[(*next)++ % kQueryPoints]);
                                            return sum;
                                        },
                                    .operations = kPerSample};
                },
            .max_us = max_us};
}

Benchmark build() {
    return {.module = "geometry",
            .name = "query_build/70k",
            .setup =
                [] {
                    const auto mesh = std::make_shared<SurfaceMesh>(heart_70k());
                    return Workload{.run = [=] {
                        return SurfaceQuery(*mesh).signed_distance(Vector3d::Zero());
                    }};
                },
            .samples = 20,
            .wall_time = true};
}

Benchmark refit() {
    return {.module = "geometry",
            .name = "query_refit/70k",
            .setup =
                [] {
                    const SurfaceMesh mesh = heart_70k();
                    const auto surface = std::make_shared<SurfaceQuery>(mesh);
                    const auto vertices = std::make_shared<std::vector<Vector3d>>(mesh.vertices);
                    return Workload{.run = [=] {
                        for (Vector3d& v : *vertices) v.z() += 1e-3 * std::sin(5.0 * v.x());
                        surface->refit(*vertices);
                        return surface->signed_distance(Vector3d::Zero());
                    }};
                },
            .samples = 50,
            .wall_time = true};
}

}  // namespace

std::vector<Benchmark> query_benchmarks() {
    const auto closest = [](const SurfaceQuery& surface, const Vector3d& x) {
        return surface.closest(x).distance;
    };
    const auto signed_distance = [](const SurfaceQuery& surface, const Vector3d& x) {
        return surface.signed_distance(x);
    };
    const auto ray = [](const SurfaceQuery& surface, const Vector3d& x) {
        const auto hit = surface.ray(x, {0.3, 0.5, 0.8});
        return hit ? hit->t : 0.0;
    };
    const auto is_inside = [](const SurfaceQuery& surface, const Vector3d& x) {
        return surface.is_inside(x) ? 1.0 : 0.0;
    };
    return {query("closest_point/near", QueryPlaces::Near, closest, 2.5),
            query("closest_point/box", QueryPlaces::Box, closest),
            query("closest_point/far", QueryPlaces::Far, closest),
            query("signed_distance/near", QueryPlaces::Near, signed_distance),
            query("ray/box", QueryPlaces::Box, ray),
            query("is_inside_soup/near", QueryPlaces::Near, is_inside, 0, SurfaceKind::Soup),
            query("is_inside_open/near", QueryPlaces::Near, is_inside, 0, SurfaceKind::Open),
            query("is_inside_open/box", QueryPlaces::Box, is_inside, 0, SurfaceKind::Open),
            build(),
            refit()};
}

}  // namespace pliant::bench
