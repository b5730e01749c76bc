#include "pliant/body/rigid_shape.h"

#include "core/numbers.h"
#include "geometry/option_check.h"
#include "geometry/wording.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Squares below have lost digits: the vector has no direction.
constexpr double kNoDirection = 1e-280;

/// Gap and normal of the points at `radius` from the end of v.
ShapeSample round_sample(const Vector3d& v, double radius, const Vector3d& normal_at_centre) {
    const double squared = v.squaredNorm();
    if (squared < kNoDirection) return {-radius, normal_at_centre};
    const double distance = std::sqrt(squared);
    return {distance - radius, v / distance};
}

struct HalfSpace {
    Vector3d normal;
    double offset;

    [[nodiscard]] ShapeSample sample(const Vector3d& x, double) const noexcept {
        return {normal.dot(x) - offset, normal};
    }
};

struct Sphere {
    double radius;

    [[nodiscard]] ShapeSample sample(const Vector3d& x, double) const noexcept {
        return round_sample(x, radius, Vector3d::UnitZ());
    }
};

struct Capsule {
    double radius, half_length;

    [[nodiscard]] ShapeSample sample(const Vector3d& x, double) const noexcept {
        const double along = std::clamp(x.z(), -half_length, half_length);
        return round_sample({x.x(), x.y(), x.z() - along}, radius, Vector3d::UnitX());
    }
};

struct Cuboid {
    Vector3d half_sizes;

    [[nodiscard]] ShapeSample sample(const Vector3d& x, double) const noexcept {
        const Vector3d sign = (x.array() < 0).select(Vector3d::Constant(-1), Vector3d::Ones());
        const Vector3d beyond = x.cwiseAbs() - half_sizes;
        const Vector3d outside = beyond.cwiseMax(0.0);
        const double squared = outside.squaredNorm();
        // inside or on the surface: the nearest face, the lowest axis of equals
        if (squared < kNoDirection) {
            int axis = 0;
            const double gap = beyond.maxCoeff(&axis);
            return {gap, sign[axis] * Vector3d::Unit(axis)};
        }
        const double gap = std::sqrt(squared);
        return {gap, sign.cwiseProduct(outside) / gap};
    }
};

/// The shape takes one walk through the triangles for each query where pseudonormals decide the
/// sign; SurfaceQuery::signed_distance would need a second one for the normal.
struct MeshShape {
    SurfaceQuery query;
    SurfaceTopology topology;
    PseudoNormals normals;
    bool normals_tell_sign;  // closed, oriented, and no triangle without area
    double flat;  // nearer than this, round-off spoils the direction of the nearest point

    explicit MeshShape(SurfaceMesh surface)
        : query(std::move(surface)),
          topology(query.mesh()),
          normals(pseudo_normals(query.mesh(), topology)) {
        normals_tell_sign =
            query.sign_method() == SignMethod::PseudoNormal &&
            std::ranges::none_of(normals.face, [](const Vector3d& n) { return n.isZero(0.0); });
        double largest = 0;
        for (const Vector3d& v : query.mesh().vertices)
            largest = std::max(largest, v.cwiseAbs().maxCoeff());
        flat = 1e-10 * largest;
    }

    /// Of the feature, else of the triangle; unit.
    [[nodiscard]] Vector3d normal_at(const ClosestPoint& nearest) const noexcept {
        const int t = nearest.triangle, k = nearest.feature_index;
        Vector3d normal = normals.face[t];
        if (nearest.feature == Feature::Edge) normal = normals.edge[topology.edge_of(t, k)];
        if (nearest.feature == Feature::Vertex)
            normal = normals.vertex[query.mesh().triangles[t][k]];
        if (normal.isZero(0.0)) normal = normals.face[t];
        return normal.isZero(0.0) ? Vector3d::UnitZ() : normal;
    }

    [[nodiscard]] ShapeSample sample(const Vector3d& x, double radius) const noexcept {
        const ClosestPoint nearest = query.closest(x, radius);
        if (nearest.triangle < 0) return {};
        const Vector3d normal = normal_at(nearest);
        // docs/body.md eq. (2)
        bool is_inside = false;
        if (normals_tell_sign)
            is_inside =
                (x - query.mesh().corner(nearest.triangle, nearest.feature_index)).dot(normal) < 0;
        else
            is_inside = query.is_inside(x);
        const double gap = is_inside ? -nearest.distance : nearest.distance;
        // the gap of a face grows along its normal; beside edges and corners from the nearest point
        if (nearest.distance <= flat || (normals_tell_sign && nearest.feature == Feature::Face))
            return {gap, normal};
        return {gap, (x - nearest.point).normalized() * (is_inside ? -1.0 : 1.0)};
    }
};

