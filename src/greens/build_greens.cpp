#include "pliant/greens/build_greens.h"

#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/boundary_source.h"
#include "greens/column_batches.h"
#include "greens/finite_source.h"
#include "greens/greens_nodes.h"
#include "greens/iterative_source.h"
#include "greens/outer_surface.h"
#include "pliant/core/error.h"
#include "pliant/core/version.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/selection.h"
#include "pliant/greens/boundary_readouts.h"
#include "pliant/greens/hierarchical_greens.h"
#include "reduction/material_chunks.h"
#include "reduction/material_regions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Of kept batches: counted up when the columns of a method change their meaning.
constexpr int kGreensCacheFormat = 3;
/// Finite elements are noticeably too stiff from here on.
constexpr double kStiffeningPoisson = 0.45;
/// Compressed functions are asked for reciprocity at so many nodes: every element is a sum.
constexpr std::size_t kReciprocityNodes = 512;
/// What columns take at tolerances that make sense, for the estimate of memory; below these all
/// blocks may be left, each with its place. Both twice: they are put in order when all are there.
constexpr double kSmallTolerance = 1e-3, kLargestWaveletShare = 0.5,
                 kWholeWaveletShare = 2 * 40.0 / 36;
/// Reciprocity of boundary elements worse than this asks for a finer surface.
constexpr double kDoubtfulAsymmetry = 0.1;

std::string greens_number(double value) {
    std::string text(32, '\0');
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3g", value)));
    return text;
}

std::vector<Material> body_materials(const GreensBuildOptions& options) {
    std::vector<Material> materials{options.material
                                        ? *options.material
                                        : isotropic(options.youngs_modulus, options.poisson_ratio,
                                                    options.density, Law::SmallStrain)};
    for (const MaterialRegion& region : options.regions) materials.push_back(region.material);
    return materials;
}

std::vector<Vector3d> scaled_points(std::vector<Vector3d> points, double factor) {
    for (Vector3d& x : points) x *= factor;
    return points;
}

std::vector<GreensReadout> scaled_readouts(std::vector<GreensReadout> readouts, double factor) {
    for (GreensReadout& readout : readouts) readout.position *= factor;
    return readouts;
}

double longest_extent(const std::vector<Vector3d>& points) {
    return bounding_box(points).sizes().maxCoeff();
}

void add_readouts_to(CacheKey& key, const std::vector<GreensReadout>& readouts) {
    for (const GreensReadout& readout : readouts)
        key.add(static_cast<int>(readout.kind))
            .add(std::span<const double>(readout.position.data(), 3));
}

CacheKey base_key(const char* method, const std::vector<NodeKind>& kinds,
                  const std::vector<GreensReadout>& readouts) {
    CacheKey key;
    key.add(std::string(kVersion)).add(kGreensCacheFormat).add(std::string(method));
    key.add(std::span<const NodeKind>(kinds));
    add_readouts_to(key, readouts);
    return key;
}

/// Ids of the functions of the levels that are asked for whose nodes may all carry loads: those of
/// nodes first, then coarser and coarser.
std::vector<int> level_ids(const HierarchicalBasis& basis, const std::vector<int>& nodes,
                           const GreensBuildOptions& options) {
    const int finest = options.finest_level < 0 ? basis.num_levels() : options.finest_level;
    std::vector<char> is_node(at(basis.num_vertices()), 0);
    for (const int node : nodes) is_node[at(node)] = 1;
    std::vector<int> ids;
    for (int level = finest; level >= options.coarsest_level; --level)
        for (int k = 0; k < basis.num_vertices(level); ++k) {
            const int id = basis.id(level, k);
            if (!basis.has(id)) continue;
            const auto covered = basis.values(id).vertices;
            if (std::all_of(covered.begin(), covered.end(),
                            [&](int node) { return is_node[at(node)] != 0; }))
                ids.push_back(id);
        }
    if (ids.empty())
        throw InputError("", "constraint_level", std::to_string(options.coarsest_level),
                         "a level with functions that lie on nodes without supports alone; finer "
                         "ones are smaller");
    return ids;
}

