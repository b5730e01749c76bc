#include "pliant/core/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/archive_format.h"
#include "core/temporary_directory.h"
#include "input_error.h"

namespace pliant {
namespace {

namespace format = archive_format;
using test::TemporaryDirectory, test::input_error, test::read_text, test::write_text;
using testing::HasSubstr;

std::vector<std::byte> to_bytes(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

/// Opens and verifies; the message of the first error.
std::string complaint(const std::string& file) {
    return input_error([&] { Archive::from_bytes(to_bytes(file), "file").verify(); });
}

/// A valid small archive: two chunks with padding between them, and provenance.
std::string small_archive() {
    const TemporaryDirectory directory;
    const std::vector<std::int32_t> numbers = {1, 2, 3, 4, 5, 6};
    const std::vector<double> reals = {0.5, -1.25};
    ArchiveWriter writer("volume-mesh");
    writer.add<std::int32_t>("numbers", numbers, {3, 2});
    writer.add<double>("reals", reals);
    writer.set_provenance("input", "bridge.obj");
    writer.save(directory / "small.pliant");
    return read_text(directory / "small.pliant");
}

/// The bytes of a valid archive, to be changed and sealed with right checksums again: what a
/// careless or hostile writer would make.
struct Forgery {
    std::string file = small_archive();

    template <class Change>
    Forgery& header(Change&& change) {
        format::Header header;
        std::memcpy(&header, file.data(), sizeof header);
        change(header);
        std::memcpy(file.data(), &header, sizeof header);
        return *this;
    }
    template <class Change>
    Forgery& entry(std::size_t index, Change&& change) {
        char* place = file.data() + sizeof(format::Header) + index * sizeof(format::Entry);
        format::Entry entry;
        std::memcpy(&entry, place, sizeof entry);
        change(entry);
        std::memcpy(place, &entry, sizeof entry);
        return *this;
    }
    [[nodiscard]] std::string sealed() {
        header([&](format::Header& header) {
            header.table_checksum =
                hash_bytes(file.data() + sizeof header, header.num_chunks * sizeof(format::Entry));
            header.checksum = format::header_checksum(header);
        });
        return file;
    }
};

TEST(Archive, RoundTripOfEveryTypeAndShape) {
    const TemporaryDirectory directory;
    const auto path = directory / "all.pliant";
    std::vector<std::uint8_t> u8(7);
    std::vector<std::uint16_t> u16(24);
    std::vector<std::int32_t> i32(60);
    std::iota(u8.begin(), u8.end(), std::uint8_t{250});
    std::iota(u16.begin(), u16.end(), std::uint16_t{65530});
    std::iota(i32.begin(), i32.end(), -30);
    const std::vector<std::uint32_t> u32 = {0, 0xffffffffu};
    const std::vector<std::int64_t> i64 = {std::numeric_limits<std::int64_t>::min(), -1};
    const std::vector<std::uint64_t> u64 = {std::numeric_limits<std::uint64_t>::max()};
    const std::vector<float> f32 = {1.5f, -0.0f, std::numeric_limits<float>::infinity()};
    const std::vector<double> f64 = {std::nan(""), std::numeric_limits<double>::denorm_min()};
    const std::string text = "hello";

    ArchiveWriter writer("everything");
    writer.add<std::uint8_t>("u8", u8);
    writer.add<std::uint16_t>("u16", u16, {4, 6});
    writer.add<std::int32_t>("i32", i32, {3, 4, 5});
    writer.add<std::uint32_t>("u32", u32, {1, 1, 2, 1});
    writer.add<std::int64_t>("i64", i64);
    writer.add<std::uint64_t>("u64", u64);
    writer.add<float>("f32", f32);
    writer.add<double>("f64", f64);
    writer.add<char>("text", text);
    writer.save(path);

    const Archive archive(path);
    EXPECT_NO_THROW(archive.verify());
    const auto expect_chunk = [&]<class T>(const std::string& name, const std::vector<T>& values,
                                           const std::vector<std::uint64_t>& shape) {
        const std::span<const T> found = archive.get<T>(name);
        ASSERT_EQ(found.size(), values.size());
        EXPECT_EQ(std::memcmp(found.data(), values.data(), values.size() * sizeof(T)), 0) << name;
        EXPECT_EQ(archive.info(name).shape, shape);
        EXPECT_EQ(archive.info(name).type, chunk_type_of<T>());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found.data()) % 64, 0u) << name;
        EXPECT_EQ(archive.info(name).offset % 64, 0u);
        EXPECT_TRUE(archive.is_intact(archive.info(name)));
    };
    expect_chunk("u8", u8, {7});
    expect_chunk("u16", u16, {4, 6});
    expect_chunk("i32", i32, {3, 4, 5});
    expect_chunk("u32", u32, {1, 1, 2, 1});
    expect_chunk("i64", i64, {2});
    expect_chunk("u64", u64, {1});
    expect_chunk("f32", f32, {3});
    expect_chunk("f64", f64, {2});
    expect_chunk("text", std::vector<char>(text.begin(), text.end()), {5});
    EXPECT_EQ(archive.kind(), "everything");
    EXPECT_EQ(archive.chunks().size(), 9u);
    EXPECT_EQ(archive.file_size(), std::filesystem::file_size(path));
    EXPECT_TRUE(archive.provenance().empty());
}

TEST(Archive, EmptyChunksAndEmptyArchivesAreFine) {
    const TemporaryDirectory directory;
    const std::vector<float> none;
    const std::vector<std::uint8_t> one = {7};
    ArchiveWriter writer("mostly-nothing");
    writer.add<float>("first", none);
    writer.add<float>("second", none, {0, 3});
    writer.add<std::uint8_t>("one", one);
    writer.add<float>("third", none, {5, 0, 2});
    writer.add<float>("last", none);
    writer.save(directory / "a.pliant");
    const Archive archive(directory / "a.pliant");
    EXPECT_NO_THROW(archive.verify());
    for (const char* name : {"first", "second", "third", "last"})
        EXPECT_TRUE(archive.get<float>(name).empty());
    EXPECT_EQ(archive.info("third").shape, (std::vector<std::uint64_t>{5, 0, 2}));
    EXPECT_EQ(archive.get<std::uint8_t>("one")[0], 7);

    ArchiveWriter("nothing").save(directory / "b.pliant");
    const Archive empty(directory / "b.pliant");
    EXPECT_NO_THROW(empty.verify());
    EXPECT_TRUE(empty.chunks().empty());
    EXPECT_EQ(empty.file_size(), 128u);
}

TEST(Archive, ProvenanceAndKindAreKept) {
    const TemporaryDirectory directory;
    ArchiveWriter writer("reduced-model");
    writer.set_provenance("command", "pliant mesh \"a b.obj\"\n--kind tet");
    writer.set_provenance("input", "old");
    writer.set_provenance("input", "µ.obj");
    writer.set_provenance("note", "");
    writer.save(directory / "a.pliant");
    const Archive archive(directory / "a.pliant");
    const Provenance expected = {
        {"command", "pliant mesh \"a b.obj\"\n--kind tet"}, {"input", "µ.obj"}, {"note", ""}};
    EXPECT_EQ(archive.provenance(), expected);
    EXPECT_NO_THROW(archive.require_kind("reduced-model"));
    EXPECT_TRUE(archive.has("provenance"));
}

TEST(Archive, MappedFileAndBytesInMemoryReadTheSame) {
    const std::string file = small_archive();
    const TemporaryDirectory directory;
    write_text(directory / "a.pliant", file);
    const Archive mapped(directory / "a.pliant");
    const Archive in_memory = Archive::from_bytes(to_bytes(file), "memory");
    for (const Archive* archive : {&mapped, &in_memory}) {
        EXPECT_NO_THROW(archive->verify());
        EXPECT_EQ(archive->get<double>("reals")[1], -1.25);
        EXPECT_EQ(archive->get<std::int32_t>("numbers")[5], 6);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(archive->get<double>("reals").data()) % 64, 0u);
    }
}

