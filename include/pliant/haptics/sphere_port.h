#pragma once

#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/sphere_tool.h"

#include <cstdint>

namespace pliant {

/// What a thread that ticks a tool tells the haptic thread: where spheres are, and which of them
/// something holds, both of the same tick. Without the second the hand would feel the age of the
/// first in free air.
struct SphereSnapshot {
    double time = 0;                         ///< when it was true, clock of the loop [s]
    std::uint64_t sequence = 0;              ///< 0: nothing was told yet
    double translation = 0, rotation = 0;    ///< stiffness of one sphere, eq. (4) [N/m]
    std::vector<Eigen::Vector3d> positions;  ///< p_i, without what is withheld
    std::vector<unsigned char> is_touching;  ///< of each

    /// With room for so many. Throws InputError for none.
    [[nodiscard]] static SphereSnapshot of_size(int num_spheres);
    /// Of the last tick of a tool with as many spheres; the sequence stays.
    void take(const SphereTool& tool, double when) noexcept;
};

/// Carries the newest snapshot from one thread to one other; neither waits nor allocates.
class SphereLink {
public:
    explicit SphereLink(int num_spheres);
    /// Of the thread that ticks the tool, which must have as many spheres.
    void publish(const SphereTool& tool, double time) noexcept;
    /// One of as many spheres that came another way, with its own sequence.
    void publish(const SphereSnapshot& snapshot) noexcept;
    /// Of the haptic thread: true where there is news, which newest() shows.
    bool receive() noexcept { return buffer_.update(); }
    [[nodiscard]] const SphereSnapshot& newest() const noexcept { return buffer_.read_slot(); }

private:
    TripleBuffer<SphereSnapshot> buffer_;
    std::uint64_t sequence_ = 0;
};

struct SpherePortOptions {
    /// No force after so long without news; it comes back over as long [s].
    double watchdog = 0.1;
};

/// The haptic thread's side of a tool that ticks in another loop: springs from where the hand is
/// now to where spheres were, docs/sphere-tools.md section "Two rates". One thread; tick() neither
/// allocates, locks nor throws.
class SpherePort {
public:
    /// Takes what it needs of the tool. Throws InputError for options out of range. The link must
    /// outlive it.
    SpherePort(SphereLink& link, const SphereTool& tool, const SpherePortOptions& options = {});

    struct Output {
        Wrench wrench;                 ///< on the hand, about its position
        int num_touching = 0;          ///< spheres that make it
        double energy = 0;             ///< of the springs k_t [J]
        /// Means over these spheres: from where the hand wants them to where they are, and from the
        /// hand to where it wants them [m].
        Eigen::Vector3d stretch = Eigen::Vector3d::Zero(), arm = Eigen::Vector3d::Zero();
        bool is_stale = false;         ///< the watchdog took the force away
        bool is_hand_ignored = false;  ///< not finite
    };
    /// `now` on the clock that snapshots are stamped by.
    const Output& tick(const Pose& hand, double now) noexcept;
    [[nodiscard]] const Output& last() const noexcept { return output_; }
    /// As new; publish an empty snapshot as well, or the last one counts.
    void reset() noexcept;

private:
    SphereLink& link_;
    SpherePortOptions options_;
    std::vector<Eigen::Vector3d> offsets_;
    double taken_ = 0;        // when the last news came
    double returned_ = -1e9;  // when news came after the watchdog
    Output output_;
};

}  // namespace pliant
