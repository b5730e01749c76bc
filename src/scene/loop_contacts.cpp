#include "scene/loop_contacts.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

using SelfContacts = std::vector<SelfContact>;
using GreensContact = std::unique_ptr<GreensTouch>;

LiveParameter stiffness_slider(double value) {
    return {"stiffness", "Contact stiffness",
            "N/m",       "Of one point: higher is harder and lets less in. Safe in this range.",
            value,       0.01 * value,
            100 * value, true};
}
LiveParameter friction_slider(double value, double most) {
    return {"friction", "Friction", "",   "0: slides freely, 1: holds on a slope of 45°.",
            value,      0,          most, false};
}
LiveParameter budget_slider(int budget, const PointTree& tree) {
    const double first_level = tree.level_start(1), all = tree.num_nodes();
    return {"nodes",
            "Contact budget",
            "nodes",
            "That a tick may visit: fewer is faster and coarser where much touches.",
            budget > 0 ? budget : all,
            first_level,
            all,
            true};
}

std::array<float, 3> array(const Eigen::Vector3f& v) { return {v.x(), v.y(), v.z()}; }

/// Place of the first body that a script moves, or −1.
int find_scripted(const LoopContact& contact) noexcept {
    const auto found = std::ranges::find_if(contact.bodies, &ContactMember::is_scripted);
    return found == contact.bodies.end() ? -1 : static_cast<int>(found - contact.bodies.begin());
}

/// Of contact on one of its bodies.
struct ForceOn {
    int member;
    Vector3d operator()(const ContactPair& pair) const noexcept {
        return (member == 0 ? pair.loads().on_shell : pair.loads().on_field).force;
    }
    Vector3d operator()(const ContactSolver& solver) const noexcept {
        Vector3d sum = Vector3d::Zero();
        for (const ContactSolver::Contact& c : solver.contacts()) {
            if (c.shell == member) sum += c.force;
            if (c.field == member) sum -= c.force;
        }
        return sum;
    }
    Vector3d operator()(const SelfContacts&) const noexcept { return Vector3d::Zero(); }
    Vector3d operator()(const GreensContact& touch) const noexcept {
        if (member > 0) return touch->load(member - 1).force;
        Vector3d sum = Vector3d::Zero();
        for (int i = 0; i < static_cast<int>(touch->by().size()); ++i) sum -= touch->load(i).force;
        return sum;
    }
};

/// The node of a rigid body's tree that is nearest to a place, on a level of some thousand.
int nearest_node(const PointTree& tree, const Vector3d& place) noexcept {
    constexpr int kMostAsked = 4096;
    int level = tree.num_levels() - 1;
    while (level > 0 && tree.level_start(level + 1) - tree.level_start(level) > kMostAsked) --level;
    int best = -1;
    double least = INFINITY;
    for (int i = tree.level_start(level); i < tree.level_start(level + 1); ++i) {
        const double away = (tree.position(i, {}) - place).squaredNorm();
        if (away >= least) continue;
        least = away;
        best = i;
    }
    return best;
}

/// Counts, depths and nodes of the last tick into a frame that is empty.
class Showing {
public:
    Showing(ShownContact& frame, std::span<const ContactMember> members)
        : frame_(frame), members_(members) {}

