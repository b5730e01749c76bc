#include "pliant/greens/boundary_readouts.h"

#include <cstdio>
#include <string>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "greens/boundary_nodes.h"
#include "greens/graded_quadrature.h"
#include "greens/interior_kernels.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"

namespace pliant {
namespace {

/// Nearer to the surface, in units of the sides there, the parts of a triangle that is split to the
/// end are no longer small against their distance.
constexpr double kLeastDepth = 0.005;

/// At most a displacement or stress (6×3), in the first rows and columns the rest.
using ReadoutBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 3>;

/// The two kernels of a read-out: of tractions, and of displacements.
class ReadoutKernels {
public:
    ReadoutKernels(const BoundaryOptions& options, ReadoutKind kind)
        : is_elastic_(options.physics == BoundaryPhysics::Elastic),
          is_displacement_(kind == ReadoutKind::Displacement),
          poisson_ratio_(options.poisson_ratio),
          factors_(options.poisson_ratio) {}

    [[nodiscard]] int num_rows() const {
        return is_elastic_ ? (is_displacement_ ? 3 : 6) : (is_displacement_ ? 1 : 3);
    }
    [[nodiscard]] ReadoutBlock of_traction(const Eigen::Vector3d& r) const {
        if (is_elastic_ && is_displacement_) return kelvin_displacement(factors_, r);
        if (is_elastic_) return kelvin_stress_of_traction(poisson_ratio_, r);
        if (is_displacement_) return ReadoutBlock::Constant(1, 1, laplace_potential(r));
        return laplace_potential_gradient(r);
    }
    [[nodiscard]] ReadoutBlock of_displacement(const Eigen::Vector3d& r,
                                               const Eigen::Vector3d& n) const {
        if (is_elastic_ && is_displacement_) return -kelvin_traction(factors_, r, n);
        if (is_elastic_) return -kelvin_stress_of_displacement(poisson_ratio_, r, n);
        if (is_displacement_) return ReadoutBlock::Constant(1, 1, -laplace_flux(r, n));
        return -laplace_flux_gradient(r, n);
    }
    /// c in ∫_Ω of_traction dΩ = c ∫_Γ (r·n) of_traction dΓ: kernels fall like 1/r, and like 1/r².
    [[nodiscard]] double volume_factor() const { return is_displacement_ ? 0.5 : 1; }

private:
    bool is_elastic_, is_displacement_;
    double poisson_ratio_;
    KelvinFactors factors_;
};

std::string point_text(const Eigen::Vector3d& x) {
    char text[96];
    std::snprintf(text, sizeof text, "(%.4g, %.4g, %.4g)", x.x(), x.y(), x.z());
    return text;
}

/// Says where material is.
class PointsInMaterial {
public:
    explicit PointsInMaterial(const BoundaryModel& model)
        : query_(model.mesh()), is_exterior_(model.options().is_exterior) {}