/// Wavelet coefficients of columns as they come.
class CompressingSink final : public ColumnSink {
public:
    CompressingSink(const GreensModel& model, const GreensLayout& layout,
                    const WaveletOptions& options)
        : builder_(model.surface, model.reference.kinds, model.reference.areas, layout, options) {}
    void set_column(int node, const Eigen::Ref<const Eigen::MatrixXd>& values) override {
        builder_.set_column(node, values);
    }
    void set_body_columns(const Eigen::Ref<const Eigen::MatrixXd>& values) override {
        builder_.set_body_columns(values);
    }
    [[nodiscard]] std::shared_ptr<const WaveletGreensFunctions> finish() {
        return builder_.finish();
    }

private:
    WaveletGreensBuilder builder_;
};

/// One mesh with three numbers a node, from which both methods make their equations.
class GreensBuilder {
public:
    GreensBuilder(const GreensBuildOptions& options, Progress& progress, GreensBuildReport& report)
        : options_(options),
          progress_(progress),
          report_(report),
          cache_(options.cache, options.cache_bytes) {}

    GreensModel by_boundary_elements(SemiRegularMesh surface) {
        const double length = longest_extent(surface.mesh.vertices);
        SurfaceMesh unit{scaled_points(surface.mesh.vertices, 1 / length), surface.mesh.triangles};
        const auto readouts = scaled_readouts(options_.readouts, 1 / length);
        progress_.stage("boundary nodes");
        const std::uint64_t hash = content_hash(unit);
        const BoundaryModel boundary(std::move(unit), {.elements = options_.elements,
                                                       .poisson_ratio = options_.poisson_ratio,
                                                       .crease_angle = options_.crease_angle});
        GreensModel model;
        model.surface = std::move(surface);
        model.elements = options_.elements;
        model.poisson_ratio = options_.poisson_ratio;
        model.density = options_.density;
        model.normals = boundary.normals();
        model.corner_nodes = boundary.corner_nodes();
        ReferenceProblem& reference = model.reference;
        reference.length = length;
        reference.modulus = options_.youngs_modulus / (2 * (1 + options_.poisson_ratio));
        reference.positions = scaled_points(boundary.positions(), length);
        for (const double area : boundary.areas())
            reference.areas.push_back(length * length * area);
        std::vector<int> columns = add_kinds(model);
        if (options_.coarsest_level >= 0) {
            reference.hierarchy =
                std::make_shared<const HierarchicalBasis>(model.surface, reference.kinds);
            columns = level_ids(*reference.hierarchy, columns, options_);
        }
        const auto num_columns = static_cast<double>(columns.size());
        const auto num_kept = static_cast<double>(
            std::ranges::count_if(columns, [&](int id) { return id < model.num_nodes(); }));
        const GreensMemory direct =
            with_stored_columns(boundary_memory(model.num_nodes(), num_columns, num_kept));
        report_.is_iterative = solves_iteratively(options_.solver, direct, memory_limit());
        const GreensMemory memory =
            report_.is_iterative
                ? with_stored_columns(iterative_memory(model.num_nodes(), num_columns))
                : direct;
        check_memory(memory, model, columns);

        CacheKey key = base_key("boundary elements", reference.kinds, readouts);
        if (report_.is_iterative) add_solver(key);
        key.add(hash).add(static_cast<int>(options_.elements)).add(options_.crease_angle);
        key.add(options_.poisson_ratio);
        require_inside(boundary, readouts);
        std::shared_ptr<const IterativeReport> solved;
        add_columns(model, columns, readouts, key,
                    [&](const std::vector<int>& missing) -> std::unique_ptr<GreensColumnSource> {
                        if (!report_.is_iterative) {
                            // right-hand sides of coarser functions are sums of those of nodes
                            std::vector<int> nodes;
                            for (const int id : missing)
                                if (id < model.num_nodes()) nodes.push_back(id);
                            return std::make_unique<BoundaryElementSource>(
                                boundary, reference.kinds, nodes, readouts);
                        }
                        IterativeOptions iterative;
                        iterative.tolerance = options_.residual;
                        choose_matrix(model.surface, iterative);
                        // what the rest leaves
                        iterative.memory = std::min(
                            iterative.memory, memory_limit() - memory.matrix - memory.columns -
                                                  24.0 * 3 * model.num_nodes() * 3 * kBatchNodes);
                        auto source = std::make_unique<IterativeBoundarySource>(
                            boundary, reference.kinds, readouts, iterative);
                        solved = source->report();
                        return source;
                    });
        if (solved) {
            report_.matrix_bytes =
                static_cast<double>(solved->matrix_bytes + solved->preconditioner_bytes);
            report_.mean_products = solved->mean_iterations;
            report_.max_residual = solved->max_residual;
        }
        if (model.asymmetry > kDoubtfulAsymmetry)
            report_.notes.push_back("responses of pairs of nodes to each other differ by " +
                                    greens_number(100 * model.asymmetry) +
                                    " %; a finer or more even surface brings them together");
        return model;
    }

