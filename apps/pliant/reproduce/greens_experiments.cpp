#include "greens_experiments.h"

namespace pliant::reproduce {

ExperimentPage greens_page() {
    return {
        .module = "greens",
        .title = "Green's functions: exact contact compliance",
        .experiments = {
            {"analytic", "Boundary elements against known solutions", 8, run_boundary_cases},
            {"reciprocity", "Reciprocity level by level", 30, run_reciprocity},
            {"methods", "Finite against boundary elements of one body", 8, run_greens_methods},
            {"precomputation", "Green's functions of the published sizes", 35,
             run_greens_precomputation},
            {"stiffness", "Stiffness under refinement", 12, run_stiffness_refinement},
            {"masks", "Radius of the pressure mask", 2, run_mask_radii},
            {"suboperations", "What a solve is made of", 2, run_suboperations},
            {"updates", "Updating an inverse against inverting anew", 4, run_inverse_updates},
            {"cost-ratios", "Where updating pays", 4, run_cost_ratios},
            {"cost-model", "Predicted and measured cost", 8, run_cost_model},
            {"sequence", "A contact that moves, jumps and comes back", 4, run_contact_sequences},
            {"strokes", "Strokes over the kidney", 4, run_kidney_strokes},
        }};
}

}  // namespace pliant::reproduce
