#include "pliant/reduction/build_reduced.h"

#include "core/resource_use.h"
#include "pliant/core/error.h"
#include "pliant/core/version.h"
#include "pliant/fem/mass.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/selection.h"
#include "pliant/reduction/modal_derivatives.h"
#include "reduction/build_cache.h"
#include "reduction/material_chunks.h"
#include "reduction/material_regions.h"
#include "reduction/static_errors.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <type_traits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// Of the stages' results: counted up when one of them changes its meaning.
constexpr int kCacheFormat = 2;

/// A basis with what is told of the modes it came from.
struct BasisResult {
    Basis basis;
    VectorXd eigenvalues;
    double expected_reach = 0;
};

int num_vectors(int num_modes) { return num_modes + num_modes * (num_modes + 1) / 2; }

std::vector<Material> all_materials(const ReducedBuildOptions& options) {
    std::vector<Material> materials{options.material};
    for (const MaterialRegion& region : options.regions) materials.push_back(region.material);
    return materials;
}

/// Repairs and scales.
SurfaceMesh prepared(SurfaceMesh surface, const ReducedBuildOptions& options,
                     ReducedBuildReport& report) {
    report.repair = repair_surface(surface);
    if (surface.triangles.empty())
        throw InputError("", "the surface has no triangles with area; a surface mesh is needed");
    if (options.size > 0) scale_to_size(surface, options.size);
    report.surface = check_surface(surface);
    return surface;
}

VolumeMesh make_mesh(const SurfaceMesh& surface, const ReducedBuildOptions& options,
                     Progress& progress) {
    VolumeMesh mesh = build_simulation_mesh(SurfaceQuery(surface), options.mesh, progress);
    if (options.keeps_largest)
        keep_largest_part(mesh);
    else
        check_one_part(mesh);
    if (!options.regions.empty()) assign_regions(mesh, options.regions);
    return mesh;
}

/// Hanging nodes follow their masters and are not held themselves.
std::vector<int> held_vertices(const VolumeMesh& mesh, const ReducedBuildOptions& options) {
    if (options.is_free) return {};
    std::vector<int> held;
    try {
        held = select_some(options.fixed, mesh.vertices, "fixed");
    } catch (const InputError& error) {
        throw InputError("", std::string(error.what()) +
                                 " Or let the body fly freely (--free): nothing is held then.");
    }
    std::vector<char> is_hanging(mesh.vertices.size(), 0);
    for (const HangingNode& node : mesh.hanging)
        is_hanging[static_cast<std::size_t>(node.vertex)] = 1;
    std::erase_if(held, [&](int v) { return is_hanging[static_cast<std::size_t>(v)] != 0; });
    return held;
}

/// Largest displacement when the quadratic part of the first mode's static response has half the
/// mass norm of its linear part, docs/reduction.md eq. (26).
double reach_of_first_mode(const FemModel& model, const LinearModes& modes,
                           const MatrixXd& derivatives, const Sparse& M) {
    const VectorXd psi = modes.shapes.col(0), phi = derivatives.col(0);
    Eigen::AlignedBox3d box;
    for (const Eigen::Vector3d& x : model.mesh().vertices) box.extend(x);
    const double longest = box.sizes().maxCoeff();
    const double curvature = std::sqrt(std::max(phi.dot(VectorXd(M * phi)), 0.0));
    double largest = 0;
    for (const double p : {1 / curvature, -1 / curvature}) {
        const VectorXd u = p * psi + 0.5 * p * p * phi;
        for (int node = 0; node < model.num_nodes(); ++node)
            largest = std::max(largest, u.segment<3>(3 * node).norm());
    }
    // a mode without quadratic part says nothing; the body's own size is enough
    return std::isfinite(largest) ? std::min(largest, longest) : longest;
}

// Chunks of cached results.

std::span<const double> as_span(const MatrixXd& m) {
    return {m.data(), static_cast<std::size_t>(m.size())};
}

void add_matrix(ArchiveWriter& writer, const std::string& name, const MatrixXd& m) {
    writer.add<double>(
        name, as_span(m),
        {static_cast<std::uint64_t>(m.cols()), static_cast<std::uint64_t>(m.rows())});
}

