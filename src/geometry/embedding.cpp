#include "pliant/geometry/embedding.h"

#include "geometry/closest_on_triangle.h"
#include "geometry/element_tables.h"
#include "geometry/element_tree.h"
#include "geometry/triangle.h"
#include "geometry/trilinear.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A point is inside up to this much beyond the natural or barycentric range: neighbours must not
/// both reject a point on their common face.
constexpr double kInsideTolerance = 1e-9;

/// Solves A x = b, unless A is flat up to round-off.
std::optional<Vector3d> solve(const Matrix3d& A, const Vector3d& b) {
    const Vector3d c0 = A.col(1).cross(A.col(2)), c1 = A.col(2).cross(A.col(0)),
                   c2 = A.col(0).cross(A.col(1));
    const double det = A.col(0).dot(c0);
    const double scale = A.col(0).norm() * A.col(1).norm() * A.col(2).norm();
    if (!(std::abs(det) > 1e-13 * scale)) return std::nullopt;
    return Vector3d(c0.dot(b), c1.dot(b), c2.dot(b)) / det;
}

struct NearestCorners {
    double distance_squared = std::numeric_limits<double>::infinity();
    std::array<int, 3> corners{0, 1, 2};       // of the element
    Vector3d barycentric = Vector3d::UnitX();  // some corner, should all distances overflow
};

/// Shape functions of the linear tetrahedron: barycentric coordinates.
class TetShape {
public:
    TetShape(const VolumeMesh& mesh, int element) {
        const auto nodes = mesh.element(element);
        for (int a = 0; a < 4; ++a) x_[a] = mesh.vertices[nodes[a]];
        edges_ << x_[1] - x_[0], x_[2] - x_[0], x_[3] - x_[0];
    }

    std::optional<Weights8> weights_inside(const Vector3d& p) const {
        const std::optional<Vector3d> b = solve(edges_, p - x_[0]);
        if (!b || b->minCoeff() < -kInsideTolerance || b->sum() > 1 + kInsideTolerance)
            return std::nullopt;
        Weights8 w = Weights8::Zero();
        w.head<4>() << 1 - b->sum(), *b;
        return w;
    }

    NearestCorners nearest(const Vector3d& p) const {
        NearestCorners best;
        for (const auto& f : kTetFaces) {
            const auto on_face = detail::nearest_on_triangle(p, x_[f[0]], x_[f[1]], x_[f[2]]);
            if (on_face.distance_squared < best.distance_squared)
                best = {on_face.distance_squared, f, on_face.barycentric};
        }
        return best;
    }

    /// docs/geometry.md eq. (8); at most one height beyond a face.
    Weights8 weights_outside(const Vector3d& p) const {
        const NearestCorners foot = nearest(p);
        Weights8 w = Weights8::Zero();
        Vector3d q = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) {
            w[foot.corners[k]] = foot.barycentric[k];
            q += foot.barycentric[k] * x_[foot.corners[k]];
        }
        const std::optional<Vector3d> b = solve(edges_, p - q);
        if (!b) return w;  // a flat element has no direction to extrapolate in
        Eigen::Vector4d change;
        change << -b->sum(), *b;
        w.head<4>() += change / std::max(1.0, change.lpNorm<Eigen::Infinity>());
        return w;
    }

private:
    std::array<Vector3d, 4> x_;
    Matrix3d edges_;
};

/// Shape functions of the trilinear hexahedron.
class HexShape {
public:
    HexShape(const VolumeMesh& mesh, int element) : map_(mesh, element) {
        const auto nodes = mesh.element(element);
        for (int a = 0; a < 8; ++a) x_[a] = mesh.vertices[nodes[a]];
    }

    std::optional<Weights8> weights_inside(const Vector3d& p) const {
        const std::optional<Vector3d> xi = invert(p);
        if (!xi || xi->lpNorm<Eigen::Infinity>() > 1 + kInsideTolerance) return std::nullopt;
        return hex_shape(*xi);
    }

