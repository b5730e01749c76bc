#include "output.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "arguments.h"
#include "pliant/core/error.h"

namespace pliant::cli {
namespace {

// columns on the terminal: bytes less UTF-8 continuation bytes
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string grouped(std::int64_t number) {
    std::string text = std::to_string(number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > first; i -= 3)
        text.insert(static_cast<std::size_t>(i), ",");
    return text;
}

std::string byte_size(double bytes) {
    if (bytes < 1e3) return format("%.0f B", bytes);
    if (bytes < 1e6) return format("%.1f kB", bytes / 1e3);
    if (bytes < 1e9) return format("%.1f MB", bytes / 1e6);
    return format("%.2f GB", bytes / 1e9);
}

std::string format(const char* pattern, ...) {
    char buffer[256];
    va_list values;
    va_start(values, pattern);
    std::vsnprintf(buffer, sizeof buffer, pattern, values);
    va_end(values);
    return buffer;
}

void Table::print() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c == widths.size()) widths.push_back(0);
            widths[c] = std::max(widths[c], width(row[c]));
        }
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string gap(widths[c] - width(row[c]), ' ');
            line += (c == 0 ? row[c] + gap : "  " + gap + row[c]);
        }
        std::printf("%s\n", line.c_str());
    }
}

ProgressStyle progress_style(const Arguments& arguments) {
    const std::string style = arguments.text("--progress", "auto");
    if (style == "auto") return arguments.json() ? ProgressStyle::Silent : ProgressStyle::Auto;
    if (style == "bar") return ProgressStyle::Bar;
    if (style == "lines") return ProgressStyle::Lines;
    if (style == "json") return ProgressStyle::Json;
    if (style == "none") return ProgressStyle::Silent;
    throw InputError("", "--progress", style, "bar, lines, json or none");
}

}  // namespace pliant::cli
