#include "pliant/scene/greens_touch.h"

#include "core/numbers.h"
#include "pliant/greens/hierarchical_basis.h"
#include "scene/load_fade.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Nodes that the masks of all points cover together, at most.
constexpr int kMaxPointLoads = 2048;
/// In which a contact follows what gravity and hands do to the surface [s]: where a pull is strong
/// over a triangle, the place of the contact and what it sees there would alternate.
constexpr double kShiftTime = 0.01;

PointContactSettings point_settings(double friction) {
    PointContactSettings settings;
    settings.friction = friction;
    settings.max_stiffness = kInfinity;  // paths are as stiff as need be
    return settings;
}

std::vector<RigidShape> shapes_of(const std::vector<RigidBody*>& bodies) {
    std::vector<RigidShape> shapes;
    for (const RigidBody* body : bodies) shapes.push_back(body->shape());
    return shapes;
}

}  // namespace

// --- points

GreensPoints::GreensPoints(GreensBody& body, std::vector<RigidBody*> by, double friction,
                           bool is_pulling, const std::optional<ForceDetail>& detail)
    : GreensTouch(body, std::move(by)),
      contacts_(body.shared_model(), static_cast<int>(by_.size()), point_settings(friction)),
      is_pulling_(is_pulling),
      inputs_(by_.size()),
      tips_(by_.size(), Vector3d::Zero()),
      shifts_(by_.size(), Vector3d::Zero()),
      loads_(body.model().reference.functions->num_column_ids(),
             std::min(kMaxPointLoads, body.model().num_nodes())) {
    for (const RigidBody* one : by_)
        lifts_.push_back(std::max(-one->shape().sample(Vector3d::Zero()).gap, 0.0));
    if (detail) contacts_.set_detail(std::make_shared<const ForceDetail>(*detail));
}

/// How far gravity and hands have moved the surface under a point, or next to it.
Vector3d GreensPoints::moved_by(std::size_t i) const noexcept {
    if (!body_.is_loaded_at_rest()) return Vector3d::Zero();
    const PointContact& contact = contacts_.frame().points[i];
    if (contact.is_touching())
        return body_.resting_displacement(contact.triangle, contact.barycentric);
    const ClosestPoint nearest = contacts_.surface().closest(tips_[i] - shifts_[i]);
    return nearest.triangle < 0 ? shifts_[i]
                                : body_.resting_displacement(nearest.triangle, nearest.barycentric);
}

void GreensPoints::tick() noexcept {
    body_.take_first_mask();
    // a shift that is looked up anew next to a free tip is no motion
    const bool is_led = led_ >= 0 && contacts_.frame().points[at(led_)].is_touching();
    const Vector3d led_before = is_led ? shifts_[at(led_)] : Vector3d::Zero();
    const double follows = -std::expm1(-dt_ / kShiftTime);
    for (std::size_t i = 0; i < by_.size(); ++i) {
        if (static_cast<int>(i) != led_) {
            tips_[i] = body_.pose().to_body(by_[i]->motion().pose.position);
            inputs_[i].is_pulling = is_pulling_;
        }
        // docs/greens.md eq. (F4)
        const double part = contacts_.frame().points[i].is_touching() ? follows : 1;
        shifts_[i] += part * (moved_by(i) - shifts_[i]);
        inputs_[i].tip = tips_[i] - shifts_[i];
    }
    led_motion_.setZero();
    if (is_led) led_motion_ = body_.pose().rotation * (shifts_[at(led_)] - led_before);
    if (PointContactSettings settings = contacts_.settings();
        settings.modulus_scale != body_.modulus_scale()) {
        settings.modulus_scale = body_.modulus_scale();
        (void)contacts_.set(settings);
    }
    const PointContactFrame& frame = contacts_.tick(inputs_, body_.stiffness());

    // the deformation that follows
    loads_.clear();
    double energy = 0;
    for (int i = 0; i < frame.num_points; ++i) {
        const PointContact& contact = frame.points[at(i)];
        if (!contact.is_touching()) continue;
        (void)loads_.add(body_.stiffness(), contact);
        energy += 0.5 * contact.force.dot(contact.tip - contact.point);
        by_[at(i)]->add_wrench(load(i));
    }
    body_.add_tractions(loads_.nodes(), loads_.tractions(), energy);
}

