#pragma once

#include "pliant/haptics/sphere_tool.h"
#include "scene/touching_sphere.h"

namespace pliant {

/// Lever of the spheres of a tool about where the hand holds it, docs/scene.md eq. (9) [m].
[[nodiscard]] double lever_of(const ParticleLayout& spheres, const SphereToolOptions& options);

/// A tool of many spheres among bodies of one loop, docs/sphere-tools.md, and what is shown of it.
/// One thread at a time; nothing marked noexcept allocates. The bodies must outlive it.
class TouchingSpheres {
public:
    /// `start`: of where the hand holds it. `bearable` as of TouchingSphere. Throws InputError as
    /// SphereTool, and for surfaces that are not closed.
    TouchingSpheres(std::vector<TouchedBody> bodies, ParticleLayout spheres,
                    const SphereToolOptions& options, const Pose& start, double bearable);

    /// Between two steps of the bodies: moves the spheres and loads the bodies.
    const SphereToolState& tick(const Pose& hand, const ProxyTuning& tuning) noexcept;
    [[nodiscard]] const SphereTool& tool() const noexcept { return tool_; }
    /// As of TouchingSphere.
    [[nodiscard]] StepStatus status() const noexcept {
        return tuned_ == StepStatus::Ok ? tool_.state().status : tuned_;
    }
    [[nodiscard]] const Pose& start() const noexcept { return start_; }
    /// How much nearer than its radius something is to the worst sphere [m].
    [[nodiscard]] double depth() const noexcept;
    /// What the hand is shown of the springs to spheres in contact.
    [[nodiscard]] const ShownSprings& shown() const noexcept { return shown_; }
    /// Of the bodies on these springs in the last tick, docs/proxy.md eq. (9) [J].
    [[nodiscard]] double work() const noexcept { return work_; }
    /// Puts it elsewhere.
    void put(const Pose& hand) noexcept;
    /// Back to the start, after the bodies were.
    void reset() noexcept;
    /// All but radius and planes, which are of a single sphere; each of many has one at most.
    void fill(ShownProxy& shown) const noexcept;

private:
    void tune(const ProxyTuning& tuning) noexcept;
    [[nodiscard]] SpringSum springs() const noexcept;
    void book(const ProxyTuning& tuning) noexcept;
    void fill_sphere(int i, ShownProxy& shown) const noexcept;

    std::vector<int> numbers_;  // of the bodies in the world
    std::vector<std::unique_ptr<MovingSurface>> surfaces_;
    double lever_;
    SphereTool tool_;
    Pose start_;
    double bearable_;
    ProxyTuning tuning_;
    StepStatus tuned_ = StepStatus::Ok;  ///< what became of it
    ShownSprings shown_;
    std::vector<Eigen::Vector3d> forces_;  // of each sphere as it is shown
    double work_ = 0;
    std::uint64_t all_pops_ = 0, carried_ = 0, squeezed_ = 0;
};

}  // namespace pliant
