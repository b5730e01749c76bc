#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/zones.h"

namespace pliant::test {

/// Linear elements of a mesh, all vertices taken for nodes of the boundary: K u = f in SI.
inline Eigen::MatrixXd bar_stiffness(const VolumeMesh& mesh, double modulus,
                                     const std::function<bool(const Eigen::Vector3d&)>& is_in) {
    const double nu = 0.3, lambda = 2 * nu / (1 - 2 * nu);
    const int size = 3 * mesh.num_vertices();
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(size, size);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const auto nodes = mesh.element(e);
        Eigen::Vector3d centre = Eigen::Vector3d::Zero();
        for (const int v : nodes) centre += mesh.vertices[at(v)] / 4;
        if (!is_in(centre)) continue;
        Eigen::Matrix3d edges;
        for (int k = 0; k < 3; ++k)
            edges.col(k) = mesh.vertices[at(nodes[at(k + 1)])] - mesh.vertices[at(nodes[0])];
        const double volume = edges.determinant() / 6;
        Eigen::Matrix<double, 3, 4> gradients;
        gradients.rightCols<3>() = edges.inverse().transpose();
        gradients.col(0) = -gradients.rightCols<3>().rowwise().sum();
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) {
                const Eigen::Vector3d ga = gradients.col(a), gb = gradients.col(b);
                K.block<3, 3>(3 * nodes[at(a)], 3 * nodes[at(b)]) +=
                    modulus * volume *
                    (lambda * ga * gb.transpose() + gb * ga.transpose() +
                     ga.dot(gb) * Eigen::Matrix3d::Identity());
            }
    }
    return K;
}

class DenseElements final : public PreciseElements {
public:
    explicit DenseElements(Eigen::MatrixXd Xi) : Xi_(std::move(Xi)) {}
    void element(int i, int j, double* values) const noexcept override {
        Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(values, 3, 3) =
            Xi_.block<3, 3>(3 * i, 3 * j);
    }
    void body_element(int, int, double* values) const noexcept override {
        std::fill_n(values, 3, 0.0);
    }

private:
    Eigen::MatrixXd Xi_;
};

/// A bar along x cut into zones of `cells` cells each, held at x = 0 (and at the other end), with
/// Green's functions in double precision.
struct ZonedBar {
    static constexpr double kLength = 0.12, kModulus = 2e4;
    VolumeMesh mesh;
    Eigen::MatrixXd K;          // of the whole
    std::vector<char> is_held;  // vertices
    std::vector<Zone> zones;
    std::vector<ZoneSeam> seams;
    std::vector<std::vector<int>> vertices;  // of the nodes of each zone

    [[nodiscard]] int node_of(int zone, int vertex) const {
        const auto& list = vertices[at(zone)];
        const auto found = std::find(list.begin(), list.end(), vertex);
        return found == list.end() ? -1 : static_cast<int>(found - list.begin());
    }
    /// Of the whole for forces on vertices.
    [[nodiscard]] Eigen::VectorXd displacements(Eigen::VectorXd f) const {
        Eigen::MatrixXd A = K;
        for (int v = 0; v < mesh.num_vertices(); ++v)
            if (is_held[at(v)])
                for (int k = 3 * v; k < 3 * v + 3; ++k) {
                    A.row(k).setZero();
                    A.col(k).setZero();
                    A(k, k) = 1;
                    f[k] = 0;
                }
        return solve_dense(A, f);
    }
};

struct ZonedBarOptions {
    int num_zones = 2, cells = 3;
    bool free_seams = false;
    bool random_frames = false;
    bool is_held_at_start = true, is_held_at_end = false;
};

inline Pose random_pose(std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    Pose pose;
    pose.position = Eigen::Vector3d(uniform(random), uniform(random), uniform(random));
    pose.rotation = Quaternion(uniform(random), uniform(random), uniform(random), uniform(random));
    pose.rotation.normalize();
    return pose;
}

