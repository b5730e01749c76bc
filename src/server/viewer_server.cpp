#include "pliant/server/viewer_server.h"

#include <chrono>
#include <ctime>
#include <latch>

#include "server/page_files.h"
#include "server/page_reply.h"
#include "server/recording_folder.h"
#include "server/viewer_hub.h"

namespace pliant {

namespace {

std::unique_ptr<ViewedWorld> start_live(std::unique_ptr<World> world,
                                        const ViewerOptions& options) {
    std::unique_ptr<ViewedWorld> live = make_live_world(std::move(world), options.engine);
    live->set_speed(options.speed);
    if (!options.record.empty())
        live->start_recording(options.record, iso_time(std::time(nullptr)));
    return live;
}

}  // namespace

struct ViewerServer::Impl {
    Impl(std::unique_ptr<ViewedWorld> viewed, const ViewerOptions& options)
        : scheduling(viewed->scheduling()),
          hub(std::move(viewed), options,
              [this](WebServer::Client client, const SharedBytes& message, bool is_text) {
                  return web->send(client, message, is_text);
              }) {
        web = std::make_unique<WebServer>(options.web, handlers());
        is_ready.count_down();
    }

    WebServer::Handlers handlers() {
        using Client = WebServer::Client;
        WebServer::Handlers handlers;
        handlers.get = [this](std::string_view path) {
            is_ready.wait();
            return hub.get(path);
        };
        handlers.get_public = [](std::string_view path) { return page_reply(page_files(), path); };
        handlers.opened = [this](Client client) {
            is_ready.wait();
            hub.opened(client, clock());
        };
        handlers.received = [this](Client client, std::span<const std::byte> message,
                                   bool is_text) {
            hub.received(client, message, is_text, clock());
        };
        handlers.silent = [this](Client client) { hub.silent(client, clock()); };
        handlers.heard = [this](Client client) { hub.heard(client); };
        handlers.closed = [this](Client client) { hub.closed(client, clock()); };
        handlers.tick = [this] {
            is_ready.wait();
            hub.tick(clock());
        };
        // what an input does is on its way within this time of being published
        handlers.interval = std::chrono::milliseconds(2);
        return handlers;
    }

    [[nodiscard]] double clock() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    std::latch is_ready{1};  // handlers may be called before `web` is set
    const std::string scheduling;
    ViewerHub hub;
    // last, so that it ends first; its handlers use the pointer until then
    std::unique_ptr<WebServer> web;
};

double LoopTimes::on_time() const noexcept {
    if (lateness.count == 0) return 1;
    return 1 - static_cast<double>(lateness.missed) / static_cast<double>(lateness.count);
}

ViewerServer::ViewerServer(std::unique_ptr<World> world, const ViewerOptions& options)
    : impl_(std::make_unique<Impl>(start_live(std::move(world), options), options)) {}

ViewerServer::ViewerServer(Recording recording, std::unique_ptr<World> world,
                           const ViewerOptions& options)
    : impl_(std::make_unique<Impl>(make_replayed_world(std::move(recording), std::move(world)),
                                   options)) {}

ViewerServer::~ViewerServer() = default;

void ViewerServer::finish_recording() { impl_->hub.finish_recording(); }
std::vector<std::string> ViewerServer::losses() const { return impl_->hub.losses(); }
std::string ViewerServer::url() const { return impl_->web->url(); }
std::vector<std::string> ViewerServer::network_urls() const { return impl_->web->network_urls(); }
bool ViewerServer::is_open_to_network() const noexcept { return impl_->web->is_open_to_network(); }
const std::string& ViewerServer::scheduling() const noexcept { return impl_->scheduling; }
std::string ViewerServer::status_line() const { return impl_->hub.status_line(); }
std::vector<LoopTimes> ViewerServer::loop_times() const { return impl_->hub.loop_times(); }
std::vector<std::string> ViewerServer::troubles() const { return impl_->hub.troubles(); }
WebServerCounts ViewerServer::counts() const noexcept { return impl_->web->counts(); }
std::uint64_t ViewerServer::malformed_messages() const noexcept {
    return impl_->hub.malformed_messages();
}

}  // namespace pliant
