#pragma once

#include "pliant/contact/sphere_carry.h"

#include <algorithm>

namespace pliant {

/// How a sphere leaves each of the surfaces around it: as the surface says, or else its options.
class PopOutModes {
public:
    PopOutModes(const SurfaceNeighbourhood& near, const SphereCarryOptions& options) noexcept
        : near_(near),
          otherwise_(options.pop_out),
          has_guarded_(std::any_of(near.surfaces().begin(), near.surfaces().end(),
                                   [&](const MovingSurface* surface) {
                                       return mode_of(*surface) == PopOutMode::Guarded;
                                   })) {}

    /// Of a triangle of the patch.
    [[nodiscard]] PopOutMode of(int i) const noexcept { return mode_of(near_.surface_of(i)); }
    [[nodiscard]] bool has_guarded() const noexcept { return has_guarded_; }
    /// The way to `to`, as far as guarded surfaces let it.
    [[nodiscard]] Eigen::Vector3d move(SurfaceNeighbourhood& near, const Eigen::Vector3d& from,
                                       const Eigen::Vector3d& to, double radius) const noexcept {
        if (!has_guarded_) return to;
        return near.guarded_move(from, to, radius,
                                 [&](int i) { return of(i) != PopOutMode::Guarded; });
    }

private:
    [[nodiscard]] PopOutMode mode_of(const MovingSurface& surface) const noexcept {
        return surface.pop_out().value_or(otherwise_);
    }

    const SurfaceNeighbourhood& near_;
    PopOutMode otherwise_;
    bool has_guarded_;
};

}  // namespace pliant