    /// `drawn`: the surface that the mesh fills, on which nodes then lie; null: that of the mesh.
    GreensModel by_finite_elements(VolumeMesh mesh, const SurfaceQuery* drawn) {
        if (!mesh.hanging.empty())
            throw InputError("",
                             "Green's functions need a mesh without hanging nodes: of kind tet, "
                             "graded-tet or voxel");
        const std::vector<Material> materials = body_materials(options_);
        if (mesh.regions.empty() && !options_.regions.empty())
            assign_regions(mesh, options_.regions);

        GreensModel model;
        model.method = GreensMethod::FiniteElements;
        FiniteProblem problem;
        problem.vertices = add_surface(mesh, drawn, model);
        if (drawn) problem.places.emplace(mesh, model.reference.positions);
        ReferenceProblem& reference = model.reference;
        reference.length = longest_extent(drawn ? reference.positions : mesh.vertices);
        const double length = reference.length;
        add_means(mesh, materials, model);
        const std::vector<int> columns = add_kinds(model);

        // nondimensional
        problem.kinds = reference.kinds;
        problem.readouts = scaled_readouts(options_.readouts, 1 / length);
        problem.mesh = std::move(mesh);
        problem.mesh.vertices = scaled_points(std::move(problem.mesh.vertices), 1 / length);
        for (const double area : reference.areas) problem.areas.push_back(area / (length * length));
        for (const Material& material : materials)
            problem.materials.push_back(nondimensional(material, model));
        report_.num_elements = problem.mesh.num_elements();
        check_memory(finite_memory(3.0 * problem.mesh.num_vertices(), model.num_nodes(),
                                   static_cast<double>(columns.size())),
                     model, columns);

        CacheKey key = base_key("finite elements", reference.kinds, problem.readouts);
        add_problem(key, problem);
        const auto readouts = problem.readouts;
        add_columns(model, columns, readouts, key,
                    [&](const std::vector<int>&) -> std::unique_ptr<GreensColumnSource> {
                        return std::make_unique<FiniteElementSource>(std::move(problem));
                    });
        if (model.poisson_ratio > kStiffeningPoisson)
            report_.notes.push_back("linear elements are too stiff at a Poisson ratio of " +
                                    greens_number(model.poisson_ratio) +
                                    ", more so the nearer it is to 0.5; boundary elements are not");
        return model;
    }

private:
    /// Columns of the hierarchical matrix keep the keys they had before there were others.
    void add_solver(CacheKey& key) const {
        key.add(std::string("iterative")).add(options_.residual);
        if (options_.matrix != GreensMatrix::Hierarchical || options_.matrix_tolerance > 0)
            key.add(std::string(to_string(options_.matrix))).add(options_.matrix_tolerance);
    }

