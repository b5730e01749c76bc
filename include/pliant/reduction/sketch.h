#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/statics.h"
#include "pliant/reduction/basis.h"
#include "pliant/reduction/thin_samples.h"

#include <vector>

namespace pliant {

/// Forces on a few nodes.
struct SketchLoad {
    std::vector<int> nodes;
    std::vector<Eigen::Vector3d> forces;  ///< [N]
};

/// Quick linear answer to a load while a sketch is drawn: u = Ψ Λ⁻¹ Ψᵀ f, docs/reduction.md eq.
/// (9). Throws InputError for a node out of range and for a force that is not finite.
[[nodiscard]] Eigen::VectorXd linear_modal_response(const LinearModes& modes,
                                                    const SketchLoad& load);

/// Loads worth solving, ascending: kept ones differ by `distance` of the largest linear response,
/// in the mass norm, or by as much more as it takes to keep at most `max_loads` (0: any number).
/// Throws InputError as linear_modal_response, and when no load moves the body.
[[nodiscard]] std::vector<int> thin_loads(const LinearModes& modes,
                                          const std::vector<SketchLoad>& loads, double distance,
                                          int max_loads = 0);

struct SketchOptions {
    double load_distance = 0.1;    ///< kept loads differ by this fraction of the largest response
    double shape_distance = 0.05;  ///< kept shapes differ by this fraction of the largest
    StaticOptions statics = {};
};

struct Sketch {
    Eigen::MatrixXd shapes;   ///< 3n × shapes kept
    std::vector<int> loads;   ///< the load of each
    std::vector<int> failed;  ///< loads whose equilibrium was not found; left out
};

/// Basis vectors for what a user did: thins the recorded loads by the distance of their linear
/// responses, solves the nonlinear static problem for those kept, thins the shapes; both distances
/// in the mass norm. Take mass_pca of the result. Progress counts loads; cancel() acts between
/// two of them, Ctrl-C within one too. Throws InputError for a body that is not held, supports that
/// move, loads that do not move it, and when no equilibrium is found at all.
[[nodiscard]] Sketch solve_sketch(const FemModel& model, const Constraints& constraints,
                                  const LinearModes& modes, const std::vector<SketchLoad>& loads,
                                  const SketchOptions& options = {},
                                  Progress& progress = Progress::none());

}  // namespace pliant
