#pragma once

#include "arguments.h"

namespace pliant::cli {

/// `pliant reproduce all`: every page and an index of what was published, in one folder. Each
/// experiment is kept when it ends, so that the same command continues after an interruption.
int reproduce_all(const Arguments& arguments);

}  // namespace pliant::cli
