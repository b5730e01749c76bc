#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "pliant/field/iso_surface.h"
#include "report.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector2d;
using Eigen::Vector3d;

std::string framed(int width, double height, const std::string& label, const std::string& inside) {
    return format("<svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n",
                  width, height + 20, width, height + 20) +
           inside +
           format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * width, height + 15) +
           escaped(label) + "</text>\n</svg>";
}

/// Where the values cross a level on the edge between two pixels.
Vector2d crossing(const Vector2d& a, const Vector2d& b, double at_a, double at_b, double level) {
    return a + (b - a) * ((level - at_a) / (at_b - at_a));
}

/// Marching squares over pixel centres; one path of separate segments.
std::string iso_path(const FieldSlice& slice, double level) {
    std::string path;
    const auto value = [&](int i, int j) {
        return double{
            slice.values[static_cast<std::size_t>(j) * static_cast<std::size_t>(slice.width) +
                         static_cast<std::size_t>(i)]};
    };
    for (int j = 0; j + 1 < slice.height; ++j)
        for (int i = 0; i + 1 < slice.width; ++i) {
            const int x[] = {i, i + 1, i + 1, i}, y[] = {j, j, j + 1, j + 1};
            Vector2d ends[4];
            int count = 0;
            for (int k = 0; k < 4; ++k) {
                const int next = (k + 1) % 4;
                const double a = value(x[k], y[k]), b = value(x[next], y[next]);
                if ((a < level) == (b < level)) continue;
                ends[count++] =
                    crossing({x[k], y[k]}, {x[next], y[next]}, a, b, level) + Vector2d(0.5, 0.5);
            }
            for (int k = 0; k + 1 < count; k += 2)
                path += format("M%.1f %.1fL%.1f %.1f", ends[k].x(), ends[k].y(), ends[k + 1].x(),
                               ends[k + 1].y());
        }
    return path;
}

}  // namespace

std::string slice_picture(const DistanceField& field, const SliceView& view,
                          const std::string& label) {
    const int height =
        static_cast<int>(std::lround(view.width * view.up.norm() / view.across.norm()));
    // a quarter of the pixels: lines are smooth all the same
    const int scale = 2;
    const FieldSlice slice =
        slice_field(field, view.origin, view.across, view.up, view.width / scale, height / scale);
    const auto [low, high] = std::minmax_element(slice.values.begin(), slice.values.end());
    std::string inside =
        format("<rect width=\"%d\" height=\"%d\" class=\"ground\"/>\n<g transform=\"scale(%d)\">\n",
               view.width, height, scale);
    for (int k = static_cast<int>(std::ceil(*low / view.spacing)); k * view.spacing < *high; ++k) {
        if (k > 8) break;  // far outside
        inside += format("<path class=\"line s%d\" style=\"stroke-width:%s\" d=\"",
                         k == 0 ? 4 : (k < 0 ? 0 : 6), k == 0 ? "1.2" : "0.5") +
                  iso_path(slice, k * view.spacing) + "\"/>\n";
    }
    return framed(view.width, height, label, inside + "</g>\n");
}

std::string dots_picture(const std::vector<Dots>& dots, double azimuth, double elevation, int width,
                         const std::string& label) {
    const double a = azimuth * std::numbers::pi / 180, e = elevation * std::numbers::pi / 180;
    const Vector3d right(-std::sin(a), std::cos(a), 0);
    const Vector3d towards(std::cos(a) * std::cos(e), std::sin(a) * std::cos(e), std::sin(e));
    const Vector3d up = towards.cross(right);
    const auto project = [&](const Vector3d& x) { return Vector2d(right.dot(x), -up.dot(x)); };
    Eigen::AlignedBox2d box;
    for (const Dots& some : dots)
        for (const Vector3d& x : some.points) box.extend(project(x));
    const double scale = std::min((width - 8) / std::max(1e-9, box.sizes().x()),
                                  (1.3 * width - 8) / std::max(1e-9, box.sizes().y()));
    const Vector2d corner(0.5 * (width - scale * box.sizes().x()), 4);
    std::string inside;
    for (const Dots& some : dots) {
        inside +=
            format("<path class=\"s%d\" style=\"stroke-width:%.1f;stroke-linecap:round\" d=\"",
                   some.color, 2 * some.radius);
        for (const Vector3d& x : some.points) {
            const Vector2d p = scale * (project(x) - box.min()) + corner;
            inside += format("M%.1f %.1fh0", p.x(), p.y());
        }
        inside += "\"/>\n";
    }
    return framed(width, scale * box.sizes().y() + 8, label, inside);
}

}  // namespace pliant::reproduce