void GreensPoints::lead(const RigidBody& body) noexcept {
    led_ = static_cast<int>(std::ranges::find(by_, &body) - by_.begin());
}

StepStatus GreensPoints::act(double dt) noexcept {
    dt_ = dt;
    if (led_ < 0) tick();
    return StepStatus::Ok;
}

const PointContact& GreensPoints::act_with(const Vector3d& tip, bool is_pulling,
                                           double max_stiffness) noexcept {
    tips_[at(led_)] = body_.pose().to_body(tip);
    inputs_[at(led_)].is_pulling = is_pulling || is_pulling_;
    if (PointContactSettings settings = contacts_.settings();
        settings.max_stiffness != max_stiffness) {
        settings.max_stiffness = max_stiffness;
        (void)contacts_.set(settings);
    }
    tick();
    return contacts_.frame().points[at(led_)];
}

Vector3d GreensPoints::held_place() const noexcept {
    const PointContact& contact = contacts_.frame().points[at(led_)];
    if (!contact.is_touching()) return body_.pose().to_world(tips_[at(led_)]);
    return body_.model_position(contact.triangle, contact.barycentric);
}

void GreensPoints::forget() noexcept {
    contacts_.reset();
    led_motion_.setZero();
    std::ranges::fill(shifts_, Vector3d::Zero());
}

/// In contact on the surface; near it, as far off as it takes to come to rest there without a jump.
Vector3d GreensPoints::shown_offset(int i) const noexcept {
    const double lift = lifts_[at(i)];
    const PointContact& contact = contacts_.frame().points[at(i)];
    if (contact.is_touching()) return body_.pose().rotation * (lift * contact.normal);
    const Vector3d x = body_.pose().to_body(by_[at(i)]->motion().pose.position) - shifts_[at(i)];
    const SurfaceQuery& surface = contacts_.surface();
    const ClosestPoint nearest = surface.closest(x);
    if (nearest.triangle < 0) return Vector3d::Zero();
    const SurfaceMesh& mesh = surface.mesh();
    const Vector3d outward =
        (mesh.corner(nearest.triangle, 1) - mesh.corner(nearest.triangle, 0))
            .cross(mesh.corner(nearest.triangle, 2) - mesh.corner(nearest.triangle, 0))
            .normalized();
    const Vector3d away = x - nearest.point;
    if (away.dot(outward) <= 0) return body_.pose().rotation * (lift * outward);
    return body_.pose().rotation *
           (std::max(lift - nearest.distance, 0.0) / nearest.distance * away);
}

Wrench GreensPoints::load(int i) const noexcept {
    return {body_.pose().rotation * -contacts_.frame().points[at(i)].force, Vector3d::Zero()};
}

double GreensPoints::deepest() const noexcept {
    double deepest = 0;
    const PointContactFrame& frame = contacts_.frame();
    for (int i = 0; i < frame.num_points; ++i) {
        const PointContact& contact = frame.points[at(i)];
        if (contact.is_touching())
            deepest = std::max(deepest, contact.normal.dot(contact.point - contact.tip));
    }
    return deepest;
}

void GreensPoints::show(ShownGreens& frame) const noexcept {
    frame = {};
    frame.is_there = true;
    const PointContactFrame& now = contacts_.frame();
    for (int i = 0; i < now.num_points; ++i)
        if (now.points[at(i)].is_touching()) ++frame.num_points;
    frame.level = body_.constraint_level();
    frame.tolerance = body_.shown_tolerance();
    frame.strain = body_.strain();
}

void GreensPoints::set_friction(double friction) noexcept {
    PointContactSettings settings = contacts_.settings();
    settings.friction = friction;
    (void)contacts_.set(settings);
}

// --- tools

namespace {

StepStatus step_status(DistributedContact::Status status) {
    switch (status) {
        case DistributedContact::Status::Settled: return StepStatus::Ok;
        case DistributedContact::Status::Unsettled: return StepStatus::NotConverged;
        case DistributedContact::Status::Limited: return StepStatus::CapacityExceeded;
        case DistributedContact::Status::BadInput: return StepStatus::InputIgnored;
    }
    return StepStatus::Ok;
}

}  // namespace

