#include "server/viewer_session.h"

#include <algorithm>

namespace pliant {

bool ViewerSession::may_want_frame(double now) const noexcept {
    return num_in_flight_ < kMaxInFlight && (is_hurried_ || now >= next_due_);
}

bool ViewerSession::wants_frame(std::uint32_t newest, double now) const noexcept {
    const bool is_answer = is_hurried_ && newest > hurried_after_;
    return num_in_flight_ < kMaxInFlight && newest != last_frame_ &&
           (is_answer || now >= next_due_);
}

void ViewerSession::hurry(std::uint32_t newest) noexcept {
    // the first of several inputs is the oldest that waits
    if (!is_hurried_) hurried_after_ = newest;
    is_hurried_ = true;
}

void ViewerSession::send_frame(std::uint32_t number, const SharedBytes& frame,
                               std::span<const SharedBytes> beside, double now) {
    for (const SharedBytes& message : beside) send_(message, false);
    // turns keep their rhythm although they are looked at in steps of the timer; after a pause
    // there is no burst
    next_due_ = std::max(next_due_ + kFrameInterval, now + kFrameInterval / 2);
    if (!send_(frame, false)) return;
    if (number > hurried_after_) is_hurried_ = false;
    last_frame_ = number;
    in_flight_[static_cast<std::size_t>(num_in_flight_++)] = number;
}

void ViewerSession::acknowledge(std::uint32_t number) noexcept {
    const auto end = in_flight_.begin() + num_in_flight_;
    const auto found = std::find(in_flight_.begin(), end, number);
    if (found == end) return;
    std::copy(found + 1, end, in_flight_.begin());
    num_in_flight_ -= static_cast<int>(found + 1 - in_flight_.begin());
    bytes_beside_ = 0;
}

void ViewerSession::forget_frames() noexcept {
    num_in_flight_ = 0;
    bytes_beside_ = 0;
    next_due_ = 0;
}

void ViewerSession::send_beside(const SharedBytes& message, bool is_text) {
    // a viewer that owes no answer has drawn everything
    if (num_in_flight_ == 0) bytes_beside_ = 0;
    if (bytes_beside_ + message->size() > kMaxBytesBeside) return;
    if (send_(message, is_text)) bytes_beside_ += message->size();
}

}  // namespace pliant