Eigen::AlignedBox3d centred_box(const Vector3d& half_sizes) { return {-half_sizes, half_sizes}; }

void check_size(const char* field, double size) {
    check_option(size > 0 && std::isfinite(size), field, size, "0 < value < infinity");
}

void check_encloses(const SurfaceMesh& surface) {
    const SurfaceReport report = check_surface(surface);
    if (report.num_triangles == 0)
        throw InputError("", "the surface of a rigid body has no triangles");
    const std::string start = "the surface of a rigid body ";
    if (report.open_edges.count > 0)
        throw InputError("", start + "has " +
                                 counted(report.open_edges.count, "open edge", "open edges") +
                                 " (first at triangle " + std::to_string(report.open_edges.first) +
                                 ") and so no inside; close it, or try --repair");
    if (report.inconsistent_edges.count > 0)
        throw InputError("", start + "turns over at " +
                                 counted(report.inconsistent_edges.count, "edge", "edges") +
                                 " (first at triangle " +
                                 std::to_string(report.inconsistent_edges.first) +
                                 ") and so has no inside; try --repair");
    if (!(enclosed_volume(surface) > 0))
        throw InputError("", start +
                                 (report.is_inside_out ? "is inside out" : "encloses no volume") +
                                 "; try --repair");
}

}  // namespace

struct RigidShape::Impl {
    std::variant<HalfSpace, Sphere, Capsule, Cuboid, MeshShape> shape;
};

RigidShape::RigidShape(std::shared_ptr<const Impl> impl, const Eigen::AlignedBox3d& bounds)
    : impl_(std::move(impl)), bounds_(bounds) {}

RigidShape RigidShape::half_space(const Vector3d& normal, double offset) {
    const double length = normal.stableNorm();
    check_option(length > 0 && std::isfinite(length), "half_space.normal", normal.transpose(),
                 "a finite vector that is not zero");
    check_option(std::isfinite(offset / length), "half_space.offset", offset, "a finite value");
    return {std::make_shared<Impl>(Impl{HalfSpace{normal / length, offset / length}}),
            centred_box(Vector3d::Constant(kInfinity))};
}

RigidShape RigidShape::sphere(double radius) {
    check_size("sphere.radius", radius);
    return {std::make_shared<Impl>(Impl{Sphere{radius}}), centred_box(Vector3d::Constant(radius))};
}

RigidShape RigidShape::capsule(double radius, double half_length) {
    check_size("capsule.radius", radius);
    check_option(half_length >= 0 && std::isfinite(half_length), "capsule.half_length", half_length,
                 "0 <= value < infinity");
    return {std::make_shared<Impl>(Impl{Capsule{radius, half_length}}),
            centred_box({radius, radius, half_length + radius})};
}

RigidShape RigidShape::box(const Vector3d& half_sizes) {
    check_size("box.half_sizes.x", half_sizes.x());
    check_size("box.half_sizes.y", half_sizes.y());
    check_size("box.half_sizes.z", half_sizes.z());
    return {std::make_shared<Impl>(Impl{Cuboid{half_sizes}}), centred_box(half_sizes)};
}

RigidShape RigidShape::mesh(SurfaceMesh surface) {
    MeshShape shape(std::move(surface));
    const SurfaceMesh& copy = shape.query.mesh();
    check_encloses(copy);
    Eigen::AlignedBox3d bounds;
    for (int t = 0; t < copy.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) bounds.extend(copy.corner(t, k));
    return {std::make_shared<Impl>(Impl{std::move(shape)}), bounds};
}

ShapeSample RigidShape::sample(const Vector3d& x_body, double radius) const noexcept {
    if (!x_body.allFinite()) return {};
    const ShapeSample s =
        std::visit([&](const auto& shape) { return shape.sample(x_body, radius); }, impl_->shape);
    // lengths beyond the range of doubles
    return std::isfinite(s.gap) ? s : ShapeSample{};
}

}  // namespace pliant
