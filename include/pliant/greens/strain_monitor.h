#pragma once

#include "pliant/greens/greens_model.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// How far linear theory is trusted, docs/greens-measured.md section "Where linear theory ends".
struct StrainLimits {
    double strain = 0.15;        ///< largest principal strain, either sign
    double rotation = 0.26;      ///< of the material [rad]: 15°, 3.5 % of spurious strain
    double displacement = 0.15;  ///< over the length of the body
};

/// The largest of each measure, wherever it was.
struct StrainReading {
    double strain = 0, rotation = 0, displacement = 0;
    double use = 0;     ///< largest measure over its limit; more than 1: exceeded
    int triangle = -1;  ///< of the surface, where `use` is reached
    [[nodiscard]] bool is_exceeded() const noexcept { return use > 1; }
    void merge(const StrainReading& other) noexcept;
};

struct StrainMonitorOptions {
    /// Spread evenly over the triangles without fixed corners, and with `covers_supports` over
    /// those at the border of supports, too: where supports that move strain a body most.
    int num_gauges = 32;
    bool covers_supports = false;
    std::vector<int> triangles = {};  ///< these instead
    StrainLimits limits = {};
};

/// What deforms a body: nondimensional values of columns by id, and parameters of body columns
/// (none, or as many as there are). Ids without a column do not count.
struct WatchedLoads {
    std::span<const int> nodes = {};
    std::span<const Eigen::Vector3d> tractions = {};  ///< of these over the modulus
    std::span<const double> body = {};
    std::span<const int> supports = {};                   ///< fixed nodes that are moved
    std::span<const Eigen::Vector3d> displacements = {};  ///< of these over the body's length
};

/// Strain, rotation and displacement at gauges on the surface of a body: rows that are appended to
/// its Green's functions and superpose like them, eqs. (W1)–(W3). Immutable; nothing marked
/// noexcept allocates.
class StrainMonitor {
public:
    /// Throws InputError for a scalar field, triangles that are not there and limits that are not
    /// positive.
    explicit StrainMonitor(std::shared_ptr<const GreensModel> model,
                           const StrainMonitorOptions& options = {});

    [[nodiscard]] int num_gauges() const noexcept { return static_cast<int>(gauges_.size()); }
    [[nodiscard]] int triangle(int gauge) const noexcept {
        return gauges_[static_cast<std::size_t>(gauge)];
    }
    [[nodiscard]] const StrainLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] std::size_t num_bytes() const noexcept { return rows_.size() * sizeof(float); }

    /// Gauges [first, first + count). O(count · (nodes + supports)).
    [[nodiscard]] StrainReading read(int first, int count,
                                     const WatchedLoads& loads) const noexcept;
    /// Displacement gradient ∂u_i/∂x_j at a gauge, and displacement over the body's length.
    void measure(int gauge, const WatchedLoads& loads, Eigen::Matrix3d& gradient,
                 Eigen::Vector3d& displacement) const noexcept;

private:
    static constexpr int kRows = 12;  // nine of the gradient by rows, three of the displacement
    static constexpr std::size_t kFloats = 3 * kRows;
    void add_gauges(const StrainMonitorOptions& options);
    void add_rows();

    std::shared_ptr<const GreensModel> model_;
    StrainLimits limits_;
    std::vector<int> gauges_;
    std::vector<int> place_;        // of columns by id, −1: none
    std::vector<float> rows_;       // of columns, then gauges: 12 × 3 by rows
    std::vector<float> body_rows_;  // of body columns, then gauges: 12
};

/// Largest principal strain, rotation angle, and their use of the limits.
[[nodiscard]] StrainReading reading_of(const Eigen::Matrix3d& gradient,
                                       const Eigen::Vector3d& displacement,
                                       const StrainLimits& limits, int triangle) noexcept;

/// ∂u_i/∂x_j on a triangle of a free surface from the displacements of its corners and the
/// traction on it over the shear modulus, eqs. (W1), (W2).
[[nodiscard]] Eigen::Matrix3d surface_gradient(const std::array<Eigen::Vector3d, 3>& corners,
                                               const std::array<Eigen::Vector3d, 3>& u,
                                               const Eigen::Vector3d& traction,
                                               double poisson_ratio) noexcept;

}  // namespace pliant
