#pragma once

#include "contact/contact_kernels.h"
#include "contact/friction_anchors.h"
#include "pliant/contact/contact_loads.h"

namespace pliant {

/// A shell as contact loads see it: the arrays of a PointTree.
struct ShellRows {
    int r = 0, stride = 4;
    int num_points = 0;
    const float* rows = nullptr;         ///< of nodes
    const float* normal_rows = nullptr;  ///< of points
};
[[nodiscard]] inline ShellRows shell_rows(const PointTree& tree) {
    return {tree.rank(), tree.row_stride(), tree.num_points(), tree.row(0), tree.normal_row(0)};
}

/// Sums over one kind of force on the shell, axes of the field, docs/contact.md eq. (13), (14).
struct ForceSums {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();   ///< Σ f
    Eigen::Matrix3d moment = Eigen::Matrix3d::Zero();  ///< Σ f pᵀ, p from the reference point
    Matrix6d stiffness = Matrix6d::Zero();             ///< Σ s J Jᵀ, J = (v, p × v)
};

/// Loads on a deforming field through its proxies. Forces and stiffnesses of one proxy are added up
/// before they are multiplied by its modes.
class ProxySums {
public:
    explicit ProxySums(const DeformedField* field);
    void clear() noexcept;
    /// Rows are of forces on the shell, the field gets the opposite; arms from `reference`.
    void add(const LoadRows& rows, const Eigen::Vector3d& reference) noexcept;
    /// Multiplies what is left; then results are complete.
    void finish() noexcept;

    Eigen::VectorXd load;       ///< Σ U_iᵀ (−f)
    Eigen::MatrixXd stiffness;  ///< Σ U_iᵀ (Σ s v vᵀ) U_i

private:
    struct Place {
        int proxy = -1;
        Eigen::Vector3d force;
        Eigen::Matrix3d stiffness;
    };
    void flush(Place& place) noexcept;

    const DeformedField* field_;
    std::vector<Place> places_;
    Eigen::Matrix<double, 3, Eigen::Dynamic> product_;
};

/// All sums over the contacts of a pair that loads and their gradients are made of, and the
/// friction anchors behind them. Arrays are sized once. Copies are independent.
class LoadSums {
public:
    LoadSums(const ShellRows& shell, const DeformedField* deformed,
             const ContactLoadOptions& options);

    /// Sums up the contacts. `shell_to_field` turns vectors, as does `field_to_world`.
    /// CapacityExceeded: contacts without anchors.
    StepStatus update(const ContactPoints& contacts, const DistanceField& field,
                      const Eigen::Matrix3d& shell_to_field, const Eigen::Matrix3d& field_to_world,
                      std::span<const double> q) noexcept;
    /// No contact, no load; anchors stay.
    void clear() noexcept;

    ContactLoadOptions options;
    Eigen::Vector3d reference = Eigen::Vector3d::Zero();  ///< in field axes [m]
    ForceSums normal, tangential;
    ForceSums of_field;  ///< normal forces along the field's gradient, where normals spread
    Matrix6d gradient = Matrix6d::Zero();  ///< Σ k (n, p × n)(g, p × g)ᵀ
    Eigen::VectorXd shell_load;
    Eigen::MatrixXd shell_stiffness;
    ProxySums proxies;
    int num_contacts = 0, num_sticking = 0, num_sliding = 0;
    double deepest = 0, elastic_energy = 0;
    std::vector<Eigen::Vector3f> point_forces;  ///< world axes
    std::vector<float> spread;                  ///< of normal_spread, for ContactNormals::Spread
    FrictionAnchors anchors;

private:
    void find_normals(const ContactPoints& contacts, const DistanceField& field,
                      std::span<const double> q) noexcept;
    /// Directions of points whose normals spread, eq. (10a).
    void follow_field(const ContactPoints& contacts, const DistanceField& field) noexcept;
    /// Rows of the batch that turn with the shell, and those that turn with the field.
    void split_rows(int first) noexcept;
    [[nodiscard]] NormalLaw normal_law() const noexcept;
    /// Contacts [first, first + rows_.count).
    void add_batch(const ContactPoints& contacts, const DistanceField& field, int first) noexcept;
    /// Of the same contacts; at most `num_new` new anchors. False: too few.
    bool add_friction(const ContactPoints& contacts, int first, int& num_new) noexcept;
    void add_rows(const LoadRows& rows, const int* contact, ForceSums& sums) noexcept;
    void finish() noexcept;

    ShellRows shell_;
    std::vector<float> nx_, ny_, nz_;  ///< of all contacts, axes of the field
    std::vector<char> is_of_field_;    ///< along the gradient: turns with the field
    bool has_field_rows_ = false;
    std::vector<float> q_groups_;
    NormalLaw law_;
    float to_field_[9] = {}, to_shell_[9] = {}, to_world_[9] = {};  ///< by rows
    struct alignas(64) Line {
        float values[16] = {};
    };
    std::vector<Line> products_;
    std::vector<double> padded_load_, padded_stiffness_;
    LoadRows rows_{}, friction_rows_{}, shell_rows_{}, field_rows_{};
    alignas(64) float distance_[kLoadBatch] = {};
    int contact_[kLoadBatch] = {}, friction_contact_[kLoadBatch] = {};
    int shell_contact_[kLoadBatch] = {}, field_contact_[kLoadBatch] = {};
};

/// sums.update() for bodies in the world. InputIgnored, and no contact, for frames or q that are
/// not finite; anchors stay.
StepStatus sum_contacts(const ContactPoints& contacts, const DistanceField& field,
                        const ContactFrames& frames, std::span<const double> q,
                        LoadSums& sums) noexcept;
/// Loads and gradients on both bodies from sums, docs/contact.md eq. (13)–(19). False, and no load,
/// for centres so far away that the result is not finite.
bool assemble_loads(const LoadSums& sums, const ContactFrames& frames,
                    ContactLoads& loads) noexcept;
/// Throws InputError for options out of range.
void check_load_options(const ContactLoadOptions& options);

}  // namespace pliant