    void operator()(const ContactPair& pair) const noexcept {
        const PointTraversal& traversal = pair.traversal();
        frame_.num_pairs = 1;
        frame_.statistics = traversal.statistics();
        frame_.deepest = pair.loads().deepest;
        add_touching(0, traversal.contacts(), pair.forces().point_forces(),
                     ShownContact::kMaxNodes);
        add_ends(0, traversal.frontier(), room());
    }
    void operator()(const ContactSolver& solver) const noexcept {
        const ContactSolverStatistics& counts = solver.statistics();
        frame_.num_pairs = counts.num_pairs;
        frame_.statistics.visited = counts.num_visited;
        frame_.statistics.contacts = counts.num_contacts;
        frame_.deepest = counts.deepest;
        const auto contacts = solver.contacts();
        const std::size_t count = std::min(contacts.size(), room());
        for (std::size_t i = 0; i < count; ++i) {
            const ContactSolver::Contact& c = contacts[i * contacts.size() / count];
            // an exact contact shows at the nearest point, if the body has points
            const auto& tree = members_[static_cast<std::size_t>(c.shell)].tree;
            const int node = c.node >= 0 || !tree ? c.node : nearest_node(*tree, c.on_shell);
            if (node < 0) continue;
            frame_.forces[static_cast<std::size_t>(frame_.num_nodes)] =
                array(c.force.cast<float>());
            put(c.shell, node);
        }
        frame_.num_contacting = frame_.num_nodes;
    }
    void operator()(const SelfContacts& bodies) const noexcept {
        frame_.num_pairs = static_cast<int>(bodies.size());
        TraversalStatistics& sum = frame_.statistics;
        for (const SelfContact& body : bodies) {
            const TraversalStatistics& one = body.statistics();
            sum.visited += one.visited;
            sum.contacts += one.contacts;
            sum.level = std::max(sum.level, one.level);
            sum.is_truncated |= one.is_truncated;
            frame_.deepest = std::max(frame_.deepest, body.loads().deepest);
        }
        // each has its share
        const std::size_t share = room() / bodies.size();
        for (std::size_t i = 0; i < bodies.size(); ++i)
            add_touching(static_cast<int>(i), bodies[i].contacts(), bodies[i].point_forces(),
                         share);
        const std::size_t rest = room() / bodies.size();
        for (std::size_t i = 0; i < bodies.size(); ++i)
            add_ends(static_cast<int>(i), bodies[i].frontier(), rest);
    }
    void operator()(const GreensContact& touch) const noexcept {
        touch->show(frame_.greens);
        frame_.num_pairs = static_cast<int>(touch->by().size());
        frame_.statistics.contacts = frame_.greens.num_points + frame_.greens.num_nodes;
        frame_.deepest = touch->deepest();
        frame_.num_nodes = frame_.num_contacting =
            std::min(touch->body().num_loads(), ShownContact::kMaxNodes);
    }

private:
    [[nodiscard]] std::size_t room() const noexcept {
        return static_cast<std::size_t>(ShownContact::kMaxNodes - frame_.num_nodes);
    }
    void put(int member, int node) const noexcept {
        frame_.nodes[static_cast<std::size_t>(frame_.num_nodes++)] = {member, node};
    }
    /// Evenly chosen where there are more than `most`.
    void add_touching(int member, const ContactPoints& contacts,
                      std::span<const Eigen::Vector3f> forces, std::size_t most) const noexcept {
        const auto all = static_cast<std::size_t>(contacts.count);
        const std::size_t count = std::min(all, most);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t k = i * all / count;
            frame_.forces[static_cast<std::size_t>(frame_.num_nodes)] =
                k < forces.size() ? array(forces[k]) : std::array<float, 3>{};
            put(member, contacts.node[k]);
        }
        frame_.num_contacting = frame_.num_nodes;
    }
    void add_ends(int member, std::span<const int> nodes, std::size_t most) const noexcept {
        const std::size_t count = std::min(nodes.size(), most);
        for (std::size_t i = 0; i < count; ++i) put(member, nodes[i * nodes.size() / count]);
    }

    ShownContact& frame_;
    std::span<const ContactMember> members_;
};

struct Acting {
    double dt;
    std::array<std::uint64_t, kNumStepStatuses>& counts;

    void operator()(ContactPair& pair) const noexcept { note(pair.act(dt)); }
    void operator()(ContactSolver& solver) const noexcept { note(solver.act(dt)); }
    void operator()(SelfContacts& bodies) const noexcept {
        for (SelfContact& body : bodies) note(body.act(dt));
    }
    void operator()(GreensContact& touch) const noexcept { note(touch->act(dt)); }
    void note(StepStatus status) const noexcept {
        if (status != StepStatus::Ok) ++counts[static_cast<std::size_t>(status)];
    }
};

/// Without memory of other states. Loads that solvers leave wait for a step that never comes.
struct Looking {
    double dt;

    void operator()(ContactPair& pair) const noexcept { (void)pair.look(); }
    void operator()(ContactSolver& solver) const noexcept {
        solver.forget();
        (void)solver.act(dt);
    }
    void operator()(SelfContacts& bodies) const noexcept {
        for (SelfContact& body : bodies) {
            body.forget();
            (void)body.act(dt);
        }
    }
    // the body's state has the loads
    void operator()(GreensContact&) const noexcept {}
};

struct Forgetting {
    void operator()(ContactPair& pair) const noexcept { pair.forget(); }
    void operator()(ContactSolver& solver) const noexcept { solver.forget(); }
    void operator()(SelfContacts& bodies) const noexcept {
        for (SelfContact& body : bodies) body.forget();
    }
    void operator()(GreensContact& touch) const noexcept { touch->forget(); }
};

}  // namespace

int LoopContact::shell() const noexcept {
    return pair() || bodies.size() == 1 ? bodies.front().place : -1;
}
int LoopContact::field() const noexcept {
    return pair() || bodies.size() == 1 ? bodies.back().place : -1;
}

