#include "pliant/contact/point_tree.h"

#include "contact/point_kd_tree.h"
#include "contact/point_tree_data.h"
#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::Vector3f;

/// Relative rounding of positions and radii in single precision, docs/contact.md eq. (5).
double rounding(int r) { return (r + 12) * 0x1p-24; }

float rounded_up(double x) {
    const auto f = static_cast<float>(x);
    return double{f} < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}

Vector3d as_vector(const float* x) { return {x[0], x[1], x[2]}; }

/// The point of the level before that each point is born under; −1 on the first level.
std::vector<int> nearest_parents(const Pointshell& shell) {
    std::vector<int> parents(shell.points.size(), -1);
    for (int level = 1; level < shell.num_levels(); ++level) {
        const std::size_t begin = at(shell.level_start[level]),
                          end = at(shell.level_start[level + 1]);
        const PointKdTree older(std::span(shell.points).first(begin));
        parallel_for(end - begin, 512, [&](std::size_t k) {
            parents[begin + k] = older.nearest(shell.points[begin + k]);
        });
    }
    return parents;
}

/// Nodes in breadth-first order, without bounds; fills `level_start`.
std::vector<PointTree::Node> breadth_first_nodes(const Pointshell& shell,
                                                 std::vector<int>& level_start) {
    const std::vector<int> parents = nearest_parents(shell);
    std::size_t count = 0;
    for (int level = 0; level < shell.num_levels(); ++level)
        count += at(shell.level_start[level + 1]);
    if (count > at(std::numeric_limits<int>::max()))
        throw InputError("", "nodes of the point-tree", std::to_string(count),
                         "at most 2147483647; take fewer points or levels");

    std::vector<PointTree::Node> nodes;
    nodes.reserve(count);
    level_start = {0};
    for (int p = 0; p < shell.level_start[1]; ++p) nodes.push_back({.point = p});
    std::vector<int> node_of(shell.points.size());  // of a point, on the level before
    for (int level = 1; level < shell.num_levels(); ++level) {
        const int before = level_start.back(), begin = static_cast<int>(nodes.size());
        level_start.push_back(begin);
        const int first_new = shell.level_start[level], end_new = shell.level_start[level + 1];

        // as many places as children, the first for the own copy
        for (int n = before; n < begin; ++n) {
            node_of[nodes[n].point] = n;
            nodes[n].num_children = 1;
        }
        for (int p = first_new; p < end_new; ++p) ++nodes[node_of[parents[p]]].num_children;
        nodes.resize(at(begin) + at(end_new));
        int next = begin;
        for (int n = before; n < begin; ++n) {
            PointTree::Node& node = nodes[n];
            node.first_child = next;
            nodes[next].point = node.point;
            next += node.num_children;
        }
        // the others by ascending point
        std::vector<int> filled(at(begin - before), 1);
        for (int p = first_new; p < end_new; ++p) {
            const int parent = node_of[parents[p]];
            nodes[nodes[parent].first_child + filled[parent - before]++].point = p;
        }
    }
    level_start.push_back(static_cast<int>(nodes.size()));
    return nodes;
}

/// A number for a row.
float entry(double value, int point) {
    if (!(std::abs(value) <= kLargestPointEntry))
        throw InputError("", "point " + std::to_string(point) +
                                 " of the shell has a position, normal or mode that is not finite "
                                 "or beyond 1e15; build the shell again and check its units");
    return static_cast<float>(value);
}

void fill_row(const MaterialPoints* motion, const Vector3f& rest, int point, float* row) {
    if (motion != nullptr) {
        const auto U = motion->U(point);
        for (int j = 0; j < motion->r; ++j, row += 4)
            for (int c = 0; c < 3; ++c) row[c] = entry(U(c, j), point);
    }
    for (int c = 0; c < 3; ++c) row[c] = entry(rest[c], point);
}

/// ΔN e_j = F_j N.
void fill_normal_row(const MaterialPoints* motion, const Vector3f& normal, int point, float* row) {
    if (motion != nullptr) {
        const auto F = motion->F(point);
        const Vector3d N = normal.cast<double>();
        for (int j = 0; j < motion->r; ++j, row += 4) {
            const Vector3d change = N[0] * F.col(j).head<3>() + N[1] * F.col(j).segment<3>(3) +
                                    N[2] * F.col(j).tail<3>();
            for (int c = 0; c < 3; ++c) row[c] = entry(change[c], point);
        }
    }
    for (int c = 0; c < 3; ++c) row[c] = entry(normal[c], point);
}

/// Largest eigenvalue of a symmetric matrix: of the characteristic polynomial, to about 1e-8 of its
/// norm, which is below what rounding up adds.
double largest_eigenvalue(const Matrix3d& A) {
    const double mean = A.trace() / 3;
    const Matrix3d B = A - mean * Matrix3d::Identity();
    const double p = std::sqrt(B.squaredNorm() / 6);
    if (!(p > 0)) return mean;
    const double half_det = std::clamp(B.determinant() / (2 * p * p * p), -1.0, 1.0);
    return mean + 2 * p * std::cos(std::acos(half_det) / 3);
}

