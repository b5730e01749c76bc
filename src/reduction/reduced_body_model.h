#pragma once

#include "pliant/reduction/reduced_body.h"

#include <mutex>
#include <optional>

namespace pliant {

/// How bodies of one model move that made the same choices.
struct ReducedMotion {
    std::optional<ReducedDynamics> held;
    std::optional<FreeFlight> flight;
    [[nodiscard]] const ReducedDynamics& dynamics() const noexcept {
        return flight ? flight->dynamics() : *held;
    }
};

struct ReducedBodyModel::Data {
    explicit Data(ReducedModel reduced);

    ReducedModel model;
    BodySurface surface;
    SurfaceShapes shapes;
    std::shared_ptr<const BodyDisplay> display;
    std::shared_ptr<const ReducedForce> force, linear_force;
    Eigen::MatrixXd mass, inverse_mass;
    Eigen::MatrixXd weight;  ///< r × 3: loads of an acceleration of 1 m/s² along each axis
    double largest_row = 0;  ///< |Ū_s|² of the vertex that moves most
    std::optional<InertiaBlocks> inertia;  ///< of a free body
    std::optional<RigidMass> rest_mass;    ///< of a free body, about its centre
    double smallest_inertia = 0;           ///< about the centre of mass at rest [kg m²]

    /// Shared by all bodies that ask for the same. Thread-safe.
    [[nodiscard]] std::shared_ptr<const ReducedMotion> motion(
        const ReducedBodyOptions& options) const;

private:
    struct Choice {
        bool is_linear, is_tangential;
        FlightCoupling coupling;
        std::shared_ptr<const ReducedViscosity> viscosity;
        friend bool operator==(const Choice&, const Choice&) = default;
    };
    mutable std::mutex mutex_;
    mutable std::vector<std::pair<Choice, std::shared_ptr<const ReducedMotion>>> motions_;
};

}  // namespace pliant
