#include "scene/greens_store.h"

#include "core/numbers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/version.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/measured_greens.h"
#include "reduction/build_cache.h"
#include "reduction/material_chunks.h"
#include "scene/model_store.h"
#include "scene/store_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

/// Of models in the cache: counted up when shapes or recipes change their meaning.
constexpr int kGreensFormat = 3;
constexpr const char* kGreensStage = "greens";

/// Inverses of earlier contacts of a scene, and conditions that its tools may hold at once: 213
/// nodes that stick, 640 that slide.
constexpr std::size_t kGreensCacheBytes = std::size_t{64} << 20;
constexpr int kMaxConditions = 640;
/// Before contact with a budget goes to a finer level, and over which another one is faded in [s].
constexpr double kCalmTime = 0.25, kFadeTime = 0.1;

void add_material(CacheKey& key, const Material& material) {
    const MaterialChunks chunks = material_chunks({material});
    key.add(std::span<const int>(chunks.laws)).add(std::span<const double>(chunks.constants));
    key.add(std::span<const double>(chunks.anisotropic));
}

/// "2,400", "600 on levels 2 to 3", "2,400 · 12,345 coefficients, compressed 25 times".
std::string text_of_columns(const GreensModel& model) {
    const GreensFunctions& functions = *model.reference.functions;
    int count = 0, coarsest = -1, finest = -1;
    for (int id = 0; id < functions.num_column_ids(); ++id) {
        if (!functions.has_column(id)) continue;
        ++count;
        coarsest = model.surface.num_levels() - id / functions.num_nodes();
        if (finest < 0) finest = coarsest;
    }
    std::string text = grouped(count);
    if (model.reference.hierarchy) {
        text +=
            finest == coarsest ? " on level " : " on levels " + std::to_string(coarsest) + " to ";
        text += std::to_string(finest);
    }
    if (const auto* wavelets = dynamic_cast<const WaveletGreensFunctions*>(&functions)) {
        char times[32];
        (void)std::snprintf(times, sizeof times, "%.3g", wavelets->report().compression);
        text += " · " + grouped(wavelets->report().num_blocks) + " coefficients, " + times +
                " times fewer";
    }
    return text;
}

SemiRegularMesh greens_surface(const GreensRecipe& recipe, Progress& progress) {
    const SurfaceSource& source = recipe.surface;
    if (recipe.pad) return pad_surface(*recipe.pad, recipe.levels < 0 ? kPadLevels : recipe.levels);
    if (is_subdivided(source)) return make_semi_regular(source.shape, recipe.levels);
    return midpoint_subdivide(load_solid(source, 0, progress), 0);
}

GreensModel estimated_greens(const GreensRecipe& recipe, GreensBuildOptions build,
                             const SemiRegularMesh& surface, Progress& progress) {
    build.wavelet.reset();  // what is probed is as exact as it can be
    MeasuredGreensOptions options;
    options.fixed = build.fixed;
    options.contactable = build.contactable;
    options.poisson_ratio = build.poisson_ratio;
    options.density = build.density;
    const auto* file = std::get_if<std::filesystem::path>(&recipe.measured);
    if (file) {
        options.size = build.size;
        if (recipe.has_material) options.youngs_modulus = build.youngs_modulus;
        try {
            return build_measured_model(surface, load_measurement(*file), options, progress);
        } catch (const InputError& error) {
            if (!error.file().empty()) throw;
            throw InputError(file->string(), error.what());
        }
    }
    const GreensModel body = build_greens_model(surface, build, progress);
    options.youngs_modulus = build.youngs_modulus;
    return build_measured_model(
        body.surface, synthetic_measurement(body, std::get<SyntheticProbing>(recipe.measured)),
        options, progress);
}

GreensModel measured_greens(const GreensRecipe& recipe, const GreensBuildOptions& build,
                            const SemiRegularMesh& surface, Progress& progress) {
    GreensModel model = estimated_greens(recipe, build, surface, progress);
    if (build.wavelet) {
        const auto& dense = dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions);
        model.reference.functions =
            compress_greens(dense, model.surface, model.reference.kinds, model.reference.areas,
                            *build.wavelet, progress);
    }
    return model;
}

/// Nodes that may be held at once on one level, whichever has most.
int most_touchable(const GreensModel& model) {
    const GreensFunctions& functions = *model.reference.functions;
    std::vector<int> counts(at(functions.num_column_levels()), 0);
    for (int id = 0; id < functions.num_column_ids(); ++id)
        if (functions.has_column(id) &&
            model.reference.kinds[at(functions.row_of(id))] == NodeKind::Free)
            ++counts[at(id / functions.num_nodes())];
    return *std::ranges::max_element(counts);
}

}  // namespace

