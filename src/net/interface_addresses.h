#pragma once

#include <string>
#include <vector>

namespace pliant {

/// Addresses of this machine by which others can reach it now: not the loopback, and none that
/// needs the name of an interface beside it (fe80::…), which browsers do not take. Version 4 first.
[[nodiscard]] std::vector<std::string> interface_addresses();

}  // namespace pliant
