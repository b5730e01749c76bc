#include "scene/greens_store.h"

#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/version.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/measured_greens.h"
#include "reduction/build_cache.h"
#include "scene/model_store.h"
#include "scene/store_words.h"

#include <algorithm>

namespace pliant {
namespace {

/// Of models in the cache: counted up when shapes or recipes change their meaning.
constexpr int kGreensFormat = 1;
constexpr const char* kGreensStage = "greens";

/// Inverses of earlier contacts of a scene, and nodes that its tools may hold at once.
constexpr std::size_t kGreensCacheBytes = std::size_t{64} << 20;
constexpr int kMaxHeldNodes = 160;

/// Of everything that the model depends on.
std::uint64_t greens_key(const GreensRecipe& recipe) {
    const GreensBuildOptions& b = recipe.build;
    CacheKey key;
    key.add(std::string(kVersion)).add(kGreensFormat);
    add_surface(key, recipe.surface);
    key.add(recipe.levels).add(b.size);
    key.add(b.youngs_modulus).add(b.poisson_ratio).add(b.density);
    key.add(b.fixed).add(b.contactable);
    key.add(static_cast<int>(b.method)).add(static_cast<int>(b.elements)).add(b.crease_angle);
    key.add(b.mesh.kind).add(b.mesh.resolution).add(b.mesh.hollow ? 1 : 0);
    key.add(b.mesh.growth).add(b.mesh.levels);
    if (b.fixed_columns) key.add(std::string("fixed columns"));
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
            .add(p->noise)
            .add(p->hidden_share)
            .add(static_cast<double>(p->seed));
    return key.hash();
}

SemiRegularMesh greens_surface(const GreensRecipe& recipe, Progress& progress) {
    const SurfaceSource& source = recipe.surface;
    constexpr int kPadLevels = 2;
    if (recipe.pad) return pad_surface(*recipe.pad, recipe.levels < 0 ? kPadLevels : recipe.levels);
    if (is_subdivided(source)) return make_semi_regular(source.shape, recipe.levels);
    return midpoint_subdivide(load_solid(source, 0, progress), 0);
}

GreensModel measured_greens(const GreensRecipe& recipe, const GreensBuildOptions& build,
                            const SemiRegularMesh& surface, Progress& progress) {
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

}  // namespace

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
             " fixed · Green's functions of " + grouped(model->num_columns()) + " · " + how +
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
               [&](const std::filesystem::path& path) { save_greens_model(path, model); });
    how = (cache.problem().empty() ? "" : "not kept: " + cache.problem() + " · ") +
          std::string("built in ");
    return model;
}

GreensHand make_greens_hand(const HandSource& source, const Pose& pose) {
    return {.hand = CompliantHand(GraspHand::adult(source.size), source.springs),
            .wrist = source.motion,
            .closing = source.closing,
            .start = pose};
}

LoopContact make_greens_contact(const GreensContactDescription& contact, GreensBody& body,
                                std::vector<RigidBody*> by, const std::vector<int>& places,
                                std::optional<GreensHand> hand) {
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
    options.max_nodes = std::min(kMaxHeldNodes, body.model().num_free_columns());
    options.capacitance.cache.max_bytes = kGreensCacheBytes;
    options.capacitance.max_loads += static_cast<int>(body.driven_nodes().size());
    made.kind = std::make_unique<GreensTools>(body, std::move(by), options, std::move(hand));
    return made;
}

}  // namespace pliant
