#pragma once

#include "bodies.h"
#include "pliant/geometry/surface_query.h"

#include <utility>

namespace pliant::compare {

/// A round pad on the surface of the object at rest, docs/compare.md eq. (1): forces it spreads and
/// displacements it feels have the same weights, which add up to one.
struct Pad {
    std::vector<int> vertices;
    std::vector<double> weights;
};

/// Where the pad presses and which way it strokes, the same for all methods.
class Script {
public:
    /// Throws InputError for a depth that is not positive or more than a third of the object.
    /// `depth` 0: 3 % of the size.
    Script(const Object& object, double depth);

    [[nodiscard]] double depth() const noexcept { return depth_; }    ///< [m]
    [[nodiscard]] double radius() const noexcept { return radius_; }  ///< of the pad [m]
    [[nodiscard]] const Eigen::Vector3d& place() const noexcept { return place_; }
    [[nodiscard]] double stroke_length() const noexcept { return length_; }
    // In ticks.
    [[nodiscard]] int press() const noexcept { return ticks(100); }
    [[nodiscard]] int hold() const noexcept { return ticks(30); }
    [[nodiscard]] int stroke() const noexcept { return ticks(50); }
    [[nodiscard]] int settle() const noexcept { return ticks(10); }
    /// `way` from 0 to 1 along the stroke.
    [[nodiscard]] Pad pad_at(double way) const;

private:
    [[nodiscard]] int ticks(double phases) const noexcept;
    /// The top of the surface there; false: nothing is free under the pad.
    bool centre_at(double way, Eigen::Vector3d& centre) const;
    [[nodiscard]] Pad pad_around(const Eigen::Vector3d& centre) const;

    const Object& object_;
    SurfaceQuery query_;
    std::vector<double> areas_;  ///< of vertices
    double depth_, radius_, length_;
    Eigen::Vector3d place_, direction_;
};

/// What one body did under the script.
struct Touch {
    std::vector<std::pair<double, double>> press;   ///< depth [m], force [N], until the deepest
    std::vector<std::pair<double, double>> stroke;  ///< way [m], force [N]
    double depth = 0, force = 0;                    ///< at the deepest
    double first_stiffness = 0;                     ///< of the unloaded object [N/m]; 0: gives not
    std::vector<Eigen::Vector3d> shape;             ///< vertices at the deepest press [m]
    TickHistogram::Summary ticks;                   ///< CPU time of the body's steps
    std::uint64_t not_ok = 0;                       ///< steps that were not StepStatus::Ok
};
/// Presses and strokes. `force`: what a body that gives nowhere is pressed with [N].
[[nodiscard]] Touch touch(Body& body, const Object& object, const Script& script, double force,
                          const std::string& title, Progress& progress);

}  // namespace pliant::compare
