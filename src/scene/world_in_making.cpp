#include "scene/world_in_making.h"

#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"
#include "pliant/scene/recording.h"

#include <algorithm>

namespace pliant {
namespace {

/// Whether its bodies have numbers.
bool is_many(const BodyDescription& description) {
    return description.copies || std::holds_alternative<HandSource>(description.source);
}

/// With what its recording says, where the scene names one.
DeviceDescription with_recording(DeviceDescription device,
                                 const std::function<void(const std::string&)>& say) {
    auto* const recorded = std::get_if<RecordedDescription>(&device);
    auto* const simulated = std::get_if<SimulatedDescription>(&device);
    const std::string file = recorded ? recorded->recording : simulated ? simulated->recording : "";
    if (file.empty()) return device;
    const Recording recording = Recording::load(file);
    if (simulated) simulated->path = recorded_path(recording, file);
    if (recorded) {
        *recorded = recorded_readings(recording, file);
        recorded->recording = file;
    }
    if (say && !recording.is_complete())
        say("device: " + file + ": " + recording.problem() + "; it is used up to there");
    return device;
}

}  // namespace

WorldInMaking::WorldInMaking(const SceneDescription& described, const WorldOptions& options,
                             Progress& shown)
    : scene(described),
      device(with_recording(options.device ? *options.device : described.device, options.say)),
      say(options.say),
      progress(shown) {
    list_loops();
    list_bodies();
}

void WorldInMaking::warn(const std::string& warning) {
    warnings.push_back(warning);
    if (say) say("warning: " + warning);
}

void WorldInMaking::list_loops() {
    LoopSettings settings;
    settings.rate = scene.rate;
    settings.gravity = scene.gravity;
    settings.wind_direction = scene.wind.direction;
    settings.wind_speed = scene.wind.speed;
    settings.wind_gusts = scene.wind.gusts;
    settings.pull_stiffness = scene.pull.stiffness;
    settings.pull_damping = scene.pull.damping;
    settings.pull_force_limit = scene.pull.force_limit;
    settings.poke_force = scene.poke_force;
    settings.seed = scene.seed;
    loops.emplace_back().settings = settings;
    for (const LoopDescription& loop : scene.loops) {
        settings.name = loop.name;
        settings.rate = loop.rate;
        ++settings.seed;
        loops.emplace_back().settings = settings;
    }
}

/// Numbers of the world follow the scene, whatever order the loops need.
void WorldInMaking::list_bodies() {
    for (std::size_t d = 0; d < scene.bodies.size(); ++d) {
        const BodyDescription& description = scene.bodies[d];
        const int loop = find_loop(description.loop, path_of(d) + ".loop");
        next_body_.push_back(static_cast<int>(bodies.size()));
        const int count = num_copies(d);
        for (int k = 0; k < count; ++k)
            bodies.push_back({.name = description.name +
                                      (is_many(description) ? "[" + std::to_string(k) + "]" : ""),
                              .description = static_cast<int>(d),
                              .loop = loop,
                              .colour = description.colour});
    }
}

int WorldInMaking::num_copies(std::size_t d) const {
    if (std::holds_alternative<HandSource>(scene.bodies[d].source)) return GraspHand::kNumLinks;
    const std::optional<Copies>& copies = scene.bodies[d].copies;
    if (!copies) return 1;
    double count = 1;
    for (const int n : copies->counts) {
        if (n < 1)
            throw InputError("", path_of(d) + ".copies.counts", std::to_string(n),
                             "at least 1 along each axis");
        count *= n;
    }
    if (count > Copies::kMost)
        throw InputError("", path_of(d) + ".copies.counts", std::to_string(count),
                         "at most " + std::to_string(Copies::kMost) + " copies together");
    return static_cast<int>(count);
}

int WorldInMaking::find_loop(const std::string& name, const std::string& path) const {
    std::vector<std::string> known;
    for (const LoopInMaking& loop : loops) known.push_back(loop.settings.name);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found != known.end()) return static_cast<int>(found - known.begin());
    const std::string nearest = nearest_name(name, known);
    throw InputError("", path, "\"" + name + "\"",
                     nearest.empty() ? "\"haptic\" or a loop of the scene"
                                     : "did you mean \"" + nearest + "\"?");
}

std::vector<const WorldBody*> WorldInMaking::find_copies(const std::string& name,
                                                         const std::string& path) const {
    std::vector<const WorldBody*> found;
    for (const WorldBody& body : bodies)
        if (scene.bodies[static_cast<std::size_t>(body.description)].name == name)
            found.push_back(&body);
    if (found.empty())
        throw InputError("", path, "\"" + name + "\"", "the name of a body of the scene");
    return found;
}

const WorldBody& WorldInMaking::find_body(const std::string& name, const std::string& path) const {
    for (const WorldBody& body : bodies)
        if (body.name == name) return body;
    throw InputError("", path, "\"" + name + "\"", "the name of a body of the scene");
}

void WorldInMaking::add(std::size_t d, std::unique_ptr<Body> body) {
    LoopInMaking& loop = loop_of(d);
    const int number = next_body_[d]++;
    bodies[static_cast<std::size_t>(number)].place = static_cast<int>(loop.bodies.size());
    loop.bodies.push_back(std::move(body));
    loop.body_of_world.push_back(number);
}

}  // namespace pliant
