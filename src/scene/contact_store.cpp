#include "scene/contact_store.h"

#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/version.h"
#include "pliant/field/iso_surface.h"
#include "reduction/build_cache.h"
#include "scene/store_words.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Eigen::Vector3d;

/// Of files in the cache: counted up when their contents or the options change their meaning.
constexpr int kContactFormat = 2;
/// What a point carries at half a cell, docs/scene.md eq. (5): the force of a haptic device [N].
constexpr double kFullForce = 8.5;
/// Of one point of a tool that meets what moves, unless its surface has one, docs/scene.md [N/m].
constexpr double kHeldStiffness = 3e3;
/// Contacts times sweeps of a solver beyond the usual number, ContactSolverOptions.
constexpr int kWorkOfFew = 3000;
/// That a solver has room for, by the number of bodies.
constexpr int kContactsPerBody = 64, kFewestContacts = 8192, kPairsPerBody = 64;
/// Of bodies that a script moves into others: 0.6 m/s and a turn a second.
constexpr ScriptedMotion::Rates kFastest{0.6, 2 * std::numbers::pi};

CacheKey begin_key(const SurfaceMesh& surface) {
    CacheKey key;
    key.add(std::string(kVersion)).add(kContactFormat).add(content_hash(surface));
    return key;
}

void add_field(CacheKey& key, const FieldBuildOptions& o) {
    key.add(static_cast<int>(o.surface)).add(o.resolution).add(o.expansion).add(o.offset_cells);
    key.add(static_cast<int>(o.storage)).add(o.band_cells);
}

void add_points(CacheKey& key, const PointshellOptions& o) {
    key.add(o.num_points).add(o.num_levels).add(o.seed).add(o.radius).add(o.step);
    key.add(o.max_iterations).add(o.tolerance);
}

/// Of how points move with a model.
void add_motion(CacheKey& key, const ReducedModel& model) {
    const VolumeMesh mesh = model.mesh();
    const auto basis = model.basis();
    key.add(hash_bytes(mesh.vertices.data(), mesh.vertices.size() * sizeof(Vector3d)));
    key.add(std::span<const int>(mesh.elements));
    key.add(model.rank());
    key.add(hash_bytes(basis.data(), static_cast<std::size_t>(basis.size()) * sizeof(double)));
}

const ReducedModel* model_of(const Body& body) {
    const auto* reduced = dynamic_cast<const ReducedBody*>(&body);
    return reduced ? &reduced->model() : nullptr;
}

BuildCache open_cache(const fs::path& folder) {
    return {folder, ReducedBuildOptions().cache_bytes};
}

/// What `load` makes of a file in the cache; nothing if there is none, or one of another version.
template <class Load>
auto from_cache(const BuildCache& cache, const std::string& stage, std::uint64_t key,
                const Load& load) -> std::optional<decltype(load(std::declval<Archive>()))> {
    if (const std::optional<Archive> archive = cache.find(stage, key)) try {
            return load(*archive);
        } catch (const InputError&) {
            // built anew
        }
    return std::nullopt;
}

std::string megabytes(std::size_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f MB", 1e-6 * static_cast<double>(bytes));
    return text;
}

std::string built_in(const StopWatch& watch, const BuildCache& cache) {
    return "built in " + watch.text() +
           (cache.problem().empty() ? "" : " · not kept: " + cache.problem());
}
std::string cached_in(const StopWatch& watch) { return "from the cache, " + watch.text(); }
std::string loaded_from(const fs::path& file, const StopWatch& watch) {
    return "from " + file.filename().string() + ", " + watch.text();
}

/// The shape of a primitive; none: it is a mesh.
struct ExactShape {
    using Result = std::optional<ContactPrimitive>;
    Result operator()(const RigidSphere& s) const { return ContactPrimitive::sphere(s.radius); }
    Result operator()(const RigidBox& s) const { return ContactPrimitive::box(0.5 * s.sizes); }
    Result operator()(const RigidCapsule& s) const {
        return ContactPrimitive::capsule(s.radius, 0.5 * s.length);
    }
    Result operator()(const RigidWedge& s) const { return ContactPrimitive::wedge(s.sizes); }
    Result operator()(const RigidGround&) const { return ContactPrimitive::half_space(); }
    Result operator()(const SurfaceSource&) const { return {}; }
};
std::optional<ContactPrimitive> primitive_of(const BodyDescription& body) {
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    return rigid ? std::visit(ExactShape{}, rigid->shape) : std::nullopt;
}

