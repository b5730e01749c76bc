#pragma once

#include "pliant/scene/body_watch.h"
#include "pliant/server/viewer_message.h"
#include "pliant/server/viewer_server.h"
#include "server/field_slices.h"
#include "server/frame_stream.h"
#include "server/scene_assets.h"
#include "server/scene_opener.h"
#include "server/sketch_recorder.h"
#include "server/viewed_world.h"
#include "server/viewer_session.h"

#include <atomic>
#include <latch>
#include <mutex>

namespace pliant {

/// Between the viewers and the world: who steers, who gets which frame when, what is opened and
/// recorded. Knows a network only as a function that sends, and time only as it is told; one
/// thread, but for the questions at the end.
class ViewerHub {
public:
    using Client = WebServer::Client;
    /// False: the message was not taken.
    using Send = std::function<bool(Client client, const SharedBytes& message, bool is_text)>;

    /// A steering viewer that does nothing and holds nothing for this long may be relieved [s].
    static constexpr double kIdleSteering = 30;

    ViewerHub(std::unique_ptr<ViewedWorld> viewed, const ViewerOptions& options, Send send);
    ~ViewerHub();

    // Handlers of a web server; `now` is the server clock [s].
    /// What is for viewers alone: everything but the files of the page.
    [[nodiscard]] HttpReply get(std::string_view path);
    void opened(Client client, double now);
    void received(Client client, std::span<const std::byte> message, bool is_text, double now);
    /// Nothing is heard of it: it lets go, and gives way to a viewer that asks to steer.
    void silent(Client client, double now);
    /// It answers again: nobody takes over from it unasked any more.
    void heard(Client client);
    void closed(Client client, double now);
    void tick(double now);

    // Any thread.
    /// Finishes the recording at the next tick, whatever happens in that, and waits for it; no
    /// other one begins. Not from handlers.
    void finish_recording();
    [[nodiscard]] std::string status_line() const;
    [[nodiscard]] std::vector<LoopTimes> loop_times() const;
    /// What recordings lost so far, a sentence each.
    [[nodiscard]] std::vector<std::string> losses() const;
    [[nodiscard]] std::vector<std::string> troubles() const;
    [[nodiscard]] std::uint64_t malformed_messages() const noexcept { return num_malformed_; }

private:
    struct Viewer {
        Client client = 0;
        ViewerSession session;
        bool asks_to_steer = false, is_silent = false;
    };

    /// Reduced coordinates of a body in the newest frame.
    [[nodiscard]] Eigen::VectorXd shape_of(int body);
    [[nodiscard]] Viewer* find(Client client);
    [[nodiscard]] bool steers(const Viewer& viewer) const { return &viewer == viewers_[0].get(); }
    void say_all(const std::string& message);
    void notice(const char* level, const std::string& text);
    void send_stats(Viewer& viewer);

    void handle(Viewer& viewer, const CommandMessage& message, double now);
    void handle(Viewer& viewer, const AcknowledgeMessage& message, double now);
    void handle(Viewer& viewer, const ControlMessage& message, double now);
    void steer(const ControlMessage& message);
    void hurry(Viewer& viewer);
    void show_again(Viewer& viewer);
    void set_parameter(const CommandMessage& message);
    void set_parameter(int index, double value);
    [[nodiscard]] bool is_possible(const Command& command) const;
    void ask_to_steer(Viewer& viewer, double now);
    void give_way(double now);
    void hand_over(std::size_t to, double now);
    [[nodiscard]] bool holds() const { return held_slots_ != 0 || held_tool_.has_value(); }
    void release_all();
    void forget_held();
    void send_releases();

    void show(std::unique_ptr<ViewedWorld> viewed, double now);
    void open(const std::string& name);
    void poll_opener(double now);
    void start_recording();
    /// If there is one; what it lost is told.
    void stop_recording();
    void check_recording();
    void check_lost_records(const std::string& name);
    /// Until it is closed on every page, and for losses().
    void tell_loss(const std::string& sentence);
    void start_sketch();
    /// And of the model that is built from one.
    void cancel_sketch();
    void end_sketch();
    void build_sketch(int rank);

    /// Looks at the bodies of a loop and at its rate, and says what is new.
    void watch(int loop, const LoopFrame& frame);

    void send_frame(Viewer& viewer, double now);
    void send_samples();

    ViewerOptions options_;
    Send send_;
    std::unique_ptr<ViewedWorld> viewed_;
    std::unique_ptr<SceneAssets> assets_;
    std::unique_ptr<FieldSlices> slices_;
    std::unique_ptr<BodyWatch> watch_;
    std::vector<char> is_slow_;  // of each loop, and that was said
    SceneOpener opener_;
    std::string recording_;      // name of the file; empty: none
    bool lost_records_ = false;  // told of this recording
    std::atomic<bool> wants_finish_{false};
    std::latch is_finished_{1};  // the recording, once that is wanted
    std::optional<SketchRecorder> sketch_;
    std::size_t num_built_loads_ = 0;  // 0: the opener is not building a sketch's model

    // in the order they came; the first steers
    std::vector<std::unique_ptr<Viewer>> viewers_;
    // bits: what the steering viewer holds, and what must still be let go for one that has left
    unsigned held_slots_ = 0, slots_to_release_ = 0;
    // the same of buttons of the tool: where it was when they went down
    std::optional<Command> held_tool_, tool_to_release_;
    double last_command_ = 0;

    FrameStream stream_;
    std::vector<SharedBytes> beside_;  // the frame that is sent
    std::vector<TickSample> samples_;
    double next_samples_ = 0, next_stats_ = 0, next_watch_ = 0, next_progress_ = 0;

    std::atomic<std::uint64_t> num_malformed_{0};
    mutable std::mutex status_mutex_;  // of server and asking threads, never of a loop
    std::string status_;
    std::vector<LoopTimes> loop_times_;
    std::vector<std::string> losses_;
    std::vector<std::string> troubles_;
};

}  // namespace pliant
