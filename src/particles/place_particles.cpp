#include "core/numbers.h"
#include "geometry/option_check.h"
#include "particles/particle_links.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/particles/particle_layout.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Samples of the volume for each particle, and rounds of moving particles to the middle of theirs.
constexpr double kSamplesPerParticle = 48;
constexpr int kRelaxations = 12;

/// A small piece of the volume.
struct VolumeSample {
    Vector3d position;
    double volume;  ///< [m³], up to a common factor
};

std::array<int, 3> cell_of(const Vector3d& x, double size) {
    std::array<int, 3> cell;
    for (int k = 0; k < 3; ++k) cell[at(k)] = static_cast<int>(std::floor(x[k] / size));
    return cell;
}

/// A lattice inside, and the middle of walls that are too thin for it.
std::vector<VolumeSample> sample_volume(const SurfaceQuery& query, double spacing) {
    std::vector<VolumeSample> samples;
    std::set<std::array<int, 3>> occupied;
    const SurfaceMesh& mesh = query.mesh();
    const Box box = bounding_box(mesh.vertices);
    const Vector3d cells = (box.sizes() / spacing).array().ceil();
    constexpr double kMostCells = 1e8;
    if (!(cells.prod() <= kMostCells))
        throw InputError("",
                         "the surface is too thin to place particles in its volume; place one for "
                         "each vertex (--sheet)");
    for (int k = 0; k < static_cast<int>(cells.z()); ++k)
        for (int j = 0; j < static_cast<int>(cells.y()); ++j)
            for (int i = 0; i < static_cast<int>(cells.x()); ++i) {
                const Vector3d x = box.min() + spacing * Vector3d(i + 0.5, j + 0.5, k + 0.5);
                if (!query.is_inside(x)) continue;
                samples.push_back({x, spacing * spacing * spacing});
                occupied.insert(cell_of(x, spacing));
            }
    const std::vector<Vector3d> normals = vertex_normals(mesh);
    const double tiny = 1e-6 * box.diagonal().norm();
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        const Vector3d inside = mesh.vertices[v] - tiny * normals[v];
        const auto hit = query.ray(inside, -normals[v], 2 * spacing);
        const double thickness = hit ? hit->t : 2 * spacing;
        if (thickness > 1.5 * spacing) continue;  // the lattice reaches here
        const Vector3d x = inside - 0.5 * thickness * normals[v];
        if (!query.is_inside(x) || !occupied.insert(cell_of(x, spacing)).second) continue;
        samples.push_back({x, spacing * spacing * thickness});
    }
    return samples;
}

/// Each as far from all before as possible; the first the farthest from the middle.
std::vector<Vector3d> farthest_samples(const std::vector<VolumeSample>& samples, int count) {
    Vector3d middle = Vector3d::Zero();
    for (const VolumeSample& s : samples)
        middle += s.position / static_cast<double>(samples.size());
    std::vector<double> distance(samples.size());
    for (std::size_t s = 0; s < samples.size(); ++s)
        distance[s] = (samples[s].position - middle).squaredNorm();
    std::vector<Vector3d> chosen;
    while (static_cast<int>(chosen.size()) < count) {
        const auto far =
            static_cast<std::size_t>(std::ranges::max_element(distance) - distance.begin());
        const Vector3d x = samples[far].position;
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const double d = (samples[s].position - x).squaredNorm();
            distance[s] = chosen.empty() ? d : std::min(distance[s], d);
        }
        chosen.push_back(x);
    }
    return chosen;
}

int nearest_of(const std::vector<Vector3d>& centres, const Vector3d& x) {
    int nearest = 0;
    double best = kInfinity;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        const double d = (centres[i] - x).squaredNorm();
        if (d < best) {
            best = d;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

std::vector<int> owners_of(const std::vector<VolumeSample>& samples,
                           const std::vector<Vector3d>& centres) {
    std::vector<int> owner(samples.size());
    parallel_for(samples.size(), 256,
                 [&](std::size_t s) { owner[s] = nearest_of(centres, samples[s].position); });
    return owner;
}

/// Volume, middle and covariance of the samples of each centre.
struct Cell {
    double volume = 0;
    Vector3d middle = Vector3d::Zero();
    Matrix3d covariance = Matrix3d::Zero();
};
std::vector<Cell> cells_of(const std::vector<VolumeSample>& samples, const std::vector<int>& owner,
                           std::size_t count) {
    std::vector<Cell> cells(count);
    for (std::size_t s = 0; s < samples.size(); ++s) {
        Cell& cell = cells[at(owner[s])];
        cell.volume += samples[s].volume;
        cell.middle += samples[s].volume * samples[s].position;
    }
    for (Cell& cell : cells)
        if (cell.volume > 0) cell.middle /= cell.volume;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        Cell& cell = cells[at(owner[s])];
        const Vector3d arm = samples[s].position - cell.middle;
        // a sample is a small cube itself
        const double own = std::pow(samples[s].volume, 2.0 / 3) / 12;
        cell.covariance +=
            samples[s].volume / cell.volume * (arm * arm.transpose() + own * Matrix3d::Identity());
    }
    return cells;
}

/// Moves centres to the middle of their samples, or to the sample next to it where that is outside.
void relax(const SurfaceQuery& query, const std::vector<VolumeSample>& samples,
           std::vector<Vector3d>& centres) {
    for (int round = 0; round < kRelaxations; ++round) {
        const std::vector<int> owner = owners_of(samples, centres);
        std::vector<Vector3d> sums(centres.size(), Vector3d::Zero());
        std::vector<int> counts(centres.size(), 0);
        for (std::size_t s = 0; s < samples.size(); ++s) {
            sums[at(owner[s])] += samples[s].position;
            ++counts[at(owner[s])];
        }
        for (std::size_t i = 0; i < centres.size(); ++i) {
            if (counts[i] == 0) continue;
            const Vector3d middle = sums[i] / counts[i];
            if (query.is_inside(middle)) {
                centres[i] = middle;
                continue;
            }
            double best = kInfinity;
            for (std::size_t s = 0; s < samples.size(); ++s) {
                const double d = (samples[s].position - middle).squaredNorm();
                if (owner[s] != static_cast<int>(i) || d >= best) continue;
                best = d;
                centres[i] = samples[s].position;
            }
        }
    }
}

/// An ellipsoid with the second moments of the cell, or a ball.
void give_shape(Particle& p, const Cell& cell, double room, const PlacementOptions& options) {
    const double ball = std::cbrt(3 * cell.volume / (4 * std::numbers::pi));
    if (options.has_spheres) {
        p.radii.setConstant(options.radius > 0 ? options.radius
                                               : std::min(ball, std::max(room, 0.25 * ball)));
        return;
    }
    const Eigen::SelfAdjointEigenSolver<Matrix3d> axes(cell.covariance);
    p.radii = (5 * axes.eigenvalues().cwiseMax(1e-6 * ball * ball)).cwiseSqrt();
    Matrix3d Q = axes.eigenvectors();
    if (Q.determinant() < 0) Q.col(2) = -Q.col(2);
    p.rotation = Quaternion(Q);
}

}  // namespace

