#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/core/error.h"
#include "pliant/particles/particle_model.h"

#include <memory>
#include <optional>
#include <span>

namespace pliant {

/// Keeps what is on its side: normal · x ≥ offset.
struct ParticlePlane {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
    double offset = 0;  ///< [m]
};

/// Particles that follow a path, as one rigid piece, or stay where they are.
struct Attachment {
    std::vector<int> particles;
    /// Displacement of the piece: about its mean rest position. None: held.
    std::optional<ScriptedMotion> motion;
    bool is_driven = false;  ///< each goes where drive() says, until then held
};

struct ParticleOptions {
    int iterations = 5;     ///< passes over all constraints in a step
    double damping = 0;     ///< of velocities [1/s]
    double friction = 0.3;  ///< Coulomb's coefficient at planes and between objects
    /// Of the links of cloth: share of the error that a pass removes (the published form) …
    double cloth_stiffness = 1;
    /// … or a compliance [m/N] whose effect depends neither on passes nor on the step (XPBD).
    std::optional<double> cloth_compliance;
    bool collides = true;  ///< objects with one another
    std::vector<ParticlePlane> planes;
    std::vector<Attachment> attachments;
    int collision_capacity = 16;  ///< pairs in a step for each particle
};

/// Where particles are and how they move; world axes.
struct ParticleState {
    std::vector<Eigen::Vector3d> position, velocity;  ///< [m], [m/s]
    std::vector<Quaternion> turn;                     ///< from the rest orientation
    std::vector<Eigen::Vector3d> spin;                ///< angular velocity [rad/s]
    double time = 0;                                  ///< since the start [s]
};
[[nodiscard]] bool is_finite(const ParticleState& state) noexcept;

/// Position-based dynamics of oriented particles, docs/particles.md eqs. (1)–(7) and (11)–(13).
/// What overlaps at the start of a step comes out slowly, at 0.3 m/s at most. Immutable: share it
/// among threads, one state and workspace per thread. Results do not depend on the number of
/// threads; with one thread, or fewer than kSerialGroups groups, a step allocates nothing.
class ParticleDynamics {
public:
    static constexpr int kSerialGroups = 4096;

    struct Workspace;
    struct Report {
        int num_unsettled = 0;  ///< rotations in the last pass
        int num_pairs = 0;      ///< of ellipsoids that may touch
        int num_contacts = 0;   ///< pairs, and places at planes, that pushed in the last pass
    };

    /// Throws InputError for what check_layout refuses and options out of range.
    explicit ParticleDynamics(ParticleLayout layout, ParticleOptions options = {});
    /// The same of a model, whose drawn surface touches planes instead of its ellipsoids; those
    /// that touch other objects are fitted to the surface. A surface that is its particles, as a
    /// sheet of cloth, touches with its balls.
    explicit ParticleDynamics(const ParticleModel& model, ParticleOptions options = {});
    ~ParticleDynamics();
    ParticleDynamics(ParticleDynamics&&) noexcept;

    [[nodiscard]] const ParticleLayout& layout() const noexcept;
    [[nodiscard]] const ParticleOptions& options() const noexcept;
    [[nodiscard]] bool is_attached(int particle) const noexcept;
    [[nodiscard]] int num_groups() const noexcept;
    [[nodiscard]] int num_colours() const noexcept;  ///< of groups: rounds of a pass

    [[nodiscard]] ParticleState make_state() const;
    [[nodiscard]] std::shared_ptr<Workspace> make_workspace() const;
    /// What may change between steps.
    struct Tuning {
        double stiffness = 1;  ///< factor of the stiffness of all particles, in (0, 1/stiffness]
        double damping = 0;    ///< [1/s]
        double friction = 0;
        int iterations = 5;
    };
    [[nodiscard]] Tuning tuning() const noexcept;

    /// Advances by dt seconds under gravity and a force on each particle [N]. A step that leaves
    /// the finite numbers is rejected.
    StepStatus step(ParticleState& state, const std::vector<Eigen::Vector3d>& forces,
                    const Eigen::Vector3d& gravity, double dt, const Tuning& tuning,
                    Workspace& ws) const noexcept;
    [[nodiscard]] static const Report& report(const Workspace& ws) noexcept;

    /// Where a driven particle is at the end of the next step; nothing for others and for places
    /// that are not finite.
    void drive(int particle, const Eigen::Vector3d& position, const Quaternion& turn,
               Workspace& ws) const noexcept;

    /// Passes of groups and links alone: moves particles to a shape near the one at rest, without
    /// time, velocity or contact, for what something else moves. `turns`: where rotations begin and
    /// end. Links are kept in the published form. False: not finite, nothing is changed.
    bool project(std::span<Eigen::Vector3d> positions, std::span<Quaternion> turns, int iterations,
                 Workspace& ws) const noexcept;

    /// One pass of shape matching alone, for measurements: positions of the workspace's last step.
    void match_once(Workspace& ws) const noexcept;

private:
    struct Impl;
    std::unique_ptr<const Impl> impl_;
};

}  // namespace pliant