/// Whether a script moves the body; one that is too fast to be kept out is refused.
bool is_moved(const ContactSide& side) {
    const auto* rigid = std::get_if<RigidSource>(&side.description.source);
    if (!rigid || !rigid->motion) return false;
    const ScriptedMotion::Rates rates = rigid->motion->largest_rates();
    // a hundredth more, so that a motion may be at the limit
    if (rates.linear > 1.01 * kFastest.linear || rates.angular > 1.01 * kFastest.angular) {
        char reached[64];
        std::snprintf(reached, sizeof reached, "%.2g m/s and %.3g °/s", rates.linear,
                      rates.angular * 180 / std::numbers::pi);
        throw InputError("", "the motion of \"" + side.description.name + "\" reaches " + reached +
                                 "; a body in contact may move at 0.6 m/s and 360 °/s at most, or "
                                 "it passes through thin parts: give it more time");
    }
    return true;
}

/// Runs `call`; its errors name the part of the body that they are about and the key that helps.
template <class Call>
auto with_name(const std::string& part, const BodyDescription& body, const Call& call) {
    try {
        return call();
    } catch (const InputError& error) {
        std::string text = part + " of \"" + body.name + "\": " + error.what();
        if (text.find("offset surface") != std::string::npos) text += " (\"surface\": \"offset\")";
        throw InputError("", text);
    }
}

/// Length within which a point is stopped: a cell of the field, or the spacing of the points.
double cell_of(double resolution, const PointTree* tree) {
    if (resolution > 0) return resolution;
    return tree && tree->shell().spacing > 0 ? tree->shell().spacing : 1e-3;
}
/// docs/scene.md eq. (5), of what a hand feels.
double felt_stiffness(double cell) { return 2 * kFullForce / cell; }

/// docs/scene.md eq. (5a), of a pair.
double chosen_stiffness(const ContactPair& pair, const ContactSurface& of_shell,
                        const ContactSurface& of_field) {
    if (const double given = common_stiffness(of_shell, of_field); given > 0) return given;
    const double felt = felt_stiffness(contact_cell(pair));
    if (pair.exchange() == ContactExchange::Explicit) return felt;
    const ContactScale shell = contact_scale(pair.shell_body()),
                       field = contact_scale(pair.field_body());
    // each of two that give way would make room for both
    if (shell.modulus > 0 && field.modulus > 0) return felt;
    return std::max(felt,
                    default_stiffness(shell, field, 0) / pair.forces().options().scaling_count);
}

void check_nodes(int nodes, const PointTree& tree) {
    const int first_level = tree.level_start(1);
    if (nodes > 0 && nodes < first_level)
        throw InputError("", "nodes", std::to_string(nodes),
                         "at least " + std::to_string(first_level) +
                             ", the first level of the pointshell; more levels make it smaller");
}

}  // namespace

double contact_cell(const ContactPair& pair) {
    return cell_of(pair.traversal().field().resolution(), &pair.traversal().tree());
}

Pointshell ContactStore::build_shell(const PointshellSource& source, const SurfaceMesh& surface,
                                     std::uint64_t key) {
    BuildCache cache = open_cache(cache_);
    if (auto shell = from_cache(cache, "shell", key, [](const Archive& archive) {
            return pointshell_from_archive(archive, "cached pointshell");
        }))
        return *std::move(shell);
    FieldReport report;
    const DistanceGrid field = build_field(surface, source.field, progress_, &report);
    const SurfaceMesh carrier = iso_surface(field, {.drops_enclosed = true}, progress_);
    Pointshell shell = build_pointshell(field, carrier, source.points, progress_);
    shell.offset = report.offset;
    cache.save("shell", key, [&](const fs::path& path) { save_pointshell(shell, path); });
    return shell;
}

PointTree ContactStore::build_tree(const std::string& body, const PointshellSource& source,
                                   const SurfaceMesh& surface, const ReducedModel* model,
                                   std::uint64_t shell_key, std::uint64_t key) {
    const StopWatch watch;
    BuildCache cache = open_cache(cache_);
    const auto say = [&](const PointTree& tree, const std::string& how) {
        tell(body + ": " + grouped(tree.num_points()) + " points in " +
             std::to_string(tree.num_levels()) + " levels, " + megabytes(tree.memory()) + " · " +
             how);
        return tree;
    };
    if (!source.file.empty()) {
        const PointTree tree = PointTree::load(source.file);
        return say(tree, loaded_from(source.file, watch));
    }
    if (const auto tree = from_cache(cache, "tree", key, [](const Archive& archive) {
            return PointTree::from_archive(archive, "cached point-tree");
        }))
        return say(*tree, cached_in(watch));

    const Pointshell shell = build_shell(source, surface, shell_key);
    progress_.stage("point-tree");
    std::optional<PointTree> tree;
    if (model) {
        std::vector<Vector3d> points;
        points.reserve(shell.points.size());
        for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
        tree.emplace(shell, material_points(*model, points, true));
    } else {
        tree.emplace(shell);
    }
    cache.save("tree", key, [&](const fs::path& path) { tree->save(path); });
    return say(*tree, built_in(watch, cache));
}

