#include <system_error>

#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/selection.h"
#include "scene/scene_reader.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Eigen::Vector3d;

Law read_law(const JsonObject& json) {
    const std::string name = json.text("law", "");
    Law result = Law::StVenantKirchhoff;
    for (const Law law : {Law::SmallStrain, Law::NeoHookean, Law::Corotational})
        if (name == to_string(law)) result = law;
    return result;
}

/// The same material under the law that a kind of body takes where none is named. Anisotropic ones
/// have St. Venant and Kirchhoff's.
Material under(Law law, Material material) {
    if (!material.anisotropy) material.law = law;
    return material;
}

/// A preset by name, or constants with or without a preset that gives the others; `default_law`
/// where it names none.
Material read_material(const JsonObject& json, Material otherwise, Law default_law) {
    const auto constants = json.object("material");
    if (!constants)
        return json.has("material") ? under(default_law, material_preset(json.text("material", "")))
                                    : otherwise;
    const bool has_preset = constants->has("preset");
    if (!has_preset)
        for (const char* key : {"youngs_modulus", "poisson_ratio", "density"})
            if (!constants->has(key))
                constants->fail(key,
                                "is missing; without a \"preset\" a material needs "
                                "youngs_modulus, poisson_ratio and density");
    Material result;
    json.check("material", [&] {
        const bool has_law = constants->has("law");
        const Law law = has_law ? read_law(*constants) : default_law;
        if (has_preset)
            result = has_law ? material_preset(constants->text("preset", ""), law)
                             : under(law, material_preset(constants->text("preset", "")));
        const bool has_elasticity =
            constants->has("youngs_modulus") || constants->has("poisson_ratio");
        if (result.anisotropy && has_elasticity)
            throw InputError("",
                             "this preset is stiffer along one direction, which youngs_modulus "
                             "and poisson_ratio cannot describe; drop \"preset\"");
        const double density = constants->number("density", result.density);
        if (!has_preset || has_elasticity)
            result =
                isotropic(constants->number("youngs_modulus", result.youngs_modulus()),
                          constants->number("poisson_ratio", result.poisson_ratio()), density, law);
        result.density = density;
        check_material(result);
    });
    return result;
}

ElementFormulation read_elements(const JsonObject& json) {
    return element_formulation(json.text("elements", "accurate"), "elements");
}

/// How a reduced model moves, the same for files and recipes.
void read_reduced_motion(const JsonObject& json, ReducedSource& source) {
    if (const auto damping = json.object("damping")) {
        source.damping.mass = damping->number("mass", source.damping.mass);
        source.damping.stiffness = damping->number("stiffness", source.damping.stiffness);
    }
    source.is_linear = json.boolean("linear", source.is_linear);
    if (json.text("coupling", "coupled") == "decoupled")
        source.coupling = FlightCoupling::Decoupled;
}

/// The key "model": a file name, or an object with more.
ReducedSource read_model_file(const JsonObject& json, const fs::path& folder) {
    ReducedSource source;
    ModelFile file;
    const auto require_model = [](const JsonObject& owner, const std::string& key,
                                  const fs::path& path) {
        if (path.extension() != ".pliant")
            owner.refuse(key, "a .pliant file that `pliant build` made");
    };
    if (const auto options = json.object("model")) {
        file.path = read_file_name(*options, "path", folder);
        require_model(*options, "path", file.path);
        file.rank = options->integer("rank", file.rank);
        read_reduced_motion(*options, source);
    } else {
        file.path = read_file_name(json, "model", folder);
        require_model(json, "model", file.path);
    }
    source.model = file;
    return source;
}

ReducedSource read_recipe(const JsonObject& json, const fs::path& folder) {
    ReducedRecipe recipe;
    recipe.surface = read_surface(json, folder);
    ReducedBuildOptions& build = recipe.build;
    build.size = json.number("size", build.size);
    constexpr Law kLaw = Law::StVenantKirchhoff;  // the polynomial one
    build.material = read_material(json, build.material, kLaw);
    for (const JsonObject& region : json.objects("regions"))
        build.regions.push_back(
            {read_selection(region, "where"), read_material(region, build.material, kLaw)});
    build.fixed = read_selection(json, "fixed");
    build.is_free = json.boolean("free", build.is_free);
    build.elements = read_elements(json);
    build.mesh = read_mesh(json, build.mesh);
    build.keeps_largest = json.boolean("keep_largest", build.keeps_largest);
    build.num_modes = json.integer("modes", build.num_modes);
    build.rank = json.integer("rank", build.rank);
    if (json.text("storage", "float32") == "int16") build.storage = ShapeStorage::Int16;
    json.check_members([&] { check_options(build); });

    ReducedSource source;
    source.model = recipe;
    read_reduced_motion(json, source);
    return source;
}