MatrixXd read_matrix(const Archive& archive, const std::string& name) {
    const auto values = archive.get<double>(name);
    const auto& shape = archive.info(name).shape;
    if (shape.size() != 2) throw InputError("", name + " is not a matrix");
    return Eigen::Map<const MatrixXd>(values.data(), static_cast<Eigen::Index>(shape[1]),
                                      static_cast<Eigen::Index>(shape[0]));
}

/// Keys of all stages, each with everything that its result depends on.
struct StageKeys {
    std::uint64_t mesh, embedding, modes, derivatives, basis, polynomials;

    StageKeys(const SurfaceMesh& surface, std::uint64_t input_hash,
              const ReducedBuildOptions& options) {
        const SimulationMeshOptions& m = options.mesh;
        CacheKey key;
        key.add(std::string(kVersion)).add(kCacheFormat).add(content_hash(surface));
        key.add(m.kind).add(m.resolution).add(m.is_hollow ? 1 : 0).add(m.growth).add(m.levels);
        key.add(options.keeps_largest ? 1 : 0);
        key.add(static_cast<int>(options.regions.size()));
        for (const MaterialRegion& region : options.regions) key.add(region.selection);
        mesh = embedding = key.hash();

        const MaterialChunks materials = material_chunks(all_materials(options));
        key.add(std::span<const int>(materials.laws));
        key.add(std::span<const double>(materials.constants));
        key.add(std::span<const double>(materials.anisotropic));
        key.add(options.fixed).add(options.is_free ? 1 : 0).add(options.num_modes);
        key.add(static_cast<int>(options.elements));
        modes = derivatives = key.hash();
        basis = key.add(options.rank).hash();
        polynomials = key.add(static_cast<int>(options.storage)).add(input_hash).hash();
    }
};

class Builder {
public:
    Builder(const ReducedBuildOptions& options, Progress& progress, ReducedBuildReport& report)
        : options_(options),
          progress_(progress),
          report_(report),
          cache_(options.cache, options.cache_bytes) {}

    ReducedModel run(const SurfaceMesh& input) {
        const std::uint64_t input_hash = content_hash(input);
        SurfaceMesh surface = timed("surface", [&] { return prepared(input, options_, report_); });
        const StageKeys keys(surface, input_hash, options_);
        report_.model_key = keys.polynomials;
        const auto known =
            kept<ReducedModel>(kReducedModelStage, keys.polynomials, [](const Archive& archive) {
                return ReducedModel::from_archive(archive, "cached model");
            });
        if (known) {
            skip({"mesh", "embedding", "modes", "derivatives", "basis", "polynomials"});
            find_errors(*known, keys);
            return *known;
        }

        ReducedModelParts parts;
        parts.materials = all_materials(options_);
        parts.elements = options_.elements;
        parts.storage = options_.storage;
        parts.input_hash = input_hash;
        parts.surface = std::move(surface);
        make_geometry(parts, keys);
        const FemModel model(parts.mesh, parts.materials, {parts.elements});
        add_basis(parts, model, keys);
        const ReducedModel made = timed("polynomials", [&] {
            add_projections(parts, model, progress_);
            progress_.stage("surface in the subspace");
            ReducedModel result(std::move(parts));
            keep(kReducedModelStage, keys.polynomials,
                 [&](const std::filesystem::path& path) { result.save(path); });
            return result;
        });
        find_errors(made, keys);
        return made;
    }

private:
    /// Against the whole mesh, once for each model in the cache.
    void find_errors(const ReducedModel& model, const StageKeys& keys) {
        if (!options_.finds_errors) return;
        const MatrixXd errors = stage<MatrixXd>(
            "errors", keys.polynomials,
            [](const Archive& archive) { return read_matrix(archive, "errors"); },
            [&] {
                const FemModel fem(model.mesh(), model.materials(), {model.elements()});
                if (!tests_) {
                    Constraints constraints(fem.num_nodes());
                    constraints.fix(model.fixed_vertices());
                    tests_ = solve_static_tests(fem, constraints, model.fixed_vertices(),
                                                model.eigenvalues()[0], progress_);
                }
                const auto [weight, press] = largest_errors(fem, model.basis());
                return MatrixXd(Eigen::Vector2d(weight, press));
            },
            [](ArchiveWriter& writer, const MatrixXd& found) {
                add_matrix(writer, "errors", found);
                return 0;
            });
        report_.errors = {errors.reshaped()[0], errors.reshaped()[1]};
    }
    [[nodiscard]] StaticErrors largest_errors(const FemModel& fem, const MatrixXd& U) const {
        Sparse K = fem.make_matrix();
        fem.tangent(VectorXd::Zero(fem.num_unknowns()), K);
        return largest_errors(K, U);
    }
    [[nodiscard]] StaticErrors largest_errors(const Sparse& K, const MatrixXd& U) const {
        const VectorXd errors = errors_in(U, K, *tests_);
        const int known = tests_->num_known, num_others = tests_->size() - known;
        StaticErrors largest;
        largest.weight = errors.head(tests_->num_gravity).maxCoeff();
        if (num_others > 0) largest.press = errors.tail(num_others).maxCoeff();
        return largest;
    }

