#include "pliant/contact/pointshell.h"

#include "contact/point_grid.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

// Three contiguous floats each, so that a shell is written and read without a copy in between.
static_assert(sizeof(Eigen::Vector3f) == 3 * sizeof(float));

const std::string kPointshellKind = "pointshell";

void check(const Pointshell& shell, const std::string& file) {
    if (shell.points.empty())
        throw InputError(file, "the pointshell has no points; build it with at least one");
    if (shell.points.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw InputError(file, "points", std::to_string(shell.points.size()), "at most 2147483647");
    if (shell.normals.size() != shell.points.size())
        throw InputError(file, "normals", std::to_string(shell.normals.size()),
                         std::to_string(shell.points.size()) + ", one for each point");
    const std::vector<int>& start = shell.level_start;
    if (start.size() < 2 || start.front() != 0 || start.back() != shell.num_points())
        throw InputError(file, "the levels of the pointshell do not cover its " +
                                   std::to_string(shell.num_points()) +
                                   " points; they begin with 0 and end with that number");
    for (std::size_t i = 1; i < start.size(); ++i)
        if (start[i] <= start[i - 1])
            throw InputError(file, "level_start[" + std::to_string(i) + "]",
                             std::to_string(start[i]),
                             "more than " + std::to_string(start[i - 1]) + ", the one before");
    for (std::size_t i = 0; i < shell.points.size(); ++i) {
        if (!shell.points[i].allFinite())
            throw InputError(file, "point " + std::to_string(i) + " is not finite");
        // single precision: a unit vector to about 1e-7
        if (!(std::abs(shell.normals[i].norm() - 1) < 1e-4f))
            throw InputError(file, "normal " + std::to_string(i),
                             "length " + std::to_string(shell.normals[i].norm()), "length 1");
    }
    if (!(shell.spacing >= 0) || !std::isfinite(shell.spacing))
        throw InputError(file, "spacing", std::to_string(shell.spacing), "a length in metres");
    if (!(shell.offset >= 0) || !std::isfinite(shell.offset))
        throw InputError(file, "offset", std::to_string(shell.offset), "a length in metres");
}

std::vector<Eigen::Vector3f> read_vectors(const Archive& archive, const std::string& chunk,
                                          const std::string& name) {
    const std::vector<std::uint64_t>& shape = archive.info(chunk).shape;
    if (shape.size() != 2 || shape[1] != 3)
        throw InputError(name, chunk + ", columns",
                         shape.size() == 2 ? std::to_string(shape[1]) : "none", "3");
    const std::span<const float> values = archive.get<float>(chunk);
    std::vector<Eigen::Vector3f> vectors(values.size() / 3);
    for (std::size_t i = 0; i < vectors.size(); ++i)
        vectors[i] = {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
    return vectors;
}

}  // namespace

void check_pointshell(const Pointshell& shell) { check(shell, ""); }

Pointshell load_pointshell(const std::filesystem::path& path) {
    return pointshell_from_archive(Archive::verified(path), path.string());
}

Pointshell pointshell_from_archive(const Archive& archive, const std::string& name) {
    archive.require_kind(kPointshellKind);
    Pointshell shell;
    shell.points = read_vectors(archive, "shell/points", name);
    shell.normals = read_vectors(archive, "shell/normals", name);
    const std::span<const int> start = archive.get<int>("shell/level_start");
    shell.level_start.assign(start.begin(), start.end());
    const std::span<const double> lengths = archive.get<double>("shell/lengths");
    if (lengths.size() != 2)
        throw InputError(name, "shell/lengths, length", std::to_string(lengths.size()), "2");
    shell.spacing = lengths[0];
    shell.offset = lengths[1];
    check(shell, name);
    return shell;
}

void save_pointshell(const Pointshell& shell, const std::filesystem::path& path,
                     const Provenance& provenance) {
    check_pointshell(shell);
    const std::array<double, 2> lengths = {shell.spacing, shell.offset};
    const std::uint64_t count = shell.points.size();
    ArchiveWriter writer(kPointshellKind);
    writer.add<float>("shell/points", {shell.points[0].data(), 3 * count}, {count, 3});
    writer.add<float>("shell/normals", {shell.normals[0].data(), 3 * count}, {count, 3});
    writer.add<int>("shell/level_start", shell.level_start);
    writer.add<double>("shell/lengths", lengths);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.save(path);
}

namespace {

// Squared distance of each listed point to its nearest neighbour on the same side within the cell
// of a grid; infinite where there is none.
std::vector<float> nearest_within(const PointArrays& points, double cell) {
    const PointGrid grid(points.x, points.y, points.z, cell);
    std::vector<float> nearest(points.x.size(), std::numeric_limits<float>::infinity());
    const auto square = static_cast<float>(cell * cell);
    parallel_ranges(
        static_cast<std::size_t>(grid.num_cells()), 64, [&](std::size_t begin, std::size_t end) {
            PointGrid::Walk walk(grid, static_cast<int>(begin));
            for (std::size_t c = begin; c < end; ++c) {
                const auto& rows = walk.around(static_cast<int>(c));
                const PlaceRange own = grid.places(static_cast<int>(c));
                for (int p = own.begin; p < own.end; ++p) {
                    const auto a =
                        static_cast<std::size_t>(grid.order()[static_cast<std::size_t>(p)]);
                    for (const PlaceRange& row : rows)
                        for (int q = row.begin; q < row.end; ++q) {
                            if (q == p) continue;
                            const auto b =
                                static_cast<std::size_t>(grid.order()[static_cast<std::size_t>(q)]);
                            const float dx = points.x[a] - points.x[b],
                                        dy = points.y[a] - points.y[b],
                                        dz = points.z[a] - points.z[b];
                            const float d2 = dx * dx + dy * dy + dz * dz;
                            if (d2 >= nearest[a] || d2 > square) continue;
                            if (points.nx[a] * points.nx[b] + points.ny[a] * points.ny[b] +
                                    points.nz[a] * points.nz[b] >=
                                0)
                                nearest[a] = d2;
                        }
                }
            }
        });
    return nearest;
}

}  // namespace

SpacingStatistics spacing_statistics(const Pointshell& shell, int level) {
    assert(level >= 0 && level < shell.num_levels());
    const int count = shell.level_start[static_cast<std::size_t>(level) + 1];
    PointArrays points;
    points.resize(count);
    Eigen::AlignedBox3f box;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const Eigen::Vector3f &x = shell.points[i], &n = shell.normals[i];
        box.extend(x);
        points.x[i] = x.x();
        points.y[i] = x.y();
        points.z[i] = x.z();
        points.nx[i] = n.x();
        points.ny[i] = n.y();
        points.nz[i] = n.z();
    }

    // a first guess that is large for most shapes; those without a neighbour look farther
    const double diagonal = double{box.diagonal().norm()};
    std::vector<float> nearest(static_cast<std::size_t>(count),
                               std::numeric_limits<float>::infinity());
    for (double cell = diagonal / std::sqrt(count + 1.0);; cell *= 2) {
        const std::vector<float> found = nearest_within(points, cell);
        bool are_all_found = true;
        for (std::size_t i = 0; i < nearest.size(); ++i) {
            nearest[i] = std::min(nearest[i], found[i]);
            are_all_found = are_all_found && std::isfinite(nearest[i]);
        }
        if (are_all_found || !(cell < diagonal)) break;
    }

    // points that are alone on their side count for nothing
    SpacingStatistics statistics;
    double sum = 0, squares = 0;
    int num_found = 0;
    for (const float square : nearest) {
        if (!std::isfinite(square)) continue;
        const double d = std::sqrt(double{square});
        statistics.smallest = num_found == 0 ? d : std::min(statistics.smallest, d);
        statistics.largest = std::max(statistics.largest, d);
        sum += d;
        ++num_found;
    }
    if (num_found == 0 || sum == 0) return statistics;
    statistics.mean = sum / num_found;
    for (const float square : nearest)
        if (std::isfinite(square))
            squares += std::pow(std::sqrt(double{square}) - statistics.mean, 2);
    statistics.variation = std::sqrt(squares / num_found) / statistics.mean;
    return statistics;
}

}  // namespace pliant
