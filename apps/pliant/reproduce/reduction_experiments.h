#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page; each in its own file.
void run_spoon(Context& context);
void run_serpent(Context& context);
void run_beam(Context& context);
void run_sketch_bases(Context& context);
void run_vibration(Context& context);
void run_steps(Context& context);
void run_precomputation(Context& context);
void run_materials(Context& context);
void run_baskets(Context& context);

}  // namespace pliant::reproduce
