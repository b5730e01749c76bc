#include "scene/scene_reader.h"

namespace pliant {
namespace {

template <class Number, class Read>
std::array<Number, 2> read_two(const JsonObject& json, const char* key,
                               const std::array<Number, 2>& otherwise, const Read& read) {
    const JsonValue* list = json.find(key);
    return list ? std::array<Number, 2>{read(list->array()[0]), read(list->array()[1])} : otherwise;
}

SheetShape read_sheet(const JsonObject& json) {
    SheetShape sheet;
    sheet.sizes = read_two(json, "sizes", sheet.sizes, [](const auto& x) { return x.number(); });
    sheet.cells = read_two(json, "cells", sheet.cells,
                           [](const auto& x) { return static_cast<int>(x.number()); });
    return sheet;
}

FanShape read_fan(const JsonObject& json) {
    FanShape fan;
    fan.radius = json.number("radius", fan.radius);
    fan.sectors = json.integer("sectors", fan.sectors);
    return fan;
}

ClothDescription read_cloth(const JsonObject& json) {
    ClothDescription cloth;
    cloth.mass = json.number("mass", cloth.mass);
    cloth.radius = json.number("radius", cloth.radius);
    cloth.keeps_lengths = json.boolean("keeps_lengths", cloth.keeps_lengths);
    return cloth;
}

}  // namespace

ParticleSource read_particles(const JsonObject& json, const std::filesystem::path& folder) {
    ParticleSource source;
    if (json.has("model"))
        source.shape = read_file_name(json, "model", folder);
    else if (const auto ball = json.object("ball"))
        source.shape = RigidSphere{ball->number("radius", 0)};
    else if (const auto sheet = json.object("sheet"))
        source.shape = read_sheet(*sheet);
    else if (const auto fan = json.object("fan"))
        source.shape = read_fan(*fan);
    else
        source.shape = read_surface(json, folder);
    const bool is_flat = json.has("sheet") || json.has("fan");
    if ((is_flat || json.has("ball")) && json.has("size"))
        json.fail("size", "a ball, a sheet and a fan have their own sizes; drop it");
    if (const auto cloth = json.object("cloth"))
        source.cloth = read_cloth(*cloth);
    else if (is_flat && !json.has("layout"))
        json.fail("cloth",
                  "is missing: a sheet has no volume to place particles in; \"cloth\": {} has one "
                  "for each vertex");
    for (const char* key : {"count", "density", "spheres", "layout"})
        if (source.cloth && json.has(key))
            json.fail(key, "does not go with \"cloth\", which has one ball for each vertex");
    source.is_double_faced = json.boolean("double_faced", source.is_double_faced);
    for (const char* key : {"size", "layout", "count", "links", "density", "stiffness", "spheres",
                            "double_faced", "cloth"})
        if (json.has("model") && json.has(key))
            json.fail(key, "was decided when the model was built; drop it");
    source.size = json.number("size", source.size);
    if (json.has("layout")) source.layout = read_file_name(json, "layout", folder);
    PlacementOptions& placement = source.placement;
    placement.count = json.integer("count", placement.count);
    placement.links = json.integer("links", placement.links);
    placement.density = json.number("density", placement.density);
    placement.stiffness = json.number("stiffness", placement.stiffness);
    placement.has_spheres = json.boolean("spheres", placement.has_spheres);
    for (const JsonObject& part : json.objects("parts"))
        source.parts.push_back({read_selection(part, "where"), part.number("stiffness", 0)});
    for (const JsonObject& object : json.objects("objects"))
        source.objects.push_back(read_pose(object));
    for (const JsonObject& held : json.objects("held"))
        source.body.held.push_back({read_selection(held, "where"), read_motion(held, Pose{})});
    ParticleOptions& dynamics = source.body.dynamics;
    dynamics.iterations = json.integer("passes", dynamics.iterations);
    dynamics.damping = json.number("damping", dynamics.damping);
    dynamics.friction = json.number("friction", dynamics.friction);
    dynamics.cloth_stiffness = json.number("cloth_stiffness", dynamics.cloth_stiffness);
    if (json.has("cloth_compliance"))
        dynamics.cloth_compliance = json.number("cloth_compliance", 0);
    json.exclude("cloth_stiffness", "cloth_compliance");
    for (const JsonObject& plane : json.objects("planes")) {
        ParticlePlane& p = dynamics.planes.emplace_back();
        p.normal = plane.vector("normal", p.normal);
        p.offset = plane.number("offset", p.offset);
        if (p.normal.norm() == 0) plane.refuse("normal", "a direction");
    }
    return source;
}

}  // namespace pliant
