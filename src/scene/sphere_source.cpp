#include "scene/sphere_source.h"

#include <algorithm>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Bodies of the same loop.
class NearProxy final : public ProxySource {
public:
    explicit NearProxy(std::shared_ptr<TouchingSphere> sphere) : sphere_(std::move(sphere)) {}
    Answer follow(const Pose& goal, const ProxyTuning& tuning, double) noexcept override {
        const ProxyState& state = sphere_->tick(goal.position, tuning);
        std::array<ConstraintPlane, 3> planes;
        Answer answer;
        answer.pose = {state.position, goal.rotation};
        answer.wrench.force = state.force;
        answer.shown = sphere_->shown();
        answer.work = sphere_->work();
        answer.num_contacts = state.active_planes(planes);
        answer.depth = sphere_->depth();
        answer.status = sphere_->status();
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
        if (has_news_) {
            link_.publish(planes_.planes);
            to_come_ += planes_.work - last_work_;
            last_work_ = planes_.work;
            progress_ = 0;
        }
        has_news_ = false;
        port_.set_stiffness(tuning.stiffness);
        const PlanePort::Output& out = port_.tick(goal.position, now);
        letter_ = {round(), letter_.tick + 1, goal, tuning};
        exchange_->hand.post(letter_);
        const bool is_held = !out.force.isZero();
        Answer answer;
        answer.pose = {out.position, goal.rotation};
        answer.wrench.force = out.force;
        answer.shown =
            shown_springs(one_spring(out.force, out.position, goal.position), tuning.max_force, 0);
        answer.work = take_work(port_.progress(now));
        if (is_held) answer.num_contacts = std::max(planes_.shown.num_planes, 1);
        answer.status = out.is_goal_ignored || planes_.shown.is_ignored ? StepStatus::InputIgnored
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
        to_come_ = last_work_ = 0;
        progress_ = 1;
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
    /// Of the work that was told, what planes that got so far have done since the last tick.
    [[nodiscard]] double take_work(double progress) noexcept {
        const double left = 1 - progress_;
        const double work = progress < 1 ? (progress - progress_) / left * to_come_ : to_come_;
        to_come_ -= work;
        progress_ = progress;
        return work;
    }

    std::shared_ptr<ProxyExchange> exchange_;
    double radius_;
    Vector3d start_;
    PlaneLink link_;
    PlanePort port_;
    ProxyPlanesLetter planes_;
    ProxyHandLetter letter_;
    bool has_news_ = false;
    double to_come_ = 0, last_work_ = 0;  // of the bodies [J]
    double progress_ = 1;                 // of the planes to where they were told to be
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
