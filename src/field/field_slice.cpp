#include "field/field_slice.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Color = Eigen::Vector3f;

// near the surface, then far from it
const Color kInsideNear(0.80f, 0.90f, 0.98f), kInsideFar(0.10f, 0.27f, 0.60f);
const Color kOutsideNear(1.00f, 0.97f, 0.90f), kOutsideFar(0.90f, 0.55f, 0.28f);
const Color kInsideLine(0.06f, 0.16f, 0.40f), kOutsideLine(0.50f, 0.22f, 0.08f);
const Color kSurface(0.08f, 0.08f, 0.10f);
const Color kUnknown(0.75f, 0.75f, 0.75f);  // no finite value

constexpr float kSurfaceWidth = 3.0f, kLineWidth = 1.1f, kStrongLineWidth = 1.6f;  // pixels
constexpr int kStrongEvery = 5;          // every so many lines is stronger
constexpr double kLeastLineGap = 10;     // pixels between lines
constexpr double kLinesInRange = 25;     // about so many lines from the surface to the farthest
constexpr float kFlattestSlope = 0.25f;  // per metre; flatter ridges would smear a line

/// 1, 2 or 5 times a power of ten, not below `least`.
double round_up(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

/// How much of a pixel a line of this width covers when its middle is so many pixels away.
float coverage(float distance, float width) {
    return std::clamp(0.5f * width + 0.5f - distance, 0.0f, 1.0f);
}

class SlicePainter {
public:
    SlicePainter(const FieldSlice& slice, double pixel_size, double spacing)
        : slice_(slice), pixel_size_(static_cast<float>(pixel_size)) {
        for (const float value : slice.values)
            if (std::isfinite(value)) {
                deepest_ = std::max(deepest_, -value);
                farthest_ = std::max(farthest_, value);
            }
        if (spacing == 0)
            spacing = round_up(std::max(kLeastLineGap * pixel_size,
                                        std::max(deepest_, farthest_) / kLinesInRange));
        spacing_ = static_cast<float>(spacing);
    }

    [[nodiscard]] Color color(int column, int row) const {
        const float value = at(column, row);
        if (!std::isfinite(value)) return kUnknown;
        const bool is_inside = value < 0;
        // quick change near the surface, slow far away
        const float range = is_inside ? deepest_ : farthest_;
        const float depth = range > 0 ? std::sqrt(std::abs(value) / range) : 0.0f;
        Color color =
            is_inside ? mix(kInsideNear, kInsideFar, depth) : mix(kOutsideNear, kOutsideFar, depth);

        // lines, as far away as the slope says
        const float slope = std::max(slope_at(column, row), kFlattestSlope * pixel_size_);
        const float nearest = std::round(value / spacing_);
        if (nearest != 0) {
            const bool is_strong = std::fmod(nearest, static_cast<float>(kStrongEvery)) == 0;
            const float covered = coverage(std::abs(value - nearest * spacing_) / slope,
                                           is_strong ? kStrongLineWidth : kLineWidth);
            color = mix(color, is_inside ? kInsideLine : kOutsideLine,
                        (is_strong ? 0.75f : 0.4f) * covered);
        }
        return mix(color, kSurface, coverage(std::abs(value) / slope, kSurfaceWidth));
    }

private:
    static Color mix(const Color& a, const Color& b, float t) { return a + t * (b - a); }
    [[nodiscard]] float at(int column, int row) const {
        return slice_.values[static_cast<std::size_t>(row) * slice_.width + column];
    }
    /// Change of the value for a pixel.
    [[nodiscard]] float slope_at(int column, int row) const {
        const auto difference = [&](int dx, int dy) {
            const int c0 = std::max(column - dx, 0), c1 = std::min(column + dx, slice_.width - 1);
            const int r0 = std::max(row - dy, 0), r1 = std::min(row + dy, slice_.height - 1);
            const int steps = (c1 - c0) + (r1 - r0);
            const float change = at(c1, r1) - at(c0, r0);
            return steps > 0 && std::isfinite(change) ? change / static_cast<float>(steps) : 0.0f;
        };
        return std::hypot(difference(1, 0), difference(0, 1));
    }

    const FieldSlice& slice_;
    float pixel_size_, spacing_ = 0;
    float deepest_ = 0, farthest_ = 0;  // of the values on each side
};

}  // namespace

FieldSlice slice_field(const DistanceField& field, const Eigen::Vector3d& origin,
                       const Eigen::Vector3d& across, const Eigen::Vector3d& up, int width,
                       int height) {
    constexpr int kMaxSide = 16384;
    if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
        throw InputError("", "slice size", std::to_string(width) + " × " + std::to_string(height),
                         "1 to 16384 pixels along each side");
    if (!origin.allFinite() || !across.allFinite() || !up.allFinite())
        throw InputError("", "the plane of a slice must be finite");
    FieldSlice slice;
    slice.width = width;
    slice.height = height;
    slice.values.resize(static_cast<std::size_t>(width) * height);
    std::vector<float> x(width), y(width), z(width);
    for (int row = 0; row < height; ++row) {
        const Eigen::Vector3d left = origin + (height - row - 0.5) / height * up;
        for (int column = 0; column < width; ++column) {
            const Eigen::Vector3d p = left + (column + 0.5) / width * across;
            x[column] = static_cast<float>(p[0]);
            y[column] = static_cast<float>(p[1]);
            z[column] = static_cast<float>(p[2]);
        }
        field.distances({x.data(), y.data(), z.data(), width},
                        &slice.values[static_cast<std::size_t>(row) * width]);
    }
    return slice;
}

Picture draw_slice(const FieldSlice& slice, double pixel_size, double spacing) {
    if (!(pixel_size > 0) || !std::isfinite(pixel_size))
        throw InputError("", "pixel_size", std::to_string(pixel_size),
                         "a positive number of metres");
    if (!(spacing >= 0) || !std::isfinite(spacing))
        throw InputError("", "spacing", std::to_string(spacing), "0 m (chosen) or more");
    const std::size_t count = static_cast<std::size_t>(slice.width) * slice.height;
    if (slice.width < 1 || slice.height < 1 || slice.values.size() != count)
        throw InputError("", "a slice of " + std::to_string(slice.width) + " × " +
                                 std::to_string(slice.height) + " pixels cannot hold " +
                                 std::to_string(slice.values.size()) + " values");
    const SlicePainter painter(slice, pixel_size, spacing);
    Picture picture{slice.width, slice.height, {}};
    picture.rgb.reserve(3 * count);
    for (int row = 0; row < slice.height; ++row)
        for (int column = 0; column < slice.width; ++column)
            for (const float channel : painter.color(column, row))
                picture.rgb.push_back(
                    static_cast<std::uint8_t>(std::lround(255 * std::clamp(channel, 0.0f, 1.0f))));
    return picture;
}

void save_slice_png(const FieldSlice& slice, const std::filesystem::path& path, double pixel_size,
                    double spacing) {
    save_png(draw_slice(slice, pixel_size, spacing), path);
}

}  // namespace pliant
