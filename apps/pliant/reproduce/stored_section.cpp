#include "stored_section.h"

#include "pliant/core/archive.h"
#include "pliant/core/error.h"

namespace pliant::reproduce {
namespace {

constexpr const char* kSectionKind = "reproduced-section";

/// Texts and numbers in the order they are put in; numbers keep their bits, infinite ones too.
struct Packed {
    std::string texts;
    std::vector<std::uint64_t> lengths;
    std::vector<double> numbers;

    void put(const std::string& text) {
        texts += text;
        lengths.push_back(text.size());
    }
    void put(double number) { numbers.push_back(number); }
    void put_count(std::size_t count) { put(static_cast<double>(count)); }
};

/// The same, taken out again. Sizes are checked: an archive may be whole and still not ours.
class Unpacked {
public:
    explicit Unpacked(const Archive& archive)
        : texts_(archive.get<char>("texts")),
          lengths_(archive.get<std::uint64_t>("lengths")),
          numbers_(archive.get<double>("numbers")) {}

    [[nodiscard]] std::string text() {
        if (next_length_ == lengths_.size() || lengths_[next_length_] > texts_.size()) fail();
        const std::size_t length = lengths_[next_length_++];
        std::string taken(texts_.data(), length);
        texts_ = texts_.subspan(length);
        return taken;
    }
    [[nodiscard]] double number() {
        if (next_number_ == numbers_.size()) fail();
        return numbers_[next_number_++];
    }
    [[nodiscard]] std::size_t count() {
        const double value = number();
        // more things than there are texts and numbers cannot follow
        if (!(value >= 0 && value <= static_cast<double>(lengths_.size() + numbers_.size())))
            fail();
        return static_cast<std::size_t>(value);
    }

private:
    [[noreturn]] static void fail() { throw InputError("", "is no section of this version"); }

    std::span<const char> texts_;
    std::span<const std::uint64_t> lengths_;
    std::span<const double> numbers_;
    std::size_t next_length_ = 0, next_number_ = 0;
};

void pack(const Table& table, Packed& packed) {
    packed.put(table.name);
    packed.put(table.caption);
    packed.put_count(table.columns.size());
    for (const Table::Column& column : table.columns) {
        packed.put(column.key);
        packed.put(column.label);
    }
    packed.put_count(table.rows.size());
    for (const std::vector<Cell>& row : table.rows)
        for (const Cell& cell : row) {
            packed.put(cell.text);
            packed.put(cell.value);
            packed.put(cell.is_number);
            packed.put(cell.deviates);
        }
}

Table unpack_table(Unpacked& packed) {
    Table table;
    table.name = packed.text();
    table.caption = packed.text();
    table.columns.resize(packed.count());
    for (Table::Column& column : table.columns) {
        column.key = packed.text();
        column.label = packed.text();
    }
    const std::size_t num_rows = packed.count();
    for (std::size_t r = 0; r < num_rows; ++r) {
        std::vector<Cell> row;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            Cell cell(packed.text());
            cell.value = packed.number();
            cell.is_number = packed.number() != 0;
            cell.deviates = packed.number() != 0;
            row.push_back(std::move(cell));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

Packed pack(const StoredSection& stored) {
    Packed packed;
    const Section::Content& content = stored.section.content();
    for (const std::string* text : {&content.name, &content.title, &content.body, &stored.date})
        packed.put(*text);
    packed.put(stored.seconds);
    packed.put(static_cast<double>(stored.peak_memory));
    packed.put_count(content.tables.size());
    for (const Table& table : content.tables) pack(table, packed);
    packed.put_count(content.comparisons.size());
    for (const Comparison& comparison : content.comparisons) {
        packed.put(comparison.what);
        packed.put(comparison.expected);
        for (const double number : {comparison.measured, comparison.low, comparison.high})
            packed.put(number);
    }
    packed.put_count(content.logs.size());
    for (const Section::Log& log : content.logs) {
        packed.put(log.name);
        packed.put(log.csv);
    }
    return packed;
}

StoredSection unpack(Unpacked packed) {
    Section::Content content;
    content.name = packed.text();
    content.title = packed.text();
    content.body = packed.text();
    const std::string date = packed.text();
    const double seconds = packed.number(), peak = packed.number();
    const std::size_t num_tables = packed.count();
    for (std::size_t k = 0; k < num_tables; ++k) content.tables.push_back(unpack_table(packed));
    content.comparisons.resize(packed.count());
    for (Comparison& comparison : content.comparisons) {
        comparison.what = packed.text();
        comparison.expected = packed.text();
        for (double* number : {&comparison.measured, &comparison.low, &comparison.high})
            *number = packed.number();
    }
    content.logs.resize(packed.count());
    for (Section::Log& log : content.logs) {
        log.name = packed.text();
        log.csv = packed.text();
    }
    return {Section(std::move(content)), seconds, static_cast<std::int64_t>(peak), date};
}

}  // namespace

void save_section(const StoredSection& stored, const std::string& key,
                  const std::filesystem::path& path) {
    const Packed packed = pack(stored);
    ArchiveWriter writer(kSectionKind);
    writer.set_provenance("key", key);
    writer.add<char>("texts", packed.texts);
    writer.add<std::uint64_t>("lengths", packed.lengths);
    writer.add<double>("numbers", packed.numbers);
    writer.save(path);
}

std::optional<StoredSection> load_section(const std::filesystem::path& path, const std::string& key,
                                          std::string& why) {
    why.clear();
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::nullopt;
    try {
        const Archive archive(path);
        archive.require_kind(kSectionKind);
        archive.verify();
        const auto found = archive.provenance().find("key");
        if (found == archive.provenance().end() || found->second != key) {
            why = "made by another build, with other options or on another machine";
            return std::nullopt;
        }
        return unpack(Unpacked(archive));
    } catch (const InputError&) {
        why = "damaged";
        return std::nullopt;
    }
}

}  // namespace pliant::reproduce
