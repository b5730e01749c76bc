#include "scene/scene_reader.h"

#include "pliant/geometry/shapes.h"
#include "scene/greens_store.h"

#include <algorithm>
#include <numbers>

namespace pliant {
namespace {

namespace fs = std::filesystem;

void use_preset(const std::string& name, const JsonObject& json, GreensBuildOptions& build) {
    const Material preset = material_preset(name);
    if (preset.anisotropy)
        json.refuse("material", "one that is the same along all directions; this preset is not");
    build.youngs_modulus = preset.youngs_modulus();
    build.poisson_ratio = preset.poisson_ratio();
    build.density = preset.density;
}

void read_greens_material(const JsonObject& json, GreensBuildOptions& build) {
    const auto constants = json.object("material");
    if (!constants) {
        if (json.has("material")) use_preset(json.text("material", ""), json, build);
        return;
    }
    if (constants->has("preset")) use_preset(constants->text("preset", ""), json, build);
    build.youngs_modulus = constants->number("youngs_modulus", build.youngs_modulus);
    build.poisson_ratio = constants->number("poisson_ratio", build.poisson_ratio);
    build.density = constants->number("density", build.density);
}

void refuse_keys_of_other_method(const JsonObject& json, const GreensBuildOptions& build) {
    const bool is_finite_elements = build.method == GreensMethod::FiniteElements;
    if (is_finite_elements)
        for (const char* key : {"elements", "crease_degrees", "solver"})
            if (json.has(key)) json.fail(key, "goes with \"method\": \"bem\" only");
    if (!is_finite_elements && json.has("mesh"))
        json.fail("mesh", "goes with \"method\": \"fem\" only");
    if (build.elements == BoundaryElements::Constant && json.has("crease_degrees"))
        json.fail("crease_degrees", "goes with \"elements\": \"linear\" only");
}

void read_measured(const JsonObject& json, const fs::path& folder, GreensRecipe& recipe) {
    if (!json.has("measured")) return;
    for (const char* key : {"elements", "crease_degrees", "method", "mesh"})
        if (json.has(key)) json.fail(key, "goes with bodies that are computed, not \"measured\"");
    recipe.has_material = json.has("material");
    const auto probing = json.object("measured");
    if (!probing) {
        recipe.measured = read_file_name(json, "measured", folder);
        return;
    }
    if (!is_subdivided(recipe.surface))
        json.fail("measured",
                  "with synthetic probes goes with shapes that are subdivision surfaces: their "
                  "coarser vertices are probed");
    SyntheticProbing synthetic;
    synthetic.num_probes = probing->integer("probes", synthetic.num_probes);
    synthetic.noise = probing->number("noise", synthetic.noise);
    synthetic.hidden_share = probing->number("hidden", synthetic.hidden_share);
    synthetic.seed = static_cast<std::uint64_t>(probing->integer("seed", 1));
    recipe.measured = synthetic;
}

ForceDetail read_detail(const JsonObject& json) {
    const double period = json.number("period", 0), height = json.number("height", 0);
    ForceDetailOptions options;
    options.max_slope = json.number("max_slope", options.max_slope);
    options.friction_depth = json.number("friction_depth", options.friction_depth);
    return ForceDetail::waves(period, height, options);
}

void read_wavelet(const JsonObject& json, GreensBuildOptions& build) {
    if (!json.has("wavelet")) {
        if (json.has("tolerance"))
            json.fail("tolerance", "goes with \"wavelet\": compressed functions have one");
        if (json.has("base_threshold"))
            json.fail("base_threshold", "goes with \"wavelet\": functions that are compressed");
        return;
    }
    WaveletOptions& wavelet = build.wavelet.emplace();
    wavelet.kind = wavelet_kind(json.text("wavelet", ""));
    wavelet.tolerance = json.number("tolerance", wavelet.tolerance);
    wavelet.thresholds_base = json.boolean("base_threshold", wavelet.thresholds_base);
}

/// Rounds of subdivision of a recipe; −1: it has no levels.
int levels_of(const GreensRecipe& recipe) {
    if (!recipe.pad && !is_subdivided(recipe.surface)) return -1;
    if (recipe.levels >= 0) return recipe.levels;
    return recipe.pad ? kPadLevels : make_semi_regular(recipe.surface.shape).num_levels();
}

void read_levels(const JsonObject& json, GreensRecipe& recipe) {
    for (const char* key : {"wavelet", "constraint_level", "display_level"}) {
        if (!json.has(key)) continue;
        if (levels_of(recipe) < 0)
            json.fail(key, std::string("needs levels of subdivision: a shape that has them, as "
                                       "\"rabbit\"") +
                               (std::string(key) == "display_level"
                                    ? ""
                                    : ", or a file built from what `pliant mesh --kind "
                                      "semiregular` made"));
        if (json.has("measured") && std::string(key) == "constraint_level")
            json.fail(key, "goes with bodies that are computed, not \"measured\"");
    }
    if (json.has("display_level") && recipe.pad)
        json.fail("display_level", "goes with \"shape\", not with \"pad\"");
    if (!json.has("constraint_level")) {
        if (json.has("finest_constraint_level"))
            json.fail("finest_constraint_level", "goes with \"constraint_level\"");
        return;
    }
    GreensBuildOptions& build = recipe.build;
    const int levels = levels_of(recipe);
    build.coarsest_level = json.integer("constraint_level", 0);
    build.finest_level = json.integer("finest_constraint_level", -1);
    const std::string range = "0 to " + std::to_string(levels) + ", levels of the surface";
    if (build.coarsest_level > levels) json.refuse("constraint_level", range);
    if (build.finest_level > levels) json.refuse("finest_constraint_level", range);
    if (build.finest_level == levels) build.finest_level = -1;
    if (build.finest_level >= 0 && build.finest_level < build.coarsest_level)
        json.refuse("finest_constraint_level",
                    "at least \"constraint_level\", " + std::to_string(build.coarsest_level));
    // the finest level is that of the nodes, which every model has
    if (build.coarsest_level == levels) build.coarsest_level = -1;
}

GreensRecipe read_greens_recipe(const JsonObject& json, const fs::path& folder) {
    GreensRecipe recipe;
    if (const auto pad = json.object("pad")) {
        recipe.pad.emplace();
        recipe.pad->length = pad->number("length", recipe.pad->length);
        recipe.pad->width = pad->number("width", recipe.pad->width);
        recipe.pad->height = pad->number("height", recipe.pad->height);
        if (json.has("size")) json.fail("size", "does not go with \"pad\", which has its sizes");
    } else {
        recipe.surface = read_surface(json, folder);
    }
    if (json.has("levels") && !recipe.pad && !is_subdivided(recipe.surface))
        json.fail("levels",
                  "goes with shapes that are subdivision surfaces, as \"nodule\" and \"rabbit\", "
                  "without \"resolution\"");
    recipe.levels = json.integer("levels", recipe.levels);
    GreensBuildOptions& build = recipe.build;
    build.size = json.number("size", build.size);
    read_greens_material(json, build);
    if (!json.has("fixed"))
        json.fail("fixed", "is needed: something must hold the body, as in \"z < 5 %\"");
    build.fixed = read_selection(json, "fixed");
    build.contactable = read_selection(json, "contactable");
    if (json.text("method", "bem") == "fem") build.method = GreensMethod::FiniteElements;
    if (json.text("elements", "linear") == "constant") build.elements = BoundaryElements::Constant;
    build.crease_angle = json.number("crease_degrees", 0) * std::numbers::pi / 180;
    build.solver = greens_solver(json.text("solver", "auto"));
    build.mesh = read_mesh(json, build.mesh);
    refuse_keys_of_other_method(json, build);
    read_measured(json, folder, recipe);
    read_wavelet(json, build);
    read_levels(json, recipe);
    json.check_members([&] { check_options(build); });
    return recipe;
}

const BodyDescription& read_greens_side(const JsonObject& json, const SceneDescription& scene) {
    const int found = find_description(scene, json.text("greens", ""));
    if (found < 0) json.refuse("greens", "a body of the scene: " + list_of_bodies(scene));
    const BodyDescription& body = scene.bodies[static_cast<std::size_t>(found)];
    if (!std::holds_alternative<GreensSource>(body.source) &&
        !std::holds_alternative<ZonesSource>(body.source))
        json.refuse("greens", "a body of the kind \"greens\" or \"zones\"");
    return body;
}

/// Zones that are solved by themselves.
bool has_zones_apart(const BodyDescription& body) {
    const auto* zones = std::get_if<ZonesSource>(&body.source);
    return zones && !zones->is_one_body();
}

bool is_convex(const RigidSource& rigid) {
    return !std::holds_alternative<SurfaceSource>(rigid.shape) &&
           !std::holds_alternative<RigidGround>(rigid.shape);
}

std::vector<std::string> read_touching(const JsonObject& json, const std::string& key,
                                       const BodyDescription& body, const SceneDescription& scene) {
    std::vector<std::string> names;
    const JsonValue::Array& items = json.find(key)->array();
    const auto check_loop_of_touch = [&](const BodyDescription& other, const auto& refuse) {
        if (other.loop != body.loop)
            refuse("a body of the loop \"" + body.loop + "\", as \"" + body.name +
                   "\"; this one is in \"" + other.loop + "\"");
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto refuse = [&](const std::string& expected) {
            json.refuse_item(key, i, expected);
        };
        const std::string& name = items[i].string();
        const int found = find_description(scene, name);
        if (found < 0) refuse("a body of the scene: " + list_of_bodies(scene));
        const BodyDescription& other = scene.bodies[static_cast<std::size_t>(found)];
        if (key == "tools" && std::holds_alternative<HandSource>(other.source)) {
            if (has_zones_apart(body))
                refuse("a rigid body; hands grasp bodies of the kind \"greens\"");
            if (items.size() > 1) refuse("a hand without other tools beside it");
            check_loop_of_touch(other, refuse);
            names.push_back(name);
            continue;
        }
        const auto* rigid = std::get_if<RigidSource>(&other.source);
        if (!rigid) refuse("a rigid body; this one deforms");
        if (rigid->density > 0) refuse("a body that forces do not move: leave out its \"density\"");
        if (key == "tools" && !is_convex(*rigid))
            refuse("a sphere, box, capsule or wedge: these are convex");
        check_loop_of_touch(other, refuse);
        if (std::ranges::find(names, name) != names.end()) refuse("each body once");
        names.push_back(name);
    }
    return names;
}

}  // namespace

GreensSource read_greens(const JsonObject& json, const fs::path& folder) {
    GreensSource source;
    source.mask_radius = json.number("mask_radius", source.mask_radius);
    source.constraint_level = json.integer("constraint_level", source.constraint_level);
    source.display_level = json.integer("display_level", source.display_level);
    if (!json.has("file")) {
        source.model = read_greens_recipe(json, folder);
        return source;
    }
    for (const char* key : {"levels", "size", "material", "fixed", "contactable", "method",
                            "elements", "crease_degrees", "mesh", "measured", "solver", "wavelet",
                            "tolerance", "base_threshold", "finest_constraint_level"})
        if (json.has(key)) json.fail(key, "goes with \"shape\" or \"surface\"; the file says it");
    if (json.has("display_level"))
        json.fail("display_level",
                  "goes with a \"shape\" that has levels, as \"rabbit\"; a file is shown as the "
                  "surface that it was built from");
    const fs::path path = read_file_name(json, "file", folder);
    if (path.extension() != ".pliant")
        json.refuse("file", "a .pliant file that `pliant build --kind greens` made");
    source.model = path;
    return source;
}

std::optional<ScriptedMotion> read_number_path(const JsonObject& json, const std::string& key,
                                               const std::string& value, double unit) {
    const auto path = json.object(key);
    if (!path) return std::nullopt;
    std::vector<Keyframe> keys;
    for (const JsonObject& frame : path->objects("keyframes")) {
        keys.push_back({frame.number("time", 0), {}});
        keys.back().pose.position.x() = unit * frame.number(value, 0);
        if (keys.size() > 1 && !(keys.back().time > keys[keys.size() - 2].time))
            frame.refuse("time", "a time after that of the frame before");
    }
    const bool is_repeated = path->boolean("repeat", false);
    std::optional<ScriptedMotion> motion;
    json.check(key, [&] { motion = ScriptedMotion(std::move(keys), is_repeated); });
    return motion;
}

HandSource read_hand_body(const JsonObject& json, const Pose& pose) {
    HandSource hand;
    hand.size = json.number("size", hand.size);
    hand.motion = read_motion(json, pose);
    hand.closing = read_number_path(json, "closing", "value", 1);
    hand.springs.joint_stiffness = json.number("joint_stiffness", hand.springs.joint_stiffness);
    hand.springs.wrist_stiffness = json.number("wrist_stiffness", hand.springs.wrist_stiffness);
    return hand;
}

GreensContactDescription read_greens_contact(const JsonObject& json,
                                             const SceneDescription& scene) {
    GreensContactDescription contact;
    const BodyDescription& body = read_greens_side(json, scene);
    contact.body = json.text("greens", "");
    json.exclude("points", "tools");
    if (!json.has("points") && !json.has("tools"))
        json.fail("greens", "needs \"points\" or \"tools\" beside it: rigid bodies that touch it");
    const bool has_tools = json.has("tools");
    if (!has_tools && has_zones_apart(body))
        json.fail("points",
                  "do not touch bodies of the kind \"zones\" unless these are bonded and their "
                  "bones stay; \"tools\" do");
    if (has_tools) contact.kind = GreensContactDescription::Kind::Tools;
    contact.by = read_touching(json, has_tools ? "tools" : "points", body, scene);
    for (const char* key : {"friction", "pull", "detail"})
        if (has_tools && json.has(key)) json.fail(key, "goes with \"points\" only");
    for (const char* key : {"sliding", "budget"})
        if (!has_tools && json.has(key)) json.fail(key, "goes with \"tools\" only");
    if (json.has("budget")) {
        const auto* source = std::get_if<GreensSource>(&body.source);
        if (!source || source->constraint_level < 0)
            json.fail("budget",
                      "goes with a body that has \"constraint_level\": it is touched there, and on "
                      "finer levels as far as the budget allows");
    }
    contact.budget = json.number("budget", contact.budget);
    contact.friction = json.number("friction", contact.friction);
    contact.is_pulling = json.boolean("pull", contact.is_pulling);
    contact.is_sliding = json.boolean("sliding", contact.is_sliding);
    if (const auto detail = json.object("detail"))
        detail->check_members([&] { contact.detail = read_detail(*detail); });
    return contact;
}

}  // namespace pliant
