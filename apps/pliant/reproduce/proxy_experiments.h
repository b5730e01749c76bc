#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page.
void run_falling_cloth(Context& context);
void run_fold(Context& context);
void run_pop_out_times(Context& context);
void run_pop_out_failures(Context& context);
void run_fish_tail(Context& context);
void run_fish_stroke(Context& context);
void run_four_fish(Context& context);
void run_sides(Context& context);
void run_trials(Context& context);
void run_all_trials(Context& context);
void run_fine_stroke(Context& context);
void run_edges(Context& context);
void run_wedge(Context& context);
void run_plane_rates(Context& context);
void run_hand_curtain(Context& context);
void run_proxy_counts(Context& context);
void run_tool_drag(Context& context);
void run_tool_limits(Context& context);

}  // namespace pliant::reproduce
