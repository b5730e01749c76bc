#include <algorithm>
#include <cmath>

#include "experiment.h"

namespace pliant::reproduce {

void Context::done(double fraction) {
    const auto units = static_cast<std::size_t>(
        std::floor(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(share_)));
    progress_.advance(units > reported_ ? units - reported_ : 0);
    reported_ = std::max(reported_, units);
}

std::vector<Experiment> fem_experiments() {
    return {
        {"strain", "Linear and quadratic strain", 1, run_strain},
        {"compression", "One cube in compression", 1, run_compression},
        {"orderings", "Eighteen systems, six orderings", 24, run_orderings},
        {"impact", "Impact of a bar", 1, run_impact},
        {"bounce", "Bounce, slide and stick", 1, run_bounce},
        {"collision", "Collision of two soft bodies", 2, run_collision},
        {"penalty", "Constraint and penalty springs", 1, run_penalty},
        {"realtime", "Elements in real time, explicit and implicit", 9, run_realtime},
        {"graded", "Uniform and graded meshes", 13, run_graded},
        {"viscoelastic", "Viscoelastic damping with three steps", 1, run_viscoelastic},
        {"stability", "Stability and order", 3, run_stability},
    };
}

}  // namespace pliant::reproduce
