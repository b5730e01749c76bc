#pragma once

#include <cstdint>
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
    Section(std::string name, std::string title);

    void text(const std::string& paragraph);
    void heading(const std::string& words);
    void table(const Table& table);
    /// `drawings` are SVG elements, side by side.
    void figure(const std::vector<std::string>& drawings, const std::string& caption);

    /// A recording, for a file beside the page when logs are asked for.
    void log(std::string name, std::string csv) {
        logs_.push_back({std::move(name), std::move(csv)});
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

    struct Log {
        std::string name, csv;
    };
    [[nodiscard]] const std::vector<Log>& logs() const noexcept { return logs_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& title() const noexcept { return title_; }
    [[nodiscard]] const std::vector<Comparison>& comparisons() const noexcept {
        return comparisons_;
    }
    [[nodiscard]] std::string html() const;
    /// One JSON object per table row, and one per comparison that does not hold.
    [[nodiscard]] std::vector<std::string> json_lines() const;

private:
    [[nodiscard]] Cell judged(Comparison comparison, const char* pattern);

    std::string name_, title_, body_;
    std::vector<Table> tables_;
    std::vector<Comparison> comparisons_;
    std::vector<Log> logs_;
};

/// A whole HTML page without scripts or links to other files, for light and dark screens.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& introduction,
                                    const std::vector<Section>& sections);

}  // namespace pliant::reproduce
