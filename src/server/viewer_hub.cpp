#include "server/viewer_hub.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

#include "pliant/core/error.h"
#include "server/page_reply.h"
#include "server/recording_folder.h"
#include "server/server_messages.h"

namespace pliant {
namespace {

constexpr double kStatsInterval = 0.2, kProgressInterval = 0.2,
                 kWatchInterval = 1;  // [s]
/// Work of a loop before its rate is judged [µs].
constexpr double kJudgedWork = 5e5;

/// Takes a prefix off; false: it is not there.
bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// Lets those go on who wait for a latch, however its scope ends.
struct CountDown {
    std::latch* latch;  // null: none
    ~CountDown() {
        if (latch != nullptr) latch->count_down();
    }
};

}  // namespace

ViewerHub::ViewerHub(std::unique_ptr<ViewedWorld> viewed, const ViewerOptions& options, Send send)
    : options_(options), send_(std::move(send)) {
    recording_ = options.record.filename().string();
    show(std::move(viewed), 0);
}

ViewerHub::~ViewerHub() = default;

HttpReply ViewerHub::get(std::string_view path) {
    if (!take_prefix(path, "/api/")) return not_found();
    if (path == "scene")
        return {.status = 200,
                .content_type = "application/json",
                .body = shared_text(viewed_->world().scene().text)};
    if (path == "recordings") return list_recordings(options_.recordings);
    if (take_prefix(path, "recording/")) return read_recording(options_.recordings, path);
    if (take_prefix(path, "contact/"))
        return slices_->get(path, [this](int body) { return shape_of(body); });
    SharedBytes data;
    if (take_prefix(path, "asset/")) data = assets_->find(path);
    if (data == nullptr) return not_found();
    return {.status = 200, .content_type = "application/octet-stream", .body = std::move(data)};
}

Eigen::VectorXd ViewerHub::shape_of(int body) {
    const BodyStream& stream = assets_->streams()[static_cast<std::size_t>(body)];
    const float* const q =
        viewed_->frame(stream.loop).display.data() + stream.loop_offset + kPoseFloats;
    return Eigen::Map<const Eigen::VectorXf>(q, stream.rank).cast<double>();
}

ViewerHub::Viewer* ViewerHub::find(Client client) {
    const auto found = std::find_if(viewers_.begin(), viewers_.end(),
                                    [&](const auto& viewer) { return viewer->client == client; });
    return found == viewers_.end() ? nullptr : found->get();
}

void ViewerHub::opened(Client client, double now) {
    auto send = [this, client](const SharedBytes& message, bool is_text) {
        return send_(client, message, is_text);
    };
    viewers_.push_back(std::make_unique<Viewer>(
        Viewer{.client = client, .session = ViewerSession(send), .asks_to_steer = false}));
    Viewer& viewer = *viewers_.back();
    if (steers(viewer)) last_command_ = now;
    viewer.session.send_text(
        shared_text(hello_message(*viewed_, *assets_, options_.scenes, steers(viewer))));
    for (const std::string& loss : losses())
        viewer.session.send_text(shared_text(notice_message("error", loss)));
    for (const std::string& text : watch_->texts(3))
        viewer.session.send_text(shared_text(notice_message("warning", text)));
    send_frame(viewer, now);
}

void ViewerHub::closed(Client client, double now) {
    const auto found = std::find_if(viewers_.begin(), viewers_.end(),
                                    [&](const auto& viewer) { return viewer->client == client; });
    if (found == viewers_.end()) return;
    const bool steered = found == viewers_.begin();
    if (steered) {
        release_all();
        cancel_sketch();
    }
    viewers_.erase(found);
    if (!steered || viewers_.empty()) return;
    viewers_[0]->asks_to_steer = false;
    last_command_ = now;
    send_stats(*viewers_[0]);
}

void ViewerHub::silent(Client client, double now) {
    Viewer* viewer = find(client);
    if (viewer == nullptr) return;
    viewer->is_silent = true;
    if (!steers(*viewer)) return;
    if (holds()) {
        release_all();
        viewer->session.send_text(shared_text(notice_message(
            "warning", "This page was not heard for some seconds: what it held was let go.")));
    }
    give_way(now);
}

void ViewerHub::heard(Client client) {
    if (Viewer* const viewer = find(client)) viewer->is_silent = false;
}

void ViewerHub::received(Client client, std::span<const std::byte> message, bool is_text,
                         double now) {
    Viewer* viewer = find(client);
    if (viewer == nullptr) return;
    const std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
    const auto parsed = is_text ? parse_viewer_message(text) : std::nullopt;
    if (!parsed) {
        ++num_malformed_;
        return;
    }
    std::visit([&](const auto& known) { handle(*viewer, known, now); }, *parsed);
}

void ViewerHub::handle(Viewer& viewer, const AcknowledgeMessage& message, double now) {
    viewer.session.acknowledge(message.frame);
    send_frame(viewer, now);
}

void ViewerHub::handle(Viewer& viewer, const CommandMessage& message, double now) {
    if (!steers(viewer)) return;
    last_command_ = now;
    hurry(viewer);
    const Command& command = message.command;
    if (command.kind == Command::Kind::SetParameter) {
        set_parameter(message);
    } else if (is_possible(command)) {
        viewed_->send(command);
        if (sketch_) sketch_->note(command);
        const unsigned slot = 1u << command.slot;
        if (command.kind == Command::Kind::Grab || command.kind == Command::Kind::Poke) {
            held_slots_ |= slot;
            slots_to_release_ &= ~slot;
        }
        if (command.kind == Command::Kind::Release) held_slots_ &= ~slot;
        if (command.kind == Command::Kind::MoveTool) {
            held_tool_.reset();
            if (command.buttons != 0) held_tool_ = command;
            tool_to_release_.reset();
        }
        if (command.kind == Command::Kind::Reset) {
            forget_held();
            watch_->forget();
        }
    }
}

/// Pages may still speak of the scene before.
bool ViewerHub::is_possible(const Command& command) const {
    if (command.kind != Command::Kind::Grab && command.kind != Command::Kind::Poke) return true;
    const World& world = viewed_->world();
    return command.body >= 0 && command.body < static_cast<int>(world.bodies().size()) &&
           command.triangle >= 0 &&
           command.triangle < world.body(command.body).surface().num_triangles();
}

void ViewerHub::set_parameter(const CommandMessage& message) {
    const int index = viewed_->world().find_parameter(message.parameter);
    if (index >= 0) set_parameter(index, message.command.value);
}

void ViewerHub::set_parameter(int index, double value) {
    const LiveParameter& parameter =
        viewed_->world().parameters()[static_cast<std::size_t>(index)].parameter;
    Command command;
    command.kind = Command::Kind::SetParameter;
    command.parameter = index;
    command.value = clamped(parameter, value);
    viewed_->send(command);
    say_all(parameter_message(parameter.name, viewed_->parameter(index)));
}

void ViewerHub::handle(Viewer& viewer, const ControlMessage& message, double now) {
    using Action = ControlMessage::Action;
    // what watchers may do
    switch (message.action) {
        case Action::Ping:
            viewer.session.send_beside(shared_text(pong_message(message.value)), true);
            return;
        case Action::ShowMesh:
        case Action::HideMesh:
            viewer.session.shows_mesh = message.action == Action::ShowMesh;
            if (viewer.session.shows_mesh) show_again(viewer);
            return;
        case Action::ShowContacts:
        case Action::HideContacts:
            viewer.session.shows_contacts = message.action == Action::ShowContacts;
            if (viewer.session.shows_contacts) show_again(viewer);
            return;
        case Action::Steer: ask_to_steer(viewer, now); return;
        default: break;
    }
    if (!steers(viewer)) return;
    last_command_ = now;
    hurry(viewer);
    steer(message);
}

void ViewerHub::steer(const ControlMessage& message) {
    using Action = ControlMessage::Action;
    switch (message.action) {
        case Action::Pause: viewed_->pause(); break;
        case Action::Run: viewed_->run(); break;
        case Action::Step: viewed_->single_step(static_cast<int>(message.value)); break;
        case Action::Speed: viewed_->set_speed(message.value); break;
        case Action::OpenScene: open(message.name); break;
        case Action::StartRecording: start_recording(); break;
        case Action::StopRecording: stop_recording(); break;
        case Action::SeekReplay: viewed_->seek(message.value); break;
        case Action::StartSketch: start_sketch(); break;
        case Action::CancelSketch: cancel_sketch(); break;
        case Action::BuildSketch: build_sketch(static_cast<int>(message.value)); break;
        default: break;
    }
}

void ViewerHub::ask_to_steer(Viewer& viewer, double now) {
    if (steers(viewer)) return give_way(now);
    const bool is_idle = !holds() && now - last_command_ >= kIdleSteering;
    if (is_idle || viewers_[0]->is_silent) {
        const auto place = std::find_if(viewers_.begin(), viewers_.end(),
                                        [&](const auto& other) { return other.get() == &viewer; });
        hand_over(static_cast<std::size_t>(place - viewers_.begin()), now);
        return;
    }
    if (viewer.asks_to_steer) return;
    viewer.asks_to_steer = true;
    viewers_[0]->session.send_text(
        shared_text(notice_message("info", "Another viewer asks to steer.")));
    send_stats(*viewers_[0]);
}

/// To the one who asked first, if there is one.
void ViewerHub::give_way(double now) {
    const auto asking = std::find_if(viewers_.begin(), viewers_.end(),
                                     [](const auto& other) { return other->asks_to_steer; });
    if (asking != viewers_.end())
        hand_over(static_cast<std::size_t>(asking - viewers_.begin()), now);
}

void ViewerHub::hand_over(std::size_t to, double now) {
    release_all();
    Viewer& before = *viewers_[0];
    std::swap(viewers_[0], viewers_[to]);
    viewers_[0]->asks_to_steer = false;
    last_command_ = now;
    send_stats(*viewers_[0]);
    send_stats(before);
}

void ViewerHub::release_all() {
    slots_to_release_ |= std::exchange(held_slots_, 0u);
    if (held_tool_) {
        tool_to_release_ = std::exchange(held_tool_, std::nullopt);
        tool_to_release_->buttons = 0;
    }
    send_releases();
}

void ViewerHub::forget_held() {
    held_slots_ = 0;
    held_tool_.reset();
}

void ViewerHub::send_releases() {
    if (tool_to_release_ && viewed_->send(*tool_to_release_)) tool_to_release_.reset();
    for (int slot = 0; slot < Command::kMaxSlots; ++slot) {
        if ((slots_to_release_ >> slot & 1u) == 0) continue;
        Command command;
        command.kind = Command::Kind::Release;
        command.slot = slot;
        // a full queue has room again at the next tick
        if (viewed_->send(command)) slots_to_release_ &= ~(1u << slot);
    }
}

void ViewerHub::show(std::unique_ptr<ViewedWorld> viewed, double now) {
    assets_.reset();
    slices_.reset();
    watch_.reset();
    sketch_.reset();
    viewed_ = std::move(viewed);
    assets_ = std::make_unique<SceneAssets>(viewed_->world());
    slices_ = std::make_unique<FieldSlices>(viewed_->world());
    watch_ = std::make_unique<BodyWatch>(viewed_->world());
    is_slow_.assign(static_cast<std::size_t>(viewed_->world().num_loops()), 0);
    forget_held();
    slots_to_release_ = 0;
    tool_to_release_.reset();
    stream_.invalidate();
    viewed_->look_at_clock(now);
    for (const auto& viewer : viewers_) {
        viewer->session.forget_frames();
        viewer->session.send_text(
            shared_text(hello_message(*viewed_, *assets_, options_.scenes, steers(*viewer))));
    }
}

void ViewerHub::open(const std::string& name) {
    const bool is_known = std::any_of(options_.scenes.begin(), options_.scenes.end(),
                                      [&](const SceneChoice& scene) { return scene.name == name; });
    if (!is_known || !options_.open_scene) {
        notice("error", "There is no scene \"" + name + "\".");
        return;
    }
    num_built_loads_ = 0;
    opener_.start(name, [open = options_.open_scene, name](Progress& progress, std::string&) {
        return open(name, progress);
    });
    next_progress_ = 0;
}

void ViewerHub::poll_opener(double now) {
    if (!opener_.is_busy()) return;
    if (auto outcome = opener_.poll()) {
        num_built_loads_ = 0;
        if (outcome->world == nullptr) {
            notice("error", outcome->name + ": " + outcome->problem);
            return;
        }
        stop_recording();
        show(make_live_world(std::move(outcome->world), options_.engine), now);
        if (!outcome->notice.empty()) notice("info", outcome->notice);
    } else if (now >= next_progress_ && opener_.is_busy() && !opener_.is_cancelled()) {
        next_progress_ = now + kProgressInterval;
        say_all(progress_message(opener_.name(), opener_.fraction(), opener_.remaining_seconds()));
    }
}

void ViewerHub::start_recording() {
    if (!recording_.empty() || wants_finish_.load(std::memory_order_acquire)) return;
    try {
        const std::time_t utc = std::time(nullptr);
        const auto path =
            new_recording_path(options_.recordings, viewed_->world().scene().name, utc);
        viewed_->start_recording(path, iso_time(utc));
        recording_ = path.filename().string();
        lost_records_ = false;
        // a recording begins with a reset
        forget_held();
        notice("info", "Recording to " + path.string() + ".");
    } catch (const InputError& error) {
        notice("error", error.what());
    }
}

void ViewerHub::stop_recording() {
    check_recording();
    if (recording_.empty()) return;
    const std::string name = std::exchange(recording_, {});
    try {
        viewed_->stop_recording();
        check_lost_records(name);
        if (!lost_records_) notice("info", "Recorded " + name + ".");
    } catch (const InputError& error) {
        tell_loss(error.what());
    } catch (const std::exception& error) {
        tell_loss(name + ": the end of the recording may be missing (" + error.what() + ")");
    }
}

void ViewerHub::finish_recording() {
    wants_finish_.store(true, std::memory_order_release);
    is_finished_.wait();
}

void ViewerHub::check_recording() {
    if (recording_.empty()) return;
    check_lost_records(recording_);
    const std::string problem = viewed_->recording().problem;
    if (problem.empty()) return;
    tell_loss(problem);
    recording_.clear();
    try {
        viewed_->stop_recording();
    } catch (const std::exception&) {
        // it was said above
    }
}

void ViewerHub::check_lost_records(const std::string& name) {
    if (viewed_->recording().lost > 0 && !std::exchange(lost_records_, true))
        tell_loss(name +
                  ": records are lost because the disk is too slow; the recording goes on, with "
                  "gaps, and cannot be simulated again. Record to a faster disk.");
}

void ViewerHub::tell_loss(const std::string& sentence) {
    {
        const std::lock_guard lock(status_mutex_);
        losses_.push_back(sentence);
    }
    notice("error", sentence);
}

void ViewerHub::start_sketch() {
    if (sketch_ || num_built_loads_ > 0) return;
    std::optional<SketchSubject> subject = sketch_subject(*viewed_);
    if (!subject) {
        notice("error", why_nothing_to_sketch(*viewed_));
        return;
    }
    set_parameter(subject->linear, 1);
    notice("info", "Sketching " + subject->name + ": pull it where it should bend, then finish.");
    sketch_.emplace(*std::move(subject));
}

void ViewerHub::end_sketch() {
    if (!sketch_) return;
    set_parameter(sketch_->subject().linear, sketch_->subject().linear_before);
    sketch_.reset();
}

void ViewerHub::cancel_sketch() {
    end_sketch();
    if (num_built_loads_ == 0) return;
    num_built_loads_ = 0;
    opener_.cancel();
    notice("warning", "The sketch was cancelled; the scene goes on as it was.");
}

void ViewerHub::build_sketch(int rank) {
    if (!sketch_) return;
    if (sketch_->loads().empty()) {
        notice("warning", "Nothing was sketched yet: pull " + sketch_->subject().name + " first.");
        return;
    }
    try {
        SketchBuild build{.subject = sketch_->subject(),
                          .loads = sketch_->loads(),
                          .rank = rank,
                          .scene = viewed_->world().scene(),
                          .path = new_model_path(options_.recordings, sketch_->subject().name,
                                                 std::time(nullptr))};
        num_built_loads_ = build.loads.size();
        const std::string name = "Sketch of " + build.subject.name;
        opener_.start(name, [build = std::move(build)](Progress& progress, std::string& told) {
            return build_sketched_world(build, progress, told);
        });
        next_progress_ = 0;
        end_sketch();
    } catch (const InputError& error) {
        notice("error", error.what());
    }
}

void ViewerHub::hurry(Viewer& viewer) {
    stream_.update(assets_->streams(), *viewed_);
    viewer.session.hurry(stream_.number());
}

/// The same frame, with what the viewer has begun to ask for.
void ViewerHub::show_again(Viewer& viewer) {
    hurry(viewer);
    stream_.invalidate();
}

void ViewerHub::send_frame(Viewer& viewer, double now) {
    ViewerSession& session = viewer.session;
    if (!session.may_want_frame(now)) return;
    const std::vector<BodyStream>& streams = assets_->streams();
    stream_.update(streams, *viewed_);
    if (!session.wants_frame(stream_.number(), now)) return;
    beside_.clear();
    const auto add = [&](std::span<const SharedBytes> messages) {
        beside_.insert(beside_.end(), messages.begin(), messages.end());
    };
    if (session.shows_mesh) add(stream_.mesh_nodes(streams));
    if (session.shows_contacts) add(stream_.contact_marks(viewed_->world(), streams));
    session.send_frame(stream_.number(), stream_.frame(streams, now), beside_, now);
}

void ViewerHub::send_samples() {
    for (int l = 0; l < viewed_->world().num_loops(); ++l) {
        samples_.clear();
        viewed_->take_samples(l, samples_);
        if (samples_.empty() || viewers_.empty()) continue;
        const SharedBytes message = encode_samples(l, samples_);
        for (const auto& viewer : viewers_) viewer->session.send_beside(message, false);
    }
}

void ViewerHub::tick(double now) {
    // first: what is thrown below must not keep the program from ending
    const bool finishes = wants_finish_.load(std::memory_order_acquire) && !is_finished_.try_wait();
    const CountDown end{finishes ? &is_finished_ : nullptr};
    if (finishes) stop_recording();
    poll_opener(now);
    send_releases();
    viewed_->look_at_clock(now);
    if (sketch_) sketch_->look(*viewed_, assets_->streams(), now);
    if (now >= next_samples_) {
        next_samples_ = now + ViewerSession::kFrameInterval;
        send_samples();
    }
    for (const auto& viewer : viewers_) send_frame(*viewer, now);
    if (now < next_stats_) return;
    next_stats_ = now + kStatsInterval;
    check_recording();
    for (const auto& viewer : viewers_) send_stats(*viewer);
    std::vector<LoopTimes> times;
    const bool watches = now >= next_watch_;
    if (watches) next_watch_ = now + kWatchInterval;
    for (int l = 0; l < viewed_->world().num_loops(); ++l) {
        const LoopSettings& loop = viewed_->world().loop(l).settings();
        const LoopFrame& frame = viewed_->frame(l);
        times.push_back({loop.name, loop.rate, frame.work, frame.lateness, frame.skipped});
        if (watches) watch(l, frame);
    }
    std::string line = status_text(*viewed_, times.front(), viewers_.size());
    std::vector<std::string> troubles = watch_->texts();
    const std::lock_guard lock(status_mutex_);
    status_ = std::move(line);
    loop_times_ = std::move(times);
    troubles_ = std::move(troubles);
}

void ViewerHub::watch(int loop, const LoopFrame& frame) {
    watch_->look(loop, frame);
    for (const std::string& text : watch_->news()) notice("warning", text);
    const LoopSettings& settings = viewed_->world().loop(loop).settings();
    char& is_slow = is_slow_[static_cast<std::size_t>(loop)];
    if (is_slow || static_cast<double>(frame.work.count) * frame.work.p50_us < kJudgedWork ||
        frame.work.p50_us < 1e6 / settings.rate)
        return;
    is_slow = 1;
    char text[300];
    std::snprintf(
        text, sizeof text,
        "The loop \"%s\" does not keep its %g Hz: a tick of %.3g ms takes %.3g ms, and the "
        "scene runs slower than the clock.",
        settings.name.c_str(), settings.rate, 1e3 / settings.rate, 1e-3 * frame.work.p50_us);
    notice("warning", text);
}

void ViewerHub::send_stats(Viewer& viewer) {
    ServerStatus status;
    status.num_viewers = viewers_.size();
    status.steers = steers(viewer);
    status.is_asked =
        status.steers && std::any_of(viewers_.begin(), viewers_.end(),
                                     [](const auto& other) { return other->asks_to_steer; });
    status.recording = recording_;
    status.is_sketching = sketch_.has_value();
    status.is_building = num_built_loads_ > 0;
    status.num_loads = sketch_ ? sketch_->loads().size() : num_built_loads_;
    status.num_malformed = num_malformed_;
    viewer.session.send_beside(shared_text(stats_message(*viewed_, status)), true);
}

void ViewerHub::say_all(const std::string& message) {
    const SharedBytes shared = shared_text(message);
    for (const auto& viewer : viewers_) viewer->session.send_text(shared);
}

void ViewerHub::notice(const char* level, const std::string& text) {
    say_all(notice_message(level, text));
}

std::string ViewerHub::status_line() const {
    const std::lock_guard lock(status_mutex_);
    return status_;
}

std::vector<std::string> ViewerHub::troubles() const {
    const std::lock_guard lock(status_mutex_);
    return troubles_;
}

std::vector<LoopTimes> ViewerHub::loop_times() const {
    const std::lock_guard lock(status_mutex_);
    return loop_times_;
}

std::vector<std::string> ViewerHub::losses() const {
    const std::lock_guard lock(status_mutex_);
    return losses_;
}

}  // namespace pliant
