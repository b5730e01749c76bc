#include "greens_experiments.h"

namespace pliant::reproduce {

ExperimentPage greens_page() {
    return {
        .module = "greens",
        .title = "Green's functions: exact contact compliance",
        .experiments = {
            {"analytic", "Boundary elements against known solutions", 5, run_boundary_cases},
            {"reciprocity", "Reciprocity level by level", 27, run_reciprocity},
            {"methods", "Finite against boundary elements of one body", 6, run_greens_methods},
            {"precomputation", "Green's functions of the published sizes", 36,
             run_greens_precomputation},
            {"stiffness", "Stiffness under refinement", 14, run_stiffness_refinement},
            {"masks", "Radius of the pressure mask", 1, run_mask_radii},
            {"suboperations", "What a solve is made of", 1, run_suboperations},
            {"updates", "Updating an inverse against inverting anew", 2, run_inverse_updates},
            {"cost-ratios", "Where updating pays", 1, run_cost_ratios},
            {"cost-model", "Predicted and measured cost", 4, run_cost_model},
            {"sequence", "A contact that moves, jumps and comes back", 3, run_contact_sequences},
            {"strokes", "Strokes over the kidney", 4, run_kidney_strokes},
            {"measured", "Columns from probes", 5, run_measured_models},
        }};
}

}  // namespace pliant::reproduce