    /// `surface` must live as long as the source.
    void choose_matrix(const SemiRegularMesh& surface, IterativeOptions& iterative) const {
        const double tolerance = options_.matrix_tolerance;
        if (options_.matrix == GreensMatrix::Wavelet)
            iterative.make_matrix = [&surface, tolerance](const BoundaryModel& boundary,
                                                          const std::vector<NodeKind>& kinds,
                                                          Progress& progress) {
                WaveletOperatorOptions wavelet;
                if (tolerance > 0) wavelet.tolerance = tolerance;
                return make_wavelet_operator(boundary, surface, kinds, wavelet, progress);
            };
        else if (tolerance > 0)
            iterative.matrix.tolerance = tolerance;
    }

    /// Says where a read-out is in metres.
    void require_inside(const BoundaryModel& boundary,
                        std::span<const GreensReadout> readouts) const {
        for (std::size_t i = 0; i < readouts.size(); ++i) {
            try {
                (void)boundary_readouts(boundary, readouts.subspan(i, 1));
            } catch (const InputError&) {
                const Vector3d& x = options_.readouts[i].position;
                throw InputError(
                    "", "readouts",
                    greens_number(x.x()) + " " + greens_number(x.y()) + " " + greens_number(x.z()),
                    "points inside the body [m], and not quite on its surface");
            }
        }
    }

    /// The surface of a mesh, drawn onto another one; returns the vertices that are its nodes.
    static std::vector<int> add_surface(const VolumeMesh& mesh, const SurfaceQuery* drawn,
                                        GreensModel& model) {
        OuterSurface outer = outer_surface(mesh);
        if (drawn) draw_onto(*drawn, outer);
        model.reference.positions = outer.manifold.vertices;
        model.reference.positions.resize(outer.vertices.size());
        const SurfaceMesh by_nodes{model.reference.positions, outer.triangles};
        model.normals = vertex_normals(by_nodes);
        // lumped: a third of the triangles around a node
        model.reference.areas.assign(outer.vertices.size(), 0.0);
        for (int t = 0; t < by_nodes.num_triangles(); ++t) {
            const Vector3d a = by_nodes.corner(t, 1) - by_nodes.corner(t, 0),
                           b = by_nodes.corner(t, 2) - by_nodes.corner(t, 0);
            for (const int node : by_nodes.triangles[at(t)])
                model.reference.areas[at(node)] += a.cross(b).norm() / 6;
        }
        model.corner_nodes = std::move(outer.triangles);
        model.surface = midpoint_subdivide(outer.manifold, 0);
        return std::move(outer.vertices);
    }

    /// Means over the volume: they are the units of the model.
    static void add_means(const VolumeMesh& mesh, const std::vector<Material>& materials,
                          GreensModel& model) {
        double volume = 0, modulus = 0, density = 0;
        for (int e = 0; e < mesh.num_elements(); ++e) {
            const int region = mesh.regions.empty() ? 0 : mesh.regions[at(e)];
            if (region >= static_cast<int>(materials.size()))
                throw InputError(
                    "", "regions", std::to_string(region),
                    "0 to " + std::to_string(materials.size() - 1) + ", those with a material");
            const Material& material = materials[at(region)];
            const double share =
                std::abs(element_volume(mesh, e)) * (mesh.filled.empty() ? 1 : mesh.filled[at(e)]);
            volume += share;
            modulus += share * material.mu;
            density += share * material.density;
        }
        model.reference.modulus = materials.size() == 1 ? materials[0].mu : modulus / volume;
        model.density = materials.size() == 1 ? materials[0].density : density / volume;
        model.poisson_ratio = materials[0].poisson_ratio();
    }

    /// In units of the mean; of small strains, without initial stresses.
    static Material nondimensional(Material material, const GreensModel& model) {
        const double modulus = model.reference.modulus;
        material.law = Law::SmallStrain;
        material.density /= model.density;
        material.lambda /= modulus;
        material.mu /= modulus;
        material.viscosity = 0;
        if (material.anisotropy)
            material.anisotropy = Anisotropy{.stiffness = material.anisotropy->stiffness / modulus};
        return material;
    }

