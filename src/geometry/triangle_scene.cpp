#include "geometry/triangle_scene.h"

#include "core/sanitizers.h"
#include "geometry/closest_on_triangle.h"
#include "geometry/line_crossing.h"
#include "geometry/ray_triangle.h"

#include <embree3/rtcore.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace pliant::detail {
namespace {

// Half the longest side of the surface is one unit. A query point within 3 units of the centre
// moves by at most 3.2e-7 when it becomes floats: less than the boxes are padded. One farther out,
// at p, moves by 1.1e-7 |p|, and no triangle is nearer to it than 0.4 |p|: less than radii are
// widened.
constexpr double kBoxPadding = 1e-6;
constexpr double kRelativeWidening = 1e-6;
constexpr double kRayPadding = 4e-6;  // along a ray: boxes are entered before their triangles

using Corners = std::array<Eigen::Vector3d, 3>;

void check_embree(RTCDevice device) {
    const RTCError error = rtcGetDeviceError(device);
    if (error == RTC_ERROR_NONE) return;
    throw std::runtime_error("Embree failed with error " + std::to_string(error) +
                             (error == RTC_ERROR_OUT_OF_MEMORY ? " (out of memory)" : ""));
}

/// One device for the program; scenes keep it alive.
RTCDevice shared_device() {
    struct Release {
        void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
    };
    static const std::unique_ptr<RTCDeviceTy, Release> device(rtcNewDevice(nullptr));
    check_embree(device.get());
    return device.get();
}

float widened(double length) { return static_cast<float>(length * (1.0 + kRelativeWidening)); }

}  // namespace

struct TriangleScene::Impl {
    std::vector<Corners> triangles;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double scale = 1.0;  // frame units per metre
    Eigen::Vector3d half_box = Eigen::Vector3d::Zero();
    RTCScene scene = nullptr;
    RTCGeometry geometry = nullptr;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (geometry) rtcReleaseGeometry(geometry);
        if (scene) rtcReleaseScene(scene);
    }

    void take_vertices(const SurfaceMesh& mesh);
    static void bounds_of_triangle(const RTCBoundsFunctionArguments* args);
    /// Embree asks for bounds on threads of its own, and has joined them when it returns.
    void commit() {
        release_to_threads(this);
        rtcCommitScene(scene);
        acquire_from_threads(this);
        check_embree(shared_device());
    }
    [[nodiscard]] Eigen::Vector3d to_frame(const Eigen::Vector3d& x) const {
        return (x - centre) * scale;
    }
    [[nodiscard]] RTCPointQuery make_query(const Eigen::Vector3d& x, double radius) const {
        const Eigen::Vector3d p = to_frame(x);
        RTCPointQuery query{};
        query.x = static_cast<float>(p.x());
        query.y = static_cast<float>(p.y());
        query.z = static_cast<float>(p.z());
        query.radius = widened(radius * scale);
        return query;
    }
};

namespace {

struct NearestSearch {
    const Corners* triangles;
    Eigen::Vector3d x;
    double scale;           // frame units per metre
    double noise;           // bound of the rounding in distances from x to corners [m]
    double distance = 0.0;  // of the best so far
    double beyond = 0.0;    // squared distance that is surely too far
    TrianglePoint best{};
    int triangle = -1;

