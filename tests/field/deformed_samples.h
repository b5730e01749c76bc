#pragma once

#include "fem/fem_samples.h"
#include "field/domain_cutting.h"
#include "pliant/fem/mass.h"
#include "pliant/field/deformed_field.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/reduction/basis.h"

#include <Eigen/QR>

/// Bodies with chosen shapes in their subspace, and their fields.
namespace pliant::test {

/// Outer faces of a volume mesh on vertices of their own.
inline SurfaceMesh skin_of(const VolumeMesh& mesh) {
    SurfaceMesh skin;
    std::vector<int> number(mesh.vertices.size(), -1);
    for (Triangle t : boundary_triangles(mesh)) {
        for (int& v : t) {
            int& known = number[v];
            if (known < 0) {
                known = skin.num_vertices();
                skin.vertices.push_back(mesh.vertices[v]);
            }
            v = known;
        }
        skin.triangles.push_back(t);
    }
    return skin;
}

/// A body whose subspace holds the displacements given.
inline ReducedModel shaped_model(const VolumeMesh& mesh,
                                 const std::vector<Eigen::VectorXd>& displacements) {
    ReducedModelParts parts;
    parts.mesh = mesh;
    parts.materials = {isotropic(1e5, 0.3, 1000)};
    parts.surface = skin_of(mesh);
    parts.input_hash = content_hash(parts.surface);
    parts.expected_reach = 1;
    parts.fixed_vertices = {0};  // a free body would have its rigid motions apart
    const FemModel model(parts.mesh, parts.materials);
    Eigen::MatrixXd X(model.num_unknowns(), static_cast<Eigen::Index>(displacements.size()));
    for (std::size_t j = 0; j < displacements.size(); ++j)
        X.col(static_cast<Eigen::Index>(j)) = displacements[j];
    parts.basis.U = mass_gram_schmidt(X, mass_matrix(model));
    parts.basis.singular_values = Eigen::VectorXd::Ones(parts.basis.U.cols());
    parts.eigenvalues = Eigen::VectorXd::Ones(1);
    add_projections(parts, model);
    return ReducedModel(std::move(parts));
}
/// Coordinates of displacements of the mesh's vertices.
inline Eigen::VectorXd coordinates(const ReducedModel& model, const Eigen::VectorXd& u) {
    const Eigen::MatrixXd U = model.basis();
    return U.colPivHouseholderQr().solve(u);
}
template <class Map>
Eigen::VectorXd displacements(const VolumeMesh& mesh, const Map& map) {
    Eigen::VectorXd u(3 * mesh.num_vertices());
    for (int v = 0; v < mesh.num_vertices(); ++v)
        u.segment<3>(3 * v) = map(mesh.vertices[v]) - mesh.vertices[v];
    return u;
}

/// A bar along x, −1 … 1, that is bent into an arc about the y axis by `angle` from end to end, its
/// length kept.
inline VolumeMesh long_bar() {
    return hex_box(16, 3, 3, Box(Eigen::Vector3d(-1, -0.2, -0.2), Eigen::Vector3d(1, 0.2, 0.2)));
}
inline Eigen::Vector3d bent(const Eigen::Vector3d& X, double angle) {
    const double curvature = angle / 2, phi = curvature * X.x(), radius = 1 / curvature - X.z();
    return {radius * std::sin(phi), X.y(), 1 / curvature - radius * std::cos(phi)};
}
/// With all linear displacements and two bends.
inline ReducedModel bar_of_shapes() {
    const VolumeMesh mesh = long_bar();
    std::vector<Eigen::VectorXd> all;
    for (int i = 0; i < 3; ++i)
        all.push_back(
            affine_displacements(mesh, Eigen::Matrix3d::Zero(), Eigen::Vector3d::Unit(i)));
    for (int i = 0; i < 9; ++i) {
        Eigen::Matrix3d A = Eigen::Matrix3d::Zero();
        A(i / 3, i % 3) = 1;
        all.push_back(affine_displacements(mesh, A));
    }
    for (const double angle : {0.6, 1.2})
        all.push_back(
            displacements(mesh, [&](const Eigen::Vector3d& X) { return bent(X, angle); }));
    return shaped_model(mesh, all);
}
inline Eigen::VectorXd bend_coordinates(const ReducedModel& model, double angle) {
    return coordinates(model, displacements(model.mesh(), [&](const Eigen::Vector3d& X) {
                           return bent(X, angle);
                       }));
}
inline Eigen::VectorXd affine_coordinates(const ReducedModel& model, const Eigen::Matrix3d& F,
                                          const Eigen::Vector3d& t) {
    return coordinates(model,
                       affine_displacements(model.mesh(), F - Eigen::Matrix3d::Identity(), t));
}

/// Exact values on a dense grid in a cube of 1.5 times the size.
inline DistanceGrid exact_grid(const SurfaceMesh& mesh, int cells) {
    const SurfaceQuery query(mesh);
    const Box box = bounding_box(mesh.vertices);
    GridFrame frame;
    const double side = 1.5 * box.sizes().maxCoeff();
    frame.cell = side / cells;
    frame.low = box.center() - Eigen::Vector3d::Constant(side / 2);
    frame.cells = {cells, cells, cells};
    std::vector<float> values;
    float boundary = 1e30f;
    for (int k = 0; k <= cells; ++k)
        for (int j = 0; j <= cells; ++j)
            for (int i = 0; i <= cells; ++i) {
                const double d = query.signed_distance(frame.vertex(i, j, k));
                values.push_back(static_cast<float>(d));
                const bool is_face = i % cells == 0 || j % cells == 0 || k % cells == 0;
                if (is_face) boundary = std::min(boundary, values.back());
            }
    return DistanceGrid::dense(frame, std::move(values),
                               boundary - static_cast<float>(0.71 * frame.cell));
}
inline FieldDomain one_domain(const ReducedModel& model, int cells, int num_proxies = 40) {
    const SurfaceMesh skin = model.surface();
    return {exact_grid(skin, cells), farthest_points(area_samples(skin, 2000), num_proxies)};
}

/// Random points of a box.
struct RandomPoints {
    std::vector<float> x, y, z;
    RandomPoints(const Box& box, int count, unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(0, 1);
        for (int i = 0; i < count; ++i) {
            const double a = uniform(random), b = uniform(random), c = uniform(random);
            const Eigen::Vector3d p =
                box.min() + box.sizes().cwiseProduct(Eigen::Vector3d(a, b, c));
            x.push_back(static_cast<float>(p.x()));
            y.push_back(static_cast<float>(p.y()));
            z.push_back(static_cast<float>(p.z()));
        }
    }
    [[nodiscard]] int size() const { return static_cast<int>(x.size()); }
    [[nodiscard]] PointBatch batch(int begin = 0, int count = -1) const {
        return {x.data() + begin, y.data() + begin, z.data() + begin, count < 0 ? size() : count};
    }
    [[nodiscard]] Eigen::Vector3d at(int i) const {
        return Eigen::Vector3f(x[i], y[i], z[i]).cast<double>();
    }
};
inline std::vector<float> values_at(const DistanceField& field, const RandomPoints& points) {
    std::vector<float> values(points.x.size());
    field.distances(points.batch(), values.data());
    return values;
}
inline Box padded(const Box& box, double by) {
    return {box.min() - Eigen::Vector3d::Constant(by), box.max() + Eigen::Vector3d::Constant(by)};
}

/// Two legs of 0.4 × 0.4 × 2 m, 0.4 m apart, on a base: a U. opened() bends the legs apart.
inline VolumeMesh u_shape() {
    VolumeMesh all =
        hex_box(12, 4, 24, Box(Eigen::Vector3d(-0.6, -0.2, 0), Eigen::Vector3d(0.6, 0.2, 2.4)));
    VolumeMesh mesh;
    mesh.kind = all.kind;
    std::vector<int> number(all.vertices.size(), -1);
    for (int e = 0; e < all.num_elements(); ++e) {
        Eigen::Vector3d centre = Eigen::Vector3d::Zero();
        for (const int v : all.element(e)) centre += all.vertices[v] / 8;
        if (std::abs(centre.x()) < 0.2 && centre.z() > 0.4) continue;
        for (const int v : all.element(e)) {
            if (number[v] < 0) {
                number[v] = mesh.num_vertices();
                mesh.vertices.push_back(all.vertices[v]);
            }
            mesh.elements.push_back(number[v]);
        }
    }
    return mesh;
}
inline Eigen::Vector3d opened(const Eigen::Vector3d& X, double by) {
    const double height = std::max(0.0, X.z() - 0.4) / 2;
    const double sign = X.x() > 0.1 ? 1 : X.x() < -0.1 ? -1 : 0;
    return X + Eigen::Vector3d(sign * by * height * height, 0, 0);
}

}  // namespace pliant::test
