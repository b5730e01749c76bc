#include "contact/sphere_tree.h"
#include "pliant/contact/moving_surface.h"

#include <cassert>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

/// Where the surface is at one moment.
struct SurfaceMotion {
    SurfaceMotion(int rank, int stride)
        : q(static_cast<std::size_t>(rank)), factors(static_cast<std::size_t>(stride)) {}

    void set(const Pose& new_pose, std::span<const double> new_q) noexcept {
        pose = new_pose;
        rotation = pose.rotation.toRotationMatrix();
        double squares = 0;
        for (std::size_t j = 0; j < q.size(); ++j) {
            q[j] = static_cast<float>(new_q[j]);
            squares += new_q[j] * new_q[j];
            for (std::size_t k = 0; k < 3; ++k) factors.data()[4 * j + k] = q[j];
            factors.data()[4 * j + 3] = std::abs(q[j]);
        }
        for (std::size_t k = 0; k < 4; ++k) factors.data()[4 * q.size() + k] = 1;
        visit.factors = factors.data();
        visit.norm = static_cast<float>(std::sqrt(squares) * (1 + 1e-6));
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j)
                visit.rotation[3 * i + j] = static_cast<float>(rotation(i, j));
            visit.shift[i] = static_cast<float>(pose.position[i]);
        }
    }

    Pose pose;
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
    std::vector<float> q;
    AlignedArray<float> factors;
    VisitMotion visit;
};

SurfaceMesh mesh_of(const SurfaceShapes& shapes) {
    SurfaceMesh mesh;
    const SurfaceArrays& arrays = shapes.arrays();
    for (std::size_t v = 0; v < arrays.rest.size(); v += 3)
        mesh.vertices.emplace_back(double{arrays.rest[v]}, double{arrays.rest[v + 1]},
                                   double{arrays.rest[v + 2]});
    for (std::size_t t = 0; t < arrays.triangles.size(); t += 3)
        mesh.triangles.push_back(
            {arrays.triangles[t], arrays.triangles[t + 1], arrays.triangles[t + 2]});
    return mesh;
}

double distance_to_segment(const Eigen::Vector3f& p, const Eigen::Vector3f& a,
                           const Eigen::Vector3f& b) noexcept {
    const Eigen::Vector3f side = b - a;
    const float squared = side.squaredNorm();
    const float t = squared > 0 ? std::clamp((p - a).dot(side) / squared, 0.0f, 1.0f) : 0.0f;
    return double{(p - a - t * side).norm()};
}

}  // namespace

struct ReducedSurface::Impl {
    Impl(const SurfaceMesh& mesh, const SurfaceShapes* given)
        : shapes(given ? std::optional(*given) : std::nullopt),
          tree(mesh, given),
          motions{{{tree.rank(), tree.stride()},
                   {tree.rank(), tree.stride()},
                   {tree.rank(), tree.stride()}}} {
        for (const Eigen::Vector3d& v : mesh.vertices)
            for (int k = 0; k < 3; ++k) rest.push_back(static_cast<float>(v[k]));
        corners.reserve(3 * mesh.triangles.size());
        for (const int t : tree.order())
            for (const int v : mesh.triangles[static_cast<std::size_t>(t)]) corners.push_back(v);
        const auto nodes = static_cast<std::size_t>(tree.level_size(tree.num_levels() - 1));
        for (std::vector<int>& list : frontier) list.resize(nodes + SphereTree::kChildren);
        slots.assign(mesh.vertices.size(), -1);
        listed.resize(mesh.vertices.size());
        placed_start.resize(mesh.vertices.size());
        placed_end.resize(mesh.vertices.size());
        scratch.resize(3 * mesh.vertices.size());
        const std::vector<double> q(static_cast<std::size_t>(tree.rank()), 0.0);
        for (SurfaceMotion& motion : motions) motion.set(Pose{}, q);
    }

    [[nodiscard]] const SurfaceMotion& from() const noexcept { return motions[start]; }
    [[nodiscard]] const SurfaceMotion& to() const noexcept { return motions[end]; }

    /// Bound of the motion of any vertex from start to end.
    [[nodiscard]] double travel_bound() const noexcept {
        if (start == end) return 0;
        double shift = 0, reach = tree.extent();
        for (std::size_t j = 0; j < tree.reach().size(); ++j) {
            shift += tree.reach()[j] * std::abs(double{to().q[j]} - double{from().q[j]});
            reach += tree.reach()[j] * std::abs(double{to().q[j]});
        }
        return shift + (to().pose.position - from().pose.position).norm() +
               (to().rotation - from().rotation).norm() * reach;
    }

