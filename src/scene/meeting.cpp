#include "scene/meeting.h"

#include "pliant/particles/particle_body.h"
#include "pliant/reduction/reduced_body.h"
#include "scene/box_tree.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Rows and columns in the order of MeetingKind.
struct MeetingTable {
    using enum Meeting;
    static constexpr Meeting kMeetings[kNumMeetingKinds][kNumMeetingKinds]{
        // Still  Thrown Link   Held   Free   Fem     Greens Zones  Particle
        {Fixed, Among, Fixed, Pair, Among, Itself, Touch, Touch, None},  // Still
        {Among, Among, None, Among, Among, Itself, None, None, None},    // Thrown
        {Fixed, None, Fixed, None, None, None, Touch, None, None},       // Link
        {Pair, Among, None, Pair, Among, None, None, None, None},        // Held
        {Among, Among, None, Among, Among, None, None, None, None},      // Free
        {Itself, Itself, None, None, None, None, None, None, None},      // Fem
        {Touch, None, Touch, None, None, None, None, None, None},        // Greens
        {Touch, None, None, None, None, None, None, None, None},         // Zones
        {None, None, None, None, None, None, None, None, None},          // Particle
    };
};

constexpr std::array<const char*, kNumMeetingKinds> kMeetingNames{"a rigid body",
                                                                  "a rigid body with \"density\"",
                                                                  "the links of a hand",
                                                                  "a reduced body",
                                                                  "a reduced body that is free",
                                                                  "a full FEM body",
                                                                  "a Green's body",
                                                                  "a body of zones",
                                                                  "a body of particles"};

/// Beyond all that a scene may hold [m].
constexpr double kFarBelow = 1e9;
/// So many pairs are named one by one.
constexpr std::size_t kMostNamed = 20;

MeetingKind meeting_kind(const BodyDescription& description, const Body& body) {
    if (const auto* rigid = std::get_if<RigidSource>(&description.source))
        return rigid->density > 0 ? MeetingKind::Thrown : MeetingKind::Still;
    if (std::holds_alternative<HandSource>(description.source)) return MeetingKind::Link;
    if (const auto* reduced = dynamic_cast<const ReducedBody*>(&body))
        return reduced->model().is_free() ? MeetingKind::Free : MeetingKind::Held;
    if (body.kind() == "fem") return MeetingKind::Fem;
    if (body.kind() == "greens") return MeetingKind::Greens;
    if (body.kind() == "zones") return MeetingKind::Zones;
    return MeetingKind::Particle;
}

/// normal · x ≥ offset is outside.
struct GroundPlane {
    Vector3d normal;
    double offset;
};

/// Where the vertices are looked at: those that lie farthest along the axes, and some hundred
/// others.
std::vector<int> looked_at(const SurfaceMesh& surface) {
    constexpr int kMost = 200;
    const int count = surface.num_vertices();
    std::vector<int> vertices;
    for (int v = 0; v < count; v += std::max(1, count / kMost)) vertices.push_back(v);
    for (int axis = 0; axis < 3 && count > 0; ++axis) {
        const auto [least, most] = std::ranges::minmax_element(
            surface.vertices, {}, [axis](const Vector3d& x) { return x[axis]; });
        vertices.push_back(static_cast<int>(least - surface.vertices.begin()));
        vertices.push_back(static_cast<int>(most - surface.vertices.begin()));
    }
    return vertices;
}

class Crossings {
    using enum Meeting;

public:
    explicit Crossings(const WorldInMaking& world) : world_(world) {
        const Vector3d& g = world.scene.gravity;
        has_gravity_ = g.norm() > 0;
        if (has_gravity_) up_ = Quaternion::FromTwoVectors(-g, Vector3d::UnitZ());
        of_description_.resize(world.scene.bodies.size());
        for (const WorldBody& body : world.bodies)
            of_description_[static_cast<std::size_t>(body.description)].push_back(&body);
        for (const auto& all : of_description_)
            kinds_.push_back(
                all.empty() ? MeetingKind::Still
                            : meeting_kind(world.scene.bodies[kinds_.size()], body(*all.front())));
        boxes_.resize(world.bodies.size());
        carriers_.resize(world.scene.bodies.size());
    }

