#include "pliant/core/archive.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "core/archive_format.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"

namespace pliant {
namespace format = archive_format;

std::size_t size_of(ChunkType type) noexcept {
    switch (type) {
        case ChunkType::U8: return 1;
        case ChunkType::U16: return 2;
        case ChunkType::I32:
        case ChunkType::U32:
        case ChunkType::F32: return 4;
        case ChunkType::I64:
        case ChunkType::U64:
        case ChunkType::F64: return 8;
    }
    return 0;
}

std::string_view to_string(ChunkType type) noexcept {
    switch (type) {
        case ChunkType::U8: return "u8";
        case ChunkType::U16: return "u16";
        case ChunkType::I32: return "i32";
        case ChunkType::U32: return "u32";
        case ChunkType::F32: return "f32";
        case ChunkType::I64: return "i64";
        case ChunkType::U64: return "u64";
        case ChunkType::F64: return "f64";
    }
    return "unknown";
}

namespace {

constexpr const char* kRemedy = "; restore it from a copy or build it again";

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string checksum_mismatch(std::uint64_t found, std::uint64_t recorded) {
    return " is damaged (checksum " + hash_text(found) + ", recorded " + hash_text(recorded) + ")" +
           kRemedy;
}

/// Nothing unless the field is NUL-terminated, filled up with NULs, not empty and printable.
std::optional<std::string> from_field(const format::Text& field) {
    const auto end = std::find(field.begin(), field.end(), '\0');
    const bool is_padded =
        end != field.end() && std::all_of(end, field.end(), [](char c) { return c == '\0'; });
    const bool has_control =
        std::any_of(field.begin(), end, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (!is_padded || has_control || end == field.begin()) return std::nullopt;
    return std::string(field.begin(), end);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (const std::uint64_t extent : shape)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

std::string first_bytes(const std::byte* data, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 4); ++i)
        text += hash_text(std::to_integer<std::uint64_t>(data[i])).substr(14) + " ";
    return text + "...";
}

}  // namespace

/// The bytes of one file and what its header and table say. Built by `parse`, then never changed.
struct Archive::Mapping {
    std::string file;
    std::shared_ptr<const std::byte> data;
    std::size_t size = 0;
    std::string kind;
    Provenance provenance;
    std::vector<ChunkInfo> chunks;
    std::map<std::string_view, const ChunkInfo*> by_name;

