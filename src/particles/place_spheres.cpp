#include "pliant/particles/place_spheres.h"

#include "core/numbers.h"
#include "geometry/option_check.h"
#include "particles/particle_links.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr int kPlacementSamples = 1200, kCoverageSamples = 4000;
constexpr int kExchanges = 2;  // rounds

/// A place of the surface with its outward normal.
struct SkinSample {
    Vector3d position, normal;
};

/// One in each of `count` equal parts of the area, always the same.
std::vector<SkinSample> skin_samples(const SurfaceMesh& mesh, int count) {
    double area = 0;
    std::vector<Vector3d> areas;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d a = mesh.corner(t, 0);
        areas.push_back((mesh.corner(t, 1) - a).cross(mesh.corner(t, 2) - a));
        area += areas.back().norm();
    }
    std::vector<SkinSample> samples;
    double passed = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        passed += areas[at(t)].norm();
        while (static_cast<int>(samples.size()) < count &&
               passed >= area * (static_cast<double>(samples.size()) + 0.5) / count) {
            // evenly spread over triangles: multiples of two irrational numbers
            const auto k = static_cast<double>(samples.size()) + 1;
            double u = std::fmod(0.7548776662466927 * k, 1.0);
            double v = std::fmod(0.5698402909980532 * k, 1.0);
            if (u + v > 1) {
                u = 1 - u;
                v = 1 - v;
            }
            samples.push_back(
                {(1 - u - v) * mesh.corner(t, 0) + u * mesh.corner(t, 1) + v * mesh.corner(t, 2),
                 areas[at(t)].normalized()});
        }
    }
    return samples;
}

struct Ball {
    Vector3d centre = Vector3d::Zero();
    double radius = 0;
    [[nodiscard]] double gap(const Vector3d& x) const { return (x - centre).norm() - radius; }
};

/// The largest ball inside that touches the surface there: shrinks until nothing is in it,
/// docs/sphere-tools.md eq. (8).
Ball medial_ball(const SurfaceQuery& query, const SkinSample& s, double tiny) {
    const Vector3d start = s.position - tiny * s.normal;
    const auto wall = query.ray(start, -s.normal);
    if (!wall) return {};
    double r = 0.5 * (wall->t + tiny);
    for (int i = 0; i < 50; ++i) {
        const Vector3d c = s.position - r * s.normal;
        const ClosestPoint nearest = query.closest(c);
        if (nearest.distance >= r * (1 - 1e-3)) return {c, std::min(r, nearest.distance)};
        const Vector3d apart = s.position - nearest.point;
        const double along = 2 * s.normal.dot(apart);
        if (!(along > 0)) return {};
        r = std::min(0.999 * r, apart.squaredNorm() / along);
    }
    return {};
}

/// Without those that are nearly within a larger one: opposite places have the same.
std::vector<Ball> distinct_balls(std::vector<Ball> balls, double least_radius) {
    std::ranges::stable_sort(balls, std::greater(), &Ball::radius);
    std::vector<Ball> distinct;
    for (const Ball& ball : balls) {
        const auto holds_it = [&](const Ball& other) {
            return (ball.centre - other.centre).norm() + ball.radius <= 1.05 * other.radius;
        };
        if (ball.radius >= least_radius && std::ranges::none_of(distinct, holds_it))
            distinct.push_back(ball);
    }
    return distinct;
}

/// Sum of squared gaps that would be left with one ball more.
double gaps_left(const std::vector<SkinSample>& samples, const std::vector<double>& gaps,
                 const Ball& ball) {
    double sum = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        const double gap = std::min(gaps[s], std::max(0.0, ball.gap(samples[s].position)));
        sum += gap * gap;
    }
    return sum;
}

Ball best_ball(const std::vector<SkinSample>& samples, const std::vector<double>& gaps,
               const std::vector<Ball>& candidates) {
    std::vector<double> left(candidates.size());
    parallel_for(candidates.size(), 16,
                 [&](std::size_t c) { left[c] = gaps_left(samples, gaps, candidates[c]); });
    return candidates[static_cast<std::size_t>(std::ranges::min_element(left) - left.begin())];
}

std::vector<double> gaps_of(const std::vector<SkinSample>& samples, const std::vector<Ball>& balls,
                            std::size_t left_out) {
    std::vector<double> gaps(samples.size(), kInfinity);
    for (std::size_t s = 0; s < samples.size(); ++s)
        for (std::size_t b = 0; b < balls.size(); ++b)
            if (b != left_out)
                gaps[s] = std::min(gaps[s], std::max(0.0, balls[b].gap(samples[s].position)));
    return gaps;
}

}  // namespace

