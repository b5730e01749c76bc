#include "server/scene_opener.h"

namespace pliant {

SceneOpener::~SceneOpener() {
    if (job_ == nullptr) return;
    job_->progress.cancel();
    job_->thread.join();
}

void SceneOpener::start(const std::string& name) {
    if (job_ == nullptr) {
        begin(name);
        return;
    }
    job_->progress.cancel();
    next_ = name;
}

void SceneOpener::begin(const std::string& name) {
    job_ = std::make_unique<Job>();
    job_->outcome.name = name;
    job_->thread = std::thread([this, job = job_.get()] {
        try {
            job->outcome.world = open_(job->outcome.name, job->progress);
            if (job->outcome.world == nullptr) job->outcome.problem = "there is no such scene";
        } catch (const std::exception& error) {
            job->outcome.problem = error.what();
        } catch (...) {
            job->outcome.problem = "unknown error";
        }
        job->is_done.store(true, std::memory_order_release);
    });
}

std::optional<SceneOpener::Outcome> SceneOpener::poll() {
    if (job_ == nullptr || !job_->is_done.load(std::memory_order_acquire)) return {};
    job_->thread.join();
    Outcome outcome = std::move(job_->outcome);
    job_.reset();
    if (!next_) return outcome;
    // whatever became of the first, another one was asked for since
    const std::string name = *std::move(next_);
    next_.reset();
    begin(name);
    return {};
}

const std::string& SceneOpener::name() const noexcept {
    return next_ ? *next_ : job_->outcome.name;
}
double SceneOpener::fraction() const noexcept { return next_ ? 0 : job_->progress.fraction(); }
double SceneOpener::remaining_seconds() const noexcept {
    return next_ ? -1 : job_->progress.remaining_seconds();
}

}  // namespace pliant