ParticleLayout place_particles(const SurfaceMesh& surface, const PlacementOptions& options) {
    check_option(options.count >= 2 && options.count <= 2000, "count", options.count, "2 to 2000");
    check_option(options.links >= 1 && options.links <= 64, "links", options.links, "1 to 64");
    check_option(options.density > 0 && std::isfinite(options.density), "density", options.density,
                 "more than 0 kg/m³");
    check_option(options.stiffness > 0 && options.stiffness <= 1, "stiffness", options.stiffness,
                 "above 0, up to 1");
    check_option(options.radius >= 0 && std::isfinite(options.radius), "radius", options.radius,
                 "at least 0 m");
    const SurfaceQuery query(surface);
    const double volume = enclosed_volume(surface);
    if (!(volume > 0) || !std::isfinite(volume))
        throw InputError("",
                         "the surface encloses no volume to place particles in; it must be closed "
                         "and face outwards. A sheet needs two faces and one particle for each "
                         "vertex (--sheet)");
    const double spacing = std::cbrt(volume / (kSamplesPerParticle * options.count));
    const std::vector<VolumeSample> samples = sample_volume(query, spacing);
    if (static_cast<int>(samples.size()) < options.count)
        throw InputError("", "the surface is too thin for " + std::to_string(options.count) +
                                 " particles; place fewer, or one for each vertex (--sheet)");
    std::vector<Vector3d> centres = farthest_samples(samples, options.count);
    relax(query, samples, centres);

    const std::vector<Cell> cells = cells_of(samples, owners_of(samples, centres), centres.size());
    double sum = 0;
    for (const Cell& cell : cells) sum += cell.volume;
    ParticleLayout layout;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        Particle p;
        p.position = centres[i];
        p.mass = options.density * volume * std::max(cells[i].volume, 1e-6 * sum) / sum;
        p.stiffness = options.stiffness;
        give_shape(p, cells[i], query.closest(p.position).distance, options);
        layout.particles.push_back(p);
    }
    const ParticleLinks links = link_inside(query, centres, options.links);
    layout.links.assign(links.begin(), links.end());
    return layout;
}

ParticleLayout particles_of_vertices(const SurfaceMesh& surface, double mass, double radius,
                                     double stiffness, int links) {
    check_option(mass > 0 && std::isfinite(mass), "mass", mass, "more than 0 kg");
    check_option(radius > 0 && std::isfinite(radius), "radius", radius, "more than 0 m");
    std::map<std::array<double, 3>, int> known;
    std::vector<Vector3d> centres;
    for (const Vector3d& x : surface.vertices)
        if (known.try_emplace({x.x(), x.y(), x.z()}, 0).second) centres.push_back(x);
    check_option(centres.size() >= 2, "vertices", centres.size(), "two at least");
    ParticleLayout layout;
    layout.is_cloth = true;
    for (const Vector3d& x : centres) {
        Particle p;
        p.position = x;
        p.radii.setConstant(radius);
        p.mass = mass / static_cast<double>(centres.size());
        p.stiffness = stiffness;
        layout.particles.push_back(p);
    }
    // not beyond the diagonals of a grid
    constexpr double kFarthest = 1.6;
    ParticleLinks found;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        const std::vector<int> order = by_distance(centres, i);
        const double limit = kFarthest * (centres[at(order[0])] - centres[i]).norm();
        for (std::size_t k = 0; k < std::min(order.size(), at(links)); ++k)
            if ((centres[at(order[k])] - centres[i]).norm() <= limit)
                add_link(found, static_cast<int>(i), order[k]);
    }
    connect_parts(centres, found);
    layout.links.assign(found.begin(), found.end());
    return layout;
}

}  // namespace pliant
