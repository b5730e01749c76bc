#include "scene/proxy_tool.h"

#include "haptics/pose_rules.h"

#include <algorithm>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kProxyContactTime = 0.02;  // in which injected damping follows contact [s]

/// Bodies of the same loop.
class NearProxy final : public ProxySource {
public:
    explicit NearProxy(std::shared_ptr<TouchingSphere> sphere) : sphere_(std::move(sphere)) {}
    Answer follow(const Vector3d& goal, const ProxyTuning& tuning, double) noexcept override {
        const ProxyState& state = sphere_->tick(goal, tuning);
        std::array<ConstraintPlane, 3> planes;
        return {state.position, state.force, state.active_planes(planes), sphere_->depth(),
                state.status};
    }
    void put(const Vector3d& position) noexcept override { sphere_->put(position); }
    void reset() noexcept override { sphere_->reset(); }
    void fill(ShownProxy& shown) const noexcept override { sphere_->fill(shown); }

private:
    std::shared_ptr<TouchingSphere> sphere_;
};

/// Bodies of another loop: the planes that it told last.
class FarProxy final : public ProxySource, public BoxReader<ProxyPlanesLetter> {
public:
    FarProxy(const HeldProxy& held, const Vector3d& start)
        : BoxReader(
              std::shared_ptr<LetterBox<ProxyPlanesLetter>>(held.exchange, &held.exchange->planes)),
          exchange_(held.exchange),
          radius_(held.options.sphere.radius),
          start_(start),
          port_(link_, held.planes) {
        reset();
    }
    Answer follow(const Vector3d& goal, const ProxyTuning& tuning, double now) noexcept override {
        if (has_news_) link_.publish(planes_.planes);
        has_news_ = false;
        port_.set_stiffness(tuning.stiffness);
        const PlanePort::Output& out = port_.tick(goal, now);
        letter_ = {round(), letter_.tick + 1, goal, tuning};
        exchange_->hand.post(letter_);
        const bool is_held = !out.force.isZero();
        return {out.position, out.force, is_held ? std::max(planes_.shown.num_planes, 1) : 0, 0,
                out.is_goal_ignored                                       ? StepStatus::InputIgnored
                : planes_.shown.is_squeezed || !planes_.shown.has_arrived ? StepStatus::NotConverged
                                                                          : StepStatus::Ok};
    }
    void put(const Vector3d&) noexcept override {}
    void reset() noexcept override {
        port_.reset(start_);
        link_.publish(PlaneSnapshot{});
        planes_ = {};
        planes_.shown.radius = radius_;
        planes_.shown.position = start_;
        letter_ = {};
        has_news_ = false;
    }
    void fill(ShownProxy& shown) const noexcept override {
        shown = planes_.shown;
        shown.is_stale = port_.last().is_stale;
    }
    [[nodiscard]] LetterReader* letters() noexcept override { return this; }

private:
    void read(const ProxyPlanesLetter& letter) noexcept override {
        // the same letter twice is no news
        has_news_ |= letter.tick != planes_.tick;
        planes_ = letter;
    }

    std::shared_ptr<ProxyExchange> exchange_;
    double radius_;
    Vector3d start_;
    PlaneLink link_;
    PlanePort port_;
    ProxyPlanesLetter planes_;
    ProxyHandLetter letter_;
    bool has_news_ = false;
};

std::unique_ptr<ProxySource> make_source(const HeldProxy& held, const Vector3d& start) {
    if (held.sphere) return std::make_unique<NearProxy>(held.sphere);
    return std::make_unique<FarProxy>(held, start);
}

}  // namespace

ProxyTool::ProxyTool(HeldTool& held, RigidBody& body)
    : body_(body),
      port_(*held.device, {.workspace = held.options.workspace,
                           .safety = held.options.safety,
                           .passivity = held.options.passivity,
                           .rate = held.options.rate,
                           .injects_damping = held.options.injects_damping,
                           .backs_off = held.options.backs_off,
                           .shows_force = held.options.shows_force,
                           .injection_time = kProxyContactTime}),
      gains_(held.gains),
      tuning_{.static_friction = held.proxy->options.static_friction,
              .dynamic_friction = held.proxy->options.dynamic_friction,
              .has_force_shading = held.proxy->options.has_force_shading,
              .has_ccd = held.proxy->options.has_ccd},
      source_(make_source(*held.proxy, body.motion().pose.position)) {
    set_gains(held.gains);
}

void ProxyTool::set_gains(const CouplingGains& gains) noexcept {
    gains_ = gains;
    tick_.max_depth = gains.max_depth;
    port_.watch_springs(gains.stiffness, 0);
}

void ProxyTool::tick(double now, double dt) noexcept {
    if (port_.refuses(now, dt, tick_)) return;
    const Pose tool = body_.motion().pose;
    const bool was_moved = has_begun_ && !((tool.position - tick_.tool.position).norm() <= 1e-9);
    if (was_moved) source_->put(tool.position);
    port_.read(now, dt, tool, was_moved, tick_);
    has_begun_ = true;

    const Pose& hand = port_.manipulandum();
    tuning_.stiffness = port_.gain_scale() * gains_.stiffness;
    const ProxySource::Answer proxy = source_->follow(hand.position, tuning_, now);
    tick_.status = proxy.status;
    tick_.manipulandum = hand;
    tick_.contact = {proxy.force, Vector3d::Zero()};
    tick_.coupling = {shortened(proxy.force, gains_.rendered_force), Vector3d::Zero()};
    tick_.num_contacts = proxy.num_planes;
    const double stored = 0.5 * proxy.force.dot(proxy.position - hand.position);
    port_.show(gains_.injection, {.coupling = std::max(stored, 0.0)}, 1, now, tick_);
    if (port_.calm(dt, tick_)) port_.watch_springs(gains_.stiffness, 0);

    tick_.depth = proxy.depth;
    tick_.worst_depth = std::max(tick_.worst_depth, tick_.depth);
    if (tick_.depth > tick_.max_depth) ++tick_.violations;
    tick_.tool = {proxy.position, hand.rotation};
    body_.drive_to(tick_.tool);
}

const char* ProxyTool::notice() const noexcept {
    const char* const stop = port_.stop_notice();
    if (*stop) return stop;
    ShownProxy shown;
    source_->fill(shown);
    if (shown.is_stale) return "The bodies' loop sends nothing: no force until it goes on.";
    if (shown.is_squeezed)
        return "There is no room for the proxy: it stays where it was, bodies feel nothing of it.";
    if (port_.gain_scale() < 1)
        return "The force oscillated: the stiffness was lowered and comes back slowly while it "
               "stays calm, up to what the device is made for.";
    return port_.help_notice();
}

void ProxyTool::reset() noexcept {
    port_.reset();
    source_->reset();
    tick_ = {};
    tick_.tool = tick_.manipulandum = body_.motion().pose;
    tick_.max_depth = gains_.max_depth;
    has_begun_ = false;
    port_.watch_springs(gains_.stiffness, 0);
}

}  // namespace pliant