    void shorten(double to) {
        distance = to;
        beyond = (distance + noise) * (distance + noise) * (1.0 + 1e-14);
    }
    /// All corners lie beyond a plane across the way to the triangle's middle: most triangles that
    /// a box could not exclude go here, at a fifth of the cost of measuring them.
    [[nodiscard]] bool is_beyond(const Corners& t) const {
        const Eigen::Vector3d a = t[0] - x, b = t[1] - x, c = t[2] - x, way = a + b + c;
        const double nearest = std::min({a.dot(way), b.dot(way), c.dot(way)});
        return nearest > 0 && nearest * nearest > beyond * way.squaredNorm();
    }
};

bool visit_nearest(RTCPointQueryFunctionArguments* args) {
    auto& search = *static_cast<NearestSearch*>(args->userPtr);
    const int triangle = static_cast<int>(args->primID);
    const Corners& t = search.triangles[triangle];
    if (search.is_beyond(t)) return false;
    const TrianglePoint p = nearest_on_triangle(search.x, t[0], t[1], t[2]);
    const double distance = std::sqrt(p.distance_squared);
    if (!(distance <= search.distance)) return false;
    // of equally near triangles the one with the lowest index, in whatever order they come
    if (distance == search.distance && search.triangle >= 0 && search.triangle < triangle)
        return false;
    search.best = p;
    search.triangle = triangle;
    search.shorten(distance);
    const float radius = widened(distance * search.scale);
    if (radius >= args->query->radius) return false;
    args->query->radius = radius;
    return true;
}

struct OverlapSearch {
    const Corners* triangles;
    Eigen::Vector3d centre;
    double radius;
    std::span<int> out;
    std::size_t count;
};

bool visit_overlap(RTCPointQueryFunctionArguments* args) {
    auto& search = *static_cast<OverlapSearch*>(args->userPtr);
    const int triangle = static_cast<int>(args->primID);
    const Corners& t = search.triangles[triangle];
    const double d = nearest_on_triangle(search.centre, t[0], t[1], t[2]).distance_squared;
    if (std::sqrt(d) > search.radius) return false;
    // keep the lowest indices in a heap, so that the walk's order does not show
    const std::size_t filled = std::min(search.count++, search.out.size());
    const auto first = search.out.begin(), last = first + static_cast<std::ptrdiff_t>(filled);
    if (filled < search.out.size()) {
        *last = triangle;
        std::push_heap(first, last + 1);
    } else if (filled > 0 && triangle < *first) {
        std::pop_heap(first, last);
        *(last - 1) = triangle;
        std::push_heap(first, last);
    }
    return false;
}

struct RaySearch {
    RTCIntersectContext context;  // first: Embree hands back its address
    const Corners* triangles;
    ShearedRay ray;
    double t_max;
    double units_per_t, start;  // distance along Embree's ray = t · units_per_t − start
    RayHit best;
};

void visit_ray(const RTCIntersectFunctionNArguments* args) {
    if (!args->valid[0]) return;
    auto& search = *reinterpret_cast<RaySearch*>(args->context);
    const int triangle = static_cast<int>(args->primID);
    const Corners& corners = search.triangles[triangle];
    RayHit hit;
    if (!search.ray.hits(corners[0], corners[1], corners[2], hit)) return;
    if (!(hit.t >= 0) || hit.t > search.t_max) return;
    if (hit.t == search.t_max && search.best.triangle >= 0 && search.best.triangle < triangle)
        return;
    search.best = hit;
    search.best.triangle = triangle;
    search.t_max = hit.t;
    RTCRay& ray = reinterpret_cast<RTCRayHit*>(args->rayhit)->ray;
    ray.tfar = std::min(ray.tfar, widened(hit.t * search.units_per_t - search.start + kRayPadding));
}

struct LineWalk {
    RTCIntersectContext context;  // first: Embree hands back its address
    const Corners* triangles;
    Eigen::Vector3d x;
    int winding;
    std::vector<TriangleScene::Passage>* passages;  // none: only count
};

// never reports a hit, so the walk goes on through everything on the line
void visit_line(const RTCOccludedFunctionNArguments* args) {
    if (!args->valid[0]) return;
    auto& walk = *reinterpret_cast<LineWalk*>(args->context);
    const int triangle = static_cast<int>(args->primID);
    const Corners& t = walk.triangles[triangle];
    const LineCrossing crossing = cross_line_along_x(t[0], t[1], t[2], walk.x.y(), walk.x.z());
    if (crossing.turns == 0 || crossing.x <= walk.x.x()) return;
    walk.winding += crossing.turns;
    if (walk.passages) walk.passages->push_back({triangle, crossing.turns});
}

}  // namespace

