#pragma once

#include "net/access.h"

#include <string>

namespace pliant {

struct ListeningSocket {
    int descriptor = -1;  ///< owned by the caller
    bool is_v6 = false;
    ServedAddress served;  ///< with the port that was found when 0 was asked for
};

/// Throws InputError when the address is none of this machine's, or the port is taken.
[[nodiscard]] ListeningSocket listen_on(const std::string& address, int port);

}  // namespace pliant
