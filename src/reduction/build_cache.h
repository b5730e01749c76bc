#pragma once

#include "pliant/core/archive.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace pliant {

/// Collects everything that a result depends on.
class CacheKey {
public:
    CacheKey& add(const std::string& text);
    CacheKey& add(double number) { return add_bytes(&number, sizeof number); }
    CacheKey& add(std::uint64_t number) { return add_bytes(&number, sizeof number); }
    CacheKey& add(int number) { return add_bytes(&number, sizeof number); }
    template <class T>
    CacheKey& add(std::span<const T> values) {
        add(static_cast<std::uint64_t>(values.size()));
        return add_bytes(values.data(), values.size_bytes());
    }
    [[nodiscard]] std::uint64_t hash() const noexcept;

private:
    CacheKey& add_bytes(const void* data, std::size_t size);
    std::string bytes_;
};

/// Of whole reduced models, the last stage of their build.
inline constexpr const char* kReducedModelStage = "polynomials";

/// Results of finished stages as archives, named by stage and key. Files used least recently go
/// when all of them exceed a size. Nothing here fails: what cannot be read counts as missing, and
/// what cannot be written is told by problem().
class BuildCache {
public:
    /// No folder: keeps and finds nothing.
    BuildCache(std::filesystem::path folder, std::int64_t max_bytes)
        : folder_(std::move(folder)), max_bytes_(max_bytes) {}

    /// Only files that are whole, checksums included.
    [[nodiscard]] std::optional<Archive> find(const std::string& stage, std::uint64_t key) const;
    /// Calls `write` with the path of the file to be written.
    template <class Write>
    void save(const std::string& stage, std::uint64_t key, const Write& write) {
        if (folder_.empty()) return;
        try {
            std::filesystem::create_directories(folder_);
            make_way(path(stage, key));
            write(path(stage, key));
            prune();
        } catch (const std::runtime_error& error) {
            problem_ = error.what();
        }
    }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    /// Where the result is or would be.
    [[nodiscard]] std::filesystem::path path(const std::string& stage, std::uint64_t key) const;

    /// Removes all files of stages; returns their number.
    static int clear(const std::filesystem::path& folder);

private:
    /// Removes what is no file: a pipe there would be written to, and wait for its reader.
    static void make_way(const std::filesystem::path& path);
    void prune() const;

    std::filesystem::path folder_;
    std::int64_t max_bytes_;
    std::string problem_;
};

}  // namespace pliant
