#pragma once

#include "pliant/core/json_writer.h"
#include "pliant/particles/particle_model.h"

namespace pliant::cli {

void print_particles(const ParticleModel& model);
/// As member "particles".
void write_particles(const ParticleModel& model, JsonWriter& json);

}  // namespace pliant::cli
