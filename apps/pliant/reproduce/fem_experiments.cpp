#include "fem_experiments.h"

namespace pliant::reproduce {

ExperimentPage fem_page() {
    return {"fem",
            "Nonlinear FEM: published and measured",
            {
                {"strain", "Linear and quadratic strain", 1, run_strain},
                {"statics", "Rigid rotation and static solves", 1, run_statics},
                {"compression", "One cube in compression", 1, run_compression},
                {"orderings", "Eighteen systems, six orderings", 24, run_orderings},
                {"impact", "Impact of a bar", 1, run_impact},
                {"bounce", "Bounce, slide and stick", 1, run_bounce},
                {"collision", "Collision of two soft bodies", 2, run_collision},
                {"penalty", "Constraint and penalty springs", 1, run_penalty},
                {"realtime", "Elements in real time, explicit and implicit", 9, run_realtime},
                {"graded", "Uniform and graded meshes", 13, run_graded},
                {"graded-tets", "Conforming graded tetrahedra", 4, run_graded_tets},
                {"viscoelastic", "Viscoelastic damping with three steps", 1, run_viscoelastic},
                {"stability", "Stability and order", 3, run_stability},
            }};
}

}  // namespace pliant::reproduce