    std::vector<std::string> find() {
        std::vector<std::string> found;
        std::size_t others = 0;
        const auto& bodies = world_.scene.bodies;
        for (std::size_t a = 0; a < bodies.size(); ++a)
            for (std::size_t b = a; b < bodies.size(); ++b) {
                if (!may_pass(a, b)) continue;
                if (found.size() < kMostNamed)
                    found.push_back(sentence(a, b));
                else
                    ++others;
            }
        if (others > 0)
            found.push_back(std::to_string(others) +
                            " more pairs of bodies pass through each other");
        return found;
    }

    /// Boxes that were compared.
    [[nodiscard]] std::uint64_t num_compared() const noexcept { return num_compared_; }

private:
    [[nodiscard]] const BodyDescription& description(std::size_t d) const {
        return world_.scene.bodies[d];
    }
    [[nodiscard]] const Body& body(const WorldBody& one) const {
        return *world_.loops[static_cast<std::size_t>(one.loop)]
                    .bodies[static_cast<std::size_t>(one.place)];
    }
    [[nodiscard]] MeetingKind kind(std::size_t d) const { return kinds_[d]; }

    // --- who meets

    [[nodiscard]] bool is_proxy(std::size_t d) const {
        const auto& tool = world_.scene.held_tool;
        return tool && tool->body == description(d).name && (tool->proxy || tool->spheres);
    }
    [[nodiscard]] static bool has(const std::vector<std::string>& names, const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    }
    [[nodiscard]] bool is_ignored(std::size_t a, std::size_t b) const {
        return std::ranges::any_of(world_.scene.ignored_contacts, [&](const auto& group) {
            const auto first = std::ranges::find(group, description(a).name);
            const auto from = a == b && first != group.end() ? first + 1 : group.begin();
            return first != group.end() &&
                   std::find(from, group.end(), description(b).name) != group.end();
        });
    }
    /// All copies of both.
    [[nodiscard]] bool all_meet(std::size_t a, std::size_t b) const {
        const std::string &name_a = description(a).name, &name_b = description(b).name;
        const Meeting by = meeting(kind(a), kind(b));
        if (by == Fixed) return true;
        if (by == Itself)
            return description(a).loop == description(b).loop && !is_proxy(a) && !is_proxy(b);
        for (const ContactDescription& contact : world_.scene.contacts)
            if (const auto* among = std::get_if<AmongContactDescription>(&contact))
                if (has(among->bodies, name_a) && has(among->bodies, name_b) && can_touch(a, b))
                    return true;
        return false;
    }
    /// These two, by an entry or a tool that names them.
    [[nodiscard]] bool meet(const WorldBody& a, const WorldBody& b) const {
        const auto named = [&](const std::string& one, const std::string& other) {
            return (one == a.name && other == b.name) || (one == b.name && other == a.name);
        };
        for (const ContactDescription& contact : world_.scene.contacts) {
            if (const auto* pair = std::get_if<PairContactDescription>(&contact))
                if (named(pair->shell, pair->field)) return true;
            if (const auto* greens = std::get_if<GreensContactDescription>(&contact))
                for (const std::string& name : greens->by) {
                    if (named(greens->body, name)) return true;
                    // a hand is named as a whole
                    if (named(greens->body, a.name) && name_of(b) == name) return true;
                    if (named(greens->body, b.name) && name_of(a) == name) return true;
                    if (greens->body == a.name && name_of(b) == name) return true;
                    if (greens->body == b.name && name_of(a) == name) return true;
                }
        }
        const auto& tool = world_.scene.held_tool;
        if (!tool || !(tool->proxy || tool->spheres)) return false;
        const std::vector<std::string>& touched =
            tool->proxy ? tool->proxy->bodies : tool->spheres->bodies;
        return (tool->body == a.name && has(touched, b.name)) ||
               (tool->body == b.name && has(touched, a.name));
    }
    [[nodiscard]] const std::string& name_of(const WorldBody& one) const {
        return description(static_cast<std::size_t>(one.description)).name;
    }
    [[nodiscard]] bool has_points(std::size_t d) const {
        return description(d).contact.pointshell.has_value();
    }
    [[nodiscard]] bool is_primitive(std::size_t d) const {
        const auto* rigid = std::get_if<RigidSource>(&description(d).source);
        return rigid && !std::holds_alternative<SurfaceSource>(rigid->shape);
    }
    [[nodiscard]] bool has_field(std::size_t d) const {
        return description(d).contact.field || is_primitive(d);
    }
    /// Points of one against the field of the other, or two primitives.
    [[nodiscard]] bool can_touch(std::size_t a, std::size_t b) const {
        if (is_primitive(a) && is_primitive(b)) return true;
        return (has_points(a) && has_field(b)) || (has_points(b) && has_field(a));
    }

