#pragma once

#include "pliant/body/body.h"

#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// How the surface of a body takes contact. Two bodies make one value of each:
///     stiffness    the smaller one: the softer surface gives way; a body without one takes the
///                  other's, and if neither has one, default_stiffness() says
///     friction     √(μ_a μ_b); a body without one takes the other's
///     restitution  the larger one: a rubber ball bounces off steel as it does off rubber
struct ContactSurface {
    double stiffness = 0;            ///< of one point [N/m]; 0: from masses, sizes and materials
    std::optional<double> friction;  ///< Coulomb's coefficient μ, 0 … 10
    /// e, 0 … 0.9: two bodies that meet at the speed v part at e v, whatever the rate of the loop.
    double restitution = 0;
};

/// What two surfaces make of each other; 0 where neither says.
[[nodiscard]] double common_stiffness(const ContactSurface& a, const ContactSurface& b) noexcept;
[[nodiscard]] double common_friction(const ContactSurface& a, const ContactSurface& b) noexcept;
[[nodiscard]] double common_restitution(const ContactSurface& a, const ContactSurface& b) noexcept;

/// Friction and restitution of a named surface, against one of its own kind: "rubber", "wood", …
/// Throws InputError for an unknown name.
[[nodiscard]] ContactSurface contact_surface_preset(const std::string& name);
/// All names that contact_surface_preset() knows, from the most to the least slippery.
[[nodiscard]] std::vector<std::string> contact_surface_names();

/// What the stiffness of a contact follows from, of one body.
struct ContactScale {
    double size = 0;     ///< smallest side of its box at rest [m]; infinite: ground
    double width = 0;    ///< middle side of it, across which others press [m]
    double mass = 0;     ///< 0: held or prescribed [kg]
    double cell = 0;     ///< of the grid that its solid is on [m]; 0: exact, or none
    double modulus = 0;  ///< Young's, of a body that deforms [Pa]; 0: rigid
};
/// Of a body as it was made, but for the cell. Throws nothing.
[[nodiscard]] ContactScale contact_scale(const Body& body);
/// Stiffness of a flat contact between two bodies [N/m], docs/contact.md eq. (36): a load F that is
/// large for the smaller body presses them into each other by a depth δ that nobody sees,
///     K = max( F/δ, 100 E b ),   δ = min( 0.2 % of s, c/10 ),
///     F = g max( 10 m, 2 min(M, 1000 m) )
/// with the size s of the smaller body, the smaller mass m of the two, the largest mass M of all
/// bodies that may lie on them, the cell c of the solid, the modulus E of the softer one and the
/// smaller width b. 100 E b is a hundred times the stiffness of a cube of that size. g = 9.81 m/s²,
/// whatever the gravity of the scene. 0: neither has a mass nor deforms.
[[nodiscard]] double default_stiffness(const ContactScale& a, const ContactScale& b,
                                       double largest_mass) noexcept;

}  // namespace pliant
