#include "pliant/haptics/plane_port.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace pliant {

void PlaneLink::publish(const ProxyState& state, double time) noexcept {
    PlaneSnapshot& slot = buffer_.write_slot();
    slot.time = time;
    slot.sequence = ++sequence_;
    slot.num_planes = state.active_planes(slot.planes);
    buffer_.publish();
}

void PlaneLink::publish(const PlaneSnapshot& snapshot) noexcept {
    buffer_.write_slot() = snapshot;
    buffer_.publish();
}

bool PlaneLink::receive(PlaneSnapshot& newest) noexcept {
    if (!buffer_.update()) return false;
    newest = buffer_.read_slot();
    return true;
}

PlanePort::PlanePort(PlaneLink& link, const PlanePortOptions& options)
    : link_(link), options_(options) {
    if (!(options.stiffness >= 0 && options.stiffness < 1e9))
        throw InputError("", "stiffness of the plane port", std::to_string(options.stiffness),
                         "0 N/m or more, e.g. 500");
    if (!(options.watchdog > 0 && options.watchdog <= 10))
        throw InputError("", "watchdog of the plane port", std::to_string(options.watchdog),
                         "0 < value <= 10 s, e.g. 0.1");
}

void PlanePort::reset(const Eigen::Vector3d& position) noexcept {
    current_ = {};
    from_ = {};
    taken_ = period_ = 0;
    output_ = {};
    output_.position = position;
}

void PlanePort::take(const PlaneSnapshot& newest, double now) noexcept {
    const auto shown = planes_at(now);
    const int num_shown = output_.is_stale ? 0 : current_.num_planes;
    for (int i = 0; i < newest.num_planes; ++i) {
        const ConstraintPlane& plane = newest.planes[static_cast<std::size_t>(i)];
        // from the one it was, or from where it does not push yet
        ConstraintPlane& from = from_[static_cast<std::size_t>(i)];
        from = {plane.normal, std::min(plane.offset, plane.normal.dot(output_.position))};
        double best = 0.8;
        for (int k = 0; k < num_shown; ++k) {
            const ConstraintPlane& other = shown[static_cast<std::size_t>(k)];
            const double likeness = other.normal.dot(plane.normal);
            if (likeness <= best) continue;
            best = likeness;
            from = other;
        }
    }
    if (current_.sequence > 0)
        period_ = std::clamp(newest.time - current_.time, 0.0, options_.watchdog);
    current_ = newest;
    taken_ = now;
}

double PlanePort::progress(double now) const noexcept {
    if (!options_.interpolates || period_ <= 0) return 1;
    return std::clamp((now - taken_) / period_, 0.0, 1.0);
}

std::array<ConstraintPlane, 3> PlanePort::planes_at(double now) const noexcept {
    std::array<ConstraintPlane, 3> planes = current_.planes;
    if (!options_.interpolates || period_ <= 0) return planes;
    const double s = progress(now);
    for (int i = 0; i < current_.num_planes; ++i) {
        ConstraintPlane& plane = planes[static_cast<std::size_t>(i)];
        const ConstraintPlane& from = from_[static_cast<std::size_t>(i)];
        // both by one length: a plane does not depend on where the origin is
        const Eigen::Vector3d n = from.normal + s * (plane.normal - from.normal);
        const double length = n.norm();  // normals at most 37° apart: at least 0.94
        plane.normal = n / length;
        plane.offset = (from.offset + s * (plane.offset - from.offset)) / length;
    }
    return planes;
}

const PlanePort::Output& PlanePort::tick(const Eigen::Vector3d& goal, double now) noexcept {
    output_.is_goal_ignored = !goal.allFinite() || !std::isfinite(now);
    output_.force.setZero();
    if (output_.is_goal_ignored) return output_;
    PlaneSnapshot newest;
    if (link_.receive(newest)) take(newest, now);

    output_.is_stale = current_.sequence > 0 && now - taken_ > options_.watchdog;
    const auto planes = planes_at(now);
    const auto count = static_cast<std::size_t>(output_.is_stale ? 0 : current_.num_planes);
    const PlaneGoal found = nearest_feasible(goal, {planes.data(), count}, output_.position, 1e-12);
    output_.position = found.position;
    output_.force = options_.stiffness * (found.position - goal);
    return output_;
}

}  // namespace pliant
