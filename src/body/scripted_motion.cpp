#include "pliant/body/scripted_motion.h"

#include "body/rotation_rates.h"
#include "pliant/core/error.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Value and derivatives of a cubic that leads from `start` to `end` in h seconds.
struct CubicSample {
    Vector3d value, rate, rate_2;
};
CubicSample cubic(const Vector3d& start, const Vector3d& end, const Vector3d& slope_start,
                  const Vector3d& slope_end, double h, double t) noexcept {
    const double s = t / h;
    const Vector3d a = 3 * (end - start) - h * (2 * slope_start + slope_end);
    const Vector3d b = 2 * (start - end) + h * (slope_start + slope_end);
    return {start + s * (h * slope_start + s * (a + s * b)),
            slope_start + s / h * (2 * a + 3 * s * b), (2 * a + 6 * s * b) / (h * h)};
}

/// A cubic between two values is monotone where both of its slopes are of this many times its chord
/// at most, and not against it [FritschCarlson1980].
constexpr double kSteepest = 3;

/// `rate` along a chord as far as keeps monotone what leads along it.
double limited(double rate, double chord) noexcept {
    return chord > 0 ? std::clamp(rate, 0.0, kSteepest * chord)
                     : std::clamp(rate, kSteepest * chord, 0.0);
}

/// Share of a turning rate that keeps between two keys what turns by `chord` from one to the other:
/// the likewise limit for a rate along the chord, none for one across it.
double limited_share(const Vector3d& rate, const Vector3d& chord) noexcept {
    const double along = rate.dot(chord);
    return along > 0 ? std::min(1.0, kSteepest * along / rate.squaredNorm()) : 0;
}

/// Rate at the key between two chords, docs/body.md eq. (7): of second order for any spacing where
/// it goes beyond neither key.
Twist key_rate(const Twist& before, double h_before, const Twist& after, double h_after) {
    const double w = h_after / (h_before + h_after);
    Twist rate{w * before.linear + (1 - w) * after.linear,
               w * before.angular + (1 - w) * after.angular};
    for (int i = 0; i < 3; ++i)
        rate.linear[i] = limited(limited(rate.linear[i], before.linear[i]), after.linear[i]);
    rate.angular *= std::min(limited_share(rate.angular, before.angular),
                             limited_share(rate.angular, after.angular));
    return rate;
}

void check(const std::vector<Keyframe>& keys) {
    if (keys.empty()) throw InputError("", "a scripted motion needs at least one key");
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string name = "keys[" + std::to_string(i) + "]";
        if (!std::isfinite(keys[i].time))
            throw InputError("", name + ".time", std::to_string(keys[i].time), "a finite time");
        if (i > 0 && !(keys[i].time > keys[i - 1].time))
            throw InputError("", name + ".time", std::to_string(keys[i].time),
                             "later than the key before, " + std::to_string(keys[i - 1].time));
        if (!is_finite(keys[i].pose) || !(keys[i].pose.rotation.norm() > 0))
            throw InputError("", name + ".pose is not finite, or its rotation is zero");
    }
}

}  // namespace

ScriptedMotion::ScriptedMotion(std::vector<Keyframe> keys, bool is_repeated)
    : keys_(std::move(keys)), is_repeated_(is_repeated) {
    check(keys_);
    for (Keyframe& key : keys_) key.pose.rotation.normalize();
    if (is_repeated_) {
        if (keys_.size() < 2) throw InputError("", "a repeated motion needs at least two keys");
        const Pose &first = keys_.front().pose, &last = keys_.back().pose;
        const double gap = (first.position - last.position).norm();
        const double turn = rotation_difference(first.rotation, last.rotation).norm();
        if (gap > 1e-9 * (1 + first.position.norm()) || turn > 1e-9)
            throw InputError("",
                             "a repeated motion must end where it began: repeat the pose of the "
                             "first key in the last");
    }

    // chords, then rates at the keys, then the slopes that give these rates
    const std::size_t num_segments = keys_.size() - 1;
    segments_.resize(num_segments);
    std::vector<Twist> chords(num_segments), rates(keys_.size());
    const auto length = [&](std::size_t i) { return keys_[i + 1].time - keys_[i].time; };
    for (std::size_t i = 0; i < num_segments; ++i) {
        const Pose &start = keys_[i].pose, &end = keys_[i + 1].pose;
        segments_[i].turn = rotation_difference(start.rotation, end.rotation);
        chords[i] = {(end.position - start.position) / length(i), segments_[i].turn / length(i)};
    }
    for (std::size_t i = 1; i < num_segments; ++i)
        rates[i] = key_rate(chords[i - 1], length(i - 1), chords[i], length(i));
    if (is_repeated_)
        rates.front() = rates.back() =
            key_rate(chords.back(), length(num_segments - 1), chords.front(), length(0));
    for (std::size_t i = 0; i < num_segments; ++i) {
        segments_[i].slope_start = rates[i];
        // |turn| ≤ π, where the Jacobian is far from singular
        segments_[i].slope_end = {
            rates[i + 1].linear, left_jacobian(segments_[i].turn).inverse() * rates[i + 1].angular};
    }
}