GreensTools::GreensTools(GreensBody& body, std::vector<RigidBody*> by,
                         const DistributedContactOptions& options, std::optional<GreensHand> hand,
                         const std::optional<ConstraintLevelOptions>& levels)
    : GreensTouch(body, std::move(by)),
      // choices by measured times would differ from run to run
      contact_(body.shared_model(), shapes_of(by_), UpdateCosts(), options),
      poses_(by_.size()),
      last_loads_(by_.size()),
      hand_(std::move(hand)),
      link_loads_(by_.size()),
      link_stiffness_(by_.size(), Matrix6d::Zero()) {
    const std::size_t num_driven = body.driven_nodes().size();
    load_nodes_.reserve(at(options.capacitance.max_loads));
    load_values_.reserve(at(options.capacitance.max_loads));
    assert(load_nodes_.capacity() > num_driven);
    pulls_.reserve(at(options.capacitance.max_loads) - num_driven);
    tractions_.resize(at(options.max_nodes));
    nodes_.reserve(at(options.max_nodes));
    if (levels) {
        levels_.emplace(body.model(), UpdateCosts(), *levels);
        fade_ = std::make_unique<LoadFade>(levels->fade_frames, at(options.max_nodes));
        shown_level_ = levels_->finest();
        (void)contact_.set_level(shown_level_);
    }
    place_hand();
}
GreensTools::~GreensTools() = default;

void GreensTools::place_hand() noexcept {
    time_ = 0;
    if (hand_)
        hand_->hand.place(body_.pose().inverse() * hand_->wanted_wrist(0), hand_->wanted_joints(0));
}

/// The springs of the hand against what its links feel, docs/greens.md eq. (E14): to the end of the
/// tick.
void GreensTools::move_hand(double dt) noexcept {
    time_ += dt;
    const double scale = body_.modulus_scale();
    for (int k = 0; k < contact_.num_tools(); ++k) {
        const Wrench load = contact_.load(k);
        link_loads_[at(k)] = {scale * load.force, scale * load.torque};
        link_stiffness_[at(k)] = scale * contact_.stiffness(k);
    }
    (void)hand_->hand.step(body_.pose().inverse() * hand_->wanted_wrist(time_),
                           hand_->wanted_joints(time_), link_loads_, link_stiffness_);
    for (std::size_t k = 0; k < by_.size(); ++k)
        by_[k]->drive_to(body_.pose() * hand_->hand.links()[k]);
}

/// What hands, gravity and moved supports do to the body beside the tools.
void GreensTools::give_loads() noexcept {
    const auto nodes = body_.pulled_nodes();
    const auto tractions = body_.pull_tractions();
    const std::size_t count = std::min(nodes.size(), pulls_.capacity());
    pulls_.clear();
    for (std::size_t i = 0; i < count; ++i) pulls_.push_back(tractions[i] / body_.modulus_scale());
    load_nodes_.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
    load_values_.assign(pulls_.begin(), pulls_.end());
    // supports that somebody else moves
    double farthest = 0;
    for (std::size_t k = 0; k < body_.driven_nodes().size(); ++k) {
        load_nodes_.push_back(body_.driven_nodes()[k]);
        load_values_.push_back(body_.driven_displacements()[k]);
        farthest = std::max(farthest, load_values_.back().norm());
    }
    contact_.set_reach(farthest);
    (void)contact_.solver().set_loads(load_nodes_, load_values_);
    if (!body_.body_loads().empty()) (void)contact_.solver().set_body_loads(body_.body_loads());
}

/// Of the conditions of a coarser level: tractions by their ids, which then are nodes_.
void GreensTools::take_level_tractions(std::span<Vector3d> tractions) noexcept {
    const CapacitanceSolver& solver = contact_.solver();
    const ReferenceProblem& reference = solver.reference();
    const int first = reference.hierarchy->id(contact_.level(), 0);
    for (int& node : nodes_) node += first;
    std::ranges::fill(tractions, Vector3d::Zero());
    const std::span<const int> known = solver.known_columns();
    const std::span<const float> values = solver.known_values();
    for (std::size_t k = 0; k < known.size(); ++k) {
        const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), known[k]);
        if (found == nodes_.end() || *found != known[k]) continue;
        tractions[static_cast<std::size_t>(found - nodes_.begin())] =
            reference.modulus *
            Eigen::Map<const Eigen::Vector3f>(values.data() + 3 * k).cast<double>();
    }
}