    static void add_problem(CacheKey& key, const FiniteProblem& problem) {
        const VolumeMesh& mesh = problem.mesh;
        key.add(static_cast<int>(mesh.kind));
        key.add(std::span<const double>(mesh.vertices.front().data(), 3 * mesh.vertices.size()));
        key.add(std::span<const int>(mesh.elements)).add(std::span<const int>(mesh.regions));
        key.add(std::span<const double>(mesh.filled));
        if (problem.places)
            key.add(std::span<const int>(problem.places->start()))
                .add(std::span<const int>(problem.places->vertices()))
                .add(std::span<const double>(problem.places->weights()));
        const MaterialChunks materials = material_chunks(problem.materials);
        key.add(std::span<const double>(materials.constants));
        key.add(std::span<const double>(materials.anisotropic));
    }

    /// Returns the nodes with columns.
    std::vector<int> add_kinds(GreensModel& model) const {
        ReferenceProblem& reference = model.reference;
        reference.kinds = node_kinds(reference.positions, reference.length, options_);
        connect_vertices(model);
        return column_nodes(reference.positions, reference.kinds, options_);
    }

    [[nodiscard]] double memory_limit() const {
        const auto available = static_cast<double>(available_memory());
        return options_.memory > 0 ? std::min(options_.memory, available) : available;
    }

    /// Columns are compressed as they come.
    [[nodiscard]] GreensMemory with_stored_columns(GreensMemory memory) const {
        if (options_.wavelet)
            memory.columns *= options_.wavelet->tolerance > kSmallTolerance ? kLargestWaveletShare
                                                                            : kWholeWaveletShare;
        return memory;
    }

    void check_memory(const GreensMemory& memory, const GreensModel& model,
                      const std::vector<int>& columns) {
        report_.estimated_bytes = static_cast<std::int64_t>(memory.total());
        check_greens_memory(memory, memory_limit(), model.method, model.num_nodes(),
                            static_cast<int>(columns.size()));
    }

    template <class MakeSource>
    void add_columns(GreensModel& model, const std::vector<int>& columns,
                     const std::vector<GreensReadout>& readouts, const CacheKey& key,
                     const MakeSource& make_source) {
        model.readouts = options_.readouts;
        int num_readouts = 0;
        for (const GreensReadout& readout : readouts) num_readouts += readout.num_values();
        const std::shared_ptr<const HierarchicalBasis>& basis = model.reference.hierarchy;
        const GreensLayout layout{
            model.num_nodes(), 3, columns, 3, num_readouts, basis ? basis->num_levels() + 1 : 1};
        std::optional<CompressingSink> sink;
        if (options_.wavelet) sink.emplace(model, layout, *options_.wavelet);
        ColumnBatches batches(layout, key, cache_, sink ? &*sink : nullptr);
        report_.num_cached = static_cast<int>(columns.size() - batches.missing().size());
        if (!batches.is_complete()) {
            std::shared_ptr<GreensColumnSource> source = make_source(batches.missing());
            if (basis) source = std::make_shared<HierarchicalColumnSource>(source, basis);
            source->prepare(progress_);
            report_.num_unknowns = source->num_unknowns();
            report_.assembly_seconds = source->assembly_seconds();
            report_.factor_seconds = source->factor_seconds();
            const SecondsOfScope scope(report_.column_seconds);
            batches.compute(*source, progress_);
        }
        if (sink)
            model.reference.functions = sink->finish();
        else
            model.reference.functions = batches.functions();
        model.asymmetry =
            reciprocity_defect(*model.reference.functions, model.reference.kinds,
                               model.reference.areas, sink ? kReciprocityNodes : columns.size());
        report_.cache_problem = cache_.problem();
        report_.num_vertices = model.surface.mesh.num_vertices();
        report_.num_triangles = model.surface.mesh.num_triangles();
        report_.num_nodes = model.num_nodes();
        report_.num_fixed = model.num_fixed();
        report_.num_columns = static_cast<int>(columns.size());
        report_.asymmetry = model.asymmetry;
        report_.peak_bytes = peak_memory();
    }