    void parse();

private:
    [[noreturn]] void refuse(const std::string& sentence) const {
        throw InputError(file, sentence);
    }
    void check_magic() const;
    [[nodiscard]] format::Header read_header() const;
    void read_table(const format::Header& header);
    [[nodiscard]] ChunkInfo read_entry(const format::Entry& entry,
                                       std::uint64_t previous_end) const;
    void read_provenance(const ChunkInfo& chunk);
};

void Archive::Mapping::parse() {
    const format::Header header = read_header();
    read_table(header);
    for (const ChunkInfo& chunk : chunks)
        if (!by_name.emplace(chunk.name, &chunk).second)
            refuse("two chunks are named " + quoted(chunk.name) + kRemedy);
    if (const auto found = by_name.find(format::kProvenanceChunk); found != by_name.end())
        read_provenance(*found->second);
}

void Archive::Mapping::check_magic() const {
    const std::size_t present = std::min(size, format::kMagic.size());
    if (size == 0) refuse("the file is empty");
    if (std::memcmp(data.get(), format::kMagic.data(), present) == 0) return;
    // "PLIANT" is there but the bytes around it changed
    if (present >= 7 && std::memcmp(data.get() + 1, format::kMagic.data() + 1, 6) == 0)
        refuse(
            "the signature is damaged, as by a transfer in text mode; copy the file again in "
            "binary mode");
    refuse("not a Pliant archive (it begins with " + first_bytes(data.get(), size) + ")");
}

format::Header Archive::Mapping::read_header() const {
    check_magic();
    if (size < sizeof(format::Header))
        refuse("the file is truncated: it ends after " + std::to_string(size) + " bytes, inside " +
               "the header of " + std::to_string(sizeof(format::Header)) +
               " bytes; copy or build it again");
    format::Header header;
    std::memcpy(&header, data.get(), sizeof header);
    if (header.endian_mark == format::kSwappedEndianMark)
        refuse("written on a machine of the other byte order; build it again on this one");
    if (header.version > format::kVersion && header.endian_mark == format::kEndianMark)
        refuse("format version " + std::to_string(header.version) + " is newer than version " +
               std::to_string(format::kVersion) +
               ", the last one this program reads; use a newer Pliant");
    if (const std::uint64_t found = format::header_checksum(header); found != header.checksum)
        refuse("the header" + checksum_mismatch(found, header.checksum));

    // from here on the header is what its writer meant
    if (header.endian_mark != format::kEndianMark || header.version != format::kVersion ||
        header.reserved != decltype(header.reserved){} || !from_field(header.kind))
        refuse("the header holds values that no Pliant writes; build the file again");
    if (size < header.file_size)
        refuse("the file is truncated: it has " + std::to_string(size) + " of " +
               std::to_string(header.file_size) + " bytes; copy or build it again");
    if (size > header.file_size)
        refuse("the file has " + std::to_string(size) + " bytes, but its header says " +
               std::to_string(header.file_size) + ": something was appended to it" + kRemedy);
    return header;
}

void Archive::Mapping::read_table(const format::Header& header) {
    kind = *from_field(header.kind);
    const std::uint64_t table_size = header.num_chunks * std::uint64_t{sizeof(format::Entry)};
    if (table_size > size - sizeof(format::Header))
        refuse("a table of " + std::to_string(header.num_chunks) +
               " chunks does not fit into the file's " + std::to_string(size) + " bytes" + kRemedy);
    const std::byte* table = data.get() + sizeof(format::Header);
    if (const std::uint64_t found = hash_bytes(table, table_size); found != header.table_checksum)
        refuse("the table of chunks" + checksum_mismatch(found, header.table_checksum));

    chunks.reserve(header.num_chunks);
    std::uint64_t end = sizeof(format::Header) + table_size;
    for (std::size_t i = 0; i < header.num_chunks; ++i) {
        format::Entry entry;
        std::memcpy(&entry, table + i * sizeof entry, sizeof entry);
        chunks.push_back(read_entry(entry, end));
        end = chunks.back().offset + chunks.back().size;
    }
    if (end != size)
        refuse(std::to_string(size - end) + " bytes after the last chunk belong to nothing" +
               kRemedy);
}

ChunkInfo Archive::Mapping::read_entry(const format::Entry& entry,
                                       std::uint64_t previous_end) const {
    // name, type, shape
    const std::optional<std::string> name = from_field(entry.name);
    if (!name)
        refuse("chunk number " + std::to_string(chunks.size()) + " has no readable name" + kRemedy);
    const std::string chunk_text = "chunk " + quoted(*name);
    const auto type = static_cast<ChunkType>(entry.type);
    if (size_of(type) == 0)
        refuse(chunk_text + " has the unknown element type " + std::to_string(entry.type) +
               kRemedy);
    if (entry.num_extents < 1 || entry.num_extents > format::kMaxExtents ||
        std::any_of(entry.shape.begin() + entry.num_extents, entry.shape.end(),
                    [](std::uint64_t extent) { return extent != 0; }))
        refuse(chunk_text + " has no valid shape (expected 1 to 4 extents)" + kRemedy);
    std::vector<std::uint64_t> shape(entry.shape.begin(), entry.shape.begin() + entry.num_extents);

    // the shape against the size
    std::uint64_t num_bytes = size_of(type);
    for (const std::uint64_t extent : shape)
        if (__builtin_mul_overflow(num_bytes, extent, &num_bytes))
            refuse(chunk_text + " claims the absurd shape " + shape_text(shape) + kRemedy);
    if (num_bytes != entry.size)
        refuse(chunk_text + " of shape " + shape_text(shape) + " and type " +
               std::string(to_string(type)) + " takes " + std::to_string(num_bytes) +
               " bytes, but the table says " + std::to_string(entry.size) + kRemedy);

    // the place against the chunk before and the end of the file; no sum below can overflow,
    // because `previous_end` is at most the size of the file
    if (entry.offset < previous_end)
        refuse(chunk_text + " overlaps " +
               (chunks.empty() ? std::string("the table") : "chunk " + quoted(chunks.back().name)) +
               kRemedy);
    if (entry.offset != format::align_up(previous_end))
        refuse(chunk_text + " starts at byte " + std::to_string(entry.offset) + ", expected " +
               std::to_string(format::align_up(previous_end)) + kRemedy);
    if (entry.offset > size || entry.size > size - entry.offset)
        refuse(chunk_text + " of " + std::to_string(entry.size) + " bytes at byte " +
               std::to_string(entry.offset) + " reaches beyond the file's " + std::to_string(size) +
               " bytes" + kRemedy);
    return {*name, type, std::move(shape), entry.offset, entry.size, entry.checksum};
}

void Archive::Mapping::read_provenance(const ChunkInfo& chunk) {
    const auto* text = reinterpret_cast<const char*>(data.get() + chunk.offset);
    if (const std::uint64_t found = hash_bytes(text, chunk.size); found != chunk.checksum)
        refuse("the provenance" + checksum_mismatch(found, chunk.checksum));
    // key NUL value NUL ...
    std::vector<std::string> parts;
    std::string_view rest(text, chunk.size);
    for (std::size_t end = 0; (end = rest.find('\0')) != std::string_view::npos;) {
        parts.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    bool is_valid = chunk.type == ChunkType::U8 && rest.empty() && parts.size() % 2 == 0;
    for (std::size_t i = 0; is_valid && i < parts.size(); i += 2)
        is_valid = provenance.emplace(parts[i], parts[i + 1]).second;
    if (!is_valid) refuse(std::string("the provenance is not a list of pairs") + kRemedy);
}

Archive::Archive(std::shared_ptr<const Mapping> mapping) noexcept : mapping_(std::move(mapping)) {}

Archive::Archive(const std::filesystem::path& path) {
    auto mapping = std::make_shared<Mapping>();
    mapping->file = path.string();
    // not blocking, or opening a named pipe would wait for its writer
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        if (errno == ENOENT) throw InputError(mapping->file, "the file does not exist");
        throw InputError(mapping->file, std::string("cannot be read: ") + std::strerror(errno));
    }
    struct stat status {};
    fstat(descriptor, &status);
    void* data = nullptr;
    int map_error = 0;
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        mapping->size = static_cast<std::size_t>(status.st_size);
        data = mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) map_error = errno;
    }
    close(descriptor);
    if (!S_ISREG(status.st_mode))
        throw InputError(mapping->file, S_ISDIR(status.st_mode)
                                            ? "cannot be read: it is a directory; name a file"
                                            : "cannot be read: it is not a regular file");
    if (map_error != 0)
        throw InputError(mapping->file,
                         std::string("cannot be mapped: ") + std::strerror(map_error));
    if (data != nullptr)
        mapping->data = std::shared_ptr<const std::byte>(
            static_cast<const std::byte*>(data),
            [data, size = mapping->size](const std::byte*) { munmap(data, size); });
    mapping->parse();
    mapping_ = std::move(mapping);
}

