#include "greens/boundary_cases.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <numbers>

#include "core/numbers.h"
#include "pliant/geometry/subdivision.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Known values of A v = z and which they are, docs/greens.md eq. (1).
struct MixedSystem {
    Eigen::MatrixXd A, complement;
};

MixedSystem mixed_system(const BoundaryModel& model, const std::vector<char>& is_fixed) {
    const int block = model.block(), size = block * model.num_nodes();
    MixedSystem system{Eigen::MatrixXd(size, size), Eigen::MatrixXd(size, size)};
    // A takes H and the complement −G; columns of fixed nodes change places
    model.assemble(0, model.num_nodes(), system.complement, system.A);
    system.complement = -system.complement;
    for (int i = 0; i < model.num_nodes(); ++i)
        if (is_fixed[at(i)])
            system.A.middleCols(block * i, block)
                .swap(system.complement.middleCols(block * i, block));
    return system;
}

double mean_element_size(const SurfaceMesh& mesh) {
    return std::sqrt(surface_area(mesh) / mesh.num_triangles());
}

/// RMS over the surface of the difference of what is unknown.
BoundaryCaseErrors errors_of(const BoundaryModel& model, const std::vector<char>& is_fixed,
                             const BoundaryValues& result, const BoundaryValues& exact,
                             double displacement_unit, double traction_unit) {
    const int block = model.block();
    double squares[2] = {0, 0}, areas[2] = {0, 0};
    for (int i = 0; i < model.num_nodes(); ++i) {
        const bool fixed = is_fixed[at(i)] != 0;
        const VectorXd difference =
            fixed ? (result.tractions - exact.tractions).segment(block * i, block)
                  : (result.displacements - exact.displacements).segment(block * i, block);
        squares[fixed] += model.areas()[at(i)] * difference.squaredNorm();
        areas[fixed] += model.areas()[at(i)];
    }
    BoundaryCaseErrors errors;
    errors.num_nodes = model.num_nodes();
    errors.element_size = mean_element_size(model.mesh());
    errors.displacement = std::sqrt(squares[0] / areas[0]) / displacement_unit;
    if (areas[1] > 0) errors.traction = std::sqrt(squares[1] / areas[1]) / traction_unit;
    return errors;
}

/// Values at nodes of a field of displacements and of stresses; Displacement and Traction take
/// (position, normal).
template <class Displacement, class Traction>
BoundaryValues values_at_nodes(const BoundaryModel& model, const Displacement& displacement,
                               const Traction& traction) {
    const int block = model.block();
    BoundaryValues values;
    values.displacements.resize(block * model.num_nodes());
    values.tractions.resize(block * model.num_nodes());
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d &x = model.positions()[at(i)], &n = model.normals()[at(i)];
        values.displacements.segment(block * i, block) = displacement(x, n);
        values.tractions.segment(block * i, block) = traction(x, n);
    }
    return values;
}

std::vector<char> nodes_below(const BoundaryModel& model, double z) {
    std::vector<char> is_fixed;
    for (const Vector3d& x : model.positions()) is_fixed.push_back(x.z() < z);
    return is_fixed;
}

}  // namespace

BoundaryValues solve_boundary_values(const BoundaryModel& model, const std::vector<char>& is_fixed,
                                     const BoundaryValues& known, const VectorXd& load) {
    const int block = model.block(), size = block * model.num_nodes();
    const MixedSystem system = mixed_system(model, is_fixed);
    VectorXd given(size);
    for (int i = 0; i < model.num_nodes(); ++i)
        given.segment(block * i, block) =
            (is_fixed[at(i)] ? known.displacements : known.tractions).segment(block * i, block);
    VectorXd rhs = -(system.complement * given);
    if (load.size() > 0) rhs += load;
    const VectorXd unknown = system.A.partialPivLu().solve(rhs);
    BoundaryValues result = known;
    for (int i = 0; i < model.num_nodes(); ++i)
        (is_fixed[at(i)] ? result.tractions : result.displacements).segment(block * i, block) =
            unknown.segment(block * i, block);
    return result;
}

double convergence_order(double coarse_error, double coarse_size, double fine_error,
                         double fine_size) {
    return std::log(coarse_error / fine_error) / std::log(coarse_size / fine_size);
}

