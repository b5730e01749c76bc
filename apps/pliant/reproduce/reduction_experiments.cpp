#include "reduction_experiments.h"

namespace pliant::reproduce {

ExperimentPage reduction_page() {
    return {
        "reduction",
        "Reduced models: published and measured",
        {
            {"spoon", "Spoon: an impulse in three subspaces, and an extreme bend", 70, run_spoon},
            {"serpent", "Serpent: size of the subspace", 90, run_serpent},
            {"beam", "Beam: extreme shapes from few vectors", 11, run_beam},
            {"sketch", "Bridge: derivatives and sketches", 60, run_sketch_bases},
            {"vibration", "Tower and heart: spectra and free vibration", 45, run_vibration},
            {"steps", "Cost of a step, and its limits", 6, run_steps},
            {"precomputation", "Precomputation, fill and storage", 63, run_precomputation},
            {"materials", "Materials edited at run time", 4, run_materials},
            {"baskets", "512 free baskets in a heap", 140, run_baskets},
        }};
}

}  // namespace pliant::reproduce
