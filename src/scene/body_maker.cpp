#include "scene/body_maker.h"

#include "pliant/core/error.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/greens/reduced_zone.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/greens/zones.h"
#include "pliant/reduction/reduced_trial.h"
#include "scene/primitive_surfaces.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Random vectors of one length, the same on every machine.
class Throws {
public:
    explicit Throws(std::uint64_t seed) : random_(seed) {}
    [[nodiscard]] Vector3d vector(double length) {
        for (;;) {
            const Vector3d v(number(), number(), number());
            // evenly over all directions: from the ball inside the cube
            if (const double norm = v.norm(); norm > 0.1 && norm < 1) return length / norm * v;
        }
    }

private:
    double number() { return std::ldexp(static_cast<double>(random_() >> 11), -52) - 1; }
    std::mt19937_64 random_;
};

/// Everything about a rigid body but where it is.
struct Solid {
    RigidShape shape;
    SurfaceMesh surface;
};

struct SolidOf {
    double size;
    Progress& progress;

    Solid operator()(const RigidSource::Sphere& s) const {
        return {RigidShape::sphere(s.radius), sphere_surface(s.radius)};
    }
    Solid operator()(const RigidSource::BoxShape& s) const {
        return {RigidShape::box(0.5 * s.sizes), box_surface(s.sizes)};
    }
    Solid operator()(const RigidSource::Capsule& s) const {
        return {RigidShape::capsule(s.radius, 0.5 * s.length), capsule_surface(s.radius, s.length)};
    }
    Solid operator()(const RigidSource::Wedge& s) const {
        return {RigidShape::mesh(wedge_surface(s.sizes)), wedge_surface(s.sizes)};
    }
    Solid operator()(const RigidSource::Ground& s) const {
        return {RigidShape::half_space(), ground_surface(s.size)};
    }
    Solid operator()(const SurfaceSource& s) const {
        SurfaceMesh surface = load_solid(s, size, progress);
        return {RigidShape::mesh(surface), surface};
    }
};

VolumeMesh box_mesh(const FemSource::BoxMesh& box) {
    const Vector3d half = 0.5 * box.sizes;
    if (box.graded_layers == 0)
        return hex_box(
            box.cells[0], box.cells[1], box.cells[2],
            Box(Vector3d(-half.x(), -half.y(), 0), Vector3d(half.x(), half.y(), box.sizes.z())));
    if (box.cells[0] != box.cells[1] || box.cells[1] != box.cells[2])
        throw InputError("", "a graded box needs the same number of cells along all sides, not " +
                                 std::to_string(box.cells[0]) + " × " +
                                 std::to_string(box.cells[1]) + " × " +
                                 std::to_string(box.cells[2]));
    VolumeMesh mesh = graded_box(box.cells[0], box.graded_layers);
    for (Vector3d& x : mesh.vertices) x = (x - Vector3d(0.5, 0.5, 0)).cwiseProduct(box.sizes);
    return mesh;
}

double mean_edge(const SurfaceMesh& surface) {
    double sum = 0;
    for (int t = 0; t < surface.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k)
            sum += (surface.corner(t, k) - surface.corner(t, (k + 1) % 3)).norm();
    return sum / (3 * surface.num_triangles());
}

ParticleLayout layout_of(const ParticleSource& source, const SurfaceMesh& surface) {
    if (!source.layout.empty()) return load_layout(source.layout);
    if (!source.cloth) return place_particles(surface, source.placement);
    const ClothDescription& cloth = *source.cloth;
    ParticleLayout layout = particles_of_vertices(
        surface, cloth.mass, cloth.radius > 0 ? cloth.radius : 0.5 * mean_edge(surface),
        source.placement.stiffness, source.placement.links);
    layout.is_cloth = cloth.keeps_lengths;
    return layout;
}

SurfaceMesh surface_of_link(const GraspHand& hand, std::size_t link) {
    if (link == 0) return box_surface(2 * hand.palm_half_sizes);
    const GraspHand::Finger& finger = hand.fingers[(link - 1) / GraspHand::kLinksPerFinger];
    const std::size_t part = (link - 1) % GraspHand::kLinksPerFinger;
    return capsule_surface(finger.radii[part], finger.lengths[part]);
}

}  // namespace

void BodyMaker::make_all() {
    // rigid bodies first: full FEM bodies have them as obstacles, which are stepped before
    for (const std::size_t kind :
         {kRigid, kCompliantHand, kReduced, kFem, kGreens, kZones, kParticles})
        for (std::size_t d = 0; d < world_.scene.bodies.size(); ++d)
            if (world_.scene.bodies[d].source.index() == kind) make_bodies(d);
}