    /// Calls what places a vertex into the cache.
    void call_row(int vertex) const noexcept {
        if (!shapes || shapes->arrays().storage != ShapeStorage::Float32) return;
        const auto row = 3 * static_cast<std::size_t>(shapes->arrays().r);
        const float* const x =
            shapes->arrays().rows32.data() + row * static_cast<std::size_t>(vertex);
        for (std::size_t i = 0; i < row; i += 16) __builtin_prefetch(x + i);
    }

    int find_leaves(const Eigen::Vector3d& centre, double radius, bool is_swept) noexcept;
    void place_vertices(int num_leaves, bool is_swept) noexcept;
    void evaluate(const SurfaceMotion& motion, std::size_t count,
                  std::vector<Eigen::Vector3d>& placed) noexcept;

    std::optional<SurfaceShapes> shapes;
    SphereTree tree;
    std::vector<float> rest;
    std::vector<int> corners;  // of triangles in the order of the tree
    std::array<SurfaceMotion, 3> motions;
    std::size_t start = 0, end = 0, next = 1;
    bool has_next = false;

    // of one gather()
    std::array<std::vector<int>, 2> frontier;
    std::vector<int> slots, listed;  // place of a vertex in the list, −1: not listed; vertices
    std::size_t num_listed = 0;
    std::vector<Eigen::Vector3d> placed_start, placed_end;
    std::vector<float> scratch;
    VisitBatch first_batch, second_batch;
};

int ReducedSurface::Impl::find_leaves(const Eigen::Vector3d& centre, double radius,
                                      bool is_swept) noexcept {
    // a short motion makes spheres larger, a long one is followed
    const double travel = is_swept ? travel_bound() : 0;
    const bool is_followed = travel > 0.2 * radius;
    const double slack = 1e-5 * (centre.cwiseAbs().sum() + radius) + (is_followed ? 0 : travel);
    const Eigen::Vector3f p = centre.cast<float>();
    const VisitRows rows = tree.rows();

    int level = 0;
    while (level + 1 < tree.num_levels() && tree.level_size(level + 1) <= 16) ++level;
    int count = tree.level_size(level);
    for (int i = 0; i < count; ++i)
        frontier[0][static_cast<std::size_t>(i)] = tree.level_start(level) + i;
    for (;; ++level) {
        const bool is_last = level + 1 == tree.num_levels();
        const int child_size = is_last ? 0 : tree.level_size(level + 1);
        int num_found = 0;
        for (int at = 0; at < count; at += kVisitBatch) {
            const int size = std::min(kVisitBatch, count - at);
            const int* nodes = frontier[0].data() + at;
            place_nodes(rows, to().visit, nodes, size, count - at, first_batch);
            if (is_followed) place_nodes(rows, from().visit, nodes, size, count - at, second_batch);
            for (int i = 0; i < size; ++i) {
                const Eigen::Vector3f c(first_batch.x[i], first_batch.y[i], first_batch.z[i]);
                double reach = double{first_batch.radius[i]}, distance = 0;
                if (is_followed) {
                    const Eigen::Vector3f c0(second_batch.x[i], second_batch.y[i],
                                             second_batch.z[i]);
                    distance = distance_to_segment(p, c0, c);
                    reach = std::max(reach, double{second_batch.radius[i]});
                } else {
                    distance = double{(p - c).norm()};
                }
                if (distance > reach + radius + slack) continue;
                const int number = nodes[i] - tree.level_start(level);
                if (is_last) {
                    frontier[1][static_cast<std::size_t>(num_found++)] = number;
                } else {
                    const int child = SphereTree::kChildren * number;
                    const int end_child = std::min(child_size, child + SphereTree::kChildren);
                    for (int c_index = child; c_index < end_child; ++c_index)
                        frontier[1][static_cast<std::size_t>(num_found++)] =
                            tree.level_start(level + 1) + c_index;
                }
            }
        }
        std::swap(frontier[0], frontier[1]);
        count = num_found;
        if (is_last || count == 0) return count;
    }
}

void ReducedSurface::Impl::evaluate(const SurfaceMotion& motion, std::size_t count,
                                    std::vector<Eigen::Vector3d>& placed) noexcept {
    if (shapes) shapes->positions({listed.data(), count}, motion.q, {scratch.data(), 3 * count});
    for (std::size_t i = 0; i < count; ++i) {
        const float* x =
            shapes ? scratch.data() + 3 * i : rest.data() + 3 * static_cast<std::size_t>(listed[i]);
        placed[i] = motion.pose.position +
                    motion.rotation * Eigen::Vector3d(double{x[0]}, double{x[1]}, double{x[2]});
    }
}

