#pragma once

#include "pliant/core/progress.h"
#include "pliant/scene/world.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace pliant {

/// Makes worlds on a thread of its own, one at a time: asking for another one cancels the first
/// and begins when that has stopped. Polled, so that nobody waits.
class SceneOpener {
public:
    /// Makes a world on the thread; may say in `notice` what is worth telling.
    using Make = std::function<std::unique_ptr<World>(Progress& progress, std::string& notice)>;
    struct Outcome {
        std::string name;
        std::unique_ptr<World> world;  ///< or null:
        std::string problem;           ///< why not
        std::string notice;            ///< beside the world
    };

    SceneOpener() = default;
    /// Cancels and waits.
    ~SceneOpener();
    SceneOpener(const SceneOpener&) = delete;
    SceneOpener& operator=(const SceneOpener&) = delete;

    void start(const std::string& name, Make make);
    /// Nobody wants it any more.
    void cancel() noexcept;
    /// The world that was asked for last, once it is ready or has failed.
    [[nodiscard]] std::optional<Outcome> poll();

    [[nodiscard]] bool is_busy() const noexcept { return job_ != nullptr; }
    [[nodiscard]] bool is_cancelled() const noexcept { return is_unwanted_; }
    // While busy.
    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] double fraction() const noexcept;
    [[nodiscard]] double remaining_seconds() const noexcept;  ///< negative: not known

private:
    struct Job {
        Progress progress;
        Outcome outcome;
        std::atomic<bool> is_done{false};
        std::thread thread;
    };
    struct Wish {
        std::string name;
        Make make;
    };
    void begin(Wish wish);
    std::unique_ptr<Job> job_;
    std::optional<Wish> next_;  // asked for while a job is being cancelled
    bool is_unwanted_ = false;  // the job, and nothing was asked for since
};

}  // namespace pliant
