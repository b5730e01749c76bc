#pragma once

#include "pliant/haptics/sphere_tool.h"
#include "pliant/particles/particle_body.h"

namespace pliant {

/// A hand that holds a body of particles by some of them (HeldParticles::is_driven): these are the
/// spheres of a tool and stay outside other bodies, whose resistance the hand feels; the rest of
/// the body follows in its own steps, as it moves and weighs. docs/sphere-tools.md section "Holding
/// things". One thread at a time; tick() neither allocates nor throws.
class BodyGrip {
public:
    /// `surfaces`: of other bodies; its owner advances it before each tick(). The body must outlive
    /// the grip. Ellipsoids become balls of the same volume. Throws InputError for a body without
    /// driven particles and what SphereTool refuses.
    BodyGrip(ParticleBody& body, const SurfaceSet& surfaces,
             SphereToolOptions options = {.is_rigid = true});

    [[nodiscard]] const SphereTool& tool() const noexcept { return tool_; }
    /// Where the hand is when the body is at its start: the middle of what it holds, world axes.
    [[nodiscard]] const Pose& start() const noexcept { return start_; }
    void reset() noexcept { tool_.reset(start_); }

    /// Follows the hand; the body takes it in its next step.
    const SphereToolState& tick(const Pose& hand) noexcept;
    /// See SphereTool.
    void apply_forces() noexcept { tool_.apply_forces(); }

private:
    ParticleBody& body_;
    Pose start_;
    SphereTool tool_;
};

}  // namespace pliant
