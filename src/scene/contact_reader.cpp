#include <algorithm>
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

/// How its surface takes contact: of a named one, and what is said beside the name.
ContactSurface read_contact_surface(const JsonObject& json) {
    ContactSurface surface;
    if (json.has("material")) surface = contact_surface_preset(json.text("material", ""));
    if (json.has("friction")) surface.friction = json.number("friction", 0);
    surface.restitution = json.number("restitution", surface.restitution);
    surface.stiffness = json.number("stiffness", surface.stiffness);
    return surface;
}
/// Coulomb's coefficient of a contact, if it has one of its own.
std::optional<double> read_friction(const JsonObject& json) {
    if (!json.has("friction")) return std::nullopt;
    return json.number("friction", 0);
}

bool is_free(const BodyDescription& body) {
    const auto* reduced = std::get_if<ReducedSource>(&body.source);
    const auto* recipe = reduced ? std::get_if<ReducedRecipe>(&reduced->model) : nullptr;
    return recipe && recipe->build.is_free;
}
bool has_mass(const BodyDescription& body) {
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    return rigid && rigid->density > 0;
}
bool is_reduced(const BodyDescription& body) {
    return std::holds_alternative<ReducedSource>(body.source);
}
bool is_primitive(const BodyDescription& body) {
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    return rigid && !std::holds_alternative<SurfaceSource>(rigid->shape);
}
bool has_field(const BodyDescription& body) { return body.contact.field || is_primitive(body); }
constexpr const char* kNoFem =
    "a rigid or reduced body; full FEM bodies touch all rigid bodies of their loop without being "
    "told";

constexpr const char* kNoParticles =
    "a rigid or reduced body; particles touch the planes and objects of their own body";
bool has_particles(const BodyDescription& body) {
    return std::holds_alternative<ParticleSource>(body.source);
}

bool is_greens(const BodyDescription& body) {
    return std::holds_alternative<GreensSource>(body.source) ||
           std::holds_alternative<ZonesSource>(body.source);
}
bool is_hand(const BodyDescription& body) {
    return std::holds_alternative<HandSource>(body.source);
}
constexpr const char* kNoHand =
    "a rigid or reduced body; hands touch bodies of the kind \"greens\" as one of the \"tools\"";
constexpr const char* kNoGreens =
    "a rigid or reduced body; bodies of the kind \"greens\" are touched in {\"greens\": …, "
    "\"points\": […]} or with \"tools\"";

/// Refuses keys that belong to other kinds of contact.
void refuse_keys(const JsonObject& json, std::initializer_list<const char*> keys,
                 const std::string& kind) {
    for (const char* key : keys)
        if (json.has(key)) json.fail(key, "goes with \"" + kind + "\" only");
}

ContactScaling read_scaling(const JsonObject& json) {
    const std::string scaling = json.text("scaling", "per-direction");
    if (scaling == "single-count") return ContactScaling::SingleCount;
    return scaling == "none" ? ContactScaling::None : ContactScaling::PerDirection;
}

// --- a pair

const BodyDescription& read_side(const JsonObject& json, const std::string& key,
                                 const SceneDescription& scene) {
    const int found = find_description(scene, json.text(key, ""));
    if (found < 0) json.refuse(key, "a body of the scene: " + list_of_bodies(scene));
    const BodyDescription& body = scene.bodies[static_cast<std::size_t>(found)];
    if (std::holds_alternative<FemSource>(body.source)) json.refuse(key, kNoFem);
    if (has_particles(body)) json.refuse(key, kNoParticles);
    if (is_greens(body)) json.refuse(key, kNoGreens);
    if (is_hand(body)) json.refuse(key, kNoHand);
    if (has_mass(body))
        json.refuse(key,
                    "a body that forces do not throw about; rigid bodies with \"density\" touch "
                    "others in {\"among\": […]}");
    if (is_free(body))
        json.refuse(key,
                    "a body that is held; bodies that are \"free\" touch others in {\"among\": "
                    "[…]}");
    return body;
}

constexpr std::initializer_list<const char*> kGreensKeys = {"points", "tools", "pull", "sliding"};