    const GreensBuildOptions& options_;
    Progress& progress_;
    GreensBuildReport& report_;
    BuildCache cache_;
};

void check_poisson(const GreensBuildOptions& options) {
    const double nu = options.poisson_ratio;
    const bool is_finite_elements = options.method == GreensMethod::FiniteElements;
    if (!(nu > -1 && nu <= 0.5))
        throw InputError("", "poisson_ratio", greens_number(nu),
                         is_finite_elements ? "-1 < value <= 0.48" : "-1 < value <= 0.5");
    if (is_finite_elements && nu > kMaxFiniteElementPoisson)
        throw InputError("", "poisson_ratio", greens_number(nu),
                         "value <= 0.48 for finite elements, which lock near 0.5; boundary "
                         "elements take up to 0.5");
}

void refuse_unless(bool is_usual, const char* field, const std::string& value,
                   const char* expected) {
    if (!is_usual) throw InputError("", field, value, expected);
}

/// Options of meshes of finite elements, where none is made.
void refuse_mesh_options(const GreensBuildOptions& options, const char* expected) {
    const GreensBuildOptions usual;
    const SimulationMeshOptions& mesh = options.mesh;
    refuse_unless(mesh.kind == usual.mesh.kind, "mesh", mesh.kind, expected);
    refuse_unless(mesh.resolution == usual.mesh.resolution, "resolution",
                  std::to_string(mesh.resolution), expected);
    refuse_unless(mesh.is_hollow == usual.mesh.is_hollow, "hollow", "true", expected);
    refuse_unless(mesh.growth == usual.mesh.growth, "growth", greens_number(mesh.growth), expected);
    refuse_unless(options.keeps_largest == usual.keeps_largest, "keep_largest", "true", expected);
}

/// Options of the iterative solver, where another one solves.
void refuse_iterative_options(const GreensBuildOptions& options, const char* expected) {
    const GreensBuildOptions usual;
    refuse_unless(options.residual == usual.residual, "residual", greens_number(options.residual),
                  expected);
    refuse_unless(options.matrix == usual.matrix, "matrix", std::string(to_string(options.matrix)),
                  expected);
    refuse_unless(options.matrix_tolerance == usual.matrix_tolerance, "matrix_tolerance",
                  greens_number(options.matrix_tolerance), expected);
}

/// Options that nothing would read.
void refuse_unread_options(const GreensBuildOptions& options) {
    if (options.method == GreensMethod::FiniteElements) {
        const char* const expected =
            "boundary elements, whose option it is; drop it for finite elements";
        refuse_unless(options.elements == BoundaryElements::Linear, "elements", "constant",
                      expected);
        refuse_unless(options.crease_angle == 0, "crease_angle",
                      greens_number(options.crease_angle), expected);
        refuse_iterative_options(options, expected);
    } else {
        refuse_mesh_options(options,
                            "finite elements, which fill the surface by a mesh; drop it for "
                            "boundary elements");
        if (options.solver == GreensSolver::Direct)
            refuse_iterative_options(
                options, "solver iterative or auto beside it; the direct one has no use for it");
        refuse_unless(options.elements == BoundaryElements::Linear || options.crease_angle == 0,
                      "crease_angle", greens_number(options.crease_angle),
                      "linear elements, whose nodes it doubles; drop it for constant ones");
    }
    if (options.finest_level >= 0 && options.coarsest_level < 0)
        throw InputError("",
                         "finest_level goes with coarsest_level, the other end of the levels that "
                         "have columns; add that or drop it");
}

}  // namespace

