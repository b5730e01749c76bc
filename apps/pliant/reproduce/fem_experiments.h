#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page; each in its own file.
void run_strain(Context& context);
void run_statics(Context& context);
void run_compression(Context& context);
void run_orderings(Context& context);
void run_impact(Context& context);
void run_bounce(Context& context);
void run_collision(Context& context);
void run_penalty(Context& context);
void run_realtime(Context& context);
void run_graded(Context& context);
void run_graded_tets(Context& context);
void run_viscoelastic(Context& context);
void run_stability(Context& context);

}  // namespace pliant::reproduce
