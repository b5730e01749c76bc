#pragma once

#include "particles/match_kernels.h"
#include "pliant/particles/particle_dynamics.h"

#include <vector>

namespace pliant {

/// Contact of the drawn surface of a body with planes, docs/particles.md eqs. (11)–(13). Of each
/// particle near a plane the lowest vertices that it carries touch, one for each quarter around it.
/// A push acts on the group of the particle as on a rigid piece, so that forces keep their lever
/// arms. Immutable.
class SkinContact {
public:
    /// Quarters around a particle: its vertices that touch one plane in a step.
    static constexpr int kQuarters = 4;

    /// A vertex that may touch a plane in a step.
    struct Touch {
        int vertex, particle, plane;
        float goal;              ///< height over the plane at the end of the step [m], ≤ 0
        Eigen::Vector3f before;  ///< where it was, from the origin of the step [m]
        float push;              ///< along the normal, mass times change so far [kg m]
        Eigen::Vector3f rubbing;
        Eigen::Matrix3f inverse_inertia;  ///< of the group; zero until it is pushed
        bool is_ready;
    };
    struct Workspace {
        std::vector<Touch> touches;
    };

    /// `inverse_mass`: of each particle, zero where it is held.
    SkinContact(const ParticleModel& model, const std::vector<float>& inverse_mass,
                const std::vector<ParticlePlane>& planes);
    [[nodiscard]] Workspace make_workspace() const;

    /// Sets the touches of a step of dt seconds from `s`; `predicted`: places and turns at its end.
    void find(const ParticleState& s, const std::vector<MatchParticle>& predicted,
              const std::vector<Quaternion>& turn, const Eigen::Vector3d& origin, double dt,
              Workspace& ws) const;
    /// One pass over the touches. Adds what it gives to the connected parts (`part` of each
    /// particle) to `changes` [kg m]; returns how many touches push.
    int push(float friction, const Eigen::Vector3d& origin, std::vector<MatchParticle>& particles,
             std::vector<float>& turns, const std::vector<int>& part,
             std::vector<Eigen::Vector3d>& changes, Workspace& ws) const;
    /// Size of the ellipsoid of a particle that reaches as far as the surface does, over its own;
    /// the mean over what of the surface it carries.
    [[nodiscard]] const std::vector<float>& fit() const noexcept { return fit_; }

private:
    struct Group;
    [[nodiscard]] Eigen::Vector3f place(int vertex, const std::vector<MatchParticle>& particles,
                                        const std::vector<float>& turns) const;
    [[nodiscard]] Group group_of(int particle, const std::vector<MatchParticle>& particles) const;
    void prepare(Touch& touch, const Group& group,
                 const std::vector<MatchParticle>& particles) const;
    void move(const Touch& touch, const Group& group, const Eigen::Vector3f& impulse,
              const Eigen::Vector3f& at, std::vector<MatchParticle>& particles,
              std::vector<float>& turns) const;
    void fit_ellipsoids(const ParticleModel& model);

    ParticleLayout layout_;
    SkinWeights skin_;
    std::vector<Eigen::Vector3d> vertices_;
    std::vector<ParticlePlane> planes_;
    std::vector<float> inverse_mass_, fit_;
    // vertices by the particle that carries most of them, with their arms from it
    std::vector<int> first_vertex_, carried_;
    std::vector<Eigen::Vector3f> arms_;
    std::vector<float> farthest_;  ///< of the arms of each particle
    // free members of the group of each particle
    std::vector<int> first_member_, members_;
    std::vector<float> inverse_group_mass_;
};

/// Whether the surface is more than its particles: not the sheet of a cloth, whose balls are its
/// thickness.
[[nodiscard]] bool has_skin(const ParticleModel& model);

}  // namespace pliant
