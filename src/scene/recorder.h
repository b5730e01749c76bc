#pragma once

#include "pliant/scene/recording.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pliant {

/// A thread that writes what loops put into their queues to a file.
class Recorder {
public:
    /// `on_failure` is called once, on that thread, when the disk takes no more. Throws InputError
    /// when the file cannot be made.
    Recorder(const std::filesystem::path& path, const RecordingHeader& header, int num_loops,
             std::size_t queue_bytes, std::function<void()> on_failure);
    /// Finishes if it was not done, without throwing. Nobody may use the queues any more.
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    [[nodiscard]] RecordQueue& queue(int loop) noexcept {
        return *queues_[static_cast<std::size_t>(loop)];
    }
    /// Writes what is left, after the loops have let go. What went wrong is told by problem().
    void finish();

    // From any thread.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t lost() const noexcept;
    [[nodiscard]] std::string problem() const;

private:
    void run();
    void drain();
    void fail(const std::string& problem);

    std::unique_ptr<RecordingWriter> writer_;  ///< of the thread, once it runs
    std::vector<std::unique_ptr<RecordQueue>> queues_;
    std::function<void()> on_failure_;
    std::atomic<std::uint64_t> bytes_{0};
    mutable std::mutex mutex_;  ///< of what follows; loops never take it
    std::condition_variable wake_;
    bool is_finishing_ = false;
    std::string problem_;
    std::thread thread_;
};

}  // namespace pliant