void TriangleScene::Impl::bounds_of_triangle(const RTCBoundsFunctionArguments* args) {
    acquire_from_threads(args->geometryUserPtr);
    const auto& self = *static_cast<const Impl*>(args->geometryUserPtr);
    const Corners& t = self.triangles[args->primID];
    const Eigen::Vector3d low = self.to_frame(t[0].cwiseMin(t[1]).cwiseMin(t[2]));
    const Eigen::Vector3d high = self.to_frame(t[0].cwiseMax(t[1]).cwiseMax(t[2]));
    RTCBounds& box = *args->bounds_o;
    box.lower_x = static_cast<float>(low.x() - kBoxPadding);
    box.lower_y = static_cast<float>(low.y() - kBoxPadding);
    box.lower_z = static_cast<float>(low.z() - kBoxPadding);
    box.upper_x = static_cast<float>(high.x() + kBoxPadding);
    box.upper_y = static_cast<float>(high.y() + kBoxPadding);
    box.upper_z = static_cast<float>(high.z() + kBoxPadding);
    release_to_threads(args->geometryUserPtr);
}

void TriangleScene::Impl::take_vertices(const SurfaceMesh& mesh) {
    triangles.resize(mesh.triangles.size());
    Box box;
    for (int i = 0; i < mesh.num_triangles(); ++i) {
        Corners& t = triangles[i];
        for (int k = 0; k < 3; ++k) {
            t[k] = mesh.corner(i, k);
            box.extend(mesh.corner(i, k));
        }
    }
    if (triangles.empty()) return;
    centre = 0.5 * box.min() + 0.5 * box.max();
    const double half_side = 0.5 * box.sizes().maxCoeff();
    scale = half_side > 1e-30 ? 1.0 / half_side : 1.0;
    half_box = 0.5 * scale * box.sizes();
}

TriangleScene::TriangleScene(const SurfaceMesh& mesh) : impl_(std::make_unique<Impl>()) {
    impl_->take_vertices(mesh);
    if (impl_->triangles.empty()) return;
    const RTCDevice device = shared_device();
    impl_->geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(impl_->geometry,
                                     static_cast<unsigned>(impl_->triangles.size()));
    rtcSetGeometryUserData(impl_->geometry, impl_.get());
    rtcSetGeometryBoundsFunction(impl_->geometry, Impl::bounds_of_triangle, nullptr);
    rtcSetGeometryIntersectFunction(impl_->geometry, visit_ray);
    rtcSetGeometryOccludedFunction(impl_->geometry, visit_line);
    rtcSetGeometryBuildQuality(impl_->geometry, RTC_BUILD_QUALITY_REFIT);
    rtcCommitGeometry(impl_->geometry);
    impl_->scene = rtcNewScene(device);
    // only scenes of low quality keep a hierarchy per geometry and can refit it; that hierarchy
    // itself is as good as any
    rtcSetSceneFlags(impl_->scene, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_DYNAMIC);
    rtcSetSceneBuildQuality(impl_->scene, RTC_BUILD_QUALITY_LOW);
    rtcAttachGeometry(impl_->scene, impl_->geometry);
    impl_->commit();
}

TriangleScene::~TriangleScene() = default;

