#pragma once

#include "pliant/reduction/basis.h"
#include "pliant/reduction/modal_derivatives.h"
#include "pliant/reduction/reduced_force.h"

#include <string>

namespace pliant::reproduce {

/// One of the published bodies, as a shape of ours in voxels.
struct SampleOptions {
    std::string shape;      ///< name in the registry
    int resolution = 64;    ///< voxels along the longest side
    bool is_hollow = true;  ///< only those that meet the surface
    double size = 1;        ///< longest side [m]
    std::string fixed;      ///< as in "z < 5 %"; empty: free
    int num_modes = 10;     ///< k
    bool has_derivatives = true;
    double lowest_frequency = 0;  ///< Young's modulus is chosen for it [Hz]; 0: 1e6 Pa
};

/// A body with modes and derivatives, ready for any basis.
struct Sample {
    FemModel model;
    Constraints constraints;
    Eigen::SparseMatrix<double> mass;
    LinearModes modes;
    Eigen::MatrixXd derivatives;                        ///< 3n × k(k + 1)/2, or none
    double modes_seconds = 0, derivatives_seconds = 0;  ///< CPU time
};
[[nodiscard]] Sample make_sample(const SampleOptions& options);

/// Modes and derivatives by mass-PCA.
[[nodiscard]] Basis derivative_basis(const Sample& sample, int r);
/// The force of the body in a subspace by its polynomials.
[[nodiscard]] std::shared_ptr<const ReducedForce> polynomial_force(const FemModel& model,
                                                                   const Eigen::MatrixXd& U);
/// CPU time of this thread [s].
[[nodiscard]] double cpu_seconds();

}  // namespace pliant::reproduce
