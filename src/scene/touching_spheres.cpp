#include "scene/touching_spheres.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

std::vector<int> numbers_of(const std::vector<TouchedBody>& bodies) {
    std::vector<int> numbers;
    for (const TouchedBody& one : bodies) numbers.push_back(one.number);
    return numbers;
}

std::array<float, 3> floats_of(const Eigen::Vector3d& v) noexcept {
    return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

}  // namespace

double lever_of(const ParticleLayout& spheres, const SphereToolOptions& options) {
    double sum = 0, largest = 0;
    for (const Particle& one : spheres.particles) {
        const double square = (one.position - options.centre).squaredNorm();
        sum += square;
        largest = std::max(largest, square);
    }
    if (options.share == ToolShare::Total) largest = sum / std::max(1, spheres.num_particles());
    // spheres about the middle of a single one have none: their turn is not felt
    return std::max(std::sqrt(largest), 1e-6);
}

TouchingSpheres::TouchingSpheres(std::vector<TouchedBody> bodies, ParticleLayout spheres,
                                 const SphereToolOptions& options, const Pose& start,
                                 double bearable)
    : numbers_(numbers_of(bodies)),
      surfaces_(surfaces_of(bodies)),
      lever_(lever_of(spheres, options)),
      tool_(pointers_to(surfaces_), std::move(spheres), options),
      start_(start),
      bearable_(bearable),
      forces_(static_cast<std::size_t>(tool_.num_spheres())) {
    reset();
}

void TouchingSpheres::tune(const ProxyTuning& tuning) noexcept {
    if (tuning == tuning_) return;
    tuning_ = tuning;
    SphereToolOptions options = tool_.options();
    options.translation_stiffness = tuning.stiffness;
    // docs/scene.md eq. (9)
    options.rotation_stiffness = tuning.angular_stiffness / (lever_ * lever_);
    options.sphere.static_friction = tuning.static_friction;
    options.sphere.dynamic_friction = tuning.dynamic_friction;
    options.sphere.has_ccd = tuning.has_ccd;
    // bodies get no more than they bear, docs/scene.md eq. (8)
    options.sphere.body_force =
        bearable_ > 0 && tuning.stiffness > bearable_ ? bearable_ / tuning.stiffness : 1;
    options.sphere.release = tuning.release / tool_.num_spheres();
    tuned_ = tool_.set_options(options);
}

const SphereToolState& TouchingSpheres::tick(const Pose& hand, const ProxyTuning& tuning) noexcept {
    tune(tuning);
    const SphereToolState& state = tool_.tick(hand);
    tool_.apply_forces();
    book(tuning);
    all_pops_ += static_cast<std::uint64_t>(state.pops);
    squeezed_ += state.num_squeezed > 0 ? 1 : 0;
    bool is_carried = false;
    for (int i = 0; i < tool_.num_spheres(); ++i)
        is_carried = is_carried || tool_.sphere(i).carry != CarryEvent::None;
    carried_ += is_carried ? 1 : 0;
    return state;
}

double TouchingSpheres::depth() const noexcept {
    double deepest = 0;
    for (int i = 0; i < tool_.num_spheres(); ++i) {
        const ProxyState& s = tool_.sphere(i);
        if (s.num_contacts > 0)
            deepest = std::max(deepest, tool_.radius(i) - s.contacts[0].distance);
    }
    return deepest;
}

SpringSum TouchingSpheres::springs() const noexcept {
    const SphereToolState& state = tool_.state();
    SpringSum sum;
    sum.wrench = state.wrench;
    const double part = 1.0 / std::max(1, state.num_touching);
    for (int i = 0; i < tool_.num_spheres(); ++i) {
        const ProxyState& s = tool_.sphere(i);
        if (state.is_hand_ignored || !s.is_touching()) continue;
        const Eigen::Vector3d stretch = s.spring_end() - s.goal;
        sum.energy += 0.5 * s.force.dot(stretch);
        sum.stretch += part * stretch;
        sum.arm += part * (s.goal - state.hand.position);
    }
    return sum;
}

void TouchingSpheres::book(const ProxyTuning& tuning) noexcept {
    const SphereToolState& state = tool_.state();
    const double before = shown_.energy;
    shown_ = shown_springs(springs(), tuning.max_force, tuning.max_torque);
    const Eigen::Vector3d mean = state.wrench.force / std::max(1, state.num_touching);
    work_ = 0;
    for (int i = 0; i < tool_.num_spheres(); ++i) {
        const ProxyState& s = tool_.sphere(i);
        Eigen::Vector3d& force = forces_[static_cast<std::size_t>(i)];
        work_ += 0.5 * force.dot(s.moved_before);
        force.setZero();
        if (!s.is_touching()) continue;
        force = shown_.shift_part * mean + shown_.turn_part * (s.force - mean);
        work_ += 0.5 * force.dot(s.moved);
    }
    // they take no more than the springs have
    work_ = std::max(work_, -before);
}

void TouchingSpheres::put(const Pose& hand) noexcept {
    tool_.reset(hand);
    shown_ = {};
    std::fill(forces_.begin(), forces_.end(), Eigen::Vector3d::Zero());
}

void TouchingSpheres::reset() noexcept {
    put(start_);
    work_ = 0;
    all_pops_ = carried_ = squeezed_ = 0;
}

void TouchingSpheres::fill_sphere(int i, ShownProxy& shown) const noexcept {
    const ProxyState& s = tool_.sphere(i);
    const Quaternion& q = tool_.turn(i);
    ShownProxy::Sphere& sphere = shown.spheres[static_cast<std::size_t>(shown.num_spheres++)];
    sphere.position = floats_of(s.position);
    sphere.turn = {static_cast<float>(q.w()), static_cast<float>(q.x()), static_cast<float>(q.y()),
                   static_cast<float>(q.z())};
    sphere.normal = {};
    sphere.is_touching = s.is_touching();
    double strongest = 0;
    for (int k = 0; k < s.num_contacts; ++k) {
        const ProxyContact& contact = s.contacts[static_cast<std::size_t>(k)];
        if (!(contact.multiplier > 0)) continue;
        if (contact.multiplier > strongest) sphere.normal = floats_of(contact.normal);
        strongest = std::max(strongest, contact.multiplier);
        if (shown.num_triangles < ShownProxy::kMaxTriangles)
            shown.triangles[static_cast<std::size_t>(shown.num_triangles++)] = {
                numbers_[static_cast<std::size_t>(contact.surface)], contact.triangle};
    }
}

void TouchingSpheres::fill(ShownProxy& shown) const noexcept {
    const SphereToolState& s = tool_.state();
    shown.num_spheres = shown.num_triangles = 0;
    for (int i = 0; i < std::min(tool_.num_spheres(), ShownProxy::kMaxSpheres); ++i)
        fill_sphere(i, shown);
    shown.position = s.fit.position;
    shown.pops = s.pops;
    shown.passes = s.passes;
    shown.triangles_tested = s.triangles_tested;
    shown.all_pops = all_pops_;
    shown.carried = carried_;
    shown.squeezed = squeezed_;
    shown.is_squeezed = s.num_squeezed > 0;
    shown.is_ignored = status() == StepStatus::InputIgnored;
    shown.has_arrived = s.status != StepStatus::NotConverged || shown.is_squeezed;
    shown.is_stale = false;
}

}  // namespace pliant