void ReducedSurface::Impl::place_vertices(int num_leaves, bool is_swept) noexcept {
    num_listed = 0;
    for (int i = 0; i < num_leaves; ++i) {
        const auto first = 3 * static_cast<std::size_t>(SphereTree::kLeaf) *
                           static_cast<std::size_t>(frontier[0][static_cast<std::size_t>(i)]);
        const auto last = std::min(corners.size(), first + 3 * SphereTree::kLeaf);
        for (auto k = first; k < last; ++k) {
            int& slot = slots[static_cast<std::size_t>(corners[k])];
            if (slot >= 0) continue;
            slot = static_cast<int>(num_listed);
            listed[num_listed++] = corners[k];
            call_row(corners[k]);
        }
    }
    evaluate(to(), num_listed, placed_end);
    if (is_swept) evaluate(from(), num_listed, placed_start);
}

ReducedSurface::ReducedSurface(const SurfaceMesh& mesh, Body* body)
    : MovingSurface(mesh, body), impl_(std::make_unique<Impl>(mesh, nullptr)) {}

ReducedSurface::ReducedSurface(const SurfaceShapes& shapes, Body* body)
    : MovingSurface(mesh_of(shapes), body),
      impl_(std::make_unique<Impl>(mesh_of(shapes), &shapes)) {}

ReducedSurface::~ReducedSurface() = default;

int ReducedSurface::rank() const noexcept { return impl_->tree.rank(); }

bool ReducedSurface::set_motion(const Pose& pose, std::span<const double> q) noexcept {
    assert(static_cast<int>(q.size()) == rank());
    bool is_finite = pose.position.allFinite() && pose.rotation.coeffs().allFinite();
    for (const double x : q) is_finite = is_finite && std::isfinite(x);
    if (!is_finite) return false;
    impl_->motions[impl_->next].set(pose, q);
    impl_->has_next = true;
    return true;
}

void ReducedSurface::advance() noexcept {
    Impl& self = *impl_;
    self.start = self.end;
    if (!self.has_next) return;
    self.has_next = false;
    self.end = self.next;
    self.next = 3 - self.start - self.end;
}

void ReducedSurface::restart() noexcept {
    ReducedSurface::advance();
    impl_->start = impl_->end;
    impl_->next = (impl_->end + 1) % 3;
}

void ReducedSurface::gather(const Eigen::Vector3d& centre, double radius, SurfaceMoment moment,
                            int id, TrianglePatch& patch) noexcept {
    Impl& self = *impl_;
    const bool is_swept = moment == SurfaceMoment::Swept && self.start != self.end;
    const int num_leaves = self.find_leaves(centre, radius, is_swept);
    self.place_vertices(num_leaves, is_swept);
    const auto& starts = is_swept ? self.placed_start : self.placed_end;
    const double squared = radius * radius;
    for (int i = 0; i < num_leaves; ++i) {
        const auto first = static_cast<std::size_t>(SphereTree::kLeaf) *
                           static_cast<std::size_t>(self.frontier[0][static_cast<std::size_t>(i)]);
        const auto last = std::min(self.tree.order().size(), first + SphereTree::kLeaf);
        for (auto t = first; t < last; ++t) {
            double from[9], to[9];
            Eigen::Array3d low = Eigen::Array3d::Constant(std::numeric_limits<double>::infinity());
            Eigen::Array3d high = -low;
            for (std::size_t k = 0; k < 3; ++k) {
                const auto slot = static_cast<std::size_t>(
                    self.slots[static_cast<std::size_t>(self.corners[3 * t + k])]);
                const Eigen::Array3d a = starts[slot], b = self.placed_end[slot];
                low = low.min(a.min(b));
                high = high.max(a.max(b));
                Eigen::Map<Eigen::Array3d>(from + 3 * k) = a;
                Eigen::Map<Eigen::Array3d>(to + 3 * k) = b;
            }
            const Eigen::Array3d outside =
                (low - centre.array()).max(centre.array() - high).max(0.0);
            if (outside.matrix().squaredNorm() <= squared)
                patch.add(id, self.tree.order()[t], from, to);
        }
    }
    for (std::size_t i = 0; i < self.num_listed; ++i)
        self.slots[static_cast<std::size_t>(self.listed[i])] = -1;
}

Eigen::Vector3d ReducedSurface::position(int vertex, TickMoment moment) const noexcept {
    const SurfaceMotion& motion = moment == TickMoment::Start ? impl_->from() : impl_->to();
    float x[3];
    if (impl_->shapes) {
        impl_->shapes->positions({&vertex, 1}, motion.q, x);
    } else {
        std::copy_n(impl_->rest.data() + 3 * static_cast<std::size_t>(vertex), 3, x);
    }
    return motion.pose.position +
           motion.rotation * Eigen::Vector3d(double{x[0]}, double{x[1]}, double{x[2]});
}

}  // namespace pliant