std::vector<BodyMaker::Start> BodyMaker::starts(std::size_t d) const {
    const BodyDescription& description = world_.scene.bodies[d];
    const Start first{description.pose, description.velocity};
    if (!description.copies) return {first};
    const Copies& copies = *description.copies;
    const auto [nx, ny, nz] = copies.counts;
    // every description has its own throws, so that one more body leaves the others alone
    Throws throws(world_.scene.seed * 0x9e3779b97f4a7c15u + d);
    std::vector<Start> all;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                Start start = first;
                const Vector3d cell(i - 0.5 * (nx - 1), j - 0.5 * (ny - 1), k - 0.5 * (nz - 1));
                start.pose.position += copies.spacing.cwiseProduct(cell);
                if (copies.speed > 0) start.velocity.linear += throws.vector(copies.speed);
                if (copies.spin > 0) start.velocity.angular += throws.vector(copies.spin);
                all.push_back(start);
            }
    return all;
}

void BodyMaker::make_bodies(std::size_t d) {
    const BodyDescription& description = world_.scene.bodies[d];
    try {
        std::visit([&](const auto& source) { make(d, source); }, description.source);
    } catch (const InputError& error) {
        throw InputError("", "body \"" + description.name + "\" (" + WorldInMaking::path_of(d) +
                                 "): " + error.what());
    }
}

void BodyMaker::make(std::size_t d, const ReducedSource& source) {
    const ReducedBodyModel& model = models_.get(world_.scene.bodies[d].name, source);
    if (const auto* recipe = std::get_if<ReducedRecipe>(&source.model))
        warn(d, refilling_note(recipe->surface.file, model.model().mesh()));
    // through the elements equilibrium takes too long for the start of a scene
    if (model.model().has_polynomials() && !world_.scene.gravity.isZero(0))
        if (const std::string warning = try_model(model.model()).warning(); !warning.empty())
            warn(d, "it " + warning);
    for (const Start& start : starts(d))
        world_.add(d, std::make_unique<ReducedBody>(
                          model, ReducedBodyOptions{.pose = start.pose,
                                                    .velocity = start.velocity,
                                                    .damping = source.damping,
                                                    .is_linear = source.is_linear,
                                                    .coupling = source.coupling}));
}

void BodyMaker::make(std::size_t d, const RigidSource& source) {
    if (source.motion && source.density > 0)
        throw InputError("",
                         "a rigid body is moved by its motion or by forces, not both: drop "
                         "\"motion\" or \"density\"");
    if (source.density > 0 && std::holds_alternative<RigidSource::Ground>(source.shape))
        throw InputError("", "the ground has no mass; drop \"density\"");
    const Solid solid = std::visit(SolidOf{source.size, world_.progress}, source.shape);
    RigidBodyOptions options;
    // a hand moves what it holds
    const bool is_held = tools_.holds(d);
    if (!is_held) options.script = source.motion;
    if (source.density > 0) options.mass = rigid_mass(solid.surface, source.density);
    if (is_held && world_.scene.held_tool->among)
        options.mass = tools_.make_among(d, source, solid.surface);
    for (const Start& start : starts(d)) {
        options.pose = is_held && source.motion ? source.motion->at(0).pose : start.pose;
        options.velocity = start.velocity;
        auto body = std::make_unique<RigidBody>(solid.shape, solid.surface, options);
        // proxies touch by themselves
        const bool is_proxy =
            is_held && (world_.scene.held_tool->proxy || world_.scene.held_tool->spheres);
        if (!is_proxy) world_.loop_of(d).obstacles.push_back(body.get());
        world_.add(d, std::move(body));
    }
}

void BodyMaker::make(std::size_t d, const FemSource& source) {
    SurfaceMesh surface;
    VolumeMesh mesh;
    if (const auto* box = std::get_if<FemSource::BoxMesh>(&source.shape)) {
        mesh = box_mesh(*box);
    } else {
        surface = load_solid(std::get<SurfaceSource>(source.shape), source.size, world_.progress);
        mesh = build_simulation_mesh(SurfaceQuery(surface), source.mesh, world_.progress);
        warn(d, refilling_note(std::get<SurfaceSource>(source.shape).file, mesh));
    }
    FemBodyOptions options;
    options.fixed = source.fixed;
    options.elements = source.elements;
    options.dynamics.damping = source.damping;
    options.damping_ratio = source.damping_ratio;
    options.friction = source.friction;
    for (const Start& start : starts(d)) {
        options.pose = start.pose;
        if (source.fixed.empty()) options.velocity = start.velocity;
        world_.add(d, std::make_unique<FemBody>(mesh, std::vector{source.material}, surface,
                                                world_.loop_of(d).obstacles, options));
    }
}