    void make_geometry(ReducedModelParts& parts, const StageKeys& keys) {
        parts.mesh = stage<VolumeMesh>(
            "mesh", keys.mesh,
            [](const Archive& archive) { return read_volume_mesh(archive, "cached mesh"); },
            [&] { return make_mesh(parts.surface, options_, progress_); },
            [](ArchiveWriter& writer, const VolumeMesh& mesh) {
                return add_volume_mesh(writer, mesh);
            });
        parts.fixed_vertices = held_vertices(parts.mesh, options_);
        parts.embedding = stage<Embedding>(
            "embedding", keys.embedding,
            [&](const Archive& archive) {
                return read_embedding(archive, parts.mesh.num_vertices(), "cached embedding");
            },
            [&] {
                progress_.stage("embedding surface");
                return Embedding(parts.mesh, parts.surface.vertices);
            },
            [](ArchiveWriter& writer, const Embedding& embedding) {
                add_embedding(writer, embedding);
                return 0;
            });
    }

    /// Modes and derivatives are left alone where their basis is known.
    void add_basis(ReducedModelParts& parts, const FemModel& model, const StageKeys& keys) {
        const auto read = [](const Archive& archive) {
            return BasisResult{{read_matrix(archive, "U"), read_matrix(archive, "singular_values")},
                               read_matrix(archive, "eigenvalues"),
                               read_matrix(archive, "expected_reach").sum()};
        };
        std::optional<BasisResult> result = kept<BasisResult>("basis", keys.basis, read);
        if (result) {
            skip({"modes", "derivatives", "basis"});
        } else {
            Constraints constraints(model.num_nodes());
            constraints.fix(parts.fixed_vertices);
            const LinearModes modes = find_modes(model, constraints, keys);
            const MatrixXd derivatives = find_derivatives(model, constraints, modes, keys);
            result = stage<BasisResult>(
                "basis", keys.basis, read, [&] { return make_basis(model, modes, derivatives); },
                [](ArchiveWriter& writer, const BasisResult& r) {
                    auto copies = std::make_unique<std::array<MatrixXd, 3>>();
                    *copies = {r.basis.singular_values, r.eigenvalues,
                               MatrixXd::Constant(1, 1, r.expected_reach)};
                    add_matrix(writer, "U", r.basis.U);
                    add_matrix(writer, "singular_values", (*copies)[0]);
                    add_matrix(writer, "eigenvalues", (*copies)[1]);
                    add_matrix(writer, "expected_reach", (*copies)[2]);
                    return copies;
                });
        }
        parts.basis = std::move(result->basis);
        parts.eigenvalues = std::move(result->eigenvalues);
        parts.expected_reach = result->expected_reach;
    }

    LinearModes find_modes(const FemModel& model, const Constraints& constraints,
                           const StageKeys& keys) {
        return stage<LinearModes>(
            "modes", keys.modes,
            [](const Archive& archive) {
                return LinearModes{read_matrix(archive, "eigenvalues"),
                                   read_matrix(archive, "shapes"), read_matrix(archive, "rigid")};
            },
            [&] {
                return compute_modes(model, constraints, {.num_modes = options_.num_modes},
                                     progress_);
            },
            [](ArchiveWriter& writer, const LinearModes& m) {
                auto copy = std::make_unique<MatrixXd>(m.eigenvalues);
                add_matrix(writer, "eigenvalues", *copy);
                add_matrix(writer, "shapes", m.shapes);
                add_matrix(writer, "rigid", m.rigid);
                return copy;
            });
    }

