#include "report.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "apps/pliant/output.h"
#include "page_style.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_writer.h"

namespace pliant::reproduce {

using cli::format;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

Cell Cell::number(double value, const char* pattern) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, pattern, value);
    // −0.00 is no number to show
    const char* const text =
        buffer[0] == '-' && std::strtod(buffer, nullptr) == 0 ? buffer + 1 : buffer;
    Cell cell(std::isfinite(value) ? text : "–");
    cell.value = value;
    cell.is_number = true;
    return cell;
}

Cell Cell::count(std::int64_t value) {
    Cell cell(cli::grouped(value));
    cell.value = static_cast<double>(value);
    cell.is_number = true;
    return cell;
}

void Table::add(std::vector<Cell> row) {
    assert(row.size() == columns.size());
    rows.push_back(std::move(row));
}

Section::Section(std::string name, std::string title)
    : content_{std::move(name), std::move(title)} {}

void Section::text(const std::string& paragraph) {
    content_.body += "<p>" + escaped(paragraph) + "</p>\n";
}

void Section::heading(const std::string& words) {
    content_.body += "<h3>" + escaped(words) + "</h3>\n";
}

void Section::table(const Table& table) {
    constexpr std::size_t kManyColumns = 10, kLongWords = 60;
    content_.body += std::string("<div class=\"scroll\"><table") +
                     (table.columns.size() > kManyColumns ? " class=\"many\"" : "") +
                     ">\n<caption><span>" + escaped(table.caption) +
                     "</span></caption>\n<thead><tr>";
    for (const Table::Column& column : table.columns)
        content_.body += "<th>" + escaped(column.label) + "</th>";
    content_.body += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
        content_.body += "<tr>";
        for (const Cell& cell : row) {
            const char* kind = cell.deviates                   ? "off"
                               : cell.is_number                ? "num"
                               : cell.text.size() > kLongWords ? "long"
                                                               : "";
            content_.body += *kind ? format("<td class=\"%s\">", kind) : "<td>";
            content_.body += escaped(cell.text) + (cell.deviates ? " ✗</td>" : "</td>");
        }
        content_.body += "</tr>\n";
    }
    content_.body += "</tbody></table></div>\n";
    content_.tables.push_back(table);
}

void Section::figure(const std::vector<std::string>& drawings, const std::string& caption) {
    assert(!caption.empty());
    content_.body += "<figure><div class=\"row\">";
    for (const std::string& drawing : drawings) content_.body += drawing + "\n";
    content_.body += "</div><figcaption>" + escaped(caption) + "</figcaption></figure>\n";
}

Cell Section::judged(Comparison comparison, const char* pattern) {
    Cell cell = Cell::number(comparison.measured, pattern);
    cell.deviates = !comparison.holds();
    content_.comparisons.push_back(std::move(comparison));
    return cell;
}

Cell Section::compared(const std::string& what, double measured, double reference, double tolerance,
                       const char* pattern) {
    return judged({what, measured, reference - tolerance, reference + tolerance,
                   format("%.5g ± %.2g", reference, tolerance)},
                  pattern);
}

Cell Section::at_most(const std::string& what, double measured, double limit, const char* pattern) {
    return judged({what, measured, -kInfinity, limit, format("at most %.4g", limit)}, pattern);
}

Cell Section::at_least(const std::string& what, double measured, double limit,
                       const char* pattern) {
    return judged({what, measured, limit, kInfinity, format("at least %.4g", limit)}, pattern);
}

std::string Section::html() const {
    std::string out = "<section id=\"" + content_.name + "\">\n<h2>" + escaped(content_.title) +
                      "</h2>\n" + content_.body;
    std::string list;
    for (const Comparison& comparison : content_.comparisons)
        if (!comparison.holds())
            list += "<li>" +
                    escaped(comparison.what + format(": measured %.5g, ", comparison.measured) +
                            "expected " + comparison.expected) +
                    "</li>";
    if (!list.empty())
        out += "<div class=\"deviations\"><strong>Beyond the stated tolerance:</strong><ul>" +
               list + "</ul></div>\n";
    return out + "</section>\n";
}

std::vector<std::string> Section::json_lines() const {
    std::vector<std::string> lines;
    for (const Table& table : content_.tables)
        for (const std::vector<Cell>& row : table.rows) {
            JsonWriter json;
            json.begin_object().member("experiment", content_.name).member("table", table.name);
            for (std::size_t c = 0; c < row.size(); ++c) {
                if (row[c].is_number)
                    json.member(table.columns[c].key, row[c].value);
                else
                    json.member(table.columns[c].key, row[c].text);
            }
            lines.push_back(json.end_object().text());
        }
    for (const Comparison& comparison : content_.comparisons) {
        if (comparison.holds()) continue;
        JsonWriter json;
        json.begin_object()
            .member("experiment", content_.name)
            .member("deviation", comparison.what);
        json.member("measured", comparison.measured).member("expected", comparison.expected);
        lines.push_back(json.end_object().text());
    }
    return lines;
}

std::size_t Section::num_beyond() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(comparisons().begin(), comparisons().end(),
                      [](const Comparison& comparison) { return !comparison.holds(); }));
}

void write_logs(const std::vector<Section>& sections, const std::filesystem::path& page) {
    for (const Section& section : sections)
        for (const Section::Log& log : section.logs())
            write_file(page.parent_path() / (page.stem().string() + "-" + log.name + ".csv"),
                       log.csv);
}

std::string html_document(const std::string& title, const std::string& body) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + escaped(title) +
           "</title>\n<style>\n" + std::string(kPageStyle) + "</style>\n</head>\n<body>\n<main>\n";
    return out + body + "</main>\n</body>\n</html>\n";
}

std::string html_page(const std::string& title, const std::string& introduction,
                      const std::vector<Section>& sections, const std::string& above) {
    std::string out = above;
    out += "<h1>" + escaped(title) + "</h1>\n<p>" + escaped(introduction) + "</p>\n";

    // what holds and what does not, first
    std::size_t total = 0, beyond = 0;
    for (const Section& section : sections) {
        total += section.comparisons().size();
        beyond += section.num_beyond();
    }
    if (total > 0)
        out += format(
            "<p class=\"%s\">%zu numbers are compared with references: %zu within their "
            "tolerances, %zu beyond.</p>\n",
            beyond == 0 ? "good" : "bad", total, total - beyond, beyond);
    out += "<nav><ol>\n";
    for (const Section& section : sections) {
        const std::size_t off = section.num_beyond();
        out += "<li><a href=\"#" + section.name() + "\">" + escaped(section.title()) + "</a>" +
               (off > 0 ? format(" <span class=\"off\">%zu beyond tolerance</span>", off) : "") +
               "</li>\n";
    }
    out += "</ol></nav>\n";
    for (const Section& section : sections) out += section.html();
    return html_document(title, out);
}

}  // namespace pliant::reproduce
