#include "scene/spheres_source.h"

namespace pliant {
namespace {

/// Bodies of the same loop.
class NearSpheres final : public ProxySource {
public:
    explicit NearSpheres(std::shared_ptr<TouchingSpheres> spheres) : spheres_(std::move(spheres)) {}
    Answer follow(const Pose& goal, const ProxyTuning& tuning, double) noexcept override {
        const SphereToolState& state = spheres_->tick(goal, tuning);
        return {state.fit,          state.wrench,      spheres_->shown(), spheres_->work(),
                state.num_touching, spheres_->depth(), spheres_->status()};
    }
    void put(const Pose& pose) noexcept override { spheres_->put(pose); }
    void reset() noexcept override { spheres_->reset(); }
    void fill(ShownProxy& shown) const noexcept override { spheres_->fill(shown); }

private:
    std::shared_ptr<TouchingSpheres> spheres_;
};

/// Bodies of another loop: springs to where spheres were told to be.
class FarSpheres final : public ProxySource, public BoxReader<SpheresLetter> {
public:
    FarSpheres(std::shared_ptr<SpheresExchange> exchange, const TouchingSpheres& spheres,
               const SpherePortOptions& options)
        : BoxReader(std::shared_ptr<LetterBox<SpheresLetter>>(exchange, &exchange->spheres)),
          exchange_(std::move(exchange)),
          start_(spheres.start()),
          nothing_(SphereSnapshot::of_size(spheres.tool().num_spheres())),
          link_(spheres.tool().num_spheres()),
          port_(link_, spheres.tool(), options) {
        told_.spheres = nothing_;
        reset();
    }
    Answer follow(const Pose& goal, const ProxyTuning& tuning, double now) noexcept override {
        Answer answer;
        if (has_news_) {
            link_.publish(told_.spheres);
            answer.work = told_.work - last_work_;
            last_work_ = told_.work;
        }
        has_news_ = false;
        const SpherePort::Output& out = port_.tick(goal, now);
        letter_ = {round(), letter_.tick + 1, goal, tuning};
        exchange_->hand.post(letter_);
        // what nothing holds is in the hand
        answer.pose = out.num_touching > 0 ? told_.fit : goal;
        answer.wrench = out.wrench;
        answer.shown = shown_springs({out.wrench, out.energy, out.stretch, out.arm},
                                     tuning.max_force, tuning.max_torque);
        answer.num_contacts = out.num_touching;
        answer.status = out.is_hand_ignored || told_.shown.is_ignored ? StepStatus::InputIgnored
                        : told_.shown.is_squeezed || !told_.shown.has_arrived
                            ? StepStatus::NotConverged
                            : StepStatus::Ok;
        return answer;
    }
    void put(const Pose&) noexcept override {}
    void reset() noexcept override {
        port_.reset();
        link_.publish(nothing_);
        told_.round = told_.tick = 0;
        told_.work = last_work_ = 0;
        told_.spheres = nothing_;
        told_.fit = start_;
        told_.shown = {};
        letter_ = {};
        has_news_ = false;
    }
    void fill(ShownProxy& shown) const noexcept override {
        shown = told_.shown;
        shown.is_stale = port_.last().is_stale;
    }
    [[nodiscard]] LetterReader* letters() noexcept override { return this; }

private:
    void read(const SpheresLetter& letter) noexcept override {
        // the same letter twice is no news
        has_news_ |= letter.tick != told_.tick;
        told_ = letter;
    }

    std::shared_ptr<SpheresExchange> exchange_;
    Pose start_;
    SphereSnapshot nothing_;
    SphereLink link_;
    SpherePort port_;
    SpheresLetter told_;
    ProxyHandLetter letter_;
    bool has_news_ = false;
    double last_work_ = 0;  // of the bodies, as told [J]
};

}  // namespace

std::shared_ptr<ProxySource> make_near_source(std::shared_ptr<TouchingSpheres> spheres) {
    return std::make_shared<NearSpheres>(std::move(spheres));
}

std::shared_ptr<ProxySource> make_far_source(std::shared_ptr<SpheresExchange> exchange,
                                             const TouchingSpheres& spheres,
                                             const SpherePortOptions& options) {
    return std::make_shared<FarSpheres>(std::move(exchange), spheres, options);
}

LedSpheres::LedSpheres(std::shared_ptr<TouchingSpheres> spheres,
                       std::shared_ptr<SpheresExchange> exchange)
    : LedEnd(std::move(spheres), std::move(exchange)) {
    letter_.spheres = SphereSnapshot::of_size(touching().tool().num_spheres());
}

void LedSpheres::tell(const ProxyHandLetter& hand, double dt) noexcept {
    const SphereToolState& state = touching().tick(hand.goal, hand.tuning);
    letter_.round = round();
    letter_.tick += 1;
    letter_.spheres.take(touching().tool(), static_cast<double>(letter_.tick) * dt);
    letter_.spheres.sequence = letter_.tick;
    letter_.fit = state.fit;
    letter_.work += touching().work();
    touching().fill(letter_.shown);
    exchange().spheres.post(letter_);
}

}  // namespace pliant
