#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/reduction/reduced_model.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// A part of a body made of something else: the elements whose centre is selected.
struct MaterialRegion {
    std::string selection;  ///< as in "z > 90 %", see parse_selection
    Material material;
};

struct ReducedBuildOptions {
    double size = 0;  ///< the longest side of the surface is scaled to this [m]; 0: as it is
    Material material = material_preset("rubber");
    std::vector<MaterialRegion> regions = {};  ///< later ones win
    ElementFormulation elements = ElementFormulation::Accurate;
    /// Vertices of the simulation mesh that are held, as in "z < 5 %", see parse_selection.
    std::string fixed = {};
    bool is_free = false;  ///< nothing is held: the body flies freely
    SimulationMeshOptions mesh = {.resolution = 40};
    bool keeps_largest = false;  ///< of a mesh in several parts; otherwise they are an error
    bool finds_errors = false;   ///< StaticErrors in the report: one more factorisation
    int num_modes = 20;          ///< k: range of spatial frequencies
    /// r: completeness of the nonlinear part, 1 … k + k(k+1)/2; 3k is usually enough. 0: the basis
    /// also holds what weight and presses do to the whole mesh, and is as small as leaves errors
    /// of kAimedError, at most kMostChosenRank; docs/reduction.md section "Rank".
    int rank = 0;
    static constexpr double kAimedError = 0.02;
    static constexpr int kLeastChosenRank = 12, kMostChosenRank = 30;
    ShapeStorage storage = ShapeStorage::Float32;
    /// Folder of finished stages for later builds; empty: none is kept.
    std::filesystem::path cache = {};
    std::int64_t cache_bytes = std::int64_t{8} << 30;  ///< oldest files go beyond this
};

/// Throws InputError for options that cannot work, before any work.
void check_options(const ReducedBuildOptions& options);

/// One stage of a build.
struct StageReport {
    /// surface, mesh, embedding, modes, derivatives, basis, polynomials, errors
    std::string name;
    double seconds = 0;
    std::int64_t peak_bytes = 0;  ///< of the whole process up to the end of the stage
    bool is_cached = false;       ///< result of an earlier build
};

/// How much less loaded places give way in the subspace than in the whole mesh, for small loads: 0
/// exact, 1 rigid. The largest of each kind.
struct StaticErrors {
    double weight = -1;  ///< its own weight along each axis; −1: not known
    double press = -1;  ///< on patches of a tenth of the size, at places the basis was not made for
};

struct ReducedBuildReport {
    SurfaceReport surface;  ///< after repair
    RepairReport repair;
    std::vector<StageReport> stages;
    std::string cache_problem;    ///< why a stage could not be kept; empty: all were
    std::uint64_t model_key = 0;  ///< of the whole model in the cache
    StaticErrors errors;          ///< where finds_errors
    [[nodiscard]] double seconds() const noexcept;
};

/// From a surface to a model that runs: repairs and scales, fills the surface with elements, holds
/// vertices, finds modes and their derivatives, their best subspace, and everything projected into
/// it; docs/reduction.md section "Building". With a cache an interrupted build (Cancelled) goes on
/// at the stage where it stopped, and stages whose input has not changed are not computed again.
/// Damaged cache files are ignored and written anew. Throws InputError for options that cannot
/// work, the surface's or the mesh's defects, and a body that is only partly held.
[[nodiscard]] ReducedModel build_reduced_model(const SurfaceMesh& surface,
                                               const ReducedBuildOptions& options = {},
                                               Progress& progress = Progress::none(),
                                               ReducedBuildReport* report = nullptr);

/// $XDG_CACHE_HOME/pliant or ~/.cache/pliant; empty when neither is known.
[[nodiscard]] std::filesystem::path default_cache_folder();
/// Removes the files that builds have left in a cache folder; returns their number.
int clear_cache(const std::filesystem::path& folder);

}  // namespace pliant
