#include "pliant/haptics/sphere_port.h"

#include "core/numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

SphereSnapshot SphereSnapshot::of_size(int num_spheres) {
    if (num_spheres < 1)
        throw InputError("", "spheres of a link", std::to_string(num_spheres), "at least 1");
    SphereSnapshot snapshot;
    snapshot.positions.assign(at(num_spheres), Eigen::Vector3d::Zero());
    snapshot.is_touching.assign(at(num_spheres), 0);
    return snapshot;
}

void SphereSnapshot::take(const SphereTool& tool, double when) noexcept {
    assert(at(tool.num_spheres()) == positions.size());
    time = when;
    translation = tool.translation_stiffness();
    rotation = tool.rotation_stiffness();
    const bool is_ignored = tool.state().is_hand_ignored;
    for (int i = 0; i < tool.num_spheres(); ++i) {
        positions[at(i)] = tool.sphere(i).spring_end();
        is_touching[at(i)] = !is_ignored && tool.sphere(i).is_touching();
    }
}

SphereLink::SphereLink(int num_spheres) : buffer_(SphereSnapshot::of_size(num_spheres)) {}

void SphereLink::publish(const SphereTool& tool, double time) noexcept {
    SphereSnapshot& slot = buffer_.write_slot();
    slot.take(tool, time);
    slot.sequence = ++sequence_;
    buffer_.publish();
}

void SphereLink::publish(const SphereSnapshot& snapshot) noexcept {
    SphereSnapshot& slot = buffer_.write_slot();
    assert(snapshot.positions.size() == slot.positions.size());
    slot = snapshot;
    buffer_.publish();
}

SpherePort::SpherePort(SphereLink& link, const SphereTool& tool, const SpherePortOptions& options)
    : link_(link), options_(options) {
    if (!(options.watchdog > 0 && options.watchdog <= 10))
        throw InputError("", "watchdog of the sphere port", std::to_string(options.watchdog),
                         "0 < value <= 10 s, e.g. 0.1");
    if (link.newest().positions.size() != at(tool.num_spheres()))
        throw InputError("", "spheres of the link", std::to_string(link.newest().positions.size()),
                         std::to_string(tool.num_spheres()) + ", as the tool");
    for (int i = 0; i < tool.num_spheres(); ++i) offsets_.push_back(tool.offset(i));
}

void SpherePort::reset() noexcept {
    taken_ = 0;
    returned_ = -1e9;
    output_ = {};
}

const SpherePort::Output& SpherePort::tick(const Pose& hand, double now) noexcept {
    output_.wrench = {};
    output_.num_touching = 0;
    output_.energy = 0;
    output_.stretch.setZero();
    output_.arm.setZero();
    const double length = hand.rotation.coeffs().norm();
    output_.is_hand_ignored =
        !is_finite(hand) || !std::isfinite(now) || !(length > 1e-6) || !std::isfinite(length);
    if (output_.is_hand_ignored) return output_;
    if (link_.receive()) {
        if (output_.is_stale) returned_ = now;
        taken_ = now;
    }
    const SphereSnapshot& known = link_.newest();
    output_.is_stale = known.sequence > 0 && now - taken_ > options_.watchdog;
    if (known.sequence == 0 || output_.is_stale) return output_;

    // eq. (4) with the newest hand, and what was held when spheres were there
    const Pose unit{hand.position, Quaternion(hand.rotation.coeffs() / length)};
    const double back = std::clamp((now - returned_) / options_.watchdog, 0.0, 1.0);
    Wrench& wrench = output_.wrench;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
        if (!known.is_touching[i]) continue;
        const Eigen::Vector3d arm = unit.rotation * offsets_[i];
        const Eigen::Vector3d offset = known.positions[i] - (unit.position + arm);
        ++output_.num_touching;
        output_.stretch += offset;
        output_.arm += arm;
        output_.energy += 0.5 * back * known.translation * offset.squaredNorm();
        wrench.force += back * known.translation * offset;
        wrench.torque += back * known.rotation * arm.cross(offset);
    }
    output_.stretch /= std::max(1, output_.num_touching);
    output_.arm /= std::max(1, output_.num_touching);
    if (!wrench.force.allFinite() || !wrench.torque.allFinite()) {
        wrench = {};
        output_.energy = 0;
    }
    return output_;
}

}  // namespace pliant
