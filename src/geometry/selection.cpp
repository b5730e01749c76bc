#include "pliant/geometry/selection.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr const char* kAxes = "xyz";
constexpr int kLongestList =
    100'000'000;  // far beyond any mesh; guards memory against `0-2000000000`

std::string plain(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

void require(bool condition, const char* field, double value, const char* expected) {
    if (!condition) throw InputError("", field, plain(value), expected);
}

void require_finite(const char* field, const Vector3d& v) {
    for (const double x : v) require(std::isfinite(x), field, x, "finite numbers");
}

Selection fraction_of_extent(double fraction, int axis, bool is_low) {
    require(fraction >= 0 && fraction <= 1, "percentage", 100 * fraction, "0 to 100 %");
    require(axis >= 0 && axis < 3, "axis", axis, "0, 1 or 2");
    if (is_low) return {Selection::Lowest{axis, fraction}};
    return {Selection::Highest{axis, fraction}};
}

/// Reads one selection word by word.
class Parser {
public:
    explicit Parser(const std::string& text) : text_(text) {
        bool starts_word = true;
        // words between blanks and commas; < > % stand alone
        for (const char c : text) {
            const bool is_blank = std::string(" \t\r\n,").find(c) != std::string::npos;
            const bool is_symbol = c == '<' || c == '>' || c == '%';
            if (is_blank || is_symbol) {
                starts_word = true;
                if (is_symbol) words_.push_back(std::string(1, c));
            } else {
                if (starts_word) words_.emplace_back();
                starts_word = false;
                words_.back() += c;
            }
        }
    }

    Selection parse() {
        Selection selection;
        try {
            selection = parse_kind(next("a selection"));
        } catch (const InputError& error) {
            throw InputError("", std::string("cannot read the selection \"") + text_ +
                                     "\": " + error.what() +
                                     "; examples: \"z < 5 %\", \"x > 0.02\" (metres), \"lowest 5 "
                                     "%\", \"box 0 0 0 1 1 0.1\", \"sphere 0 0 0 0.1\", \"plane 0 "
                                     "0 1 0.02\", \"list 1,2,7-9\"");
        }
        return selection;
    }

private:
    [[noreturn]] static void fail(const std::string& reason) { throw InputError("", reason); }

    Selection parse_kind(const std::string& kind) {
        Selection selection;
        if (const int axis = axis_of(kind); axis >= 0) {
            selection = parse_comparison(axis);
        } else if (kind == "lowest" || kind == "highest") {
            const double fraction = number() / 100;
            if (next("\"%\"") != "%") fail("\"" + kind + "\" needs a percentage");
            const int along = at_end() ? 2 : axis_of(next("an axis"));
            if (along < 0) fail("the axis must be x, y or z, not \"" + words_[place_ - 1] + "\"");
            selection = fraction_of_extent(fraction, along, kind == "lowest");
        } else if (kind == "box") {
            const Vector3d low = vector();
            selection = in_box(low, vector());
        } else if (kind == "sphere") {
            const Vector3d centre = vector();
            selection = in_sphere(centre, number());
        } else if (kind == "plane") {
            const Vector3d normal = vector();
            selection = below_plane(normal, number());
        } else if (kind == "list") {
            selection = parse_list();
        } else {
            fail("\"" + kind + "\" is not known");
        }
        if (!at_end()) fail("\"" + words_[place_] + "\" is left over at the end");
        return selection;
    }

    Selection parse_comparison(int axis) {
        const std::string sign = next("\"<\" or \">\"");
        if (sign != "<" && sign != ">") fail("expected \"<\" or \">\", not \"" + sign + "\"");
        const bool is_below = sign == "<";
        const double value = number();
        if (at_end() || words_[place_] != "%") {
            const Vector3d normal = (is_below ? 1 : -1) * Vector3d::Unit(axis);
            return below_plane(normal, is_below ? value : -value);
        }
        ++place_;
        require(value >= 0 && value <= 100, "percentage", value, "0 to 100 %");
        return fraction_of_extent((is_below ? value : 100 - value) / 100, axis, is_below);
    }

    Selection parse_list() {
        std::vector<int> vertices;
        do {
            const std::string word = next("a vertex index");
            const auto dash = word.find('-', 1);
            const int first = index(word.substr(0, dash));
            const int last = dash == std::string::npos ? first : index(word.substr(dash + 1));
            if (last < first) fail("the range " + word + " runs backwards");
            const std::int64_t length = std::int64_t{last} - first + 1;
            const auto old_size = vertices.size();
            if (length > kLongestList - static_cast<std::int64_t>(old_size))
                fail("the range " + word + " is longer than any mesh");
            vertices.resize(old_size + static_cast<std::size_t>(length));
            std::iota(vertices.begin() + static_cast<std::ptrdiff_t>(old_size), vertices.end(),
                      first);
        } while (!at_end());
        return vertex_list(std::move(vertices));
    }

    [[nodiscard]] bool at_end() const { return place_ == words_.size(); }
    const std::string& next(const std::string& expected) {
        if (at_end()) fail(expected + " is missing at the end");
        return words_[place_++];
    }
    static int axis_of(const std::string& word) {
        return word == "x" ? 0 : word == "y" ? 1 : word == "z" ? 2 : -1;
    }
    template <class Number>
    static Number read(const std::string& word, const char* what) {
        Number value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size())
            fail("\"" + word + "\" is not " + what);
        return value;
    }
    static int index(const std::string& word) { return read<int>(word, "a vertex index"); }
    double number() {
        const std::string& word = next("a number");
        const double value = read<double>(word, "a number");
        if (!std::isfinite(value)) fail("\"" + word + "\" is not a finite number");
        return value;
    }
    Vector3d vector() {
        const double x = number(), y = number();
        return {x, y, number()};
    }

    const std::string& text_;
    std::vector<std::string> words_;
    std::size_t place_ = 0;
};

