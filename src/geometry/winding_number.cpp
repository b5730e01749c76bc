#include "geometry/winding_number.h"

#include "geometry/triangle.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

namespace pliant::detail {
namespace {

// leaves are summed exactly; a few triangles cost as much as one set of moments
constexpr int kLeafSize = 4;
// the moments serve beyond this many radii of a cluster; errors stay below 1e-3 and below the
// margin, docs/geometry.md
constexpr double kFineRatio = 4.0, kCoarseRatio = 2.0;
constexpr double kCoarseMargin = 0.05;
constexpr int kStackSize = 64;  // the tree halves its triangles at every level

}  // namespace

double triangle_winding(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                        const Eigen::Vector3d& c) noexcept {
    const double la = a.norm(), lb = b.norm(), lc = c.norm(), product = la * lb * lc;
    const double volume = a.dot(b.cross(c));
    // in the plane, to round-off: neither side
    if (std::abs(volume) <= 1e-15 * product) return 0.0;
    return std::atan2(volume, product + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb) /
           (2.0 * std::numbers::pi);
}

/// Integrals over a cluster's triangles, δ the offset from its centre.
struct WindingTree::Moments {
    double area = 0;  // twice
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    Eigen::Vector3d n = Eigen::Vector3d::Zero();     // ∫ n
    Eigen::Matrix3d nd = Eigen::Matrix3d::Zero();    // ∫ n δᵀ
    std::array<Eigen::Matrix3d, 3> ndd{nd, nd, nd};  // ∫ n_i δ δᵀ

