#include "long_call.h"

#include "pliant/core/json_value.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace pliant::python {
namespace {

/// What a Progress of style Json writes, line by line.
class ProgressLines {
public:
    ProgressLines() {
        const cookie_io_functions_t functions{
            .read = nullptr, .write = write, .seek = nullptr, .close = nullptr};
        file_ = fopencookie(this, "w", functions);
    }
    ~ProgressLines() {
        if (file_ != nullptr) std::fclose(file_);
    }
    ProgressLines(const ProgressLines&) = delete;
    ProgressLines& operator=(const ProgressLines&) = delete;

    [[nodiscard]] std::FILE* file() const noexcept { return file_; }
    /// Whole lines since the last call.
    [[nodiscard]] std::deque<std::string> take() {
        const std::lock_guard lock(mutex_);
        std::deque<std::string> lines;
        for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
            lines.push_back(text_.substr(0, end));
            text_.erase(0, end + 1);
        }
        return lines;
    }

private:
    static ssize_t write(void* self, const char* data, std::size_t size) {
        auto& lines = *static_cast<ProgressLines*>(self);
        const std::lock_guard lock(lines.mutex_);
        lines.text_.append(data, size);
        return static_cast<ssize_t>(size);
    }

    std::FILE* file_ = nullptr;
    std::mutex mutex_;
    std::string text_;
};

/// False: it wants no more.
bool tell(const ProgressArgument& progress, const std::string& line) {
    const JsonValue json = parse_json(line, "progress");
    const JsonValue* const left = json.find("remaining_s");
    const py::object seconds = left != nullptr && left->is(JsonValue::Type::Number)
                                   ? py::object(py::float_(left->number()))
                                   : py::none();
    const py::object answer =
        progress(json.find("stage")->string(), json.find("fraction")->number(), seconds);
    return !answer.is(py::bool_(false));
}

/// True: a bar of the package; False: none.
ProgressArgument watcher_of(const ProgressArgument& progress) {
    if (progress.is(py::bool_(false))) return ProgressArgument(py::none());
    if (progress.is(py::bool_(true)))
        return ProgressArgument(py::module_::import("pliant").attr("show_progress")());
    if (!progress.is_none() && PyCallable_Check(progress.ptr()) == 0)
        refuse("progress", progress,
               "None, True for a bar, or a function of (stage, fraction, seconds)");
    return progress;
}

}  // namespace

void long_call(const ProgressArgument& asked, const std::function<void(Progress&)>& work) {
    constexpr auto kLook = std::chrono::milliseconds(50);
    const ProgressArgument progress = watcher_of(asked);
    const bool is_watched = !progress.is_none();

    ProgressLines lines;
    Progress shown(is_watched ? ProgressStyle::Json : ProgressStyle::Silent, lines.file());
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            work(shown);
            shown.finish();
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        is_done = true;
        changed.notify_one();
    });

    // why it should stop, if Python said so
    std::exception_ptr reason;
    for (bool is_last = false; !is_last;) {
        {
            const py::gil_scoped_release release;
            std::unique_lock lock(mutex);
            is_last = changed.wait_for(lock, kLook, [&] { return is_done; });
        }
        if (reason) continue;
        try {
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
            for (const std::string& line : lines.take())
                if (!tell(progress, line)) throw Cancelled();
        } catch (...) {
            reason = std::current_exception();
            shown.cancel();
        }
    }
    worker.join();
    if (reason) std::rethrow_exception(reason);
    if (failure) std::rethrow_exception(failure);
}

void run_many(std::int64_t count, const std::function<void(std::int64_t i)>& work) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kLook = std::chrono::milliseconds(50);
    for (std::int64_t i = 0; i < count;) {
        {
            const py::gil_scoped_release release;
            const auto end = Clock::now() + kLook;
            do work(i++);
            while (i < count && (i % 16 != 0 || Clock::now() < end));
        }
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
}

}  // namespace pliant::python