    // --- where they go

    [[nodiscard]] bool falls(std::size_t d) const {
        const BodyDescription& one = description(d);
        if (const auto* fem = std::get_if<FemSource>(&one.source)) return fem->fixed.empty();
        if (const auto* particles = std::get_if<ParticleSource>(&one.source))
            return particles->body.held.empty();
        const MeetingKind k = kind(d);
        return k == MeetingKind::Thrown || k == MeetingKind::Free;
    }
    [[nodiscard]] const ScriptedMotion* path(std::size_t d) const {
        const auto of = [](const std::optional<ScriptedMotion>& motion) {
            return motion ? &*motion : nullptr;
        };
        const BodyDescription& one = description(d);
        if (const auto* rigid = std::get_if<RigidSource>(&one.source)) return of(rigid->motion);
        if (const auto* hand = std::get_if<HandSource>(&one.source)) return of(hand->motion);
        if (const auto* zones = std::get_if<ZonesSource>(&one.source)) return of(zones->motion);
        return nullptr;
    }
    [[nodiscard]] bool gives_way(std::size_t d) const {
        const MeetingKind k = kind(d);
        return k != MeetingKind::Still && k != MeetingKind::Link;
    }

    /// As it stands at the start.
    [[nodiscard]] const Box& box_of(const WorldBody& one) {
        Box& box = boxes_[static_cast<std::size_t>(world_.number_of(one))];
        if (box.isEmpty())
            for (const int v : looked_at(body(one).surface()))
                box.extend(up_ * body(one).position(SurfacePoint::at_vertex(v)));
        return box;
    }
    [[nodiscard]] std::optional<GroundPlane> ground_of(const WorldBody& one) const {
        const BodyDescription& d = description(static_cast<std::size_t>(one.description));
        const auto* rigid = std::get_if<RigidSource>(&d.source);
        if (!rigid || !std::holds_alternative<RigidGround>(rigid->shape)) return std::nullopt;
        const Vector3d normal = up_ * (d.pose.rotation * Vector3d::UnitZ());
        return GroundPlane{normal, normal.dot(up_ * d.pose.position)};
    }

    /// How high a plane is below a place; −kFarBelow: it is a wall.
    [[nodiscard]] static double height(const GroundPlane& plane, const Vector3d& middle) {
        if (!(plane.normal.z() > 0.2)) return -kFarBelow;
        return (plane.offset - plane.normal.x() * middle.x() - plane.normal.y() * middle.y()) /
               plane.normal.z();
    }
    /// What does not fall and meets the body.
    [[nodiscard]] const std::vector<const WorldBody*>& carriers(const WorldBody& one) {
        const auto d = static_cast<std::size_t>(one.description);
        if (!carriers_[d]) {
            carriers_[d].emplace();
            for (std::size_t o = 0; o < of_description_.size(); ++o) {
                if (o == d || falls(o)) continue;
                const bool is_met = all_meet(d, o);
                for (const WorldBody* other : of_description_[o])
                    if (is_met || meet(one, *other)) carriers_[d]->push_back(other);
            }
        }
        return *carriers_[d];
    }
    /// Where a fall ends: what carries the body and does not fall itself.
    [[nodiscard]] double lowest(const WorldBody& one, const Box& box) {
        const auto d = static_cast<std::size_t>(one.description);
        const Vector3d middle = box.center();
        double lowest = -kFarBelow;
        const auto stop_at = [&](double z) {
            if (z <= box.max().z()) lowest = std::max(lowest, z);
        };
        if (const auto* particles = std::get_if<ParticleSource>(&description(d).source))
            for (const ParticlePlane& plane : particles->body.dynamics.planes)
                stop_at(height(
                    {up_ * plane.normal.normalized(), plane.offset / plane.normal.norm()}, middle));
        for (const WorldBody* other : carriers(one)) {
            if (const auto plane = ground_of(*other)) {
                stop_at(height(*plane, middle));
                continue;
            }
            const Box& below = box_of(*other);
            if (middle.x() > below.min().x() && middle.x() < below.max().x() &&
                middle.y() > below.min().y() && middle.y() < below.max().y())
                stop_at(below.min().z());
        }
        return lowest;
    }

