#include "scene/sphere_source.h"

#include <algorithm>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// A point, and the spring between `end` and the hand.
ProxySource::Answer pulled(const Pose& hand, const Vector3d& position, const Vector3d& end,
                           const Vector3d& force) {
    ProxySource::Answer answer;
    answer.pose = {position, hand.rotation};
    answer.wrench.force = force;
    answer.energy = std::max(0.5 * force.dot(end - hand.position), 0.0);
    return answer;
}

/// Bodies of the same loop.
class NearProxy final : public ProxySource {
public:
    explicit NearProxy(std::shared_ptr<TouchingSphere> sphere) : sphere_(std::move(sphere)) {}
    Answer follow(const Pose& goal, const ProxyTuning& tuning, double) noexcept override {
        const ProxyState& state = sphere_->tick(goal.position, tuning);
        std::array<ConstraintPlane, 3> planes;
        Answer answer = pulled(goal, state.position, state.spring_end(), state.force);
        answer.num_contacts = state.active_planes(planes);
        answer.depth = sphere_->depth();
        answer.status = state.status;
        return answer;
    }
    void put(const Pose& pose) noexcept override { sphere_->put(pose.position); }
    void reset() noexcept override { sphere_->reset(); }
    void fill(ShownProxy& shown) const noexcept override { sphere_->fill(shown); }

private:
    std::shared_ptr<TouchingSphere> sphere_;
};

/// Bodies of another loop: the planes that it told last.
class FarProxy final : public ProxySource, public BoxReader<ProxyPlanesLetter> {
public:
    FarProxy(std::shared_ptr<ProxyExchange> exchange, const PlanePortOptions& planes, double radius,
             const Vector3d& start)
        : BoxReader(std::shared_ptr<LetterBox<ProxyPlanesLetter>>(exchange, &exchange->planes)),
          exchange_(std::move(exchange)),
          radius_(radius),
          start_(start),
          port_(link_, planes) {
        reset();
    }
    Answer follow(const Pose& goal, const ProxyTuning& tuning, double now) noexcept override {
        if (has_news_) link_.publish(planes_.planes);
        has_news_ = false;
        port_.set_stiffness(tuning.stiffness);
        const PlanePort::Output& out = port_.tick(goal.position, now);
        letter_ = {round(), letter_.tick + 1, goal, tuning};
        exchange_->hand.post(letter_);
        const bool is_held = !out.force.isZero();
        Answer answer = pulled(goal, out.position, out.position, out.force);
        if (is_held) answer.num_contacts = std::max(planes_.shown.num_planes, 1);
        answer.status = out.is_goal_ignored ? StepStatus::InputIgnored
                        : planes_.shown.is_squeezed || !planes_.shown.has_arrived
                            ? StepStatus::NotConverged
                            : StepStatus::Ok;
        return answer;
    }
    void put(const Pose&) noexcept override {}
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

}  // namespace

std::shared_ptr<ProxySource> make_near_source(std::shared_ptr<TouchingSphere> sphere) {
    return std::make_shared<NearProxy>(std::move(sphere));
}

std::shared_ptr<ProxySource> make_far_source(std::shared_ptr<ProxyExchange> exchange,
                                             const PlanePortOptions& planes, double radius,
                                             const Vector3d& start) {
    return std::make_shared<FarProxy>(std::move(exchange), planes, radius, start);
}

}  // namespace pliant
