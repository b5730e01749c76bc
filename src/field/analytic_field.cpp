#include "pliant/field/analytic_field.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr float kInfiniteDistance = std::numeric_limits<float>::infinity();
constexpr float kFloatRounding = std::numeric_limits<float>::epsilon();

/// One point. Squares of coordinates beyond this would overflow.
struct Point {
    float x, y, z;
    static constexpr float kFar = 1e18f;
    static Point of(const PointBatch& points, int i) noexcept {
        const auto near = [](float c) { return c > kFar ? kFar : c < -kFar ? -kFar : c; };
        return {near(points.x[i]), near(points.y[i]), near(points.z[i])};
    }
};
bool is_finite(const PointBatch& points, int i) noexcept {
    return 0 * points.x[i] + 0 * points.y[i] + 0 * points.z[i] == 0;
}

struct Answer {
    float distance, gx, gy, gz;
};

/// A field whose answer at one point is `Formula::operator()`, inlined so that distances alone
/// leave out the work for gradients.
template <class Formula>
class FormulaField final : public DistanceField {
public:
    /// `size`: how far the solid reaches from the origin, for the margin of rounding.
    FormulaField(const Formula& formula, const Box& box, double size) : f_(formula), box_(box) {
        margin_.near = margin_.far = 4 * kFloatRounding * static_cast<float>(size);
    }
    void distances(const PointBatch& points, float* distance) const noexcept override {
        for (int i = 0; i < points.count; ++i) {
            const float value = f_(Point::of(points, i)).distance;
            distance[i] = is_finite(points, i) ? value : kInfiniteDistance;
        }
    }
    void samples(const PointBatch& points, const SampleBatch& samples) const noexcept override {
        for (int i = 0; i < points.count; ++i) {
            const Answer answer = f_(Point::of(points, i));
            const bool is_known = is_finite(points, i);
            samples.distance[i] = is_known ? answer.distance : kInfiniteDistance;
            samples.gx[i] = is_known ? answer.gx : 0;
            samples.gy[i] = is_known ? answer.gy : 0;
            samples.gz[i] = is_known ? answer.gz : 0;
        }
    }
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return margin_; }
    [[nodiscard]] double resolution() const noexcept override { return 0; }

private:
    Formula f_;
    Box box_;
    CullingMargin margin_;
};

/// docs/field.md eq. (5); half_length = 0 makes a sphere.
struct Capsule {
    float radius, half_length;
    bool is_sphere;
    [[gnu::always_inline]] Answer operator()(const Point& p) const noexcept {
        const float on_axis = p.z > half_length ? half_length : std::max(p.z, -half_length);
        const float z = p.z - on_axis;
        const float length = std::sqrt(p.x * p.x + p.y * p.y + z * z);
        // on the axis all directions across it are right: along x; in a sphere's centre along z
        const bool is_off = length > 0;
        const float scale = is_off ? 1 / length : 0;
        return {length - radius, is_off || is_sphere ? scale * p.x : 1, scale * p.y,
                is_off || !is_sphere ? scale * z : 1};
    }
};

/// docs/field.md eq. (6).
struct Cuboid {
    float hx, hy, hz;
    [[gnu::always_inline]] Answer operator()(const Point& p) const noexcept {
        const float qx = std::abs(p.x) - hx, qy = std::abs(p.y) - hy, qz = std::abs(p.z) - hz;
        const float ox = std::max(qx, 0.0f), oy = std::max(qy, 0.0f), oz = std::max(qz, 0.0f);
        const float length = std::sqrt(ox * ox + oy * oy + oz * oz);
        const float deepest = std::max(std::max(qx, qy), qz);
        const float sx = p.x < 0 ? -1.0f : 1.0f, sy = p.y < 0 ? -1.0f : 1.0f,
                    sz = p.z < 0 ? -1.0f : 1.0f;
        // inside towards the nearest face; of equally near ones the first axis
        const bool is_outside = length > 0;
        const bool by_x = qx == deepest, by_y = !by_x && qy == deepest, by_z = !by_x && !by_y;
        const float scale = is_outside ? 1 / length : 0;
        return {length + std::min(deepest, 0.0f),
                sx * (is_outside ? scale * ox : static_cast<float>(by_x)),
                sy * (is_outside ? scale * oy : static_cast<float>(by_y)),
                sz * (is_outside ? scale * oz : static_cast<float>(by_z))};
    }
};

constexpr int kMaxPlanes = 64;