    /// Each face as two triangles: exact where it is plane.
    NearestCorners nearest(const Vector3d& p) const {
        NearestCorners best;
        for (const auto& f : kHexFaces)
            for (int half = 0; half < 2; ++half) {
                const std::array<int, 3> c{f[0], f[1 + half], f[2 + half]};
                const auto on_half = detail::nearest_on_triangle(p, x_[c[0]], x_[c[1]], x_[c[2]]);
                if (on_half.distance_squared < best.distance_squared)
                    best = {on_half.distance_squared, c, on_half.barycentric};
            }
        return best;
    }

    /// docs/geometry.md eq. (8); at most one element beyond, natural coordinates in [−3, 3].
    Weights8 weights_outside(const Vector3d& p) const {
        const NearestCorners foot = nearest(p);
        Vector3d q = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) q += foot.barycentric[k] * x_[foot.corners[k]];
        // natural coordinates of the foot; whatever Newton gives, the step below makes up for it
        Vector3d xi = invert(q).value_or(Vector3d::Zero());
        xi = xi.cwiseMax(-1).cwiseMin(1);
        Weights8 w = hex_shape(xi);
        const std::optional<Vector3d> step = solve(map_.jacobian(xi), p - map_.point(xi));
        if (!step) return w;  // a flat element has no direction to extrapolate in
        return w +
               hex_shape_gradient(xi) * *step / std::max(1.0, step->lpNorm<Eigen::Infinity>() / 2);
    }

private:
    /// Newton on x(ξ) = p from the centre: one step for parallelepipeds and one to see it.
    std::optional<Vector3d> invert(const Vector3d& p) const {
        Vector3d xi = Vector3d::Zero();
        for (int iteration = 0; iteration < 25; ++iteration) {
            const std::optional<Vector3d> step = solve(map_.jacobian(xi), p - map_.point(xi));
            if (!step) return std::nullopt;
            // kept near the element, where the map can be trusted
            xi = (xi + *step).cwiseMax(-4).cwiseMin(4);
            // quadratic convergence: the error is now about the square of the step
            if (step->lpNorm<Eigen::Infinity>() < 1e-8) return xi;
        }
        return std::nullopt;
    }

    std::array<Vector3d, 8> x_;
    TrilinearMap map_;
};

struct Carrier {
    int element = -1;
    bool is_outside = false;
    Weights8 weights;
};

template <class Shape>
Carrier find_carrier(const VolumeMesh& mesh, const ElementTree& tree, const Vector3d& p) {
    Carrier carrier;
    tree.visit_around(p, [&](int e) {
        if (carrier.element >= 0 && carrier.element < e) return;
        if (const std::optional<Weights8> w = Shape(mesh, e).weights_inside(p))
            carrier = {e, false, *w};
    });
    if (carrier.element >= 0) return carrier;
    const int nearest =
        tree.nearest(p, [&](int e) { return Shape(mesh, e).nearest(p).distance_squared; });
    return {nearest, true, Shape(mesh, nearest).weights_outside(p)};
}

}  // namespace