LoopContacts::LoopContacts(std::vector<LoopContact> contacts) : contacts_(std::move(contacts)) {
    for (const LoopContact& contact : contacts_) parameters_.push_back(sliders_of(contact));
    // a solver wants all other loads given
    for (const bool is_solver : {false, true})
        for (std::size_t c = 0; c < contacts_.size(); ++c)
            if ((contacts_[c].solver() != nullptr) == is_solver) order_.push_back(c);
    // fields of pairs first
    for (int c = 0; c < count() && moved_ < 0; ++c)
        if ((*this)[c].pair() && (*this)[c].bodies[1].is_scripted) {
            moved_ = c;
            moved_member_ = 1;
        }
    for (int c = 0; c < count() && moved_ < 0; ++c) {
        moved_member_ = find_scripted((*this)[c]);
        if (moved_member_ >= 0) moved_ = c;
    }
}

std::vector<LoopContacts::Parameter> LoopContacts::sliders_of(const LoopContact& contact) {
    struct Sliders {
        std::vector<Parameter> operator()(const ContactPair& pair) const {
            const ContactLoadOptions& loads = pair.forces().options();
            const PointTraversal& traversal = pair.traversal();
            return {
                {Role::Stiffness, stiffness_slider(loads.stiffness)},
                {Role::Friction, friction_slider(loads.friction, std::max(2.0, loads.friction))},
                {Role::Nodes, budget_slider(traversal.options().budget, traversal.tree())}};
        }
        std::vector<Parameter> operator()(const ContactSolver& solver) const {
            const double friction = solver.friction();
            return {{Role::Stiffness, stiffness_slider(solver.stiffness())},
                    {Role::Friction, friction_slider(friction, std::max(2.0, friction))}};
        }
        std::vector<Parameter> operator()(const SelfContacts& bodies) const {
            const SelfContactOptions& o = bodies.front().options();
            return {{Role::Stiffness, stiffness_slider(o.loads.stiffness)},
                    {Role::Nodes, budget_slider(o.budget, bodies.front().tree())}};
        }
        std::vector<Parameter> operator()(const GreensContact& touch) const {
            if (!touch->friction()) return {};
            const double friction = *touch->friction();
            return {{Role::Friction, friction_slider(friction, std::max(2.0, friction))}};
        }
    };
    return std::visit(Sliders{}, contact.kind);
}

std::vector<ContactPair*> LoopContacts::pairs_of(const Body& body) {
    std::vector<ContactPair*> found;
    for (LoopContact& contact : contacts_)
        if (auto* pair = std::get_if<ContactPair>(&contact.kind))
            if (&pair->shell_body() == &body || &pair->field_body() == &body) found.push_back(pair);
    return found;
}

std::pair<const ContactSolver*, int> LoopContacts::solver_of(int place) const noexcept {
    for (const LoopContact& contact : contacts_) {
        const auto found = std::ranges::find(contact.bodies, place, &ContactMember::place);
        if (contact.solver() && found != contact.bodies.end())
            return {contact.solver(), static_cast<int>(found - contact.bodies.begin())};
    }
    return {nullptr, -1};
}

GreensPoints* LoopContacts::points_of(const RigidBody& body) noexcept {
    for (LoopContact& contact : contacts_)
        if (auto* points = dynamic_cast<GreensPoints*>(contact.greens()))
            if (std::ranges::find(points->by(), &body) != points->by().end()) return points;
    return nullptr;
}

std::vector<LiveParameter> LoopContacts::parameters(int c) const {
    std::vector<LiveParameter> all;
    for (const Parameter& parameter : parameters_[static_cast<std::size_t>(c)])
        all.push_back(parameter.slider);
    return all;
}

void LoopContacts::set_parameter(int c, int index, double value) noexcept {
    if (c < 0 || c >= count() || index < 0 || !std::isfinite(value)) return;
    const std::vector<Parameter>& known = parameters_[static_cast<std::size_t>(c)];
    if (index >= static_cast<int>(known.size())) return;
    const Parameter& parameter = known[static_cast<std::size_t>(index)];

    struct Setting {
        Role role;
        double value;
        void operator()(ContactPair& pair) const noexcept {
            if (role == Role::Stiffness) pair.set_stiffness(value);
            if (role == Role::Friction) pair.set_friction(value);
            if (role == Role::Nodes) pair.set_budget(static_cast<int>(std::lround(value)));
        }
        void operator()(ContactSolver& solver) const noexcept {
            if (role == Role::Stiffness) solver.set_stiffness(value);
            if (role == Role::Friction) solver.set_friction(value);
        }
        void operator()(SelfContacts& bodies) const noexcept {
            for (SelfContact& body : bodies) {
                if (role == Role::Stiffness) body.set_stiffness(value);
                if (role == Role::Nodes) body.set_budget(static_cast<int>(std::lround(value)));
            }
        }
        void operator()(GreensContact& touch) const noexcept {
            if (role == Role::Friction) touch->set_friction(value);
        }
    };
    std::visit(Setting{parameter.role, clamped(parameter.slider, value)},
               contacts_[static_cast<std::size_t>(c)].kind);
}

void LoopContacts::act(double dt) noexcept {
    has_acted_ = true;
    for (const std::size_t c : order_) std::visit(Acting{dt, counts_}, contacts_[c].kind);
}

