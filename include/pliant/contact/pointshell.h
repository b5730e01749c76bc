#pragma once

#include "pliant/core/archive.h"
#include "pliant/geometry/surface_mesh.h"

#include <filesystem>

namespace pliant {

/// Points on the surface of a body, ordered by level: the points of levels 0 … i together sample
/// the surface evenly, the coarsest first; docs/contact.md section "Pointshells". Rest positions,
/// body axes.
struct Pointshell {
    std::vector<Eigen::Vector3f> points;   ///< [m]
    std::vector<Eigen::Vector3f> normals;  ///< unit, *inwards*
    /// First point of each level, then the number of points: level i is [start[i], start[i + 1]).
    std::vector<int> level_start;
    double spacing = 0;  ///< mean distance to the nearest neighbour of the finest level [m]
    double offset = 0;   ///< of the carrier surface from the mesh it stands for [m]

    [[nodiscard]] int num_points() const noexcept { return static_cast<int>(points.size()); }
    [[nodiscard]] int num_levels() const noexcept {
        return static_cast<int>(level_start.size()) - 1;
    }
};
/// Throws InputError for levels that do not cover the points, empty ones, no point at all, for
/// points or normals that are not finite or not unit, and for lengths below zero.
void check_pointshell(const Pointshell& shell);

[[nodiscard]] Pointshell load_pointshell(const std::filesystem::path& path);
[[nodiscard]] Pointshell pointshell_from_archive(const Archive& archive, const std::string& name);
void save_pointshell(const Pointshell& shell, const std::filesystem::path& path,
                     const Provenance& provenance = {});

/// How even a level is: over nearest neighbours on the same side of the surface.
struct SpacingStatistics {
    double mean = 0, smallest = 0, largest = 0;  ///< [m]
    double variation = 0;                        ///< standard deviation over mean
};
/// Of the points of levels 0 … level; neighbours whose normals differ by more than 90° are on
/// another side.
[[nodiscard]] SpacingStatistics spacing_statistics(const Pointshell& shell, int level);

}  // namespace pliant