SurfaceMesh sphere_case_surface(int level) {
    const double g = std::numbers::phi;
    SurfaceMesh mesh;
    mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                     {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    mesh.triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                      {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                      {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                      {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    for (Vector3d& x : mesh.vertices) x.normalize();
    for (int k = 0; k < level; ++k) {
        mesh = midpoint_subdivide(mesh, 1).mesh;
        for (Vector3d& x : mesh.vertices) x.normalize();
    }
    return mesh;
}

SurfaceMesh blob_case_surface(int level) {
    SurfaceMesh mesh = sphere_case_surface(level);
    for (Vector3d& x : mesh.vertices)
        x *= 1 + 0.15 * std::sin(2 * x.x() + x.y()) + 0.1 * x.y() * x.z();
    return mesh;
}

SurfaceMesh cylinder_case_surface(int rings, double length) {
    SurfaceMesh mesh;
    const int around = 6 * rings;
    // a disc: ring k has 6 k vertices, six sectors of triangles
    const auto add_disc = [&](double z, bool is_top) {
        const int centre = mesh.num_vertices();
        mesh.vertices.emplace_back(0, 0, z);
        const auto vertex = [&](int ring, int place) {
            return ring == 0 ? centre : centre + 1 + 3 * ring * (ring - 1) + place % (6 * ring);
        };
        const auto add = [&](int a, int b, int c) {
            mesh.triangles.push_back(is_top ? Triangle{a, b, c} : Triangle{a, c, b});
        };
        for (int ring = 1; ring <= rings; ++ring) {
            for (int place = 0; place < 6 * ring; ++place) {
                const double angle = 2 * std::numbers::pi * place / (6 * ring);
                const double radius = static_cast<double>(ring) / rings;
                mesh.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
            }
            for (int sector = 0; sector < 6; ++sector)
                for (int k = 0; k < ring; ++k) {
                    const int outer = sector * ring + k, inner = sector * (ring - 1) + k;
                    add(vertex(ring - 1, inner), vertex(ring, outer), vertex(ring, outer + 1));
                    if (k > 0)
                        add(vertex(ring - 1, inner - 1), vertex(ring, outer),
                            vertex(ring - 1, inner));
                }
        }
        return mesh.num_vertices() - around;
    };
    int below = add_disc(0, false);
    const int last = add_disc(length, true);
    // the side, in layers about as high as the vertices are apart
    const int layers =
        std::max(1, static_cast<int>(std::lround(length * around / (2 * std::numbers::pi))));
    for (int layer = 1; layer <= layers; ++layer) {
        const int above = layer == layers ? last : mesh.num_vertices();
        for (int k = 0; k < around; ++k) {
            const double angle = 2 * std::numbers::pi * k / around;
            if (layer < layers)
                mesh.vertices.emplace_back(std::cos(angle), std::sin(angle),
                                           length * layer / layers);
            const int next = (k + 1) % around;
            // diagonals by turns, so that the mesh has no sense of rotation
            if ((k + layer) % 2 == 0) {
                mesh.triangles.push_back({below + k, below + next, above + next});
                mesh.triangles.push_back({below + k, above + next, above + k});
            } else {
                mesh.triangles.push_back({below + k, below + next, above + k});
                mesh.triangles.push_back({below + next, above + next, above + k});
            }
        }
        below = above;
    }
    return mesh;
}

BoundaryCaseErrors sphere_under_pressure(int level, const BoundaryOptions& options) {
    const BoundaryModel model(sphere_case_surface(level), options);
    const double nu = options.poisson_ratio, strain = (1 - 2 * nu) / (2 * (1 + nu));
    BoundaryValues exact = values_at_nodes(
        model, [&](const Vector3d& x, const Vector3d&) -> Vector3d { return -strain * x; },
        [](const Vector3d&, const Vector3d& n) -> Vector3d { return -n; });
    // rigid motions are free: they are held by a term that vanishes for what is orthogonal to them
    Eigen::MatrixXd motions(3 * model.num_nodes(), 6);
    for (int i = 0; i < model.num_nodes(); ++i)
        for (int k = 0; k < 3; ++k) {
            const Vector3d axis = Vector3d::Unit(k);
            motions.block<3, 1>(3 * i, k) = axis;
            motions.block<3, 1>(3 * i, 3 + k) = axis.cross(model.positions()[at(i)]);
        }
    motions = motions.householderQr().householderQ() * Eigen::MatrixXd::Identity(motions.rows(), 6);
    const std::vector<char> is_fixed(at(model.num_nodes()), 0);
    MixedSystem system = mixed_system(model, is_fixed);
    const VectorXd rhs = -(system.complement * exact.tractions);
    system.A += motions * motions.transpose();
    BoundaryValues result = exact;
    result.displacements = system.A.partialPivLu().solve(rhs);
    for (VectorXd* u : {&result.displacements, &exact.displacements})
        *u -= motions * (motions.transpose() * *u);
    return errors_of(model, is_fixed, result, exact, 1, 1);
}

BoundaryCaseErrors cavity_under_pressure(int level, const BoundaryOptions& options) {
    BoundaryOptions exterior = options;
    exterior.is_exterior = true;
    const BoundaryModel model(sphere_case_surface(level), exterior);
    const BoundaryValues exact = values_at_nodes(
        model, [](const Vector3d& x, const Vector3d&) -> Vector3d { return x.normalized() / 4; },
        [](const Vector3d&, const Vector3d& n) -> Vector3d { return -n; });
    const std::vector<char> is_fixed(at(model.num_nodes()), 0);
    return errors_of(model, is_fixed, solve_boundary_values(model, is_fixed, exact), exact, 0.25,
                     1);
}

TorsionErrors cylinder_in_torsion(int rings, const BoundaryOptions& options) {
    const double length = 2;
    const BoundaryModel model(cylinder_case_surface(rings, length), options);
    const auto spin = [](const Vector3d& x) { return Vector3d(-x.y(), x.x(), 0); };
    // ends and side meet at the rims: without doubled nodes, rims belong to the ends
    const auto is_end = [](const Vector3d& x, const Vector3d& n, double z) {
        return std::abs(x.z() - z) < 1e-9 && std::abs(n.z()) > 0.5;
    };
    const BoundaryValues exact = values_at_nodes(
        model,
        [&](const Vector3d& x, const Vector3d&) -> Vector3d { return x.z() / length * spin(x); },
        [&](const Vector3d& x, const Vector3d& n) -> Vector3d {
            const bool top = is_end(x, n, length), bottom = is_end(x, n, 0);
            return (top ? 1 : bottom ? -1 : 0) / length * spin(x);
        });
    std::vector<char> is_fixed;
    for (int i = 0; i < model.num_nodes(); ++i)
        is_fixed.push_back(is_end(model.positions()[at(i)], model.normals()[at(i)], 0));
    const BoundaryValues result = solve_boundary_values(model, is_fixed, exact);

    TorsionErrors errors;
    errors.fields = errors_of(model, is_fixed, result, exact, 1, 1 / length);
    double applied = 0, reaction = 0, twist = 0, inertia = 0;
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d& x = model.positions()[at(i)];
        const double area = model.areas()[at(i)];
        const double torque = area * spin(x).dot(result.tractions.segment<3>(3 * i));
        (is_fixed[at(i)] ? reaction : applied) += torque;
        if (!is_end(x, model.normals()[at(i)], length)) continue;
        twist += area * spin(x).dot(result.displacements.segment<3>(3 * i));
        inertia += area * spin(x).squaredNorm();
    }
    errors.stiffness = twist / inertia - 1;
    errors.reaction = reaction / applied + 1;
    return errors;
}

BoundaryCaseErrors laplace_in_sphere(int level, const BoundaryOptions& options) {
    BoundaryOptions laplace = options;
    laplace.physics = BoundaryPhysics::Laplace;
    const BoundaryModel model(sphere_case_surface(level), laplace);
    // homogeneous of degree 2: its derivative along the radius is twice its value
    const auto potential = [](const Vector3d& x) {
        return x.x() * x.y() + x.z() * x.z() - (x.x() * x.x() + x.y() * x.y()) / 2;
    };
    const auto value = [](double v) { return Eigen::Matrix<double, 1, 1>::Constant(v); };
    const BoundaryValues exact = values_at_nodes(
        model, [&](const Vector3d& x, const Vector3d&) { return value(potential(x.normalized())); },
        [&](const Vector3d& x, const Vector3d&) { return value(2 * potential(x.normalized())); });
    const std::vector<char> is_fixed = nodes_below(model, 0);
    const double unit = std::sqrt(exact.displacements.squaredNorm() / model.num_nodes());
    return errors_of(model, is_fixed, solve_boundary_values(model, is_fixed, exact), exact, unit,
                     unit);
}

double blob_asymmetry(int level, double poisson_ratio, int max_nodes) {
    BoundaryOptions options;
    options.poisson_ratio = poisson_ratio;
    const BoundaryModel model(blob_case_surface(level), options);
    const std::vector<char> is_fixed = nodes_below(model, -0.5);
    std::vector<int> nodes;
    for (int i = 0; i < model.num_nodes(); ++i)
        if (!is_fixed[at(i)]) nodes.push_back(i);
    // spread evenly over the numbering, which is spread over the surface by levels
    const int count = std::min(max_nodes, static_cast<int>(nodes.size()));
    for (int k = 0; k < count; ++k)
        nodes[at(k)] = nodes[at(static_cast<int>(static_cast<long long>(k) *
                                                 static_cast<long long>(nodes.size()) / count))];
    nodes.resize(at(count));

    MixedSystem system = mixed_system(model, is_fixed);
    Eigen::MatrixXd rhs(system.A.rows(), 3 * count);
    for (int k = 0; k < count; ++k)
        rhs.middleCols<3>(3 * k) =
            -system.complement.middleCols<3>(3 * nodes[at(k)]) / model.areas()[at(nodes[at(k)])];
    // in place: the largest of these models has 470 MB for each matrix
    const Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXd>> lu(system.A);
    const Eigen::MatrixXd columns = lu.solve(rhs);
    Eigen::MatrixXd M(3 * count, 3 * count);
    for (int k = 0; k < count; ++k)
        M.middleRows<3>(3 * k) = columns.middleRows<3>(3 * nodes[at(k)]);
    return (M - M.transpose()).norm() / M.norm();
}

}  // namespace pliant
