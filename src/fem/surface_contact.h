#pragma once

#include "fem/surface_detection.h"
#include "pliant/fem/fem_body.h"

namespace pliant {

/// A rigid partner that gives way to contact, over one inner step; docs/fem.md eq. (B2).
struct ContactPartner {
    double inverse_mass = 0;                                    ///< [1/kg]
    Eigen::Matrix3d inverse_inertia = Eigen::Matrix3d::Zero();  ///< about the centre, in the world
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();           ///< in the world, now
    /// Beyond that of its motion: without contact, then with it.
    Twist acceleration;
};

/// What the nodes of the soft body do in the step.
struct ContactNodes {
    const Eigen::VectorXd& u;          ///< now
    const Eigen::VectorXd& half_v;     ///< h; it becomes h + dt a
    const Eigen::VectorXd& inverse_q;  ///< 0: prescribed or hanging
    Eigen::VectorXd& a;                ///< without contact; then with it
};

/// Contact of the drawn surface of one soft body with rigid bodies as a constraint of the explicit
/// step, docs/fem.md eq. (B2)–(B4): for each place that may close, with N the direction in which
/// the soft side is pushed, g the gap now and v the relative velocity at the next half step,
///     0 ≤ λ  ⟂  N·v + g/dt ≥ 0,    |f_t| ≤ μ λ against v_t,
/// solved by block Gauss–Seidel over nodes and partners, warm-started. What is inside is pushed out
/// slowly. Immutable but for friction; one state and workspace per thread; nothing allocates after
/// make_…().
class SurfaceContact {
public:
    /// Force of a contact in the last step, where the next one begins.
    struct Kept {
        std::int32_t obstacle = -1;
        std::int32_t index = -1;  ///< 2 · vertex, or 2 · point + 1
        Eigen::Vector3d force = Eigen::Vector3d::Zero();
    };
    class Workspace {
        friend class SurfaceContact;
        struct Row {
            const int* nodes;
            const double* weights;
            int num_nodes, partner;
            Eigen::Vector3d normal, arm;
            Eigen::Vector3d free_velocity;  ///< relative, without any acceleration
            double wanted;                  ///< normal velocity
            double normal_response, tangent_response;
            double lambda;
            Eigen::Vector3d friction;
        };
        SurfaceDetection::Workspace detection;
        std::vector<Row> rows;
        std::vector<int> nodes;  ///< of rows whose place is inside a facet
        std::vector<double> weights;

    public:
        std::vector<Kept> kept;  ///< of the last step; trades places with that of the state
        std::vector<FemContact> contacts;
        std::vector<Wrench> wrenches;  ///< on each obstacle, about the origin of its frame
    };

    SurfaceContact(CarriedSurface surface, const std::vector<RigidBody*>& obstacles,
                   double friction, int capacity);

    [[nodiscard]] const CarriedSurface& surface() const noexcept { return surface_; }
    [[nodiscard]] int capacity() const noexcept { return detection_.capacity(); }
    void set_friction(double friction) noexcept { friction_ = friction; }
    [[nodiscard]] std::vector<Kept> make_kept() const;
    [[nodiscard]] Workspace make_workspace() const;
    /// After a state was put in place.
    void forget(Workspace& ws) const noexcept { detection_.forget(ws.detection); }

    /// Changes the accelerations of nodes and partners, and leaves contacts, wrenches and the kept
    /// forces in `ws`. `way`: how far a node went at most to where it is; `motions`: of the
    /// obstacles now; `partner_of`: of each obstacle, −1: nothing
    /// moves it; `kept`: of the last step;
    /// `horizon`: the longest that the next step may be, at least dt, in place of dt in g/dt.
    [[nodiscard]] StepStatus solve(const ContactNodes& nodes, double way,
                                   std::span<const RigidMotion> motions,
                                   std::span<const int> partner_of,
                                   std::span<ContactPartner> partners,
                                   const std::vector<Kept>& kept, double dt, double horizon,
                                   Workspace& ws) const noexcept;

private:
    using Row = Workspace::Row;
    void make_rows(const ContactNodes& nodes, std::span<const RigidMotion> motions,
                   std::span<const int> partner_of, std::span<const ContactPartner> partners,
                   const std::vector<Kept>& kept, double dt, double horizon,
                   Workspace& ws) const noexcept;
    void carry(const FoundContact& contact, Row& row, Workspace& ws) const noexcept;
    void report(std::span<const RigidMotion> motions, Workspace& ws) const noexcept;

    CarriedSurface surface_;
    SurfaceDetection detection_;
    double friction_;
    std::size_t num_obstacles_;
};

}  // namespace pliant
