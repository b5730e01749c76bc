#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace pliant {

/// Thrown out of a long computation after Ctrl-C or `Progress::cancel()`. Nothing is half-written.
class Cancelled : public std::runtime_error {
public:
    Cancelled() : std::runtime_error("interrupted; no file is half-written") {}
};

enum class ProgressStyle {
    Silent,
    Auto,   ///< a bar on a terminal, plain lines otherwise
    Bar,    ///< one line redrawn in place, with percentage and time left
    Lines,  ///< a line at the end of each stage and at most one every two seconds
    Json,  ///< one object per line: {"stage": …, "fraction": …, "elapsed_s": …, "remaining_s": …}
};

/// Where a long computation is, how long it will still take, and whether it should stop.
/// `advance`, `cancel` and the questions may be called from any thread; `stage` and `finish` from
/// the one that owns the work.
class Progress {
public:
    explicit Progress(ProgressStyle style = ProgressStyle::Silent, std::FILE* out = stderr);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Starts a named stage of `total` work units. Throws Cancelled if cancelled.
    void stage(const std::string& name, std::size_t total = 1);
    /// Adds finished units; redraws at most ten times a second. Throws Cancelled if cancelled.
    void advance(std::size_t units = 1);
    /// What is shown behind the name of the stage until the next one, as "residual 2e-4". From any
    /// thread.
    void note(const std::string& text);
    /// Ends the last stage and the display.
    void finish();

    void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_cancelled() const noexcept;
    [[nodiscard]] double fraction() const noexcept;  ///< of the current stage, 0 … 1
    /// Seconds left in the current stage, extrapolated from its rate so far; negative while
    /// unknown.
    [[nodiscard]] double remaining_seconds() const noexcept;

    /// A shared silent instance, the default argument of builders. Ctrl-C reaches it too.
    [[nodiscard]] static Progress& none();

private:
    [[nodiscard]] double elapsed_seconds() const noexcept;
    void draw(bool stage_ended);
    void end_stage();
    struct Display;
    std::unique_ptr<Display> display_;  // none when silent
    std::atomic<std::size_t> done_{0}, total_{1};
    std::atomic<std::int64_t> stage_start_ns_{0};
    std::atomic<bool> cancelled_{false};
};

/// While alive, Ctrl-C (SIGINT), SIGTERM and the SIGHUP of a terminal that is closed cancel every
/// Progress instead of ending the process; a second Ctrl-C or SIGTERM ends it at once.
class CancelOnInterrupt {
public:
    CancelOnInterrupt();
    ~CancelOnInterrupt();
    CancelOnInterrupt(const CancelOnInterrupt&) = delete;
    CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;
};

}  // namespace pliant