inline ZonedBar zoned_bar(const ZonedBarOptions& options) {
    ZonedBar bar;
    const int nx = options.num_zones * options.cells;
    const double cell = ZonedBar::kLength / nx;
    bar.mesh = tet_box(
        nx, 2, 2,
        Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(ZonedBar::kLength, 2 * cell, 2 * cell)));
    bar.K = bar_stiffness(bar.mesh, ZonedBar::kModulus, [](const auto&) { return true; });
    const auto column_of = [&](int v) {
        return static_cast<int>(std::lround(bar.mesh.vertices[at(v)].x() / cell));
    };
    for (int v = 0; v < bar.mesh.num_vertices(); ++v)
        bar.is_held.push_back((options.is_held_at_start && column_of(v) == 0) ||
                              (options.is_held_at_end && column_of(v) == nx));
    std::mt19937 random(7);
    std::uniform_real_distribution<double> areas(0.5, 2.0);
    for (int z = 0; z < options.num_zones; ++z) {
        const int first = z * options.cells, last = first + options.cells;
        const Eigen::MatrixXd all = bar_stiffness(
            bar.mesh, ZonedBar::kModulus,
            [&](const Eigen::Vector3d& x) { return x.x() > first * cell && x.x() < last * cell; });
        std::vector<int>& vertices = bar.vertices.emplace_back();
        for (int v = 0; v < bar.mesh.num_vertices(); ++v)
            if (column_of(v) >= first && column_of(v) <= last) vertices.push_back(v);
        Zone& zone = bar.zones.emplace_back();
        zone.name = "zone" + std::to_string(z);
        if (options.random_frames) zone.pose = random_pose(random);
        auto model = std::make_shared<GreensModel>();
        ReferenceProblem& reference = model->reference;
        reference.length = 0.05;
        reference.modulus = ZonedBar::kModulus;
        const Eigen::Matrix3d R = zone.pose.rotation.toRotationMatrix();
        const int n = static_cast<int>(vertices.size());
        // nondimensional, with areas that differ from side to side
        Eigen::MatrixXd A(3 * n, 3 * n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                A.block<3, 3>(3 * i, 3 * j) =
                    reference.length / reference.modulus * R.transpose() *
                    all.block<3, 3>(3 * vertices[at(i)], 3 * vertices[at(j)]) * R;
        Eigen::MatrixXd A_bar = Eigen::MatrixXd::Zero(3 * n, 3 * n);
        for (int i = 0; i < n; ++i) {
            const int v = vertices[at(i)], column = column_of(v);
            const bool is_seam =
                (z > 0 && column == first) || (z + 1 < options.num_zones && column == last);
            const bool is_fixed = bar.is_held[at(v)] || (is_seam && !options.free_seams);
            reference.kinds.push_back(is_fixed ? NodeKind::Fixed : NodeKind::Free);
            reference.positions.push_back(zone.pose.to_body(bar.mesh.vertices[at(v)]));
            reference.areas.push_back(areas(random) * cell * cell);
            for (int k = 3 * i; k < 3 * i + 3; ++k) {
                A_bar(k, k) = -reference.areas.back();
                if (is_fixed) A.col(k).swap(A_bar.col(k));
            }
        }
        const Eigen::MatrixXd Xi = -solve_dense(A, A_bar);
        DenseGreensLayout layout{.num_nodes = n, .block = 3, .columns = {}};
        for (int i = 0; i < n; ++i) layout.columns.push_back(i);
        auto functions = std::make_shared<DenseGreensFunctions>(layout);
        for (int i = 0; i < n; ++i) functions->set_column(i, Xi.middleCols(3 * i, 3));
        reference.functions = functions;
        zone.model = model;
        zone.precise = std::make_shared<DenseElements>(Xi);
    }
    for (int z = 0; z + 1 < options.num_zones; ++z) {
        ZoneSeam& seam = bar.seams.emplace_back(ZoneSeam{z, z + 1, {}, {}});
        for (int v = 0; v < bar.mesh.num_vertices(); ++v)
            if (column_of(v) == (z + 1) * options.cells) {
                seam.nodes_a.push_back(bar.node_of(z, v));
                seam.nodes_b.push_back(bar.node_of(z + 1, v));
            }
    }
    return bar;
}

}  // namespace pliant::test
