#include "server/recording_folder.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "server/page_reply.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".pliantrec";
// the whole file is in memory while it is sent
constexpr std::uintmax_t kLargestDownload = std::uintmax_t{256} << 20;

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
    std::error_code error;
    if (!is_file(path)) return not_found();
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error) return not_found();
    if (bytes > kLargestDownload)
        return {.status = 413,
                .body = shared_text("This recording is too large to be sent; copy the file " +
                                    path.string() + ".\n")};
    std::string content(static_cast<std::size_t>(bytes), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return {.status = 200,
            .content_type = "application/octet-stream",
            .body = shared_text(std::move(content))};
}

}  // namespace pliant
