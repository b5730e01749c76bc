#include "pliant/core/atomic_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "pliant/core/error.h"

namespace pliant {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 18;
constexpr int kMaxLinks = 40;  // as Linux follows

std::string system_message(int error_number) { return std::strerror(error_number); }

constexpr std::string_view kTemporaryBegin = ".pliant-";
/// Younger temporaries may be between being made and being locked.
constexpr auto kLeftBehind = std::chrono::minutes(10);

/// How names of temporaries of this computer end: others may write into the same folder, and locks
/// do not reach from one to another on every file system.
const std::string& temporary_end() {
    static const std::string end = [] {
        std::array<char, HOST_NAME_MAX + 1> host{};
        if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
        std::replace(host.begin(), host.end(), '/', '_');
        return "@" + std::string(host.data()) + ".tmp";
    }();
    return end;
}

/// A name beside `target` that nobody else uses, short whatever the target is called.
fs::path temporary_beside(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    return target.parent_path() / (std::string(kTemporaryBegin) + std::to_string(getpid()) + "-" +
                                   std::to_string(counter.fetch_add(1)) + temporary_end());
}

/// Closes the descriptor at the end of the scope.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) close(number);
    }
};

/// Removes a temporary of this computer that its writer left behind. Writers lock theirs, and locks
/// end with their process however that ends: one that can be locked has no writer.
void remove_if_left_behind(const fs::path& temporary) {
    const Descriptor file{open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
    struct stat status {};
    if (file.number < 0 || fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid())
        return;
    const auto age = std::chrono::system_clock::now() -
                     std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
    if (age > kLeftBehind && flock(file.number, LOCK_EX | LOCK_NB) == 0) unlink(temporary.c_str());
}

/// Once for each folder and process: what was killed there before.
void clean_up(const fs::path& folder) {
    static std::mutex mutex;
    static std::set<fs::path> cleaned;
    {
        const std::lock_guard lock(mutex);
        if (!cleaned.insert(folder).second) return;
    }
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
         !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(kTemporaryBegin) && name.ends_with(temporary_end()))
            remove_if_left_behind(entry->path());
    }
}

}  // namespace

fs::path followed_links(const fs::path& path) {
    std::error_code ignored;
    fs::path target = path;
    for (int hop = 0; fs::is_symlink(fs::symlink_status(target, ignored)); ++hop) {
        std::error_code unreadable;
        const fs::path next = fs::read_symlink(target, unreadable);
        if (unreadable || hop == kMaxLinks)
            throw InputError(path.string(), "cannot be written: its links lead nowhere");
        target = target.parent_path() / next;
    }
    return target;
}

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
    std::error_code ignored;
    const fs::file_status status = fs::status(target_, ignored);
    if (fs::is_directory(status))
        throw InputError(target_.string(), "cannot be written: it is a directory; name a file");

    // devices and pipes (/dev/stdout) must not be replaced by a file: written in place
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        // a link stays, what it points to is replaced or made
        target_ = followed_links(target_);
        do {
            temporary_ = temporary_beside(target_);
            descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        } while (descriptor_ < 0 && errno == EEXIST);
        if (descriptor_ >= 0) {
            // as remove_if_left_behind() wants it; where nothing can be locked, nothing is removed
            flock(descriptor_, LOCK_EX | LOCK_NB);
            clean_up(target_.parent_path());
        }
    }
    if (descriptor_ < 0) {
        const int error_number = errno;
        if (error_number == ENOENT)
            throw InputError(target_.string(), "cannot be written: the directory '" +
                                                   target_.parent_path().string() +
                                                   "' does not exist; create it first");
        throw InputError(target_.string(), "cannot be written: " + system_message(error_number));
    }
    buffer_.reserve(kBufferSize);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
    assert(descriptor_ >= 0);
    if (buffer_.size() + size > kBufferSize) flush();
    if (size >= kBufferSize)
        write_through(data, size);
    else
        buffer_.append(static_cast<const char*>(data), size);
    size_ += size;
}

void AtomicFile::flush() {
    write_through(buffer_.data(), buffer_.size());
    buffer_.clear();
}

void AtomicFile::write_through(const void* data, std::size_t size) {
    const char* rest = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t written = ::write(descriptor_, rest, size);
        if (written < 0) {
            if (errno == EINTR) continue;
            throw InputError(target_.string(),
                             "writing failed: " + system_message(errno) +
                                 "; make room or choose another place (nothing was replaced)");
        }
        rest += written;
        size -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::commit() {
    assert(descriptor_ >= 0);
    flush();
    // on disk before the name changes, or a power cut could leave an empty file under the new name
    if (!temporary_.empty() &&
        (fsync(descriptor_) != 0 || rename(temporary_.c_str(), target_.c_str()) != 0))
        throw InputError(target_.string(), "cannot be written: " + system_message(errno));
    close(std::exchange(descriptor_, -1));
}

std::size_t write_file(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
    return file.size();
}

std::string read_file(const fs::path& path, std::size_t max_size) {
    // not blocking, or opening a named pipe would wait for its writer
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.number < 0 || fstat(file.number, &status) != 0) {
        if (errno == ENOENT) throw InputError(path.string(), "the file does not exist");
        throw InputError(path.string(), "cannot be read: " + system_message(errno));
    }
    if (S_ISDIR(status.st_mode))
        throw InputError(path.string(), "cannot be read: it is a directory; name a file");
    if (!S_ISREG(status.st_mode))
        throw InputError(path.string(), "cannot be read: it is not a regular file");
    const auto refuse_large = [&](std::size_t size) {
        if (size > max_size)
            throw InputError(path.string(), "the file is larger than the " +
                                                std::to_string(max_size) + " bytes allowed here");
    };
    refuse_large(static_cast<std::size_t>(status.st_size));

    // one byte of room more than the size, so that the end is met without growing; files of /proc
    // have no size and grow
    std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
    std::size_t size = 0;
    for (;;) {
        if (size == text.size()) text.resize(2 * size + 4096);
        const ssize_t got = read(file.number, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw InputError(path.string(), "cannot be read: " + system_message(errno));
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
        refuse_large(size);
    }
    text.resize(size);
    return text;
}

}  // namespace pliant
