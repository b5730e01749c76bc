#pragma once

#include "pliant/contact/point_tree.h"

namespace pliant {

/// The nodes of a level along a z-curve through their points at rest, so that those asked together
/// lie together in a field.
[[nodiscard]] std::vector<int> sweep_order(const PointTree& tree, int level);

}  // namespace pliant
