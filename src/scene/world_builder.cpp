#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/greens/zones.h"
#include "pliant/scene/world.h"
#include "scene/contact_store.h"
#include "scene/greens_store.h"
#include "scene/held_fem_tool.h"
#include "scene/held_proxy_tool.h"
#include "scene/model_store.h"
#include "scene/primitive_surfaces.h"

#include <algorithm>
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

class WorldBuilder {
public:
    WorldBuilder(const SceneDescription& scene, const WorldOptions& options, Progress& progress)
        : scene_(scene),
          device_(options.device ? *options.device : scene.device),
          say_(options.say),
          progress_(progress),
          models_(options.cache, options.say, progress),
          greens_(options.cache, options.say, progress),
          contacts_(options.cache, options.say, progress) {}

    WorldParts run() {
        list_loops();
        make_tool();
        list_bodies();
        // rigid bodies first: full FEM bodies have them as obstacles, which are stepped before
        for (const std::size_t kind :
             {kRigid, kCompliantHand, kReduced, kFem, kGreens, kZones, kParticles})
            for (std::size_t d = 0; d < scene_.bodies.size(); ++d)
                if (scene_.bodies[d].source.index() == kind) make_bodies(d);
        for (std::size_t c = 0; c < scene_.contacts.size(); ++c) make_contact(c);
        make_held_tool();

        for (LoopInMaking& one : loops_)
            parts_.loops.push_back(std::make_unique<SimulationLoop>(
                one.settings, std::move(one.bodies), std::move(one.body_of_world),
                std::move(one.tool), std::move(one.contacts), std::move(one.held),
                std::move(one.proxies)));
        return std::move(parts_);
    }

private:
    enum SourceKind : std::size_t {
        kReduced,
        kFem,
        kRigid,
        kGreens,
        kCompliantHand,
        kZones,
        kParticles
    };  // as in BodyDescription::source
    struct LoopInMaking {
        LoopSettings settings;
        std::vector<std::unique_ptr<Body>> bodies;
        std::vector<int> body_of_world;
        std::vector<RigidBody*> obstacles;
        std::unique_ptr<RigidBody> tool;
        std::vector<LoopContact> contacts;
        std::optional<HeldTool> held;
        std::optional<BodiesEndDescription> proxies;
    };
    /// Where a copy begins.
    struct Start {
        Pose pose;
        Twist velocity;
    };

    void list_loops() {
        LoopSettings settings;
        settings.rate = scene_.rate;
        settings.gravity = scene_.gravity;
        settings.wind_direction = scene_.wind.direction;
        settings.wind_speed = scene_.wind.speed;
        settings.wind_gusts = scene_.wind.gusts;
        settings.pull_stiffness = scene_.pull.stiffness;
        settings.pull_damping = scene_.pull.damping;
        settings.pull_force_limit = scene_.pull.force_limit;
        settings.poke_force = scene_.poke_force;
        settings.seed = scene_.seed;
        add_loop(settings);
        for (const LoopDescription& loop : scene_.loops) {
            settings.name = loop.name;
            settings.rate = loop.rate;
            ++settings.seed;
            add_loop(settings);
        }
    }

    void add_loop(const LoopSettings& settings) {
        loops_.emplace_back();
        loops_.back().settings = settings;
    }

    [[nodiscard]] int find_loop(const std::string& name, const std::string& path) const {
        std::vector<std::string> known;
        for (const LoopInMaking& loop : loops_) known.push_back(loop.settings.name);
        const auto found = std::find(known.begin(), known.end(), name);
        if (found != known.end()) return static_cast<int>(found - known.begin());
        const std::string nearest = nearest_name(name, known);
        throw InputError("", path, "\"" + name + "\"",
                         nearest.empty() ? "\"haptic\" or a loop of the scene"
                                         : "did you mean \"" + nearest + "\"?");
    }

    void make_tool() {
        if (!scene_.tool) return;
        const ToolDescription& tool = *scene_.tool;
        LoopInMaking& loop = loops_[static_cast<std::size_t>(find_loop(tool.loop, "tool.loop"))];
        RigidBodyOptions options;
        options.pose.position = tool.start;
        loop.tool = std::make_unique<RigidBody>(RigidShape::sphere(tool.radius),
                                                sphere_surface(tool.radius), options);
        loop.settings.tool_speed_limit = tool.speed_limit;
        loop.settings.tool_script = tool.script;
        loop.obstacles.push_back(loop.tool.get());
    }