void GreensTools::take_tractions() noexcept {
    nodes_.clear();
    for (const TouchedNode& touched : contact_.touched()) nodes_.push_back(touched.node);
    const std::span<Vector3d> tractions(tractions_.data(), nodes_.size());
    if (contact_.level() < 0)
        contact_.solver().tractions(nodes_, tractions);
    else
        take_level_tractions(tractions);

    // the body has those of hands already
    const auto pulled = body_.pulled_nodes();
    for (std::size_t i = 0; i < pulls_.size(); ++i) {
        const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), pulled[i]);
        if (found != nodes_.end() && *found == pulled[i])
            tractions[static_cast<std::size_t>(found - nodes_.begin())] -= pulls_[i];
    }
    double energy = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        tractions[i] *= body_.modulus_scale();
        energy += 0.5 * contact_.solver().area(nodes_[i]) *
                  tractions[i].dot(contact_.displacement(contact_.touched()[i]));
    }
    body_.add_tractions(nodes_, tractions, energy);
    if (!fade_) return;
    // nodes that were taken when the level became finer stick where they were then, and jump when
    // they are let go, taken again elsewhere or not
    const bool has_changed = contact_.level() != shown_level_;
    if (has_changed)
        has_refined_ =
            contact_.level() < 0 || (shown_level_ >= 0 && contact_.level() > shown_level_);
    fade_->follow(nodes_, tractions, has_changed || (has_refined_ && contact_.report().pulled > 0));
    has_refined_ = has_refined_ && !nodes_.empty();
    shown_level_ = contact_.level();
    body_.add_tractions(fade_->ids(), fade_->values(), 0);
}

StepStatus GreensTools::act(double dt) noexcept {
    body_.take_first_mask();
    for (std::size_t k = 0; k < by_.size(); ++k)
        poses_[k] = body_.pose().inverse() * by_[k]->motion().pose;
    give_loads();
    if (!levels_ && contact_.level() != body_.constraint_level())
        (void)contact_.set_level(body_.constraint_level());
    const DistributedContact::Status status =
        levels_ ? levels_->step(contact_, poses_, body_.constraint_level()) : contact_.step(poses_);
    if (!contact_.touched().empty() || contact_.report().removed > 0)
        ++counts_[static_cast<std::size_t>(contact_.report().solver)];
    take_tractions();
    for (std::size_t k = 0; k < by_.size(); ++k) {
        const Wrench load = contact_.load(static_cast<int>(k));
        const Quaternion& turn = body_.pose().rotation;
        last_loads_[k] = {turn * (body_.modulus_scale() * load.force),
                          turn * (body_.modulus_scale() * load.torque)};
        by_[k]->add_wrench(last_loads_[k]);
    }
    if (hand_) move_hand(dt);
    // the step of the body counts it: whoever looks at bodies then sees it
    body_.note_contact(step_status(status));
    return StepStatus::Ok;
}

void GreensTools::forget() noexcept {
    if (levels_) {
        shown_level_ = levels_->finest();
        (void)contact_.set_level(shown_level_);
        has_refined_ = false;
        levels_->reset();
        fade_->reset();
    }
    contact_.reset();
    std::fill(last_loads_.begin(), last_loads_.end(), Wrench{});
    counts_.fill(0);
    place_hand();
}

Wrench GreensTools::load(int i) const noexcept { return last_loads_[at(i)]; }

void GreensTools::show(ShownGreens& frame) const noexcept {
    const DistributedContact::Report& report = contact_.report();
    frame.is_there = true;
    frame.num_points = 0;
    frame.num_nodes = static_cast<int>(contact_.touched().size());
    frame.size = contact_.solver().inverse().size();
    frame.added = report.added;
    frame.removed = report.removed;
    frame.status = report.solver;
    frame.condition = contact_.solver().inverse().condition();
    frame.counts = counts_;
    frame.level = contact_.level();
    frame.tolerance = body_.shown_tolerance();
    frame.strain = body_.strain();
}

}  // namespace pliant
