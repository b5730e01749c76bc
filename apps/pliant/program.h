#pragma once

#include "arguments.h"

namespace pliant::cli {

/// Runs the command that the words name; what goes wrong becomes one line and an exit code.
int run_program(const std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace pliant::cli
