#include "wavelets_experiments.h"

#include "wavelets_large.h"

namespace pliant::reproduce {

ExperimentPage wavelets_page() {
    return {.module = "wavelets",
            .title = "Green's functions in wavelets",
            .experiments = {
                {"patterns", "What is kept of a small body", 1, run_wavelet_patterns},
                {"gallery", "Responses before and after", 60, run_wavelet_gallery},
                {"rabbit", "Error and compression of the rabbit", 60, run_rabbit_curves},
                {"finger", "Error and compression of a finger", 10, run_finger_curves},
                {"levels", "Columns of coarser levels", 15, run_level_curves},
                {"measured", "Error and compression of measured columns", 5, run_measured_curves},
                {"summation", "Time of a sum", 5, run_wavelet_sums},
                {"operators", "Compressed matrices against exact ones", 60, run_operator_errors},
                {"products", "Products of the iterative solver", 20, run_solver_products},
                {"serpent", "Level 0 of a body of 9,920 vertices", 75, run_serpent_columns},
                {"scaling", "Products of growing bodies", 60, run_operator_scaling, true},
                {"large", "Level 0 of closed tubes", 180, run_large_bodies, true},
            }};
}

}  // namespace pliant::reproduce