TEST(Archive, CopiesKeepTheMappingAliveEvenAfterTheFileIsGone) {
    auto directory = std::make_unique<TemporaryDirectory>();
    write_text(*directory / "a.pliant", small_archive());
    auto original = std::make_unique<Archive>(*directory / "a.pliant");
    const Archive copy = *original;
    original.reset();
    directory.reset();
    EXPECT_EQ(copy.get<double>("reals")[0], 0.5);
    EXPECT_NO_THROW(copy.verify());
}

TEST(Archive, WritingIsDeterministic) { EXPECT_EQ(small_archive(), small_archive()); }

TEST(Archive, SavingOverAnOpenArchiveLeavesItIntact) {
    const TemporaryDirectory directory;
    write_text(directory / "a.pliant", small_archive());
    const Archive old(directory / "a.pliant");
    ArchiveWriter("other").save(directory / "a.pliant");
    EXPECT_NO_THROW(old.verify());
    EXPECT_EQ(Archive(directory / "a.pliant").kind(), "other");
}

TEST(ArchiveRequests, MissingChunkWrongTypeAndWrongKindSayWhatIsThere) {
    const Archive archive = Archive::from_bytes(to_bytes(small_archive()), "a.pliant");
    EXPECT_FALSE(archive.has("modes"));
    EXPECT_EQ(input_error([&] { (void)archive.get<double>("modes"); }),
              "a.pliant: chunk 'modes' is missing from this 'volume-mesh' archive; build it again");
    EXPECT_EQ(input_error([&] { (void)archive.get<float>("reals"); }),
              "a.pliant: type of chunk 'reals' = f64 (expected f32)");
    EXPECT_EQ(input_error([&] { archive.require_kind("reduced-model"); }),
              "a.pliant: kind = 'volume-mesh' (expected 'reduced-model')");
}

