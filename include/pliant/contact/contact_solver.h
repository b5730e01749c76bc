#pragma once

#include "pliant/contact/contact_loads.h"
#include "pliant/contact/contact_primitive.h"
#include "pliant/contact/contact_surface.h"
#include "pliant/reduction/reduced_body.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pliant {

/// A body that meets others, by points on its surface, as a solid, or both. Copies of one shape
/// share one tree, and one field or model of a deformed one.
struct ContactBody {
    Body* body = nullptr;                        ///< rigid or reduced, also with mass and free
    std::optional<PointTree> tree;               ///< points, of the body's rank
    std::shared_ptr<const DistanceField> field;  ///< solid of a rigid body, in its axes
    std::optional<DeformedFieldModel> deformed;  ///< solid of a reduced body
    /// Solid of a rigid body: two bodies with one touch exactly, without points and field. With
    /// bodies without one it is the solid that their points meet.
    std::optional<ContactPrimitive> primitive = {};
    ContactSurface surface = {};
};

struct ContactSolverOptions {
    double stiffness = 1e4;     ///< k_C of one point [N/m]; 0: each pair of bodies has its own
    double scaling_count = 10;  ///< L
    ContactScaling scaling = ContactScaling::PerDirection;
    /// μ of all pairs; none: of the surfaces of the two bodies, 0.5 where neither has one.
    std::optional<double> friction = 0.0;
    std::optional<double> restitution = {};  ///< e of all pairs; none: of the surfaces
    double friction_stiffness = 1;           ///< κ_t: tangential stiffness over normal stiffness
    double damping_steps = 2;                ///< β_c in steps, docs/contact.md eq. (26)
    int max_iterations = 12;                 ///< sweeps over all contacts
    /// Contacts times sweeps up to which there may be more sweeps: few contacts are solved well,
    /// which a heavy body on a light one needs.
    int max_work = 0;
    double tolerance = 1e-7;   ///< ends them: largest change over the largest force
    int max_pairs = 8192;      ///< of bodies near each other
    int max_contacts = 16384;  ///< of all pairs
};

struct ContactSolverStatistics {
    int num_pairs = 0;     ///< near each other
    int num_contacts = 0;  ///< points inside
    int num_visited = 0;   ///< nodes asked
    int iterations = 0;
    double change = 0;          ///< of the last sweep, as tolerance
    double deepest = 0;         ///< [m]
    int num_sliding = 0;        ///< of friction
    double elastic_energy = 0;  ///< Σ ½ k d² (+ ½ k_t u²) [J]
};

/// Contact among bodies that move under it: equal and opposite forces that follow the velocities
/// they bring about, docs/contact.md eq. (26)–(32). Directions are those of the fields. Of two
/// bodies the smaller one's points meet the other's solid, as far as they have them; primitives
/// meet each other exactly. Bodies that meet faster than a threshold part at e times that speed,
/// eq. (38). Uses all cores, with the same bits for every number of threads; nothing allocates
/// after construction on one thread. The bodies must outlive it.
class ContactSolver {
public:
    /// Throws InputError for bodies of other kinds, with neither points nor solid, given twice, a
    /// tree or field of another rank, and options out of range.
    explicit ContactSolver(std::vector<ContactBody> bodies,
                           const ContactSolverOptions& options = {});
    ~ContactSolver();
    ContactSolver(ContactSolver&&) noexcept;
    ContactSolver& operator=(ContactSolver&&) noexcept;

    /// Contact of the bodies as they are, into their loads of the next step of dt seconds; after
    /// all other loads were given. CapacityExceeded: raise max_pairs or max_contacts.
    StepStatus act(double dt) noexcept;
    [[nodiscard]] const ContactSolverStatistics& statistics() const noexcept;
    [[nodiscard]] const ContactSolverOptions& options() const noexcept;

    /// A touching point of the last act().
    struct Contact {
        int shell = 0, field = 0;  ///< bodies
        /// Of the shell and its tree; −1: two primitives touch exactly.
        int point = 0, node = 0;
        Eigen::Vector3d position;  ///< world [m]
        Eigen::Vector3d force;     ///< on the shell body, world [N]
        double depth = 0;          ///< of the point in the solid [m]
        Eigen::Vector3d on_shell;  ///< position in the axes of the shell body
    };
    /// Ordered by bodies and point.
    [[nodiscard]] std::span<const Contact> contacts() const noexcept;
    /// Of one point [N/m] and μ; where each pair of bodies has its own, the largest.
    [[nodiscard]] double stiffness() const noexcept;
    [[nodiscard]] double friction() const noexcept;
    // While it runs; kept in range, and what is not finite is ignored. Where each pair has its own,
    // all change in proportion.
    void set_stiffness(double stiffness) noexcept;  ///< of one point [N/m]
    void set_friction(double friction) noexcept;
    /// Forgets anchors and forces: after resets and restored states.
    void forget() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