std::uint64_t greens_key(const GreensRecipe& recipe) {
    const GreensBuildOptions& b = recipe.build;
    CacheKey key;
    key.add(std::string(kVersion)).add(kGreensFormat);
    add_surface(key, recipe.surface);
    key.add(recipe.levels).add(b.size);
    key.add(b.youngs_modulus).add(b.poisson_ratio).add(b.density);
    key.add(b.fixed).add(b.contactable);
    key.add(static_cast<int>(b.method)).add(static_cast<int>(b.elements)).add(b.crease_angle);
    key.add(b.mesh.kind).add(b.mesh.resolution).add(b.mesh.is_hollow ? 1 : 0);
    key.add(b.mesh.growth).add(b.mesh.levels);
    if (b.wavelet)
        key.add(std::string("wavelet"))
            .add(static_cast<int>(b.wavelet->kind))
            .add(b.wavelet->tolerance)
            .add(b.wavelet->thresholds_base ? 1 : 0)
            .add(b.wavelet->bits);
    // residual and matrix count where the iterative solver is, or may be, in use
    if (b.solver != GreensSolver::Direct)
        key.add(std::string(to_string(b.solver)))
            .add(b.residual)
            .add(b.memory)
            .add(std::string(to_string(b.matrix)))
            .add(b.matrix_tolerance);
    if (b.coarsest_level >= 0)
        key.add(std::string("levels")).add(b.coarsest_level).add(b.finest_level);
    if (b.has_fixed_columns) key.add(std::string("fixed columns"));
    if (b.keeps_largest) key.add(std::string("largest part"));
    for (const GreensReadout& readout : b.readouts)
        key.add(std::string("readout"))
            .add(static_cast<int>(readout.kind))
            .add(std::span<const double>(readout.position.data(), 3));
    if (b.material) add_material(key, *b.material);
    for (const MaterialRegion& region : b.regions) {
        key.add(region.selection);
        add_material(key, region.material);
    }
    if (recipe.pad)
        key.add(std::string("pad"))
            .add(recipe.pad->length)
            .add(recipe.pad->width)
            .add(recipe.pad->height);
    if (const auto* file = std::get_if<std::filesystem::path>(&recipe.measured))
        key.add(std::string("measured")).add(read_file(*file)).add(recipe.has_material ? 1 : 0);
    if (const auto* p = std::get_if<SyntheticProbing>(&recipe.measured))
        key.add(std::string("probed"))
            .add(p->num_probes)
            .add(p->cone)
            .add(p->force)
            .add(p->noise)
            .add(p->hidden_share)
            .add(std::span<const double>(p->cameras.empty() ? nullptr : p->cameras[0].data(),
                                         3 * p->cameras.size()))
            .add(p->sees_loaded ? 1 : 0)
            .add(static_cast<int>(p->tip))
            .add(p->seed);
    return key.hash();
}

bool is_subdivided(const SurfaceSource& source) {
    return source.file.empty() && source.shape_resolution == 0 &&
           is_subdivision_shape(source.shape);
}

std::shared_ptr<const GreensModel> GreensStore::get(const std::string& body,
                                                    const GreensSource& source) {
    const auto* file = std::get_if<std::filesystem::path>(&source.model);
    const auto* recipe = std::get_if<GreensRecipe>(&source.model);
    const std::uint64_t key = recipe ? greens_key(*recipe) : 0;
    const std::string name = file ? file->lexically_normal().string() : hash_text(key);
    if (const auto known = models_.find(name); known != models_.end()) return known->second;

    const StopWatch watch;
    std::string how;
    auto model = std::make_shared<GreensModel>();
    if (file) {
        *model = load_greens_model(*file);
        how = "from " + file->filename().string() + ", ";
    } else {
        *model = build(*recipe, key, how);
    }
    if (say_)
        say_(body + ": " + grouped(model->num_nodes()) + " nodes, " + grouped(model->num_fixed()) +
             " fixed · Green's functions of " + text_of_columns(*model) + " · " + how +
             watch.text());
    return models_.emplace(name, std::move(model)).first->second;
}

