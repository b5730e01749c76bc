#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pliant {

/// Element type of a chunk of a `.pliant` archive.
enum class ChunkType : std::uint32_t { U8 = 1, I32, I64, U32, U64, F32, F64, U16 };

[[nodiscard]] std::size_t size_of(ChunkType type) noexcept;
[[nodiscard]] std::string_view to_string(ChunkType type) noexcept;

template <class T>
[[nodiscard]] constexpr ChunkType chunk_type_of() {
    if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, char>)
        return ChunkType::U8;
    else if constexpr (std::is_same_v<T, std::uint16_t>)
        return ChunkType::U16;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return ChunkType::I32;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return ChunkType::I64;
    else if constexpr (std::is_same_v<T, std::uint32_t>)
        return ChunkType::U32;
    else if constexpr (std::is_same_v<T, std::uint64_t>)
        return ChunkType::U64;
    else if constexpr (std::is_same_v<T, float>)
        return ChunkType::F32;
    else {
        static_assert(std::is_same_v<T, double>, "no chunk type for this element type");
        return ChunkType::F64;
    }
}

/// One named, typed, shaped array of an archive.
struct ChunkInfo {
    std::string name;  ///< "mesh/vertices"; up to 63 bytes
    ChunkType type = ChunkType::U8;
    std::vector<std::uint64_t> shape;  ///< up to 4 extents, first one slowest
    std::uint64_t offset = 0;          ///< [bytes] from the start of the file, a multiple of 64
    std::uint64_t size = 0;            ///< [bytes]
    std::uint64_t checksum = 0;        ///< XXH3 of the bytes
};

/// How a file came to be: "input", "input_hash", "command", "version", … Kept in a chunk of its
/// own, "provenance".
using Provenance = std::map<std::string, std::string>;

/// Collects chunks and writes them as one file, docs/core.md section "Archive". The file appears
/// whole or not at all.
class ArchiveWriter {
public:
    /// `kind` says what is inside ("volume-mesh", "reduced-model", …) and is checked on loading.
    explicit ArchiveWriter(std::string kind);

    /// Copies nothing: `values` must stay alive until `save`. The product of `shape` must be the
    /// number of values; no shape means one dimension. Throws InputError for a name that is taken,
    /// empty or too long.
    template <class T>
    void add(const std::string& name, std::span<const T> values,
             const std::vector<std::uint64_t>& shape = {}) {
        add_bytes(name, chunk_type_of<T>(), values.data(), values.size(), shape);
    }
    /// Neither may contain NUL bytes.
    void set_provenance(const std::string& key, const std::string& value);
    void save(const std::filesystem::path& path) const;

private:
    void add_bytes(const std::string& name, ChunkType type, const void* data, std::size_t count,
                   std::vector<std::uint64_t> shape);
    std::string kind_;
    Provenance provenance_;
    std::vector<ChunkInfo> chunks_;
    std::vector<const void*> data_;
};

/// A memory-mapped archive. Opening checks the header and the table against the file, not the data:
/// `verify` does. Copies share the mapping; spans stay valid while one copy lives. Thread-safe for
/// reading.
class Archive {
public:
    /// Throws InputError that says whether the file is missing, foreign, truncated, newer, of the
    /// other endianness, or damaged, and where.
    explicit Archive(const std::filesystem::path& path);
    /// Opens and verifies: what loaders use. Reads every byte once.
    [[nodiscard]] static Archive verified(const std::filesystem::path& path);
    /// The same for a file already in memory; `name` stands for the file in messages.
    [[nodiscard]] static Archive from_bytes(const std::vector<std::byte>& bytes, std::string name);

    [[nodiscard]] const std::string& kind() const noexcept;
    [[nodiscard]] const Provenance& provenance() const noexcept;
    [[nodiscard]] const std::vector<ChunkInfo>& chunks() const noexcept;
    [[nodiscard]] std::size_t file_size() const noexcept;
    [[nodiscard]] bool has(const std::string& name) const noexcept;
    [[nodiscard]] const ChunkInfo& info(const std::string& name) const;
    void require_kind(const std::string& kind) const;

    /// Throws InputError when the chunk is missing or of another type.
    template <class T>
    [[nodiscard]] std::span<const T> get(const std::string& name) const {
        const ChunkInfo& chunk = checked(name, chunk_type_of<T>());
        return {reinterpret_cast<const T*>(bytes(chunk)), chunk.size / sizeof(T)};
    }
    /// Checks one chunk's bytes against its checksum.
    [[nodiscard]] bool is_intact(const ChunkInfo& chunk) const noexcept;
    /// Checks all chunks and the padding between them; throws InputError naming the first damaged
    /// one.
    void verify() const;

private:
    struct Mapping;
    explicit Archive(std::shared_ptr<const Mapping> mapping) noexcept;
    [[nodiscard]] const ChunkInfo& checked(const std::string& name, ChunkType type) const;
    [[nodiscard]] const std::byte* bytes(const ChunkInfo& chunk) const noexcept;
    std::shared_ptr<const Mapping> mapping_;
};

}  // namespace pliant
