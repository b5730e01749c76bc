#pragma once

#include "pliant/reduction/reduced_model.h"
#include "pliant/reduction/sketch.h"

#include <span>

namespace pliant {

/// A force on a place of a surface triangle.
struct SurfaceForce {
    int triangle = 0;
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< [N], body axes
};
/// Forces on the surface as forces on the nodes that carry it, by the weights of the embedding of
/// its vertices. Throws InputError for a triangle out of range.
[[nodiscard]] SketchLoad sketch_load(const Embedding& embedding, const SurfaceMesh& surface,
                                     std::span<const SurfaceForce> forces);

struct SketchModelOptions {
    int rank = 0;  ///< of the new basis; 0: that of the model
    /// Loads that would move the linear model farther than this part of the body's size are
    /// weakened to it, a third and two thirds of it: linear models have no limits, equilibria do.
    double max_response = 0.2;
    double load_distance = 0.1;    ///< kept loads differ by this fraction of the largest response
    int max_loads = 8;             ///< solved at most: kept ones then differ by more
    double shape_distance = 0.05;  ///< kept shapes differ by this fraction of the largest
    /// Rough: the shapes are for a basis, and somebody waits.
    StaticOptions statics = {.max_halvings = 1, .max_iterations = 30, .tolerance = 1e-3};
};

struct SketchModelReport {
    int num_loads = 0;    ///< whose shapes went into the basis
    int num_failed = 0;   ///< solved in vain
    double captured = 0;  ///< part of the shapes in the new basis, squares of the mass norm
};

/// The same body in a subspace that also holds what somebody did to it in its linear model: beside
/// the vectors of the model, equilibria under loads whose linear response is what was seen,
/// docs/reduction.md eq. (9a), (9b). Of St. Venant–Kirchhoff material they are those of neo-Hookean
/// material, which is equal at rest and does not collapse; the new model keeps its own. Throws
/// InputError for a free body, for a rank outside 1 … vectors and shapes together, and as
/// solve_sketch.
[[nodiscard]] ReducedModel sketch_model(const ReducedModel& model,
                                        const std::vector<SketchLoad>& loads,
                                        const SketchModelOptions& options = {},
                                        Progress& progress = Progress::none(),
                                        SketchModelReport* report = nullptr);

}  // namespace pliant
