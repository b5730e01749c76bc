#include "plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/pliant/output.h"
#include "report.h"

namespace pliant::reproduce {
namespace {

using cli::format;

constexpr double kLeastLeft = 62, kRight = 14, kTitle = 24, kLegendRow = 17, kBottom = 44,
                 kTitleRow = 20;
constexpr double kLetter = 6.9;  // usual width of a letter of the labels

/// Values along one side of the plot, and where they are on it.
class Axis {
public:
    explicit Axis(bool is_log) : is_log_(is_log) {}

    [[nodiscard]] bool takes(double value) const {
        return std::abs(value) < 1e100 && (!is_log_ || value > 1e-100);
    }
    void extend(double value) {
        if (!takes(value)) return;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    void set(double low, double high) {
        low_ = low;
        high_ = high;
    }
    void put(double start, double end) {
        start_ = start;
        end_ = end;
    }
    /// Leaves room around the data, and some where there is none.
    void finish(double margin) {
        if (!(low_ <= high_)) low_ = high_ = 1;
        if (is_log_) {
            const double factor = std::max(std::pow(high_ / low_, margin), 1.05);
            low_ /= factor;
            high_ *= factor;
            return;
        }
        const double span = high_ - low_;
        const double room = span > 0 ? margin * span : std::max(std::abs(low_), 1.0) * 0.5;
        low_ -= room;
        high_ += room;
    }
    [[nodiscard]] double place(double value) const {
        const double t = is_log_ ? std::log(value / low_) / std::log(high_ / low_)
                                 : (value - low_) / (high_ - low_);
        // far outside is far enough, and short to write
        return start_ + std::clamp(t, -50.0, 50.0) * (end_ - start_);
    }
    [[nodiscard]] bool shows(double value) const { return value >= low_ && value <= high_; }

    [[nodiscard]] std::vector<double> ticks() const {
        std::vector<double> ticks;
        if (is_log_ && high_ / low_ > 8) {
            // every decade, or every few where they crowd; 2 and 5 between few of them
            const int first = static_cast<int>(std::floor(std::log10(low_))),
                      last = static_cast<int>(std::ceil(std::log10(high_)));
            const int every = std::max(1, (last - first) / 6);
            for (int decade = first; decade <= last; decade += every)
                for (const int digit : {1, 2, 5})
                    if (digit == 1 || last - first <= 3)
                        ticks.push_back(digit * std::pow(10.0, decade));
        } else {
            const double raw = (high_ - low_) / 6,
                         power = std::pow(10.0, std::floor(std::log10(raw)));
            const double ratio = raw / power;
            const double step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
            for (double k = std::ceil(low_ / step); k * step <= high_; ++k)
                ticks.push_back(k * step);
        }
        std::erase_if(ticks, [&](double tick) { return !shows(tick); });
        return ticks;
    }

private:
    bool is_log_;
    double start_ = 0, end_ = 1;
    double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

/// 2.5e-4: shorter than printf's 2.5e-04.
std::string by_power_of_ten(double value) {
    if (value == 0 || value == 1) return value == 0 ? "0" : "1";
    const std::string text = format("%.3e", value);
    const std::size_t e = text.find('e');
    std::string digits = text.substr(0, e);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + "e" + std::to_string(std::stoi(text.substr(e + 1)));
}

/// The numbers of one axis, all by powers of ten where one is too large or small to be read.
std::vector<std::string> tick_texts(const std::vector<double>& ticks) {
    const bool by_power = std::ranges::any_of(ticks, [](double tick) {
        return tick != 0 && (std::abs(tick) >= 1e5 || std::abs(tick) < 1e-3);
    });
    std::vector<std::string> texts;
    for (const double tick : ticks)
        texts.push_back(by_power ? by_power_of_ten(tick) : format("%.5g", tick + 0.0));  // no -0
    return texts;
}

std::string words(double x, double y, const char* anchor, const std::string& text,
                  const char* kind = "") {
    return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                  kind) +
           escaped(text) + "</text>\n";
}

double text_width(const std::string& text) {
    const auto letters =
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    return kLetter * static_cast<double>(letters);
}

bool has_line(Stroke stroke) { return stroke != Stroke::Dots; }
bool has_dots(Stroke stroke) {
    return stroke == Stroke::Dots || stroke == Stroke::LineAndDots ||
           stroke == Stroke::DashedAndDots;
}
std::string line_kind(const Series& series) {
    const bool dashed = series.stroke == Stroke::Dashed || series.stroke == Stroke::DashedAndDots;
    return format("line s%d%s", series.color, dashed ? " dash" : "");
}

/// A point of a series on the drawing.
struct Spot {
    double x, y;
    bool begins;  ///< no stroke leads here: the first one, or what is before has no place
};

std::vector<Spot> spots_of(const Series& series, const Axis& x, const Axis& y) {
    std::vector<Spot> spots;
    bool begins = true;
    for (const auto& [px, py] : series.points) {
        if (!x.takes(px) || !y.takes(py)) {
            begins = true;
            continue;
        }
        const Spot spot{x.place(px), y.place(py), begins};
        // points that fall on one spot of the drawing are one
        if (!begins && std::hypot(spot.x - spots.back().x, spot.y - spots.back().y) < 0.4) continue;
        spots.push_back(spot);
        begins = false;
    }
    return spots;
}

std::string curve(const Series& series, const Axis& x, const Axis& y) {
    std::string path, dots;
    for (const Spot& spot : spots_of(series, x, y)) {
        path += format("%s%.1f %.1f", spot.begins ? "M" : "L", spot.x, spot.y);
        if (has_dots(series.stroke))
            dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" class=\"f%d\"/>", spot.x,
                           spot.y, series.color);
    }
    std::string out;
    if (has_line(series.stroke) && !path.empty())
        out += "<path class=\"" + line_kind(series) + "\" d=\"" + path + "\"/>\n";
    return out + dots;
}

/// Length of a series' mark in the legend: dashes must be seen on both sides of a dot.
double mark_length(const Series& series) {
    return series.stroke == Stroke::DashedAndDots ? 26 : 18;
}

/// Where each legend entry stands; rows are filled from the left.
std::vector<std::pair<double, double>> legend_places(const Plot& plot, double left, double& rows) {
    std::vector<std::pair<double, double>> places;
    double x = left, y = kTitle + 10;
    rows = 0;
    for (const Series& series : plot.series) {
        const double width =
            series.label.empty() ? 0 : 16 + mark_length(series) + text_width(series.label);
        if (x > left && x + width > plot.width) {
            x = left;
            y += kLegendRow;
        }
        places.emplace_back(x, y);
        x += width;
        if (width > 0) rows = (y - kTitle - 10) / kLegendRow + 1;
    }
    return places;
}

/// Whether a curve passes through a rectangle of the drawing.
bool passes(const std::vector<Series>& all, const Axis& x, const Axis& y, double left, double right,
            double top, double bottom) {
    for (const Series& series : all) {
        const std::vector<Spot> spots = spots_of(series, x, y);
        for (std::size_t i = 0; i < spots.size(); ++i) {
            const bool has_stroke = !spots[i].begins && has_line(series.stroke);
            Spot from = spots[has_stroke ? i - 1 : i], to = spots[i];
            if (from.x > to.x) std::swap(from, to);
            if (to.x < left || from.x > right) continue;
            // heights of the part of the stroke between left and right
            const double slope = to.x > from.x ? (to.y - from.y) / (to.x - from.x) : 0;
            const double a = from.x < left ? from.y + slope * (left - from.x) : from.y,
                         b = to.x > right ? from.y + slope * (right - from.x) : to.y;
            if (std::max(a, b) > top && std::min(a, b) < bottom) return true;
        }
    }
    return false;
}

/// Where words of guides stand; later ones make room for earlier ones.
class GuideWords {
public:
    /// At `x` and `y`, or below whatever is there.
    std::string put(double x, double y, const char* anchor, const std::string& text) {
        const double width = text_width(text), from = *anchor == 'e' ? x - width : x;
        if (text.empty()) return {};
        for (bool is_free = false; !is_free;) {
            is_free = true;
            for (const Place& place : taken_)
                if (from < place.to && place.from < from + width &&
                    std::abs(place.y - y) < kGuideRow) {
                    y = place.y + kGuideRow;
                    is_free = false;
                }
        }
        taken_.push_back({from, from + width, y});
        return words(x, y, anchor, text, "soft halo");
    }

private:
    static constexpr double kGuideRow = 13;
    struct Place {
        double from, to, y;
    };
    std::vector<Place> taken_;
};

}  // namespace

std::string drawn(const Plot& plot) {
    Axis x(plot.log_x), y(plot.log_y);
    for (const Series& series : plot.series)
        for (const auto& [px, py] : series.points) {
            if (!x.takes(px) || !y.takes(py)) continue;
            x.extend(px);
            y.extend(py);
        }
    for (const Guide& guide : plot.guides) (guide.is_vertical ? x : y).extend(guide.at);
    x.finish(0.02);
    y.finish(0.06);
    if (plot.y_low != plot.y_high) y.set(plot.y_low, plot.y_high);
    // long numbers along the y axis must not reach its title
    double left = kLeastLeft;
    for (const std::string& text : tick_texts(y.ticks()))
        left = std::max(left, kTitleRow + 6 + text_width(text));
    double legend_rows = 0;
    const auto places = legend_places(plot, left, legend_rows);
    const double top = kTitle + kLegendRow * legend_rows + 6;
    const double right = plot.width - kRight, bottom = plot.height - kBottom;
    x.put(left, right);
    y.put(bottom, top);

    std::string out =
        format("<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", plot.width,
               plot.height, plot.width, plot.height);
    out += "<title>" + escaped(plot.title) + "</title>\n";
    out += words(left, 15, "start", plot.title);

    // grid, ticks, axes
    const std::vector<double> x_ticks = x.ticks(), y_ticks = y.ticks();
    const std::vector<std::string> x_texts = tick_texts(x_ticks), y_texts = tick_texts(y_ticks);
    for (std::size_t i = 0; i < x_ticks.size(); ++i) {
        const double at = x.place(x_ticks[i]);
        out += format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                      at, top, at, bottom);
        const bool fits = at + 0.5 * text_width(x_texts[i]) < plot.width;
        out +=
            words(fits ? at : plot.width, bottom + 15, fits ? "middle" : "end", x_texts[i], "soft");
    }
    for (std::size_t i = 0; i < y_ticks.size(); ++i) {
        const double at = y.place(y_ticks[i]);
        out += format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                      left, at, right, at);
        out += words(left - 6, at + 4, "end", y_texts[i], "soft");
    }
    out += format("<path class=\"axis\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n", left, top, left,
                  bottom, right, bottom);
    out += words(0.5 * (left + right), plot.height - 8, "middle", plot.x_label);
    out += format("<g transform=\"translate(13 %.1f) rotate(-90)\">", 0.5 * (top + bottom)) +
           words(0, 0, "middle", plot.y_label) + "</g>\n";

    // from left to right and from above, so that words which make room stay in the order of lines
    std::vector<Guide> guides = plot.guides;
    std::stable_sort(guides.begin(), guides.end(), [](const Guide& a, const Guide& b) {
        if (a.is_vertical != b.is_vertical) return a.is_vertical;
        return a.is_vertical ? a.at < b.at : a.at > b.at;
    });
    GuideWords guide_words;
    std::string labels;  // above the curves
    for (const Guide& guide : guides) {
        const double at = guide.is_vertical ? x.place(guide.at) : y.place(guide.at);
        if (guide.is_vertical) {
            out += format("<line class=\"ref\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                          at, top, at, bottom);
            const bool fits = at + 4 + text_width(guide.label) < right;
            labels += guide_words.put(fits ? at + 4 : at - 4, top + 12, fits ? "start" : "end",
                                      guide.label);
        } else {
            out += format("<line class=\"ref\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                          left, at, right, at);
            // at the left end where curves pass the words at the right one
            const auto is_crossed = [&](double from) {
                return passes(plot.series, x, y, from, from + text_width(guide.label), at - 14,
                              at - 3);
            };
            const bool goes_left =
                is_crossed(right - 4 - text_width(guide.label)) && !is_crossed(left + 4);
            labels += guide_words.put(goes_left ? left + 4 : right - 4, at - 4,
                                      goes_left ? "start" : "end", guide.label);
        }
    }
    // curves are cut at the border where the limits were given
    const bool is_cut = plot.y_low != plot.y_high;
    if (is_cut)
        out += format(
            "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f "
            "%.1f\">\n",
            left, top, right - left, bottom - top, left, top, right - left, bottom - top);
    for (const Series& series : plot.series) out += curve(series, x, y);
    if (is_cut) out += "</svg>\n";
    out += labels;

    for (std::size_t s = 0; s < plot.series.size(); ++s) {
        const Series& series = plot.series[s];
        if (series.label.empty()) continue;
        const auto [at_x, at_y] = places[s];
        const double mark = mark_length(series);
        if (has_line(series.stroke))
            out += format("<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                          line_kind(series).c_str(), at_x, at_y - 4, at_x + mark, at_y - 4);
        if (has_dots(series.stroke))
            out += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" class=\"f%d\"/>\n",
                          at_x + 0.5 * mark, at_y - 4, series.color);
        out += words(at_x + mark + 4, at_y, "start", series.label);
    }
    return out + "</svg>";
}

}  // namespace pliant::reproduce