void LoopContacts::look(double dt) noexcept {
    has_acted_ = true;
    for (LoopContact& contact : contacts_) std::visit(Looking{dt}, contact.kind);
}

void LoopContacts::forget() noexcept {
    has_acted_ = false;
    for (LoopContact& contact : contacts_) std::visit(Forgetting{}, contact.kind);
}

void LoopContacts::reset() noexcept {
    forget();
    counts_.fill(0);
}

LoopContacts::Moved LoopContacts::moved() const noexcept {
    if (moved_ < 0 || !has_acted_) return {};
    const LoopContact& contact = (*this)[moved_];
    return {contact.bodies[static_cast<std::size_t>(moved_member_)].place,
            std::visit(ForceOn{moved_member_}, contact.kind)};
}

void LoopContacts::make_frames(const std::vector<int>& body_of_world,
                               std::vector<ShownContact>& frames) const {
    const auto body = [&](int place) {
        return place < 0 ? -1 : body_of_world[static_cast<std::size_t>(place)];
    };
    frames.resize(contacts_.size());
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
        frames[c].shell = body(contacts_[c].shell());
        frames[c].field = body(contacts_[c].field());
        frames[c].nodes.resize(ShownContact::kMaxNodes);
        frames[c].forces.resize(ShownContact::kMaxNodes);
    }
}

void LoopContacts::fill(std::span<ShownContact> frames) const noexcept {
    for (std::size_t c = 0; c < contacts_.size() && c < frames.size(); ++c) {
        ShownContact& frame = frames[c];
        frame.num_pairs = frame.num_nodes = frame.num_contacting = 0;
        frame.statistics = {};
        frame.greens = {};
        frame.force = {};
        frame.deepest = 0;
        if (!has_acted_) continue;
        const LoopContact& contact = contacts_[c];
        std::visit(Showing(frame, contact.bodies), contact.kind);
        const int member = contact.pair() ? 1 : find_scripted(contact);
        if (member < 0) continue;
        const Vector3d force = std::visit(ForceOn{member}, contact.kind);
        frame.force = {force.x(), force.y(), force.z()};
    }
}

void LoopContacts::place_points(std::span<float> display,
                                std::span<const std::size_t> offsets) const noexcept {
    for (const LoopContact& contact : contacts_) {
        const GreensTouch* const touch = contact.greens();
        if (touch == nullptr) continue;
        for (std::size_t i = 0; i < touch->by().size(); ++i) {
            const auto place = static_cast<std::size_t>(contact.bodies[i + 1].place);
            Eigen::Map<Eigen::Vector3f>(display.data() + offsets[place]) +=
                touch->shown_offset(static_cast<int>(i)).cast<float>();
        }
    }
}

void LoopContacts::add_counts(std::span<std::uint64_t> counts) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts[i] += counts_[i];
}

void LoopContacts::marks(int c, const ShownContact& frame, std::span<const float> display,
                         std::span<const std::size_t> offsets,
                         std::vector<ContactMark>& marks) const {
    marks.clear();
    if (const GreensTouch* const touch = (*this)[c].greens()) {
        const auto shown = std::static_pointer_cast<const GreensDisplay>(touch->body().display());
        std::vector<LoadedNode> nodes;
        shown->loaded_nodes(
            display.subspan(offsets[static_cast<std::size_t>((*this)[c].bodies[0].place)] +
                                touch->display_offset(),
                            static_cast<std::size_t>(shown->state_size())),
            nodes);
        for (int i = 0; i < frame.num_nodes; ++i)
            marks.push_back({nodes[static_cast<std::size_t>(i)].position, 0,
                             nodes[static_cast<std::size_t>(i)].force, true});
        return;
    }
    std::vector<double> q;
    Pose pose;
    int last = -1;
    for (int i = 0; i < frame.num_nodes; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const auto [member, node] = frame.nodes[k];
        const ContactMember& body = (*this)[c].bodies[static_cast<std::size_t>(member)];
        const PointTree& tree = *body.tree;
        if (member != last) {
            last = member;
            const auto at = [&, first = offsets[static_cast<std::size_t>(body.place)]](int j) {
                return static_cast<double>(display[first + static_cast<std::size_t>(j)]);
            };
            pose = {{at(0), at(1), at(2)}, {at(3), at(4), at(5), at(6)}};
            q.clear();
            for (int j = 0; j < tree.rank(); ++j) q.push_back(at(kPoseFloats + j));
        }
        const bool is_contacting = i < frame.num_contacting;
        marks.push_back({array(pose.to_world(tree.position(node, q)).cast<float>()),
                         static_cast<float>(tree.sphere_radius(node, q)),
                         is_contacting ? frame.forces[k] : std::array<float, 3>{}, is_contacting});
    }
}

}  // namespace pliant
