#include "scene/scene_reader.h"

#include <algorithm>

namespace pliant {
namespace {

/// Why a proxy cannot touch a body; empty: it can.
std::string untouched_reason(const BodyDescription& body) {
    if (std::holds_alternative<HandSource>(body.source))
        return "a body with a surface of its own; the links of a hand have none";
    const auto* rigid = std::get_if<RigidSource>(&body.source);
    if (rigid && std::holds_alternative<RigidGround>(rigid->shape))
        return "a body with a closed surface; the ground is open: take a flat \"box\"";
    return "";
}

/// The key "bodies" of a proxy or a tool of many; without it all others.
std::vector<std::string> read_touched(const JsonObject& json, const SceneDescription& scene,
                                      const BodyDescription& tool) {
    std::vector<std::string> names;
    std::string loop;
    const auto take = [&](const std::string& name, const BodyDescription& body, auto&& refuse) {
        if (body.name == tool.name) refuse("another body than the proxy itself");
        if (const std::string reason = untouched_reason(body); !reason.empty()) refuse(reason);
        if (std::find(names.begin(), names.end(), name) != names.end())
            refuse("a body that is not in the list yet");
        if (loop.empty()) loop = body.loop;
        if (body.loop != loop)
            refuse("a body of the loop \"" + loop + "\", as \"" + names.front() +
                   "\"; this one is in \"" + body.loop + "\"");
        names.push_back(name);
    };
    if (const JsonValue* list = json.find("bodies")) {
        for (std::size_t i = 0; i < list->array().size(); ++i) {
            const std::string name = list->array()[i].string();
            const auto refuse = [&](const std::string& expected) {
                json.refuse_item("bodies", i, expected);
            };
            const int place = find_description(scene, name);
            if (place < 0) refuse("a body of the scene: " + list_of_bodies(scene));
            take(name, scene.bodies[static_cast<std::size_t>(place)], refuse);
        }
        return names;
    }
    for (const BodyDescription& body : scene.bodies) {
        if (body.name == tool.name || !untouched_reason(body).empty()) continue;
        const int count =
            body.copies ? body.copies->counts[0] * body.copies->counts[1] * body.copies->counts[2]
                        : 1;
        for (int k = 0; k < count; ++k) {
            const std::string name =
                body.copies ? body.name + "[" + std::to_string(k) + "]" : body.name;
            take(name, body, [&](const std::string& expected) {
                json.fail("bodies", "is missing: \"" + name + "\" is not " + expected);
            });
        }
    }
    if (names.empty()) json.fail("bodies", "there is no other body that it could touch");
    return names;
}

PopOutMode read_pop_out(const JsonObject& json) {
    const std::string mode = json.text("pop_out", "guarded");
    return mode == "plain"        ? PopOutMode::Plain
           : mode == "half-space" ? PopOutMode::HalfSpace
                                  : PopOutMode::Guarded;
}

/// The key "pop_out_of" of a proxy or a tool of many.
std::vector<BodyPopOut> read_pop_out_of(const JsonObject& json,
                                        const std::vector<std::string>& touched) {
    std::vector<BodyPopOut> all;
    for (const JsonObject& one : json.objects("pop_out_of")) {
        const std::string name = one.text("body", "");
        if (std::find(touched.begin(), touched.end(), name) == touched.end())
            one.refuse("body", "a body that it touches, as in \"bodies\"");
        if (std::any_of(all.begin(), all.end(), [&](const auto& b) { return b.body == name; }))
            one.refuse("body", "a body that is not in the list yet");
        all.push_back({name, read_pop_out(one)});
    }
    return all;
}

/// What every sphere has.
void read_proxy_options(const JsonObject& json, ProxyOptions& options) {
    options.dynamic_friction = json.number("friction", options.dynamic_friction);
    options.static_friction = json.number("static_friction", options.dynamic_friction);
    if (options.static_friction < options.dynamic_friction)
        json.refuse("static_friction", "at least the friction of sliding");
    const std::string mask = json.text("mask", "barycentric");
    options.mask = mask == "smooth"             ? ForceMask::Smooth
                   : mask == "inverse-distance" ? ForceMask::InverseDistance
                                                : ForceMask::Barycentric;
    options.mask_radius = json.number("mask_radius", options.mask_radius);
    if (json.has("mask_radius") && options.mask != ForceMask::Smooth)
        json.fail("mask_radius", "is of the mask \"smooth\"");
    options.has_ccd = json.boolean("ccd", options.has_ccd);
    options.sphere.pop_out = read_pop_out(json);
}

}  // namespace

ProxyToolDescription read_proxy(const JsonObject& json, const SceneDescription& scene,
                                const BodyDescription& sphere) {
    ProxyToolDescription proxy;
    const auto* shape = std::get_if<RigidSphere>(&std::get<RigidSource>(sphere.source).shape);
    if (!shape)
        throw InputError(json.file(), json.path() + ": \"" + sphere.name +
                                          "\" is no sphere; a proxy is one: {\"rigid\": "
                                          "{\"sphere\": {\"radius\": 0.005}}}");
    proxy.bodies = read_touched(json, scene, sphere);
    proxy.pop_out_of = read_pop_out_of(json, proxy.bodies);
    proxy.stiffness = json.number("stiffness", proxy.stiffness);
    ProxyOptions& options = proxy.options;
    options.sphere.radius = shape->radius;
    options.has_force_shading = json.boolean("force_shading", options.has_force_shading);
    read_proxy_options(json, options);
    proxy.planes.interpolates = json.boolean("interpolation", proxy.planes.interpolates);
    json.check_members([&] { check(options); });
    return proxy;
}

SpheresToolDescription read_spheres(const JsonObject& json, const SceneDescription& scene,
                                    const BodyDescription& body,
                                    const std::filesystem::path& folder) {
    SpheresToolDescription spheres;
    if (std::holds_alternative<RigidGround>(std::get<RigidSource>(body.source).shape))
        throw InputError(json.file(), json.path() + ": \"" + body.name +
                                          "\" is the ground; spheres fill a body with a closed "
                                          "surface: {\"rigid\": {\"shape\": \"hand\"}}");
    spheres.bodies = read_touched(json, scene, body);
    spheres.pop_out_of = read_pop_out_of(json, spheres.bodies);
    spheres.stiffness = json.number("stiffness", spheres.stiffness);
    SphereToolOptions& options = spheres.options;
    options.is_rigid = json.boolean("rigid", options.is_rigid);
    for (const char* key : {"passes", "shape_stiffness", "links"})
        if (options.is_rigid && json.has(key))
            json.fail(key, "is of a tool that bends, not of a rigid one");
    if (json.has("layout")) {
        for (const char* key : {"count", "links", "shape_stiffness", "least_radius"})
            if (json.has(key))
                json.fail(key, "is of spheres that are placed; \"layout\" has its own");
        spheres.layout = read_file_name(json, "layout", folder);
    }
    SpherePlacementOptions& placement = spheres.placement;
    placement.count = json.integer("count", placement.count);
    placement.links = json.integer("links", placement.links);
    placement.stiffness = json.number("shape_stiffness", placement.stiffness);
    placement.least_radius = json.number("least_radius", placement.least_radius);
    options.iterations = json.integer("passes", options.iterations);
    options.share =
        json.text("share", "total") == "contacts" ? ToolShare::Contacts : ToolShare::Total;
    read_proxy_options(json, options.sphere);
    json.check_members([&] { check(options); });
    return spheres;
}

}  // namespace pliant