    static Moments of(std::span<const std::array<Eigen::Vector3d, 3>> triangles);
    static Moments of(const Moments& left, const Moments& right);
    /// Those about the centroid `middle` of a part whose ∫ n δᵀ there is `nd_part`.
    void add(const Eigen::Vector3d& middle, const Eigen::Vector3d& n_part,
             const Eigen::Matrix3d& nd_part, const std::array<Eigen::Matrix3d, 3>& ndd_part);
    void store(Node& node) const;
};

void WindingTree::Moments::add(const Eigen::Vector3d& middle, const Eigen::Vector3d& n_part,
                               const Eigen::Matrix3d& nd_part,
                               const std::array<Eigen::Matrix3d, 3>& ndd_part) {
    const Eigen::Vector3d shift = middle - centre;
    n += n_part;
    nd += nd_part + n_part * shift.transpose();
    for (int i = 0; i < 3; ++i) {
        const Eigen::Matrix3d mixed =
            shift * (nd_part.row(i) + 0.5 * n_part[i] * shift.transpose());
        ndd[i] += ndd_part[i] + mixed + mixed.transpose();
    }
}

WindingTree::Moments WindingTree::Moments::of(
    std::span<const std::array<Eigen::Vector3d, 3>> triangles) {
    // about the centre of area, where the first moments are smallest
    Moments m;
    Eigen::Vector3d plain = Eigen::Vector3d::Zero();
    for (const auto& [a, b, c] : triangles) {
        const double area = area_vector(a, b, c).norm();
        m.area += area;
        m.centre += area * (a + b + c) / 3.0;
        plain += (a + b + c) / 3.0;
    }
    m.centre = m.area > 0 ? Eigen::Vector3d(m.centre / m.area)
                          : Eigen::Vector3d(plain / static_cast<double>(triangles.size()));
    for (const auto& [a, b, c] : triangles) {
        const Eigen::Vector3d n = 0.5 * area_vector(a, b, c), middle = (a + b + c) / 3.0;
        const Eigen::Vector3d p = a - middle, q = b - middle, r = c - middle;
        const Eigen::Matrix3d second =
            (p * p.transpose() + q * q.transpose() + r * r.transpose()) / 12.0;
        m.add(middle, n, Eigen::Matrix3d::Zero(), {n[0] * second, n[1] * second, n[2] * second});
    }
    return m;
}

WindingTree::Moments WindingTree::Moments::of(const Moments& left, const Moments& right) {
    Moments m;
    m.area = left.area + right.area;
    const double share = m.area > 0 ? right.area / m.area : 0.5;
    m.centre = left.centre + share * (right.centre - left.centre);
    for (const Moments* part : {&left, &right}) m.add(part->centre, part->n, part->nd, part->ndd);
    return m;
}

/// Only what the expansion uses, multiplied by its factors.
void WindingTree::Moments::store(Node& node) const {
    node.centre = centre;
    node.dipole = n;
    node.trace = nd.trace();
    for (int k = 0; k < 3; ++k)
        node.linear[k] =
            -1.5 * (2.0 * (ndd[0](0, k) + ndd[1](1, k) + ndd[2](2, k)) + ndd[k].trace());
    node.quadratic = {
        nd(0, 0),           nd(1, 1), nd(2, 2), nd(0, 1) + nd(1, 0), nd(1, 2) + nd(2, 1),
        nd(2, 0) + nd(0, 2)};
    for (double& coefficient : node.quadratic) coefficient *= -3.0;
    node.cubic = {ndd[0](0, 0),
                  2 * ndd[0](0, 1) + ndd[1](0, 0),
                  2 * ndd[0](0, 2) + ndd[2](0, 0),
                  ndd[0](1, 1) + 2 * ndd[1](0, 1),
                  2 * (ndd[0](1, 2) + ndd[1](0, 2) + ndd[2](0, 1)),
                  ndd[0](2, 2) + 2 * ndd[2](0, 2),
                  ndd[1](1, 1),
                  2 * ndd[1](1, 2) + ndd[2](1, 1),
                  ndd[1](2, 2) + 2 * ndd[2](1, 2),
                  ndd[2](2, 2)};
    for (double& coefficient : node.cubic) coefficient *= 7.5;
}

WindingTree::WindingTree(const SurfaceMesh& mesh) : order_(mesh.triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::vector<Eigen::Vector3d> centroids(order_.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        centroids[t] = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3.0;
    if (!order_.empty()) split(0, mesh.num_triangles(), centroids);
    update(mesh);
}

int WindingTree::split(int first, int count, const std::vector<Eigen::Vector3d>& centroids) {
    const int index = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    nodes_[index].first = first;
    nodes_[index].count = count;
    if (count <= kLeafSize) return index;

    // halves along the longest side of the centroids' box; equal ones by index
    Box box;
    for (int i = first; i < first + count; ++i) box.extend(centroids[order_[i]]);
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const auto begin = order_.begin() + first, middle = begin + count / 2;
    std::nth_element(begin, middle, begin + count, [&](int s, int t) {
        const double p = centroids[s][axis], q = centroids[t][axis];
        return p != q ? p < q : s < t;
    });
    split(first, count / 2, centroids);
    const int right = split(first + count / 2, count - count / 2, centroids);
    nodes_[index].right = right;
    return index;
}

void WindingTree::update(const SurfaceMesh& mesh) {
    triangles_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
        for (int k = 0; k < 3; ++k) triangles_[i][k] = mesh.corner(order_[i], k);

    // children have higher indices than their parent
    std::vector<Moments> moments(nodes_.size());
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
        Node& node = nodes_[i];
        if (node.right == 0)
            moments[i] = Moments::of(std::span(triangles_).subspan(node.first, node.count));
        else
            moments[i] = Moments::of(moments[i + 1], moments[node.right]);
        moments[i].store(node);
    }
    // farthest corners: tighter than what children would bound
    for (Node& node : nodes_) {
        node.radius_squared = 0.0;
        for (const auto& t : std::span(triangles_).subspan(node.first, node.count))
            for (const Eigen::Vector3d& corner : t)
                node.radius_squared =
                    std::max(node.radius_squared, (corner - node.centre).squaredNorm());
    }
}

double WindingTree::winding_number(const Eigen::Vector3d& x) const noexcept {
    return sum(x, kFineRatio);
}

double WindingTree::rough_winding_number(const Eigen::Vector3d& x) const noexcept {
    return sum(x, kCoarseRatio);
}

bool WindingTree::is_inside(const Eigen::Vector3d& x) const noexcept {
    const double rough = rough_winding_number(x);
    if (std::abs(rough - 0.5) > kCoarseMargin) return rough > 0.5;
    return winding_number(x) > 0.5;
}

double WindingTree::sum(const Eigen::Vector3d& x, double far_ratio) const noexcept {
    if (nodes_.empty()) return 0.0;
    double far_sum = 0, near_sum = 0;
    std::array<int, kStackSize> stack;
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int index = stack[--depth];
        const Node& node = nodes_[index];
        const Eigen::Vector3d d = node.centre - x;
        const double r2 = d.squaredNorm();
        if (r2 > far_ratio * far_ratio * node.radius_squared) {
            // docs/geometry.md eq. (4)
            const auto& q = node.quadratic;
            const auto& c = node.cubic;
            const double u = d[0], v = d[1], w = d[2];
            const double inverse = 1.0 / r2;
            const double second = u * (q[0] * u + q[3] * v + q[5] * w) + v * (q[1] * v + q[4] * w) +
                                  q[2] * w * w + node.linear.dot(d);
            const double third = u * u * (c[0] * u + c[1] * v + c[2] * w) +
                                 v * v * (c[3] * u + c[6] * v + c[7] * w) +
                                 w * w * (c[5] * u + c[8] * v + c[9] * w) + c[4] * u * v * w;
            far_sum += (node.dipole.dot(d) + node.trace + inverse * (second + inverse * third)) *
                       inverse * std::sqrt(inverse);
        } else if (node.right == 0) {
            for (int i = node.first; i < node.first + node.count; ++i)
                near_sum += triangle_winding(triangles_[i][0] - x, triangles_[i][1] - x,
                                             triangles_[i][2] - x);
        } else {
            stack[depth++] = node.right;
            stack[depth++] = index + 1;
        }
    }
    return near_sum + far_sum / (4.0 * std::numbers::pi);
}

}  // namespace pliant::detail