void BodyMaker::warn(std::size_t d, const std::string& note) {
    if (!note.empty()) world_.warn("\"" + world_.scene.bodies[d].name + "\": " + note);
}

/// Of finite elements: boundary elements need no inside.
void BodyMaker::warn_of_refilling(std::size_t d, const GreensSource& source) {
    const auto* const recipe = std::get_if<GreensRecipe>(&source.model);
    if (recipe && recipe->build.method == GreensMethod::FiniteElements)
        warn(d, refilling_note_of_greens(recipe->surface.file, recipe->build.mesh));
}

/// Planes push out slowly what begins below them.
void BodyMaker::warn_of_sunken(std::size_t d, const ParticleBody& body) {
    constexpr double kLeast = 0.02;  // of the size of the body
    for (const ParticlePlane& plane : body.dynamics().options().planes) {
        const Vector3d normal = plane.normal.normalized();
        const double offset = plane.offset / plane.normal.norm();
        double deepest = 0;
        for (int v = 0; v < body.surface().num_vertices(); ++v)
            deepest =
                std::max(deepest, offset - normal.dot(body.position(SurfacePoint::at_vertex(v))));
        if (!(deepest > kLeast * body.size())) continue;
        char text[250];
        std::snprintf(text, sizeof text,
                      "it begins up to %.3g mm below one of its \"planes\" and is pushed out of it "
                      "slowly. Move its pose or the plane",
                      1e3 * deepest);
        warn(d, text);
    }
}

/// Those that tools may hold, and some of hands. Where contact fades from level to level, those of
/// several are there at once.
int BodyMaker::most_loads(std::size_t d, const GreensModel& model) const {
    constexpr int kFading = 4;
    const int most = GreensBodyOptions{}.max_loads;
    int held = 0, fading = 0;
    for (const ContactDescription& contact : world_.scene.contacts)
        if (const auto* greens = std::get_if<GreensContactDescription>(&contact))
            if (greens->body == world_.scene.bodies[d].name) {
                if (greens->kind == GreensContactDescription::Kind::Tools)
                    held += most_held_nodes(*greens, model);
                if (greens->budget > 0) fading += kFading * most;
            }
    return std::max({fading, most, held + kLoadsBesideTools});
}

SurfaceMesh BodyMaker::surface_of(const ParticleSource& source) const {
    SurfaceMesh surface;
    if (const auto* ball = std::get_if<RigidSphere>(&source.shape))
        surface = sphere_surface(ball->radius);
    else if (const auto* sheet = std::get_if<SheetShape>(&source.shape))
        surface = sheet_surface(sheet->sizes[0], sheet->sizes[1], sheet->cells[0], sheet->cells[1]);
    else if (const auto* fan = std::get_if<FanShape>(&source.shape))
        surface = fan_surface(fan->radius, fan->sectors);
    else
        surface = load_solid(std::get<SurfaceSource>(source.shape), source.size, world_.progress);
    return source.is_double_faced ? double_faced(surface) : surface;
}

void BodyMaker::make(std::size_t d, const ParticleSource& source) {
    ParticleModel model;
    if (const auto* file = std::get_if<std::filesystem::path>(&source.shape)) {
        model = load_particle_model(*file);
    } else {
        SurfaceMesh surface = surface_of(source);
        ParticleLayout layout = layout_of(source, surface);
        model = make_particle_model(std::move(layout), std::move(surface), source.layout.string());
    }
    for (const auto& [where, stiffness] : source.parts)
        set_stiffness(model.layout, where, stiffness);
    if (!source.objects.empty()) {
        std::vector<PlacedParticles> parts;
        for (const Pose& pose : source.objects) parts.push_back({&model, pose});
        model = combine(parts);
    }
    ParticleBodyOptions options = source.body;
    for (const Start& start : starts(d)) {
        options.pose = start.pose;
        options.velocity = start.velocity;
        auto body = std::make_unique<ParticleBody>(model, options);
        warn_of_sunken(d, *body);
        world_.add(d, std::move(body));
    }
}

void BodyMaker::make(std::size_t d, const GreensSource& source) {
    const auto model = greens_.get(world_.scene.bodies[d].name, source);
    const auto shown = greens_.shown(source, *model);
    warn_of_refilling(d, source);
    for (const Start& start : starts(d))
        world_.add(d, std::make_unique<GreensBody>(
                          model, GreensBodyOptions{.pose = start.pose,
                                                   .rate = world_.loop_of(d).settings.rate,
                                                   .mask_radius = source.mask_radius,
                                                   .constraint_level = source.constraint_level,
                                                   .shown = shown,
                                                   .max_loads = most_loads(d, *model)}));
}

