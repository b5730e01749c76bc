#pragma once

#include "experiment.h"

namespace pliant::reproduce {

/// A virtual hand on the soft cantilever, full finite elements.
void run_virtual_hand(Context& context);

}  // namespace pliant::reproduce
