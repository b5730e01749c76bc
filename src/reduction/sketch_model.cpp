#include "pliant/reduction/sketch_model.h"

#include "geometry/option_check.h"
#include "pliant/core/error.h"
#include "pliant/fem/mass.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// Materials that resist collapse, equal at rest.
std::vector<Material> tough(std::vector<Material> materials) {
    for (Material& material : materials)
        if (material.law == Law::StVenantKirchhoff && !material.anisotropy)
            material.law = Law::NeoHookean;
    return materials;
}

/// Squares of the columns in the norm of M.
VectorXd squared_norms(const MatrixXd& X, const Sparse& M) {
    return X.cwiseProduct(M * X).colwise().sum();
}

/// Vectors of the model, as important as they were, and the shapes, the largest of them as
/// important as the first vector, eq. (9b).
Basis joined_basis(const ReducedModel& model, const MatrixXd& shapes, const Sparse& M, int rank) {
    const auto U = model.basis();
    const int num_columns = static_cast<int>(U.cols() + shapes.cols());
    if (rank < 1 || rank > num_columns)
        throw InputError("", "rank", std::to_string(rank),
                         "1 to " + std::to_string(num_columns) + ", what the " +
                             std::to_string(model.rank()) + " vectors of the model and " +
                             std::to_string(shapes.cols()) + " sketched shapes span at most");
    const VectorXd& weights = model.singular_values();
    const double largest = std::sqrt(squared_norms(shapes, M).maxCoeff());
    MatrixXd X(U.rows(), num_columns);
    X << U * weights.head(U.cols()).asDiagonal(), weights[0] / largest * shapes;
    return mass_pca(X, M, rank);
}

double largest_displacement(const MatrixXd& shapes) {
    double largest = 0;
    for (Eigen::Index row = 0; row < shapes.rows(); row += 3)
        largest = std::max(largest, shapes.middleRows<3>(row).colwise().norm().maxCoeff());
    return largest;
}

SketchLoad scaled(SketchLoad load, double factor) {
    for (Eigen::Vector3d& force : load.forces) force *= factor;
    return load;
}

/// The loads with linear responses of at most `reach` [m]. Of those that were stronger, parts too:
/// else a whole pull might become one load.
std::vector<SketchLoad> weakened(const std::vector<SketchLoad>& loads, const LinearModes& modes,
                                 double reach) {
    std::vector<SketchLoad> result;
    for (const SketchLoad& load : loads) {
        const double response = largest_displacement(linear_modal_response(modes, load));
        if (response <= reach)
            result.push_back(load);
        else
            for (const double part : {1.0 / 3, 2.0 / 3, 1.0})
                result.push_back(scaled(load, part * reach / response));
    }
    return result;
}

/// M Ψ Ψᵀ f, eq. (9a): its linear response in the whole body is that of f in the modes. The force
/// itself would press its few nodes into the body, which modes do not show.
SketchLoad spread(const SketchLoad& load, const MatrixXd& MPsi, const LinearModes& modes) {
    VectorXd q = VectorXd::Zero(modes.size());
    for (std::size_t i = 0; i < load.nodes.size(); ++i)
        q += modes.shapes.middleRows<3>(Eigen::Index{3} * load.nodes[i]).transpose() *
             load.forces[i];
    const VectorXd f = MPsi * q;
    SketchLoad result;
    for (int node = 0; node < static_cast<int>(f.size() / 3); ++node) {
        result.nodes.push_back(node);
        result.forces.emplace_back(f.segment<3>(Eigen::Index{3} * node));
    }
    return result;
}

}  // namespace

SketchLoad sketch_load(const Embedding& embedding, const SurfaceMesh& surface,
                       std::span<const SurfaceForce> forces) {
    SketchLoad load;
    for (const SurfaceForce& f : forces) {
        if (f.triangle < 0 || f.triangle >= surface.num_triangles())
            throw InputError("", "sketch load triangle", std::to_string(f.triangle),
                             "0 to " + std::to_string(surface.num_triangles() - 1));
        for (int corner = 0; corner < 3; ++corner) {
            const auto point = static_cast<std::size_t>(
                surface.triangles[static_cast<std::size_t>(f.triangle)][corner]);
            const auto begin = static_cast<std::size_t>(embedding.start()[point]),
                       end = static_cast<std::size_t>(embedding.start()[point + 1]);
            for (std::size_t k = begin; k < end; ++k) {
                load.nodes.push_back(embedding.vertices()[k]);
                load.forces.push_back(embedding.weights()[k] * f.barycentric[corner] * f.force);
            }
        }
    }
    return load;
}

ReducedModel sketch_model(const ReducedModel& model, const std::vector<SketchLoad>& loads,
                          const SketchModelOptions& options, Progress& progress,
                          SketchModelReport* report) {
    if (model.is_free())
        throw InputError("",
                         "a free body cannot be sketched: its loads have no equilibrium; build the "
                         "model held");
    check_option(options.load_distance >= 0 && options.load_distance < 1, "load_distance",
                 options.load_distance, "0 <= value < 1");
    check_option(options.max_response > 0 && std::isfinite(options.max_response), "max_response",
                 options.max_response, "0 < value < infinity");
    if (options.max_loads < 1)
        throw InputError("", "max_loads", std::to_string(options.max_loads), "at least 1");
    ReducedModelParts parts;
    parts.mesh = model.mesh();
    parts.materials = model.materials();
    parts.elements = model.elements();
    parts.fixed_vertices = model.fixed_vertices();
    parts.surface = model.surface();
    parts.input_hash = content_hash(parts.surface);
    parts.storage = model.shapes().arrays().storage;
    parts.embedding = model.embedding();
    const FemModel fem(parts.mesh, parts.materials, {parts.elements});
    Constraints constraints(fem.num_nodes());
    constraints.fix(parts.fixed_vertices);

    // what was done, eq. (9)
    const LinearModes modes =
        compute_modes(fem, constraints, {.num_modes = model.num_modes()}, progress);
    const Sparse M = mass_matrix(fem);
    const MatrixXd MPsi = M * modes.shapes;
    std::vector<SketchLoad> spread_loads;
    const double reach =
        options.max_response * bounding_box(parts.mesh.vertices).sizes().maxCoeff();
    const std::vector<SketchLoad> bearable = weakened(loads, modes, reach);
    for (const int i : thin_loads(modes, bearable, options.load_distance, options.max_loads))
        spread_loads.push_back(spread(bearable[static_cast<std::size_t>(i)], MPsi, modes));
    const Sketch sketch = solve_sketch(
        FemModel(parts.mesh, tough(parts.materials), {parts.elements}), constraints, modes,
        spread_loads,
        {.load_distance = 0, .shape_distance = options.shape_distance, .statics = options.statics},
        progress);

    // and all that follows from it
    progress.stage("basis");
    parts.basis =
        joined_basis(model, sketch.shapes, M, options.rank == 0 ? model.rank() : options.rank);
    parts.eigenvalues = modes.eigenvalues;
    parts.expected_reach = std::max(model.expected_reach(), largest_displacement(sketch.shapes));
    if (report)
        *report = {static_cast<int>(sketch.loads.size()), static_cast<int>(sketch.failed.size()),
                   (parts.basis.U.transpose() * (M * sketch.shapes)).squaredNorm() /
                       squared_norms(sketch.shapes, M).sum()};
    add_projections(parts, fem, progress);
    return ReducedModel(std::move(parts));
}

}  // namespace pliant
