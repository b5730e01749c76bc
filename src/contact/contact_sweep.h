#pragma once

/// Sweeps over the contacts of a pair, compiled for each instruction set.
namespace pliant {

/// A body as sweeps see it; vectors of three numbers and matrices by columns, in world axes.
struct SweepBody {
    bool has_frame = false;  ///< moves as a whole
    double inverse_mass = 0;
    const double *inverse_inertia = nullptr, *centre = nullptr, *rotation = nullptr;
    const double* response = nullptr;  ///< of each mode, eq. (28); begins at a cache line
    int length = 0;                    ///< of rows of modes, padded_row
    // in the next step, as sweeps change it
    double *linear = nullptr, *angular = nullptr;  ///< velocity of the centre
    double* rates = nullptr;                       ///< of the modes; begins at a cache line
};

/// What a sweep needs of a contact, and the force that it finds.
struct SweepRow {
    double p[3], e[3][3];  ///< world
    double distance;
    double softness, tangential_softness;  ///< 1 / k and 1 / k_t
    double gain, tangential_gain;          ///< 1 / diagonal of eq. (29) and (30)
    /// What an impulse along e_0 changes of the velocities along e_1 and e_2.
    double coupling[2];
    double stretch[2];  ///< of friction's spring along e_1 and e_2
    double f[3];        ///< along the directions [N]
    /// Of the points of both sides; null for rigid bodies.
    const float *shell_modes, *field_modes;
    bool is_sliding;
};

/// The contacts of one pair and its bodies, whose velocities sweeps change.
struct SweepPair {
    SweepRow* rows;
    int count;
    SweepBody shell, field;
};
struct SweepOptions {
    double dt = 0, reach = 0;  ///< h and h + β_c [s]
    double friction = 0;
};
/// Of forces [N], and what the change does to the speed of a contact [m/s].
struct SweepChange {
    double change = 0, largest = 0, speed = 0;
};

/// Calls what a sweep begins with into the cache.
void prefetch_contacts(const SweepPair& pair) noexcept;
/// Adds the impulses of the forces that contacts begin with to the velocities.
void start_contacts(const SweepPair& pair, const SweepOptions& options) noexcept;
/// One Gauss-Seidel pass over the contacts in their order, docs/contact.md eq. (29), (30).
[[nodiscard]] SweepChange sweep_contacts(const SweepPair& pair,
                                         const SweepOptions& options) noexcept;

/// Adds to the forces of the contacts along their directions [N], and the impulses of that to the
/// velocities.
void add_forces(const SweepPair& pair, const double (*changes)[3],
                const SweepOptions& options) noexcept;

}  // namespace pliant
