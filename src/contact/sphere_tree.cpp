#include "contact/sphere_tree.h"

#include "contact/triangle_order.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Single precision: positions and radii are sums of rank + 1 products.
constexpr double kRounding = 1e-5;

/// X and Ū_v of one vertex: r columns.
class VertexModes {
public:
    VertexModes(const SurfaceMesh& mesh, const SurfaceShapes* shapes) : mesh_(mesh) {
        const int r = shapes ? shapes->size() : 0;
        Eigen::VectorXd unit = Eigen::VectorXd::Zero(r);
        modes_.resize(3 * r, mesh.num_vertices());
        for (int j = 0; j < r; ++j) {
            unit.setZero();
            unit[j] = 1;
            for (int v = 0; v < mesh.num_vertices(); ++v)
                modes_.col(v).segment<3>(3 * j) = shapes->velocity(v, unit);
        }
    }
    [[nodiscard]] const Eigen::Vector3d& rest(int v) const {
        return mesh_.vertices[static_cast<std::size_t>(v)];
    }
    [[nodiscard]] auto column(int v) const { return modes_.col(v); }

private:
    const SurfaceMesh& mesh_;
    Eigen::MatrixXd modes_;
};

int padded_stride(int rank) { return rank == 0 ? 4 : (4 * rank + 4 + 15) / 16 * 16; }

/// How many nodes each level has, root first.
std::vector<int> level_sizes(int leaves) {
    std::vector<int> sizes{leaves};
    while (sizes.front() > 1)
        sizes.insert(sizes.begin(),
                     (sizes.front() + SphereTree::kChildren - 1) / SphereTree::kChildren);
    return sizes;
}

int count_nodes(int num_triangles) {
    int sum = 0;
    for (const int n : level_sizes((num_triangles + SphereTree::kLeaf - 1) / SphereTree::kLeaf))
        sum += n;
    return sum;
}

}  // namespace

SphereTree::SphereTree(const SurfaceMesh& mesh, const SurfaceShapes* shapes)
    : rank_(shapes ? shapes->size() : 0),
      stride_(padded_stride(rank_)),
      order_(order_triangles(mesh, kLeaf)),
      rows_(static_cast<std::size_t>(stride_) *
            static_cast<std::size_t>(count_nodes(mesh.num_triangles()))),
      reach_(static_cast<std::size_t>(rank_), 0.0) {
    const VertexModes modes(mesh, shapes);
    const std::vector<int> sizes = level_sizes((mesh.num_triangles() + kLeaf - 1) / kLeaf);
    level_start_ = {0};
    for (const int n : sizes) level_start_.push_back(level_start_.back() + n);
    euclidean_.resize(static_cast<std::size_t>(num_nodes()));

    for (int v = 0; v < mesh.num_vertices(); ++v) {
        extent_ = std::max(extent_, modes.rest(v).norm() * (1 + kRounding));
        for (int j = 0; j < rank_; ++j) {
            double& m = reach_[static_cast<std::size_t>(j)];
            m = std::max(m, modes.column(v).segment<3>(3 * j).norm() * (1 + kRounding));
        }
    }

    std::vector<int> vertices;
    std::size_t run = static_cast<std::size_t>(kLeaf);
    for (int level = num_levels() - 1; level >= 0; --level, run *= kChildren)
        for (int i = 0; i < level_size(level); ++i) {
            // all vertices below the node
            vertices.clear();
            const std::size_t first = static_cast<std::size_t>(i) * run;
            const std::size_t last = std::min(order_.size(), first + run);
            for (std::size_t t = first; t < last; ++t)
                for (const int v : mesh.triangles[static_cast<std::size_t>(order_[t])])
                    vertices.push_back(v);
            std::sort(vertices.begin(), vertices.end());
            vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());

            // the middle moves with their mean
            Box box;
            Eigen::VectorXd mean = Eigen::VectorXd::Zero(3 * rank_);
            for (const int v : vertices) {
                box.extend(modes.rest(v));
                mean += modes.column(v);
            }
            mean /= static_cast<double>(vertices.size());
            const Eigen::Vector3d centre = box.center();
            double radius = 0, euclidean = 0;
            Eigen::VectorXd bounds = Eigen::VectorXd::Zero(rank_);
            for (const int v : vertices) {
                radius = std::max(radius, (modes.rest(v) - centre).norm());
                double squares = 0;
                for (int j = 0; j < rank_; ++j) {
                    const double d =
                        (modes.column(v).segment<3>(3 * j) - mean.segment<3>(3 * j)).norm();
                    bounds[j] = std::max(bounds[j], d);
                    squares += d * d;
                }
                euclidean = std::max(euclidean, std::sqrt(squares));
            }

            // roundings of the middle and of the sums go to the radius
            const int node = level_start(level) + i;
            float* row =
                rows_.data() + static_cast<std::size_t>(stride_) * static_cast<std::size_t>(node);
            double moved = 0;
            for (int j = 0; j < rank_; ++j) {
                for (int k = 0; k < 3; ++k) row[4 * j + k] = static_cast<float>(mean[3 * j + k]);
                const double rounding = kRounding * mean.segment<3>(3 * j).norm();
                row[4 * j + 3] = static_cast<float>(bounds[j] * (1 + kRounding) + rounding);
                moved += rounding * rounding;
            }
            for (int k = 0; k < 3; ++k) row[4 * rank_ + k] = static_cast<float>(centre[k]);
            row[4 * rank_ + 3] =
                static_cast<float>(radius * (1 + kRounding) + kRounding * centre.norm());
            euclidean_[static_cast<std::size_t>(node)] =
                static_cast<float>(euclidean * (1 + kRounding) + std::sqrt(moved));
        }
}

}  // namespace pliant
