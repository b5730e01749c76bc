#pragma once

namespace pliant {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace pliant
