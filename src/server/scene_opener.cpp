#include "server/scene_opener.h"

#include <utility>

namespace pliant {

SceneOpener::~SceneOpener() {
    if (job_ == nullptr) return;
    job_->progress.cancel();
    job_->thread.join();
}

void SceneOpener::start(const std::string& name, Make make) {
    is_unwanted_ = false;
    if (job_ == nullptr) {
        begin({name, std::move(make)});
        return;
    }
    job_->progress.cancel();
    next_ = Wish{name, std::move(make)};
}

void SceneOpener::cancel() noexcept {
    if (job_ == nullptr) return;
    job_->progress.cancel();
    next_.reset();
    is_unwanted_ = true;
}

void SceneOpener::begin(Wish wish) {
    job_ = std::make_unique<Job>();
    job_->outcome.name = std::move(wish.name);
    job_->thread = std::thread([job = job_.get(), make = std::move(wish.make)] {
        Outcome& outcome = job->outcome;
        try {
            outcome.world = make(job->progress, outcome.notice);
            if (outcome.world == nullptr) outcome.problem = "there is no such scene";
        } catch (const std::exception& error) {
            outcome.problem = error.what();
        } catch (...) {
            outcome.problem = "unknown error";
        }
        job->is_done.store(true, std::memory_order_release);
    });
}

std::optional<SceneOpener::Outcome> SceneOpener::poll() {
    if (job_ == nullptr || !job_->is_done.load(std::memory_order_acquire)) return {};
    job_->thread.join();
    Outcome outcome = std::move(job_->outcome);
    job_.reset();
    if (std::exchange(is_unwanted_, false)) return {};
    if (!next_) return outcome;
    // whatever became of the first, another one was asked for since
    Wish wish = *std::move(next_);
    next_.reset();
    begin(std::move(wish));
    return {};
}

const std::string& SceneOpener::name() const noexcept {
    return next_ ? next_->name : job_->outcome.name;
}
double SceneOpener::fraction() const noexcept { return next_ ? 0 : job_->progress.fraction(); }
double SceneOpener::remaining_seconds() const noexcept {
    return next_ ? -1 : job_->progress.remaining_seconds();
}

}  // namespace pliant
