#pragma once

#include "pliant/reduction/sketch_model.h"
#include "pliant/scene/command.h"
#include "server/frame_message.h"
#include "server/viewed_world.h"

#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// What can be sketched: the first held reduced body of a scene (with its copies).
struct SketchSubject {
    std::string name;
    int description = 0;       ///< of SceneDescription::bodies
    int loop = 0;              ///< that runs it
    int linear = 0;            ///< its live parameter, of World::parameters()
    double linear_before = 0;  ///< value of that
    ReducedModel model;
};
/// Nothing: there is none, or the world is a recording.
[[nodiscard]] std::optional<SketchSubject> sketch_subject(const ViewedWorld& viewed);
/// One sentence for people.
[[nodiscard]] std::string why_nothing_to_sketch(const ViewedWorld& viewed);

/// Writes down how a body is pulled: forces on its surface, ten times a second while it is held
/// with at least 5 % of the largest force so far.
class SketchRecorder {
public:
    using Load = std::vector<SurfaceForce>;
    static constexpr double kInterval = 0.1;  ///< [s]
    static constexpr double kWeakest = 0.05;
    static constexpr std::size_t kMaxLoads = 2000;  ///< later ones are left out

    explicit SketchRecorder(SketchSubject subject) : subject_(std::move(subject)) {}
    [[nodiscard]] const SketchSubject& subject() const noexcept { return subject_; }
    [[nodiscard]] const std::vector<Load>& loads() const noexcept { return loads_; }

    /// A command that was sent: frames tell what is held, but not where.
    void note(const Command& command) noexcept;
    /// At the newest frame; `now` is the server clock [s].
    void look(ViewedWorld& viewed, const std::vector<BodyStream>& streams, double now);

private:
    struct Place {
        int body = -1;
        SurfaceForce force;
    };
    [[nodiscard]] Load present_load(const LoopFrame& frame, const World& world,
                                    const std::vector<BodyStream>& streams) const;

    SketchSubject subject_;
    std::array<Place, Command::kMaxSlots> places_;
    std::vector<Load> loads_;
    double strongest_ = 0;  // [N]
    double next_look_ = 0;
    std::uint64_t last_tick_ = 0;
    bool has_news_ = false;  // frames may still be of the time before a command
};

/// Everything that a thread needs to make a model of a sketch and a world with it.
struct SketchBuild {
    SketchSubject subject;
    std::vector<SketchRecorder::Load> loads;
    int rank = 0;
    SceneDescription scene;
    std::filesystem::path path;  ///< of the model file
};
/// `told` becomes what was captured and where it is. Throws InputError and Cancelled.
[[nodiscard]] std::unique_ptr<World> build_sketched_world(const SketchBuild& build,
                                                          Progress& progress, std::string& told);

}  // namespace pliant
