#pragma once

#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/virtual_proxy.h"

#include <cstdint>

namespace pliant {

/// What a thread that touches a body tells the haptic thread: the planes that hold the proxy.
struct PlaneSnapshot {
    double time = 0;             ///< when it was true, clock of the loop [s]
    std::uint64_t sequence = 0;  ///< 0: nothing was told yet
    int num_planes = 0;
    std::array<ConstraintPlane, 3> planes;
};

/// Carries the newest snapshot from one thread to one other; neither waits.
class PlaneLink {
public:
    /// Of the thread that ticks the proxy.
    void publish(const ProxyState& state, double time) noexcept;
    /// What another link carried.
    void publish(const PlaneSnapshot& snapshot) noexcept;
    /// Of the haptic thread; false: nothing new.
    bool receive(PlaneSnapshot& newest) noexcept;

private:
    TripleBuffer<PlaneSnapshot> buffer_;
    std::uint64_t sequence_ = 0;
};

struct PlanePortOptions {
    double stiffness = 500;  ///< [N/m]
    /// Planes move from where they were to where they are within one period of the other thread,
    /// one period late, instead of jumping.
    bool interpolates = true;
    double watchdog = 0.1;  ///< no force after so long without news [s]
};

/// The haptic thread's proxy: a point among at most three planes, docs/proxy.md section "Two
/// rates". One thread; tick() neither allocates, locks nor throws.
class PlanePort {
public:
    /// Throws InputError for options out of range. The link must outlive it.
    explicit PlanePort(PlaneLink& link, const PlanePortOptions& options = {});

    struct Output {
        Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< of the proxy here
        Eigen::Vector3d force = Eigen::Vector3d::Zero();     ///< on the hand [N]
        bool is_stale = false;                               ///< the watchdog took the force away
        bool is_goal_ignored = false;                        ///< not finite
    };
    /// `now` on the clock that snapshots are stamped by.
    const Output& tick(const Eigen::Vector3d& goal, double now) noexcept;
    [[nodiscard]] const Output& last() const noexcept { return output_; }
    /// Of the planes from where they were to where they are, 0 to 1.
    [[nodiscard]] double progress(double now) const noexcept;
    /// [N/m], from the next tick on; ignored unless in range.
    void set_stiffness(double stiffness) noexcept {
        if (stiffness >= 0 && stiffness < 1e9) options_.stiffness = stiffness;
    }
    /// Forgets all planes; what is on its way must be dropped by the caller.
    void reset(const Eigen::Vector3d& position) noexcept;

private:
    void take(const PlaneSnapshot& newest, double now) noexcept;
    /// The planes in force at `now`.
    [[nodiscard]] std::array<ConstraintPlane, 3> planes_at(double now) const noexcept;

    PlaneLink& link_;
    PlanePortOptions options_;
    PlaneSnapshot current_;
    std::array<ConstraintPlane, 3> from_;  // where each plane of current_ comes from
    double taken_ = 0, period_ = 0;
    Output output_;
};

}  // namespace pliant
