#include "contact/primitive_contacts.h"

#include "pliant/core/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using PrimitiveShape = ContactPrimitive::Shape;

namespace {

/// An edge or the other body's face must be less deep by so many sizes to be the way out: else two
/// equally good ways would take turns.
constexpr double kPreferred = 1e-3;
/// Of a face, whose shares add up to this.
constexpr double kFaceCorners = 4;
/// Sine below which a segment lies along another one, or along a face.
constexpr double kAlong = 0.05;

/// A shape with its axes turned, and its origin from that of the second body.
struct Placed {
    Placed(const PrimitiveShape& s, const Matrix3d& rotation, const Vector3d& place) noexcept
        : shape(s), R(rotation), t(place) {
        for (std::size_t i = 0; i < s.corners.size(); ++i) corners_[i] = R * s.corners[i] + t;
        for (std::size_t f = 0; f < s.faces.size(); ++f) {
            normals_[f] = R * s.faces[f].normal;
            offsets_[f] = s.faces[f].offset + normals_[f].dot(t);
        }
    }

    const PrimitiveShape& shape;
    Matrix3d R;
    Vector3d t;

    [[nodiscard]] std::span<const Vector3d> corners() const noexcept {
        return std::span(corners_).first(shape.corners.size());
    }
    [[nodiscard]] const Vector3d& corner(int i) const noexcept {
        return corners_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] int num_faces() const noexcept { return static_cast<int>(shape.faces.size()); }
    [[nodiscard]] const std::vector<int>& loop(int f) const noexcept {
        return shape.faces[static_cast<std::size_t>(f)].corners;
    }
    [[nodiscard]] int num_sides(int f) const noexcept { return static_cast<int>(loop(f).size()); }
    [[nodiscard]] const Vector3d& normal(int f) const noexcept {
        return normals_[static_cast<std::size_t>(f)];
    }
    [[nodiscard]] double offset(int f) const noexcept {
        return offsets_[static_cast<std::size_t>(f)];
    }
    [[nodiscard]] Vector3d direction(int i) const noexcept {
        return R * shape.directions[static_cast<std::size_t>(i)];
    }
    /// How far it reaches along n.
    [[nodiscard]] double reach(const Vector3d& n) const noexcept {
        double most = -INFINITY;
        for (const Vector3d& x : corners()) most = std::max(most, n.dot(x));
        return most;
    }
    /// Ends of a capsule's axis.
    [[nodiscard]] Vector3d end(int i) const noexcept {
        return t + (i == 0 ? 1.0 : -1.0) * shape.half_length * R.col(2);
    }
    [[nodiscard]] int num_ends() const noexcept { return shape.half_length > 0 ? 2 : 1; }

private:
    std::array<Vector3d, PrimitiveShape::kMostCorners> corners_;
    std::array<Vector3d, PrimitiveShape::kMostFaces> normals_;
    std::array<double, PrimitiveShape::kMostFaces> offsets_ = {};
};

class Found {
public:
    explicit Found(std::span<PrimitiveContact, kMostPrimitiveContacts> out) : out_(out) {}
    /// n out of the second body, p on the surface of one, `distance` to that of the other.
    void add(const Vector3d& middle, const Vector3d& n, double distance, int feature,
             double share = 1) noexcept {
        if (!(distance < 0) || count_ == kMostPrimitiveContacts) return;
        out_[static_cast<std::size_t>(count_++)] = {middle, n, distance, share, feature};
    }
    [[nodiscard]] int count() const noexcept { return count_; }
    /// What was found is that of the bodies in the other order.
    void turn_over() noexcept {
        for (PrimitiveContact& c : out_.first(static_cast<std::size_t>(count_))) c.n = -c.n;
    }
    void shift(const Vector3d& by) noexcept {
        for (PrimitiveContact& c : out_.first(static_cast<std::size_t>(count_))) c.p += by;
    }

private:
    std::span<PrimitiveContact, kMostPrimitiveContacts> out_;
    int count_ = 0;
};

// --- on a half-space b

void capsule_on_plane(const Placed& a, const Placed& b, Found& found) noexcept {
    const Vector3d n = b.normal(0);
    for (int i = 0; i < a.num_ends(); ++i) {
        const double d = n.dot(a.end(i)) - b.offset(0) - a.shape.radius;
        found.add(a.end(i) - (a.shape.radius + 0.5 * d) * n, n, d, i);
    }
}

void polyhedron_on_plane(const Placed& a, const Placed& b, Found& found) noexcept {
    const Vector3d n = b.normal(0);
    int feature = 0;
    for (const Vector3d& x : a.corners()) {
        const double d = n.dot(x) - b.offset(0);
        found.add(x - 0.5 * d * n, n, d, feature++);
    }
}

// --- capsules

/// Two balls of radii a and b about x and y.
void add_balls(const Vector3d& x, double a, const Vector3d& y, double b, int feature,
               Found& found) noexcept {
    const Vector3d apart = x - y;
    const double length = apart.norm();
    // one in the other: any way out is right
    const Vector3d n = length > 0 ? Vector3d(apart / length) : Vector3d::UnitZ();
    const double d = length - a - b;
    found.add(y + (b + 0.5 * d) * n, n, d, feature);
}

struct Segment {
    Vector3d from, along;  ///< from + s along, 0 ≤ s ≤ 1
    [[nodiscard]] Vector3d at(double s) const noexcept { return from + s * along; }
};

/// Parameters of the nearest points of two segments; of parallel ones any.
std::pair<double, double> nearest(const Segment& a, const Segment& b) noexcept {
    const Vector3d apart = a.from - b.from;
    const double aa = a.along.squaredNorm(), bb = b.along.squaredNorm(), ab = a.along.dot(b.along);
    const double ar = a.along.dot(apart), br = b.along.dot(apart);
    const double det = aa * bb - ab * ab;
    double s = det > 1e-14 * aa * bb ? std::clamp((ab * br - bb * ar) / det, 0.0, 1.0) : 0.0;
    double t = bb > 0 ? (ab * s + br) / bb : 0.0;
    if (t < 0 || t > 1) {
        t = std::clamp(t, 0.0, 1.0);
        s = aa > 0 ? std::clamp((ab * t - ar) / aa, 0.0, 1.0) : 0.0;
    }
    return {s, t};
}

Segment axis_of(const Placed& capsule) noexcept {
    return {capsule.end(1), 2 * capsule.shape.half_length * capsule.R.col(2)};
}

void capsule_on_capsule(const Placed& a, const Placed& b, Found& found) noexcept {
    const Segment p = axis_of(a), q = axis_of(b);
    const double bb = q.along.squaredNorm(), aa = p.along.squaredNorm();
    const bool is_along =
        aa > 0 && bb > 0 && p.along.cross(q.along).norm() < kAlong * std::sqrt(aa * bb);
    // side by side: both ends of what they have in common
    if (is_along) {
        std::array<double, 2> common;
        for (int i = 0; i < 2; ++i) {
            const double t = std::clamp(q.along.dot(p.at(i) - q.from) / bb, 0.0, 1.0);
            common[static_cast<std::size_t>(i)] =
                std::clamp(p.along.dot(q.at(t) - p.from) / aa, 0.0, 1.0);
        }
        if (std::abs(common[1] - common[0]) > 0.05) {
            for (int i = 0; i < 2; ++i) {
                const Vector3d x = p.at(common[static_cast<std::size_t>(i)]);
                const double t = std::clamp(q.along.dot(x - q.from) / bb, 0.0, 1.0);
                add_balls(x, a.shape.radius, q.at(t), b.shape.radius, i, found);
            }
            return;
        }
    }
    const auto [s, t] = nearest(p, q);
    add_balls(p.at(s), a.shape.radius, q.at(t), b.shape.radius, 0, found);
}

// --- capsules on polyhedra

/// Least depth of a face below all given points; its number.
struct Separation {
    double distance = -INFINITY;
    int face = -1;
};

/// The face that both ends of a segment are farthest out of.
Separation separation(const Placed& solid, std::span<const Vector3d> points) noexcept {
    Separation best;
    for (int f = 0; f < solid.num_faces(); ++f) {
        double lowest = INFINITY;
        for (const Vector3d& x : points)
            lowest = std::min(lowest, solid.normal(f).dot(x) - solid.offset(f));
        if (lowest > best.distance) best = {lowest, f};
    }
    return best;
}

/// Outwards in the plane of face f, from its side between the corners k and k + 1.
struct Side {
    Vector3d out;
    double offset;
};
Side side_of(const Placed& solid, int f, int k) noexcept {
    const std::vector<int>& loop = solid.loop(f);
    const auto i = static_cast<std::size_t>(k);
    const Vector3d from = solid.corner(loop[i]), to = solid.corner(loop[(i + 1) % loop.size()]);
    const Vector3d out = (to - from).cross(solid.normal(f)).normalized();
    return {out, out.dot(from)};
}

/// The point of a solid's surface nearest to x outside of it.
Vector3d nearest_on(const Placed& solid, const Vector3d& x) noexcept {
    double least = INFINITY;
    Vector3d best = x;
    const auto offer = [&](const Vector3d& y) {
        const double d = (y - x).squaredNorm();
        if (d < least) {
            least = d;
            best = y;
        }
    };
    for (int f = 0; f < solid.num_faces(); ++f) {
        const double d = solid.normal(f).dot(x) - solid.offset(f);
        if (d < 0) continue;
        const Vector3d y = x - d * solid.normal(f);
        bool is_within = true;
        for (int k = 0; k < solid.num_sides(f); ++k) {
            const Side side = side_of(solid, f, k);
            is_within &= side.out.dot(y) <= side.offset;
        }
        if (is_within) offer(y);
    }
    for (const auto& edge : solid.shape.edges) {
        const Vector3d from = solid.corner(edge.from), along = solid.corner(edge.to) - from;
        const double s = std::clamp(along.dot(x - from) / along.squaredNorm(), 0.0, 1.0);
        offer(from + s * along);
    }
    return best;
}

/// Whether a part of a segment is inside.
bool passes(const Placed& solid, const Segment& segment) noexcept {
    double begin = 0, end = 1;
    for (int f = 0; f < solid.num_faces(); ++f) {
        const double at = solid.normal(f).dot(segment.from) - solid.offset(f);
        const double rate = solid.normal(f).dot(segment.along);
        if (rate > 0)
            end = std::min(end, -at / rate);
        else if (rate < 0)
            begin = std::max(begin, -at / rate);
        else if (at > 0)
            return false;
    }
    return begin <= end;
}

/// The part of a capsule's axis over face f, against that face.
void axis_on_face(const Placed& a, const Placed& b, int f, Found& found) noexcept {
    const Segment axis = axis_of(a);
    double begin = 0, end = 1;
    for (int k = 0; k < b.num_sides(f); ++k) {
        const Side side = side_of(b, f, k);
        const double at = side.out.dot(axis.from) - side.offset, rate = side.out.dot(axis.along);
        if (rate > 0)
            end = std::min(end, -at / rate);
        else if (rate < 0)
            begin = std::max(begin, -at / rate);
        else if (at > 0)
            return;
    }
    if (!(begin <= end)) return;
    const Vector3d n = b.normal(f);
    const int last = a.num_ends();
    for (int i = 0; i < last; ++i) {
        const Vector3d x = axis.at(i == 0 ? begin : end);
        const double d = n.dot(x) - b.offset(f) - a.shape.radius;
        found.add(x - (a.shape.radius + 0.5 * d) * n, n, d, i);
    }
}

void capsule_on_polyhedron(const Placed& a, const Placed& b, Found& found) noexcept {
    const std::array<Vector3d, 2> ends = {a.end(0), a.end(1)};
    const std::span<const Vector3d> points(ends.data(), static_cast<std::size_t>(a.num_ends()));
    const Separation best = separation(b, points);
    if (best.distance > a.shape.radius) return;
    const Segment axis = axis_of(a);
    if (passes(b, axis)) {
        axis_on_face(a, b, best.face, found);
        return;
    }
    // the nearest points of both
    double least = INFINITY;
    Vector3d x = ends[0], y = ends[0];
    const auto offer = [&](const Vector3d& on_axis, const Vector3d& on_solid) {
        const double d = (on_axis - on_solid).squaredNorm();
        if (d < least) {
            least = d;
            x = on_axis;
            y = on_solid;
        }
    };
    for (const Vector3d& end : points)
        if (separation(b, std::span(&end, 1)).distance > 0) offer(end, nearest_on(b, end));
    if (a.num_ends() == 2)
        for (const auto& edge : b.shape.edges) {
            const Segment side{b.corner(edge.from), b.corner(edge.to) - b.corner(edge.from)};
            const auto [s, t] = nearest(axis, side);
            offer(axis.at(s), side.at(t));
        }
    if (!std::isfinite(least)) return;
    const Vector3d apart = x - y;
    const double length = std::sqrt(least);
    if (!(length < a.shape.radius) || !(length > 0)) return;
    const Vector3d n = apart / length;
    // lying along a face
    for (int f = 0; f < b.num_faces(); ++f)
        if (n.dot(b.normal(f)) > 1 - 1e-6 &&
            std::abs(b.normal(f).dot(axis.along)) < kAlong * axis.along.norm()) {
            axis_on_face(a, b, f, found);
            if (found.count() > 0) return;
        }
    const double d = length - a.shape.radius;
    found.add(y + 0.5 * d * n, n, d, 0);
}

// --- polyhedra

constexpr int kMostClipped = 16;
struct Polygon {
    std::array<Vector3d, kMostClipped> points;
    int count = 0;
    /// Round and round.
    [[nodiscard]] const Vector3d& at(int i) const noexcept {
        return points[static_cast<std::size_t>(i % count)];
    }
};

/// What is left of a polygon behind a plane.
Polygon clip(const Polygon& polygon, const Side& side) noexcept {
    Polygon left;
    for (int i = 0; i < polygon.count; ++i) {
        const Vector3d& from = polygon.points[static_cast<std::size_t>(i)];
        const Vector3d& to = polygon.points[static_cast<std::size_t>((i + 1) % polygon.count)];
        const double a = side.out.dot(from) - side.offset, b = side.out.dot(to) - side.offset;
        if (a <= 0 && left.count < kMostClipped)
            left.points[static_cast<std::size_t>(left.count++)] = from;
        if ((a < 0 && b > 0) || (a > 0 && b < 0))
            if (left.count < kMostClipped)
                left.points[static_cast<std::size_t>(left.count++)] =
                    from + a / (a - b) * (to - from);
    }
    return left;
}

/// The corners of `other` over face f of a solid; n out of the solid.
void polyhedron_on_face(const Placed& solid, int f, const Placed& other, Found& found) noexcept {
    const Vector3d n = solid.normal(f);
    // the face that looks at it
    int facing = 0;
    double least = INFINITY;
    for (int g = 0; g < other.num_faces(); ++g)
        if (const double cosine = n.dot(other.normal(g)); cosine < least) {
            least = cosine;
            facing = g;
        }
    Polygon polygon;
    for (const int c : other.loop(facing))
        polygon.points[static_cast<std::size_t>(polygon.count++)] = other.corner(c);
    for (int k = 0; k < solid.num_sides(f); ++k) polygon = clip(polygon, side_of(solid, f, k));
    // each corner has half of the sides beside it: two that are one have the share of one
    double around = 0;
    for (int i = 0; i < polygon.count; ++i) around += (polygon.at(i + 1) - polygon.at(i)).norm();
    if (!(around > 0)) return;
    for (int i = 0; i < polygon.count; ++i) {
        const Vector3d& x = polygon.at(i);
        const double beside =
            (polygon.at(i + 1) - x).norm() + (polygon.at(i + polygon.count - 1) - x).norm();
        const double d = n.dot(x) - solid.offset(f);
        found.add(x - 0.5 * d * n, n, d, -1, kFaceCorners * beside / (2 * around));
    }
}

/// The pair of edges that is the least way out; distance −∞: there is none.
struct EdgeContact {
    double distance = -INFINITY;
    Vector3d n = Vector3d::Zero();
    int direction_a = 0, direction_b = 0;
};
EdgeContact edge_contact(const Placed& a, const Placed& b) noexcept {
    EdgeContact best;
    for (int i = 0; i < static_cast<int>(a.shape.directions.size()); ++i)
        for (int j = 0; j < static_cast<int>(b.shape.directions.size()); ++j) {
            const Vector3d across = a.direction(i).cross(b.direction(j));
            const double sine = across.norm();
            if (!(sine > kAlong)) continue;
            for (const double sign : {1.0, -1.0}) {
                const Vector3d n = sign / sine * across;
                const double distance = -a.reach(-n) - b.reach(n);
                if (distance > best.distance) best = {distance, n, i, j};
            }
        }
    return best;
}

/// The edge of a direction that reaches farthest along n.
Segment outermost_edge(const Placed& solid, int direction, const Vector3d& n) noexcept {
    double most = -INFINITY;
    Segment found{};
    for (const PrimitiveShape::Edge& edge : solid.shape.edges) {
        if (edge.direction != direction) continue;
        const Vector3d from = solid.corner(edge.from), to = solid.corner(edge.to);
        if (const double height = n.dot(from + to); height > most) {
            most = height;
            found = {from, to - from};
        }
    }
    return found;
}

void polyhedron_on_polyhedron(const Placed& a, const Placed& b, Found& found) noexcept {
    const double least = kPreferred * std::min(a.shape.size, b.shape.size);
    const Separation on_b = separation(b, a.corners());
    if (!(on_b.distance < 0)) return;
    const Separation on_a = separation(a, b.corners());
    if (!(on_a.distance < 0)) return;
    const bool is_a = on_a.distance > on_b.distance + least;
    const double by_face = is_a ? on_a.distance : on_b.distance;
    const EdgeContact edge = edge_contact(a, b);
    if (edge.distance >= 0) return;
    if (edge.distance > by_face + least) {
        const Segment p = outermost_edge(a, edge.direction_a, -edge.n),
                      q = outermost_edge(b, edge.direction_b, edge.n);
        const auto [s, t] = nearest(p, q);
        found.add(0.5 * (p.at(s) + q.at(t)), edge.n, edge.distance, -1);
        return;
    }
    if (is_a) {
        polyhedron_on_face(a, on_a.face, b, found);
        found.turn_over();
    } else {
        polyhedron_on_face(b, on_b.face, a, found);
    }
}

/// For the pairs above in the order they are written for.
void find_in_order(const Placed& a, const Placed& b, Found& found) noexcept {
    using enum PrimitiveShape::Kind;
    const bool is_capsule = a.shape.kind == Capsule;
    if (b.shape.kind == HalfSpace)
        return is_capsule ? capsule_on_plane(a, b, found) : polyhedron_on_plane(a, b, found);
    if (b.shape.kind == Capsule) return capsule_on_capsule(a, b, found);
    return is_capsule ? capsule_on_polyhedron(a, b, found) : polyhedron_on_polyhedron(a, b, found);
}

/// Half-spaces last, polyhedra before them.
int rank_of(PrimitiveShape::Kind kind) noexcept {
    using enum PrimitiveShape::Kind;
    return kind == HalfSpace ? 2 : kind == Polyhedron ? 1 : 0;
}

// --- shapes

/// A polyhedron from its corners and the loops of its faces, anticlockwise from outside.
PrimitiveShape polyhedron(std::vector<Vector3d> corners,
                          const std::vector<std::vector<int>>& loops) {
    PrimitiveShape shape;
    shape.kind = PrimitiveShape::Kind::Polyhedron;
    shape.corners = std::move(corners);
    const auto at = [&](int i) -> const Vector3d& {
        return shape.corners[static_cast<std::size_t>(i)];
    };
    for (const std::vector<int>& loop : loops) {
        const Vector3d n =
            (at(loop[1]) - at(loop[0])).cross(at(loop[2]) - at(loop[0])).normalized();
        shape.faces.push_back({n, n.dot(at(loop[0])), loop});
        for (std::size_t k = 0; k < loop.size(); ++k) {
            const int from = loop[k], to = loop[(k + 1) % loop.size()];
            // each edge is in two loops
            if (from > to) continue;
            const Vector3d along = (at(to) - at(from)).normalized();
            const auto known = std::ranges::find_if(shape.directions, [&](const Vector3d& d) {
                return std::abs(d.dot(along)) > 1 - 1e-12;
            });
            shape.edges.push_back({from, to, static_cast<int>(known - shape.directions.begin())});
            if (known == shape.directions.end()) shape.directions.push_back(along);
        }
    }
    shape.size = INFINITY;
    for (const PrimitiveShape::Face& face : shape.faces) {
        double width = 0;
        for (const Vector3d& x : shape.corners)
            width = std::max(width, face.offset - face.normal.dot(x));
        shape.size = std::min(shape.size, width);
    }
    return shape;
}

PrimitiveShape capsule_shape(double radius, double half_length) {
    PrimitiveShape shape;
    shape.kind = PrimitiveShape::Kind::Capsule;
    shape.radius = radius;
    shape.half_length = half_length;
    return shape;
}

}  // namespace

