#include "pliant/core/error.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/free_flight.h"

#include <cmath>
#include <string>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Index = Eigen::Index;

/// Throws unless all columns are orthogonal to translations and rotations.
void require_no_rigid_motion(const InertiaBlocks& blocks, const std::array<VectorXd, 3>& mean) {
    constexpr double kTolerance = 1e-6;  // far above rounding, far below what a user would see
    const double length = std::sqrt(blocks.mass), arm = std::sqrt(blocks.second_moment.trace());
    for (Index k = 0; k < mean[0].size(); ++k) {
        double norm = 0, translation = 0, rotation = 0;
        for (std::size_t a = 0; a < 3; ++a) {
            norm += blocks.B[4 * a](k, k);
            translation = std::max(translation, std::abs(mean[a][k]));
            for (std::size_t c = 0; c < a; ++c)
                rotation =
                    std::max(rotation, std::abs(blocks.b[3 * a + c][k] - blocks.b[3 * c + a][k]));
        }
        const double bound = kTolerance * std::sqrt(norm);
        if (!(translation <= bound * length && rotation <= bound * arm))
            throw InputError("", "vector " + std::to_string(k) +
                                     " of the basis contains rigid motion, which a free body has "
                                     "apart; take it out with remove_rigid or build the basis "
                                     "without fixed vertices");
    }
}

}  // namespace

InertiaBlocks inertia_blocks(const FemModel& model, const MatrixXd& U) {
    const Index n = model.num_nodes();
    if (U.rows() != 3 * n)
        throw InputError("", "rows of the basis", std::to_string(U.rows()),
                         "3 for each of the " + std::to_string(n) + " vertices of the mesh");
    const Eigen::SparseMatrix<double> M = node_mass_matrix(model);
    const VectorXd node_mass = M * VectorXd::Ones(n);
    InertiaBlocks blocks;
    blocks.mass = node_mass.sum();
    MatrixXd X(n, 3);
    for (Index i = 0; i < n; ++i)
        X.row(i) = model.mesh().vertices[static_cast<std::size_t>(i)].transpose();
    blocks.centre = X.transpose() * node_mass / blocks.mass;
    X.rowwise() -= blocks.centre.transpose();
    blocks.second_moment = X.transpose() * (M * X);

    // components of the basis vectors apart, eq. (23)
    std::array<MatrixXd, 3> components;
    std::array<VectorXd, 3> mean;
    for (Index a = 0; a < 3; ++a) {
        MatrixXd& component = components[static_cast<std::size_t>(a)];
        component.resize(n, U.cols());
        for (Index i = 0; i < n; ++i) component.row(i) = U.row(3 * i + a);
        mean[static_cast<std::size_t>(a)] = component.transpose() * node_mass;
    }
    for (std::size_t b = 0; b < 3; ++b) {
        const MatrixXd MU = M * components[b];
        const VectorXd MX = M * X.col(static_cast<Index>(b));
        for (std::size_t a = 0; a < 3; ++a) {
            blocks.b[3 * a + b] = components[a].transpose() * MX;
            blocks.B[3 * a + b] = components[a].transpose() * MU;
        }
    }
    require_no_rigid_motion(blocks, mean);
    return blocks;
}

}  // namespace pliant
