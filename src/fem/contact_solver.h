#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

namespace pliant {

/// The share of one node in a contact: the touching side counts positive, the touched one negative.
struct ContactTerm {
    int body, node;
    double weight;
};

/// Fields of all 3n unknowns of one body.
struct ConstrainedBody {
    const Eigen::VectorXd* v_before = nullptr;      ///< at the start of the step
    const Eigen::VectorXd* a_before = nullptr;      ///< likewise
    const Eigen::VectorXd* inverse_q = nullptr;     ///< 0: prescribed or hanging
    const Eigen::VectorXd* inverse_mass = nullptr;  ///< likewise
    Eigen::VectorXd* half_v = nullptr;  ///< h = v + dt/2 a; v at the end will be h + dt/2 a'
    Eigen::VectorXd* a = nullptr;       ///< a', without contact at first
    std::vector<int> num_uses;          ///< of each node by rows; zero between solves
};

/// One contact as a condition on accelerations, docs/fem.md eq. (C4)–(C7). Relative values are
/// Σ weight · (value of the node); what a rigid obstacle does is part of the wanted ones.
struct ContactRow {
    /// A hanging node with four masters on a facet of three of them.
    static constexpr int kMaxTerms = 16;

    std::array<ContactTerm, kMaxTerms> terms;
    int num_terms = 0;
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();

    // what is wanted
    double normal_acceleration = 0;
    Eigen::Vector3d stick_acceleration = Eigen::Vector3d::Zero();  ///< across the normal
    double smallest_force = 0;                                     ///< −∞: the contact may pull
    double correction = 0;       ///< of the normal force before it bounds friction [N]
    double normal_velocity = 0;  ///< at the end of the step, for reset_velocities
    double smallest_reset = 0;   ///< bound of reset_impulse [N s]

    // what is found
    double normal_force = 0;
    Eigen::Vector3d friction_force = Eigen::Vector3d::Zero();
    double reset_impulse = 0;  ///< along the normal [N s]
    /// Σ weight · h over the nodes of each side, before velocities are reset.
    std::array<Eigen::Vector3d, 2> half_v_before;

    /// The touching and the touched body; −1: an obstacle.
    [[nodiscard]] int side_body(int side) const noexcept {
        const int last = terms[num_terms - 1].body;
        return side == 0 ? terms[0].body : last != terms[0].body ? last : -1;
    }
    /// Adds to the weight of a node; first those of the touching side.
    void add(int body, int node, double weight) noexcept;
    /// Σ weight · value; `field` is one of ConstrainedBody's.
    template <class Field>
    [[nodiscard]] Eigen::Vector3d relative(std::span<const ConstrainedBody> bodies,
                                           Field field) const noexcept {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int k = 0; k < num_terms; ++k)
            sum += terms[k].weight * (bodies[terms[k].body].*field)
                                         ->template segment<3>(3 * Eigen::Index{terms[k].node});
        return sum;
    }
    /// Σ weight² nᵀ diag(inverse mass) n, eq. (C4); `field` is one of the inverse masses.
    [[nodiscard]] double inverse_mass(
        std::span<const ConstrainedBody> bodies,
        const Eigen::VectorXd* ConstrainedBody::*field) const noexcept;
};

/// Finds the force pairs of all rows and what they do to the accelerations, by Gauss–Seidel, with
/// normal_force ≥ smallest_force and |friction_force| ≤ friction · (normal_force − correction).
/// One sweep is exact, and made, where no two rows share a node.
void solve_contacts(std::span<ContactRow> rows, std::span<ConstrainedBody> bodies, double friction,
                    int sweeps) noexcept;

/// Takes the relative normal velocities of the rows `held` at the end of the step to the wanted
/// ones by impulse pairs, eq. (C8), reset_impulse ≥ smallest_reset.
void reset_velocities(std::span<ContactRow> rows, std::span<const int> held,
                      std::span<ConstrainedBody> bodies, double dt, int sweeps) noexcept;

}  // namespace pliant