std::string_view to_string(GreensSolver solver) noexcept {
    switch (solver) {
        case GreensSolver::Auto: return "auto";
        case GreensSolver::Direct: return "direct";
        case GreensSolver::Iterative: return "iterative";
    }
    return "";
}

GreensSolver greens_solver(std::string_view name) {
    for (const GreensSolver solver :
         {GreensSolver::Auto, GreensSolver::Direct, GreensSolver::Iterative})
        if (name == to_string(solver)) return solver;
    throw InputError("", "solver", std::string(name), "auto, direct or iterative");
}

std::string_view to_string(GreensMatrix matrix) noexcept {
    return matrix == GreensMatrix::Wavelet ? "wavelet" : "hierarchical";
}

GreensMatrix greens_matrix(std::string_view name) {
    for (const GreensMatrix matrix : {GreensMatrix::Hierarchical, GreensMatrix::Wavelet})
        if (name == to_string(matrix)) return matrix;
    throw InputError("", "matrix", std::string(name), "hierarchical or wavelet");
}

void check_options(const GreensBuildOptions& options) {
    const bool is_finite_elements = options.method == GreensMethod::FiniteElements;
    if (!(options.size >= 0) || !std::isfinite(options.size))
        throw InputError("", "size", std::to_string(options.size),
                         "a length in metres, or 0 to keep that of the surface");
    const auto require_positive = [](double value, const char* field) {
        if (!(value > 0) || !std::isfinite(value))
            throw InputError("", field, greens_number(value), "a positive number");
    };
    require_positive(options.youngs_modulus, "youngs_modulus");
    require_positive(options.density, "density");
    check_poisson(options);
    if (options.fixed.empty())
        throw InputError("",
                         "fixed names no node, but the reference problem must hold the body "
                         "somewhere: name its nodes, as in \"z < 5 %\"");
    (void)parse_selection(options.fixed);
    if (!options.contactable.empty()) (void)parse_selection(options.contactable);
    for (const GreensReadout& readout : options.readouts)
        if (!readout.position.allFinite())
            throw InputError("", "readouts", "not finite", "three finite numbers");
    if (is_finite_elements) {
        check_options(options.mesh);
        for (const Material& material : body_materials(options)) {
            check_material(material);
            if (material.poisson_ratio() > kMaxFiniteElementPoisson)
                throw InputError("", "poisson_ratio", greens_number(material.poisson_ratio()),
                                 "value <= 0.48 for finite elements, which lock near 0.5");
        }
        for (const MaterialRegion& region : options.regions)
            (void)parse_selection(region.selection);
    } else if (!options.regions.empty() || options.material) {
        throw InputError("",
                         "boundary elements know one isotropic material; use finite elements for "
                         "regions of others, and for those with a grain");
    }
    if (!(options.residual >= 1e-6 && options.residual <= 0.1))
        throw InputError("", "residual", greens_number(options.residual),
                         "1e-6 to 0.1, relative to the right-hand side");
    if (options.matrix_tolerance != 0 &&
        !(options.matrix_tolerance >= 1e-6 && options.matrix_tolerance <= 0.1))
        throw InputError("", "matrix_tolerance", greens_number(options.matrix_tolerance),
                         "1e-6 to 0.1, or 0 for that of the matrix");
    refuse_unread_options(options);
    if (options.matrix == GreensMatrix::Wavelet &&
        (options.elements != BoundaryElements::Linear || options.crease_angle > 0))
        throw InputError("", "matrix", "wavelet",
                         "hierarchical unless there is one node at each vertex of a subdivision "
                         "surface: linear boundary elements without creases");
    if (!(options.memory >= 0) || !std::isfinite(options.memory))
        throw InputError("", "memory", greens_number(options.memory),
                         "bytes that may be used, or 0 for what is free");
    if (is_finite_elements && options.solver == GreensSolver::Iterative)
        throw InputError("", "solver", "iterative",
                         "direct or auto for finite elements, whose matrix is sparse");
    if (options.wavelet) {
        check_options(*options.wavelet);
        if (is_finite_elements || options.elements != BoundaryElements::Linear ||
            options.crease_angle > 0)
            throw InputError("",
                             "wavelets need one node at each vertex of a subdivision surface: "
                             "linear boundary elements without creases");
    }
    if (options.coarsest_level >= 0 &&
        (is_finite_elements || options.elements != BoundaryElements::Linear ||
         options.crease_angle > 0))
        throw InputError("",
                         "constraint levels need one node at each vertex of a subdivision surface: "
                         "linear boundary elements without creases");
    if (options.finest_level >= 0 && options.finest_level < options.coarsest_level)
        throw InputError(
            "", "finest_constraint_level", std::to_string(options.finest_level),
            "at least the constraint level, " + std::to_string(options.coarsest_level));
    if (!(options.crease_angle >= 0 && options.crease_angle < 3.2))
        throw InputError("", "crease_angle", greens_number(options.crease_angle),
                         "0, or an angle in radians up to π");
}

