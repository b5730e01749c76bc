#pragma once

#include "pliant/contact/contact_loads.h"
#include "pliant/haptics/static_coupling.h"

namespace pliant {

/// What a contact does to the tool, about the origin of its frame.
struct ToolSide {
    const Wrench* load = nullptr;
    const Matrix6d* gradient = nullptr;
    const Matrix6d* stiffness = nullptr;
    /// The gradient is that of a tool that stays while the other body moves backwards.
    bool is_mirrored = false;
};
[[nodiscard]] ToolSide side_of_tool(const ContactLoads& loads, const ContactLoadOptions& options,
                                    bool is_shell) noexcept;

/// Adds a contact of the tool, its loads moved to the point at `shift` from the frame's origin,
/// world axes; docs/haptics.md section "One cycle".
void add_contact(ToolContact& contact, const ToolSide& side, const Eigen::Vector3d& shift,
                 double point_stiffness) noexcept;

/// Lists the contacts of a pair that are deeper than `least` with the way their depth goes when the
/// tool moves about the grasp point; `field`: pose of the field's axes.
void add_deep_contacts(ToolContact& contact, const PointTraversal& traversal, const Pose& field,
                       const Eigen::Vector3d& grasp, bool is_shell, double least) noexcept;

}  // namespace pliant
