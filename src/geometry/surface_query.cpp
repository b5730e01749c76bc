#include "pliant/geometry/surface_query.h"

#include "geometry/triangle.h"
#include "geometry/triangle_scene.h"
#include "geometry/winding_number.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace pliant {
namespace {

constexpr int kMaxOverlapSamples = 40000;

void check_vertices(const std::vector<Eigen::Vector3d>& vertices) {
    for (std::size_t i = 0; i < vertices.size(); ++i)
        if (!is_usable(vertices[i]))
            throw InputError("", "the surface's vertex " + std::to_string(i) +
                                     " has a coordinate that is " +
                                     (vertices[i].allFinite() ? "beyond 1e30; check its units"
                                                              : "not a finite number"));
}

SurfaceMesh checked(SurfaceMesh mesh) {
    check_vertices(mesh.vertices);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (const int v : mesh.triangles[t])
            if (v < 0 || v >= mesh.num_vertices())
                throw InputError("", "the surface's triangle " + std::to_string(t) +
                                         " names vertex " + std::to_string(v) + ", but there are " +
                                         std::to_string(mesh.num_vertices()) + " vertices");
    return mesh;
}

/// Every edge joins two triangles that run it in opposite directions.
bool is_closed(const SurfaceTopology& topology) {
    return std::ranges::all_of(topology.edges(), [&](const SurfaceTopology::Edge& edge) {
        const auto uses = topology.uses(edge);
        return edge.a != edge.b && uses.size() == 2 && uses[0].is_forward != uses[1].is_forward;
    });
}

/// Every edge is run as often one way as the other: whatever overlaps, winding numbers are whole.
bool has_no_border(const SurfaceTopology& topology) {
    return std::ranges::all_of(topology.edges(), [&](const SurfaceTopology::Edge& edge) {
        int balance = 0;
        for (const auto& use : topology.uses(edge)) balance += use.is_forward ? 1 : -1;
        return edge.a == edge.b || balance == 0;
    });
}

}  // namespace

struct SurfaceQuery::Impl {
    SurfaceMesh mesh;
    detail::TriangleScene scene;
    SignMethod sign = SignMethod::WindingNumber;
    SurfaceTopology topology;
    bool is_countable;      // whole winding numbers, which a line can count
    PseudoNormals normals;  // zero where they cannot tell inside from outside
    mutable std::once_flag winding_once;
    mutable std::unique_ptr<detail::WindingTree> winding;

    explicit Impl(SurfaceMesh surface)
        : mesh(checked(std::move(surface))),
          scene(mesh),
          topology(mesh),
          is_countable(has_no_border(topology)) {}

    /// Built on first use, which only winding_number leaves to a query, by one thread alone: a
    /// parallel loop in here could take up another query and wait for itself.
    const detail::WindingTree& winding_tree() const {
        std::call_once(winding_once,
                       [&] { winding = std::make_unique<detail::WindingTree>(mesh); });
        return *winding;
    }
    bool is_wound_around(const Eigen::Vector3d& x) const noexcept {
        return is_countable ? scene.count_winding(x) > 0 : winding_tree().is_inside(x);
    }
    bool has_overlaps() const;
    void prepare_sign();
    bool is_outward(const Eigen::Vector3d& x, const ClosestPoint& nearest) const noexcept;
};

/// Whether some part lies inside another, or turns its back on the one around it: just outside its
/// triangles, the winding number of a clean surface is 0.
bool SurfaceQuery::Impl::has_overlaps() const {
    const int num_parts = topology.num_components();
    if (num_parts < 2) return false;

    // a sample of the triangles, with at least one of each part
    const int stride = 1 + mesh.num_triangles() / kMaxOverlapSamples;
    std::vector<int> samples;
    std::vector<char> is_sampled(num_parts, 0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        char& has_one = is_sampled[topology.components()[t]];
        if (has_one && t % stride != 0) continue;
        if (has_no_area(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2))) continue;
        samples.push_back(t);
        has_one = 1;
    }
    std::atomic<bool> found = false;
    parallel_for(samples.size(), 256, [&](std::size_t i) {
        if (found.load(std::memory_order_relaxed)) return;
        const int t = samples[i];
        const Eigen::Vector3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1),
                              &c = mesh.corner(t, 2), area = area_vector(a, b, c);
        const Eigen::Vector3d outside = (a + b + c) / 3.0 + 1e-3 * area / std::sqrt(area.norm());
        if (scene.count_winding(outside) != 0) found = true;
    });
    return found;
}

