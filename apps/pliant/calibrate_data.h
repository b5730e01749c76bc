#pragma once

#include <string>
#include <vector>

namespace pliant::cli {

/// A measured press, SI.
struct PressData {
    std::vector<double> depth;     ///< [m]
    std::vector<double> force;     ///< [N]
    std::vector<double> velocity;  ///< of the depth [m/s]; empty: the file has no time
};

/// Columns of `text` by their headers: depth (or displacement, indentation), force (or load), and
/// time if there is one, each with its unit in brackets. Throws InputError that names file, line
/// and what to write.
[[nodiscard]] PressData parse_press(const std::string& text, const std::string& file);
/// As parse_press reads it.
[[nodiscard]] std::string press_csv(const PressData& data);

/// "12.5, 30, 41": positive, ascending numbers.
[[nodiscard]] std::vector<double> parse_list(const std::string& text, const std::string& option,
                                             bool is_ascending);

}  // namespace pliant::cli