TEST(ArchiveWriterNames, TakenEmptyLongAndOddNamesAreRefused) {
    const std::vector<float> values = {1, 2};
    ArchiveWriter writer("kind");
    writer.add<float>("a", values);
    EXPECT_EQ(input_error([&] { writer.add<float>("a", values); }),
              "chunk name = 'a' (expected a name that is not taken)");
    EXPECT_THAT(input_error([&] { writer.add<float>("provenance", values); }),
                HasSubstr("a name that is not taken"));
    const std::string expected = "(expected 1 to 63 bytes without control characters)";
    EXPECT_THAT(input_error([&] { writer.add<float>("", values); }), HasSubstr(expected));
    EXPECT_THAT(input_error([&] { writer.add<float>("a\nb", values); }), HasSubstr(expected));
    EXPECT_THAT(input_error([&] { writer.add<float>(std::string(64, 'x'), values); }),
                HasSubstr(expected));
    EXPECT_NO_THROW(writer.add<float>(std::string(63, 'x'), values));
    EXPECT_THAT(input_error([&] { ArchiveWriter("").save("unused"); }),
                HasSubstr("archive kind = '' " + expected));
}

TEST(ArchiveWriterNames, LongestNameRoundTrips) {
    const TemporaryDirectory directory;
    const std::vector<float> values = {1, 2};
    ArchiveWriter writer(std::string(63, 'k'));
    writer.add<float>(std::string(63, 'x'), values);
    writer.save(directory / "a.pliant");
    const Archive archive(directory / "a.pliant");
    EXPECT_EQ(archive.get<float>(std::string(63, 'x'))[1], 2.0f);
    EXPECT_EQ(archive.kind(), std::string(63, 'k'));
}

TEST(ArchiveFile, MissingDirectoryPipeAndEmptyFileAreRefused) {
    const TemporaryDirectory directory;
    EXPECT_THAT(input_error([&] { Archive(directory / "none.pliant"); }),
                HasSubstr("none.pliant: the file does not exist"));
    EXPECT_THAT(input_error([&] { Archive(directory / ""); }),
                HasSubstr("it is a directory; name a file"));
    EXPECT_THAT(input_error([&] { Archive("/dev/null"); }), HasSubstr("it is not a regular file"));
    write_text(directory / "empty.pliant", "");
    EXPECT_THAT(input_error([&] { Archive(directory / "empty.pliant"); }),
                HasSubstr("empty.pliant: the file is empty"));
}