PointTree ContactStore::tree(const ContactSide& side) {
    const std::optional<PointshellSource>& source = side.description.contact.pointshell;
    if (!source)
        throw InputError("", "\"" + side.description.name +
                                 "\" has no points: give it \"contact\": {\"pointshell\": …}");
    const ReducedModel* model = model_of(side.body);
    const SurfaceMesh& surface = side.body.surface();
    CacheKey key = begin_key(surface);
    add_field(key, source->field);
    add_points(key, source->points);
    const std::uint64_t shell_key = key.hash();
    if (model) add_motion(key, *model);
    key.add(source->file.lexically_normal().string());
    const std::string name = hash_text(key.hash());
    const auto known = trees_.find(name);
    if (known != trees_.end()) return known->second;
    const PointTree built = with_name("pointshell", side.description, [&] {
        return build_tree(side.description.name, *source, surface, model, shell_key, key.hash());
    });
    return trees_.emplace(name, built).first->second;
}

FieldPointer ContactStore::grid(const std::string& body, const FieldSource& source,
                                const SurfaceMesh& surface) {
    CacheKey key = begin_key(surface);
    add_field(key, source.build);
    key.add(source.file.lexically_normal().string());
    FieldPointer& known = grids_[hash_text(key.hash())];
    if (known) return known;

    const StopWatch watch;
    BuildCache cache = open_cache(cache_);
    const auto keep = [&](const DistanceGrid& found, const std::string& how) {
        tell(body + ": field " + std::to_string(found.frame().cells[0]) + "³, " +
             megabytes(found.memory()) + " · " + how);
        known = std::make_shared<const DistanceGrid>(found);
        return known;
    };
    if (!source.file.empty())
        return keep(DistanceGrid::load(source.file), loaded_from(source.file, watch));
    if (const auto found = from_cache(cache, "field", key.hash(), [](const Archive& archive) {
            return DistanceGrid::from_archive(archive, "cached field");
        }))
        return keep(*found, cached_in(watch));
    const DistanceGrid built = build_field(surface, source.build, progress_);
    cache.save("field", key.hash(), [&](const fs::path& path) { built.save(path); });
    return keep(built, built_in(watch, cache));
}

DeformedFieldModel ContactStore::deformed(const std::string& body, const FieldSource& source,
                                          const ReducedModel& model) {
    CacheKey key = begin_key(model.surface());
    add_field(key, source.build);
    key.add(source.deformed.num_proxies).add(source.deformed.num_neighbours);
    key.add(source.deformed.num_domains).add(source.deformed.pushes_forward ? 1 : 0);
    add_motion(key, model);
    key.add(source.file.lexically_normal().string());
    const std::string name = hash_text(key.hash());
    if (const auto known = deformed_.find(name); known != deformed_.end()) return known->second;

    const StopWatch watch;
    BuildCache cache = open_cache(cache_);
    const std::string stage = "deformed-field";
    const auto keep = [&](const DeformedFieldModel& found, const std::string& how) {
        const int domains = found.num_domains();
        tell(body + ": deformed field of " + std::to_string(found.num_proxies()) + " proxies in " +
             std::to_string(domains) + (domains == 1 ? " domain · " : " domains · ") + how);
        return deformed_.emplace(name, found).first->second;
    };
    if (!source.file.empty())
        return keep(DeformedFieldModel::load(source.file, model), loaded_from(source.file, watch));
    // the file is checked by find() and mapped once more by load()
    if (const auto found = from_cache(cache, stage, key.hash(), [&](const Archive&) {
            return DeformedFieldModel::load(cache.path(stage, key.hash()), model);
        }))
        return keep(*found, cached_in(watch));
    const DeformedFieldModel built(model, source.build, source.deformed, progress_);
    cache.save(stage, key.hash(), [&](const fs::path& path) { built.save(path); });
    return keep(built, built_in(watch, cache));
}

FieldBody ContactStore::field(const ContactSide& side) {
    FieldBody result;
    result.body = &side.body;
    const std::optional<FieldSource>& source = side.description.contact.field;
    if (const auto exact = primitive_of(side.description)) {
        result.field = exact->field();
        return result;
    }
    if (!source)
        throw InputError("", "\"" + side.description.name +
                                 "\" has no field: give it \"contact\": {\"field\": …}");
    with_name("field", side.description, [&] {
        if (const ReducedModel* model = model_of(side.body))
            result.deformed = deformed(side.description.name, *source, *model);
        else
            result.field = grid(side.description.name, *source, side.body.surface());
    });
    return result;
}

