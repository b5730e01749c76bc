#pragma once

#include "experiment.h"

namespace pliant::reproduce {

// In the order of the page.
void run_wavelet_patterns(Context& context);
void run_wavelet_gallery(Context& context);
void run_rabbit_curves(Context& context);
void run_finger_curves(Context& context);
void run_level_curves(Context& context);
void run_measured_curves(Context& context);
void run_wavelet_sums(Context& context);
void run_serpent_columns(Context& context);

}  // namespace pliant::reproduce