TEST(ArchiveDamage, TruncationAtEveryByteIsNamed) {
    const std::string file = small_archive();
    EXPECT_EQ(complaint(""), "file: the file is empty");
    for (std::size_t size = 1; size < file.size(); ++size)
        ASSERT_THAT(complaint(file.substr(0, size)), HasSubstr("file: the file is truncated: it "))
            << size;
    EXPECT_EQ(complaint(file.substr(0, 57)),
              "file: the file is truncated: it ends after 57 bytes, inside the header of 128 "
              "bytes; copy or build it again");
    EXPECT_THAT(complaint(file.substr(0, 300)),
                HasSubstr("it has 300 of " + std::to_string(file.size()) + " bytes"));
}

TEST(ArchiveDamage, EveryFlippedBitIsRefused) {
    const std::string file = small_archive();
    ASSERT_EQ(complaint(file), "");
    for (std::size_t i = 0; i < file.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            std::string damaged = file;
            damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
            ASSERT_NE(complaint(damaged), "") << "byte " << i << ", bit " << bit;
        }
}

TEST(ArchiveDamage, MessageNamesTheDamagedPart) {
    const std::string file = small_archive();
    const auto complaint_at = [&](std::size_t byte) {
        std::string damaged = file;
        damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
        return complaint(damaged);
    };
    const std::size_t numbers = 128 + 3 * 128, reals = numbers + 64;
    EXPECT_THAT(complaint_at(21), HasSubstr("file: the header is damaged (checksum "));
    EXPECT_THAT(complaint_at(50), HasSubstr("the header is damaged"));
    EXPECT_THAT(complaint_at(125), HasSubstr("the header is damaged"));
    EXPECT_THAT(complaint_at(200), HasSubstr("the table of chunks is damaged (checksum "));
    EXPECT_THAT(complaint_at(numbers + 3), HasSubstr("chunk 'numbers' is damaged (checksum "));
    EXPECT_THAT(complaint_at(numbers + 30),
                HasSubstr("the padding before chunk 'reals' is not zero"));
    EXPECT_THAT(complaint_at(reals + 15), HasSubstr("chunk 'reals' is damaged"));
    EXPECT_THAT(complaint_at(file.size() - 1), HasSubstr("the provenance is damaged"));
    EXPECT_THAT(complaint_at(reals), HasSubstr("; restore it from a copy or build it again"));
}

TEST(ArchiveDamage, DamagedDataIsFoundByVerifyNotByOpening) {
    std::string damaged = small_archive();
    damaged[128 + 3 * 128] ^= 1;
    const Archive archive = Archive::from_bytes(to_bytes(damaged), "file");
    EXPECT_FALSE(archive.is_intact(archive.info("numbers")));
    EXPECT_TRUE(archive.is_intact(archive.info("reals")));
    EXPECT_THROW(archive.verify(), InputError);
}

TEST(ArchiveDamage, AppendedBytesAreRefused) {
    const std::string file = small_archive();
    EXPECT_EQ(complaint(file + "tail"), "file: the file has " + std::to_string(file.size() + 4) +
                                            " bytes, but its header says " +
                                            std::to_string(file.size()) +
                                            ": something was appended to it; restore it from a "
                                            "copy or build it again");
}

TEST(ArchiveForeign, OtherFormatsAreNotArchives) {
    EXPECT_EQ(complaint("ply\nformat ascii 1.0\n"),
              "file: not a Pliant archive (it begins with 70 6c 79 0a ...)");
    EXPECT_THAT(complaint("x"), HasSubstr("not a Pliant archive (it begins with 78 ...)"));
    EXPECT_THAT(complaint(std::string(1000, '\0')), HasSubstr("not a Pliant archive"));
}

TEST(ArchiveForeign, TextModeTransferIsRecognised) {
    const std::string file = small_archive();
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = file;
        return text.replace(text.find(from), from.size(), to);
    };
    const char* expected = "as by a transfer in text mode; copy the file again in binary mode";
    EXPECT_THAT(complaint(replaced("\r\n", "\n")), HasSubstr(expected));
    EXPECT_THAT(complaint(replaced("\r\n", "\r\r\n")), HasSubstr(expected));
    EXPECT_THAT(complaint(replaced("\x1a\n", "\x1a\r\n")), HasSubstr(expected));
    EXPECT_THAT(complaint(replaced("\x89", "\x09")), HasSubstr(expected));
}