ParticleLayout place_spheres(const SurfaceMesh& surface, const SpherePlacementOptions& options) {
    check_option(options.count >= 1 && options.count <= 500, "count", options.count, "1 to 500");
    check_option(options.links >= 1 && options.links <= 64, "links", options.links, "1 to 64");
    check_option(options.mass > 0 && std::isfinite(options.mass), "mass", options.mass,
                 "more than 0 kg");
    check_option(options.stiffness > 0 && options.stiffness <= 1, "stiffness", options.stiffness,
                 "above 0, up to 1");
    check_option(options.least_radius >= 0 && std::isfinite(options.least_radius), "least_radius",
                 options.least_radius, "at least 0 m");
    const double volume = enclosed_volume(surface);
    if (!(volume > 0) || !std::isfinite(volume))
        throw InputError("",
                         "the surface encloses no volume to place spheres in; it must be closed "
                         "and face outwards");
    const SurfaceQuery query(surface);
    const std::vector<SkinSample> samples = skin_samples(surface, kPlacementSamples);
    const double tiny = 1e-6 * bounding_box(surface.vertices).diagonal().norm();
    std::vector<Ball> balls_inside(samples.size());
    parallel_for(samples.size(), 16,
                 [&](std::size_t s) { balls_inside[s] = medial_ball(query, samples[s], tiny); });
    const double largest = std::ranges::max(balls_inside, {}, &Ball::radius).radius;
    const std::vector<Ball> candidates =
        distinct_balls(std::move(balls_inside), std::max(tiny, options.least_radius));
    if (static_cast<int>(candidates.size()) < options.count)
        throw InputError("", "the surface has room for " + std::to_string(candidates.size()) +
                                 " of " + std::to_string(options.count) +
                                 " spheres; the largest that fits has a radius of " +
                                 std::to_string(largest) +
                                 " m: ask for fewer, or for a smaller least_radius");

    // one after the other, then each once more among the others
    std::vector<Ball> balls;
    std::vector<double> gaps(samples.size(), kInfinity);
    while (static_cast<int>(balls.size()) < options.count) {
        balls.push_back(best_ball(samples, gaps, candidates));
        for (std::size_t s = 0; s < samples.size(); ++s)
            gaps[s] = std::min(gaps[s], std::max(0.0, balls.back().gap(samples[s].position)));
    }
    for (int round = 0; round < kExchanges && balls.size() > 1; ++round)
        for (std::size_t b = 0; b < balls.size(); ++b)
            balls[b] = best_ball(samples, gaps_of(samples, balls, b), candidates);

    ParticleLayout layout;
    double cubes = 0;
    for (const Ball& ball : balls) cubes += std::pow(ball.radius, 3);
    for (const Ball& ball : balls) {
        Particle p;
        p.position = ball.centre;
        p.radii.setConstant(ball.radius);
        p.mass = options.mass * std::pow(ball.radius, 3) / cubes;
        p.stiffness = options.stiffness;
        layout.particles.push_back(p);
    }
    if (balls.size() < 2) return layout;
    const ParticleLinks links = link_inside(query, centres_of(layout), options.links);
    layout.links.assign(links.begin(), links.end());
    return layout;
}

SphereCoverage sphere_coverage(const ParticleLayout& layout, const SurfaceMesh& surface) {
    check_option(!layout.particles.empty(), "spheres", 0, "at least 1");
    const auto gap_of = [&](const Vector3d& x) {
        double gap = kInfinity;
        for (const Particle& p : layout.particles)
            gap = std::min(gap, (x - p.position).norm() - p.radii.maxCoeff());
        return std::max(0.0, gap);
    };
    SphereCoverage coverage;
    const auto look_at = [&](const Vector3d& x) {
        const double gap = gap_of(x);
        if (gap > coverage.largest_gap) {
            coverage.largest_gap = gap;
            coverage.gap_place = x;
        }
        return gap;
    };
    const std::vector<SkinSample> samples = skin_samples(surface, kCoverageSamples);
    for (const SkinSample& s : samples)
        coverage.mean_gap += look_at(s.position) / static_cast<double>(samples.size());
    for (const Vector3d& x : surface.vertices) (void)look_at(x);
    const SurfaceQuery query(surface);
    coverage.largest_overhang = -kInfinity;
    for (const Particle& p : layout.particles)
        coverage.largest_overhang = std::max(
            coverage.largest_overhang, p.radii.maxCoeff() + query.signed_distance(p.position));
    return coverage;
}

}  // namespace pliant
