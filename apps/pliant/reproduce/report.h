#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// Text for HTML and SVG, special characters escaped.
[[nodiscard]] std::string escaped(const std::string& text);

/// One value of a table: what the page shows, and the number behind it for --json.
struct Cell {
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}

    [[nodiscard]] static Cell number(double value, const char* pattern = "%.4g");
    [[nodiscard]] static Cell count(std::int64_t value);

    std::string text;
    double value = 0;
    bool is_number = false;
    bool deviates = false;  ///< beyond the tolerance of its reference
};

/// Rows under labelled columns; every row is also one line of --json under the columns' keys.
struct Table {
    struct Column {
        std::string key, label;
    };
    std::string name, caption;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows = {};

    void add(std::vector<Cell> row);
};

/// A measured number and where it should be.
struct Comparison {
    std::string what;
    double measured = 0, low = 0, high = 0;
    std::string expected;  ///< "0.577 ± 0.001", "at most 1.05"

    [[nodiscard]] bool holds() const noexcept { return measured >= low && measured <= high; }
};

/// One experiment's part of the page: text, tables and drawings in the order they were added.
class Section {
public:
    struct Log {
        std::string name, csv;
    };
    /// All there is of a section, for files that keep it.
    struct Content {
        std::string name, title, body = {};
        std::vector<Table> tables = {};
        std::vector<Comparison> comparisons = {};
        std::vector<Log> logs = {};
    };
    Section(std::string name, std::string title);
    explicit Section(Content content) : content_(std::move(content)) {}

    void text(const std::string& paragraph);
    void heading(const std::string& words);
    void table(const Table& table);
    /// `drawings` are SVG elements, side by side.
    void figure(const std::vector<std::string>& drawings, const std::string& caption);

    /// A recording, for a file beside the page when logs are asked for.
    void log(std::string name, std::string csv) {
        content_.logs.push_back({std::move(name), std::move(csv)});
    }

    /// A cell for `measured`, marked if it is further than `tolerance` from `reference`; the
    /// comparison counts in the page's summary.
    [[nodiscard]] Cell compared(const std::string& what, double measured, double reference,
                                double tolerance, const char* pattern = "%.4g");
    /// The same for one-sided limits.
    [[nodiscard]] Cell at_most(const std::string& what, double measured, double limit,
                               const char* pattern = "%.4g");
    [[nodiscard]] Cell at_least(const std::string& what, double measured, double limit,
                                const char* pattern = "%.4g");

    [[nodiscard]] const Content& content() const noexcept { return content_; }
    [[nodiscard]] const std::vector<Log>& logs() const noexcept { return content_.logs; }
    [[nodiscard]] const std::string& name() const noexcept { return content_.name; }
    [[nodiscard]] const std::string& title() const noexcept { return content_.title; }
    [[nodiscard]] const std::vector<Table>& tables() const noexcept { return content_.tables; }
    [[nodiscard]] const std::vector<Comparison>& comparisons() const noexcept {
        return content_.comparisons;
    }
    [[nodiscard]] std::size_t num_beyond() const noexcept;  ///< comparisons that do not hold
    [[nodiscard]] std::string html() const;
    /// One JSON object per table row, and one per comparison that does not hold.
    [[nodiscard]] std::vector<std::string> json_lines() const;

private:
    [[nodiscard]] Cell judged(Comparison comparison, const char* pattern);

    Content content_;
};

/// What the sections recorded, as PAGE-NAME.csv beside the page.
void write_logs(const std::vector<Section>& sections, const std::filesystem::path& page);

/// A whole HTML page around `body`, without scripts, for light and dark screens.
[[nodiscard]] std::string html_document(const std::string& title, const std::string& body);

/// The page of a module: what holds, its sections. `above` is HTML before the title, for a link to
/// an index.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& introduction,
                                    const std::vector<Section>& sections,
                                    const std::string& above = {});

}  // namespace pliant::reproduce
