#include "contact/friction_anchors.h"

#include <bit>
#include <cassert>
#include <utility>

namespace pliant {

using Eigen::Vector3d;

FrictionAnchors::FrictionAnchors(int capacity) : capacity_(capacity) {
    assert(capacity > 0);
    const std::size_t num_slots = std::bit_ceil(2 * static_cast<std::size_t>(capacity));
    shift_ = 64 - std::countr_zero(num_slots);
    present_.slots.resize(num_slots);
    next_.slots.resize(num_slots);
    clear();
}

std::size_t FrictionAnchors::first_place(int point) const noexcept {
    // Fibonacci hashing: neighbouring points land far apart
    return static_cast<std::size_t>((static_cast<std::uint64_t>(point) * 0x9E3779B97F4A7C15ull) >>
                                    shift_);
}

void FrictionAnchors::begin() noexcept {
    next_.number = ++num_sets_;
    next_.size = 0;
}

const Vector3d* FrictionAnchors::find(int point) const noexcept {
    if (present_.size == 0) return nullptr;
    const std::size_t mask = present_.slots.size() - 1;
    // ends: at least half of the slots are free
    for (std::size_t i = first_place(point);; i = (i + 1) & mask) {
        const Slot& slot = present_.slots[i];
        if (slot.set != present_.number) return nullptr;
        if (slot.point == point) return &slot.anchor;
    }
}

bool FrictionAnchors::keep(int point, const Vector3d& anchor) noexcept {
    if (next_.size == capacity_) return false;
    const std::size_t mask = next_.slots.size() - 1;
    std::size_t i = first_place(point);
    while (next_.slots[i].set == next_.number && next_.slots[i].point != point) i = (i + 1) & mask;
    Slot& slot = next_.slots[i];
    if (slot.set != next_.number) ++next_.size;
    slot = {next_.number, point, anchor};
    return true;
}

void FrictionAnchors::end() noexcept { std::swap(present_, next_); }

void FrictionAnchors::clear() noexcept {
    present_.number = ++num_sets_;
    present_.size = 0;
}

AnchoredSlip anchored_slip(const Vector3d& offset, const Vector3d& normal, double limit) noexcept {
    const Vector3d u = offset - normal.dot(offset) * normal;
    const double length = u.norm();
    AnchoredSlip slip;
    if (length > 0) {
        slip.e = u / length;
    } else {
        // any direction in the tangent plane: from the axis farthest from the normal
        int axis = 0;
        normal.cwiseAbs().minCoeff(&axis);
        slip.e = normal.cross(Vector3d(Vector3d::Unit(axis))).normalized();
    }
    slip.side = normal.cross(slip.e);
    slip.is_sliding = length > limit;
    slip.stretch = slip.is_sliding ? limit : length;
    slip.along = slip.is_sliding ? 0.0 : 1.0;
    slip.across = slip.is_sliding ? limit / length : 1.0;
    return slip;
}

}  // namespace pliant
