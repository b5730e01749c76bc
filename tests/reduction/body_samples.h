#pragma once

#include "pliant/reduction/reduced_body.h"
#include "reduction/force_samples.h"
#include "reduction/model_samples.h"
#include "reduction/rigid_motions.h"

#include <gtest/gtest.h>

/// Reduced bodies and what is asked of each of them.
namespace pliant::test {

inline constexpr double kTick = 1e-3;

/// Corners of the bar's surface: odd ones are at the free end, even ones where it is held.
inline SurfacePoint tip() { return SurfacePoint::at_vertex(7); }
/// In the middle of the free end.
inline SurfacePoint end_face() {
    return SurfacePoint::on_triangle(10, Eigen::Vector3d(0.2, 0.3, 0.5));
}
inline Pose tilted() {
    return {Eigen::Vector3d(0.3, -0.2, 1.1), rotation_from_vector(Eigen::Vector3d(0.7, -1.1, 0.4))};
}

/// The bar with a mass-orthonormal basis of random vectors, of any rank: production sizes.
inline ReducedModel random_bar_model(int rank, bool is_free) {
    ReducedModelParts parts = bar_parts({.is_free = is_free});
    const FemModel model(parts.mesh, parts.materials);
    const auto M = mass_matrix(model);
    Eigen::MatrixXd U = random_basis(model.num_unknowns(), rank, 1);
    for (const int v : parts.fixed_vertices) U.middleRows(3 * v, 3).setZero();
    if (is_free) remove_rigid(rigid_motions(parts.mesh, M), M, U);
    parts.basis.U = mass_gram_schmidt(U, M);
    parts.basis.singular_values = Eigen::VectorXd::Ones(rank);
    add_projections(parts, model);
    return ReducedModel(std::move(parts));
}

inline std::vector<double> saved(const Body& body) {
    std::vector<double> state(static_cast<std::size_t>(body.state_size()));
    body.save_state(state);
    return state;
}
inline std::vector<float> display_state(const Body& body) {
    std::vector<float> state(static_cast<std::size_t>(body.display()->state_size()));
    body.write_display(state);
    return state;
}
/// Ticks under a pull that changes.
inline void pull(Body& body, int begin, int end) {
    for (int k = begin; k < end; ++k) {
        const double phase = 0.05 * k;
        body.add_force(tip(), Eigen::Vector3d(2, 5 * std::sin(phase), 3 * std::cos(phase)));
        EXPECT_EQ(body.step(kTick), StepStatus::Ok) << "tick " << k;
    }
}

}  // namespace pliant::test
