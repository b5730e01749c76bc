#include "geometry/decimate.h"

#include "core/numbers.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <queue>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// Of edge lengths and of the middle of an edge against distances from planes. With less, vertices
// stand off thin parts, and the finer levels fold there.
constexpr double kLengthWeight = 1e-3;
constexpr int kLeastValence = 4, kMostValence = 8;

/// Sum of weighted squared distances from planes: xᵀAx + 2bᵀx + c.
struct Quadric {
    Matrix3d A = Matrix3d::Zero();
    Vector3d b = Vector3d::Zero();
    double c = 0;

    void add_plane(const Vector3d& normal, const Vector3d& point, double weight) {
        const double d = -normal.dot(point);
        A += weight * normal * normal.transpose();
        b += weight * d * normal;
        c += weight * d * d;
    }
    void add_point(const Vector3d& point, double weight) {
        A += weight * Matrix3d::Identity();
        b -= weight * point;
        c += weight * point.squaredNorm();
    }
    void add(const Quadric& other) {
        A += other.A;
        b += other.b;
        c += other.c;
    }
    [[nodiscard]] double operator()(const Vector3d& x) const {
        return x.dot(A * x) + 2 * b.dot(x) + c;
    }
};

/// An edge to collapse as it was when this was computed.
struct Collapse {
    double cost;
    int a, b, stamp_a, stamp_b;
    Vector3d place;
    bool operator<(const Collapse& other) const {  // the cheapest comes first out of the queue
        if (cost != other.cost) return cost > other.cost;
        return a != other.a ? a > other.a : b > other.b;
    }
};

class Decimation {
public:
    explicit Decimation(const SurfaceMesh& mesh)
        : x_(mesh.vertices),
          triangles_(mesh.triangles),
          fan_(mesh.vertices.size()),
          quadric_(mesh.vertices.size()),
          stamp_(mesh.vertices.size(), 0),
          left_(mesh.num_vertices()) {
        const Vector3d middle = bounding_box(x_).center();
        for (Vector3d& x : x_) x -= middle;  // keeps the digits of the quadrics
        shift_ = middle;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            const auto [a, b, c] = triangles_[t];
            const Vector3d normal = (x_[at(b)] - x_[at(a)]).cross(x_[at(c)] - x_[at(a)]);
            const double area = 0.5 * normal.norm();
            for (const int v : triangles_[t]) {
                fan_[at(v)].push_back(static_cast<int>(t));
                if (area > 0) quadric_[at(v)].add_plane(normal / (2 * area), x_[at(a)], area);
            }
        }
    }

    void run(int wanted, Progress& progress) {
        progress.stage("decimating", at(std::max(0, left_ - wanted)));
        // first without needles and vertices of few or many neighbours, then with; edges that were
        // refused may be possible later
        bool is_strict = true;
        while (left_ > wanted) {
            const int before = left_;
            for (std::size_t v = 0; v < x_.size(); ++v)
                if (!fan_[v].empty()) offer_edges(static_cast<int>(v), true);
            while (left_ > wanted && !queue_.empty()) {
                const Collapse next = queue_.top();
                queue_.pop();
                if (stamp_[at(next.a)] != next.stamp_a || stamp_[at(next.b)] != next.stamp_b ||
                    !is_allowed(next, is_strict))
                    continue;
                apply(next);
                progress.advance();
            }
            if (left_ < before) continue;
            if (!is_strict) break;
            is_strict = false;
        }
    }

    [[nodiscard]] SurfaceMesh result() const {
        SurfaceMesh mesh;
        std::vector<int> number(x_.size(), -1);
        for (std::size_t v = 0; v < x_.size(); ++v) {
            if (fan_[v].empty()) continue;
            number[v] = mesh.num_vertices();
            mesh.vertices.push_back(x_[v] + shift_);
        }
        for (const Triangle& t : triangles_)
            if (t[0] >= 0)
                mesh.triangles.push_back({number[at(t[0])], number[at(t[1])], number[at(t[2])]});
        return mesh;
    }