    /// Boxes that the body passes.
    [[nodiscard]] std::vector<Box> swept(const WorldBody& one) {
        const auto d = static_cast<std::size_t>(one.description);
        const Box start = box_of(one);
        if (const ScriptedMotion* motion = path(d)) return swept(one, *motion, start);
        if (!falls(d)) return {start};
        // thrown, then down
        constexpr double kStep = 0.05;
        constexpr int kSteps = 40;
        const Vector3d v = up_ * description(d).velocity.linear;
        const double g = world_.scene.gravity.norm();
        const double end =
            has_gravity_ ? std::min(lowest(one, start), start.min().z()) : -kFarBelow;
        std::vector<Box> boxes;
        Box before = start;
        const int steps = v.norm() > 0 ? kSteps : 0;
        for (int i = 1; i <= steps && before.max().z() > end; ++i) {
            const double t = i * kStep;
            const Box now = start.translated(t * v - 0.5 * t * t * g * Vector3d::UnitZ());
            boxes.push_back(before.merged(now));
            before = now;
        }
        if (has_gravity_) before.min().z() = std::min(before.min().z(), end);
        boxes.push_back(before);
        for (Box& box : boxes) box.min().z() = std::max(box.min().z(), end);
        return boxes;
    }
    [[nodiscard]] std::vector<Box> swept(const WorldBody& one, const ScriptedMotion& motion,
                                         const Box& start) const {
        constexpr double kStep = 0.05;
        constexpr int kSteps = 1200, kTogether = 8;
        const auto d = static_cast<std::size_t>(one.description);
        const bool is_rigid = std::holds_alternative<RigidSource>(description(d).source);
        std::vector<Vector3d> points;
        const SurfaceMesh& surface = body(one).surface();
        for (const int v : looked_at(surface))
            points.push_back(surface.vertices[static_cast<std::size_t>(v)]);
        const Vector3d from = motion.at(0).pose.position;
        std::vector<Box> boxes;
        Pose last;
        for (int i = 0; i <= kSteps; ++i) {
            const Pose pose = motion.at(i * kStep).pose;
            const bool is_new = i == 0 || pose.position != last.position ||
                                pose.rotation.coeffs() != last.rotation.coeffs();
            last = pose;
            if (!is_new) continue;
            if (boxes.empty() || i % kTogether == 0) boxes.emplace_back();
            if (is_rigid)
                for (const Vector3d& x : points) boxes.back().extend(up_ * pose.to_world(x));
            else
                boxes.back().extend(start.translated(up_ * (pose.position - from)));
        }
        return boxes;
    }

