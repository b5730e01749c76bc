#include "pliant/core/progress.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <string_view>

#include "core/printable.h"
#include "pliant/core/json_writer.h"

namespace pliant {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;  // [ns]

// set by the signal handler, seen by every Progress
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "needed in a signal handler");

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// A few milliseconds coarse, but cheap enough for every call of `advance`.
std::int64_t coarse_now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

/// "0:04", "12:30", "1:02:03".
std::string clock_text(double seconds) {
    const auto total = static_cast<long>(std::ceil(std::min(seconds, 3.6e8)));
    const auto two_digits = [](long n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    const long hours = total / 3600, minutes = total / 60 % 60;
    return (hours > 0 ? std::to_string(hours) + ":" + two_digits(minutes)
                      : std::to_string(minutes)) +
           ":" + two_digits(total % 60);
}

std::string duration_text(double seconds) {
    if (seconds >= 60.0) return clock_text(seconds);
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

int num_characters(std::string_view utf8) {
    return static_cast<int>(std::count_if(utf8.begin(), utf8.end(), starts_character));
}

std::string shortened(const std::string& utf8, int max_characters) {
    if (num_characters(utf8) <= max_characters) return utf8;
    int kept = 0;
    const auto cut = std::find_if(utf8.begin(), utf8.end(), [&](char byte) {
        return starts_character(byte) && kept++ == max_characters - 1;
    });
    return std::string(utf8.begin(), cut) + "…";
}

int terminal_width(std::FILE* out) {
    winsize size{};
    const bool is_known = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

/// `mesh: filling  ████████░░░░  63 %  0:04 left`, narrower than `width`.
std::string bar_text(const std::string& stage, double fraction, const std::string& time,
                     int width) {
    constexpr int kWidestBar = 30, kNarrowestBar = 4;
    char percent[16];
    std::snprintf(percent, sizeof percent, "  %3d %%", static_cast<int>(100.0 * fraction));
    const std::string tail = percent + (time.empty() ? "" : "  " + time);
    const int room = width - 1 - num_characters(tail);
    const std::string name = shortened(stage, std::max(room, kNarrowestBar));
    const int cells = std::min(room - num_characters(name) - 2, kWidestBar);
    std::string bar;
    if (cells >= kNarrowestBar) {
        bar = "  ";
        const int filled = static_cast<int>(fraction * cells);
        for (int i = 0; i < cells; ++i) bar += i < filled ? "█" : "░";
    }
    return name + bar + tail;
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

}  // namespace

/// What is on the screen; everything but `next_draw_ns` is guarded by the mutex.
struct Progress::Display {
    std::FILE* out = nullptr;
    ProgressStyle style = ProgressStyle::Lines;
    std::mutex mutex;
    std::string stage, note;
    bool in_stage = false;
    std::atomic<std::int64_t> next_draw_ns{0};

    [[nodiscard]] std::int64_t interval_ns() const {
        return style == ProgressStyle::Lines ? 2 * kSecond : kSecond / 10;
    }
};

Progress::Progress(ProgressStyle style, std::FILE* out) : stage_start_ns_(now_ns()) {
    if (style == ProgressStyle::Silent) return;
    if (style == ProgressStyle::Auto)
        style = isatty(fileno(out)) ? ProgressStyle::Bar : ProgressStyle::Lines;
    display_ = std::make_unique<Display>();
    display_->out = out;
    display_->style = style;
}

Progress::~Progress() {
    // left in the middle of a stage by an exception: what is printed next gets a line of its own
    if (display_ && display_->in_stage && display_->style == ProgressStyle::Bar) {
        std::fputc('\n', display_->out);
        std::fflush(display_->out);
    }
}

void Progress::stage(const std::string& name, std::size_t total) {
    if (is_cancelled()) throw Cancelled();
    std::unique_lock<std::mutex> lock;
    if (display_) {
        lock = std::unique_lock(display_->mutex);
        end_stage();
    }
    done_.store(0, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
    stage_start_ns_.store(now_ns(), std::memory_order_relaxed);
    if (!display_) return;
    display_->stage = name;
    display_->note.clear();
    display_->in_stage = true;
    display_->next_draw_ns.store(coarse_now_ns() + display_->interval_ns(),
                                 std::memory_order_relaxed);
    if (display_->style != ProgressStyle::Lines) draw(false);
}

void Progress::advance(std::size_t units) {
    done_.fetch_add(units, std::memory_order_relaxed);
    if (is_cancelled()) throw Cancelled();
    if (!display_) return;
    const std::int64_t now = coarse_now_ns();
    if (now < display_->next_draw_ns.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(display_->mutex, std::try_to_lock);
    if (!lock || now < display_->next_draw_ns.load(std::memory_order_relaxed)) return;
    display_->next_draw_ns.store(now + display_->interval_ns(), std::memory_order_relaxed);
    if (display_->in_stage) draw(false);
}

void Progress::note(const std::string& text) {
    if (!display_) return;
    const std::lock_guard lock(display_->mutex);
    display_->note = text;
}

void Progress::finish() {
    if (!display_) return;
    const std::lock_guard lock(display_->mutex);
    end_stage();
}

void Progress::end_stage() {
    if (!display_->in_stage) return;
    draw(true);
    display_->in_stage = false;
}

void Progress::draw(bool stage_ended) {
    const double part = stage_ended ? 1.0 : fraction();
    const double left = stage_ended ? 0.0 : remaining_seconds();
    const std::string time = stage_ended ? duration_text(elapsed_seconds())
                             : left < 0  ? ""
                                         : clock_text(left) + " left";
    // names out of files may be in it
    const std::string name =
        printable(display_->stage + (display_->note.empty() ? "" : ", " + display_->note));
    std::string text;
    if (display_->style == ProgressStyle::Bar) {
        text = "\r" + bar_text(name, part, time, terminal_width(display_->out)) + "\x1b[K" +
               (stage_ended ? "\n" : "");
    } else if (display_->style == ProgressStyle::Lines) {
        const std::string percent = std::to_string(static_cast<int>(100.0 * part)) + " %  ";
        text = name + "  " + (stage_ended ? "" : percent) + time + "\n";
    } else {
        constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
        JsonWriter json;
        json.begin_object()
            .member("stage", display_->stage)
            .member("fraction", rounded(part, 1e-4))
            .member("elapsed_s", rounded(elapsed_seconds(), 1e-3))
            .member("remaining_s", left < 0 ? kUnknown : rounded(left, 1e-3));
        if (!display_->note.empty()) json.member("note", display_->note);
        json.end_object();
        text = json.text() + "\n";
    }
    std::fwrite(text.data(), 1, text.size(), display_->out);
    std::fflush(display_->out);
}

bool Progress::is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) ||
           interrupted.load(std::memory_order_relaxed);
}

double Progress::fraction() const noexcept {
    const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
    const auto total = static_cast<double>(total_.load(std::memory_order_relaxed));
    return done < total ? done / total : 1.0;
}

double Progress::elapsed_seconds() const noexcept {
    return 1e-9 * static_cast<double>(now_ns() - stage_start_ns_.load(std::memory_order_relaxed));
}

double Progress::remaining_seconds() const noexcept {
    const double part = fraction();
    return part > 0.0 ? elapsed_seconds() * (1.0 - part) / part : -1.0;
}

Progress& Progress::none() {
    static Progress silent;
    return silent;
}

namespace {

std::mutex interrupt_mutex;
int num_interrupt_scopes = 0;
constexpr std::array kInterrupts = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kInterrupts.size()> outer_actions{};

}  // namespace

CancelOnInterrupt::CancelOnInterrupt() {
    const std::lock_guard lock(interrupt_mutex);
    if (num_interrupt_scopes++ > 0) return;
    for (std::size_t i = 0; i < kInterrupts.size(); ++i) {
        const int signal = kInterrupts[i];
        sigaction(signal, nullptr, &outer_actions[i]);
        // a background job of a script is started with SIGINT ignored, and one of nohup with
        // SIGHUP: they must stay deaf to it
        if (outer_actions[i].sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        // the handler serves once: the second signal meets the default and ends the process; of a
        // terminal that is closed, kernel and shell both send one
        if (signal != SIGHUP) action.sa_flags |= static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}

CancelOnInterrupt::~CancelOnInterrupt() {
    const std::lock_guard lock(interrupt_mutex);
    if (--num_interrupt_scopes > 0) return;
    for (std::size_t i = 0; i < kInterrupts.size(); ++i)
        sigaction(kInterrupts[i], &outer_actions[i], nullptr);
    interrupted.store(false, std::memory_order_relaxed);
}

}  // namespace pliant
