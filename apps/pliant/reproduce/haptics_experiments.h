#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page.
void run_alpha_puzzle(Context& context);
void run_alpha_pushes(Context& context);
void run_long_pole(Context& context);
void run_long_rod(Context& context);
void run_couplings(Context& context);
void run_solves(Context& context);
void run_limits(Context& context);
void run_felt_bumps(Context& context);
void run_felt_degradation(Context& context);
void run_virtual_hand(Context& context);
void run_delay(Context& context);
void run_demo_depth(Context& context);
void run_demo_ticks(Context& context);
void run_stability_suite(Context& context);
void run_demo_stability(Context& context);

}  // namespace pliant::reproduce
