#include "haptics/tool_contact.h"

#include "haptics/pose_rules.h"

#include <algorithm>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Derivatives for shifts and turns about a point at `shift` from the old one, of load about it.
/// A centre that moves along with the turn takes its arm with it.
Matrix6d moved_gradient(const Matrix6d& old, const Vector3d& force, const Vector3d& shift,
                        bool moves_centre) noexcept {
    const Matrix3d s = skew(shift);
    Matrix6d moved = old;
    // the old centre moves by dx + s × dω
    moved.rightCols<3>() += (old.leftCols<3>() * s).eval();
    // T' = T − s × F
    moved.bottomRows<3>() -= (s * moved.topRows<3>()).eval();
    if (moves_centre) moved.bottomRightCorner<3, 3>() -= skew(force) * s;
    return moved;
}

/// Gradients shorter than this say nothing about a direction: on the medial axis of a solid.
constexpr double kShortestSlope = 0.5;

/// Puts a contact into the list, or the shallowest one out of it.
void list_contact(ToolContact& contact, const DeepContact& deep) noexcept {
    const auto all = std::span(contact.deep).first(static_cast<std::size_t>(contact.num_deep));
    if (contact.num_deep < ToolContact::kMaxDeep) {
        contact.deep[static_cast<std::size_t>(contact.num_deep++)] = deep;
        return;
    }
    const auto least = std::ranges::min_element(all, {}, &DeepContact::depth);
    contact.other_depth = std::max(contact.other_depth, std::min(least->depth, deep.depth));
    if (deep.depth > least->depth) *least = deep;
}

}  // namespace

ToolSide side_of_tool(const ContactLoads& loads, const ContactLoadOptions& options,
                      bool is_shell) noexcept {
    if (is_shell) return {&loads.on_shell, &loads.shell_gradient, &loads.shell_stiffness, false};
    return {&loads.on_field, &loads.field_gradient, &loads.field_stiffness,
            options.gradients == GradientForm::Mirrored};
}

void add_contact(ToolContact& contact, const ToolSide& side, const Vector3d& shift,
                 double point_stiffness) noexcept {
    contact.load += side.load->about(shift);
    contact.gradient += moved_gradient(*side.gradient, side.load->force, shift, !side.is_mirrored);
    contact.normals +=
        moved_gradient(*side.stiffness, Vector3d::Zero(), shift, false) / point_stiffness;
}

void add_deep_contacts(ToolContact& contact, const PointTraversal& traversal, const Pose& field,
                       const Vector3d& grasp, bool is_shell, double least) noexcept {
    const ContactPoints& found = traversal.contacts();
    const auto depth = [&](int i) { return -double{found.distance[static_cast<std::size_t>(i)]}; };
    // the deepest of this pair
    constexpr int kMost = ToolContact::kMaxDeep;
    int chosen[kMost];
    int count = 0;
    for (int i = 0; i < found.count; ++i) {
        int left_out = i;
        if (depth(i) > least) {
            if (count < kMost) {
                chosen[count++] = i;
                continue;
            }
            int* shallowest = std::min_element(chosen, chosen + kMost,
                                               [&](int a, int b) { return depth(a) < depth(b); });
            if (depth(i) > depth(*shallowest)) std::swap(*shallowest, left_out);
        }
        contact.other_depth = std::max(contact.other_depth, depth(left_out));
    }
    if (count == 0) return;

    float x[kMost], y[kMost], z[kMost], distance[kMost], gx[kMost], gy[kMost], gz[kMost];
    for (int k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(chosen[k]);
        x[k] = found.x[i];
        y[k] = found.y[i];
        z[k] = found.z[i];
    }
    traversal.field().samples({x, y, z, count}, {distance, gx, gy, gz});
    for (int k = 0; k < count; ++k) {
        const Vector3d slope = field.rotation * Vector3d(gx[k], gy[k], gz[k]);
        const Vector3d arm = field.to_world(Vector3d(x[k], y[k], z[k])) - grasp;
        const double length = slope.norm();
        if (!(length > kShortestSlope) || !(length < 1e3) || !arm.allFinite()) {
            contact.other_depth = std::max(contact.other_depth, depth(chosen[k]));
            continue;
        }
        // the shell leaves along the gradient, the field against it
        DeepContact deep;
        deep.inward << slope, arm.cross(slope);
        if (is_shell) deep.inward = -deep.inward;
        deep.depth = depth(chosen[k]);
        list_contact(contact, deep);
    }
}

}  // namespace pliant
