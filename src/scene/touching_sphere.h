#pragma once

#include "haptics/coupling_springs.h"
#include "scene/proxy_exchange.h"

namespace pliant {

/// A body that a proxy touches.
struct TouchedBody {
    Body* body = nullptr;
    int number = -1;  ///< in the world
    std::string name;
    std::optional<PopOutMode> pop_out;  ///< none: as the sphere leaves the others
};

/// Their surfaces as proxies see them, in the same order. Throws InputError for those not closed.
[[nodiscard]] std::vector<std::unique_ptr<MovingSurface>> surfaces_of(
    const std::vector<TouchedBody>& bodies);
[[nodiscard]] std::vector<MovingSurface*> pointers_to(
    const std::vector<std::unique_ptr<MovingSurface>>& owned);

/// The spring of a hand that pulls `end` with `force`, from `goal`.
[[nodiscard]] inline SpringSum one_spring(const Eigen::Vector3d& force, const Eigen::Vector3d& end,
                                          const Eigen::Vector3d& goal) noexcept {
    SpringSum spring;
    spring.wrench.force = force;
    spring.stretch = end - goal;
    return spring;
}

/// A virtual proxy among bodies of one loop, docs/proxy.md, and what is shown of it. One thread at
/// a time; nothing marked noexcept allocates. The bodies must outlive it.
class TouchingSphere {
public:
    /// `bearable`: stiffness beyond which bodies get a part of the force only [N/m]; 0: they get
    /// all. Throws InputError for options out of range and surfaces that are not closed.
    TouchingSphere(std::vector<TouchedBody> bodies, const ProxyOptions& options,
                   const Eigen::Vector3d& start, double bearable);

    /// Between two steps of the bodies: moves the sphere and loads the bodies.
    const ProxyState& tick(const Eigen::Vector3d& goal, const ProxyTuning& tuning) noexcept;
    [[nodiscard]] const ProxyState& state() const noexcept { return proxy_.state(); }
    /// Of the last tick: InputIgnored also where its tuning was out of range, and the one before
    /// stayed.
    [[nodiscard]] StepStatus status() const noexcept {
        return tuned_ == StepStatus::Ok ? state().status : tuned_;
    }
    /// What the hand is shown of it.
    [[nodiscard]] const ShownSprings& shown() const noexcept { return shown_; }
    /// Of the bodies on the spring as it is shown, in the last tick, docs/proxy.md eq. (9) [J].
    [[nodiscard]] double work() const noexcept { return work_; }
    [[nodiscard]] double radius() const noexcept { return proxy_.options().sphere.radius; }
    /// How much nearer than its radius something is [m].
    [[nodiscard]] double depth() const noexcept;
    /// Puts it elsewhere.
    void put(const Eigen::Vector3d& position) noexcept {
        proxy_.reset(position);
        shown_ = {};
    }
    /// Back to the start, after the bodies were.
    void reset() noexcept;
    void fill(ShownProxy& shown) const noexcept;

private:
    /// The spring with no more than this force, and the work of the surfaces on it.
    void show(const SpringSum& spring, const ShownSprings& before, double max_force) noexcept;

    std::vector<TouchedBody> bodies_;
    std::vector<std::unique_ptr<MovingSurface>> surfaces_;
    VirtualProxy proxy_;
    Eigen::Vector3d start_;
    double bearable_;
    ShownSprings shown_;
    StepStatus tuned_ = StepStatus::Ok;  ///< what became of the last tuning
    double work_ = 0;
    std::uint64_t all_pops_ = 0, carried_ = 0, squeezed_ = 0;
};

}  // namespace pliant
