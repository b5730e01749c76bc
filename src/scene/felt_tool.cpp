#include "scene/felt_tool.h"

#include <algorithm>

namespace pliant {
namespace {

FemHapticPortOptions port_options(const HeldTool& held) {
    const HapticToolOptions& o = held.options;
    FemHapticPortOptions options;
    options.workspace = o.workspace;
    options.safety = o.safety;
    options.passivity = o.passivity;
    options.steps = held.fem->watchdog;
    options.rate = o.rate;
    options.answer_time = held.scene.answer_time;
    options.injects_damping = o.injects_damping;
    options.backs_off = o.backs_off;
    options.shows_force = o.shows_force;
    return options;
}

}  // namespace

FemTool::FemTool(HeldTool& held)
    : BoxReader(std::shared_ptr<LetterBox<FemStepsLetter>>(held.fem->exchange,
                                                           &held.fem->exchange->steps)),
      exchange_(held.fem->exchange),
      grasp_(held.options.grasp),
      start_(held.fem->start),
      has_depth_bound_(held.fem->has_depth_bound),
      port_(*held.device, link_, held.gains, port_options(held)) {
    reset();
}

Pose FemTool::body_of(const Pose& grasped) const noexcept {
    return {grasped.position - grasped.rotation * grasp_, grasped.rotation};
}

void FemTool::take(const FemToolSteps& steps) noexcept {
    link_.steps.write_slot() = steps;
    link_.steps.publish();
}

void FemTool::tick(double now, double dt) noexcept {
    const double worst = tick_.worst_depth, max_depth = tick_.max_depth;
    const std::uint64_t violations = tick_.violations;
    tick_ = port_.tick(now, dt);
    tick_.tool = has_begun() ? body_of(tick_.tool) : start_;
    tick_.manipulandum = has_begun() ? body_of(tick_.manipulandum) : start_;
    tick_.max_depth = max_depth;
    tick_.worst_depth = std::max(worst, tick_.depth);
    tick_.violations = violations + (has_depth_bound_ && tick_.depth > max_depth ? 1 : 0);

    // also before there is a hand to follow: the bodies' loop keeps to this clock
    link_.hand.update();
    letter_ = {round(), ++num_ticks_, now, link_.hand.read_slot()};
    exchange_->hand.post(letter_);
}

void FemTool::set_gains(const CouplingGains& gains) noexcept {
    tick_.max_depth = has_depth_bound_ ? gains.max_depth : 0;
    port_.set_gains(gains);
}

void FemTool::reset() noexcept {
    port_.reset();
    take({});
    link_.hand.update();
    link_.hand.read_slot() = {};
    tick_ = {};
    tick_.tool = tick_.manipulandum = start_;
    tick_.max_depth = has_depth_bound_ ? port_.gains().max_depth : 0;
    num_ticks_ = 0;
}

}  // namespace pliant
