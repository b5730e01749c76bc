#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/contact/contact_loads.h"
#include "pliant/reduction/reduced_body.h"

namespace pliant {

/// How a reduced body takes contact, docs/contact.md section "Exchange with the dynamics".
enum class ContactExchange {
    SemiImplicit,  ///< its step follows the contact, eq. (21)
    Explicit,      ///< loads of the shape before, as published; unstable for most soft bodies
};

struct ContactPairOptions {
    TraversalOptions traversal;
    ContactLoadOptions loads;
    ContactExchange exchange = ContactExchange::SemiImplicit;
    double damping_steps = 2;  ///< β_c of eq. (21) in steps
};

/// The solid that a shell meets.
struct FieldBody {
    Body* body = nullptr;                        ///< rigid, or reduced with a deformed field
    std::shared_ptr<const DistanceField> field;  ///< of a rigid body, in its axes
    std::optional<DeformedFieldModel> deformed;  ///< of a reduced body
};
/// A body with points on its surface.
struct ShellBody {
    Body* body = nullptr;  ///< rigid or reduced
    PointTree tree;        ///< of the body's rank
};

/// Contact between two bodies: finds it, and gives both what it does to them. Rigid bodies here are
/// static, scripted or driven, reduced ones held. One thread at a time; nothing allocates after
/// construction. The bodies must outlive it.
class ContactPair {
public:
    /// Throws InputError for bodies of other kinds, a tree or field of another rank, and options
    /// out of range.
    ContactPair(ShellBody shell, FieldBody field, const ContactPairOptions& options = {});
    ~ContactPair();
    ContactPair(ContactPair&&) noexcept;
    ContactPair& operator=(ContactPair&&) noexcept;

    /// Contact of the bodies as they are, into their loads of the next step of dt seconds.
    StepStatus act(double dt) noexcept;
    /// Contact of the bodies as they are for loads() and traversal() alone: bodies get nothing, and
    /// what came before is forgotten. As if they had been there for some ticks, so that the budget
    /// goes as deep as it can; without friction, which depends on the way here.
    StepStatus look() noexcept;
    [[nodiscard]] const ContactLoads& loads() const noexcept;
    [[nodiscard]] const PointTraversal& traversal() const noexcept;
    [[nodiscard]] const ContactForces& forces() const noexcept;
    [[nodiscard]] const Body& shell_body() const noexcept;
    [[nodiscard]] const Body& field_body() const noexcept;
    [[nodiscard]] ContactExchange exchange() const noexcept;
    [[nodiscard]] Pose field_pose() const noexcept;  ///< of the axes of contacts in the world, now
    // While it runs; kept in range, and what is not finite is ignored.
    void set_stiffness(double stiffness) noexcept;  ///< of one point [N/m]
    void set_cap_depth(double depth) noexcept;      ///< see ContactLoadOptions [m]
    void set_friction(double friction) noexcept;
    void set_normals(ContactNormals normals);  ///< slow: looks at the neighbours of all points
    void set_budget(int nodes) noexcept;       ///< see PointTraversal::set_budget
    /// Nodes of a tick so that act() takes at most about `seconds`; see PointTraversal::calibrate.
    int calibrate(double seconds);
    /// Forgets anchors and coherence: after resets and restored states.
    void forget() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
