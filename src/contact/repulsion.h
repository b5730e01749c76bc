#pragma once

#include "contact/point_grid.h"
#include "pliant/core/progress.h"
#include "pliant/field/distance_field.h"

namespace pliant {

/// How much points push each other by the cosine between their normals: the two faces of a sheet
/// not at all, the two sides of an edge fully.
[[nodiscard]] constexpr float side_weight(float cosine) noexcept {
    const float weight = (cosine + 0.8f) / 0.6f;
    return weight < 0 ? 0 : weight > 1 ? 1 : weight;
}
[[nodiscard]] constexpr bool is_same_side(float cosine) noexcept {
    return side_weight(cosine) > 0.5f;
}

/// Moves points to the zero surface of a field by Newton's method, |value| < `eps`; `is_there`
/// tells which arrived. Normals are those of the field there. Others keep place and normal.
void project_to_surface(const DistanceField& field, float eps, PointArrays& points,
                        std::vector<char>& is_there);

struct Repulsion {
    double spacing = 0;    ///< of all points [m]
    double radius = 0;     ///< [m]
    double step = 0;       ///< [m]
    double tolerance = 0;  ///< of the mean move [m]
    int max_iterations = 0;
    float eps = 0;  ///< of values on the surface [m]
};
struct RepulsionResult {
    int iterations = 0;
    bool has_converged = false;
};
/// Spreads the points from `num_frozen` on over the zero surface of a field, where all are;
/// docs/contact.md eq. (1). The others push, but stay.
RepulsionResult repel(PointArrays& points, int num_frozen, const DistanceField& field,
                      const Repulsion& options, Progress& progress);

}  // namespace pliant
