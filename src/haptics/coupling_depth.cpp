#include "haptics/coupling_depth.h"

#include <algorithm>

namespace pliant {

namespace {

constexpr int kMaxSweeps = 12;
constexpr double kCloseEnough = 1e-3;  ///< of the bound: ends sweeps
constexpr double kTooDeep = 1.05;      ///< of it: nothing must hold a tool for ever
constexpr double kLeastPart = 0.1;     ///< of a step that is left then

/// No point of the tool goes farther.
double farthest(const DepthBound& bound, const Vector6d& step) noexcept {
    return step.head<3>().norm() + bound.reach / bound.length * step.tail<3>().norm();
}

/// ∂depth/∂step and how much of it is left, of all listed contacts.
struct DepthRows {
    DepthRows(const ToolContact& contact, const DepthBound& bound) noexcept
        : count(contact.num_deep) {
        for (int i = 0; i < count; ++i) {
            const auto k = static_cast<std::size_t>(i);
            row[k] = contact.deep[k].inward;
            row[k].tail<3>() /= bound.length;
            room[k] = bound.max_depth - bound.approach - contact.deep[k].depth;
        }
    }
    std::array<Vector6d, ToolContact::kMaxDeep> row;
    std::array<double, ToolContact::kMaxDeep> room;
    int count;
};

/// Nearest step that obeys all rows: Hildreth's method, one row at a time.
bool project(const DepthRows& rows, double tolerance, Vector6d& step) noexcept {
    std::array<double, ToolContact::kMaxDeep> pushed = {};
    bool has_changed = false;
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        double largest = 0;
        for (int i = 0; i < rows.count; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const double excess = rows.row[k].dot(step) - rows.room[k];
            const double push = std::max(excess / rows.row[k].squaredNorm(), -pushed[k]);
            if (push == 0) continue;
            pushed[k] += push;
            step -= push * rows.row[k];
            largest = std::max(largest, std::abs(excess));
            has_changed = true;
        }
        if (largest <= tolerance) break;
    }
    return has_changed;
}

}  // namespace

bool hold_depth(const ToolContact& contact, const DepthBound& bound, Vector6d& step) noexcept {
    const DepthRows rows(contact, bound);
    const double tolerance = kCloseEnough * bound.max_depth;
    const bool has_changed = project(rows, tolerance, step);

    // what sweeps left over, and contacts that are not listed: a shorter step
    double part = 1, deepest = contact.other_depth;
    bool goes_out = rows.count > 0;
    for (int i = 0; i < rows.count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double deeper = rows.row[k].dot(step), room = std::max(rows.room[k], 0.0);
        if (deeper > room + tolerance) part = std::min(part, room / deeper);
        goes_out = goes_out && deeper <= 0;
        deepest = std::max(deepest, contact.deep[k].depth);
    }
    const double way = farthest(bound, step);
    const double room = contact.num_contacts > 0
                            ? std::max(bound.max_depth - contact.other_depth, 0.0)
                            : bound.max_depth + std::max(contact.clearance, 0.0);
    // where those that are too deep get out, those beside them do
    const bool is_free = goes_out && contact.other_depth > bound.max_depth;
    if (way > room && !is_free) part = std::min(part, room / way);
    if (deepest > kTooDeep * bound.max_depth) part = std::max(part, kLeastPart);
    step *= part;
    return has_changed || part < 1;
}

double expected_depth(const ToolContact& contact, const DepthBound& bound,
                      const Vector6d& step) noexcept {
    const DepthRows rows(contact, bound);
    double depth = contact.other_depth + farthest(bound, step);
    if (contact.num_contacts == 0) depth -= std::max(contact.clearance, 0.0);
    for (int i = 0; i < rows.count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        depth = std::max(depth, contact.deep[k].depth + rows.row[k].dot(step));
    }
    return depth;
}

}  // namespace pliant
