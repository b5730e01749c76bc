#include <bit>

#include "scene/scene_reader.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Members that fields and the carriers of pointshells share.
void read_field_options(const JsonObject& json, FieldBuildOptions& options) {
    options.resolution = json.integer("resolution", options.resolution);
    if (!std::has_single_bit(static_cast<unsigned>(options.resolution)))
        json.refuse("resolution", "a power of two from 16 to 1024");
    if (json.text("surface", "signed") == "offset") options.surface = FieldSurface::Offset;
    if (json.has("offset_cells") && options.surface != FieldSurface::Offset)
        json.fail("offset_cells", "goes with \"surface\": \"offset\" only");
    options.offset_cells = json.number("offset_cells", options.offset_cells);
}

fs::path read_part_file(const JsonObject& json, const std::string& key, const fs::path& folder) {
    fs::path path = read_file_name(json, key, folder);
    if (path.extension() != ".pliant")
        json.refuse(key, "a .pliant file that `pliant build --kind " + key + "` made");
    return path;
}

std::optional<PointshellSource> read_pointshell(const JsonObject& json, const fs::path& folder) {
    PointshellSource source;
    if (const auto shell = json.object("pointshell")) {
        source.points.num_points = shell->integer("points", source.points.num_points);
        source.points.num_levels = shell->integer("levels", source.points.num_levels);
        read_field_options(*shell, source.field);
        return source;
    }
    if (!json.has("pointshell")) return std::nullopt;
    source.file = read_part_file(json, "pointshell", folder);
    return source;
}

std::optional<FieldSource> read_field(const JsonObject& json, const BodyDescription& body,
                                      const fs::path& folder) {
    FieldSource source;
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    if (rigid && !std::holds_alternative<SurfaceSource>(rigid->shape) && json.has("field"))
        json.fail("field", "this shape has an exact field of its own; drop it");
    if (const auto field = json.object("field")) {
        read_field_options(*field, source.build);
        source.build.expansion = field->number("expansion", source.build.expansion);
        for (const char* key : {"domains", "proxies"})
            if (field->has(key) && rigid) field->fail(key, "goes with bodies that deform only");
        source.deformed.num_domains = field->integer("domains", source.deformed.num_domains);
        source.deformed.num_proxies = field->integer("proxies", source.deformed.num_proxies);
        return source;
    }
    if (!json.has("field")) return std::nullopt;
    source.file = read_part_file(json, "field", folder);
    return source;
}

/// Refuses bodies that cannot touch others in this way; `key` names the body.
void check_kind(const JsonObject& json, const std::string& key, const BodyDescription& body) {
    if (std::holds_alternative<FemSource>(body.source))
        json.refuse(key,
                    "a rigid or reduced body; full FEM bodies touch all rigid bodies of their "
                    "loop without being told");
    if (const auto* rigid = std::get_if<RigidSource>(&body.source); rigid && rigid->density > 0)
        json.refuse(key,
                    "a body that forces do not throw about; rigid bodies with \"density\" do not "
                    "collide yet");
    if (const auto* reduced = std::get_if<ReducedSource>(&body.source)) {
        const auto* recipe = std::get_if<ReducedRecipe>(&reduced->model);
        if (recipe && recipe->build.is_free)
            json.refuse(key, "a body that is held; bodies that are \"free\" do not collide yet");
    }
}

const BodyDescription& read_side(const JsonObject& json, const std::string& key,
                                 const SceneDescription& scene) {
    const int found = find_description(scene, json.text(key, ""));
    if (found < 0) json.refuse(key, "a body of the scene: " + list_of_bodies(scene));
    const BodyDescription& body = scene.bodies[static_cast<std::size_t>(found)];
    check_kind(json, key, body);
    return body;
}

bool has_field(const BodyDescription& body) {
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    return body.contact.field || (rigid && !std::holds_alternative<SurfaceSource>(rigid->shape));
}

ContactDescription read_pair(const JsonObject& json, const SceneDescription& scene) {
    ContactDescription contact;
    contact.shell = json.text("shell", "");
    contact.field = json.text("field", "");
    const BodyDescription& shell = read_side(json, "shell", scene);
    const BodyDescription& field = read_side(json, "field", scene);
    if (contact.shell == contact.field)
        json.refuse("field",
                    "another body than the shell: a body does not touch itself in scenes yet");
    if (!shell.contact.pointshell)
        json.refuse("shell", "a body with \"contact\": {\"pointshell\": …}");
    if (!has_field(field)) json.refuse("field", "a body with \"contact\": {\"field\": …}");
    if (shell.loop != field.loop)
        json.refuse("field", "a body of the loop \"" + shell.loop +
                                 "\", as the shell; this one is "
                                 "in \"" +
                                 field.loop + "\"");

    contact.stiffness = json.number("stiffness", contact.stiffness);
    contact.friction = json.number("friction", contact.friction);
    json.exclude("nodes", "budget_us");
    contact.nodes = json.integer("nodes", contact.nodes);
    contact.budget = 1e-6 * json.number("budget_us", 0);
    if (json.text("exchange", "semi-implicit") == "explicit")
        contact.exchange = ContactExchange::Explicit;
    const std::string scaling = json.text("scaling", "per-direction");
    if (scaling == "single-count") contact.scaling = ContactScaling::SingleCount;
    if (scaling == "none") contact.scaling = ContactScaling::None;
    contact.has_coherence = json.boolean("coherence", contact.has_coherence);
    return contact;
}

}  // namespace

BodyContact read_body_contact(const JsonObject& json, const BodyDescription& body,
                              const fs::path& folder) {
    const auto contact = json.object("contact");
    if (!contact) return {};
    if (std::holds_alternative<FemSource>(body.source))
        json.fail("contact",
                  "full FEM bodies touch all rigid bodies of their loop without it; drop it");
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    if (rigid && std::holds_alternative<RigidGround>(rigid->shape) && contact->has("pointshell"))
        contact->fail("pointshell", "ground has no end to put points on");
    return {read_pointshell(*contact, folder), read_field(*contact, body, folder)};
}

std::vector<ContactDescription> read_contacts(const JsonObject& json,
                                              const SceneDescription& scene) {
    std::vector<ContactDescription> contacts;
    for (const JsonObject& item : json.objects("contacts")) {
        ContactDescription contact = read_pair(item, scene);
        for (const ContactDescription& other : contacts)
            if (other.shell == contact.shell && other.field == contact.field)
                item.refuse("field", "a pair that is not there already");
        contacts.push_back(std::move(contact));
    }
    return contacts;
}

}  // namespace pliant
