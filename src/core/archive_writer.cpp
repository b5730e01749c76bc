#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "core/archive_format.h"
#include "pliant/core/archive.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"

namespace pliant {
namespace format = archive_format;
namespace {

format::Text to_field(const std::string& text, const char* what) {
    format::Text field{};
    const bool has_control = std::any_of(text.begin(), text.end(),
                                         [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (text.empty() || text.size() >= field.size() || has_control)
        throw InputError("", what, "'" + text + "'", "1 to 63 bytes without control characters");
    std::copy(text.begin(), text.end(), field.begin());
    return field;
}

}  // namespace

ArchiveWriter::ArchiveWriter(std::string kind) : kind_(std::move(kind)) {
    (void)to_field(kind_, "archive kind");
}

void ArchiveWriter::add_bytes(const std::string& name, ChunkType type, const void* data,
                              std::size_t count, std::vector<std::uint64_t> shape) {
    (void)to_field(name, "chunk name");
    const bool is_taken = std::any_of(chunks_.begin(), chunks_.end(),
                                      [&](const ChunkInfo& chunk) { return chunk.name == name; });
    if (is_taken || name == format::kProvenanceChunk)
        throw InputError("", "chunk name", "'" + name + "'", "a name that is not taken");
    if (shape.empty()) shape.push_back(count);
    assert(shape.size() <= format::kMaxExtents);
    assert(std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()) ==
           count);
    chunks_.push_back({name, type, std::move(shape), 0, count * size_of(type), 0});
    data_.push_back(data);
}

void ArchiveWriter::set_provenance(const std::string& key, const std::string& value) {
    assert((key + value).find('\0') == std::string::npos);
    provenance_[key] = value;
}

void ArchiveWriter::save(const std::filesystem::path& path) const {
    std::vector<ChunkInfo> chunks = chunks_;
    std::vector<const void*> data = data_;
    std::string provenance;
    for (const auto& [key, value] : provenance_) ((provenance += key) += '\0') += value + '\0';
    if (!provenance.empty()) {
        chunks.push_back({format::kProvenanceChunk,
                          ChunkType::U8,
                          {provenance.size()},
                          0,
                          provenance.size(),
                          0});
        data.push_back(provenance.data());
    }

    // the table: chunks follow each other in the order they were added
    std::vector<format::Entry> table(chunks.size());
    std::uint64_t end = sizeof(format::Header) + table.size() * sizeof(format::Entry);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const ChunkInfo& chunk = chunks[i];
        format::Entry& entry = table[i];
        entry.name = to_field(chunk.name, "chunk name");
        entry.type = static_cast<std::uint32_t>(chunk.type);
        entry.num_extents = static_cast<std::uint32_t>(chunk.shape.size());
        std::copy(chunk.shape.begin(), chunk.shape.end(), entry.shape.begin());
        entry.offset = format::align_up(end);
        entry.size = chunk.size;
        entry.checksum = hash_bytes(data[i], chunk.size);
        end = entry.offset + entry.size;
    }

    format::Header header{};
    header.magic = format::kMagic;
    header.endian_mark = format::kEndianMark;
    header.version = format::kVersion;
    header.num_chunks = static_cast<std::uint32_t>(table.size());
    header.file_size = end;
    header.table_checksum = hash_bytes(table.data(), table.size() * sizeof(format::Entry));
    header.kind = to_field(kind_, "archive kind");
    header.checksum = format::header_checksum(header);

    AtomicFile file(path);
    file.write(&header, sizeof header);
    file.write(table.data(), table.size() * sizeof(format::Entry));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        file.write(std::string(table[i].offset - file.size(), '\0'));
        file.write(data[i], chunks[i].size);
    }
    file.commit();
}

}  // namespace pliant
