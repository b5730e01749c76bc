#pragma once

#include "contact_samples.h"

namespace pliant::reproduce {

/// The serpent pressed on the figure by a script of 1 kHz: it comes, touches, is pressed in and
/// slides, and goes. Made once for the experiments that replay it.
struct Press {
    Solid solid;          ///< the serpent
    PointTree tree;       ///< rigid
    PointTree soft_tree;  ///< the same points, r = 15
    std::shared_ptr<const DistanceField> field;
    std::vector<Pose> poses;  ///< of the shell in the axes of the field
};
[[nodiscard]] const Press& press_sample(bool is_quick);

}  // namespace pliant::reproduce
