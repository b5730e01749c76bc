#pragma once

#include "scene/held_fem_tool.h"
#include "scene/world_in_making.h"

namespace pliant {

/// Makes the tool of a world: a sphere that is moved, or a body in a hand with its device.
class ToolMaker {
public:
    explicit ToolMaker(WorldInMaking& world) : world_(world) {}

    /// A sphere that is moved in the scene, before the bodies, which have it as an obstacle.
    void make_sphere();
    /// Whether this is the body in the hand.
    [[nodiscard]] bool holds(std::size_t description) const {
        return world_.scene.held_tool &&
               world_.scene.held_tool->body == world_.scene.bodies[description].name;
    }
    /// Of a body in a hand and in an `among`: both ends of the tool, as far as they do not need the
    /// body, and the mass that it gets.
    [[nodiscard]] RigidMass make_among(std::size_t description, const RigidSource& source,
                                       const SurfaceMesh& surface);
    /// The device, and the contacts that follow from it, for the body that is held; after all
    /// bodies and contacts. Throws InputError as make_held_tool() and its like.
    void make_held();

private:
    void hold(const HeldToolDescription& tool);
    void hold_proxy(const HeldToolDescription& tool, const WorldBody& found,
                    const RigidSource& source);
    void hold_among_fem(const HeldToolDescription& tool, const WorldBody& first,
                        const RigidSource& source);
    void hold_in_among(const WorldBody& body);
    void say_warning(const HeldTool& held) const;

    WorldInMaking& world_;
    std::optional<FemToolEnds> among_;  ///< of a body that is there, to be held
};

}  // namespace pliant
