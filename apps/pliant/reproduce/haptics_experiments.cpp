#include "haptics_experiments.h"

namespace pliant::reproduce {

ExperimentPage haptics_page() {
    return {
        .module = "haptics",
        .title = "Haptics: what the hand feels",
        .experiments = {
            {"alpha-puzzle", "Alpha puzzle, solved along a path", 8, run_alpha_puzzle},
            {"alpha-pushes", "Alpha puzzle, 10,000 tries without the path", 50, run_alpha_pushes},
            {"pole", "A long pole, held in the middle and at its end", 3, run_long_pole},
            {"rod", "A long rod with and without a limit of the torque", 5, run_long_rod},
            {"couplings", "Static, dynamic and no coupling", 2, run_couplings},
            {"solves", "LU and decomposition", 2, run_solves},
            {"limits", "What each limit is for", 8, run_limits},
            {"bumps", "Six bumps as felt at the handle", 4, run_felt_bumps},
            {"degradation", "A press within a budget as felt at the handle", 12,
             run_felt_degradation},
            {"virtual-hand", "A virtual hand on a soft cantilever, full FEM", 20, run_virtual_hand},
            {"delay", "Delay that soft and stiff bodies tolerate", 2, run_delay},
            {"demo-depth", "Depth in the demos, with and without force feedback", 90,
             run_demo_depth},
            {"ticks", "Times of haptic cycles in the demos", 30, run_demo_ticks},
            {"stability", "Closed loops with hands from loose to firm", 90, run_stability_suite},
            {"demo-stability", "The demos in hands from loose to firm", 1200, run_demo_stability},
        }};
}

}  // namespace pliant::reproduce