/// Bounds of the points below one node, docs/contact.md eq. (3)–(5).
class SphereBounds {
public:
    explicit SphereBounds(int r) : r_(r), modes_(at(r) + 1) {}

    /// `node` moves as its row says, `leaves` are the rows below it.
    void begin(const float* node) {
        node_ = node;
        is_single_ = true;
        std::ranges::fill(modes_, Mode{});
        b_ = frobenius_ = 0;
    }
    void add(const float* leaf) {
        is_single_ = false;
        Matrix3d DDt = Matrix3d::Zero();
        double size = 0;
        for (int j = 0; j <= r_; ++j) {
            const Vector3d u = as_vector(leaf + 4 * j), D = u - as_vector(node_ + 4 * j);
            Mode& mode = modes_[j];
            mode.apart = std::max(mode.apart, D.squaredNorm());
            mode.length = std::max(mode.length, u.squaredNorm());
            if (j == r_) break;
            DDt.noalias() += D * D.transpose();
            size += u.squaredNorm();
        }
        frobenius_ = std::max(frobenius_, size);
        // |D|₂² ≤ |D|_F²
        if (DDt.trace() > b_) b_ = std::max(b_, largest_eigenvalue(DDt));
    }
    /// Writes R0 and a_j into the row; returns b.
    float finish(float* row) const {
        if (is_single_) return 0;
        const double epsilon = rounding(r_);
        double own_size = 0;
        for (int j = 0; j <= r_; ++j) {
            const Mode& mode = modes_[j];
            const double own = as_vector(node_ + 4 * j).norm();
            if (j < r_) own_size += own * own;
            row[4 * j + 3] = rounded_up(
                (std::sqrt(mode.apart) + epsilon * (std::sqrt(mode.length) + own)) * (1 + epsilon));
        }
        if (r_ == 0) return 0;
        return rounded_up(
            (std::sqrt(b_) + epsilon * (std::sqrt(frobenius_) + std::sqrt(own_size))) *
            (1 + epsilon));
    }

private:
    struct Mode {
        double apart = 0, length = 0;  // squares
    };
    int r_;
    const float* node_ = nullptr;
    bool is_single_ = true;
    std::vector<Mode> modes_;       // the last one is the rest position
    double b_ = 0, frobenius_ = 0;  // squares
};

/// Nodes of the last level below a node: children are side by side on every level.
std::pair<int, int> leaf_range(const PointTreeData& tree, int node, int level) {
    int first = node, last = node;
    for (; level + 2 < static_cast<int>(tree.level_start.size()); ++level) {
        first = tree.nodes[first].first_child;
        const PointTree::Node& n = tree.nodes[last];
        last = n.first_child + n.num_children - 1;
    }
    return {first, last + 1};
}

void add_bounds(PointTreeData& tree, float* rows) {
    for (int level = 0; level + 2 < static_cast<int>(tree.level_start.size()); ++level) {
        const int begin = tree.level_start[level];
        const std::size_t count = at(tree.level_start[level + 1] - begin);
        parallel_ranges(count, 16, [&](std::size_t from, std::size_t to) {
            SphereBounds bounds(tree.r);
            for (std::size_t k = from; k < to; ++k) {
                const int n = begin + static_cast<int>(k);
                PointTree::Node& node = tree.nodes[n];
                bounds.begin(tree.row(n));
                const auto [first, end] = leaf_range(tree, n, level);
                for (int leaf = first; leaf < end; ++leaf)
                    if (tree.nodes[leaf].point != node.point) bounds.add(tree.row(leaf));
                node.b = bounds.finish(rows + at(n) * tree.stride());
            }
        });
    }
}

void check_motion(const Pointshell& shell, const MaterialPoints& motion) {
    if (motion.num_points() != shell.num_points())
        throw InputError("", "points that move", std::to_string(motion.num_points()),
                         std::to_string(shell.num_points()) + ", one for each of the shell");
    if (motion.r > 0 && !motion.has_gradients())
        throw InputError("",
                         "the motion of the shell's points has no gradients, so that normals "
                         "cannot follow; ask material_points for them");
    assert(motion.modes.size() == 3 * at(motion.r) * motion.rest.size());
    assert(motion.gradients.size() == 3 * motion.modes.size());
}