LoopContact ContactStore::make(const PairContactDescription& contact, const ContactSide& shell,
                               const ContactSide& field) {
    ContactPairOptions options;
    options.exchange = contact.exchange;
    options.traversal.has_coherence = contact.has_coherence;
    const ContactSurface &of_shell = shell.description.contact.surface,
                         &of_field = field.description.contact.surface;
    options.loads.friction = contact.friction.value_or(common_friction(of_shell, of_field));
    options.loads.scaling = contact.scaling;
    if (contact.stiffness > 0) options.loads.stiffness = contact.stiffness;
    const ContactMember shell_member{shell.place, is_moved(shell), tree(shell)};
    const ContactMember field_member{field.place, is_moved(field), {}};
    ContactPair pair({&shell.body, *shell_member.tree}, this->field(field), options);
    if (!(contact.stiffness > 0)) pair.set_stiffness(chosen_stiffness(pair, of_shell, of_field));
    // arrays hold every node: the budget may be changed while it runs
    check_nodes(contact.nodes, *shell_member.tree);
    if (contact.nodes > 0) pair.set_budget(contact.nodes);
    if (contact.budget > 0) (void)pair.calibrate(contact.budget);
    return {contact.shell + "/" + contact.field, {shell_member, field_member}, std::move(pair)};
}

LoopContact ContactStore::make(const AmongContactDescription& contact,
                               std::span<const ContactSide> bodies) {
    std::vector<ContactBody> parts;
    std::vector<ContactMember> members;
    const BodyDescription* last = nullptr;
    for (const ContactSide& side : bodies) {
        // copies come one after the other, and keys of large models take their time
        ContactBody part = &side.description == last ? parts.back() : ContactBody{};
        part.body = &side.body;
        if (&side.description != last) {
            if (side.description.contact.pointshell) part.tree = tree(side);
            part.surface = side.description.contact.surface;
            // what a hand feels is limited by what its device bears, not by what can be seen
            if (side.is_held && !(part.surface.stiffness > 0))
                part.surface.stiffness = kHeldStiffness;
            part.primitive = primitive_of(side.description);
            if (!part.primitive && side.description.contact.field) {
                FieldBody solid = field(side);
                part.field = std::move(solid.field);
                part.deformed = std::move(solid.deformed);
            }
        }
        last = &side.description;
        members.push_back({side.place, is_moved(side), part.tree});
        parts.push_back(std::move(part));
    }

    const int count = static_cast<int>(bodies.size());
    ContactSolverOptions options;
    options.stiffness = contact.stiffness;
    options.friction = contact.friction;
    options.restitution = contact.restitution;
    options.scaling = contact.scaling;
    if (contact.iterations > 0)
        options.max_iterations = contact.iterations;
    else
        options.max_work = kWorkOfFew;
    options.max_contacts = contact.max_contacts > 0
                               ? contact.max_contacts
                               : std::max(kFewestContacts, kContactsPerBody * count);
    options.max_pairs =
        std::max(1, count <= 2 * kPairsPerBody ? count * (count - 1) / 2 : kPairsPerBody * count);
    return {contact.name, std::move(members), ContactSolver(std::move(parts), options)};
}

LoopContact ContactStore::make(const SelfContactDescription& contact,
                               std::span<const ContactSide> bodies) {
    const ContactSide& first = bodies.front();
    const PointTree shared = tree(first);
    check_nodes(contact.nodes, shared);
    // a sparse grid knows too little where neighbouring proxies disagree, docs/contact.md
    BodyDescription dense = first.description;
    if (dense.contact.field) dense.contact.field->build.storage = GridStorage::Dense;
    const DeformedFieldModel solid = *field({dense, first.body, first.place}).deformed;

    SelfContactOptions options;
    options.exclusion = contact.exclusion;
    options.max_contacts = shared.num_points();
    options.loads.scaling = contact.scaling;
    options.loads.stiffness = contact.stiffness > 0
                                  ? contact.stiffness
                                  : felt_stiffness(cell_of(DeformedField(solid).resolution(), {}));
    LoopContact made{contact.body + "/" + contact.body, {}, std::vector<SelfContact>()};
    auto& touching = std::get<std::vector<SelfContact>>(made.kind);
    for (const ContactSide& side : bodies) {
        // arrays hold every node: the budget may be changed while it runs
        touching.emplace_back(dynamic_cast<ReducedBody&>(side.body), shared, solid, options);
        if (contact.nodes > 0) touching.back().set_budget(contact.nodes);
        made.bodies.push_back({side.place, false, shared});
    }
    return made;
}

}  // namespace pliant