struct Extent {
    double low, high;
};

Extent extent_along(int axis, const std::vector<Vector3d>& vertices) {
    Extent extent{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
    for (const Vector3d& x : vertices) {
        extent.low = std::min(extent.low, x[axis]);
        extent.high = std::max(extent.high, x[axis]);
    }
    return extent;
}

template <class Predicate>
std::vector<int> filter(const std::vector<Vector3d>& vertices, const Predicate& is_selected) {
    std::vector<int> indices;
    for (int v = 0; v < static_cast<int>(vertices.size()); ++v)
        if (is_selected(vertices[static_cast<std::size_t>(v)])) indices.push_back(v);
    return indices;
}

/// One overload for each shape.
struct Selector {
    const std::vector<Vector3d>& vertices;
    SelectionNoun noun;

    std::vector<int> operator()(const Selection::InBox& box) const {
        return filter(vertices, [&](const Vector3d& x) {
            return (x.array() >= box.low.array()).all() && (x.array() <= box.high.array()).all();
        });
    }
    std::vector<int> operator()(const Selection::InSphere& sphere) const {
        return filter(vertices, [&](const Vector3d& x) {
            return (x - sphere.centre).norm() <= sphere.radius;
        });
    }
    std::vector<int> operator()(const Selection::BelowPlane& plane) const {
        return filter(vertices,
                      [&](const Vector3d& x) { return plane.normal.dot(x) < plane.offset; });
    }
    std::vector<int> operator()(const Selection::Lowest& part) const {
        const auto [low, high] = extent_along(part.axis, vertices);
        const double limit = low + (part.fraction + 1e-9) * (high - low);
        return filter(vertices,
                      [&, axis = part.axis](const Vector3d& x) { return x[axis] <= limit; });
    }
    std::vector<int> operator()(const Selection::Highest& part) const {
        const auto [low, high] = extent_along(part.axis, vertices);
        const double limit = high - (part.fraction + 1e-9) * (high - low);
        return filter(vertices,
                      [&, axis = part.axis](const Vector3d& x) { return x[axis] >= limit; });
    }
    std::vector<int> operator()(const Selection::List& list) const {
        std::vector<int> indices = list.vertices;
        std::ranges::sort(indices);
        indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
        if (!indices.empty() && indices.back() >= static_cast<int>(vertices.size()))
            throw InputError("", noun.one + (" " + std::to_string(indices.back())) +
                                     " of the list does not exist; there are " +
                                     std::to_string(vertices.size()) + " " + noun.many +
                                     ", numbered from 0");
        return indices;
    }
};

/// `z runs from 0.000 to 0.141 m`, with enough decimals for small bodies.
std::string describe_extent(int axis, const std::vector<Vector3d>& vertices) {
    const auto [low, high] = extent_along(axis, vertices);
    int decimals = 3;
    const double extent = high - low;
    if (extent > 0 && std::isfinite(extent))
        decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(extent))), 3, 15);
    char text[128];
    std::snprintf(text, sizeof text, "%c runs from %.*f to %.*f m", kAxes[axis], decimals, low,
                  decimals, high);
    return text;
}

