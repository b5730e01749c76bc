#pragma once

#include "pliant/body/body.h"

#include <limits>

namespace pliant {

/// A surface as it is beside how it was at rest.
struct BodyShape {
    /// Volume over that at rest; not a number: the surface encloses none worth speaking of.
    double volume = std::numeric_limits<double>::quiet_NaN();
    double extent = 1;                              ///< diagonal of its box over that at rest
    Eigen::Vector3d low = Eigen::Vector3d::Zero();  ///< of its box, world axes [m]
    Eigen::Vector3d high = low, centre = low;       ///< likewise
    [[nodiscard]] bool is_finite() const noexcept;
};

/// How a body may be beyond use, the worst last.
enum class BodyCondition {
    Well,
    Collapsed,  ///< less than a fifth of its volume is left
    InsideOut,  ///< its volume is negative
    Stretched,  ///< more than ten times as long as at rest
    Away,       ///< ten thousand times its size away, or not finite
};
[[nodiscard]] std::string_view to_string(BodyCondition condition) noexcept;

/// Measures the surface of a body from its display states, on any thread; of the body it reads only
/// what never changes. Not for ticks: it looks at all vertices. The body must outlive it.
class ShapeGauge {
public:
    /// `like`: of another body, perhaps of the same surface, whose sizes then need not be found
    /// anew.
    explicit ShapeGauge(const Body& body, const ShapeGauge* like = nullptr);
    [[nodiscard]] int num_vertices() const noexcept { return surface_->num_vertices(); }
    [[nodiscard]] double size() const noexcept { return size_; }  ///< as Body::size() [m]
    /// Of BodyDisplay::state_size() numbers. `scratch` gets the positions.
    [[nodiscard]] BodyShape measure(std::span<const float> state,
                                    std::vector<float>& scratch) const;
    /// Of a body that began around `start` [m].
    [[nodiscard]] BodyCondition condition(const BodyShape& shape,
                                          const Eigen::Vector3d& start) const noexcept;

private:
    const SurfaceMesh* surface_;
    std::shared_ptr<const BodyDisplay> display_;
    double size_;
    bool may_scatter_;     ///< several objects in one body
    double volume_ = 0;    ///< at rest [m³]; 0: not counted
    double diagonal_ = 0;  ///< at rest [m]
};

}  // namespace pliant