    /// Numbers of the world follow the scene, whatever order the loops need.
    void list_bodies() {
        for (std::size_t d = 0; d < scene_.bodies.size(); ++d) {
            const BodyDescription& description = scene_.bodies[d];
            const int loop = find_loop(description.loop, path_of(d) + ".loop");
            first_body_.push_back(static_cast<int>(parts_.bodies.size()));
            const int count = num_copies(d);
            for (int k = 0; k < count; ++k)
                parts_.bodies.push_back(
                    {.name = description.name +
                             (is_many(description) ? "[" + std::to_string(k) + "]" : ""),
                     .description = static_cast<int>(d),
                     .loop = loop,
                     .colour = description.colour});
        }
    }

    /// Whether its bodies have numbers.
    [[nodiscard]] static bool is_many(const BodyDescription& description) {
        return description.copies || std::holds_alternative<HandSource>(description.source);
    }

    [[nodiscard]] int num_copies(std::size_t d) const {
        if (std::holds_alternative<HandSource>(scene_.bodies[d].source))
            return GraspHand::kNumLinks;
        const std::optional<Copies>& copies = scene_.bodies[d].copies;
        if (!copies) return 1;
        double count = 1;
        for (const int n : copies->counts) {
            if (n < 1)
                throw InputError("", path_of(d) + ".copies.counts", std::to_string(n),
                                 "at least 1 along each axis");
            count *= n;
        }
        constexpr double kMostCopies = 100'000;
        if (count > kMostCopies)
            throw InputError("", path_of(d) + ".copies.counts", std::to_string(count),
                             "at most 100000 copies in all");
        return static_cast<int>(count);
    }