Archive Archive::verified(const std::filesystem::path& path) {
    Archive archive(path);
    archive.verify();
    return archive;
}

Archive Archive::from_bytes(const std::vector<std::byte>& bytes, std::string name) {
    constexpr std::align_val_t kAlign{format::kAlignment};
    auto mapping = std::make_shared<Mapping>();
    mapping->file = std::move(name);
    mapping->size = bytes.size();
    auto* copy = static_cast<std::byte*>(::operator new(bytes.size(), kAlign));
    mapping->data = std::shared_ptr<const std::byte>(
        copy, [](const std::byte* p) { ::operator delete(const_cast<std::byte*>(p), kAlign); });
    std::copy(bytes.begin(), bytes.end(), copy);
    mapping->parse();
    return Archive(std::move(mapping));
}

const std::string& Archive::kind() const noexcept { return mapping_->kind; }
const Provenance& Archive::provenance() const noexcept { return mapping_->provenance; }
const std::vector<ChunkInfo>& Archive::chunks() const noexcept { return mapping_->chunks; }
std::size_t Archive::file_size() const noexcept { return mapping_->size; }

bool Archive::has(const std::string& name) const noexcept {
    return mapping_->by_name.find(name) != mapping_->by_name.end();
}

const ChunkInfo& Archive::info(const std::string& name) const {
    const auto found = mapping_->by_name.find(name);
    if (found == mapping_->by_name.end())
        throw InputError(mapping_->file, "chunk " + quoted(name) + " is missing from this " +
                                             quoted(mapping_->kind) + " archive; build it again");
    return *found->second;
}

void Archive::require_kind(const std::string& kind) const {
    if (mapping_->kind != kind)
        throw InputError(mapping_->file, "kind", quoted(mapping_->kind), quoted(kind));
}

const ChunkInfo& Archive::checked(const std::string& name, ChunkType type) const {
    const ChunkInfo& chunk = info(name);
    if (chunk.type != type)
        throw InputError(mapping_->file, "type of chunk " + quoted(name),
                         std::string(to_string(chunk.type)), std::string(to_string(type)));
    return chunk;
}

const std::byte* Archive::bytes(const ChunkInfo& chunk) const noexcept {
    return mapping_->data.get() + chunk.offset;
}

bool Archive::is_intact(const ChunkInfo& chunk) const noexcept {
    return hash_bytes(bytes(chunk), chunk.size) == chunk.checksum;
}

void Archive::verify() const {
    std::uint64_t end = sizeof(format::Header) + chunks().size() * sizeof(format::Entry);
    for (const ChunkInfo& chunk : chunks()) {
        const std::byte* base = mapping_->data.get();
        if (std::any_of(base + end, base + chunk.offset,
                        [](std::byte b) { return b != std::byte{}; }))
            throw InputError(mapping_->file, "the padding before chunk " + quoted(chunk.name) +
                                                 " is not zero" + kRemedy);
        if (const std::uint64_t found = hash_bytes(bytes(chunk), chunk.size);
            found != chunk.checksum)
            throw InputError(mapping_->file, "chunk " + quoted(chunk.name) +
                                                 checksum_mismatch(found, chunk.checksum));
        end = chunk.offset + chunk.size;
    }
}

}  // namespace pliant
