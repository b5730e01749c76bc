#pragma once

#include "field/solid_signs.h"

#include <algorithm>
#include <limits>

namespace pliant::detail {

/// Distances at points visited one after the other, each near the last, whose nearest point limits
/// the next search. Answers do not depend on it: a point has the same bits whatever the way to it.
class SurfaceWalk {
public:
    /// Without `signs`: unsigned.
    SurfaceWalk(const SurfaceQuery& surface, const SolidSigns* signs)
        : surface_(&surface), signs_(signs) {}

    double operator()(const Eigen::Vector3d& x) noexcept {
        double radius = std::numeric_limits<double>::infinity();
        if (last_.triangle >= 0) {
            const double way = (x - last_.point).norm();
            radius = way + 1e-9 * (way + last_.distance);  // more than rounding, also for way = 0
        }
        last_ = surface_->closest(x, radius);
        return signs_ && signs_->is_inside(x, last_) ? -last_.distance : last_.distance;
    }

private:
    const SurfaceQuery* surface_;
    const SolidSigns* signs_;
    ClosestPoint last_;
};

/// What a grid is to hold: the signed distance from a solid, docs/field.md eq. (C1), or the
/// distance from anything minus `offset`, eq. (C2), (C3).
struct FieldSource {
    const SurfaceQuery* surface = nullptr;
    double offset = 0;  ///< [m]; 0: signed
    /// Offset fields: the outer surface, inside of which everything is negative; or none.
    const SurfaceQuery* hull = nullptr;
    const SolidSigns* signs = nullptr;  ///< of a signed field's surface, or of the hull
};

/// Values of a source at points visited one after the other.
class FieldWalk {
public:
    explicit FieldWalk(const FieldSource& source)
        : surface_(*source.surface, source.hull ? nullptr : source.signs),
          hull_(source.hull ? *source.hull : *source.surface, source.signs),
          has_hull_(source.hull != nullptr),
          offset_(source.offset) {}

    double operator()(const Eigen::Vector3d& x) noexcept {
        const double value = surface_(x) - offset_;
        if (!has_hull_) return value;
        const double depth = hull_(x);
        return depth < 0 ? std::min(value, depth) : value;
    }

private:
    SurfaceWalk surface_, hull_;
    bool has_hull_;
    double offset_;
};

}  // namespace pliant::detail