ScriptedMotion ScriptedMotion::oscillation(const Pose& base, const Vector3d& amplitude,
                                           const Vector3d& rotation_amplitude, double frequency,
                                           double phase) {
    if (!is_finite(base) || !(base.rotation.norm() > 0))
        throw InputError("", "the base pose of an oscillation is not finite, or its rotation zero");
    if (!amplitude.allFinite() || !rotation_amplitude.allFinite() || !std::isfinite(phase))
        throw InputError("", "amplitudes and phase of an oscillation must be finite");
    if (!(frequency >= 0) || !std::isfinite(frequency))
        throw InputError("", "frequency", std::to_string(frequency), "0 or more, in Hz");
    ScriptedMotion motion;
    motion.oscillation_ = {base, amplitude, rotation_amplitude, frequency, phase};
    motion.oscillation_.base.rotation.normalize();
    return motion;
}

RigidMotion ScriptedMotion::oscillation_at(double time) const noexcept {
    const Oscillation& o = oscillation_;
    const double rate = 2 * std::numbers::pi * o.frequency;
    // whole turns away first: the sine of a large argument loses digits
    const double turns = std::isfinite(o.frequency * time) ? o.frequency * time : 0.0;
    const double angle = 2 * std::numbers::pi * (turns - std::floor(turns)) + o.phase;
    const double sine = std::sin(angle), speed = rate * std::cos(angle);
    RigidMotion motion;
    // the axis is constant: rates of the rotation vector are those of the rotation
    motion.pose = {
        o.base.position + sine * o.amplitude,
        (rotation_from_vector(sine * o.rotation_amplitude) * o.base.rotation).normalized()};
    motion.velocity = {speed * o.amplitude, speed * o.rotation_amplitude};
    motion.acceleration = {-rate * rate * sine * o.amplitude,
                           -rate * rate * sine * o.rotation_amplitude};
    return motion;
}

ScriptedMotion::Rates ScriptedMotion::largest_rates() const noexcept {
    Rates largest;
    const auto add = [&](const Twist& velocity) {
        largest.linear = std::max(largest.linear, velocity.linear.norm());
        largest.angular = std::max(largest.angular, velocity.angular.norm());
    };
    if (keys_.empty()) {
        // fastest where the sine is zero
        const double rate = 2 * std::numbers::pi * oscillation_.frequency;
        add({rate * oscillation_.amplitude, rate * oscillation_.rotation_amplitude});
    }
    constexpr int kPlaces = 64;
    for (std::size_t i = 0; i + 1 < keys_.size(); ++i)
        for (int k = 0; k < kPlaces; ++k)
            add(at(keys_[i].time + (keys_[i + 1].time - keys_[i].time) * k / kPlaces).velocity);
    return largest;
}

RigidMotion ScriptedMotion::at(double time) const noexcept {
    if (keys_.empty()) return oscillation_at(time);
    RigidMotion motion;
    const double first = keys_.front().time, last = keys_.back().time;
    if (is_repeated_) {
        const double period = last - first, since = std::fmod(time - first, period);
        time = first + (since < 0 ? since + period : since);
    }
    if (!(time > first) && !is_repeated_) {
        motion.pose = keys_.front().pose;
        return motion;
    }
    if (time >= last && !is_repeated_) {
        motion.pose = keys_.back().pose;
        return motion;
    }
    // the segment that holds it; the first for a time that is not a number
    if (!(time > first)) time = first;
    const auto after =
        std::upper_bound(keys_.begin() + 1, keys_.end() - 1, time,
                         [](double value, const Keyframe& key) { return value < key.time; });
    const auto i = static_cast<std::size_t>(after - keys_.begin()) - 1;
    const Keyframe &start = keys_[i], &end = keys_[i + 1];
    const Segment& segment = segments_[i];
    const double h = end.time - start.time, t = time - start.time;

    const CubicSample x = cubic(start.pose.position, end.pose.position, segment.slope_start.linear,
                                segment.slope_end.linear, h, t);
    const CubicSample phi = cubic(Vector3d::Zero(), segment.turn, segment.slope_start.angular,
                                  segment.slope_end.angular, h, t);
    const RotationRates rates = rotation_rates(phi.value, phi.rate, phi.rate_2);
    motion.pose = {x.value, (rotation_from_vector(phi.value) * start.pose.rotation).normalized()};
    motion.velocity = {x.rate, rates.omega};
    motion.acceleration = {x.rate_2, rates.alpha};
    return motion;
}

}  // namespace pliant