void TriangleScene::update(const SurfaceMesh& mesh) {
    impl_->take_vertices(mesh);
    if (!impl_->scene) return;
    rtcUpdateGeometryBuffer(impl_->geometry, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(impl_->geometry);
    impl_->commit();
}

ClosestPoint TriangleScene::closest(const Eigen::Vector3d& x, double radius) const noexcept {
    if (!impl_->scene || !x.allFinite() || !(radius >= 0)) return {};
    const double noise = 2e-15 * ((x - impl_->centre).norm() + 2.0 / impl_->scale);
    NearestSearch search{impl_->triangles.data(), x, impl_->scale, noise};
    RTCPointQuery query = impl_->make_query(x, radius);
    search.shorten(radius);
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(impl_->scene, &query, &context, visit_nearest, &search);
    if (search.triangle < 0) return {};
    const Corners& t = impl_->triangles[search.triangle];
    ClosestPoint result = to_closest_point(search.best, t[0], t[1], t[2]);
    result.triangle = search.triangle;
    return result;
}

int TriangleScene::overlapping(const Eigen::Vector3d& centre, double radius,
                               std::span<int> out) const noexcept {
    if (!impl_->scene || !centre.allFinite() || !(radius >= 0)) return 0;
    OverlapSearch search{impl_->triangles.data(), centre, radius, out, 0};
    RTCPointQuery query = impl_->make_query(centre, radius);
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(impl_->scene, &query, &context, visit_overlap, &search);
    const std::size_t filled = std::min(search.count, out.size());
    std::sort_heap(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(filled));
    return static_cast<int>(search.count);
}

std::optional<RayHit> TriangleScene::ray(const Eigen::Vector3d& origin,
                                         const Eigen::Vector3d& direction,
                                         double t_max) const noexcept {
    const double length = direction.stableNorm();
    if (!impl_->scene || !origin.allFinite() || !std::isfinite(length) || length == 0 ||
        !(t_max >= 0))
        return std::nullopt;

    // the part of the ray near the surface, in the frame: there its floats are good to 6e-8
    const Eigen::Vector3d start = impl_->to_frame(origin), step = direction / length;
    const double units_per_t = length * impl_->scale;
    double enter = 0.0, leave = t_max * units_per_t;
    for (int k = 0; k < 3; ++k) {
        const double reach = impl_->half_box[k] + kRayPadding;
        const double to_low = (-reach - start[k]) / step[k], to_high = (reach - start[k]) / step[k];
        if (step[k] == 0) {
            if (std::abs(start[k]) > reach) return std::nullopt;
            continue;
        }
        enter = std::max(enter, std::min(to_low, to_high));
        leave = std::min(leave, std::max(to_low, to_high));
    }
    if (enter > leave) return std::nullopt;

    const Eigen::Vector3d from = start + enter * step;
    RaySearch search{
        {}, impl_->triangles.data(), ShearedRay(origin, direction), t_max, units_per_t, enter, {}};
    rtcInitIntersectContext(&search.context);
    RTCRayHit query{};
    query.ray.org_x = static_cast<float>(from.x());
    query.ray.org_y = static_cast<float>(from.y());
    query.ray.org_z = static_cast<float>(from.z());
    query.ray.dir_x = static_cast<float>(step.x());
    query.ray.dir_y = static_cast<float>(step.y());
    query.ray.dir_z = static_cast<float>(step.z());
    query.ray.tnear = 0.0f;
    query.ray.tfar = widened(leave - enter + kRayPadding);
    query.ray.mask = ~0u;
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(impl_->scene, &search.context, &query);
    if (search.best.triangle < 0) return std::nullopt;
    return search.best;
}

int TriangleScene::count_winding(const Eigen::Vector3d& x) const noexcept {
    return walk_line(x, nullptr);
}

void TriangleScene::passages(const Eigen::Vector3d& x, std::vector<Passage>& out) const {
    out.clear();
    walk_line(x, &out);
}

int TriangleScene::walk_line(const Eigen::Vector3d& x, std::vector<Passage>* passages) const {
    if (!impl_->scene || !x.allFinite()) return 0;
    const Eigen::Vector3d p = impl_->to_frame(x);
    const Eigen::Vector3d reach = impl_->half_box.array() + kRayPadding;
    if (p.x() > reach.x() || std::abs(p.y()) > reach.y() || std::abs(p.z()) > reach.z()) return 0;
    LineWalk walk{{}, impl_->triangles.data(), x, 0, passages};
    rtcInitIntersectContext(&walk.context);
    RTCRay ray{};
    ray.org_x = static_cast<float>(std::max(p.x(), -reach.x()) - kRayPadding);
    ray.org_y = static_cast<float>(p.y());
    ray.org_z = static_cast<float>(p.z());
    ray.dir_x = 1.0f;
    ray.tfar = 3.0f;  // the frame is two units wide
    ray.mask = ~0u;
    rtcOccluded1(impl_->scene, &walk.context, &ray);
    return walk.winding;
}

}  // namespace pliant::detail
