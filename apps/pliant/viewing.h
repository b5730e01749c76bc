#pragma once

#include "arguments.h"
#include "pliant/server/viewer_server.h"

#include <functional>
#include <memory>
#include <vector>

namespace pliant::cli {

/// Options of commands that show something in the viewer.
[[nodiscard]] const std::vector<Option>& viewing_options();

/// Where the viewer will be, checked before anything slow. Throws InputError when this build has no
/// page or the port is taken.
[[nodiscard]] WebServerOptions viewer_address(const Arguments& arguments);

/// Prints the address and the hints, opens a browser where there is a desktop and says when it does
/// not come, and serves until Ctrl-C, SIGTERM, SIGHUP or the end of `--duration`. `headline` is
/// what runs, "Running at 1000 Hz"; `hints` what keys do. Says at once what recordings lose;
/// returns the exit code, which is not 0 then.
[[nodiscard]] int serve_viewer(const Arguments& arguments, const std::string& headline,
                               const std::string& hints,
                               const std::function<std::unique_ptr<ViewerServer>()>& start);

}  // namespace pliant::cli