    void require(const std::string& what, int number, const Eigen::Vector3d& x) const {
        const std::string name = what + " " + std::to_string(number) + " at " + point_text(x);
        if (!x.allFinite() || query_.is_inside(x) == is_exterior_)
            throw InputError("", name + (is_exterior_ ? " is not outside the cavity"
                                                      : " is not inside the body"));
        const ClosestPoint nearest = query_.closest(x);
        const SurfaceMesh& mesh = query_.mesh();
        const double least = kLeastDepth * longest_side({mesh.corner(nearest.triangle, 0),
                                                         mesh.corner(nearest.triangle, 1),
                                                         mesh.corner(nearest.triangle, 2)});
        if (nearest.distance >= least) return;
        char text[96];
        std::snprintf(text, sizeof text, " is %.2g from the surface (at least %.2g is needed)",
                      nearest.distance, least);
        throw InputError("", name + text + "; take the nodes there, or move it inwards");
    }

private:
    SurfaceQuery query_;
    bool is_exterior_;
};

int total_rows(const BoundaryModel& model, std::span<const GreensReadout> readouts,
               std::vector<int>& first_rows) {
    int rows = 0;
    for (const GreensReadout& readout : readouts) {
        first_rows.push_back(rows);
        rows += ReadoutKernels(model.options(), readout.kind).num_rows();
    }
    return rows;
}

}  // namespace

BoundaryReadouts boundary_readouts(const BoundaryModel& model,
                                   std::span<const GreensReadout> readouts) {
    const SurfaceMesh& mesh = model.mesh();
    const int block = model.block();
    const PointsInMaterial material(model);
    for (std::size_t k = 0; k < readouts.size(); ++k)
        material.require("read-out", static_cast<int>(k), readouts[k].position);
    std::vector<int> first_rows;
    const int num_rows = total_rows(model, readouts, first_rows);
    BoundaryReadouts result;
    result.of_displacements.setZero(num_rows, block * model.num_nodes());
    result.of_tractions.setZero(num_rows, block * model.num_nodes());
    result.of_body_forces.setZero(num_rows, block);

    // normals point out of the material
    std::vector<Eigen::Vector3d> normals = face_normals(mesh);
    if (model.options().is_exterior)
        for (Eigen::Vector3d& n : normals) n = -n;
    parallel_for(readouts.size(), 1, [&](std::size_t k) {
        const Eigen::Vector3d& x = readouts[k].position;
        const ReadoutKernels kernels(model.options(), readouts[k].kind);
        const int rows = kernels.num_rows(), row = first_rows[k];
        for (int t = 0; t < mesh.num_triangles(); ++t) {
            const TriangleCorners corners{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
            const double area = area_vector(corners[0], corners[1], corners[2]).norm() / 2;
            const Eigen::Vector3d& n = normals[at(t)];
            for_each_point(
                corners, x, [&](const Eigen::Vector3d& y, const Eigen::Vector3d& shape, double w) {
                    const Eigen::Vector3d r = y - x;
                    const ReadoutBlock p = area * w * kernels.of_traction(r);
                    const ReadoutBlock u = area * w * kernels.of_displacement(r, n);
                    for (int c = 0; c < 3; ++c) {
                        const int column = block * model.corner_nodes()[at(t)][at(c)];
                        result.of_tractions.block(row, column, rows, block) += shape[c] * p;
                        result.of_displacements.block(row, column, rows, block) += shape[c] * u;
                    }
                    result.of_body_forces.middleRows(row, rows) +=
                        kernels.volume_factor() * r.dot(n) * p;
                });
        }
    });
    // a constant force has no finite effect in an unbounded body
    if (model.options().is_exterior) result.of_body_forces.setZero();
    return result;
}

Eigen::MatrixXd concentrated_force_columns(const BoundaryModel& model,
                                           std::span<const Eigen::Vector3d> points) {
    const int block = model.block();
    const PointsInMaterial material(model);
    const ReadoutKernels kernels(model.options(), ReadoutKind::Displacement);
    Eigen::MatrixXd columns(block * model.num_nodes(), block * static_cast<int>(points.size()));
    for (int k = 0; k < static_cast<int>(points.size()); ++k) {
        material.require("force", k, points[at(k)]);
        for (int i = 0; i < model.num_nodes(); ++i)
            columns.block(block * i, block * k, block, block) =
                kernels.of_traction(points[at(k)] - model.nodes().targets[at(i)]);
    }
    return columns;
}

Eigen::MatrixXd concentrated_force_readouts(const BoundaryModel& model,
                                            std::span<const GreensReadout> readouts,
                                            std::span<const Eigen::Vector3d> points) {
    const int block = model.block();
    std::vector<int> first_rows;
    Eigen::MatrixXd values(total_rows(model, readouts, first_rows),
                           block * static_cast<int>(points.size()));
    for (std::size_t k = 0; k < readouts.size(); ++k) {
        const ReadoutKernels kernels(model.options(), readouts[k].kind);
        for (int f = 0; f < static_cast<int>(points.size()); ++f) {
            const Eigen::Vector3d r = points[at(f)] - readouts[k].position;
            if (!(r.norm() > 0))
                throw InputError("", "read-out " + std::to_string(k) + " is where force " +
                                         std::to_string(f) +
                                         " acts, and its value there is infinite; move it away");
            values.block(first_rows[k], block * f, kernels.num_rows(), block) =
                kernels.of_traction(r);
        }
    }
    return values;
}

}  // namespace pliant
