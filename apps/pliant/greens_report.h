#pragma once

#include "pliant/core/json_writer.h"
#include "pliant/greens/greens_model.h"

namespace pliant::cli {

/// What is in a model with Green's functions: lines for people, members for programs.
void print_greens(const GreensModel& model);
void write_greens(const GreensModel& model, JsonWriter& json);

}  // namespace pliant::cli