void SurfaceQuery::Impl::prepare_sign() {
    if (sign == SignMethod::PseudoNormal) {
        // beside a triangle without area some of the faces that meet there are not its neighbours,
        // and the sum of normals lacks them: the winding number decides
        normals = pseudo_normals(mesh, topology);
        for (int t = 0; t < mesh.num_triangles(); ++t) {
            if (!normals.face[t].isZero(0.0)) continue;
            for (int k = 0; k < 3; ++k) {
                normals.edge[topology.edge_of(t, k)].setZero();
                normals.vertex[mesh.triangles[t][k]].setZero();
            }
        }
    }
    // now, because queries may neither allocate nor throw
    if (!is_countable) winding_tree();
}

bool SurfaceQuery::Impl::is_outward(const Eigen::Vector3d& x,
                                    const ClosestPoint& nearest) const noexcept {
    if (sign == SignMethod::PseudoNormal) {
        const int t = nearest.triangle, k = nearest.feature_index;
        const Eigen::Vector3d& normal = nearest.feature == Feature::Face ? normals.face[t]
                                        : nearest.feature == Feature::Edge
                                            ? normals.edge[topology.edge_of(t, k)]
                                            : normals.vertex[mesh.triangles[t][k]];
        // docs/geometry.md eq. (2); a corner of the feature serves as well as the nearest point
        // and carries no rounding
        if (!normal.isZero(0.0)) return (x - mesh.corner(t, k)).dot(normal) >= 0;
    }
    return !is_wound_around(x);
}

SurfaceQuery::SurfaceQuery(SurfaceMesh mesh) : impl_(std::make_unique<Impl>(std::move(mesh))) {
    const bool is_solid = is_closed(impl_->topology) && !impl_->has_overlaps();
    impl_->sign = is_solid ? SignMethod::PseudoNormal : SignMethod::WindingNumber;
    impl_->prepare_sign();
}

SurfaceQuery::SurfaceQuery(SurfaceMesh mesh, SignMethod sign)
    : impl_(std::make_unique<Impl>(std::move(mesh))) {
    impl_->sign = sign;
    impl_->prepare_sign();
}

SurfaceQuery::~SurfaceQuery() = default;
SurfaceQuery::SurfaceQuery(SurfaceQuery&&) noexcept = default;
SurfaceQuery& SurfaceQuery::operator=(SurfaceQuery&&) noexcept = default;

const SurfaceMesh& SurfaceQuery::mesh() const noexcept { return impl_->mesh; }
SignMethod SurfaceQuery::sign_method() const noexcept { return impl_->sign; }

ClosestPoint SurfaceQuery::closest(const Eigen::Vector3d& x, double radius) const noexcept {
    return impl_->scene.closest(x, radius);
}

double SurfaceQuery::signed_distance(const Eigen::Vector3d& x, double radius) const noexcept {
    const ClosestPoint nearest = impl_->scene.closest(x, radius);
    if (nearest.triangle < 0) return std::numeric_limits<double>::infinity();
    return impl_->is_outward(x, nearest) ? nearest.distance : -nearest.distance;
}

bool SurfaceQuery::is_inside(const Eigen::Vector3d& x) const noexcept {
    if (!x.allFinite()) return false;
    if (impl_->sign == SignMethod::WindingNumber) return impl_->is_wound_around(x);
    return signed_distance(x) < 0;
}

double SurfaceQuery::winding_number(const Eigen::Vector3d& x) const {
    return x.allFinite() ? impl_->winding_tree().winding_number(x) : 0.0;
}

std::optional<RayHit> SurfaceQuery::ray(const Eigen::Vector3d& origin,
                                        const Eigen::Vector3d& direction,
                                        double t_max) const noexcept {
    return impl_->scene.ray(origin, direction, t_max);
}

std::optional<RayHit> SurfaceQuery::segment(const Eigen::Vector3d& a,
                                            const Eigen::Vector3d& b) const noexcept {
    return impl_->scene.ray(a, b - a, 1.0);
}

int SurfaceQuery::overlapping(const Eigen::Vector3d& centre, double radius,
                              std::span<int> out) const noexcept {
    return impl_->scene.overlapping(centre, radius, out);
}

void SurfaceQuery::refit(const std::vector<Eigen::Vector3d>& vertices) {
    if (vertices.size() != impl_->mesh.vertices.size())
        throw InputError("", "refit got " + std::to_string(vertices.size()) +
                                 " vertices for a surface of " +
                                 std::to_string(impl_->mesh.num_vertices()));
    check_vertices(vertices);
    impl_->mesh.vertices = vertices;
    impl_->scene.update(impl_->mesh);
    if (impl_->winding) impl_->winding->update(impl_->mesh);
    impl_->prepare_sign();
}

}  // namespace pliant
