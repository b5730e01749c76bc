#pragma once

#include "geometry/simple_surfaces.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/reduced_body.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "reduction/model_samples.h"
#include "server/viewed_world.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// A small world with every kind of body, and one that only a test moves.
namespace pliant::test {

inline LoopSettings loop_settings(const std::string& name, double rate) {
    LoopSettings settings;
    settings.name = name;
    settings.rate = rate;
    return settings;
}

/// A ball that swings and two bars of one model in the haptic loop, a soft block and a tool in a
/// slower one. The world's order is bar, block, ball, bar.
inline std::unique_ptr<World> small_world(const std::string& name = "sample") {
    static const ReducedBodyModel bar(bar_model({.rank = 4}));
    const auto swing =
        ScriptedMotion::oscillation(Pose{}, Eigen::Vector3d(0.1, 0, 0), Eigen::Vector3d::Zero(), 1);
    std::vector<std::unique_ptr<Body>> quick, soft;
    quick.push_back(std::make_unique<RigidBody>(
        RigidShape::sphere(0.1), box_surface(),
        RigidBodyOptions{.pose = {}, .velocity = {}, .script = swing, .mass = {}}));
    quick.push_back(std::make_unique<ReducedBody>(bar));
    quick.push_back(std::make_unique<ReducedBody>(bar));
    auto tool = std::make_unique<RigidBody>(
        RigidShape::sphere(0.02), box_surface(),
        RigidBodyOptions{.pose = {Eigen::Vector3d(0, 0, 1), Quaternion::Identity()},
                         .velocity = {},
                         .script = {},
                         .mass = {}});
    soft.push_back(std::make_unique<FemBody>(
        hex_box(2, 2, 2, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Constant(0.1))),
        std::vector<Material>{isotropic(1e5, 0.3, 1000)}, SurfaceMesh{},
        std::vector<RigidBody*>{tool.get()}));

    SceneDescription scene;
    scene.name = name;
    scene.text = "{\"pliant\": 1}";
    scene.tool = ToolDescription{};
    WorldParts parts;
    parts.loops.push_back(std::make_unique<SimulationLoop>(
        loop_settings("haptic", 1000), std::move(quick), std::vector<int>{2, 0, 3}));
    parts.loops.push_back(std::make_unique<SimulationLoop>(
        loop_settings("soft", 100), std::move(soft), std::vector<int>{1}, std::move(tool)));
    parts.bodies = {{"bar", 0, 0, 1, {1, 0, 0}},
                    {"block", 1, 1, 0, {0, 1, 0}},
                    {"ball", 2, 0, 0, {0, 0, 1}},
                    {"second", 3, 0, 2, {1, 1, 0}}};
    for (const WorldBody& body : parts.bodies) {
        BodyDescription description;
        description.name = body.name;
        scene.bodies.push_back(std::move(description));
    }
    return std::make_unique<World>(std::move(scene), std::move(parts));
}

/// A ball that presses a soft beam from above: at 0 s it is 2 cm away, from 0.2 s on 4 cm further
/// down. Contact is soft, so that many points touch. `more` members of the scene begin with a comma.
inline std::unique_ptr<World> pressed_world(const std::string& more = {}) {
    const std::string text = R"({"pliant": 1, "name": "pressed", "gravity": [0, 0, 0], "bodies": [
        {"name": "beam", "reduced": {"shape": "beam", "size": 1, "fixed": "x < 5 %", "modes": 4, "rank": 6,
            "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000},
            "mesh": {"kind": "voxel", "resolution": 8}, "damping": {"mass": 40, "stiffness": 0.005}},
            "contact": {"pointshell": {"points": 1500, "levels": 3, "resolution": 32}}},
        {"name": "ball", "rigid": {"sphere": {"radius": 0.08}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0.3, 0, 0.3]}, {"time": 0.2, "position": [0.3, 0, 0.26]}]}}}}],
        "contacts": [{"shell": "beam", "field": "ball", "stiffness": 800}])" +
                             more + "}";
    return std::make_unique<World>(parse_scene(text, "pressed.json"), WorldOptions{.cache = {}});
}