FemSource::BoxMesh read_fem_box(const JsonObject& json) {
    FemSource::BoxMesh box;
    box.sizes = json.vector("sizes", box.sizes);
    const Vector3d cells = json.vector("cells", Vector3d::Ones());
    for (int axis = 0; axis < 3; ++axis)
        box.cells[static_cast<std::size_t>(axis)] = static_cast<int>(cells[axis]);
    if (cells.prod() > 1e6) json.refuse("cells", "at most 1,000,000 cells together");
    box.graded_layers = json.integer("graded_layers", box.graded_layers);
    if (box.graded_layers > 0) {
        if (box.sizes.minCoeff() != box.sizes.maxCoeff())
            json.refuse("sizes", "three equal lengths: only cubes have graded_layers");
        if (cells.minCoeff() != cells.maxCoeff())
            json.refuse("cells", "three equal numbers: only cubes have graded_layers");
    }
    return box;
}

/// Keys that only a surface has a use for.
void refuse_surface_keys(const JsonObject& json, const std::vector<std::string>& keys) {
    if (json.has("shape") || json.has("surface")) return;
    for (const std::string& key : keys)
        if (json.has(key)) json.fail(key, "goes with \"shape\" or \"surface\" only");
}

FemSource read_fem(const JsonObject& json, const fs::path& folder) {
    FemSource source;
    refuse_surface_keys(json, {"size", "mesh"});
    if (const auto box = json.object("box"))
        source.shape = read_fem_box(*box);
    else
        source.shape = read_surface(json, folder);
    source.size = json.number("size", source.size);
    source.mesh = read_mesh(json, source.mesh);
    source.material = read_material(json, source.material, Law::NeoHookean);
    source.fixed = read_selection(json, "fixed");
    source.elements = read_elements(json);
    if (const auto damping = json.object("damping")) {
        Damping& d = source.damping;
        d.mass = damping->number("mass", d.mass);
        d.stiffness = damping->number("stiffness", d.stiffness);
        d.bulk_viscosity = damping->number("bulk_viscosity", d.bulk_viscosity);
        d.shear_viscosity = damping->number("shear_viscosity", d.shear_viscosity);
        source.damping_ratio = damping->number("ratio", 0);
    }
    source.friction = json.number("friction", source.friction);
    return source;
}

RigidSource read_rigid(const JsonObject& json, const fs::path& folder, const Pose& pose) {
    RigidSource source;
    refuse_surface_keys(json, {"size"});
    if (const auto sphere = json.object("sphere")) {
        source.shape = RigidSource::Sphere{sphere->number("radius", 0)};
    } else if (const auto box = json.object("box")) {
        source.shape = RigidSource::BoxShape{box->vector("sizes", Vector3d::Ones())};
    } else if (const auto capsule = json.object("capsule")) {
        source.shape =
            RigidSource::Capsule{capsule->number("radius", 0), capsule->number("length", 0)};
    } else if (const auto wedge = json.object("wedge")) {
        source.shape = RigidSource::Wedge{wedge->vector("sizes", Vector3d::Ones())};
    } else if (const auto ground = json.object("ground")) {
        RigidSource::Ground plane;
        plane.size = ground->number("size", plane.size);
        source.shape = plane;
        if (json.has("density")) json.fail("density", "ground has no end and no mass; drop it");
    } else {
        source.shape = read_surface(json, folder);
    }
    source.size = json.number("size", source.size);
    json.exclude("density", "motion");
    source.density = json.number("density", source.density);
    source.motion = read_motion(json, pose);
    return source;
}

std::array<float, 3> read_colour(const JsonObject& json, std::array<float, 3> colour) {
    const JsonValue* value = json.find("colour");
    if (!value) return colour;
    if (value->is(JsonValue::Type::String)) {
        const auto rgb = std::stoul(value->string().substr(1), nullptr, 16);
        for (std::size_t i = 0; i < 3; ++i)
            colour[i] = static_cast<float>(rgb >> (16 - 8 * i) & 255) / 255.0f;
    } else {
        for (std::size_t i = 0; i < 3; ++i)
            colour[i] = static_cast<float>(value->array()[i].number());
    }
    return colour;
}

