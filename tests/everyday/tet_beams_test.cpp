// Beams and blocks of tetrahedra against the formulas of textbooks, at every Poisson's ratio up to
// that of rubber. The tables of docs/fem.md are printed here.
#include <gtest/gtest.h>

#include <cstdio>

#include "pliant/fem/statics.h"
#include "pliant/geometry/structured_mesh.h"

namespace pliant::tet_beams {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kYoung = 1e5, kLength = 10, kSide = 1;

/// A square bar along x, so many cells thick, its axis on the x axis.
FemModel bar(int cells, double length, double poisson, ElementFormulation elements,
             Law law = Law::StVenantKirchhoff) {
    const Box box{Vector3d(0, -kSide / 2, -kSide / 2), Vector3d(length, kSide / 2, kSide / 2)};
    return {tet_box(static_cast<int>(length / kSide) * cells, cells, cells, box),
            {isotropic(kYoung, poisson, 1000, law)},
            {elements}};
}

std::vector<int> nodes_at(const VolumeMesh& mesh, double x) {
    std::vector<int> nodes;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (std::abs(mesh.vertices[i].x() - x) < 1e-9) nodes.push_back(i);
    return nodes;
}

/// A traction on the end face, shared by the areas of the nodes.
VectorXd pull(const VolumeMesh& mesh, double x, const Vector3d& force) {
    VectorXd f = VectorXd::Zero(3 * mesh.num_vertices());
    double sum = 0;
    const auto weight = [&](int i) {
        const Vector3d& p = mesh.vertices[i];
        const auto at_edge = [](double y) { return std::abs(std::abs(y) - kSide / 2) < 1e-9; };
        return (at_edge(p.y()) ? 0.5 : 1.0) * (at_edge(p.z()) ? 0.5 : 1.0);
    };
    for (const int i : nodes_at(mesh, x)) sum += weight(i);
    for (const int i : nodes_at(mesh, x)) f.segment<3>(3 * i) = weight(i) / sum * force;
    return f;
}

/// Holds the face at x = 0 so that it stays plane and may become narrower.
Constraints held_plane(const VolumeMesh& mesh) {
    Constraints constraints(mesh.num_vertices());
    for (const int i : nodes_at(mesh, 0)) {
        const Vector3d& p = mesh.vertices[i];
        constraints.prescribe(i, 0, 0);
        if (std::abs(p.y()) < 1e-9) constraints.prescribe(i, 1, 0);
        if (std::abs(p.z()) < 1e-9) constraints.prescribe(i, 2, 0);
    }
    return constraints;
}

/// K u at rest.
VectorXd reaction(const FemModel& model, const VectorXd& u) {
    auto K = model.make_matrix();
    model.tangent(VectorXd::Zero(u.size()), K);
    return K * u;
}

/// Deflection of the tip over Timoshenko's.
double bending(int cells, double poisson, ElementFormulation elements) {
    const FemModel model = bar(cells, kLength, poisson, elements);
    const VectorXd f = pull(model.mesh(), kLength, Vector3d(0, 0, -1));
    const VectorXd u = solve_linear_static(model, held_plane(model.mesh()), f);
    const double I = std::pow(kSide, 4) / 12, G = kYoung / (2 * (1 + poisson));
    const double theory = std::pow(kLength, 3) / (3 * kYoung * I) + kLength / (5.0 / 6 * G);
    return f.dot(u) / theory;
}

/// Force of a bar that is lengthened by a thousandth, over that of theory.
double tension(int cells, double poisson, ElementFormulation elements) {
    const double length = 4, stretch = 1e-3;
    const FemModel model = bar(cells, length, poisson, elements);
    Constraints constraints = held_plane(model.mesh());
    for (const int i : nodes_at(model.mesh(), length))
        constraints.prescribe(i, 0, stretch * length);
    const VectorXd u =
        solve_linear_static(model, constraints, VectorXd::Zero(model.num_unknowns()));
    return u.dot(reaction(model, u)) / (stretch * length) / (kYoung * stretch);
}

/// Torque of a square bar whose ends turn and may warp, over Saint-Venant's.
double torsion(int cells, double poisson, ElementFormulation elements) {
    const double length = 4, angle = 1e-3;
    const FemModel model = bar(cells, length, poisson, elements);
    const VolumeMesh& mesh = model.mesh();
    Constraints constraints(mesh.num_vertices());
    for (const double x : {0.0, length})
        for (const int i : nodes_at(mesh, x)) {
            const Vector3d& p = mesh.vertices[i];
            const double turn = x > 0 ? angle : 0;
            constraints.prescribe(i, 1, -turn * p.z());
            constraints.prescribe(i, 2, turn * p.y());
            if (x == 0 && p.norm() < 1e-9) constraints.prescribe(i, 0, 0);
        }
    const VectorXd u =
        solve_linear_static(model, constraints, VectorXd::Zero(model.num_unknowns()));
    const double G = kYoung / (2 * (1 + poisson));
    const double theory = G * 0.1405770 * std::pow(kSide, 4) * angle / length;
    return u.dot(reaction(model, u)) / angle / theory;
}

void print(const char* name, int cells, double poisson, double plain, double accurate) {
    std::printf("| %s | %d | %.4g | %.3f | %.3f |\n", name, cells, poisson, plain, accurate);
}

constexpr ElementFormulation kPlain = ElementFormulation::Plain,
                             kAccurate = ElementFormulation::Accurate;

TEST(EverydayTets, ABeamBendsAsMuchAsTheorySaysAtEveryPoissonRatio) {
    for (const double poisson : {0.3, 0.45, 0.49, 0.499, 0.4995}) {
        const double coarse = bending(2, poisson, kAccurate), fine = bending(4, poisson, kAccurate);
        print("bending", 2, poisson, bending(2, poisson, kPlain), coarse);
        print("bending", 4, poisson, bending(4, poisson, kPlain), fine);
        EXPECT_NEAR(fine, 1, 0.03) << poisson;
        EXPECT_LT(std::abs(fine - 1), std::abs(coarse - 1) + 0.01) << poisson;
    }
}

TEST(EverydayTets, ABeamBendsFarAsTheElasticaSays) {
    // a tip load of 2 EI/L² deflects by 0.4935 L
    const double load = 2 * kYoung * std::pow(kSide, 4) / 12 / (kLength * kLength);
    for (const auto& [law, poisson] :
         {std::pair{Law::StVenantKirchhoff, 0.3}, std::pair{Law::NeoHookean, 0.49}}) {
        const FemModel model = bar(2, kLength, poisson, kAccurate, law);
        const VectorXd f = pull(model.mesh(), kLength, Vector3d(0, 0, load));
        const StaticResult result =
            solve_static(model, held_plane(model.mesh()), f, {.load_steps = 4});
        ASSERT_TRUE(result.has_converged()) << result.message;
        EXPECT_NEAR(f.dot(result.u) / load / (0.4935 * kLength), 1, 0.03) << poisson;
    }
}

TEST(EverydayTets, ABarStretchesAsMuchAsTheorySays) {
    for (const double poisson : {0.3, 0.49, 0.4995})
        EXPECT_NEAR(tension(2, poisson, kAccurate), 1, 1e-9) << poisson;
}

TEST(EverydayTets, ASquareBarTwistsAsMuchAsTheorySays) {
    for (const double poisson : {0.3, 0.4995}) {
        const double coarse = torsion(2, poisson, kAccurate), fine = torsion(4, poisson, kAccurate);
        print("torsion", 2, poisson, torsion(2, poisson, kPlain), coarse);
        print("torsion", 4, poisson, torsion(4, poisson, kPlain), fine);
        EXPECT_NEAR(fine, 1, 0.03) << poisson;
        EXPECT_LT(std::abs(fine - 1), std::abs(coarse - 1)) << poisson;
    }
}

}  // namespace
}  // namespace pliant::tet_beams
