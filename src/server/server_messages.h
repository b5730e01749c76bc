#pragma once

#include "pliant/server/viewer_server.h"
#include "server/scene_assets.h"
#include "server/viewed_world.h"

#include <span>
#include <string>

namespace pliant {

// Text messages, docs/server.md section "Messages of the server".

[[nodiscard]] std::string hello_message(const ViewedWorld& viewed, const SceneAssets& assets,
                                        const std::vector<SceneChoice>& scenes, bool steers);

/// What statistics say beside the loops.
struct ServerStatus {
    std::size_t num_viewers = 0;
    bool steers = false;
    bool is_asked = false;                           ///< another viewer wants to steer
    std::string recording;                           ///< name of the file; empty: none
    bool is_sketching = false, is_building = false;  ///< a sketch, and its model
    std::size_t num_loads = 0;                       ///< of the sketch
    std::uint64_t num_malformed = 0;
};
[[nodiscard]] std::string stats_message(ViewedWorld& viewed, const ServerStatus& status);

[[nodiscard]] std::string parameter_message(const std::string& name, double value);
/// `remaining` [s] is negative while it is not known.
[[nodiscard]] std::string progress_message(const std::string& stage, double fraction,
                                           double remaining);
[[nodiscard]] std::string notice_message(const char* level, const std::string& text);
[[nodiscard]] std::string pong_message(double id);

/// One line for a terminal; `haptic`: of the first loop.
[[nodiscard]] std::string status_text(const ViewedWorld& viewed, const LoopTimes& haptic,
                                      std::size_t num_viewers);

}  // namespace pliant
