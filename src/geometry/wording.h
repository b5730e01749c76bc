#pragma once

#include <string>

namespace pliant {

/// `1 open edge`, `12 open edges`.
inline std::string counted(int count, const std::string& singular, const std::string& plural) {
    return std::to_string(count) + " " + (count == 1 ? singular : plural);
}

}  // namespace pliant