GreensModel GreensStore::build(const GreensRecipe& recipe, std::uint64_t key,
                               std::string& how) const {
    BuildCache cache(cache_, recipe.build.cache_bytes);
    if (const std::optional<Archive> archive = cache.find(kGreensStage, key)) try {
            GreensModel model = greens_model_from_archive(*archive, "cached model");
            how = "from the cache, ";
            return model;
        } catch (const InputError&) {
            // of another version: built anew
        }
    GreensBuildOptions options = recipe.build;
    options.cache = cache_;
    const SemiRegularMesh surface = greens_surface(recipe, progress_);
    const bool is_measured = !std::holds_alternative<std::monostate>(recipe.measured);
    GreensModel model = is_measured ? measured_greens(recipe, options, surface, progress_)
                                    : build_greens_model(surface, options, progress_);
    cache.save(kGreensStage, key,
               [&](const std::filesystem::path& path) { save_greens_model(model, path); });
    how = (cache.problem().empty() ? "" : "not kept: " + cache.problem() + " · ") +
          std::string("built in ");
    return model;
}

std::shared_ptr<const ShownSurface> GreensStore::shown(const GreensSource& source,
                                                       const GreensModel& model) const {
    const auto* recipe = std::get_if<GreensRecipe>(&source.model);
    if (source.display_level < 0 || !recipe) return nullptr;
    const int rounds = source.display_level - model.surface.num_levels();
    if (rounds < 1)
        throw InputError("", "display_level", std::to_string(source.display_level),
                         "more than " + std::to_string(model.surface.num_levels()) +
                             ", the level of its elasticity, \"levels\"");
    // the same body on the finer level, at the size of the model
    SurfaceMesh detail = make_semi_regular(recipe->surface.shape, source.display_level).mesh;
    if (recipe->build.size > 0) {
        const SurfaceMesh as_made = make_semi_regular(recipe->surface.shape, recipe->levels).mesh;
        const double factor = bounding_box(model.surface.mesh.vertices).sizes().maxCoeff() /
                              bounding_box(as_made.vertices).sizes().maxCoeff();
        for (Eigen::Vector3d& x : detail.vertices) x *= factor;
    }
    // coarse chords are that far from the body they approximate
    constexpr double kReach = 0.1;
    return std::make_shared<const ShownSurface>(model, rounds, SurfaceQuery(detail),
                                                kReach * model.reference.length, progress_);
}

GreensHand make_greens_hand(const HandSource& source, const Pose& pose) {
    return {.hand = CompliantHand(GraspHand::adult(source.size), source.springs),
            .wrist = source.motion,
            .closing = source.closing,
            .start = pose};
}

int most_held_nodes(const GreensContactDescription& contact, const GreensModel& model) {
    return std::min(contact.is_sliding ? kMaxConditions : kMaxConditions / 3,
                    most_touchable(model));
}

LoopContact make_greens_contact(const GreensContactDescription& contact, GreensBody& body,
                                std::vector<RigidBody*> by, const std::vector<int>& places,
                                double rate, std::optional<GreensHand> hand) {
    LoopContact made{.name = contact.body + "/" + contact.by.front(),
                     .bodies = {},
                     .kind = std::unique_ptr<GreensTouch>()};
    for (std::size_t i = 0; i < places.size(); ++i)
        made.bodies.push_back(
            {.place = places[i], .is_scripted = i > 0 && by[i - 1]->is_scripted(), .tree = {}});
    if (contact.kind == GreensContactDescription::Kind::Points) {
        made.kind = std::make_unique<GreensPoints>(body, std::move(by), contact.friction,
                                                   contact.is_pulling, contact.detail);
        return made;
    }
    DistributedContactOptions options;
    if (contact.is_sliding) options.friction = TouchFriction::Frictionless;
    // zones have the usual room
    options.max_nodes = std::min(most_held_nodes(contact, body.model()),
                                 body.max_loads() - kLoadsBesideTools);
    options.level = body.constraint_level();
    options.capacitance.cache.max_bytes = kGreensCacheBytes;
    options.capacitance.cache.is_touched = true;
    options.capacitance.max_loads += static_cast<int>(body.driven_nodes().size());
    std::optional<ConstraintLevelOptions> levels;
    if (contact.budget > 0) {
        levels.emplace().budget = contact.budget;
        levels->calm_frames = static_cast<int>(std::ceil(kCalmTime * rate));
        levels->fade_frames = static_cast<int>(std::ceil(kFadeTime * rate));
    }
    made.kind =
        std::make_unique<GreensTools>(body, std::move(by), options, std::move(hand), levels);
    return made;
}

}  // namespace pliant