    /// Where a body goes.
    struct Sweep {
        const WorldBody* body;
        double size;  ///< [m]
        std::optional<GroundPlane> ground;
        std::vector<Box> boxes;
    };
    [[nodiscard]] std::vector<Sweep> sweeps(std::size_t d) {
        std::vector<Sweep> all;
        for (const WorldBody* one : of_description_[d])
            all.push_back({one, body(*one).size(), ground_of(*one), swept(*one)});
        return all;
    }
    /// Touching sides do not count.
    [[nodiscard]] static double margin(const Sweep& a, const Sweep& b) {
        return 1e-3 * std::min(a.size, b.size);
    }
    [[nodiscard]] static bool reaches(const Sweep& one, double margin, const GroundPlane& plane) {
        return std::ranges::any_of(one.boxes, [&](const Box& box) {
            double least = 0;
            for (int axis = 0; axis < 3; ++axis)
                least += plane.normal[axis] *
                         (plane.normal[axis] > 0 ? box.min()[axis] : box.max()[axis]);
            return least < plane.offset - margin;
        });
    }
    [[nodiscard]] bool pass_planes(const std::vector<Sweep>& planes, const std::vector<Sweep>& all,
                                   bool are_same) const {
        for (std::size_t i = 0; i < planes.size(); ++i)
            for (std::size_t j = are_same ? i + 1 : 0; j < all.size(); ++j)
                if (reaches(all[j], margin(planes[i], all[j]), *planes[i].ground) &&
                    !meet(*planes[i].body, *all[j].body))
                    return true;
        return false;
    }
    /// Copies may be thousands, with dozens of boxes each: those of the others are in a tree.
    [[nodiscard]] bool pass_each_other(const std::vector<Sweep>& all,
                                       const std::vector<Sweep>& others, bool are_same) {
        std::vector<BoxTree::Entry> entries;
        for (std::size_t j = 0; j < others.size(); ++j)
            for (const Box& box : others[j].boxes) entries.push_back({box, static_cast<int>(j)});
        const BoxTree tree(std::move(entries));
        bool do_pass = false;
        for (std::size_t i = 0; i < all.size() && !do_pass; ++i)
            for (const Box& box : all[i].boxes)
                do_pass = do_pass || tree.any(box, [&](const BoxTree::Entry& entry) {
                    const auto j = static_cast<std::size_t>(entry.owner);
                    if (are_same && j <= i) return false;
                    const double inside = margin(all[i], others[j]);
                    const Box inner(box.min().array() + inside, box.max().array() - inside);
                    return inner.intersects(entry.box) && !meet(*all[i].body, *others[j].body);
                });
        num_compared_ += tree.num_compared();
        return do_pass;
    }

    [[nodiscard]] bool may_pass(std::size_t a, std::size_t b) {
        const auto &all_a = of_description_[a], &all_b = of_description_[b];
        if (all_a.empty() || all_b.empty() || (a == b && all_a.size() < 2)) return false;
        const bool do_fall = falls(a) || falls(b);
        const bool do_move = (path(a) && gives_way(b)) || (path(b) && gives_way(a));
        if ((!do_fall && !do_move) || is_ignored(a, b) || all_meet(a, b)) return false;
        const bool are_same = a == b;
        const std::vector<Sweep> of_a = sweeps(a);
        const std::vector<Sweep> of_b = are_same ? of_a : sweeps(b);
        // copies are all planes or none, and two planes are no matter of boxes
        if (of_a.front().ground) return pass_planes(of_a, of_b, are_same);
        if (of_b.front().ground) return pass_planes(of_b, of_a, are_same);
        return pass_each_other(of_a, of_b, are_same);
    }

    // --- what is said

