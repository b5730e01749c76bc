#pragma once

#include "pliant/geometry/subdivision.h"

#include <vector>

#include <Eigen/Core>

namespace pliant {

struct ForceDetailOptions {
    /// Slopes are cut to this share of μ, so that every slide dissipates: 0 to 1.
    double max_slope = 0.8;
    double friction_depth = 0;  ///< μ varies by this share, more on crests: 0 to 0.9
};

/// What detail makes of a contact.
struct FeltDetail {
    Eigen::Vector3d normal;  ///< unit
    double friction;
};

/// Bumps on a surface that points feel and that no Green's function knows: a height over it whose
/// slopes tilt the normal of the contact law, docs/greens-measured.md eqs. (N1)–(N3). Immutable.
class ForceDetail {
public:
    /// Waves along the three axes of the body: h = height/3 Σ_k sin(2π x_k / period), both in
    /// metres. Throws InputError for numbers out of range.
    static ForceDetail waves(double period, double height, const ForceDetailOptions& options = {});
    /// Heights [m] of all vertices of `fine`, which has the levels of the touched surface and more
    /// on top: triangle t of the surface is the parent of its 4^m triangles. Throws InputError for
    /// sizes that do not fit.
    static ForceDetail map(const SemiRegularMesh& surface, const SemiRegularMesh& fine,
                           const std::vector<double>& heights,
                           const ForceDetailOptions& options = {});

    /// At a point x [m] of a triangle of the surface, with its interpolated normal and μ.
    [[nodiscard]] FeltDetail felt(const Eigen::Vector3d& x, int triangle,
                                  const Eigen::Vector3d& barycentric, const Eigen::Vector3d& normal,
                                  double friction) const noexcept;

private:
    struct Sample {
        double height;  // −1 … 1
        Eigen::Vector3d slope;
    };
    explicit ForceDetail(const ForceDetailOptions& options);
    [[nodiscard]] Sample sample(const Eigen::Vector3d& x, int triangle,
                                Eigen::Vector3d barycentric) const noexcept;

    ForceDetailOptions options_;
    double period_ = 0, height_ = 0;  // of waves
    int num_splits_ = 0;              // from the surface to the map
    std::vector<Triangle> triangles_;
    std::vector<double> heights_;  // over the largest one
    std::vector<Eigen::Vector3d> slopes_;
};

}  // namespace pliant
