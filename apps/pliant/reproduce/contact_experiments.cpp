#include "contact_experiments.h"

namespace pliant::reproduce {

ExperimentPage contact_page() {
    return {"contact",
            "Contact: published and measured",
            {
                {"configurations", "The four published pairs", 65, run_configurations},
                {"convergence", "Force under refinement of the shell", 30, run_convergence},
                {"asymmetry", "Shell and field exchanged", 12, run_asymmetry},
                {"bumps", "Six bumps under a sliding bar", 3, run_bumps},
                {"degradation", "A press within a budget", 10, run_degradation},
                {"insertion", "Peg and hole under a budget", 15, run_insertion},
                {"coherence", "Temporal coherence", 1, run_coherence},
                {"deformed-field", "Deformed fields with one and several domains", 8,
                 run_deformed_field},
                {"normals", "Normals of bent shells", 12, run_normals},
                {"generators", "Other ways to place points", 4, run_generators},
                {"voxmap", "Voxmap and field", 4, run_voxmap},
                {"cables", "Cables of the bridge", 24, run_cables},
                {"bent-hose", "A hose straight and bent", 8, run_bent_hose},
                {"rest", "Resting, sliding, rolling and stacked for a minute", 10, run_rest},
            }};
}

}  // namespace pliant::reproduce