PairContactDescription read_pair(const JsonObject& json, const SceneDescription& scene) {
    refuse_keys(json, kGreensKeys, "greens");
    refuse_keys(json, {"name", "iterations", "max_contacts", "restitution"}, "among");
    refuse_keys(json, {"exclusion"}, "self");
    if (!json.has("field")) json.fail("field", "is needed beside \"shell\"");
    PairContactDescription contact;
    contact.shell = json.text("shell", "");
    contact.field = json.text("field", "");
    const BodyDescription& shell = read_side(json, "shell", scene);
    const BodyDescription& field = read_side(json, "field", scene);
    if (contact.shell == contact.field)
        json.refuse("field",
                    "another body than the shell; a body touches itself with {\"self\": \"" +
                        shell.name + "\"}");
    if (!shell.contact.pointshell)
        json.refuse("shell", "a body with \"contact\": {\"pointshell\": …}");
    if (!has_field(field)) json.refuse("field", "a body with \"contact\": {\"field\": …}");
    if (shell.loop != field.loop)
        json.refuse("field", "a body of the loop \"" + shell.loop +
                                 "\", as the shell; this one is "
                                 "in \"" +
                                 field.loop + "\"");

    contact.stiffness = json.number("stiffness", contact.stiffness);
    contact.friction = read_friction(json);
    json.exclude("nodes", "budget_us");
    contact.nodes = json.integer("nodes", contact.nodes);
    contact.budget = 1e-6 * json.number("budget_us", 0);
    if (json.text("exchange", "semi-implicit") == "explicit")
        contact.exchange = ContactExchange::Explicit;
    contact.scaling = read_scaling(json);
    contact.has_coherence = json.boolean("coherence", contact.has_coherence);
    return contact;
}

// --- among many

/// The description that a name without a number stands for, with all its copies.
const BodyDescription* find_all_copies(const SceneDescription& scene, const std::string& name) {
    const auto found = std::ranges::find(scene.bodies, name, &BodyDescription::name);
    return found == scene.bodies.end() ? nullptr : &*found;
}
std::string list_of_names(const SceneDescription& scene) {
    std::string known;
    for (const BodyDescription& body : scene.bodies)
        known += (known.empty() ? "\"" : ", \"") + body.name + "\"";
    return known;
}

std::vector<const BodyDescription*> read_members(const JsonObject& json,
                                                 const SceneDescription& scene) {
    std::vector<const BodyDescription*> members;
    const JsonValue::Array& names = json.find("among")->array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto refuse = [&](const std::string& expected) {
            json.refuse_item("among", i, expected);
        };
        const std::string& name = names[i].string();
        const BodyDescription* body = find_all_copies(scene, name);
        if (!body && find_description(scene, name) >= 0)
            refuse("a name without a number: all copies touch");
        if (!body) refuse("a body of the scene: " + list_of_names(scene));
        if (std::ranges::find(members, body) != members.end()) refuse("each body once");
        if (std::holds_alternative<FemSource>(body->source)) refuse(kNoFem);
        if (has_particles(*body)) refuse(kNoParticles);
        if (is_greens(*body)) refuse(kNoGreens);
        if (is_hand(*body)) refuse(kNoHand);
        if (!body->contact.pointshell && !has_field(*body))
            refuse("a body with \"contact\": {\"pointshell\": …}, {\"field\": …} or both");
        if (!members.empty() && body->loop != members[0]->loop)
            refuse("a body of the loop \"" + members[0]->loop +
                   "\", as the first; this one is in \"" + body->loop + "\"");
        members.push_back(body);
    }
    return members;
}

