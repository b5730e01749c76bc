#include "scene/scene_reader.h"

namespace pliant {

using Eigen::Vector3d;

ParticleSource read_particles(const JsonObject& json, const std::filesystem::path& folder) {
    ParticleSource source;
    if (json.has("model"))
        source.shape = read_file_name(json, "model", folder);
    else
        source.shape = read_surface(json, folder);
    for (const char* key : {"size", "layout", "count", "links", "density", "stiffness", "spheres"})
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
