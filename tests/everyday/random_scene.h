#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Scenes that somebody might write who has read one page of the docs: things of all kinds, materials
// and sizes are let fall on the ground and pushed, with defaults only.

namespace pliant::test {

/// What a person knows beforehand about one body of a random scene.
struct RandomBody {
    std::string name;
    std::string kind;     ///< "rigid", "fem", "reduced", "particles"
    double size = 0;       ///< longest side [m]
    bool is_held = false;  ///< stays where it is fixed
};

struct RandomScene {
    std::string text;  ///< JSON
    std::vector<RandomBody> bodies;
};

/// The same seed gives the same scene on every machine.
[[nodiscard]] RandomScene random_scene(std::uint64_t seed);

}  // namespace pliant::test
