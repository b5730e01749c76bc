#include "server/sketch_recorder.h"

#include <algorithm>
#include <cstdio>

#include "pliant/reduction/reduced_body.h"
#include "pliant/scene/scene_file.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Of a display state; held bodies do not turn, but copies stand differently.
Quaternion rotation_of(const LoopFrame& frame, const BodyStream& stream) {
    const float* const pose = frame.display.data() + stream.loop_offset;
    return {static_cast<double>(pose[3]), static_cast<double>(pose[4]),
            static_cast<double>(pose[5]), static_cast<double>(pose[6])};
}

int find_linear(const World& world, int description) {
    const std::vector<WorldParameter>& all = world.parameters();
    const auto found = std::find_if(all.begin(), all.end(), [&](const WorldParameter& one) {
        return one.description == description && one.parameter.name.ends_with(".linear");
    });
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

double strength(const SketchRecorder::Load& load) {
    double sum = 0;
    for (const SurfaceForce& one : load) sum += one.force.norm();
    return sum;
}

}  // namespace

std::optional<SketchSubject> sketch_subject(const ViewedWorld& viewed) {
    if (viewed.replay_duration()) return {};
    const World& world = viewed.world();
    for (std::size_t i = 0; i < world.bodies().size(); ++i) {
        const WorldBody& body = world.bodies()[i];
        const auto* reduced = dynamic_cast<const ReducedBody*>(&world.body(static_cast<int>(i)));
        const auto place = static_cast<std::size_t>(body.description);
        // worlds made elsewhere may not say where their bodies come from
        if (place >= world.scene().bodies.size()) continue;
        const BodyDescription& description = world.scene().bodies[place];
        if (reduced == nullptr || reduced->model().is_free() ||
            !std::holds_alternative<ReducedSource>(description.source))
            continue;
        const int linear = find_linear(world, body.description);
        if (linear < 0) continue;
        return SketchSubject{.name = description.name,
                             .description = body.description,
                             .loop = body.loop,
                             .linear = linear,
                             .linear_before = viewed.parameter(linear),
                             .model = reduced->model()};
    }
    return {};
}

std::string why_nothing_to_sketch(const ViewedWorld& viewed) {
    if (viewed.replay_duration()) return "A recording cannot be sketched; run its scene.";
    const World& world = viewed.world();
    for (std::size_t i = 0; i < world.bodies().size(); ++i)
        if (world.body(static_cast<int>(i)).kind() == "reduced")
            return world.bodies()[i].name +
                   " flies freely and cannot be sketched: pulls have no equilibrium unless "
                   "something holds the body.";
    return "Nothing to sketch: this scene has no reduced body that is held.";
}

void SketchRecorder::note(const Command& command) noexcept {
    if (command.kind == Command::Kind::Reset) places_ = {};
    if (command.slot < 0 || command.slot >= Command::kMaxSlots) return;
    Place& place = places_[static_cast<std::size_t>(command.slot)];
    if (command.kind == Command::Kind::Grab || command.kind == Command::Kind::Poke) {
        const auto& w = command.barycentric;
        place = {command.body, {command.triangle, Vector3d(w[0], w[1], w[2]), Vector3d::Zero()}};
        has_news_ = true;
    } else if (command.kind == Command::Kind::Release) {
        place = {};
    }
}

SketchRecorder::Load SketchRecorder::present_load(const LoopFrame& frame, const World& world,
                                                  const std::vector<BodyStream>& streams) const {
    Load load;
    int body = -1;  // of copies the first that is held
    for (std::size_t slot = 0; slot < places_.size(); ++slot) {
        const HeldPoint& held = frame.held[slot];
        if (held.body < 0 || held.body != places_[slot].body) continue;
        const auto place = static_cast<std::size_t>(held.body);
        if (world.bodies()[place].description != subject_.description) continue;
        if (body >= 0 && held.body != body) continue;
        body = held.body;
        SurfaceForce force = places_[slot].force;
        force.force = rotation_of(frame, streams[place]).conjugate() *
                      Vector3d(held.force[0], held.force[1], held.force[2]);
        if (force.force.allFinite()) load.push_back(force);
    }
    return load;
}

void SketchRecorder::look(ViewedWorld& viewed, const std::vector<BodyStream>& streams, double now) {
    if (has_news_) {
        has_news_ = false;
        next_look_ = now + kInterval;
    }
    if (now < next_look_ || loads_.size() >= kMaxLoads) return;
    next_look_ = now + kInterval;
    const LoopFrame& frame = viewed.frame(subject_.loop);
    // paused: nothing new
    if (frame.tick == last_tick_) return;
    last_tick_ = frame.tick;
    Load load = present_load(frame, viewed.world(), streams);
    const double force = strength(load);
    if (!(force > 0) || force < kWeakest * strongest_) return;
    strongest_ = std::max(strongest_, force);
    loads_.push_back(std::move(load));
}

std::unique_ptr<World> build_sketched_world(const SketchBuild& build, Progress& progress,
                                            std::string& told) {
    const ReducedModel& model = build.subject.model;
    const Embedding embedding = model.embedding();
    const SurfaceMesh surface = model.surface();
    std::vector<SketchLoad> loads;
    for (const SketchRecorder::Load& load : build.loads)
        loads.push_back(sketch_load(embedding, surface, load));
    SketchModelReport report;
    const ReducedModel sketched =
        sketch_model(model, loads, {.rank = build.rank}, progress, &report);
    sketched.save(build.path, {{"sketched_loads", std::to_string(report.num_loads)}});
    auto world =
        std::make_unique<World>(with_model_file(build.scene, build.subject.description, build.path),
                                WorldOptions{}, progress);
    char captured[32];
    std::snprintf(captured, sizeof captured, "%.2f %%", 100 * report.captured);
    told = build.subject.name + ": shapes of " + std::to_string(report.num_loads) + " of " +
           std::to_string(loads.size()) + " recorded loads";
    if (report.num_failed > 0)
        told += " (" + std::to_string(report.num_failed) + " had no equilibrium)";
    told += "; rank " + std::to_string(sketched.rank()) + " holds " + captured +
            " of them. Saved as " + build.path.string() + ".";
    return world;
}

}  // namespace pliant
