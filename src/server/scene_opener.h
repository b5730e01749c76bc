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
    using Open = std::function<std::unique_ptr<World>(const std::string& name, Progress& progress)>;
    struct Outcome {
        std::string name;
        std::unique_ptr<World> world;  ///< or null:
        std::string problem;           ///< why not
    };

    explicit SceneOpener(Open open) : open_(std::move(open)) {}
    /// Cancels and waits.
    ~SceneOpener();
    SceneOpener(const SceneOpener&) = delete;
    SceneOpener& operator=(const SceneOpener&) = delete;

    void start(const std::string& name);
    /// The world that was asked for last, once it is ready or has failed.
    [[nodiscard]] std::optional<Outcome> poll();

    [[nodiscard]] bool is_busy() const noexcept { return job_ != nullptr; }
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
    void begin(const std::string& name);
    Open open_;
    std::unique_ptr<Job> job_;
    std::optional<std::string> next_;  // asked for while a job is being cancelled
};

}  // namespace pliant
