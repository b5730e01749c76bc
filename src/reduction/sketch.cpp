#include "pliant/reduction/sketch.h"

#include "geometry/option_check.h"
#include "pliant/core/error.h"
#include "pliant/fem/mass.h"
#include "reduction/fixed_supports.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_sketch_load(const SketchLoad& load, Eigen::Index num_nodes) {
    if (load.nodes.size() != load.forces.size())
        throw InputError("", "a sketch load has " + std::to_string(load.nodes.size()) +
                                 " nodes but " + std::to_string(load.forces.size()) +
                                 " forces; give one force for each node");
    for (std::size_t s = 0; s < load.nodes.size(); ++s) {
        if (load.nodes[s] < 0 || load.nodes[s] >= num_nodes)
            throw InputError("", "sketch load node", std::to_string(load.nodes[s]),
                             "0 to " + std::to_string(num_nodes - 1));
        if (!load.forces[s].allFinite())
            throw InputError("", "the sketch force on node " + std::to_string(load.nodes[s]) +
                                     " is not finite; leave it out");
    }
}

/// Λ⁻¹ Ψᵀ f: Ψ is mass-orthonormal, so that distances are those of the shapes in the mass norm.
VectorXd response(const LinearModes& modes, const SketchLoad& load) {
    check_sketch_load(load, modes.shapes.rows() / 3);
    VectorXd q = VectorXd::Zero(modes.size());
    for (std::size_t s = 0; s < load.nodes.size(); ++s)
        q += modes.shapes.middleRows<3>(3 * load.nodes[s]).transpose() * load.forces[s];
    return q.cwiseQuotient(modes.eigenvalues);
}

VectorXd nodal_load(const SketchLoad& load, Eigen::Index num_unknowns) {
    VectorXd f = VectorXd::Zero(num_unknowns);
    for (std::size_t s = 0; s < load.nodes.size(); ++s)
        f.segment<3>(3 * load.nodes[s]) += load.forces[s];
    return f;
}

}  // namespace

VectorXd linear_modal_response(const LinearModes& modes, const SketchLoad& load) {
    return modes.shapes * response(modes, load);
}

std::vector<int> thin_loads(const LinearModes& modes, const std::vector<SketchLoad>& loads,
                            double distance, int max_loads) {
    assert(max_loads >= 0);
    // eq. (9)
    MatrixXd responses(modes.size(), static_cast<Eigen::Index>(loads.size()));
    for (std::size_t i = 0; i < loads.size(); ++i)
        responses.col(static_cast<Eigen::Index>(i)) = response(modes, loads[i]);
    const double largest = loads.empty() ? 0 : responses.colwise().norm().maxCoeff();
    if (!(largest > 0))
        throw InputError("",
                         "none of the " + std::to_string(loads.size()) +
                             " sketch loads moves the body; pull at vertices that are not held");
    std::vector<int> kept = thin_samples(responses, distance * largest);
    // none is farther from another than twice the largest: it ends
    for (double wider = std::max(distance, 1e-3);
         max_loads > 0 && static_cast<int>(kept.size()) > max_loads; wider *= 1.2)
        kept = thin_samples(responses, wider * largest);
    return kept;
}

Sketch solve_sketch(const FemModel& model, const Constraints& constraints, const LinearModes& modes,
                    const std::vector<SketchLoad>& loads, const SketchOptions& options,
                    Progress& progress) {
    assert(modes.shapes.rows() == model.num_unknowns());
    check_option(options.load_distance >= 0 && options.load_distance < 1, "load_distance",
                 options.load_distance, "0 <= value < 1");
    check_option(options.shape_distance >= 0 && options.shape_distance < 1, "shape_distance",
                 options.shape_distance, "0 <= value < 1");
    check_fixed_supports(constraints);

    const std::vector<int> tried = thin_loads(modes, loads, options.load_distance);

    // their equilibria
    progress.stage("sketch equilibria", tried.size());
    Sketch sketch;
    MatrixXd shapes(model.num_unknowns(), static_cast<Eigen::Index>(tried.size()));
    std::vector<int> solved;
    std::string message;
    for (const int i : tried) {
        const StaticResult result = solve_static(
            model, constraints, nodal_load(loads[i], model.num_unknowns()), options.statics);
        if (result.has_converged()) {
            shapes.col(static_cast<Eigen::Index>(solved.size())) = result.u;
            solved.push_back(i);
        } else {
            sketch.failed.push_back(i);
            message = result.message;
        }
        progress.advance();
    }
    if (solved.empty())
        throw InputError("", "no sketch load has an equilibrium that was found: " + message);
    shapes.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(solved.size()));

    // shapes that differ
    const std::vector<int> kept = thin_shapes(shapes, mass_matrix(model), options.shape_distance);
    sketch.shapes = shapes(Eigen::all, kept);
    for (const int column : kept) sketch.loads.push_back(solved[column]);
    return sketch;
}

}  // namespace pliant
