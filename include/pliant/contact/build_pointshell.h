#pragma once

#include "pliant/contact/pointshell.h"
#include "pliant/core/progress.h"
#include "pliant/field/distance_grid.h"

#include <cstdint>
#include <string>

namespace pliant {

struct PointshellOptions {
    int num_points = 64000;  ///< about, in all levels together
    int num_levels = 4;      ///< 1 … 8; four times as many points in each as in the one before
    std::uint64_t seed = 1;
    // 0: chosen, docs/contact.md eq. (2)
    double radius = 0;         ///< of repulsion, in spacings of the level, about 1.6
    double step = 0;           ///< of a move, in spacings, about 0.15
    int max_iterations = 0;    ///< of a level
    double tolerance = 0.003;  ///< converged when the mean move is below it, in spacings
};

struct PointshellReport {
    struct Level {
        int num_points = 0, iterations = 0;
        bool has_converged = false;
        double spacing = 0, variation = 0;  ///< of all points up to this level
    };
    std::vector<Level> levels;
    double seconds = 0;
    [[nodiscard]] std::string text() const;
};

/// Even points on the zero surface of a field by multi-resolution particle repulsion; normals from
/// the pseudonormals of `surface`, the mesh of that level set (iso_surface, without enclosed parts)
/// or the original closed mesh. Both cores, the same bits for every number of threads. Throws
/// InputError for options out of range and for a field without a surface.
[[nodiscard]] Pointshell build_pointshell(const DistanceGrid& field, const SurfaceMesh& surface,
                                          const PointshellOptions& options = {},
                                          Progress& progress = Progress::none(),
                                          PointshellReport* report = nullptr);

/// Other ways to place points, for comparison, docs/contact.md section "Other generators". All
/// are ordered by farthest-point selection with levels of B, B², … points. `num_points` is exact
/// for AreaRandom, about for LayeredDepth; the field and the mesh decide for the others.
enum class ShellGenerator {
    VoxelCentres,  ///< of cells of the field that the surface crosses, as voxmap pointshells
    MeshVertices,  ///< of `surface`
    AreaRandom,    ///< uniform by area
    LayeredDepth,  ///< hits of three bundles of parallel rays
};
[[nodiscard]] Pointshell build_pointshell_by(ShellGenerator generator, const DistanceGrid& field,
                                             const SurfaceMesh& surface, int num_points,
                                             int branching = 8, std::uint64_t seed = 1);
/// Order in which each point is the farthest from those before it, of equally far ones the lowest
/// index; the first is the farthest from the centre of their box. 1e5 points take a second.
[[nodiscard]] std::vector<int> farthest_point_order(const std::vector<Eigen::Vector3f>& points);

}  // namespace pliant