GreensModel build_greens_model(const SemiRegularMesh& surface, const GreensBuildOptions& options,
                               Progress& progress, GreensBuildReport* report) {
    check_options(options);
    GreensBuildReport unused;
    GreensBuildReport& told = report ? *report : unused;
    told = {};
    if (surface.mesh.triangles.empty())
        throw InputError("", "the surface has no triangles; a closed surface mesh is needed");
    if (options.wavelet && surface.num_levels() < 1)
        throw InputError("",
                         "wavelets need a surface with subdivision connectivity, and this one has "
                         "a single level; pliant mesh --kind semiregular makes one with several");
    if (options.matrix == GreensMatrix::Wavelet && surface.num_levels() < 1)
        throw InputError("", "matrix", "wavelet",
                         "hierarchical on this surface, which has a single level; pliant mesh "
                         "--kind semiregular makes one with several");
    if (options.coarsest_level >= 0 &&
        std::max(options.coarsest_level, options.finest_level) > surface.num_levels())
        throw InputError(
            "", "constraint_level",
            std::to_string(std::max(options.coarsest_level, options.finest_level)),
            surface.num_levels() < 1
                ? "a surface with levels, as pliant mesh --kind semiregular makes one"
                : "0 to " + std::to_string(surface.num_levels()) + ", levels of the surface");
    if (options.coarsest_level >= 0 && surface.num_levels() < 1)
        throw InputError("", "constraint_level", std::to_string(options.coarsest_level),
                         "a surface with levels, as pliant mesh --kind semiregular makes one");
    SemiRegularMesh sized = surface;
    if (options.size > 0) scale_to_size(sized.mesh, options.size);
    GreensBuilder builder(options, progress, told);
    if (options.method == GreensMethod::BoundaryElements)
        return builder.by_boundary_elements(std::move(sized));

    VolumeMesh mesh;
    const SurfaceQuery drawn(sized.mesh);
    {
        const SecondsOfScope scope(told.mesh_seconds);
        mesh = build_simulation_mesh(drawn, options.mesh, progress);
        if (options.keeps_largest)
            keep_largest_part(mesh);
        else
            check_one_part(mesh);
    }
    // the inner side of a hollow body is drawn nowhere
    return builder.by_finite_elements(std::move(mesh), options.mesh.is_hollow ? nullptr : &drawn);
}

GreensModel build_greens_model(const VolumeMesh& mesh, const GreensBuildOptions& options,
                               Progress& progress, GreensBuildReport* report) {
    GreensBuildOptions finite = options;
    finite.method = GreensMethod::FiniteElements;
    check_options(finite);
    const char* const expected = "a surface; a volume mesh is taken as it is: drop it";
    refuse_unless(options.size == 0, "size", greens_number(options.size), expected);
    refuse_mesh_options(options, expected);
    GreensBuildReport unused;
    GreensBuildReport& told = report ? *report : unused;
    told = {};
    return GreensBuilder(finite, progress, told).by_finite_elements(mesh, nullptr);
}

}  // namespace pliant
