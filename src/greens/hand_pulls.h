#pragma once

#include "greens/node_loads.h"
#include "pliant/greens/point_contact.h"
#include "pliant/greens/surface_stiffness.h"

#include <Eigen/Core>
#include <array>
#include <span>

namespace pliant {

/// Forces of hands on a body with Green's functions: through the mask of their place and with a
/// lag, docs/greens.md eq. (F2), so that a spring that is evaluated once per step is stable.
/// Nothing allocates after construction.
class HandPulls {
public:
    static constexpr int kMaxPulls = 8;  ///< places, also those that were let go of
    static constexpr int kStateSize = 8 * kMaxPulls;

    HandPulls(int num_column_ids, int max_loads)
        : point_loads_(num_column_ids, max_loads), loads_(num_column_ids, max_loads) {}

    void clear() noexcept;
    /// In the next step, in the axes of the body [N]. All places taken: the weakest is given up.
    void add(const TrianglePoint& where, const Eigen::Vector3d& force) noexcept;
    /// Eq. (F2) over dt [s].
    void follow(double dt) noexcept;
    /// Finds the tractions; `modulus` [Pa] as it is. False: more nodes than there is room for.
    [[nodiscard]] bool spread(const SurfaceStiffness& stiffness, double modulus) noexcept;

    /// Over the modulus, as of the last spread.
    [[nodiscard]] const NodeLoads& loads() const noexcept { return loads_; }
    /// In pascals.
    [[nodiscard]] const PointLoads& point_loads() const noexcept { return point_loads_; }
    /// That they store [J]; `scale` of the modulus.
    [[nodiscard]] double energy(const SurfaceStiffness& stiffness, double scale) const noexcept;
    /// Share of a change of force that a step at this rate [Hz] lets through.
    [[nodiscard]] static double share_of_step(double rate) noexcept;

    void save(std::span<double, kStateSize> state) const noexcept;
    [[nodiscard]] static bool is_state(std::span<const double, kStateSize> state,
                                       int num_triangles) noexcept;
    /// Of a state that is one.
    void restore(std::span<const double, kStateSize> state) noexcept;

private:
    /// A place that a hand pulls at, or has let go of a moment ago.
    struct Pull {
        int triangle = -1;  // −1: none
        Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();
        Eigen::Vector3d force = Eigen::Vector3d::Zero();   // that acts, axes of the body
        Eigen::Vector3d wanted = Eigen::Vector3d::Zero();  // since the last step
        double largest = 0;
    };
    [[nodiscard]] Pull& pull_at(const TrianglePoint& where) noexcept;

    std::array<Pull, kMaxPulls> pulls_;
    PointLoads point_loads_;
    NodeLoads loads_;
};

}  // namespace pliant
