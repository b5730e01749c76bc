#pragma once

#include "pliant/scene/recording.h"

#include <vector>

namespace pliant {

/// The bodies of a world whose states are in the recording, in its order. Throws InputError when
/// one is missing or has a state of another size.
[[nodiscard]] std::vector<Body*> recorded_bodies(const Recording& recording, World& world);

}  // namespace pliant
