#pragma once

#include "pliant/contact/moving_surface.h"

namespace pliant {

/// Surfaces that several spheres touch. Whoever owns the set advances it, once before all spheres
/// of a tick: a surface that advanced twice would no longer know where it came from, and what it
/// passed on its way would be lost.
class SurfaceSet {
public:
    /// The surfaces must outlive it. Throws InputError for one that is listed twice, or is none.
    explicit SurfaceSet(std::vector<MovingSurface*> surfaces);

    /// Begins a tick, see MovingSurface::advance.
    void advance() noexcept {
        for (MovingSurface* surface : surfaces_) surface->advance();
    }
    void restart() noexcept {
        for (MovingSurface* surface : surfaces_) surface->restart();
    }
    [[nodiscard]] const std::vector<MovingSurface*>& surfaces() const noexcept { return surfaces_; }

private:
    std::vector<MovingSurface*> surfaces_;
};

}  // namespace pliant
