#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// Large bodies, docs/greens-large.md.
void run_operator_errors(Context& context);
void run_solver_products(Context& context);
void run_operator_scaling(Context& context);
void run_large_bodies(Context& context);

}  // namespace pliant::reproduce
