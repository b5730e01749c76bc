#pragma once

#include "haptics/pose_rules.h"
#include "pliant/haptics/fem_haptic_link.h"

#include <algorithm>
#include <cmath>

namespace pliant {

/// What all tools in a simulator share, docs/haptics.md section "Full FEM bodies": the hand that
/// they follow, predicted, and the steps that they publish for the device.
class ToolSteps {
public:
    ToolSteps(FemHapticLink& link, bool is_dynamic) : link_(link) {
        steps_.is_dynamic = is_dynamic;
    }

    /// A fresh start with the grasp frame at `pose`.
    void begin_anew(const Pose& pose) noexcept {
        ++steps_.epoch;
        steps_.count = 0;
        state = {};
        state.tool = pose;
        is_stepping_ = false;
    }

    /// Says that a step is on its way. InputIgnored for times that are not finite or no time.
    StepStatus begin(double now, double dt) noexcept {
        is_stepping_ = false;
        if (!std::isfinite(now) || !std::isfinite(dt) || !(dt > 0) || !(now + dt > now))
            return StepStatus::InputIgnored;
        is_stepping_ = true;
        end_ = now + dt;
        length_ = dt;
        // a clock that ran back: what was published has no meaning any more
        if (steps_.count > 0 && end_ <= state.time) {
            ++steps_.epoch;
            steps_.count = 0;
        }
        if (steps_.count == 0) {
            // the start is a state as well
            state.time = now;
            steps_.states[0] = state;
            steps_.count = 1;
        }
        steps_.next = end_;
        publish();
        return StepStatus::Ok;
    }

    /// Where the hand wants the tool at the end of the step, and how it moves; false: there is
    /// none. With `predicts` moved on until the step is shown, and by `lag` of what follows it [s].
    bool look_at_hand(double now, double dt, bool predicts, double lag) noexcept {
        link_.hand.update();
        hand = link_.hand.read_slot();
        const double age = now - hand.time;
        const bool is_led = hand.epoch == steps_.epoch && is_usable(hand.pose) &&
                            hand.velocity.linear.allFinite() && hand.velocity.angular.allFinite();
        if (!(age < kOldHand)) hand.velocity = {};
        if (!is_led || !predicts) return is_led;
        // to the end of this step, and one more until it is shown
        const double lead = std::max(age, 0.0) + 2 * dt + lag;
        hand.pose = advance(hand.pose, hand.velocity, std::min(lead, kLongestLead));
        return is_led;
    }

    /// Publishes `state`, whose loads and depth are those of the step, at its end.
    void end(const Pose& pose, StepStatus status) noexcept {
        is_stepping_ = false;
        // work of the tool on the bodies; they may give it back
        state.lent -=
            state.contact.force.dot(pose.position - state.tool.position) +
            state.contact.torque.dot(rotation_difference(state.tool.rotation, pose.rotation));
        state.lent = state.num_contacts > 0 && state.lent > 0 ? state.lent : 0;
        state.time = end_;
        state.tool = pose;
        state.status = status;
        steps_.states[steps_.count++ % FemToolSteps::kSize] = state;
        steps_.next = end_ + length_;  // until the next step says
        publish();
    }

    void publish() noexcept {
        link_.steps.write_slot() = steps_;
        link_.steps.publish();
    }
    [[nodiscard]] bool is_stepping() const noexcept { return is_stepping_; }

    FemToolState state;  ///< of the last step
    FemHandState hand;   ///< of this step

private:
    static constexpr double kLongestLead = 0.03;  // that a hand is predicted [s]
    static constexpr double kOldHand = 0.05;      // beyond, its velocity says nothing [s]

    FemHapticLink& link_;
    FemToolSteps steps_;
    double end_ = 0, length_ = 0;  ///< of the step under way
    bool is_stepping_ = false;
};

}  // namespace pliant
