#include "field_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "arguments.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/field/iso_surface.h"

namespace pliant::cli {
namespace {

constexpr int kSlicePixels = 900;  // along the longer side

struct SlicePlane {
    int axis;
    double position;  // [m]
};

/// `z=0.1`
SlicePlane parse_slice(const std::string& text, const Box& box) {
    const auto fail = [&](const std::string& expected) {
        throw InputError("", "--slice", text, expected);
    };
    const std::string axes = "xyz";
    const std::size_t axis = text.empty() ? std::string::npos : axes.find(text[0]);
    double position = 0;
    const char* end = text.data() + text.size();
    if (axis == std::string::npos || text.size() < 3 || text[1] != '=' ||
        std::from_chars(text.data() + 2, end, position).ptr != end)
        fail("an axis and a position in metres, as in z=0.1");
    const int a = static_cast<int>(axis);
    if (!(position >= box.min()[a] && position <= box.max()[a]))
        fail(format("%.4g to %.4g m, the box of the field", box.min()[a], box.max()[a]));
    return {a, position};
}

}  // namespace

void print_field(const DistanceGrid& field) {
    const GridFrame& frame = field.frame();
    const Box box = frame.box();
    const CullingMargin margin = field.margin();
    std::printf("field        %d × %d × %d cells of %.4g mm, %s\n", frame.cells[0], frame.cells[1],
                frame.cells[2], 1e3 * frame.cell,
                field.arrays().storage == GridStorage::Dense
                    ? "dense"
                    : ("sparse: " + grouped(field.num_bricks()) + " of " +
                       grouped(static_cast<std::int64_t>(field.arrays().brick_of_block.size())) +
                       " blocks fine")
                          .c_str());
    std::printf("box          %.4g … %.4g, %.4g … %.4g, %.4g … %.4g m\n", box.min().x(),
                box.max().x(), box.min().y(), box.max().y(), box.min().z(), box.max().z());
    std::printf("memory       %s\n", byte_size(static_cast<double>(field.memory())).c_str());
    std::printf("margin       %.3g mm near the surface", 1e3 * margin.near);
    if (std::isfinite(margin.band))
        std::printf(", %.3g mm beyond %.3g mm", 1e3 * margin.far, 1e3 * margin.band);
    std::printf("\n");
}

void write_field(const DistanceGrid& field, JsonWriter& json) {
    const GridFrame& frame = field.frame();
    const CullingMargin margin = field.margin();
    json.key("field").begin_object().key("cells").begin_array();
    for (const int n : frame.cells) json.value(n);
    json.end_array()
        .member("cell_m", frame.cell)
        .member("storage", field.arrays().storage == GridStorage::Dense ? "dense" : "sparse")
        .member("num_bricks", field.num_bricks())
        .member("memory_bytes", static_cast<std::uint64_t>(field.memory()))
        .member("boundary_m", double{field.arrays().boundary})
        .member("margin_near_m", double{margin.near})
        .member("margin_far_m", double{margin.far});
    if (std::isfinite(margin.band)) json.member("margin_band_m", double{margin.band});
    json.end_object();
}

void print_shell(const PointTree& tree) {
    const Pointshell& shell = tree.shell();
    std::printf("points       %s in %d level%s, %s nodes, %s, %s\n",
                grouped(tree.num_points()).c_str(), tree.num_levels(),
                tree.num_levels() == 1 ? "" : "s", grouped(tree.num_nodes()).c_str(),
                tree.rank() == 0 ? "rigid" : format("deformable, r = %d", tree.rank()).c_str(),
                byte_size(static_cast<double>(tree.memory())).c_str());
    if (shell.offset > 0)
        std::printf("surface      %.4g mm outside the mesh\n", 1e3 * shell.offset);
    Table table({"level", "points", "spacing [mm]", "variation"});
    for (int level = 0; level < tree.num_levels(); ++level) {
        const SpacingStatistics spacing = spacing_statistics(shell, level);
        table.add({std::to_string(level + 1), grouped(shell.level_start[level + 1]),
                   format("%.4g", 1e3 * spacing.mean), format("%.3f", spacing.variation)});
    }
    table.print();
}

void write_shell(const PointTree& tree, JsonWriter& json) {
    const Pointshell& shell = tree.shell();
    json.key("pointshell")
        .begin_object()
        .member("num_points", tree.num_points())
        .member("num_nodes", tree.num_nodes())
        .member("rank", tree.rank())
        .member("memory_bytes", static_cast<std::uint64_t>(tree.memory()))
        .member("offset_m", shell.offset);
    json.key("levels").begin_array();
    for (int level = 0; level < tree.num_levels(); ++level) {
        const SpacingStatistics spacing = spacing_statistics(shell, level);
        json.begin_object()
            .member("num_points", shell.level_start[level + 1])
            .member("spacing_m", spacing.mean)
            .member("variation", spacing.variation)
            .end_object();
    }
    json.end_array().end_object();
}

void save_slice(const Arguments& arguments, const DistanceGrid& field, JsonWriter& json) {
    const std::string out = arguments.required("-o");
    check_output(out, {".png"});
    const Box& box = field.bounds();
    const auto [axis, position] = parse_slice(arguments.text("--slice"), box);
    // z up where there is one, else y
    const int right = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
    const Eigen::Vector3d sizes = box.sizes();
    const double pixel = std::max(sizes[right], sizes[up]) / kSlicePixels;
    const auto pixels = [pixel](double length) {
        return std::max(1, static_cast<int>(std::lround(length / pixel)));
    };
    Eigen::Vector3d origin = box.min();
    origin[axis] = position;
    const FieldSlice slice =
        slice_field(field, origin, sizes[right] * Eigen::Vector3d::Unit(right),
                    sizes[up] * Eigen::Vector3d::Unit(up), pixels(sizes[right]), pixels(sizes[up]));
    save_slice_png(slice, out, pixel);
    json.member("slice", out);
    if (!arguments.json())
        std::printf("slice        wrote %s, %d × %d pixels of %.3g mm; blue is inside\n",
                    out.c_str(), slice.width, slice.height, 1e3 * pixel);
}

}  // namespace pliant::cli