TEST(ArchiveForeign, NewerVersionAsksForANewerPliant) {
    const std::string file =
        Forgery().header([](format::Header& header) { header.version = 7; }).sealed();
    EXPECT_EQ(complaint(file),
              "file: format version 7 is newer than version 1, the last one this program reads; "
              "use a newer Pliant");
}

TEST(ArchiveForeign, OtherByteOrderIsRefused) {
    const std::string file =
        Forgery().header([](format::Header& header) { header.endian_mark = 0x04030201; }).sealed();
    EXPECT_EQ(complaint(file),
              "file: written on a machine of the other byte order; build it again on this one");
}

TEST(ArchiveForged, ImpossibleHeadersAreRefused) {
    const auto complaint_with = [](auto change) {
        return complaint(Forgery().header(change).sealed());
    };
    const char* expected = "the header holds values that no Pliant writes";
    EXPECT_THAT(complaint_with([](format::Header& h) { h.version = 0; }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.endian_mark = 5; }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.reserved[3] = 1; }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.kind.fill('k'); }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.kind[40] = 'k'; }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.kind[0] = '\n'; }), HasSubstr(expected));
    EXPECT_THAT(complaint_with([](format::Header& h) { h.kind.fill(0); }), HasSubstr(expected));
}

TEST(ArchiveForged, TableLargerThanTheFileIsRefused) {
    Forgery forgery;
    forgery.header([](format::Header& header) {
        header.num_chunks = 0xffffffffu;
        header.checksum = format::header_checksum(header);
    });
    EXPECT_THAT(complaint(forgery.file),
                HasSubstr("a table of 4294967295 chunks does not fit into the file's "));
}

TEST(ArchiveForged, BytesThatBelongToNoChunkAreRefused) {
    Forgery forgery;
    forgery.file += "tail";
    forgery.header([&](format::Header& header) { header.file_size = forgery.file.size(); });
    EXPECT_THAT(complaint(forgery.sealed()),
                HasSubstr("4 bytes after the last chunk belong to nothing"));
    // fewer chunks in the table than the data was written for
    Forgery shorter;
    shorter.header([](format::Header& header) { header.num_chunks = 0; });
    EXPECT_THAT(complaint(shorter.sealed()), HasSubstr("belong to nothing"));
}

/// The complaint about an archive whose table rows were changed; row 0 is 'numbers', 1 is 'reals'.
template <class Change>
std::string complaint_about_entry(std::size_t index, Change&& change) {
    return complaint(Forgery().entry(index, change).sealed());
}

TEST(ArchiveForged, OverlappingChunksAreRefused) {
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.offset -= 64; }),
                HasSubstr("chunk 'reals' overlaps chunk 'numbers'"));
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.offset = 128; }),
                HasSubstr("chunk 'numbers' overlaps the table"));
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.offset = 0; }),
                HasSubstr("chunk 'numbers' overlaps the table"));
}

TEST(ArchiveForged, MisplacedChunksAreRefused) {
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.offset += 8; }),
                HasSubstr("chunk 'reals' starts at byte 584, expected 576"));
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.offset += 64; }),
                HasSubstr("chunk 'reals' starts at byte 640, expected 576"));
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.offset = ~std::uint64_t{63}; }),
                HasSubstr("chunk 'reals' starts at byte 18446744073709551552, expected 576"));
}

TEST(ArchiveForged, AbsurdShapesAreRefused) {
    const auto with_shape = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        return [=](format::Entry& e) {
            e.num_extents = 3;
            e.shape = {a, b, c, 0};
        };
    };
    constexpr std::uint64_t k32 = std::uint64_t{1} << 32;
    EXPECT_THAT(complaint_about_entry(1, with_shape(k32, k32, 2)),
                HasSubstr("chunk 'reals' claims the absurd shape 4294967296 x 4294967296 x 2"));
    // 2^62 · 8 bytes wraps around to 0
    EXPECT_THAT(complaint_about_entry(1,
                                      [](format::Entry& e) {
                                          e.shape[0] = std::uint64_t{1} << 62;
                                          e.size = 0;
                                      }),
                HasSubstr("claims the absurd shape 4611686018427387904"));
}