ContactPrimitive::ContactPrimitive(std::shared_ptr<const Shape> shape, FieldPointer field)
    : shape_(std::move(shape)), field_(std::move(field)) {}

ContactPrimitive ContactPrimitive::half_space(const Vector3d& normal, double offset) {
    FieldPointer field = plane_set_field({{normal, offset}});
    PrimitiveShape shape;
    shape.faces.push_back({normal.normalized(), offset, {}});
    return {std::make_shared<const PrimitiveShape>(std::move(shape)), std::move(field)};
}

ContactPrimitive ContactPrimitive::sphere(double radius) {
    FieldPointer field = sphere_field(radius);
    return {std::make_shared<const PrimitiveShape>(capsule_shape(radius, 0)), std::move(field)};
}

ContactPrimitive ContactPrimitive::capsule(double radius, double half_length) {
    FieldPointer field = capsule_field(radius, half_length);
    return {std::make_shared<const PrimitiveShape>(capsule_shape(radius, half_length)),
            std::move(field)};
}

ContactPrimitive ContactPrimitive::box(const Vector3d& half_sizes) {
    FieldPointer field = box_field(half_sizes);
    std::vector<Vector3d> corners;
    for (int i = 0; i < 8; ++i)
        corners.push_back(
            half_sizes.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
    PrimitiveShape shape = polyhedron(
        std::move(corners),
        {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}});
    return {std::make_shared<const PrimitiveShape>(std::move(shape)), std::move(field)};
}

