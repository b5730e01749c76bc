#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page.
void run_boundary_cases(Context& context);
void run_reciprocity(Context& context);
void run_greens_methods(Context& context);
void run_greens_precomputation(Context& context);
void run_stiffness_refinement(Context& context);
void run_mask_radii(Context& context);
void run_suboperations(Context& context);
void run_inverse_updates(Context& context);
void run_cost_ratios(Context& context);
void run_cost_model(Context& context);
void run_contact_sequences(Context& context);
void run_kidney_strokes(Context& context);
void run_measured_models(Context& context);

}  // namespace pliant::reproduce
