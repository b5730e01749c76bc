#include "reduction/build_cache.h"

#include "pliant/core/error.h"
#include "pliant/core/hash.h"

#include <algorithm>
#include <vector>

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "stage-";

struct CacheFile {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes = 0;
};

/// Files that this class has written, least recently used first. Others in the folder are not ours.
std::vector<CacheFile> cache_files(const fs::path& folder) {
    std::vector<CacheFile> files;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kPrefix) || !name.ends_with(".pliant")) continue;
        if (!entry.is_regular_file(ignored)) continue;
        files.push_back({entry.path(), entry.last_write_time(ignored),
                         static_cast<std::int64_t>(entry.file_size(ignored))});
    }
    std::sort(files.begin(), files.end(), [](const CacheFile& a, const CacheFile& b) {
        return a.used != b.used ? a.used < b.used : a.path < b.path;
    });
    return files;
}

}  // namespace

CacheKey& CacheKey::add(const std::string& text) {
    return add(std::span<const char>(text.data(), text.size()));
}

CacheKey& CacheKey::add_bytes(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    return *this;
}

std::uint64_t CacheKey::hash() const noexcept { return hash_bytes(bytes_.data(), bytes_.size()); }

fs::path BuildCache::path(const std::string& stage, std::uint64_t key) const {
    return folder_ / (kPrefix + stage + "-" + hash_text(key) + ".pliant");
}

std::optional<Archive> BuildCache::find(const std::string& stage, std::uint64_t key) const {
    std::error_code ignored;
    if (folder_.empty() || !fs::exists(path(stage, key), ignored)) return std::nullopt;
    try {
        Archive archive(path(stage, key));
        archive.verify();
        fs::last_write_time(path(stage, key), fs::file_time_type::clock::now(), ignored);
        return archive;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

void BuildCache::make_way(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) fs::remove(path, ignored);
}

void BuildCache::prune() const {
    std::vector<CacheFile> files = cache_files(folder_);
    std::int64_t total = 0;
    for (const CacheFile& file : files) total += file.bytes;
    // the newest stays, whatever its size: it was written just now
    for (std::size_t i = 0; i + 1 < files.size() && total > max_bytes_; ++i) {
        std::error_code ignored;
        fs::remove(files[i].path, ignored);
        total -= files[i].bytes;
    }
}

int BuildCache::clear(const fs::path& folder) {
    int count = 0;
    for (const CacheFile& file : cache_files(folder)) {
        std::error_code failure;
        if (fs::remove(file.path, failure)) ++count;
    }
    return count;
}

}  // namespace pliant