/// docs/field.md eq. (7).
struct Planes {
    std::array<Answer, kMaxPlanes> planes;  // offset and unit normal
    int count;
    [[gnu::always_inline]] Answer operator()(const Point& p) const noexcept {
        float highest = -kInfiniteDistance;
        int which = 0;
        for (int i = 0; i < count; ++i) {
            const Answer& plane = planes[i];
            const float value = plane.gx * p.x + plane.gy * p.y + plane.gz * p.z - plane.distance;
            which = value > highest ? i : which;
            highest = value > highest ? value : highest;
        }
        return {highest, planes[which].gx, planes[which].gy, planes[which].gz};
    }
};

float positive(const char* name, double value) {
    const auto single = static_cast<float>(value);
    if (!(single > 0) || !std::isfinite(single) || single > Point::kFar)
        throw InputError("", name, std::to_string(value), "a positive number of metres");
    return single;
}

/// The largest e · x over the planes by linear duality: the least Σ λ_i o_i with Σ λ_i n_i = e,
/// λ ≥ 0, reached with up to three planes. Infinite if nothing stops x.
double support(const std::vector<FieldPlane>& planes, const Vector3d& e) {
    constexpr double kTolerance = 1e-9;
    double least = std::numeric_limits<double>::infinity();
    const int n = static_cast<int>(planes.size());
    const auto offer = [&](std::initializer_list<int> chosen) {
        Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 3> N(3, chosen.size());
        Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1> offsets(chosen.size());
        int column = 0;
        for (const int i : chosen) {
            N.col(column) = planes[i].normal;
            offsets[column++] = planes[i].offset;
        }
        const auto lambda = N.colPivHouseholderQr().solve(e).eval();
        if (!lambda.allFinite() || lambda.minCoeff() < -kTolerance) return;
        if ((N * lambda - e).norm() > kTolerance) return;
        least = std::min(least, lambda.dot(offsets));
    };
    for (int i = 0; i < n; ++i) {
        offer({i});
        for (int j = 0; j < i; ++j) {
            offer({i, j});
            for (int k = 0; k < j; ++k) offer({i, j, k});
        }
    }
    return least;
}

}  // namespace

FieldPointer sphere_field(double radius) {
    const Capsule sphere{positive("radius", radius), 0, true};
    const Vector3d reach = Vector3d::Constant(radius);
    return std::make_shared<FormulaField<Capsule>>(sphere, Box(-reach, reach), radius);
}

FieldPointer capsule_field(double radius, double half_length) {
    if (!(half_length >= 0) || half_length > Point::kFar)
        throw InputError("", "half_length", std::to_string(half_length), "0 m or more");
    const Capsule capsule{positive("radius", radius), static_cast<float>(half_length), false};
    const Vector3d reach(radius, radius, radius + half_length);
    return std::make_shared<FormulaField<Capsule>>(capsule, Box(-reach, reach), reach.norm());
}

FieldPointer box_field(const Vector3d& half_sizes) {
    const Cuboid box{positive("half_sizes[0]", half_sizes[0]),
                     positive("half_sizes[1]", half_sizes[1]),
                     positive("half_sizes[2]", half_sizes[2])};
    return std::make_shared<FormulaField<Cuboid>>(box, Box(-half_sizes, half_sizes),
                                                  half_sizes.norm());
}

FieldPointer plane_set_field(const std::vector<FieldPlane>& planes) {
    if (planes.empty() || planes.size() > kMaxPlanes)
        throw InputError("", "planes", std::to_string(planes.size()), "1 to 64 of them");
    std::vector<FieldPlane> unit = planes;
    Planes formula{};
    double size = 0;
    for (std::size_t i = 0; i < unit.size(); ++i) {
        const double length = unit[i].normal.norm();
        const std::string name = "planes[" + std::to_string(i) + "]";
        if (!(length > 1e-30) || !std::isfinite(length))
            throw InputError("", name + ".normal", std::to_string(length) + " long", "a direction");
        if (!(std::abs(unit[i].offset) <= Point::kFar))
            throw InputError("", name + ".offset", std::to_string(unit[i].offset),
                             "a finite number of metres");
        unit[i].normal /= length;
        const Eigen::Vector3f n = unit[i].normal.cast<float>();
        formula.planes[i] = {static_cast<float>(unit[i].offset), n[0], n[1], n[2]};
        size = std::max(size, std::abs(unit[i].offset));
    }
    formula.count = static_cast<int>(unit.size());
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
        box.max()[axis] = support(unit, Vector3d::Unit(axis));
        box.min()[axis] = -support(unit, -Vector3d::Unit(axis));
    }
    if (box.isEmpty())
        throw InputError("", "the planes leave no room between them; turn their normals outwards");
    return std::make_shared<FormulaField<Planes>>(formula, box, size);
}

}  // namespace pliant
