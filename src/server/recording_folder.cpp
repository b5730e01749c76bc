#include "server/recording_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "server/page_reply.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".pliantrec";

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

std::string time_text(std::time_t utc, const char* format) {
    std::tm parts{};
    gmtime_r(&utc, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, format, &parts)};
}

/// Other characters become '-'.
std::string plain_name(std::string_view text, const char* otherwise) {
    constexpr std::size_t kLongest = 100;
    std::string name(text.substr(0, kLongest));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !is_plain(c); }, '-');
    return name.empty() ? otherwise : name;
}

std::string file_time(std::time_t utc) { return time_text(utc, "-%Y-%m-%dT%H-%M-%S"); }

/// With a number where the name is taken.
fs::path free_path(const fs::path& folder, const fs::path& name, const char* purpose) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error))
        throw InputError("", "the folder " + folder.string() + " for " + purpose +
                                 " cannot be made; choose another one");
    fs::path free = folder / name;
    for (int copy = 2; fs::exists(fs::symlink_status(free, error)); ++copy)
        free.replace_filename(name.stem().string() + "-" + std::to_string(copy) +
                              name.extension().string());
    return free;
}

struct OpenFile {
    explicit OpenFile(int opened) : descriptor(opened) {}
    ~OpenFile() {
        if (descriptor >= 0) ::close(descriptor);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    const int descriptor;
};

/// As many bytes as there are.
std::size_t read_at(int descriptor, std::uint64_t offset, std::span<char> piece) {
    std::size_t found = 0;
    while (found < piece.size()) {
        const ssize_t count = ::pread(descriptor, piece.data() + found, piece.size() - found,
                                      static_cast<off_t>(offset + found));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        found += static_cast<std::size_t>(count);
    }
    return found;
}

/// A plain file, not a link to somewhere else.
bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(fs::symlink_status(path, error));
}

}  // namespace

bool is_recording_name(std::string_view name) noexcept {
    return name.size() > kExtension.size() && name.size() <= 200 && name.ends_with(kExtension) &&
           name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_plain(c) || c == '.'; });
}

std::string recording_name(std::string_view scene, std::time_t utc) {
    return plain_name(scene, "scene") + file_time(utc) + std::string(kExtension);
}

std::string iso_time(std::time_t utc) { return time_text(utc, "%Y-%m-%dT%H:%M:%SZ"); }

fs::path new_recording_path(const fs::path& folder, std::string_view scene, std::time_t utc) {
    return free_path(folder, recording_name(scene, utc), "recordings");
}

fs::path new_model_path(const fs::path& folder, std::string_view body, std::time_t utc) {
    return free_path(folder, plain_name(body, "body") + "-sketch" + file_time(utc) + ".pliant",
                     "sketched models");
}

HttpReply list_recordings(const fs::path& folder) {
    std::vector<std::pair<std::string, std::uintmax_t>> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!is_recording_name(name) || !is_file(entry->path())) continue;
        std::error_code gone;
        const std::uintmax_t bytes = fs::file_size(entry->path(), gone);
        if (!gone) files.emplace_back(name, bytes);
    }
    std::sort(files.begin(), files.end());
    JsonWriter json;
    json.begin_array();
    for (const auto& [name, bytes] : files)
        json.begin_object()
            .member("name", name)
            .member("bytes", static_cast<std::uint64_t>(bytes))
            .end_object();
    json.end_array();
    return {.status = 200, .content_type = "application/json", .body = shared_text(json.text())};
}

HttpReply read_recording(const fs::path& folder, std::string_view name) {
    if (!is_recording_name(name)) return not_found();
    const fs::path path = folder / fs::path(name);
    // neither a link to somewhere else nor a pipe that waits for a writer
    const auto file = std::make_shared<const OpenFile>(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (file->descriptor < 0 || ::fstat(file->descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return not_found();
    const auto read = [file](std::uint64_t offset, std::span<char> piece) {
        return read_at(file->descriptor, offset, piece);
    };
    return {.status = 200,
            .content_type = "application/octet-stream",
            .body = nullptr,
            .streamed = StreamedBody{static_cast<std::uint64_t>(info.st_size), read}};
}

}  // namespace pliant
