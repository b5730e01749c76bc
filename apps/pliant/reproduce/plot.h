#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pliant::reproduce {

enum class Stroke { Line, Dashed, Dots, LineAndDots, DashedAndDots };

/// Points that are not finite or beyond 1e100 break the line; on a logarithmic axis so do those not
/// above zero.
struct Series {
    std::string label;  ///< empty: not in the legend
    std::vector<std::pair<double, double>> points;
    int color = 0;  ///< 0 … 7, the same in every plot for the same thing
    Stroke stroke = Stroke::Line;
};

/// A thin line across the whole plot at one value, with a word beside it.
struct Guide {
    double at = 0;
    std::string label;
    bool is_vertical = false;
};

struct Plot {
    std::string title = {}, x_label = {}, y_label = {};
    std::vector<Series> series = {};
    std::vector<Guide> guides = {};
    bool log_x = false, log_y = false;
    int width = 470, height = 330;
    /// Limits of the y axis; chosen from the data where both are equal.
    double y_low = 0, y_high = 0;
};

/// The plot as an SVG element with axes, ticks and legend. Its colours are those of the page.
[[nodiscard]] std::string drawn(const Plot& plot);

}  // namespace pliant::reproduce