std::optional<Copies> read_copies(const JsonObject& json) {
    const auto object = json.object("copies");
    if (!object) return std::nullopt;
    Copies copies;
    const Vector3d counts = object->vector("counts", Vector3d::Ones());
    for (int axis = 0; axis < 3; ++axis)
        copies.counts[static_cast<std::size_t>(axis)] = static_cast<int>(counts[axis]);
    if (counts.prod() > Copies::kMost)
        object->refuse("counts", "at most " + std::to_string(Copies::kMost) + " copies together");
    copies.spacing = object->vector("spacing", copies.spacing);
    copies.speed = object->number("speed", copies.speed);
    copies.spin = object->number("spin", copies.spin);
    return copies;
}

/// Whether a body may be given a velocity. Of a model file that is seen when it is loaded.
bool can_fly(const BodyDescription& body) {
    if (const auto* rigid = std::get_if<RigidSource>(&body.source)) return rigid->density > 0;
    if (const auto* reduced = std::get_if<ReducedSource>(&body.source)) {
        const auto* recipe = std::get_if<ReducedRecipe>(&reduced->model);
        return !recipe || recipe->build.is_free;
    }
    if (std::holds_alternative<ParticleSource>(body.source)) return true;
    if (const auto* fem = std::get_if<FemSource>(&body.source)) return fem->fixed.empty();
    return false;
}

}  // namespace

fs::path read_file_name(const JsonObject& json, const std::string& key, const fs::path& folder) {
    const fs::path path = folder / json.text(key, "");
    std::error_code problem;
    if (!fs::is_regular_file(path, problem))
        json.refuse(key, "a file; there is none at " + path.string());
    return path;
}

SurfaceSource read_surface(const JsonObject& json, const fs::path& folder) {
    SurfaceSource source;
    if (json.has("surface")) {
        source.file = read_file_name(json, "surface", folder);
        if (!is_surface_file(source.file) && !is_volume_file(source.file))
            json.refuse("surface", "a surface mesh: .obj, .ply, .stl or .off");
        return source;
    }
    if (const auto shape = json.object("shape")) {
        source.shape = shape->text("name", "");
        source.shape_resolution = shape->integer("resolution", 0);
    } else {
        source.shape = json.text("shape", "");
    }
    return source;
}

SimulationMeshOptions read_mesh(const JsonObject& json, SimulationMeshOptions mesh) {
    const auto options = json.object("mesh");
    if (!options) return mesh;
    mesh.kind = options->text("kind", mesh.kind);
    mesh.resolution = options->integer("resolution", mesh.resolution);
    mesh.is_hollow = options->boolean("hollow", mesh.is_hollow);
    mesh.growth = options->number("growth", mesh.growth);
    mesh.levels = options->integer("levels", mesh.levels);
    options->check_members([&] { check_options(mesh); });
    return mesh;
}

std::string read_selection(const JsonObject& json, const std::string& key) {
    std::string selection = json.text(key, "");
    if (!selection.empty()) json.check(key, [&] { (void)parse_selection(selection); });
    return selection;
}

ReducedSource read_reduced(const JsonObject& json, const fs::path& folder) {
    return json.has("model") ? read_model_file(json, folder)
                             : read_recipe(*json.object("reduced"), folder);
}

BodyDescription read_body(const JsonObject& json, const fs::path& folder) {
    BodyDescription body;
    body.name = json.text("name", "");
    if (const auto pose = json.object("pose")) body.pose = read_pose(*pose);
    if (json.has("model") || json.has("reduced"))
        body.source = read_reduced(json, folder);
    else if (const auto fem = json.object("fem"))
        body.source = read_fem(*fem, folder);
    else if (const auto rigid = json.object("rigid"))
        body.source = read_rigid(*rigid, folder, body.pose);
    else if (const auto greens = json.object("greens"))
        body.source = read_greens(*greens, folder);
    else if (const auto hand = json.object("hand"))
        body.source = read_hand_body(*hand, body.pose);
    else if (const auto particles = json.object("particles"))
        body.source = read_particles(*particles, folder);
    else if (const auto zones = json.object("zones"))
        body.source = read_zones(*zones, folder, body.pose);
    if (const auto velocity = json.object("velocity")) {
        body.velocity.linear = velocity->vector("linear", body.velocity.linear);
        body.velocity.angular = velocity->vector("angular", body.velocity.angular);
        if (!can_fly(body))
            json.fail("velocity",
                      "only reduced bodies that are \"free\", full FEM bodies that are not \"fixed\", "
                      "rigid bodies with a \"density\" and bodies of particles have one");
    }
    body.colour = read_colour(json, body.colour);
    body.loop = json.text("loop", body.loop);
    body.copies = read_copies(json);
    if (body.copies && std::holds_alternative<HandSource>(body.source))
        json.fail("copies", "a hand has its links in their place; drop it");
    body.contact = read_body_contact(json, body, folder);
    return body;
}

}  // namespace pliant
