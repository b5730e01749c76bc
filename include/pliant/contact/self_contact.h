#pragma once

#include "pliant/contact/contact_loads.h"
#include "pliant/reduction/reduced_body.h"

namespace pliant {

struct SelfContactOptions {
    /// ε: material within this of a point at rest never touches it [m]; at least a cell of the
    /// field. 0: four cells or two spacings of the shell, whichever is more.
    double exclusion = 0;
    int budget = 0;           ///< nodes that a tick may visit, never exceeded; 0: all
    int max_contacts = 4096;  ///< in a tick
    /// Without friction, directions from the shell.
    ContactLoadOptions loads;
    double damping_steps = 2;  ///< β_c of docs/contact.md eq. (21) in steps
};

/// Contact of a reduced body with itself: each point of its shell against the domains of its own
/// deformed field, without what was near the point at rest; docs/contact.md eq. (33)–(35). The body
/// may be held or free and must outlive it. One thread at a time; nothing allocates after
/// construction.
class SelfContact {
public:
    /// Throws InputError for a tree or field of another rank, a field of one domain, and options
    /// out of range.
    SelfContact(ReducedBody& body, PointTree tree, const DeformedFieldModel& field,
                const SelfContactOptions& options = {});
    ~SelfContact();
    SelfContact(SelfContact&&) noexcept;
    SelfContact& operator=(SelfContact&&) noexcept;

    /// Contact of the body as it is, into its loads of the next step of dt seconds.
    StepStatus act(double dt) noexcept;
    /// Finds contacts and loads of the shape q and changes no body. InputIgnored, and no contact,
    /// for what is not finite; CapacityExceeded: raise max_contacts.
    StepStatus update(const Eigen::Ref<const Eigen::VectorXd>& q) noexcept;

    /// In body axes.
    [[nodiscard]] const ContactPoints& contacts() const noexcept;
    /// The domain that each contact is in.
    [[nodiscard]] std::span<const int> contact_domains() const noexcept;
    /// Forces on the points (on_shell) and on the material they are in (on_field), which are
    /// opposite; shell_load and shell_reduced_stiffness hold both sides, eq. (35).
    [[nodiscard]] const ContactLoads& loads() const noexcept;
    /// Force on the point of each contact in world axes, as contacts() counts.
    [[nodiscard]] std::span<const Eigen::Vector3f> point_forces() const noexcept;
    [[nodiscard]] const TraversalStatistics& statistics() const noexcept;
    /// Nodes at which the last update ended (culled or of the last level), for pictures.
    [[nodiscard]] std::span<const int> frontier() const noexcept;
    [[nodiscard]] double exclusion() const noexcept;  ///< ε [m]
    /// Domain that each point of the shell belongs to and does not ask.
    [[nodiscard]] std::span<const int> homes() const noexcept;
    [[nodiscard]] const PointTree& tree() const noexcept;
    [[nodiscard]] const SelfContactOptions& options() const noexcept;

    // While it runs; kept in range, and what is not finite is ignored.
    void set_stiffness(double stiffness) noexcept;  ///< of one point [N/m]
    /// Of the next ticks, at least the first level and at most the budget that it was made with
    /// (0: any).
    void set_budget(int nodes) noexcept;
    /// Forgets the level that it reached last: after resets and restored states.
    void forget() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