AmongContactDescription read_among(const JsonObject& json, const SceneDescription& scene) {
    refuse_keys(json, {"field", "nodes", "budget_us", "exchange", "coherence"}, "shell");
    refuse_keys(json, {"exclusion"}, "self");
    refuse_keys(json, kGreensKeys, "greens");
    AmongContactDescription contact;
    const std::vector<const BodyDescription*> members = read_members(json, scene);
    const auto any = [&](const auto& is_so) { return std::ranges::any_of(members, is_so); };
    if (members.size() == 1 && !members[0]->copies)
        json.refuse("among", "at least two bodies, or one with copies");
    // spheres, boxes, capsules, wedges and ground need no points among themselves
    const auto num_primitives =
        std::ranges::count_if(members, [](const auto* body) { return is_primitive(*body); });
    const bool are_exact =
        num_primitives > 1 || (num_primitives == 1 && any([](const auto* body) {
                                   return is_primitive(*body) && body->copies.has_value();
                               }));
    if (!are_exact && !any([](const auto* body) { return body->contact.pointshell.has_value(); }))
        json.refuse("among", "at least one body with \"contact\": {\"pointshell\": …}");
    if (!any([](const auto* body) { return has_field(*body); }))
        json.refuse("among", "at least one body with \"contact\": {\"field\": …}");
    if (!any([](const auto* body) { return has_mass(*body) || is_reduced(*body); }))
        json.refuse("among",
                    "at least one body that forces move: rigid with \"density\", or reduced");

    std::string joined;
    for (const BodyDescription* body : members) {
        contact.bodies.push_back(body->name);
        joined += (joined.empty() ? "" : "+") + body->name;
    }
    // of copies alone: not the name of the body
    if (members.size() == 1) joined += "+" + joined;
    contact.name = json.text("name", joined);
    if (find_all_copies(scene, contact.name))
        json.refuse("name", "a name that no body has: sliders are told apart by it");
    contact.stiffness = json.number("stiffness", contact.stiffness);
    contact.friction = read_friction(json);
    if (json.has("restitution")) contact.restitution = json.number("restitution", 0);
    contact.scaling = read_scaling(json);
    contact.iterations = json.integer("iterations", contact.iterations);
    contact.max_contacts = json.integer("max_contacts", contact.max_contacts);
    return contact;
}

// --- with itself

SelfContactDescription read_self(const JsonObject& json, const SceneDescription& scene) {
    refuse_keys(json, {"field", "budget_us", "exchange", "coherence"}, "shell");
    refuse_keys(json, {"name", "iterations", "max_contacts", "restitution"}, "among");
    refuse_keys(json, kGreensKeys, "greens");
    if (json.has("friction"))
        json.fail("friction", "goes with \"shell\" and \"among\": self-contact has none");
    SelfContactDescription contact;
    contact.body = json.text("self", "");
    const BodyDescription* body = find_all_copies(scene, contact.body);
    if (!body && find_description(scene, contact.body) >= 0)
        json.refuse("self", "a name without a number: all copies touch themselves");
    if (!body) json.refuse("self", "a body of the scene: " + list_of_names(scene));
    if (!is_reduced(*body)) json.refuse("self", "a reduced body; others do not bend or need it");
    if (!body->contact.pointshell || !body->contact.field)
        json.refuse("self",
                    "a body with \"contact\": {\"pointshell\": …, \"field\": {\"domains\": 0}}");
    if (body->contact.field->file.empty() && body->contact.field->deformed.num_domains == 1)
        json.refuse("self",
                    "a body whose field has several parts that can touch: \"field\": "
                    "{\"domains\": 0} finds them");
    contact.exclusion = json.number("exclusion", contact.exclusion);
    contact.stiffness = json.number("stiffness", contact.stiffness);
    contact.nodes = json.integer("nodes", contact.nodes);
    contact.scaling = read_scaling(json);
    return contact;
}

// --- against Green's functions

GreensContactDescription read_elastic(const JsonObject& json, const SceneDescription& scene) {
    refuse_keys(json, {"field", "nodes", "budget_us", "exchange", "coherence"}, "shell");
    refuse_keys(json, {"name", "iterations", "max_contacts", "restitution"}, "among");
    refuse_keys(json, {"exclusion"}, "self");
    for (const char* key : {"stiffness", "scaling"})
        if (json.has(key)) json.fail(key, "does not go with \"greens\": the body gives the force");
    return read_greens_contact(json, scene);
}

// --- all of them

/// Refuses what earlier contacts do already.
class Doubles {
public:
    Doubles(const JsonObject& json, const SceneDescription& scene,
            const std::vector<ContactDescription>& earlier)
        : json_(json), scene_(scene), earlier_(earlier) {}

