#include "proxy_experiments.h"

namespace pliant::reproduce {

ExperimentPage proxy_page() {
    return {.module = "proxy",
            .title = "Proxies: spheres that moving surfaces never lose",
            .experiments = {
                {"cloth", "Catching a falling cloth", 2, run_falling_cloth},
                {"fold", "Pop-out in a deep fold", 2, run_fold},
                {"pop-out-times", "Pop-out, time by triangles and rounds", 2, run_pop_out_times},
                {"failures", "Where pop-out finds no room", 1, run_pop_out_failures},
                {"fish-tail", "Holding the tail of a fish", 5, run_fish_tail},
                {"fish-stroke", "Stroking a fish", 3, run_fish_stroke},
                {"four-fish", "Four fish, time by phases", 8, run_four_fish},
                {"sides", "Rough sheets that cross a sphere in one step", 10, run_sides},
                {"trials", "Closed surfaces and sheets that move anyhow", 45, run_trials},
                {"all-trials", "Closed surfaces and sheets, 5,000 trials of each", 900,
                 run_all_trials, true},
                {"stroke", "Stroking 70,000 triangles", 6, run_fine_stroke},
                {"edges", "Around a convex edge", 1, run_edges},
                {"wedge", "In a wedge of one degree", 1, run_wedge},
                {"rates", "Constraint planes at low rates of the body", 4, run_plane_rates},
                {"curtain", "A hand of many spheres on a curtain", 6, run_hand_curtain},
                {"proxies", "From 1 to 50 spheres", 6, run_proxy_counts},
                {"drag", "Tools at one and at two rates", 1, run_tool_drag},
                {"tools", "What tools of spheres lose, and what they do not", 1, run_tool_limits},
            }};
}

}  // namespace pliant::reproduce
