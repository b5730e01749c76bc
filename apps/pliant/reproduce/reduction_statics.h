#pragma once

#include "pliant/reduction/sketch.h"
#include "reduction_models.h"
#include "report.h"

#include <span>
#include <vector>

namespace pliant::reproduce {

// Equilibria that the spoon and the bridge share.

/// A sketch and what became of it.
struct SketchRun {
    std::vector<SketchLoad> loads;  ///< recorded
    Sketch sketch;
    int num_solved = 0;  ///< loads kept
    double seconds = 0;  ///< CPU time of all static solves
};
/// `model`: the sample's, or one of the same mesh and stiffness at rest.
[[nodiscard]] SketchRun run_sketch(const Sample& sample, const FemModel& model,
                                   std::vector<SketchLoad> loads, const SketchOptions& options);

struct PublishedSketch {
    int num_solved, num_shapes;
    double seconds;
};
/// The published sketch beside ours; the time of one static solve is judged.
void add_sketch_table(Section& page, const PublishedSketch& published, const SketchRun& ours);

/// Shapes 3n × loads.size() of a body in the subspace U under loads[i] · f, each from the one
/// before; NaN where no equilibrium was found.
[[nodiscard]] Eigen::MatrixXd reduced_equilibria(const FemModel& model, const Eigen::MatrixXd& U,
                                                 const Eigen::VectorXd& f,
                                                 std::span<const double> loads);

}  // namespace pliant::reproduce