TEST(ArchiveForged, ChunkBeyondTheEndIsRefused) {
    EXPECT_THAT(complaint_about_entry(1,
                                      [](format::Entry& e) {
                                          e.shape[0] = std::uint64_t{1} << 50;
                                          e.size = std::uint64_t{1} << 53;
                                      }),
                HasSubstr("chunk 'reals' of 9007199254740992 bytes at byte 576 reaches beyond the "
                          "file's "));
}

TEST(ArchiveForged, SizeThatDoesNotFitTheShapeIsRefused) {
    EXPECT_THAT(
        complaint_about_entry(0, [](format::Entry& e) { e.size = 20; }),
        HasSubstr("chunk 'numbers' of shape 3 x 2 and type i32 takes 24 bytes, but the table "
                  "says 20"));
}

TEST(ArchiveForged, InvalidShapesAreRefused) {
    const char* expected = "has no valid shape (expected 1 to 4 extents)";
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.num_extents = 0; }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.num_extents = 5; }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.num_extents = 0xffffffffu; }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(0, [](format::Entry& e) { e.shape[3] = 1; }),
                HasSubstr(expected));
}

TEST(ArchiveForged, UnknownTypeIsRefused) {
    for (const std::uint32_t type : {0u, 9u, 0xffffffffu})
        EXPECT_THAT(
            complaint_about_entry(0, [=](format::Entry& e) { e.type = type; }),
            HasSubstr("chunk 'numbers' has the unknown element type " + std::to_string(type)));
}

TEST(ArchiveForged, UnreadableAndDuplicateNamesAreRefused) {
    const char* expected = "chunk number 1 has no readable name";
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.name.fill('x'); }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.name.fill('\0'); }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.name[60] = 'x'; }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(1, [](format::Entry& e) { e.name[1] = '\x1b'; }),
                HasSubstr(expected));
    EXPECT_THAT(complaint_about_entry(
                    1, [](format::Entry& e) { e.name = {'n', 'u', 'm', 'b', 'e', 'r', 's'}; }),
                HasSubstr("two chunks are named 'numbers'"));
}

TEST(ArchiveForged, MalformedProvenanceIsRefused) {
    const char* expected = "the provenance is not a list of pairs";
    const auto complaint_about = [](const std::string& text) {
        Forgery forgery;
        forgery.file.resize(640);
        forgery.file += text;
        forgery.header([&](format::Header& header) { header.file_size = forgery.file.size(); });
        forgery.entry(2, [&](format::Entry& e) {
            e.shape[0] = e.size = text.size();
            e.checksum = hash_bytes(text.data(), text.size());
        });
        return complaint(forgery.sealed());
    };
    using namespace std::string_literals;
    EXPECT_EQ(complaint_about("key\0value\0"s), "");
    EXPECT_EQ(complaint_about(""), "");
    EXPECT_THAT(complaint_about("key\0value"s), HasSubstr(expected));
    EXPECT_THAT(complaint_about("key\0"s), HasSubstr(expected));
    EXPECT_THAT(complaint_about("key\0a\0key\0b\0"s), HasSubstr(expected));
}

TEST(ChunkTypes, SizesAndNames) {
    EXPECT_EQ(size_of(ChunkType::U8), 1u);
    EXPECT_EQ(size_of(ChunkType::U16), 2u);
    EXPECT_EQ(size_of(ChunkType::F32), 4u);
    EXPECT_EQ(size_of(ChunkType::F64), 8u);
    EXPECT_EQ(to_string(ChunkType::U8), "u8");
    EXPECT_EQ(to_string(ChunkType::U16), "u16");
    EXPECT_EQ(to_string(ChunkType::I32), "i32");
    EXPECT_EQ(to_string(ChunkType::U32), "u32");
    EXPECT_EQ(to_string(ChunkType::F32), "f32");
    EXPECT_EQ(to_string(ChunkType::I64), "i64");
    EXPECT_EQ(to_string(ChunkType::U64), "u64");
    EXPECT_EQ(to_string(ChunkType::F64), "f64");
}

}  // namespace
}  // namespace pliant
