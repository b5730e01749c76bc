#pragma once

#include "fem/fem_samples.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/loads.h"

#include <gtest/gtest.h>

/// Bodies on which implicit steps are tested.
namespace pliant::test {

/// 0.4 × 0.1 × 0.1 m, held at x = 0.
inline FemModel bar(Law law = Law::StVenantKirchhoff, double youngs_modulus = 5e4) {
    return FemModel(tet_box(4, 1, 1, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.4, 0.1, 0.1))),
                    {isotropic(youngs_modulus, 0.3, 1000, law)});
}

/// Solves everything as exactly as rounding lets it.
inline ImplicitOptions exact(ImplicitOptions options = {}) {
    options.max_iterations = 30;
    options.tolerance = 1e-13;
    options.cg.tolerance = 1e-10;
    return options;
}

/// Cube of side 0.1 m above the half-space z ≤ 0, sinking in by `depth` under its weight.
struct GroundScene {
    FemModel model;
    PenaltyContact contact;
    Eigen::VectorXd f;
    double weight;

    explicit GroundScene(double youngs_modulus = 1e4, double depth = 1e-4, int n = 3)
        : model(tet_box(n, n, n, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Constant(0.1))),
                {isotropic(youngs_modulus, 0.4, 1000)}),
          contact(model, {RigidShape::half_space()},
                  {.stiffness = 9.81 / ((n + 1) * (n + 1)) / depth}),
          f(gravity_load(model, kGravity)),
          weight(9.81) {}
};

inline FemState run(ImplicitDynamics& dynamics, FemState s, const Eigen::VectorXd& f, double dt,
                    int steps) {
    for (int k = 0; k < steps; ++k) {
        const ImplicitReport report = dynamics.step(s, f, dt);
        EXPECT_EQ(report.status, StepStatus::Ok) << "step " << k << ", residual " << report.residual
                                                 << " N, limit " << report.limit << " N";
    }
    return s;
}

}  // namespace pliant::test