    MatrixXd find_derivatives(const FemModel& model, const Constraints& constraints,
                              const LinearModes& modes, const StageKeys& keys) {
        return stage<MatrixXd>(
            "derivatives", keys.derivatives,
            [](const Archive& archive) { return read_matrix(archive, "derivatives"); },
            [&] { return modal_derivatives(model, constraints, modes, {}, progress_); },
            [](ArchiveWriter& writer, const MatrixXd& derivatives) {
                add_matrix(writer, "derivatives", derivatives);
                return 0;
            });
    }

    [[nodiscard]] BasisResult make_basis(const FemModel& model, const LinearModes& modes,
                                         const MatrixXd& derivatives) {
        progress_.stage("basis");
        const Sparse M = mass_matrix(model);
        BasisResult result;
        result.basis =
            options_.rank == 0
                ? chosen_basis(model, modes, derivatives, M)
                : mass_pca(weighted_modes_and_derivatives(modes, derivatives, M), M, options_.rank);
        if (result.basis.size() < options_.rank)
            throw InputError("", "rank", std::to_string(options_.rank),
                             "at most " + std::to_string(result.basis.size()) +
                                 ": beyond it the weighted modes and derivatives of this body are "
                                 "smaller than rounding");
        result.eigenvalues = modes.eigenvalues;
        result.expected_reach = reach_of_first_mode(model, modes, derivatives, M);
        return result;
    }

    /// The most important shapes and the answers to those tests that they get wrong: as few as
    /// leave small errors.
    [[nodiscard]] Basis chosen_basis(const FemModel& model, const LinearModes& modes,
                                     const MatrixXd& derivatives, const Sparse& M) {
        Constraints constraints(model.num_nodes());
        const std::vector<int> fixed = held_vertices(model.mesh(), options_);
        constraints.fix(fixed);
        tests_ = solve_static_tests(model, constraints, fixed, modes.eigenvalues[0], progress_);
        const MatrixXd shapes = weighted_modes_and_derivatives(modes, derivatives, M);
        const int most = ReducedBuildOptions::kMostChosenRank;
        Basis basis = mass_pca(shapes, M, std::min(most, static_cast<int>(shapes.cols())));
        Sparse K = model.make_matrix();
        model.tangent(VectorXd::Zero(model.num_unknowns()), K);
        const MatrixXd shapes_first = basis.U;
        for (int r = std::min(ReducedBuildOptions::kLeastChosenRank, basis.size());; ++r) {
            // what the first vectors get wrong of the known tests
            const MatrixXd first = shapes_first.leftCols(r);
            const VectorXd errors = errors_in(first, K, *tests_);
            std::vector<Eigen::Index> wrong;
            for (Eigen::Index j = 0; j < tests_->num_known; ++j)
                if (errors[j] > ReducedBuildOptions::kAimedError) wrong.push_back(j);
            MatrixXd joined(first.rows(), r + static_cast<Eigen::Index>(wrong.size()));
            joined << first, tests_->answers(Eigen::all, wrong);
            basis.U = mass_gram_schmidt(joined, M);
            const StaticErrors left = largest_errors(K, basis.U);
            if (std::max(left.weight, left.press) <= ReducedBuildOptions::kAimedError ||
                basis.size() >= most || r == shapes_first.cols())
                return basis;
        }
    }

    /// The result of an earlier build, if there is one that this version can read.
    template <class Result, class Read>
    [[nodiscard]] std::optional<Result> kept(const std::string& name, std::uint64_t key,
                                             const Read& read) const {
        const std::optional<Archive> archive = cache_.find(name, key);
        if (!archive) return std::nullopt;
        try {
            return read(*archive);
        } catch (const InputError&) {
            return std::nullopt;
        }
    }

    template <class Write>
    void keep(const std::string& name, std::uint64_t key, const Write& write) {
        cache_.save(name, key, write);
        report_.cache_problem = cache_.problem();
    }

