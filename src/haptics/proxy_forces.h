#pragma once

#include "pliant/haptics/virtual_proxy.h"

namespace pliant {

/// Force on the hand of a proxy whose contacts are known: spring, and normals interpolated between
/// vertices on request, docs/proxy.md eq. (4).
[[nodiscard]] Eigen::Vector3d hand_force(const ProxyState& state, const ProxyOptions& options,
                                         const SurfaceNeighbourhood& near) noexcept;

/// How far the surfaces of its contacts moved in this tick along the force on the hand [m]: their
/// work is force · this, docs/proxy.md eq. (9).
[[nodiscard]] Eigen::Vector3d surface_motion(const ProxyState& state, const ProxyOptions& options,
                                             const SurfaceNeighbourhood& near) noexcept;

/// Weighs vertices for forces; scratch of its own.
class ForceSpreader {
public:
    explicit ForceSpreader(const std::vector<MovingSurface*>& surfaces);
    /// Shares −force of the state among the bodies of its contacts.
    void apply(const ProxyState& state, const ProxyOptions& options,
               SurfaceNeighbourhood& near) noexcept;

private:
    void spread(const ProxyContact& contact, const Eigen::Vector3d& force, const ProxyState& state,
                const ProxyOptions& options, SurfaceNeighbourhood& near) noexcept;
    bool spread_smoothly(const ProxyContact& contact, const Eigen::Vector3d& force,
                         const ProxyState& state, const ProxyOptions& options,
                         SurfaceNeighbourhood& near) noexcept;

    struct Weight {
        int vertex;
        double weight;
    };
    std::vector<std::vector<char>> is_listed_;  // of each vertex of each surface
    std::vector<Weight> weights_;
};

}  // namespace pliant