    [[nodiscard]] std::string quoted(std::size_t d) const {
        return "\"" + description(d).name + "\"";
    }
    /// What each must bring to an entry of "contacts".
    [[nodiscard]] std::string needs(std::size_t a, std::size_t b) const {
        if (can_touch(a, b)) return "";
        // the points on what moves, or on what has some
        if (!has_points(a) && (has_points(b) || (falls(b) && !falls(a)))) std::swap(a, b);
        std::string text;
        if (!has_points(a)) text = quoted(a) + " needs \"contact\": {\"pointshell\": {}}";
        if (!has_field(b))
            text += (text.empty() ? "" : ", ") + quoted(b) + " needs \"contact\": {\"field\": {}}";
        return " (" + text + ")";
    }
    [[nodiscard]] std::string among_remedy(std::size_t a, std::size_t b) const {
        std::array<int, 2> in{-1, -1};
        for (std::size_t c = 0; c < world_.scene.contacts.size(); ++c)
            if (const auto* among =
                    std::get_if<AmongContactDescription>(&world_.scene.contacts[c])) {
                if (has(among->bodies, description(a).name)) in[0] = static_cast<int>(c);
                if (has(among->bodies, description(b).name)) in[1] = static_cast<int>(c);
            }
        const auto entry = [](int c) { return "contacts[" + std::to_string(c) + "]"; };
        if (in[0] >= 0 && in[0] == in[1])
            return "give the two of " + entry(in[0]) + " what it needs" + needs(a, b);
        if (in[0] >= 0 && in[1] >= 0)
            return "put the bodies of " + entry(in[0]) + " and " + entry(in[1]) +
                   " into one \"among\"";
        if (in[0] >= 0)
            return "add " + quoted(b) + " to the \"among\" of " + entry(in[0]) + needs(a, b);
        if (in[1] >= 0)
            return "add " + quoted(a) + " to the \"among\" of " + entry(in[1]) + needs(a, b);
        return "write {\"among\": [" + quoted(a) + (a == b ? "" : ", " + quoted(b)) +
               "]} into \"contacts\"" + needs(a, b);
    }
    [[nodiscard]] std::string pair_remedy(std::size_t a, std::size_t b) const {
        if (description(a).copies || description(b).copies) return among_remedy(a, b);
        // the shell has points
        if (!has_points(a) && (has_points(b) || !has_field(b))) std::swap(a, b);
        return "write {\"shell\": " + quoted(a) + ", \"field\": " + quoted(b) +
               "} into \"contacts\"" + needs(a, b);
    }
    [[nodiscard]] std::string touch_remedy(std::size_t a, std::size_t b) const {
        const MeetingKind k = kind(a);
        if (k != MeetingKind::Greens && k != MeetingKind::Zones) std::swap(a, b);
        return "write {\"greens\": " + quoted(a) + ", \"tools\": [" + quoted(b) +
               "]} into \"contacts\"";
    }

    [[nodiscard]] std::string sentence(std::size_t a, std::size_t b) const {
        const Meeting by = meeting(kind(a), kind(b));
        const auto name = [&](std::size_t d) -> std::string {
            return kMeetingNames[static_cast<std::size_t>(kind(d))];
        };
        std::string text = (a == b ? "copies of " + quoted(a) : quoted(a) + " and " + quoted(b)) +
                           " pass through each other: ";
        const bool is_one_loop = description(a).loop == description(b).loop;
        const std::string loops = "they are in the loops \"" + description(a).loop + "\" and \"" +
                                  description(b).loop + "\"; put both into one";
        if (is_proxy(a) || is_proxy(b)) {
            text += "the tool in the hand touches the bodies in its list \"bodies\" alone. Add " +
                    quoted(is_proxy(a) ? b : a) + " to it";
        } else if (by == None) {
            text += name(a) + " and " + (a == b ? "another one" : name(b)) +
                    " do not meet in this release";
        } else if (by == Itself) {
            text += name(a) + " and " + name(b) + " meet in one loop, but " + loops;
        } else {
            text += "no entry of \"contacts\" lets them meet. ";
            if (!is_one_loop) text += "Contacts are of one loop: " + loops + ", and ";
            std::string remedy = by == Among  ? among_remedy(a, b)
                                 : by == Pair ? pair_remedy(a, b)
                                              : touch_remedy(a, b);
            if (is_one_loop) remedy[0] = static_cast<char>(std::toupper(remedy[0]));
            text += remedy;
        }
        return text + "; or, if they are meant to pass, write \"ignore_contact\": [[" + quoted(a) +
               ", " + quoted(b) + "]]";
    }

    const WorldInMaking& world_;
    bool has_gravity_ = false;
    Quaternion up_ = Quaternion::Identity();  ///< into axes whose z is against gravity
    std::vector<std::vector<const WorldBody*>> of_description_;
    std::vector<MeetingKind> kinds_;  ///< of descriptions
    std::vector<Box> boxes_;          ///< of bodies, empty until somebody asks
    std::vector<std::optional<std::vector<const WorldBody*>>> carriers_;  ///< likewise
    std::uint64_t num_compared_ = 0;
};

}  // namespace

Meeting meeting(MeetingKind a, MeetingKind b) noexcept {
    return MeetingTable::kMeetings[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

std::vector<std::string> unmet_bodies(const WorldInMaking& world, std::uint64_t* num_compared) {
    Crossings crossings(world);
    std::vector<std::string> sentences = crossings.find();
    if (num_compared) *num_compared = crossings.num_compared();
    return sentences;
}

}  // namespace pliant
