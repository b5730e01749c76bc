#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/wavelet_greens.h"
#include "pliant/reduction/build_reduced.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// How the equations of boundary elements are solved, docs/greens-large.md.
enum class GreensSolver {
    Auto,       ///< direct while it fits in memory
    Direct,     ///< a dense matrix of 72 n² bytes is factored
    Iterative,  ///< a compressed matrix and GMRES
};
[[nodiscard]] std::string_view to_string(GreensSolver solver) noexcept;
/// "auto", "direct", "iterative". Throws InputError for other names.
[[nodiscard]] GreensSolver greens_solver(std::string_view name);

/// How the iterative solver keeps its matrix, docs/greens-large.md.
enum class GreensMatrix {
    Hierarchical,  ///< low-rank blocks of clusters: any surface, memory like n log n
    Wavelet,       ///< compressed columns: a surface with levels, linear elements without creases
};
[[nodiscard]] std::string_view to_string(GreensMatrix matrix) noexcept;
/// "hierarchical", "wavelet". Throws InputError for other names.
[[nodiscard]] GreensMatrix greens_matrix(std::string_view name);

struct GreensBuildOptions {
    double size = 0;  ///< the longest side of the surface is scaled to this [m]; 0: as it is
    double youngs_modulus = 1e5;  ///< [Pa]
    double poisson_ratio = 0.3;  ///< −1 < ν ≤ 1/2; finite elements: up to kMaxFiniteElementPoisson
    double density = 1000;       ///< [kg/m³]
    std::string fixed;           ///< nodes that the reference problem holds, as in "z < 5 %"
    /// Free nodes that may be loaded or touched, and so have columns; empty: all of them.
    std::string contactable = {};
    bool has_fixed_columns = false;  ///< of supports, which may then move or be released
    GreensMethod method = GreensMethod::BoundaryElements;
    std::vector<GreensReadout> readouts = {};  ///< positions after scaling to `size`

    // boundary elements
    BoundaryElements elements = BoundaryElements::Linear;
    double crease_angle = 0;  ///< > 0 [rad]: nodes are doubled along sharper edges
    GreensSolver solver = GreensSolver::Auto;
    double residual = 1e-4;  ///< of the iterative solver, relative; 1e-6 to 0.1
    GreensMatrix matrix = GreensMatrix::Hierarchical;  ///< of the iterative solver
    double matrix_tolerance = 0;  ///< 1e-6 to 0.1; 0: 1e-4 hierarchical, 0.01 wavelet
    double memory = 0;            ///< that may be used [bytes]; 0: what is free

    // finite elements
    SimulationMeshOptions mesh = {.kind = "tet", .resolution = 24};
    bool keeps_largest = false;  ///< of a mesh in several parts; otherwise they are an error
    std::optional<Material> material = {};     ///< in place of the three numbers: anisotropic
    std::vector<MaterialRegion> regions = {};  ///< later ones win

    /// Compresses columns as they come; boundary elements on a subdivision surface.
    std::optional<WaveletOptions> wavelet = {};
    /// Functions of all levels from the one to the other have columns, docs/greens-constraints.md;
    /// linear boundary elements on a subdivision surface. Coarsest −1: nodes alone have columns;
    /// finest −1: L, the nodes. A finest level below L: columns are few, and none are of nodes.
    int coarsest_level = -1, finest_level = -1;

    /// Folder of finished batches of columns; empty: none are kept.
    std::filesystem::path cache = {};
    std::int64_t cache_bytes = std::int64_t{8} << 30;  ///< oldest files go beyond this
};

/// Linear elements lock near 1/2: the less a material is compressible the stiffer they are, and
/// the more so the coarser they are.
inline constexpr double kMaxFiniteElementPoisson = 0.48;

/// Throws InputError for options that cannot work, and for those that the method or solver chosen
/// would not read, before any work.
void check_options(const GreensBuildOptions& options);

struct GreensBuildReport {
    int num_vertices = 0, num_triangles = 0;  ///< of the surface shown
    int num_elements = 0;                     ///< finite elements
    int num_nodes = 0, num_fixed = 0;         ///< boundary nodes
    int num_unknowns = 0;                     ///< scalar, of the system that is factored
    int num_columns = 0;                      ///< nodes with a column
    int num_cached = 0;                       ///< of these, from an earlier build
    bool is_iterative = false;                ///< boundary elements without a dense matrix
    double matrix_bytes = 0;                  ///< iterative: of the matrix and its preconditioner
    double mean_products = 0, max_residual = 0;  ///< iterative: of a right-hand side
    double mesh_seconds = 0, assembly_seconds = 0, factor_seconds = 0, column_seconds = 0;
    std::int64_t estimated_bytes = 0;  ///< before it began
    std::int64_t peak_bytes = 0;       ///< of the whole process
    double asymmetry = 0;
    std::string cache_problem;       ///< why batches could not be kept; empty: all were
    std::vector<std::string> notes;  ///< what is doubtful about the result
    [[nodiscard]] double seconds() const noexcept {
        return mesh_seconds + assembly_seconds + factor_seconds + column_seconds;
    }
};

/// Green's functions of the body within a closed surface, docs/greens.md section "Models and
/// files". With a cache an interrupted build (Cancelled) goes on with the batch of columns where it
/// stopped; files are the same to the bit. Throws InputError for options that cannot work, defects
/// of the surface, a selection without nodes, fewer than three fixed nodes that are not on a line,
/// and, before it starts, when the memory would not suffice.
/// Nodes of finite elements are drawn onto the surface, docs/greens.md eq. (C6), unless it is
/// hollow.
[[nodiscard]] GreensModel build_greens_model(const SemiRegularMesh& surface,
                                             const GreensBuildOptions& options,
                                             Progress& progress = Progress::none(),
                                             GreensBuildReport* report = nullptr);
/// By finite elements of a mesh that is there already: `method` does not count, and `size`, `mesh`
/// and `keeps_largest` are refused. Where it has regions, region i + 1 is of the material of
/// `regions[i]`, whose selections do not count then. Nodes are the vertices of its outer faces, in
/// ascending order.
[[nodiscard]] GreensModel build_greens_model(const VolumeMesh& mesh,
                                             const GreensBuildOptions& options,
                                             Progress& progress = Progress::none(),
                                             GreensBuildReport* report = nullptr);

}  // namespace pliant