ContactPrimitive ContactPrimitive::wedge(const Vector3d& sizes) {
    const double x = 0.5 * sizes.x(), y = 0.5 * sizes.y(), z = sizes.z();
    FieldPointer field = plane_set_field({{-Vector3d::UnitZ(), 0},
                                          {Vector3d::UnitY(), y},
                                          {-Vector3d::UnitY(), y},
                                          {Vector3d(z, 0, x), x * z / std::hypot(x, z)},
                                          {Vector3d(-z, 0, x), x * z / std::hypot(x, z)}});
    PrimitiveShape shape =
        polyhedron({{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}, {0, -y, z}, {0, y, z}},
                   {{0, 3, 2, 1}, {0, 1, 4}, {2, 3, 5}, {1, 2, 5, 4}, {3, 0, 4, 5}});
    return {std::make_shared<const PrimitiveShape>(std::move(shape)), std::move(field)};
}

int primitive_contacts(const PrimitiveShape& a, const Pose& pose_a, const PrimitiveShape& b,
                       const Pose& pose_b,
                       std::span<PrimitiveContact, kMostPrimitiveContacts> out) noexcept {
    using enum PrimitiveShape::Kind;
    if (a.kind == HalfSpace && b.kind == HalfSpace) return 0;
    const Placed first{a, pose_a.rotation.toRotationMatrix(), pose_a.position - pose_b.position};
    const Placed second{b, pose_b.rotation.toRotationMatrix(), Vector3d::Zero()};
    Found found(out);
    if (rank_of(a.kind) <= rank_of(b.kind)) {
        find_in_order(first, second, found);
    } else {
        find_in_order(second, first, found);
        found.turn_over();
    }
    found.shift(pose_b.position);
    return found.count();
}

}  // namespace pliant
