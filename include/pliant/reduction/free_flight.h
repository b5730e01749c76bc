#pragma once

#include "pliant/body/rigid_motion.h"
#include "pliant/reduction/reduced_dynamics.h"

#include <array>

namespace pliant {

/// How rigid motion and deformation of a free body act on each other.
enum class FlightCoupling {
    Decoupled,  ///< integrated side by side, as published: for low speeds
    Coupled,    ///< inertial forces both ways through precomputed blocks, O(r²)
};

/// Inertia of a body in a subspace that is mass-orthogonal to rigid motions, docs/reduction.md eq.
/// (23). E_ab has a one at row a, column b, and acts on the vector of each node.
struct InertiaBlocks {
    double mass = 0;                                          ///< [kg]
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();         ///< of mass at rest [m]
    Eigen::Matrix3d second_moment = Eigen::Matrix3d::Zero();  ///< ∫ ρ X Xᵀ about the centre
    std::array<Eigen::VectorXd, 9> b;                         ///< UᵀM(E_ab X), at 3a + b
    std::array<Eigen::MatrixXd, 9> B;                         ///< UᵀM(E_ab U)
};
/// With the consistent mass. Throws InputError for a basis of another mesh and for one that
/// contains rigid motion.
[[nodiscard]] InertiaBlocks inertia_blocks(const FemModel& model, const Eigen::MatrixXd& U);

struct FreeState {
    RigidMotion frame;  ///< origin at the centre of mass, axes of the rest shape
    ReducedState shape;
};

/// A deforming body that flies freely: x = o + R (X + U q), X from the centre of mass,
/// docs/reduction.md eq. (23), (24). Immutable; one state and workspace per thread; steps allocate
/// nothing.
class FreeFlight {
public:
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    struct Workspace {
        virtual ~Workspace() = default;
        std::unique_ptr<ReducedDynamics::Workspace> reduced;  ///< of dynamics(), with its tuning
    };

    /// The mass of `dynamics` must be that of the blocks, Σ B_aa. Throws InputError for blocks of
    /// another size or of dependent vectors, and for a body without mass or extent.
    FreeFlight(ReducedDynamics dynamics, const InertiaBlocks& inertia,
               FlightCoupling coupling = FlightCoupling::Coupled);
    FreeFlight(FreeFlight&&) noexcept;
    FreeFlight& operator=(FreeFlight&&) noexcept;
    ~FreeFlight();

    [[nodiscard]] const ReducedDynamics& dynamics() const noexcept;
    [[nodiscard]] FlightCoupling coupling() const noexcept;
    [[nodiscard]] double mass() const noexcept;  ///< [kg]

    [[nodiscard]] FreeState make_state() const;
    [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const;
    /// Sets all accelerations from positions, velocities and loads, for a start in motion.
    void set_acceleration(FreeState& s, const Wrench& wrench_world, const ConstRef& f_body,
                          Workspace& ws) const noexcept;
    /// One step under a wrench about the frame's origin in world axes (gravity included by the
    /// caller; it has no reduced load) and a reduced load in body axes, both constant over the
    /// step. Both momenta change by exactly the impulse of the wrench. Coupled steps cost up to
    /// three steps of dynamics() and O(r²). Loads, wrenches and dt that are not finite are ignored
    /// (InputIgnored: zero load, no step); a state that is not finite starts again at rest
    /// (StateReset).
    [[nodiscard]] ReducedReport step(FreeState& s, const Wrench& wrench_world,
                                     const ConstRef& f_body, double dt,
                                     Workspace& ws) const noexcept;

    /// Of the moving and deforming body about the world origin: linear [kg m/s] in `force`, angular
    /// [kg m²/s] in `torque`.
    [[nodiscard]] Wrench momentum(const FreeState& s) const noexcept;
    /// Of flight, spin and deformation [J].
    [[nodiscard]] double kinetic_energy(const FreeState& s) const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
