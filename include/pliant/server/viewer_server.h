#pragma once

#include "pliant/net/web_server.h"
#include "pliant/scene/engine.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

/// A scene that the page offers.
struct SceneChoice {
    std::string name, description;
};

/// Ticks of a loop so far; docs/scene.md section "Late ticks".
struct LoopTimes {
    std::string name;
    double rate = 0;  ///< [Hz]
    TickHistogram::Summary work, lateness;
    std::uint64_t skipped = 0;
    /// Part of the ticks that began within 0.1 ms of when they were due; 1 without any.
    [[nodiscard]] double on_time() const noexcept;
};

struct ViewerOptions {
    WebServerOptions web;
    EngineOptions engine;
    std::vector<SceneChoice> scenes;
    /// Makes the world of a chosen scene; runs on a thread of its own, may throw InputError and
    /// Cancelled. The old scene goes on until the new one is ready.
    std::function<std::unique_ptr<World>(const std::string& name, Progress& progress)> open_scene;
    std::filesystem::path recordings = ".";  ///< folder of recordings made from the page
    std::filesystem::path record;            ///< recorded there from the start; empty: not
    double speed = 1;                        ///< at the start, as Engine::set_speed
};

/// The page, the data it draws, and its way to the engine; docs/server.md. Everything runs on the
/// web server's thread and only reads what loops have published: slow, vanished or hostile clients
/// never reach a tick.
class ViewerServer {
public:
    /// Runs the world at once. Throws InputError when the port is taken.
    ViewerServer(std::unique_ptr<World> world, const ViewerOptions& options);
    /// Shows a recording instead: played, paused and searched from the page.
    ViewerServer(Recording recording, std::unique_ptr<World> world, const ViewerOptions& options);
    ~ViewerServer();
    ViewerServer(const ViewerServer&) = delete;
    ViewerServer& operator=(const ViewerServer&) = delete;

    [[nodiscard]] std::string url() const;  ///< for a browser on this machine
    /// As WebServer::network_urls, is_open_to_network.
    [[nodiscard]] std::vector<std::string> network_urls() const;
    [[nodiscard]] bool is_open_to_network() const noexcept;
    /// What the loops were granted, Engine::scheduling(); of the first world.
    [[nodiscard]] const std::string& scheduling() const noexcept;
    /// One line for a terminal: ticks, percentiles, missed, viewers. Any thread.
    [[nodiscard]] std::string status_line() const;
    /// Of all loops, at most 0.2 s old. Any thread.
    [[nodiscard]] std::vector<LoopTimes> loop_times() const;
    /// What recordings lost so far, a sentence each: a full disk, a removed file. Pages say it too.
    /// Any thread.
    [[nodiscard]] std::vector<std::string> losses() const;
    /// Finishes the recording that is being made, so that losses() are all. Not from handlers.
    void finish_recording();
    /// Bodies that are not well, BodyWatch::texts(), at most 1 s old. Any thread.
    [[nodiscard]] std::vector<std::string> troubles() const;
    [[nodiscard]] WebServerCounts counts() const noexcept;
    [[nodiscard]] std::uint64_t malformed_messages() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
