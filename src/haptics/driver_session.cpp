#include "haptics/driver_session.h"

#include "haptics/command_limits.h"

namespace pliant {
namespace {

constexpr double kDriverClockJump = 0.25;   // beyond any delay of a live driver [s]
constexpr double kDriverClockDrift = 1e-4;  // between two crystals

double driver_seconds(DriverClock::Time from, DriverClock::Time to) {
    return std::chrono::duration<double>(to - from).count();
}

/// `part` of `whole`, at most all of it; nothing where nothing is wanted.
double share_of(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 0; }

}  // namespace

std::optional<DriverClock::Time> DriverClock::measured(double stamp, Time arrived) noexcept {
    if (!has_shift_) epoch_ = last_ = arrived;
    const double shift = driver_seconds(epoch_, arrived) - stamp;
    const bool is_first = !has_shift_;
    const bool has_jumped = !is_first && !(std::abs(shift - shift_) < kDriverClockJump);
    if (is_first || has_jumped) {
        shift_ = shift;
        has_shift_ = true;
    } else {
        shift_ = std::min(shift, shift_ + kDriverClockDrift * driver_seconds(last_, arrived));
    }
    last_ = arrived;
    if (has_jumped) return std::nullopt;
    const std::chrono::duration<double> delay(shift - shift_);
    return arrived - std::chrono::duration_cast<Time::duration>(delay);
}

std::string_view DriverSession::receive(std::string_view peer, std::span<const std::byte> bytes,
                                        Time now) {
    check_silence(now);
    return std::visit([&](const auto& message) { return take(peer, message, now); },
                      parse_driver_message(bytes));
}

void DriverSession::check_silence(Time now) {
    if (is_attached_ && driver_seconds(heard_, now) > timeout_) detach();
}

void DriverSession::forget(std::string_view peer) {
    if (is_attached_ && peer == peer_) detach();
}

void DriverSession::detach() {
    is_attached_ = false;
    can_.name.clear();
    exchange_.publish_gone();
}

bool DriverSession::is_driver(std::string_view peer, DriverTag tag) const {
    return is_attached_ && peer == peer_ && tag.session == tag_.session;
}

std::string_view DriverSession::answer(DriverTag tag, DriverAnswer answer) {
    write_driver_answer(reply_, tag, answer);
    return reply_;
}

std::string_view DriverSession::take(std::string_view /*peer*/, DriverFault fault, Time /*now*/) {
    switch (fault) {
        case DriverFault::Malformed: ++counts_.malformed; return {};
        case DriverFault::BadReading: ++counts_.bad_values; return {};
        case DriverFault::WrongVersion:
            ++counts_.wrong_version;
            return answer({}, DriverAnswer::WrongVersion);
        case DriverFault::BadCapabilities:
            ++counts_.bad_values;
            return answer({}, DriverAnswer::BadCapabilities);
    }
    return {};
}

std::string_view DriverSession::take(std::string_view peer, const DriverHello& hello, Time now) {
    // an old hello of this run, once more
    if (is_driver(peer, hello.tag)) {
        ++counts_.out_of_order;
        return answer(hello.tag, DriverAnswer::Accepted);
    }
    // whoever else it is has to wait until the driver leaves or falls silent: the sender of a
    // datagram is what the datagram says
    if (is_attached_) {
        ++counts_.foreign;
        return answer(hello.tag, DriverAnswer::Busy);
    }
    is_attached_ = true;
    peer_ = peer;
    tag_ = hello.tag;
    can_ = hello.capabilities;
    if (can_.name.empty()) can_.name = "driver";
    // all forces times one number: a softer spring is as stable as its device allows
    const DeviceCapabilities& loop = exchange_.capabilities();
    force_share_ = std::min({share_of(can_.max_force, loop.max_force),
                             share_of(can_.continuous_force, loop.continuous_force),
                             share_of(can_.max_stiffness, loop.max_stiffness)});
    torque_share_ = std::min(share_of(can_.max_torque, loop.max_torque),
                             share_of(can_.max_angular_stiffness, loop.max_angular_stiffness));
    clock_ = {};
    heard_ = now;
    ++counts_.attached;
    return answer(hello.tag, DriverAnswer::Accepted);
}

std::string_view DriverSession::take(std::string_view peer, const DriverReading& reading,
                                     Time now) {
    if (!is_driver(peer, reading.tag)) {
        if (!is_attached_) return answer(reading.tag, DriverAnswer::NotAttached);
        if (peer == peer_) return answer(reading.tag, DriverAnswer::NotAttached);
        ++counts_.foreign;
        return answer(reading.tag, DriverAnswer::Busy);
    }
    // numbers may wrap around
    if (static_cast<std::int32_t>(reading.tag.sequence - tag_.sequence) <= 0) {
        ++counts_.out_of_order;
        return {};
    }
    tag_.sequence = reading.tag.sequence;
    const auto measured = clock_.measured(reading.state.time, now);
    if (!measured) {
        ++counts_.clock_jumps;
        return {};
    }
    if (!exchange_.publish(reading.state, *measured)) {
        ++counts_.bad_values;
        return {};
    }
    ++counts_.readings;
    if (!reading.is_whole) ++counts_.bad_values;
    heard_ = now;
    DeviceCommand command = exchange_.command(now);
    command.force *= force_share_;
    command.gripper *= force_share_;
    command.torque *= torque_share_;
    write_driver_command(reply_, {tag_.session, ++sent_}, tag_.sequence, reading.state.time,
                         within_limits(command, can_));
    return reply_;
}

std::string_view DriverSession::take(std::string_view peer, const DriverBye& bye, Time /*now*/) {
    if (is_driver(peer, bye.tag))
        detach();
    else
        ++counts_.foreign;
    return {};
}

}  // namespace pliant