/// The axis and side of a plane across an axis, else −1.
std::pair<int, bool> axis_and_side(const Selection& selection) {
    if (const auto* plane = std::get_if<Selection::BelowPlane>(&selection.shape))
        for (int axis = 0; axis < 3; ++axis)
            if (std::abs(plane->normal[axis]) == plane->normal.lpNorm<1>())
                return {axis, plane->normal[axis] > 0};
    return {-1, true};
}

}  // namespace

Selection in_box(const Vector3d& low, const Vector3d& high) {
    require_finite("box corner", low);
    require_finite("box corner", high);
    for (int k = 0; k < 3; ++k)
        if (low[k] > high[k])
            throw InputError("", std::string("the box runs backwards along ") + kAxes[k] +
                                     ": from " + plain(low[k]) + " to " + plain(high[k]));
    return {Selection::InBox{low, high}};
}

Selection in_sphere(const Vector3d& centre, double radius) {
    require_finite("sphere centre", centre);
    require(std::isfinite(radius) && radius >= 0, "sphere radius", radius,
            "a finite number, not negative");
    return {Selection::InSphere{centre, radius}};
}

Selection below_plane(const Vector3d& normal, double offset) {
    require_finite("plane normal", normal);
    require(normal.squaredNorm() > 0, "length of the plane normal", 0, "more than 0");
    require(std::isfinite(offset), "plane offset", offset, "a finite number");
    return {Selection::BelowPlane{normal, offset}};
}

Selection lowest(double fraction, int axis) { return fraction_of_extent(fraction, axis, true); }

Selection highest(double fraction, int axis) { return fraction_of_extent(fraction, axis, false); }

Selection vertex_list(std::vector<int> vertices) {
    for (const int v : vertices) require(v >= 0, "vertex index", v, "0 or more");
    return {Selection::List{std::move(vertices)}};
}

Selection parse_selection(const std::string& text) { return Parser(text).parse(); }

std::vector<int> select(const Selection& selection, const std::vector<Vector3d>& points,
                        SelectionNoun noun) {
    return std::visit(Selector{points, noun}, selection.shape);
}

std::vector<int> select_some(const std::string& text, const std::vector<Vector3d>& points,
                             const std::string& option, SelectionNoun noun) {
    Selection selection;
    std::vector<int> indices;
    try {
        selection = parse_selection(text);
        indices = select(selection, points, noun);
    } catch (const InputError& error) {
        throw InputError(option, error.what());
    }
    if (!indices.empty()) return indices;

    const std::string complaint = option + " \"" + text + "\" selects no " + noun.one + "; ";
    if (points.empty()) throw InputError("", complaint + "there are none.");
    const auto [axis, is_below] = axis_and_side(selection);
    if (axis < 0)
        throw InputError("", complaint + describe_extent(0, points) + ", " +
                                 describe_extent(1, points) + ", " + describe_extent(2, points) +
                                 ". Try \"lowest 5 %\" for those at the bottom.");
    throw InputError(
        "", complaint + describe_extent(axis, points) + ". Try \"" + kAxes[axis] +
                (is_below ? " < 5 %\" for the lowest 5 %." : " > 95 %\" for the highest 5 %."));
}

}  // namespace pliant