    /// Notes stages whose results are not even looked at.
    void skip(std::initializer_list<const char*> names) {
        for (const char* name : names) report_.stages.push_back({name, 0, peak_memory(), true});
    }

    /// Runs the work and notes its time and memory.
    template <class Work>
    std::invoke_result_t<Work> timed(const std::string& name, const Work& work) {
        const auto start = std::chrono::steady_clock::now();
        const std::size_t place = report_.stages.size();
        report_.stages.push_back({name, 0, 0, false});
        auto result = work();
        StageReport& entry = report_.stages[place];
        entry.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        entry.peak_bytes = peak_memory();
        return result;
    }

    /// The result kept by an earlier build, or made now and kept for later ones. `add` returns what
    /// must live until the file is written.
    template <class Result, class Read, class Make, class Add>
    Result stage(const std::string& name, std::uint64_t key, const Read& read, const Make& make,
                 const Add& add) {
        return timed(name, [&] {
            if (std::optional<Result> known = kept<Result>(name, key, read)) {
                report_.stages.back().is_cached = true;
                return std::move(*known);
            }
            Result result = make();
            ArchiveWriter writer("cache-" + name);
            [[maybe_unused]] const auto copies = add(writer, result);
            keep(name, key, [&](const std::filesystem::path& path) { writer.save(path); });
            return result;
        });
    }

    const ReducedBuildOptions& options_;
    Progress& progress_;
    ReducedBuildReport& report_;
    BuildCache cache_;
    std::optional<StaticTests> tests_;  ///< once they are solved
};

}  // namespace

double ReducedBuildReport::seconds() const noexcept {
    double sum = 0;
    for (const StageReport& stage : stages) sum += stage.seconds;
    return sum;
}

void check_options(const ReducedBuildOptions& options) {
    if (!(options.size >= 0) || !std::isfinite(options.size))
        throw InputError("", "size", std::to_string(options.size),
                         "a length in metres, or 0 to keep that of the surface");
    for (const Material& material : all_materials(options)) check_material(material);
    check_options(options.mesh);
    if (options.is_free && !options.fixed.empty())
        throw InputError("", "fixed \"" + options.fixed +
                                 "\" holds vertices of a body that is to be free; drop one of the "
                                 "two");
    if (!options.is_free && options.fixed.empty())
        throw InputError("",
                         "fixed names no vertex, but a body that is not free must be held "
                         "somewhere: name its vertices, as in \"z < 5 %\", or let it fly freely "
                         "(--free)");
    if (!options.fixed.empty()) (void)parse_selection(options.fixed);
    for (const MaterialRegion& region : options.regions) (void)parse_selection(region.selection);
    // beyond 1,000 the number of derivatives overflows, and so does any memory
    if (options.num_modes < 1 || options.num_modes > 1000)
        throw InputError("", "num_modes", std::to_string(options.num_modes), "1 to 1000");
    const int most = std::min(num_vectors(options.num_modes), SurfaceShapes::kMaxSize);
    if (options.rank < 0 || options.rank > most)
        throw InputError("", "rank", std::to_string(options.rank),
                         "1 to " + std::to_string(most) + ", what " +
                             std::to_string(options.num_modes) +
                             " modes and their derivatives span at most; more modes allow more");
}

ReducedModel build_reduced_model(const SurfaceMesh& surface, const ReducedBuildOptions& options,
                                 Progress& progress, ReducedBuildReport* report) {
    check_options(options);
    ReducedBuildReport unused;
    ReducedBuildReport& told = report ? *report : unused;
    told = {};
    return Builder(options, progress, told).run(surface);
}

std::filesystem::path default_cache_folder() {
    const auto folder_of = [](const char* variable) {
        const char* value = std::getenv(variable);
        return std::filesystem::path(value ? value : "");
    };
    // the base directory rules have relative paths ignored
    if (const auto base = folder_of("XDG_CACHE_HOME"); base.is_absolute()) return base / "pliant";
    const auto home = folder_of("HOME");
    return home.empty() ? home : home / ".cache" / "pliant";
}

int clear_cache(const std::filesystem::path& folder) { return BuildCache::clear(folder); }

}  // namespace pliant