private:
    [[nodiscard]] std::vector<int> neighbours(int v) const {
        std::vector<int> ring;
        for (const int t : fan_[at(v)])
            for (const int u : triangles_[at(t)])
                if (u != v) ring.push_back(u);
        std::sort(ring.begin(), ring.end());
        ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
        return ring;
    }

    void offer_edges(int v, bool only_ascending) {
        for (const int u : neighbours(v)) {
            if (only_ascending && u < v) continue;
            const int a = std::min(u, v), b = std::max(u, v);
            Quadric sum = quadric_[at(a)];
            sum.add(quadric_[at(b)]);
            // the middle where planes leave the minimum open; short edges first where it is flat
            const Vector3d middle = 0.5 * (x_[at(a)] + x_[at(b)]);
            const double area = std::max(sum.A.trace(), 1e-300);
            sum.add_point(middle, kLengthWeight * area);
            Vector3d place = sum.A.ldlt().solve(-sum.b);
            const double length = (x_[at(a)] - x_[at(b)]).norm();
            if (!place.allFinite() || (place - middle).norm() > 2 * length) place = middle;
            const double cost = sum(place) + kLengthWeight * area * length * length;
            queue_.push({cost, a, b, stamp_[at(a)], stamp_[at(b)], place});
        }
    }

    [[nodiscard]] bool is_allowed(const Collapse& collapse, bool is_strict) const {
        const auto [cost, a, b, stamp_a, stamp_b, place] = collapse;
        const std::vector<int> ring_a = neighbours(a), ring_b = neighbours(b);
        std::vector<int> common;
        std::set_intersection(ring_a.begin(), ring_a.end(), ring_b.begin(), ring_b.end(),
                              std::back_inserter(common));
        // link condition: else the surface would pinch; the last four vertices stay
        if (common.size() != 2 || left_ <= 4) return false;
        const auto least = is_strict ? kLeastValence : 3;
        for (const int c : common)
            if (static_cast<int>(fan_[at(c)].size()) - 1 < least) return false;
        const auto valence = static_cast<int>(ring_a.size() + ring_b.size()) - 4;
        if (valence < 3 || (is_strict && valence > kMostValence)) return false;
        // no triangle may turn over
        for (const auto& [from, other] : {std::pair(a, b), std::pair(b, a)})
            for (const int t : fan_[at(from)]) {
                const Triangle& c = triangles_[at(t)];
                if (c[0] == other || c[1] == other || c[2] == other) continue;
                const std::size_t k = c[0] == from ? 0 : c[1] == from ? 1 : 2;
                const Vector3d &p = x_[at(c[(k + 1) % 3])], &q = x_[at(c[(k + 2) % 3])];
                const Vector3d before = (p - x_[at(from)]).cross(q - x_[at(from)]);
                const Vector3d after = (p - place).cross(q - place);
                if (before.dot(after) <= 0.2 * before.norm() * after.norm()) return false;
                // nor become a needle
                const double longest = std::max(
                    {(p - q).squaredNorm(), (p - place).squaredNorm(), (q - place).squaredNorm()});
                if (after.norm() < (is_strict ? 0.3 : 0.02) * longest) return false;
            }
        return true;
    }

    void apply(const Collapse& collapse) {
        const auto [cost, a, b, stamp_a, stamp_b, place] = collapse;
        for (const int t : fan_[at(b)]) {
            Triangle& c = triangles_[at(t)];
            const bool has_a = c[0] == a || c[1] == a || c[2] == a;
            if (has_a) {
                for (const int v : c)
                    if (v != b) std::erase(fan_[at(v)], t);
                c = {-1, -1, -1};
                continue;
            }
            for (int& v : c)
                if (v == b) v = a;
            fan_[at(a)].push_back(t);
        }
        fan_[at(b)].clear();
        ++stamp_[at(b)];
        x_[at(a)] = place;
        quadric_[at(a)].add(quadric_[at(b)]);
        --left_;
        // what was computed around the new vertex is stale
        ++stamp_[at(a)];
        offer_edges(a, false);
    }

    std::vector<Vector3d> x_;
    std::vector<Triangle> triangles_;  // −1 where gone
    std::vector<std::vector<int>> fan_;
    std::vector<Quadric> quadric_;
    std::vector<int> stamp_;
    std::priority_queue<Collapse> queue_;
    int left_;
    Vector3d shift_;
};

}  // namespace

SurfaceMesh decimate(const SurfaceMesh& mesh, int num_vertices, Progress& progress) {
    Decimation decimation(mesh);
    decimation.run(num_vertices, progress);
    return decimation.result();
}

}  // namespace pliant