    void operator()(const PairContactDescription& pair) const {
        for (const auto* other : all_of<PairContactDescription>())
            if (other->shell == pair.shell && other->field == pair.field)
                json_.refuse("field", "a pair that is not there already");
        for (const auto* other : all_of<AmongContactDescription>())
            if (is_in(*other, pair.shell) && is_in(*other, pair.field))
                json_.refuse("field", "a body that does not touch \"" + pair.shell +
                                          "\" already: both are in one \"among\"");
    }
    void operator()(const AmongContactDescription& among) const {
        for (const auto* other : all_of<AmongContactDescription>()) {
            if (other->name == among.name)
                json_.refuse("name", "a name of its own: sliders are told apart by it");
            for (std::size_t i = 0; i < among.bodies.size(); ++i)
                if (is_in(*other, among.bodies[i]))
                    json_.refuse_item("among", i,
                                      "a body that is in no other \"among\": all forces on it are "
                                      "found together");
        }
        for (const auto* pair : all_of<PairContactDescription>())
            if (is_in(among, pair->shell) && is_in(among, pair->field))
                json_.fail("among", "\"" + pair->shell + "\" and \"" + pair->field +
                                        "\" touch as a pair already; drop that");
    }
    void operator()(const GreensContactDescription& greens) const {
        for (const auto* other : all_of<GreensContactDescription>()) {
            if (other->body == greens.body)
                json_.refuse("greens",
                             "a body that is in no other contact: all that touches it is solved "
                             "for together");
            for (const std::string& name : greens.by)
                if (std::ranges::find(other->by, name) != other->by.end())
                    json_.fail("greens", "\"" + name + "\" touches \"" + other->body +
                                             "\" already, and one such body is all it can");
        }
    }
    void operator()(const SelfContactDescription& self) const {
        for (const auto* other : all_of<SelfContactDescription>())
            if (other->body == self.body)
                json_.refuse("self", "a body that does not touch itself already");
    }

private:
    template <class Kind>
    [[nodiscard]] std::vector<const Kind*> all_of() const {
        std::vector<const Kind*> found;
        for (const ContactDescription& contact : earlier_)
            if (const auto* one = std::get_if<Kind>(&contact)) found.push_back(one);
        return found;
    }
    /// Also a copy by its number.
    [[nodiscard]] bool is_in(const AmongContactDescription& among, const std::string& body) const {
        const int found = find_description(scene_, body);
        const std::string& name =
            found < 0 ? body : scene_.bodies[static_cast<std::size_t>(found)].name;
        return std::ranges::find(among.bodies, name) != among.bodies.end();
    }

    const JsonObject& json_;
    const SceneDescription& scene_;
    const std::vector<ContactDescription>& earlier_;
};

}  // namespace

BodyContact read_body_contact(const JsonObject& json, const BodyDescription& body,
                              const fs::path& folder) {
    const auto contact = json.object("contact");
    if (!contact) return {};
    if (std::holds_alternative<FemSource>(body.source))
        json.fail("contact",
                  "full FEM bodies touch all rigid bodies of their loop without it; drop it");
    if (has_particles(body))
        json.fail("contact", "particles touch the planes and objects of their own body; drop it");
    if (is_greens(body))
        json.fail("contact", "bodies of the kind \"greens\" are touched without it; drop it");
    if (is_hand(body)) json.fail("contact", "hands touch without it; drop it");
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    if (rigid && std::holds_alternative<RigidGround>(rigid->shape) && contact->has("pointshell"))
        contact->fail("pointshell", "ground has no end to put points on");
    return {read_pointshell(*contact, folder), read_field(*contact, body, folder),
            read_contact_surface(*contact)};
}

std::vector<std::vector<std::string>> read_ignored_contacts(const JsonObject& json,
                                                            const SceneDescription& scene) {
    std::vector<std::vector<std::string>> groups;
    const JsonValue* list = json.find("ignore_contact");
    if (!list) return groups;
    for (std::size_t g = 0; g < list->array().size(); ++g) {
        std::vector<std::string>& group = groups.emplace_back();
        for (const JsonValue& name : list->array()[g].array()) {
            group.push_back(name.string());
            if (!find_all_copies(scene, group.back()))
                json.refuse_item("ignore_contact", g,
                                 "names of bodies of the scene: " + list_of_names(scene));
        }
    }
    return groups;
}

std::vector<ContactDescription> read_contacts(const JsonObject& json,
                                              const SceneDescription& scene) {
    std::vector<ContactDescription> contacts;
    for (const JsonObject& item : json.objects("contacts")) {
        ContactDescription contact;
        if (item.has("shell"))
            contact = read_pair(item, scene);
        else if (item.has("among"))
            contact = read_among(item, scene);
        else if (item.has("greens"))
            contact = read_elastic(item, scene);
        else
            contact = read_self(item, scene);
        std::visit(Doubles(item, scene, contacts), contact);
        contacts.push_back(std::move(contact));
    }
    return contacts;
}

}  // namespace pliant