    /// On a grid around the pose of the description, x fastest.
    [[nodiscard]] std::vector<Start> starts(std::size_t d) const {
        const BodyDescription& description = scene_.bodies[d];
        const Start first{description.pose, description.velocity};
        if (!description.copies) return {first};
        const Copies& copies = *description.copies;
        const auto [nx, ny, nz] = copies.counts;
        // every description has its own throws, so that one more body leaves the others alone
        Throws throws(scene_.seed * 0x9e3779b97f4a7c15u + d);
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

    void make_bodies(std::size_t d) {
        const BodyDescription& description = scene_.bodies[d];
        try {
            std::visit([&](const auto& source) { make(d, source); }, description.source);
        } catch (const InputError& error) {
            throw InputError(
                "", "body \"" + description.name + "\" (" + path_of(d) + "): " + error.what());
        }
    }

    void make(std::size_t d, const ReducedSource& source) {
        const ReducedBodyModel& model = models_.get(scene_.bodies[d].name, source);
        for (const Start& start : starts(d))
            add(d, std::make_unique<ReducedBody>(model,
                                                 ReducedBodyOptions{.pose = start.pose,
                                                                    .velocity = start.velocity,
                                                                    .damping = source.damping,
                                                                    .is_linear = source.is_linear,
                                                                    .coupling = source.coupling}));
    }

    void make(std::size_t d, const RigidSource& source) {
        if (source.motion && source.density > 0)
            throw InputError("",
                             "a rigid body is moved by its motion or by forces, not both: drop "
                             "\"motion\" or \"density\"");
        if (source.density > 0 && std::holds_alternative<RigidSource::Ground>(source.shape))
            throw InputError("", "the ground has no mass; drop \"density\"");
        const Solid solid = std::visit(SolidOf{source.size, progress_}, source.shape);
        RigidBodyOptions options;
        // a hand moves what it holds
        const bool is_held = scene_.held_tool && scene_.held_tool->body == scene_.bodies[d].name;
        if (!is_held) options.script = source.motion;
        if (source.density > 0) options.mass = rigid_mass(solid.surface, source.density);
        if (is_held && scene_.held_tool->among) options.mass = make_among_tool(d, source, solid);
        for (const Start& start : starts(d)) {
            options.pose = is_held && source.motion ? source.motion->at(0).pose : start.pose;
            options.velocity = start.velocity;
            auto body = std::make_unique<RigidBody>(solid.shape, solid.surface, options);
            // proxies touch by themselves
            const bool is_proxy = is_held && (scene_.held_tool->proxy || scene_.held_tool->spheres);
            if (!is_proxy) loop_of(d).obstacles.push_back(body.get());
            add(d, std::move(body));
        }
    }

    /// Both ends of the tool, as far as they do not need the body, and the mass of that.
    [[nodiscard]] RigidMass make_among_tool(std::size_t d, const RigidSource& source,
                                            const Solid& solid) {
        AmongToolEnds made = pliant::make_among_tool(
            *scene_.held_tool, device_,
            {.surface = solid.surface,
             .start = source.motion ? source.motion->at(0).pose : scene_.bodies[d].pose,
             .motion = source.motion,
             .rate = loops_[0].settings.rate,
             .step = 1 / loop_of(d).settings.rate,
             .use = scene_.device_use});
        among_tool_ = std::move(made.ends);
        return made.mass;
    }

    void make(std::size_t d, const FemSource& source) {
        SurfaceMesh surface;
        VolumeMesh mesh;
        if (const auto* box = std::get_if<FemSource::BoxMesh>(&source.shape)) {
            mesh = box_mesh(*box);
        } else {
            surface = load_solid(std::get<SurfaceSource>(source.shape), source.size, progress_);
            mesh = build_simulation_mesh(SurfaceQuery(surface), source.mesh, progress_);
        }
        FemBodyOptions options;
        options.fixed = source.fixed;
        options.dynamics.damping = source.damping;
        options.contact.friction = source.friction;
        for (const Start& start : starts(d)) {
            options.pose = start.pose;
            add(d, std::make_unique<FemBody>(mesh, std::vector{source.material}, surface,
                                             loop_of(d).obstacles, options));
        }
    }

    /// Where contact fades from level to level, those of several are there at once.
    [[nodiscard]] int most_loads(std::size_t d) const {
        constexpr int kFading = 4;
        const int most = GreensBodyOptions{}.max_loads;
        int sum = 0;
        for (const ContactDescription& contact : scene_.contacts)
            if (const auto* greens = std::get_if<GreensContactDescription>(&contact))
                if (greens->body == scene_.bodies[d].name && greens->budget > 0)
                    sum += kFading * most;
        return std::max(sum, most);
    }

    [[nodiscard]] SurfaceMesh surface_of(const ParticleSource& source) const {
        SurfaceMesh surface;
        if (const auto* ball = std::get_if<RigidSphere>(&source.shape))
            surface = sphere_surface(ball->radius);
        else if (const auto* sheet = std::get_if<SheetShape>(&source.shape))
            surface =
                sheet_surface(sheet->sizes[0], sheet->sizes[1], sheet->cells[0], sheet->cells[1]);
        else if (const auto* fan = std::get_if<FanShape>(&source.shape))
            surface = fan_surface(fan->radius, fan->sectors);
        else
            surface = load_solid(std::get<SurfaceSource>(source.shape), source.size, progress_);
        return source.is_double_faced ? double_faced(surface) : surface;
    }

    [[nodiscard]] static ParticleLayout layout_of(const ParticleSource& source,
                                                  const SurfaceMesh& surface) {
        if (!source.layout.empty()) return load_layout(source.layout);
        if (!source.cloth) return place_particles(surface, source.placement);
        const ClothDescription& cloth = *source.cloth;
        ParticleLayout layout = particles_of_vertices(
            surface, cloth.mass, cloth.radius > 0 ? cloth.radius : 0.5 * mean_edge(surface),
            source.placement.stiffness, source.placement.links);
        layout.is_cloth = cloth.keeps_lengths;
        return layout;
    }
    [[nodiscard]] static double mean_edge(const SurfaceMesh& surface) {
        double sum = 0;
        for (int t = 0; t < surface.num_triangles(); ++t)
            for (int k = 0; k < 3; ++k)
                sum += (surface.corner(t, k) - surface.corner(t, (k + 1) % 3)).norm();
        return sum / (3 * surface.num_triangles());
    }

    void make(std::size_t d, const ParticleSource& source) {
        ParticleModel model;
        if (const auto* file = std::get_if<std::filesystem::path>(&source.shape)) {
            model = load_particle_model(*file);
        } else {
            SurfaceMesh surface = surface_of(source);
            ParticleLayout layout = layout_of(source, surface);
            model =
                make_particle_model(std::move(layout), std::move(surface), source.layout.string());
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
            add(d, std::make_unique<ParticleBody>(model, options));
        }
    }

    void make(std::size_t d, const GreensSource& source) {
        const auto model = greens_.get(scene_.bodies[d].name, source);
        const auto shown = greens_.shown(source, *model);
        for (const Start& start : starts(d))
            add(d, std::make_unique<GreensBody>(
                       model, GreensBodyOptions{.pose = start.pose,
                                                .rate = loop_of(d).settings.rate,
                                                .mask_radius = source.mask_radius,
                                                .constraint_level = source.constraint_level,
                                                .shown = shown,
                                                .max_loads = most_loads(d)}));
    }

    void make(std::size_t d, const ZonesSource& source) {
        if (source.is_one_body()) return make_bonded(d, source);
        CharacterModel model{.bones = source.bones,
                             .zones = {},
                             .blend = source.blend,
                             .seams = source.is_bonded ? SeamMode::Bonded : SeamMode::Blended};
        for (const ZonesSource::Part& part : source.parts)
            model.zones.push_back(
                {.name = part.name,
                 .model = greens_.get(scene_.bodies[d].name + "." + part.name, part.greens),
                 .rest = part.pose,
                 .bone = part.bone,
                 .mask_radius = part.greens.mask_radius});
        for (const Start& start : starts(d))
            add(d, std::make_unique<ZonedBody>(model,
                                               ZonedBodyOptions{.pose = start.pose,
                                                                .motion = source.motion,
                                                                .flexion = source.flexion,
                                                                .rate = loop_of(d).settings.rate}));
    }

    /// One body of zones with the bones as they are at the start.
    void make_bonded(std::size_t d, const ZonesSource& source) {
        std::vector<Zone> zones;
        for (const ZonesSource::Part& part : source.parts)
            zones.push_back(
                {.name = part.name,
                 .model = greens_.get(scene_.bodies[d].name + "." + part.name, part.greens),
                 .response = nullptr,
                 .pose = part.pose});
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
            add(d, std::make_unique<GreensBody>(
                       model,
                       GreensBodyOptions{.pose = start.pose,
                                         .rate = loop_of(d).settings.rate,
                                         .mask_radius = source.parts.front().greens.mask_radius}));
    }

    /// Its links, which the contact moves.
    void make(std::size_t d, const HandSource& source) {
        const GreensHand hand = make_greens_hand(source, scene_.bodies[d].pose);
        const GraspHand& model = hand.hand.model();
        const std::vector<RigidShape> shapes = model.shapes();
        std::vector<Pose> links(shapes.size());
        hand_links(model, hand.wanted_wrist(0), hand.wanted_joints(0), links);
        for (std::size_t k = 0; k < shapes.size(); ++k) {
            RigidBodyOptions options;
            options.pose = links[k];
            add(d, std::make_unique<RigidBody>(shapes[k], surface_of_link(model, k), options));
        }
    }
    [[nodiscard]] static SurfaceMesh surface_of_link(const GraspHand& hand, std::size_t link) {
        if (link == 0) return box_surface(2 * hand.palm_half_sizes);
        const GraspHand::Finger& finger = hand.fingers[(link - 1) / GraspHand::kLinksPerFinger];
        const std::size_t part = (link - 1) % GraspHand::kLinksPerFinger;
        return capsule_surface(finger.radii[part], finger.lengths[part]);
    }

    void make_contact(std::size_t c) {
        const std::string path = "contacts[" + std::to_string(c) + "]";
        std::visit([&](const auto& contact) { make_contact(contact, path); }, scene_.contacts[c]);
    }

    void make_contact(const PairContactDescription& pair, const std::string& path) {
        const WorldBody& shell = find_body(pair.shell, path + ".shell");
        const WorldBody& field = find_body(pair.field, path + ".field");
        if (shell.loop != field.loop)
            throw InputError("", path + ".field", "\"" + pair.field + "\"",
                             "a body of the same loop as \"" + pair.shell + "\"");
        add_contact(shell.loop, path,
                    [&] { return contacts_.make(pair, side_of(shell), side_of(field)); });
    }

    void make_contact(const AmongContactDescription& among, const std::string& path) {
        std::vector<const WorldBody*> bodies;
        for (std::size_t i = 0; i < among.bodies.size(); ++i) {
            const std::string place = path + ".among[" + std::to_string(i) + "]";
            for (const WorldBody* body : find_copies(among.bodies[i], place)) {
                if (!bodies.empty() && body->loop != bodies[0]->loop)
                    throw InputError("", place, "\"" + among.bodies[i] + "\"",
                                     "a body of the same loop as \"" + among.bodies[0] + "\"");
                bodies.push_back(body);
            }
        }
        add_contact(bodies[0]->loop, path, [&] { return contacts_.make(among, sides_of(bodies)); });
    }

    void make_contact(const SelfContactDescription& self, const std::string& path) {
        const std::vector<const WorldBody*> bodies = find_copies(self.body, path + ".self");
        add_contact(bodies[0]->loop, path, [&] { return contacts_.make(self, sides_of(bodies)); });
    }

    void make_contact(const GreensContactDescription& contact, const std::string& path) {
        const WorldBody& found = find_body(contact.body, path + ".greens");
        const LoopInMaking& loop = loops_[static_cast<std::size_t>(found.loop)];
        const auto body_at = [&](int place) {
            return loop.bodies[static_cast<std::size_t>(place)].get();
        };
        std::vector<int> places{found.place};
        std::vector<RigidBody*> by;
        std::optional<GreensHand> hand;
        for (const std::string& name : contact.by)
            for (const WorldBody* body : bodies_named(name, path, hand)) {
                places.push_back(body->place);
                by.push_back(dynamic_cast<RigidBody*>(body_at(body->place)));
            }
        if (auto* const zoned = dynamic_cast<ZonedBody*>(body_at(found.place))) {
            // each zone is solved by itself
            for (int z = 0; z < zoned->num_zones(); ++z)
                add_contact(found.loop, path, [&] {
                    LoopContact made = make_greens_contact(contact, zoned->zone(z), by, places,
                                                           loop.settings.rate);
                    made.name = contact.body + "." +
                                zoned->model().zones[static_cast<std::size_t>(z)].name + "/" +
                                contact.by.front();
                    made.greens()->set_display_offset(
                        static_cast<std::size_t>(zoned->display_offset(z)));
                    return made;
                });
            return;
        }
        add_contact(found.loop, path, [&] {
            return make_greens_contact(contact, dynamic_cast<GreensBody&>(*body_at(found.place)),
                                       by, places, loop.settings.rate, std::move(hand));
        });
    }

    /// A body, or the links of a hand, which it makes.
    [[nodiscard]] std::vector<const WorldBody*> bodies_named(
        const std::string& name, const std::string& path, std::optional<GreensHand>& hand) const {
        for (const BodyDescription& description : scene_.bodies)
            if (const auto* source = std::get_if<HandSource>(&description.source);
                source && description.name == name) {
                hand = make_greens_hand(*source, description.pose);
                return find_copies(name, path);
            }
        return {&find_body(name, path)};
    }

    /// Errors of `make` get the path.
    template <class Make>
    void add_contact(int loop, const std::string& path, const Make& make) {
        try {
            loops_[static_cast<std::size_t>(loop)].contacts.push_back(make());
        } catch (const InputError& error) {
            throw InputError("", path + ": " + error.what());
        }
    }

    /// The device, and the contacts that follow from it, for the body that is held.
    void make_held_tool() {
        if (!scene_.held_tool) return;
        try {
            hold(*scene_.held_tool);
        } catch (const InputError& error) {
            throw InputError("", std::string("tool: ") + error.what());
        }
    }

    void hold(const HeldToolDescription& tool) {
        const WorldBody& found = find_body(tool.body, "tool.body");
        const BodyDescription& description =
            scene_.bodies[static_cast<std::size_t>(found.description)];
        const auto* source = std::get_if<RigidSource>(&description.source);
        if (source == nullptr || source->density > 0)
            throw InputError("",
                             "\"" + tool.body + "\" is " +
                                 (source ? "moved by forces: leave out its density" : "not rigid") +
                                 "; a hand holds a rigid body without mass");
        if (tool.fem) return hold_among_fem(tool, found, *source);
        if (tool.among) return hold_in_among(found);
        if (tool.proxy || tool.spheres) return hold_proxy(tool, found, *source);
        LoopInMaking& loop = loops_[static_cast<std::size_t>(found.loop)];
        const Body& body = *loop.bodies[static_cast<std::size_t>(found.place)];

        // what it meets
        double cell = cell_of_points(loop, body);
        for (const LoopContact& contact : loop.contacts)
            if (const ContactPair* pair = pair_with(contact, body))
                cell = cell > 0 ? std::min(cell, contact_cell(*pair)) : contact_cell(*pair);
        if (!(cell > 0))
            throw InputError("", "\"" + tool.body +
                                     "\" is in no contact of two bodies, so that there is nothing "
                                     "to feel: add one to \"contacts\"");
        double stiffness = 0;
        for (const ContactDescription& one : scene_.contacts)
            if (const auto* pair = std::get_if<PairContactDescription>(&one))
                if (pair->shell == tool.body || pair->field == tool.body)
                    stiffness = std::max(stiffness, pair->stiffness);

        const auto* rigid = dynamic_cast<const RigidBody*>(&body);
        // a point is the origin of its body
        HeldToolDescription held_tool = tool;
        if (cell_of_points(loop, body) > 0) held_tool.grasp = Vector3d::Zero();
        loop.held = pliant::make_held_tool(held_tool, device_,
                                           {.surface = body.surface(),
                                            .start = rigid->motion().pose,
                                            .motion = source->motion,
                                            .cell = cell,
                                            .contact_stiffness = stiffness,
                                            .rate = loop.settings.rate,
                                            .use = scene_.device_use});
        loop.held->place = found.place;
        // sliders begin where the tool will put them
        for (LoopContact& contact : loop.contacts)
            if (pair_with(contact, body))
                std::get<ContactPair>(contact.kind)
                    .set_stiffness(loop.held->gains.contact_stiffness);
        if (say_ && !loop.held->warning.empty()) say_("tool: " + loop.held->warning);
    }

    /// The device in the loop of the tool, its proxy, or many, in that of the bodies.
    void hold_proxy(const HeldToolDescription& tool, const WorldBody& found,
                    const RigidSource& source) {
        LoopInMaking& loop = loops_[static_cast<std::size_t>(found.loop)];
        std::vector<TouchedBody> bodies;
        int bodies_loop = found.loop;
        for (const std::string& name : tool.proxy ? tool.proxy->bodies : tool.spheres->bodies) {
            const WorldBody& one =
                find_body(name, tool.proxy ? "tool.proxy.bodies" : "tool.spheres.bodies");
            bodies_loop = one.loop;
            bodies.push_back({loops_[static_cast<std::size_t>(one.loop)]
                                  .bodies[static_cast<std::size_t>(one.place)]
                                  .get(),
                              number_of(one), one.name});
        }
        LoopInMaking& other = loops_[static_cast<std::size_t>(bodies_loop)];
        const ProxySurroundings around{.body = dynamic_cast<const RigidBody&>(
                                           *loop.bodies[static_cast<std::size_t>(found.place)]),
                                       .motion = source.motion,
                                       .bodies = std::move(bodies),
                                       .rate = loop.settings.rate,
                                       .bodies_rate = other.settings.rate,
                                       .is_one_loop = bodies_loop == found.loop,
                                       .use = scene_.device_use};
        ProxyToolEnds ends = tool.proxy ? make_proxy_tool(tool, device_, around)
                                        : make_spheres_tool(tool, device_, around);
        if (say_ && !ends.held.warning.empty()) say_("tool: " + ends.held.warning);
        ends.held.place = found.place;
        loop.held = std::move(ends.held);
        if (ends.bodies) other.proxies = std::move(ends.bodies);
    }

    /// The device in the haptic loop, the proxies in that of the bodies.
    void hold_among_fem(const HeldToolDescription& tool, const WorldBody& first,
                        const RigidSource& source) {
        LoopInMaking& loop = loops_[static_cast<std::size_t>(first.loop)];
        std::vector<FemProxyBody> proxies;
        const auto add_proxy = [&](const WorldBody& one) {
            const auto* rigid = one.loop == first.loop
                                    ? dynamic_cast<const RigidBody*>(
                                          loop.bodies[static_cast<std::size_t>(one.place)].get())
                                    : nullptr;
            if (rigid == nullptr)
                throw InputError("", "\"" + one.name + "\" is no rigid body of the loop of \"" +
                                         first.name + "\"; a hand holds these only");
            proxies.push_back({rigid, one.place, number_of(one)});
        };
        add_proxy(first);
        for (const std::string& part : tool.fem->parts) add_proxy(find_body(part, "tool.parts"));
        FemToolEnds ends = make_fem_tool(tool, device_, proxies,
                                         {.bodies = loop.bodies,
                                          .motion = source.motion,
                                          .rate = loops_[0].settings.rate,
                                          .use = scene_.device_use});
        if (say_ && !ends.held.warning.empty()) say_("tool: " + ends.held.warning);
        loops_[0].held = std::move(ends.held);
        loop.proxies = std::move(ends.proxies);
    }

    /// The device in the haptic loop, the body in that of the solver.
    void hold_in_among(const WorldBody& body) {
        FemToolEnds ends = *std::move(among_tool_);
        ends.held.fem->body = number_of(body);
        ends.proxies.places = {body.place};
        if (say_ && !ends.held.warning.empty()) say_("tool: " + ends.held.warning);
        loops_[0].held = std::move(ends.held);
        loops_[static_cast<std::size_t>(body.loop)].proxies = std::move(ends.proxies);
    }

    [[nodiscard]] int number_of(const WorldBody& body) const {
        return static_cast<int>(&body - parts_.bodies.data());
    }

    /// Over which what a body touches as a point is pressed in; 0: it is none.
    [[nodiscard]] static double cell_of_points(const LoopInMaking& loop, const Body& body) {
        for (const LoopContact& contact : loop.contacts)
            if (const GreensTouch* touch = contact.greens())
                if (std::ranges::find(touch->by(), &body) != touch->by().end())
                    return touch->body().stiffness().radius();
        return 0;
    }

    /// Null: the contact is of another kind or of other bodies.
    [[nodiscard]] static const ContactPair* pair_with(const LoopContact& contact,
                                                      const Body& body) {
        const ContactPair* pair = contact.pair();
        return pair && (&pair->shell_body() == &body || &pair->field_body() == &body) ? pair
                                                                                      : nullptr;
    }

    [[nodiscard]] ContactSide side_of(const WorldBody& body) const {
        const LoopInMaking& loop = loops_[static_cast<std::size_t>(body.loop)];
        return {scene_.bodies[static_cast<std::size_t>(body.description)],
                *loop.bodies[static_cast<std::size_t>(body.place)], body.place};
    }
    [[nodiscard]] std::vector<ContactSide> sides_of(
        const std::vector<const WorldBody*>& bodies) const {
        std::vector<ContactSide> sides;
        for (const WorldBody* body : bodies) sides.push_back(side_of(*body));
        return sides;
    }

    /// All bodies of a description.
    [[nodiscard]] std::vector<const WorldBody*> find_copies(const std::string& name,
                                                            const std::string& path) const {
        std::vector<const WorldBody*> found;
        for (const WorldBody& body : parts_.bodies)
            if (scene_.bodies[static_cast<std::size_t>(body.description)].name == name)
                found.push_back(&body);
        if (found.empty())
            throw InputError("", path, "\"" + name + "\"", "the name of a body of the scene");
        return found;
    }

    [[nodiscard]] const WorldBody& find_body(const std::string& name,
                                             const std::string& path) const {
        for (const WorldBody& body : parts_.bodies)
            if (body.name == name) return body;
        throw InputError("", path, "\"" + name + "\"", "the name of a body of the scene");
    }

    /// The next copy of a description.
    void add(std::size_t d, std::unique_ptr<Body> body) {
        LoopInMaking& loop = loop_of(d);
        const int number = first_body_[d]++;
        parts_.bodies[static_cast<std::size_t>(number)].place =
            static_cast<int>(loop.bodies.size());
        loop.bodies.push_back(std::move(body));
        loop.body_of_world.push_back(number);
    }

    [[nodiscard]] LoopInMaking& loop_of(std::size_t d) {
        return loops_[static_cast<std::size_t>(find_loop(scene_.bodies[d].loop, ""))];
    }
    [[nodiscard]] static std::string path_of(std::size_t d) {
        return "bodies[" + std::to_string(d) + "]";
    }

    const SceneDescription& scene_;
    const DeviceDescription device_;
    std::function<void(const std::string&)> say_;
    Progress& progress_;
    ModelStore models_;
    GreensStore greens_;
    ContactStore contacts_;
    std::vector<LoopInMaking> loops_;
    std::vector<int> first_body_;  ///< of each description that is not made yet
    WorldParts parts_;
    std::optional<FemToolEnds> among_tool_;  ///< of a body that is there, to be held
};

}  // namespace

World::World(SceneDescription scene, const WorldOptions& options, Progress& progress)
    : World(scene, WorldBuilder(scene, options, progress).run()) {}

}  // namespace pliant
