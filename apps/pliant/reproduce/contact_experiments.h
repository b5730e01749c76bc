#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page; each in its own file.
void run_configurations(Context& context);
void run_convergence(Context& context);
void run_asymmetry(Context& context);
void run_bumps(Context& context);
void run_degradation(Context& context);
void run_insertion(Context& context);
void run_coherence(Context& context);
void run_deformed_field(Context& context);
void run_normals(Context& context);
void run_generators(Context& context);
void run_voxmap(Context& context);
void run_cables(Context& context);
void run_bent_hose(Context& context);
void run_rest(Context& context);

}  // namespace pliant::reproduce
