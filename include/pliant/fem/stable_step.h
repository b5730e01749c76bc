#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/fem/mass.h"

#include <limits>

namespace pliant {

// Largest steps of the central difference scheme, dt ≤ 2/ω, docs/fem.md section "Stable step". ω²
// is the largest eigenvalue of M⁻¹K with lumped M.

/// dt_crit [s] and the element it comes from.
struct StableStep {
    double dt = std::numeric_limits<double>::infinity();
    int element = -1;
};
/// Bound by the stiffest element at rest, safe for the assembled body; for cubes of side h exactly
/// h √(ρ (1 − 2ν) / E). Allocates; runs in parallel.
[[nodiscard]] StableStep element_stable_step(const FemModel& model,
                                             Lumping lumping = Lumping::RowSum);

/// Power iteration for the assembled body at displacements u, started from the last vector found,
/// so that a few iterations follow a deforming body. From below: allow for a few percent.
class StepEstimator {
public:
    struct Workspace {
        Eigen::VectorXd direction, product;
    };
    /// `mass`: lumped, of all 3n unknowns. Unknowns without mass (prescribed ones) stay out;
    /// hanging nodes, whatever theirs, follow their masters.
    StepEstimator(FemModel model, Eigen::VectorXd mass);

    [[nodiscard]] Workspace make_workspace() const;
    /// dt_crit [s] at u, by one `tangent_product` per iteration (20 from a cold start, 5 later);
    /// zero if K is not finite, infinity when nothing resists. No allocation with one thread.
    [[nodiscard]] double stable_step(const FemModel::ConstRef& u, int iterations,
                                     Workspace& ws) const;
    /// With a damping ratio ζ of the highest mode that acts half a step late (stiffness-like
    /// damping in the decoupled scheme): dt (√(1 + ζ²) − ζ), eq. (T15).
    [[nodiscard]] static double with_damping(double dt_crit, double damping_ratio) noexcept;

private:
    /// Sets a random direction of length one.
    void start(Eigen::VectorXd& direction) const noexcept;

    FemModel model_;
    Eigen::VectorXd inverse_mass_;
};

/// Chooses the length of each step: a fraction of the limit, ending on frames, constant over the
/// two steps that follow a capture, refreshed as the body deforms.
class StepPolicy {
public:
    struct Options {
        double safety = 0.6;        ///< of dt_crit, in (0, 1)
        int refresh_interval = 50;  ///< steps between refreshes of dt_crit; 0: never
        int iterations = 5;         ///< of the power iteration in a refresh
    };
    /// Throws InputError for options out of range and a limit that is not positive and finite.
    StepPolicy(double dt_crit_at_rest, const Options& options);

    /// The next step [s], with `remaining` time to the next frame, which may be infinite. Steps to
    /// a frame are equally long, to the bit, while the limit stays. Zero when the frame is reached,
    /// to 1e-9 of a step. Only the step after a capture may go beyond a frame.
    [[nodiscard]] double next(double remaining) noexcept;
    /// Tells that a node was captured in the step just made: the next one has the same length.
    void captured() noexcept { is_captured_ = true; }
    [[nodiscard]] bool wants_refresh() const noexcept;
    /// Takes a new limit; never above that at rest, which the elements guarantee. Zero and NaN are
    /// ignored.
    void refresh(double dt_crit) noexcept;
    [[nodiscard]] double dt_crit() const noexcept { return dt_crit_; }
    [[nodiscard]] const Options& options() const noexcept { return options_; }

private:
    Options options_;
    double dt_crit_at_rest_, dt_crit_, last_dt_ = 0;
    int steps_since_refresh_ = 0;
    bool is_captured_ = false;
};

}  // namespace pliant
