#include "scene/model_store.h"

#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/version.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "reduction/build_cache.h"
#include "reduction/material_chunks.h"
#include "scene/store_words.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Of recipes in the cache: counted up when shapes or recipes change their meaning.
constexpr int kModelFormat = 3;
/// Of a recipe the cache holds the key of the model alone: the build keeps the model, once.
constexpr const char* kStage = "model";
constexpr const char* kKeyChunk = "model_key";

/// Of everything that the model depends on.
std::uint64_t recipe_key(const ReducedRecipe& recipe) {
    const ReducedBuildOptions& b = recipe.build;
    CacheKey key;
    key.add(std::string(kVersion)).add(kModelFormat);
    add_surface(key, recipe.surface);
    std::vector<Material> materials{b.material};
    for (const MaterialRegion& region : b.regions) {
        key.add(region.selection);
        materials.push_back(region.material);
    }
    const MaterialChunks chunks = material_chunks(materials);
    key.add(std::span<const int>(chunks.laws));
    key.add(std::span<const double>(chunks.constants));
    key.add(std::span<const double>(chunks.anisotropic));
    key.add(b.size).add(b.fixed).add(b.is_free ? 1 : 0);
    key.add(b.mesh.kind).add(b.mesh.resolution).add(b.mesh.is_hollow ? 1 : 0);
    key.add(b.mesh.growth).add(b.mesh.levels).add(b.keeps_largest ? 1 : 0);
    key.add(static_cast<int>(b.elements));
    key.add(b.num_modes).add(b.rank).add(static_cast<int>(b.storage));
    return key.hash();
}

std::optional<Archive> find_model(const BuildCache& cache, std::uint64_t recipe) {
    const std::optional<Archive> note = cache.find(kStage, recipe);
    if (!note) return std::nullopt;
    return cache.find(kReducedModelStage, note->get<std::uint64_t>(kKeyChunk).front());
}

void keep_model_key(BuildCache& cache, std::uint64_t recipe, std::uint64_t model_key) {
    cache.save(kStage, recipe, [&](const fs::path& path) {
        ArchiveWriter writer("cache-model");
        writer.add<std::uint64_t>(kKeyChunk, {&model_key, 1});
        writer.save(path);
    });
}

}  // namespace

void add_surface(CacheKey& key, const SurfaceSource& source) {
    key.add(source.shape).add(source.shape_resolution);
    if (source.file.empty()) return;
    const std::string bytes = read_file(source.file);
    key.add(source.file.extension().string()).add(hash_bytes(bytes.data(), bytes.size()));
}

SurfaceMesh load_source(const SurfaceSource& source, Progress& progress) {
    if (!source.file.empty()) return load_surface(source.file);
    return make_shape(source.shape, source.shape_resolution, progress);
}

SurfaceMesh load_solid(const SurfaceSource& source, double size, Progress& progress) {
    SurfaceMesh surface = load_source(source, progress);
    repair_surface(surface);
    if (surface.triangles.empty())
        throw InputError("", "the surface has no triangles with area; a surface mesh is needed");
    if (size > 0) scale_to_size(surface, size);
    return surface;
}

const ReducedBodyModel& ModelStore::get(const std::string& body, const ReducedSource& source) {
    std::string name;
    std::uint64_t key = 0;
    const auto* file = std::get_if<ModelFile>(&source.model);
    const auto* recipe = std::get_if<ReducedRecipe>(&source.model);
    if (file) {
        name = (file->path).lexically_normal().string() + "\n" + std::to_string(file->rank);
    } else {
        key = recipe_key(*recipe);
        name = hash_text(key);
    }
    if (const auto known = models_.find(name); known != models_.end()) return known->second;
    return models_.emplace(name, file ? load(body, *file) : build(body, *recipe, key))
        .first->second;
}

ReducedBodyModel ModelStore::load(const std::string& body, const ModelFile& file) const {
    const StopWatch watch;
    ReducedModel model = ReducedModel::load(file.path);
    if (file.rank > 0) model = model.truncated(file.rank);
    ReducedBodyModel result(model);
    tell(body, model, "from " + file.path.filename().string() + ", " + watch.text());
    return result;
}

ReducedBodyModel ModelStore::build(const std::string& body, const ReducedRecipe& recipe,
                                   std::uint64_t key) const {
    const StopWatch watch;
    BuildCache cache(cache_, recipe.build.cache_bytes);
    try {
        if (const std::optional<Archive> archive = find_model(cache, key)) {
            const ReducedModel model = ReducedModel::from_archive(*archive, "cached model");
            ReducedBodyModel result(model);
            tell(body, model, "from the cache, " + watch.text());
            return result;
        }
    } catch (const InputError&) {
        // of another version: built anew
    }

    ReducedBuildOptions options = recipe.build;
    options.cache = cache_;
    ReducedBuildReport report;
    const ReducedModel model =
        build_reduced_model(load_source(recipe.surface, progress_), options, progress_, &report);
    if (report.cache_problem.empty()) keep_model_key(cache, key, report.model_key);
    const std::string problem =
        report.cache_problem.empty() ? cache.problem() : report.cache_problem;
    ReducedBodyModel result(model);
    tell(body, model,
         "built in " + watch.text() + (problem.empty() ? "" : " · not kept: " + problem));
    return result;
}

void ModelStore::tell(const std::string& body, const ReducedModel& model,
                      const std::string& how) const {
    if (!say_) return;
    const bool is_hex = model.mesh().kind == ElementKind::Hex8;
    say_(body + ": " + grouped(model.num_elements()) + (is_hex ? " hexes" : " tets") +
         " · r = " + std::to_string(model.rank()) + " · " + how);
}

}  // namespace pliant
