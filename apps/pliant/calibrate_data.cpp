#include "calibrate_data.h"

#include <cmath>
#include <map>
#include <sstream>

#include "output.h"
#include "pliant/core/error.h"

namespace pliant::cli {
namespace {

constexpr const char* kHeaderExample = "write a header such as: depth [mm], force [N]";

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\"");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
    const char separator = line.find(';') != std::string::npos   ? ';'
                           : line.find(',') != std::string::npos ? ','
                                                                 : '\t';
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, separator);) cells.push_back(trimmed(cell));
    return cells;
}

/// Which quantity a column holds, and the factor to SI.
struct PressColumn {
    char quantity = 0;  ///< d, f, t; 0: not used
    double factor = 1;
};

PressColumn column_of(const std::string& header, const std::string& file, int line) {
    static const std::map<std::string, char> quantities{{"depth", 'd'},       {"displacement", 'd'},
                                                        {"indentation", 'd'}, {"force", 'f'},
                                                        {"load", 'f'},        {"time", 't'}};
    static const std::map<char, std::map<std::string, double>> units{
        {'d', {{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"µm", 1e-6}}},
        {'f', {{"N", 1}, {"mN", 1e-3}, {"kN", 1e3}}},
        {'t', {{"s", 1}, {"ms", 1e-3}}}};
    const std::size_t open = header.find('['), close = header.find(']');
    const auto found = quantities.find(trimmed(header.substr(0, open)));
    if (found == quantities.end()) return {};
    const std::string where = file + ":" + std::to_string(line);
    if (open == std::string::npos || close == std::string::npos || close < open)
        throw InputError(where, "column \"" + header + "\" has no unit; " + kHeaderExample);
    const std::string unit = trimmed(header.substr(open + 1, close - open - 1));
    const auto& known = units.at(found->second);
    if (!known.contains(unit)) {
        std::string list;
        for (const auto& [name, factor] : known) list += (list.empty() ? "" : ", ") + name;
        throw InputError(where, found->first, "[" + unit + "]", "a unit of " + list);
    }
    return {found->second, known.at(unit)};
}

double number_of(const std::string& cell, const std::string& where) {
    std::size_t used = 0;
    double value = NAN;
    try {
        value = std::stod(cell, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != cell.size() || !std::isfinite(value))
        throw InputError(where, "\"" + cell + "\" is not a number");
    return value;
}

/// Differences over both neighbours where there are two.
std::vector<double> rates(const std::vector<double>& x, const std::vector<double>& t) {
    std::vector<double> v(x.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t a = i > 0 ? i - 1 : i, b = i + 1 < x.size() ? i + 1 : i;
        v[i] = (x[b] - x[a]) / (t[b] - t[a]);
    }
    return v;
}

}  // namespace

PressData parse_press(const std::string& text, const std::string& file) {
    std::vector<PressColumn> columns;
    PressData data;
    std::vector<double> time;
    std::istringstream stream(text);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (trimmed(line).empty() || trimmed(line)[0] == '#') continue;
        const std::vector<std::string> cells = cells_of(line);
        const std::string where = file + ":" + std::to_string(number);
        if (columns.empty()) {
            std::string seen;
            for (const std::string& cell : cells) {
                columns.push_back(column_of(cell, file, number));
                if (columns.back().quantity) seen += columns.back().quantity;
            }
            for (const char needed : {'d', 'f', 't'}) {
                const std::size_t first = seen.find(needed);
                if (needed != 't' && first == std::string::npos)
                    throw InputError(where, std::string("has no column of ") +
                                                (needed == 'd' ? "depth" : "force") +
                                                " with its unit; " + kHeaderExample);
                if (first != std::string::npos && seen.find(needed, first + 1) != std::string::npos)
                    throw InputError(where, "has a quantity twice; keep one column of it");
            }
            continue;
        }
        if (cells.size() != columns.size())
            throw InputError(where, "has " + std::to_string(cells.size()) +
                                        " cells; the header has " + std::to_string(columns.size()));
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (columns[c].quantity == 0) continue;
            const double value = columns[c].factor * number_of(cells[c], where);
            (columns[c].quantity == 'd'   ? data.depth
             : columns[c].quantity == 'f' ? data.force
                                          : time)
                .push_back(value);
        }
        if (time.size() > 1 && !(time.back() > time[time.size() - 2]))
            throw InputError(where, "time does not go on; sort the rows by it");
    }
    if (data.depth.size() < 2)
        throw InputError(file, "has " + std::to_string(data.depth.size()) +
                                   " rows of numbers; at least 2 are needed");
    double deepest = 0;
    for (const double depth : data.depth) deepest = std::max(deepest, depth);
    if (!(deepest > 0))
        throw InputError(file, "no depth is positive: depth and force count into the body");
    if (!time.empty()) data.velocity = rates(data.depth, time);
    return data;
}

std::string press_csv(const PressData& data) {
    std::string text = "depth [m], force [N]\n";
    for (std::size_t i = 0; i < data.depth.size(); ++i)
        text += format("%.9g, %.9g\n", data.depth[i], data.force[i]);
    return text;
}

std::vector<double> parse_list(const std::string& text, const std::string& option,
                               bool is_ascending) {
    std::vector<double> numbers;
    std::istringstream stream(text);
    for (std::string cell; std::getline(stream, cell, ',');) {
        std::size_t used = 0;
        double value = NAN;
        try {
            value = std::stod(cell, &used);
        } catch (const std::exception&) {
        }
        if (!(value > 0 && std::isfinite(value)) ||
            cell.find_first_not_of(' ', used) != cell.npos ||
            (is_ascending && !numbers.empty() && value < numbers.back()))
            throw InputError("", option, text,
                             std::string("positive numbers") + (is_ascending ? ", ascending" : "") +
                                 ", as in 12.5,30,41");
        numbers.push_back(value);
    }
    return numbers;
}

}  // namespace pliant::cli
