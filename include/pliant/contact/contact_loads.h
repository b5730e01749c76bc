#pragma once

#include "pliant/contact/point_traversal.h"
#include "pliant/field/deformed_field.h"

namespace pliant {

enum class ContactScaling {
    PerDirection,  ///< weight min(1, L/l_s), l_s = n_sᵀ (Σ n nᵀ) n_s, docs/contact.md eq. (12)
    SingleCount,   ///< min(1, L/l), as published
    None,
};
enum class ContactNormals {
    Deformed,       ///< of the shell, following its deformation
    Undeformed,     ///< of the shell at rest, for comparison
    FieldGradient,  ///< of the field: jumps; for comparison, and right for analytic fields
    /// Of the shell, but at edges, where points carry the normal of one face only, the direction of
    /// the field's gradient as far as the normals around a point spread, docs/contact.md eq. (10a).
    Spread,
};
enum class GradientForm {
    Mirrored,  ///< the shell moves, eq. (15)
    Direct,    ///< the field moves, normals stay, eq. (16)
};

struct ContactLoadOptions {
    double stiffness = 1000;    ///< k_C of one point [N/m]
    double scaling_count = 10;  ///< L
    /// Beyond this depth a point pushes back by 2 k_C more, whatever its weight, docs/contact.md
    /// eq. (12a); 0: none. With d/2, loads up to k_C d press no point deeper than d, however many
    /// others graze. [m]
    double cap_depth = 0;
    ContactScaling scaling = ContactScaling::PerDirection;
    ContactNormals normals = ContactNormals::Deformed;
    GradientForm gradients = GradientForm::Mirrored;
    bool takes_field_gradient = false;  ///< g = ∇d in gradients; false: g = n
    double friction = 0;                ///< μ; 0: exactly the frictionless model
    double friction_stiffness = 1;      ///< κ_t: tangential stiffness over normal stiffness
    int max_anchors = 4096;             ///< of friction; more contacts slip freely
};

using Matrix6d = Eigen::Matrix<double, 6, 6>;

/// A shell and a field body in the world.
struct ContactFrames {
    Pose shell, field;  ///< of their axes
    /// Points about which torques act and rotations turn, in the world.
    Eigen::Vector3d shell_centre = Eigen::Vector3d::Zero();
    Eigen::Vector3d field_centre = Eigen::Vector3d::Zero();
};

/// What contact does to both bodies. World axes, torques about the centres; reduced parts in body
/// axes of the body concerned. Sized once.
struct ContactLoads {
    Wrench on_shell, on_field;
    /// ∂(force, torque)/∂(shift, rotation vector) of each body, the other one fixed; weights and
    /// the set of contacts count as constants.
    Matrix6d shell_gradient = Matrix6d::Zero(), field_gradient = Matrix6d::Zero();
    /// Σ k_s Jᵀ n nᵀ J with J of the rigid motion of each body (with friction: plus its tangential
    /// part): what an implicit step adds.
    Matrix6d shell_stiffness = Matrix6d::Zero(), field_stiffness = Matrix6d::Zero();
    Eigen::VectorXd shell_load, field_load;  ///< Σ U_sᵀ f; empty for rigid bodies
    /// K_c = Σ k_s U_sᵀ n nᵀ U_s of 23.5 (with friction: plus its tangential part); r × r.
    Eigen::MatrixXd shell_reduced_stiffness, field_reduced_stiffness;
    int num_contacts = 0;
    double deepest = 0;                     ///< largest depth [m]
    int num_sticking = 0, num_sliding = 0;  ///< of friction; without an anchor neither
    double elastic_energy = 0;              ///< Σ ½ k_s d² (+ ½ k_t u²) [J]
};

/// Penalty forces of the contacts that a traversal found, docs/contact.md eq. (10)–(19). Holds the
/// friction anchors: one object for each pair. One thread at a time; update() allocates nothing.
class ContactForces {
public:
    /// `deformed` is the field of the traversal when that body deforms, else null. Throws
    /// InputError for options out of range.
    ContactForces(const PointTraversal& traversal, const DeformedField* deformed,
                  const ContactLoadOptions& options = {});
    ~ContactForces();
    ContactForces(ContactForces&&) noexcept;
    ContactForces& operator=(ContactForces&&) noexcept;

    [[nodiscard]] const ContactLoadOptions& options() const noexcept;
    void set_options(const ContactLoadOptions& options);

    /// Loads of traversal.contacts() for the shape q of the shell. InputIgnored and zero loads for
    /// frames that are not finite. CapacityExceeded: more contacts than anchors, raise max_anchors.
    StepStatus update(const PointTraversal& traversal, const ContactFrames& frames,
                      std::span<const double> q) noexcept;
    [[nodiscard]] const ContactLoads& loads() const noexcept;
    /// Force of each contact on the shell in world axes, as traversal.contacts() counts.
    [[nodiscard]] std::span<const Eigen::Vector3f> point_forces() const noexcept;
    /// Drops all anchors.
    void forget() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
