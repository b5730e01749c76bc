#pragma once

#include "pliant/haptics/virtual_proxy.h"
#include "pliant/particles/particle_body.h"
#include "plot.h"

namespace pliant::reproduce {

// Bodies and recordings that several experiments with proxies share.

/// What a hand did and felt, tick by tick.
struct ProxyRecording {
    struct Row {
        double time;
        Eigen::Vector3d goal, position, force;
        int pop_rounds = 0;
        bool is_squeezed = false;
    };
    std::vector<Row> rows;

    void add(double time, const ProxyState& state) {
        rows.push_back(
            {time, state.goal, state.position, state.force, state.pop_rounds, state.is_squeezed});
    }
    /// time, hand, proxy and force, three columns each, rounds of pop-out, and 1 without room.
    [[nodiscard]] std::string csv() const;
    /// One component of `member` over time, times `scale`; every `stride`-th row.
    [[nodiscard]] Series series(const std::string& label, Eigen::Vector3d Row::*member, int axis,
                                double scale, int color, int stride = 1) const;
};

/// The fish of the published scenes: 137 particles with 8 links, head 0.9 and the rest 0.6 stiff,
/// head towards +x, about as many vertices.
[[nodiscard]] const ParticleModel& published_fish();
/// Lying on its side on the plane z = 0, its middle above y = 0.
[[nodiscard]] Pose lying_pose();

/// Four fish that fell onto one another in a tray, at rest, five passes in a step of kPileStep [s].
inline constexpr double kPileStep = 1e-3;
[[nodiscard]] std::unique_ptr<ParticleBody> pile_of_fish();
/// Of a hand above the pile, and of one that stirs it [m].
inline constexpr double kAboveFish = 0.4;
[[nodiscard]] double height_in_fish(const ParticleBody& pile);
/// Comes down from above within 300 ticks, and goes round in a circle of 2 cm after 400.
[[nodiscard]] Eigen::Vector3d hand_among_fish(int tick, double height);

/// Where the vertical line through (x, y) leaves the body upwards; `otherwise` where it misses it.
[[nodiscard]] double top_of(const Body& body, double x, double y, double otherwise);
/// The surface as it is now, for pictures.
[[nodiscard]] SurfaceMesh surface_now(const Body& body);

/// Maxima higher than `least`, each the highest within `apart` samples.
[[nodiscard]] std::vector<std::size_t> peaks_of(const std::vector<double>& values, double least,
                                                std::size_t apart);

}  // namespace pliant::reproduce