void BodyMaker::make(std::size_t d, const ZonesSource& source) {
    if (source.is_one_body()) return make_bonded(d, source);
    CharacterModel model{.bones = source.bones,
                         .zones = {},
                         .blend = source.blend,
                         .seams = source.is_bonded ? SeamMode::Bonded : SeamMode::Blended};
    const std::string& body = world_.scene.bodies[d].name;
    std::vector<Zone> greens;
    for (const ZonesSource::Part& part : source.parts) {
        std::shared_ptr<const GreensModel> elastic;
        if (!part.reduced) elastic = greens_.get(body + "." + part.name, part.greens);
        if (elastic) {
            greens.push_back({part.name, elastic, nullptr, part.pose});
            warn_of_refilling(d, part.greens);
        }
        model.zones.push_back({.name = part.name,
                               .model = elastic,
                               .rest = part.pose,
                               .bone = part.bone,
                               .mask_radius = part.greens.mask_radius,
                               .constraint_level = part.greens.constraint_level});
    }
    for (const Start& start : starts(d)) {
        // each copy loads its own
        for (std::size_t z = 0; z < model.zones.size(); ++z)
            if (source.parts[z].reduced)
                model.zones[z].other = make_part(body, source.parts[z], greens);
        world_.add(d, std::make_unique<ZonedBody>(
                          model, ZonedBodyOptions{.pose = start.pose,
                                                  .motion = source.motion,
                                                  .flexion = source.flexion,
                                                  .rate = world_.loop_of(d).settings.rate}));
    }
}

std::shared_ptr<SurfaceZone> BodyMaker::make_part(const std::string& body,
                                                  const ZonesSource::Part& part,
                                                  std::span<const Zone> greens) {
    const ReducedModel& model = models_.get(body + "." + part.name, *part.reduced).model();
    std::vector<int> seam = vertices_at_nodes(model.surface().vertices, part.pose, greens);
    if (seam.empty())
        throw InputError("", "no vertex of part \"" + part.name +
                                 "\" is at a node of a part with \"greens\": the two sides of a "
                                 "seam need the same triangles");
    return ReducedZone::with_surface(model, std::move(seam));
}

void BodyMaker::make_bonded(std::size_t d, const ZonesSource& source) {
    std::vector<Zone> zones;
    for (const ZonesSource::Part& part : source.parts) {
        zones.push_back(
            {.name = part.name,
             .model = greens_.get(world_.scene.bodies[d].name + "." + part.name, part.greens),
             .response = nullptr,
             .pose = part.pose});
        warn_of_refilling(d, part.greens);
    }
    ZonedModel bonded(zones, find_seams(zones));
    const Skeleton skeleton(source.bones);
    std::vector<double> angles;
    for (const ScriptedMotion& angle : source.flexion)
        angles.push_back(angle.at(0).pose.position.x());
    std::vector<Pose> moved(angles.size()), poses;
    skeleton.transforms(angles, moved);
    for (const ZonesSource::Part& part : source.parts)
        poses.push_back(moved[static_cast<std::size_t>(part.bone)] * part.pose);
    if (bonded.set_poses(poses) != SeamSystem::Status::Solved ||
        bonded.solve() != SeamSystem::Status::Solved)
        throw InputError("", "the seams cannot be solved for with these angles of the bones");
    const auto model = std::make_shared<GreensModel>(bonded.posed());
    for (const Start& start : starts(d))
        world_.add(d, std::make_unique<GreensBody>(
                          model, GreensBodyOptions{
                                     .pose = start.pose,
                                     .rate = world_.loop_of(d).settings.rate,
                                     .mask_radius = source.parts.front().greens.mask_radius}));
}

void BodyMaker::make(std::size_t d, const HandSource& source) {
    const GreensHand hand = make_greens_hand(source, world_.scene.bodies[d].pose);
    const GraspHand& model = hand.hand.model();
    const std::vector<RigidShape> shapes = model.shapes();
    std::vector<Pose> links(shapes.size());
    hand_links(model, hand.wanted_wrist(0), hand.wanted_joints(0), links);
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        RigidBodyOptions options;
        options.pose = links[k];
        world_.add(d, std::make_unique<RigidBody>(shapes[k], surface_of_link(model, k), options));
    }
}

}  // namespace pliant
