#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <limits>

namespace pliant {

/// Points to ask about, components apart, in the axes of the field [m].
struct PointBatch {
    const float* x = nullptr;
    const float* y = nullptr;
    const float* z = nullptr;
    int count = 0;
};

/// Answers of a batch with gradients; arrays of the batch's length.
struct SampleBatch {
    float* distance = nullptr;  ///< [m], negative inside
    float* gx = nullptr;  ///< gradient; points away from the surface outside, towards it inside
    float* gy = nullptr;
    float* gz = nullptr;
};

/// Signed distance and its gradient at one point.
struct DistanceSample {
    double distance = std::numeric_limits<double>::infinity();  ///< [m], negative inside
    Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
};

/// How far values may be trusted in culling, docs/field.md eq. (4): if any point within R of c has
/// a value below zero, then value(c) ≤ stretch R + near where value(c) < band, and ≤ stretch R +
/// far elsewhere.
struct CullingMargin {
    float near = 0, far = 0, band = std::numeric_limits<float>::infinity();  ///< [m]
    float stretch = 1;  ///< factor on R; over 1 only for deformed fields, eq. (14)
    [[nodiscard]] float at(float value) const noexcept { return value < band ? near : far; }
};

/// Distance from the surface of a solid, negative inside; docs/field.md. Continuous inside
/// bounds(); outside, values are lower bounds that grow with the distance from the box and never
/// exceed the true distance. Batches are the fast way: any length, nothing allocates, each answer
/// depends on its point alone, bit for bit. Points that are not finite are infinitely far outside.
/// One thread at a time for fields that are updated; the others are immutable and thread-safe.
class DistanceField {
public:
    virtual ~DistanceField() = default;

    virtual void distances(const PointBatch& points, float* distance) const noexcept = 0;
    /// The same distances, and gradients of the interpolated function; of lower bounds outside
    /// bounds(). For force *gradients* and pictures: its direction jumps, eq. (3).
    virtual void samples(const PointBatch& points, const SampleBatch& samples) const noexcept = 0;
    /// Where values are more than bounds; contains the solid. Infinite for half-spaces.
    [[nodiscard]] virtual const Box& bounds() const noexcept = 0;
    [[nodiscard]] virtual CullingMargin margin() const noexcept = 0;
    /// Length below which the field knows no detail [m]; 0: exact.
    [[nodiscard]] virtual double resolution() const noexcept = 0;

    [[nodiscard]] float distance(const Eigen::Vector3d& x) const noexcept;
    [[nodiscard]] DistanceSample sample(const Eigen::Vector3d& x) const noexcept;

protected:
    DistanceField() = default;
    DistanceField(const DistanceField&) = default;
    DistanceField& operator=(const DistanceField&) = default;
};

}  // namespace pliant