std::shared_ptr<const PointTreeData> make_data(Pointshell shell, const MaterialPoints* motion) {
    check_pointshell(shell);
    if (motion != nullptr) check_motion(shell, *motion);
    const auto tree = std::make_shared<PointTreeData>();
    tree->r = motion == nullptr ? 0 : motion->r;
    tree->shell = std::move(shell);
    tree->nodes = breadth_first_nodes(tree->shell, tree->level_start);

    // positions and normals
    const std::size_t stride = tree->stride();
    float* const rows = tree->own_rows.emplace(tree->nodes.size() * stride).data();
    float* const normal_rows =
        tree->own_normal_rows.emplace(tree->shell.points.size() * stride).data();
    parallel_for(tree->nodes.size(), 256, [&](std::size_t n) {
        const int point = tree->nodes[n].point;
        fill_row(motion, tree->shell.points[point], point, rows + n * stride);
    });
    parallel_for(tree->shell.points.size(), 256, [&](std::size_t p) {
        fill_normal_row(motion, tree->shell.normals[p], static_cast<int>(p),
                        normal_rows + p * stride);
    });
    tree->rows = rows;
    tree->normal_rows = normal_rows;

    add_bounds(*tree, rows);
    tree->measure();
    return tree;
}

}  // namespace

void PointTreeData::measure() {
    // around the middle of the box
    Eigen::AlignedBox3d box;
    for (const Vector3f& p : shell.points) box.extend(p.cast<double>().eval());
    centre = box.center();
    double largest = 0;
    for (const Vector3f& p : shell.points)
        largest = std::max(largest, (p.cast<double>() - centre).squaredNorm());
    const double factor = 1 + rounding(r);
    radius = factor * std::sqrt(largest);

    // the last level has each point once
    using Squares = std::vector<double>;
    const int begin = level_start[level_start.size() - 2];
    const Squares squares = parallel_reduce(
        shell.points.size(), 4096, Squares(at(r), 0.0),
        [&](std::size_t from, std::size_t to) {
            Squares part(at(r), 0.0);
            for (std::size_t k = from; k < to; ++k) {
                const float* const u = row(begin + static_cast<int>(k));
                for (int j = 0; j < r; ++j)
                    part[j] = std::max(part[j], as_vector(u + 4 * j).squaredNorm());
            }
            return part;
        },
        [](Squares a, const Squares& b) {
            for (std::size_t j = 0; j < a.size(); ++j) a[j] = std::max(a[j], b[j]);
            return a;
        });
    reach.clear();
    for (const double square : squares) reach.push_back(factor * std::sqrt(square));
}

PointTree::PointTree(std::shared_ptr<const PointTreeData> data) noexcept
    : data_(std::move(data)),
      rows_(data_->rows),
      normal_rows_(data_->normal_rows),
      r_(data_->r),
      row_stride_(point_row_stride(data_->r)) {}

PointTree::PointTree(Pointshell shell) : PointTree(make_data(std::move(shell), nullptr)) {}

PointTree::PointTree(Pointshell shell, const MaterialPoints& motion)
    : PointTree(make_data(std::move(shell), &motion)) {}

int PointTree::num_points() const noexcept { return data_->shell.num_points(); }
int PointTree::num_levels() const noexcept { return data_->shell.num_levels(); }
int PointTree::num_nodes() const noexcept { return static_cast<int>(data_->nodes.size()); }
const Pointshell& PointTree::shell() const noexcept { return data_->shell; }
int PointTree::level_start(int level) const noexcept {
    assert(level >= 0 && level <= num_levels());
    return data_->level_start[level];
}
std::span<const PointTree::Node> PointTree::nodes() const noexcept { return data_->nodes; }
const Vector3d& PointTree::centre() const noexcept { return data_->centre; }
double PointTree::radius() const noexcept { return data_->radius; }
std::span<const double> PointTree::reach() const noexcept { return data_->reach; }

std::size_t PointTree::memory() const noexcept {
    const std::size_t num_rows = data_->nodes.size() + data_->shell.points.size();
    return num_rows * data_->stride() * sizeof(float) + data_->nodes.size() * sizeof(Node) +
           data_->shell.points.size() * 2 * sizeof(Vector3f);
}

Vector3d PointTree::position(int node, std::span<const double> q) const {
    assert(q.size() == at(r_));
    const float* const u = row(node);
    Vector3d x = as_vector(u + 4 * r_);
    for (int j = 0; j < r_; ++j) x += q[j] * as_vector(u + 4 * j);
    return x;
}

double PointTree::sphere_radius(int node, std::span<const double> q) const {
    assert(q.size() == at(r_));
    const float* const u = row(node);
    double sum = 0, square = 0;
    for (int j = 0; j < r_; ++j) {
        sum += double{u[4 * j + 3]} * std::abs(q[j]);
        square += q[j] * q[j];
    }
    const double euclidean = double{data_->nodes[node].b} * std::sqrt(square);
    return double{u[4 * r_ + 3]} + std::min(sum, euclidean);
}

Vector3d PointTree::normal(int point, std::span<const double> q) const {
    assert(q.size() == at(r_));
    const float* const u = normal_row(point);
    const Vector3d rest = as_vector(u + 4 * r_);
    Vector3d n = rest;
    for (int j = 0; j < r_; ++j) n += q[j] * as_vector(u + 4 * j);
    const double length = n.norm();
    return length > 0 ? Vector3d(n / length) : rest;
}

}  // namespace pliant
