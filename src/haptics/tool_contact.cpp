#include "haptics/tool_contact.h"

#include "haptics/pose_rules.h"

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

}  // namespace pliant
