#pragma once

#include <string>
#include <vector>

namespace pliant {

/// The known name with the fewest typing errors from `name` (insertions, deletions, replacements
/// and swaps of neighbouring letters; case does not count), or a name of which `name` is the
/// beginning; empty when nothing is near. The first of equals wins.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& known);

}  // namespace pliant
