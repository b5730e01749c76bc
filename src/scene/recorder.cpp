#include "scene/recorder.h"

#include "core/real_time.h"
#include "pliant/core/error.h"

#include <chrono>

namespace pliant {
namespace {

constexpr auto kDrainInterval = std::chrono::milliseconds(20);
// lost at most when the program is killed; after it a full disk is known
constexpr auto kFlushInterval = std::chrono::milliseconds(500);

}  // namespace

Recorder::Recorder(const std::filesystem::path& path, const RecordingHeader& header, int num_loops,
                   std::size_t queue_bytes, std::function<void()> on_failure)
    : writer_(std::make_unique<RecordingWriter>(path, header)),
      on_failure_(std::move(on_failure)),
      bytes_(writer_->bytes_written()) {
    for (int l = 0; l < num_loops; ++l)
        queues_.push_back(std::make_unique<RecordQueue>(queue_bytes));
    thread_ = std::thread([this] { run(); });
    set_thread_name(thread_, "recorder");
}

Recorder::~Recorder() { finish(); }

std::uint64_t Recorder::lost() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& queue : queues_) sum += queue->lost();
    return sum;
}

std::string Recorder::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void Recorder::finish() {
    {
        const std::lock_guard lock(mutex_);
        is_finishing_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Recorder::run() {
    try {
        auto next_flush = std::chrono::steady_clock::now() + kFlushInterval;
        for (bool is_last = false; !is_last;) {
            {
                std::unique_lock lock(mutex_);
                wake_.wait_for(lock, kDrainInterval, [&] { return is_finishing_; });
                is_last = is_finishing_;
            }
            drain();
            if (std::chrono::steady_clock::now() < next_flush) continue;
            writer_->flush();
            next_flush += kFlushInterval;
            bytes_.store(writer_->bytes_written(), std::memory_order_relaxed);
        }
        writer_->finish();
        bytes_.store(writer_->bytes_written(), std::memory_order_relaxed);
    } catch (const std::exception& error) {  // also of a buffer that finds no memory
        fail(error.what());
    }
}

void Recorder::drain() {
    for (std::size_t l = 0; l < queues_.size(); ++l)
        writer_->drain(static_cast<int>(l), *queues_[l]);
    bytes_.store(writer_->bytes_written(), std::memory_order_relaxed);
}

void Recorder::fail(const std::string& problem) {
    {
        const std::lock_guard lock(mutex_);
        problem_ = problem;
    }
    writer_.reset();
    on_failure_();
}

}  // namespace pliant