/// Two boxes that fall on a floor and touch each other: at rest from 1 s on.
inline std::unique_ptr<World> fallen_world() {
    const char* text = R"({"pliant": 1, "name": "fallen", "rate": 500, "bodies": [
        {"name": "box", "rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 500},
            "contact": {"pointshell": {"points": 200, "levels": 2, "resolution": 32}},
            "pose": {"position": [0, 0, 0.06]}, "copies": {"counts": [2, 1, 1], "spacing": [0.3, 1, 1]}},
        {"name": "floor", "rigid": {"ground": {}}}],
        "contacts": [{"among": ["box", "floor"], "friction": 0.5}]})";
    return std::make_unique<World>(parse_scene(text, "fallen.json"), WorldOptions{.cache = {}});
}

/// A peg in a simulated hand that goes 2 cm into a block within 0.3 s.
inline std::unique_ptr<World> held_world() {
    const char* text = R"({"pliant": 1, "name": "held", "gravity": [0, 0, 0], "bodies": [
        {"name": "block", "rigid": {"box": {"sizes": [0.4, 0.4, 0.2]}}},
        {"name": "peg", "rigid": {"box": {"sizes": [0.05, 0.05, 0.1]}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0, 0, 0.16]}, {"time": 0.3, "position": [0, 0, 0.13]}]}}},
            "contact": {"pointshell": {"points": 200, "levels": 2, "resolution": 32}}}],
        "contacts": [{"shell": "peg", "field": "block"}],
        "tool": {"body": "peg", "grasp": [0, 0, 0.05], "scale": 2}, "device": {"max_force": 7}})";
    return std::make_unique<World>(parse_scene(text, "held.json"), WorldOptions{.cache = {}});
}

/// Runs in virtual time, when the test says so, and notes what it is told.
class VirtualWorld final : public ViewedWorld {
public:
    explicit VirtualWorld(std::unique_ptr<World> world) : world_(std::move(world)) {
        for (int l = 0; l < world_->num_loops(); ++l)
            frames_.push_back(world_->loop(l).make_frame());
    }
    void advance_to(double time) {
        world_->advance_to(time);
        ++num_new_samples_;
    }

    const World& world() const noexcept override { return *world_; }
    std::string scheduling() const override { return "virtual"; }
    void look_at_clock(double /*now*/) override {
        if (!tick_problem.empty()) throw std::runtime_error(tick_problem);
    }
    void run() override { is_paused_ = false; }
    void pause() override { is_paused_ = true; }
    bool is_paused() const override { return is_paused_; }
    void single_step(int ticks) override { steps += ticks; }
    void set_speed(double speed) override { speed_ = speed; }
    double speed() const override { return speed_; }
    bool send(const Command& command) override {
        if (!takes_commands) return false;
        commands.push_back(command);
        world_->apply(command);
        return true;
    }
    double parameter(int index) const override { return world_->parameter_value(index); }
    const LoopFrame& frame(int loop) override {
        ++num_looks;
        LoopFrame& frame = frames_[static_cast<std::size_t>(loop)];
        world_->loop(loop).fill(frame);
        if (loop == 1 && slow_work_us > 0) {
            frame.work.count = 1000;
            frame.work.p50_us = slow_work_us;
        }
        return frame;
    }
    void take_samples(int loop, std::vector<TickSample>& samples) override {
        if (loop != 0) return;
        for (; num_new_samples_ > 0; --num_new_samples_)
            samples.push_back(world_->loop(0).sample());
    }
    void start_recording(const std::filesystem::path& path, const std::string&) override {
        if (!recording_problem.empty()) throw InputError("", recording_problem);
        recording_path = path;
    }
    void stop_recording() override {
        recording_path.clear();
        if (!stop_problem.empty()) throw std::runtime_error(stop_problem);
    }
    Engine::RecordingStatus recording() const override {
        return {.is_active = !recording_path.empty(),
                .bytes = 7,
                .lost = lost_records,
                .problem = later_problem};
    }

    bool takes_commands = true;
    std::vector<Command> commands;
    int steps = 0, num_looks = 0;
    double slow_work_us = 0;  ///< of the ticks of the second loop, as they are shown; 0: as it is
    std::filesystem::path recording_path;
    std::string recording_problem, later_problem;
    std::string tick_problem, stop_problem;  ///< thrown, as what nobody expects
    std::uint64_t lost_records = 0;

private:
    std::unique_ptr<World> world_;
    std::vector<LoopFrame> frames_;
    int num_new_samples_ = 0;
    bool is_paused_ = false;
    double speed_ = 1;
};

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
    T number{};
    if (offset + sizeof number <= bytes.size())
        std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

}  // namespace pliant::test
