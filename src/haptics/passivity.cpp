#include "pliant/haptics/passivity.h"

#include "haptics/encoder_border.h"
#include "haptics/input_range.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Work of a held command on the hand while the handle moved.
double work(const DeviceCommand& held, const Vector3d& shift, const Vector3d& turn) noexcept {
    return held.force.dot(shift) + held.torque.dot(turn);
}

}  // namespace

PassivityPort::PassivityPort(const PassivityOptions& options) : options_(options) {
    const PassivityOptions& o = options;
    require_good("passivity.tolerance", o.tolerance, o.tolerance >= 0, "value >= 0");
    require_good("passivity.max_stored", o.max_stored, o.max_stored >= 0, "value >= 0");
    require_good("passivity.max_damping", o.max_damping, o.max_damping >= 0, "value >= 0");
    require_good("passivity.lever", o.lever, o.lever >= 0, "value >= 0");
    require_good("passivity.filter", o.filter, o.filter > 0 && o.filter <= 1, "0 < value <= 1");
    require_good("passivity.dead_band", o.dead_band, o.dead_band >= 0, "value >= 0");
    require_good("passivity.position_step", o.position_step, o.position_step >= 0, "value >= 0");
}

DeviceCommand PassivityPort::update(const Pose& pose, const DeviceCommand& held,
                                    const PortStorage& storage, double dt) noexcept {
    if (!is_finite(pose) || !held.force.allFinite() || !held.torque.allFinite() ||
        !std::isfinite(storage.coupling) || !std::isfinite(storage.beyond) ||
        !std::isfinite(storage.given) || !storage.force.allFinite() || !storage.lag.allFinite() ||
        !(dt > 0) || !std::isfinite(dt))
        return {};
    const bool is_first = !has_last_;
    const Vector3d shift =
        is_first ? Vector3d::Zero() : Vector3d(pose.position - last_pose_.position);
    const Vector3d turn =
        is_first ? Vector3d::Zero() : rotation_difference(last_pose_.rotation, pose.rotation);
    const Vector3d place = is_first ? pose.position
                                    : crossed_border(pose.position, last_pose_.position,
                                                     last_place_, options_.position_step);
    const Vector3d way = is_first ? Vector3d::Zero() : Vector3d(place - last_place_);
    last_pose_ = pose;
    last_place_ = place;
    has_last_ = true;

    // docs/haptics.md eq. (21), exact for outputs that are held; the springs at the same place
    stored_ =
        std::max(storage.coupling - storage.force.dot(place - pose.position - storage.lag), 0.0);
    const double returnable = stored_ + std::max(storage.beyond, 0.0);
    // an account of bodies that began anew gave nothing yet
    const double given = std::max(storage.given - last_given_, 0.0);
    last_given_ = storage.given;
    energy_ = is_first ? returnable
                       : std::min(energy_ + given - work(held, way, turn),
                                  returnable + options_.max_stored);
    taken_out_ -= work(added_, way, turn);
    // eq. (22)
    const double margin = energy_ - stored_;
    least_margin_ = std::min(least_margin_, margin);
    deficit_ = -margin - options_.tolerance;

    // eq. (23)
    velocity_.linear += options_.filter * (shift / dt - velocity_.linear);
    velocity_.angular += options_.filter * (turn / dt - velocity_.angular);
    const double lever2 = options_.lever * options_.lever;
    const double speed2 = velocity_.linear.squaredNorm() + lever2 * velocity_.angular.squaredNorm();
    damping_ = 0;
    if (options_.controls && deficit_ > 0 && speed2 > options_.dead_band * options_.dead_band)
        damping_ = std::min(options_.max_damping, deficit_ / (dt * speed2));
    added_ = {-damping_ * velocity_.linear, -damping_ * lever2 * velocity_.angular, 0};
    return added_;
}

void PassivityPort::reset(double stored) noexcept {
    velocity_ = {};
    added_ = {};
    deficit_ = damping_ = least_margin_ = taken_out_ = 0;
    energy_ = stored_ = stored;
    has_last_ = false;
}

}  // namespace pliant
