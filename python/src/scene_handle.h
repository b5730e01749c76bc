#pragma once

#include "body_handle.h"
#include "pliant/scene/body_watch.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/world.h"

namespace pliant::python {

/// A scene, and its world in virtual time once somebody asks for it.
class SceneHandle {
public:
    explicit SceneHandle(SceneDescription description) : description_(std::move(description)) {}
    [[nodiscard]] const SceneDescription& description() const noexcept { return description_; }
    /// Builds what the scene needs at the first call.
    [[nodiscard]] const std::shared_ptr<World>& world(
        const ProgressArgument& progress = ProgressArgument(py::none()));
    /// Of its name, kept so that arrays stay the same.
    [[nodiscard]] BodyPointer body(const std::string& name);
    /// Those that were asked for, by the loop that steps them.
    [[nodiscard]] std::vector<std::vector<BodyPointer>> bodies_of_loops();
    /// Throws InputError, which begins with a reason, where forces stand in arrays.
    void refuse_loads(const std::string& reason) const;
    /// To the start; ends the forces in arrays.
    void reset();
    /// Of the bodies of the world.
    [[nodiscard]] BodyWatch& watch();
    bool is_touched = false;  ///< by hands since the start

private:
    SceneDescription description_;
    std::shared_ptr<World> world_;
    std::optional<BodyWatch> watch_;
    std::map<std::string, BodyPointer> bodies_;
};

/// Ticks of one loop; arrays of it are views.
using SamplesPointer = std::shared_ptr<const std::vector<TickSample>>;
class Samples {
public:
    explicit Samples(SamplesPointer ticks) : ticks_(std::move(ticks)) {}
    [[nodiscard]] const std::vector<TickSample>& ticks() const noexcept { return *ticks_; }

private:
    SamplesPointer ticks_;
};

}  // namespace pliant::python
