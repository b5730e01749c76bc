#pragma once

#include "pliant/contact/contact_pair.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/contact/self_contact.h"
#include "pliant/scene/greens_touch.h"

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace pliant {

/// A body of a contact.
struct ContactMember {
    int place = 0;                  ///< in its loop
    bool is_scripted = false;       ///< moves along a path
    std::optional<PointTree> tree;  ///< of its points, if they are asked
};

/// Contact inside a loop, of one of four kinds; docs/scene.md section "Contact".
struct LoopContact {
    std::string name;  ///< "bridge/creature"; of its parameters
    /// Of a pair: shell, field. Of a solver: as it counts them. Of self-contact: one each. Of
    /// Green's functions: the body that has them, then those that touch it.
    std::vector<ContactMember> bodies;
    std::variant<ContactPair, ContactSolver, std::vector<SelfContact>, std::unique_ptr<GreensTouch>>
        kind;

    /// Place of the only body with points, or with a field; −1: there are several.
    [[nodiscard]] int shell() const noexcept;
    [[nodiscard]] int field() const noexcept;
    /// Null for the other kinds.
    [[nodiscard]] const ContactPair* pair() const noexcept {
        return std::get_if<ContactPair>(&kind);
    }
    [[nodiscard]] const ContactSolver* solver() const noexcept {
        return std::get_if<ContactSolver>(&kind);
    }
    [[nodiscard]] GreensTouch* greens() const noexcept {
        const auto* touch = std::get_if<std::unique_ptr<GreensTouch>>(&kind);
        return touch ? touch->get() : nullptr;
    }
};

/// What a contact shows of itself: counts of the last tick, and nodes of point-trees.
struct ShownContact {
    static constexpr int kMaxNodes = 2000;
    /// A node of the tree of one of LoopContact::bodies.
    struct Node {
        std::int32_t member = 0, node = 0;
    };

    std::int32_t shell = -1, field = -1;  ///< bodies of the world; −1: several
    int num_pairs = 0;                    ///< of bodies that were near each other
    TraversalStatistics statistics;       ///< sums, and the deepest level
    std::array<double, 3> force = {};     ///< on the field body, or on what a script moves [N]
    double deepest = 0;                   ///< largest depth [m]
    /// Where the search ended: the first num_contacting touch, the rest up to num_nodes do not.
    /// Evenly chosen where there are more.
    std::vector<Node> nodes;
    std::vector<std::array<float, 3>> forces;  ///< on those that touch, world axes [N]
    int num_nodes = 0, num_contacting = 0;
    ShownGreens greens;  ///< its nodes are those of the body's display state
};

/// A node of a frame in the world.
struct ContactMark {
    std::array<float, 3> position = {};
    float radius = 0;                 ///< of the sphere around all that is below it [m]
    std::array<float, 3> force = {};  ///< on it [N]
    bool is_contacting = false;
};

}  // namespace pliant