Embedding::Embedding(const VolumeMesh& mesh, const std::vector<Vector3d>& points)
    : num_vertices_(mesh.num_vertices()) {
    if (mesh.num_elements() == 0)
        throw InputError("", "points cannot be embedded in a mesh without elements");
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!is_usable(points[i]))
            throw InputError("", "point " + std::to_string(i) +
                                     " to be embedded is not finite or beyond 1e30; repair the "
                                     "surface and check its units first");

    // an element and its weights for each point
    const ElementTree tree(mesh, kInsideTolerance);
    std::vector<Carrier> carriers(points.size());
    parallel_for(points.size(), 256, [&](std::size_t i) {
        carriers[i] = mesh.kind == ElementKind::Tet4
                          ? find_carrier<TetShape>(mesh, tree, points[i])
                          : find_carrier<HexShape>(mesh, tree, points[i]);
    });

    // hanging vertices pass their weight on to their masters
    std::vector<const HangingNode*> hanging(mesh.vertices.size(), nullptr);
    for (const HangingNode& node : mesh.hanging) hanging[node.vertex] = &node;
    const auto n = static_cast<std::size_t>(nodes_per_element(mesh.kind));
    start_.reserve(points.size() + 1);
    start_.push_back(0);
    elements_.reserve(points.size());
    vertices_.reserve(n * points.size());
    weights_.reserve(n * points.size());
    std::vector<std::pair<int, double>> shares;
    for (const Carrier& carrier : carriers) {
        elements_.push_back(carrier.element);
        num_outside_ += carrier.is_outside;
        shares.clear();
        const auto nodes = mesh.element(carrier.element);
        for (std::size_t a = 0; a < n; ++a) {
            const double w = carrier.weights[static_cast<Eigen::Index>(a)];
            if (const HangingNode* node = hanging[nodes[a]])
                for (int k = 0; k < node->num_masters; ++k)
                    shares.emplace_back(node->masters[k], w * node->weight);
            else
                shares.emplace_back(nodes[a], w);
        }
        std::ranges::sort(shares);
        for (const auto& [vertex, w] : shares) {
            const bool is_new =
                static_cast<int>(vertices_.size()) == start_.back() || vertices_.back() != vertex;
            if (is_new) {
                vertices_.push_back(vertex);
                weights_.push_back(w);
            } else {
                weights_.back() += w;
            }
        }
        start_.push_back(static_cast<int>(vertices_.size()));
    }
}

Embedding::Embedding(int num_vertices, std::vector<int> start, std::vector<int> vertices,
                     std::vector<double> weights)
    : num_vertices_(num_vertices),
      start_(std::move(start)),
      vertices_(std::move(vertices)),
      weights_(std::move(weights)) {
    const auto require = [](bool condition, const char* what) {
        if (!condition)
            throw InputError("", std::string("the stored embedding is damaged: ") + what);
    };
    require(!start_.empty() && start_.front() == 0 && std::ranges::is_sorted(start_),
            "the starts of its points must begin with 0 and never decrease");
    require(static_cast<std::size_t>(start_.back()) == vertices_.size() &&
                vertices_.size() == weights_.size(),
            "the numbers of starts, vertices and weights do not agree");
    require(std::ranges::all_of(vertices_, [&](int v) { return v >= 0 && v < num_vertices_; }),
            "a vertex index is out of range");
    require(std::ranges::all_of(weights_, [](double w) { return std::isfinite(w); }),
            "a weight is not finite");
}

void Embedding::transfer(std::span<const double> u_vertices,
                         std::span<double> u_points) const noexcept {
    assert(u_vertices.size() == 3 * static_cast<std::size_t>(num_vertices()));
    assert(u_points.size() == 3 * static_cast<std::size_t>(num_points()));
    for (int i = 0; i < num_points(); ++i) {
        double x = 0, y = 0, z = 0;
        for (int k = start_[i]; k < start_[i + 1]; ++k) {
            const double* u = u_vertices.data() + 3 * static_cast<std::ptrdiff_t>(vertices_[k]);
            x += weights_[k] * u[0];
            y += weights_[k] * u[1];
            z += weights_[k] * u[2];
        }
        double* u = u_points.data() + 3 * static_cast<std::ptrdiff_t>(i);
        u[0] = x;
        u[1] = y;
        u[2] = z;
    }
}

void Embedding::transfer_transposed(std::span<const double> f_points,
                                    std::span<double> f_vertices) const noexcept {
    assert(f_vertices.size() == 3 * static_cast<std::size_t>(num_vertices()));
    assert(f_points.size() == 3 * static_cast<std::size_t>(num_points()));
    for (int i = 0; i < num_points(); ++i) {
        const double* f = f_points.data() + 3 * static_cast<std::ptrdiff_t>(i);
        for (int k = start_[i]; k < start_[i + 1]; ++k) {
            double* sum = f_vertices.data() + 3 * static_cast<std::ptrdiff_t>(vertices_[k]);
            for (int axis = 0; axis < 3; ++axis) sum[axis] += weights_[k] * f[axis];
        }
    }
}

}  // namespace pliant
