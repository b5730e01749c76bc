#include "scene/loop_contacts.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// In the order of parameters().
enum ContactParameter { kStiffness, kFriction, kNodes, kNumContactParameters };

std::vector<LiveParameter> make_parameters(const ContactPair& pair) {
    const ContactLoadOptions& loads = pair.forces().options();
    const PointTraversal& traversal = pair.traversal();
    const PointTree& tree = traversal.tree();
    const double first_level = tree.level_start(1), all = tree.num_nodes();
    const int budget = traversal.options().budget;
    return {
        {"stiffness", "Contact stiffness", "N/m",
         "Of one point: higher is harder and lets less in. Safe in this range.", loads.stiffness,
         0.01 * loads.stiffness, 100 * loads.stiffness, true},
        {"friction", "Friction", "", "0: slides freely, 1: holds on a slope of 45°.",
         loads.friction, 0, std::max(2.0, loads.friction), false},
        {"nodes", "Contact budget", "nodes",
         "That a tick may visit: fewer is faster and coarser where much touches.",
         budget > 0 ? budget : all, first_level, all, true},
    };
}

/// `count` of the first entries of `nodes`, evenly chosen where there are more.
int choose(std::span<const int> nodes, std::span<std::int32_t> chosen) noexcept {
    const std::size_t count = std::min(nodes.size(), chosen.size());
    for (std::size_t i = 0; i < count; ++i) chosen[i] = nodes[i * nodes.size() / count];
    return static_cast<int>(count);
}

}  // namespace

LoopContacts::LoopContacts(std::vector<LoopContact> contacts) : contacts_(std::move(contacts)) {
    for (const LoopContact& contact : contacts_)
        parameters_.push_back(make_parameters(contact.pair));
    for (const auto moves : {&LoopContact::moves_field, &LoopContact::moves_shell})
        for (int c = 0; c < count() && moved_ < 0; ++c)
            if ((*this)[c].*moves) moved_ = c;
}

std::vector<LiveParameter> LoopContacts::parameters(int c) const {
    return parameters_[static_cast<std::size_t>(c)];
}

void LoopContacts::set_parameter(int c, int index, double value) noexcept {
    if (c < 0 || c >= count() || index < 0 || index >= kNumContactParameters ||
        !std::isfinite(value))
        return;
    const auto place = static_cast<std::size_t>(c);
    ContactPair& pair = contacts_[place].pair;
    const double kept = clamped(parameters_[place][static_cast<std::size_t>(index)], value);
    if (index == kStiffness) pair.set_stiffness(kept);
    if (index == kFriction) pair.set_friction(kept);
    if (index == kNodes) pair.set_budget(static_cast<int>(std::lround(kept)));
}

void LoopContacts::act(double dt) noexcept {
    has_acted_ = true;
    for (LoopContact& contact : contacts_) {
        const StepStatus status = contact.pair.act(dt);
        if (status != StepStatus::Ok) ++counts_[static_cast<std::size_t>(status)];
    }
}

void LoopContacts::look() noexcept {
    has_acted_ = true;
    for (LoopContact& contact : contacts_) (void)contact.pair.look();
}

void LoopContacts::forget() noexcept {
    has_acted_ = false;
    for (LoopContact& contact : contacts_) contact.pair.forget();
}

void LoopContacts::reset() noexcept {
    forget();
    counts_.fill(0);
}

LoopContacts::Moved LoopContacts::moved() const noexcept {
    if (moved_ < 0 || !has_acted_) return {};
    const LoopContact& contact = (*this)[moved_];
    const ContactLoads& loads = contact.pair.loads();
    if (contact.moves_field) return {contact.field, loads.on_field.force};
    return {contact.shell, loads.on_shell.force};
}

void LoopContacts::make_frames(const std::vector<int>& body_of_world,
                               std::vector<ShownContact>& frames) const {
    frames.resize(contacts_.size());
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
        frames[c].shell = body_of_world[static_cast<std::size_t>(contacts_[c].shell)];
        frames[c].field = body_of_world[static_cast<std::size_t>(contacts_[c].field)];
        frames[c].nodes.resize(ShownContact::kMaxNodes);
    }
}

void LoopContacts::fill(std::span<ShownContact> frames) const noexcept {
    for (std::size_t c = 0; c < contacts_.size() && c < frames.size(); ++c) {
        const ContactPair& pair = contacts_[c].pair;
        const PointTraversal& traversal = pair.traversal();
        ShownContact& frame = frames[c];
        if (!has_acted_) {
            frame.statistics = {};
            frame.force = {};
            frame.deepest = 0;
            frame.num_nodes = frame.num_contacting = 0;
            continue;
        }
        frame.statistics = traversal.statistics();
        const Eigen::Vector3d& force = pair.loads().on_field.force;
        frame.force = {force.x(), force.y(), force.z()};
        frame.deepest = pair.loads().deepest;
        const ContactPoints& contacts = traversal.contacts();
        const std::span<std::int32_t> nodes = frame.nodes;
        frame.num_contacting =
            choose(std::span(contacts.node).first(static_cast<std::size_t>(contacts.count)), nodes);
        frame.num_nodes = frame.num_contacting +
                          choose(traversal.frontier(),
                                 nodes.subspan(static_cast<std::size_t>(frame.num_contacting)));
    }
}

void LoopContacts::add_counts(std::span<std::uint64_t> counts) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts[i] += counts_[i];
}

void LoopContacts::marks(int c, const ShownContact& frame, std::span<const float> shell_state,
                         std::vector<ContactMark>& marks) const {
    const PointTree& tree = (*this)[c].pair.traversal().tree();
    const auto at = [&](std::size_t i) { return static_cast<double>(shell_state[i]); };
    const Pose pose{{at(0), at(1), at(2)}, {at(3), at(4), at(5), at(6)}};
    std::vector<double> q;
    for (int j = 0; j < tree.rank(); ++j)
        q.push_back(at(static_cast<std::size_t>(kPoseFloats + j)));
    marks.clear();
    for (int i = 0; i < frame.num_nodes; ++i) {
        const int node = frame.nodes[static_cast<std::size_t>(i)];
        const Eigen::Vector3f x = pose.to_world(tree.position(node, q)).cast<float>();
        marks.push_back({{x.x(), x.y(), x.z()}, i < frame.num_contacting});
    }
}

}  // namespace pliant
