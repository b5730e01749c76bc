#include "pliant/fem/loads.h"

#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/fem/mass.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

Vector3d total(const VectorXd& f) {
    Vector3d sum = Vector3d::Zero();
    for (Eigen::Index i = 0; i < f.size(); i += 3) sum += f.segment<3>(i);
    return sum;
}
Vector3d torque(const VolumeMesh& mesh, const VectorXd& f) {
    Vector3d sum = Vector3d::Zero();
    for (int i = 0; i < mesh.num_vertices(); ++i)
        sum += mesh.vertices[i].cross(Vector3d(f.segment<3>(3 * i)));
    return sum;
}

TEST(Loads, GravityWeighsTheBody) {
    for (const VolumeMesh& mesh : {test::distorted_hexes(3), test::distorted_tets(2)}) {
        const FemModel model(mesh, {isotropic(1e4, 0.3, 1200)});
        const Vector3d g(1, -9.81, 2);
        const VectorXd f = gravity_load(model, g);
        EXPECT_LT((total(f) - 1200 * total_volume(mesh) * g).norm(), 1e-9);
        EXPECT_LT((body_force_load(model, 1200 * g) - f).norm(), 1e-12 * f.norm());
    }
}

TEST(Loads, TractionSumsToForceTimesAreaAndActsAtTheCentre) {
    const Vector3d t(3, -2, 5);
    for (const VolumeMesh& mesh :
         {hex_box(3, 2, 4, test::unit_box()), tet_box(3, 2, 4, test::unit_box())}) {
        const auto top =
            test::vertices_where(mesh, [](const Vector3d& x) { return x.z() > 1 - 1e-9; });
        const auto faces = boundary_faces(mesh, top);
        EXPECT_EQ(std::ssize(faces), mesh.kind == ElementKind::Hex8 ? 6 : 12);
        VectorXd f = VectorXd::Zero(3 * mesh.num_vertices());
        add_traction(mesh, faces, t, f);
        EXPECT_LT((total(f) - t).norm(), 1e-13);
        EXPECT_LT((torque(mesh, f) - Vector3d(0.5, 0.5, 1).cross(t)).norm(), 1e-13);
        for (int i = 0; i < mesh.num_vertices(); ++i)
            if (mesh.vertices[i].z() < 1 - 1e-9) {
                EXPECT_EQ(f.segment<3>(3 * i).norm(), 0);
            }
    }
}

TEST(Loads, TractionOnATrapezoidActsAtItsCentroid) {
    // top face with sides 1 and 0.4 along x, height 1: area 0.7, centroid at y = 3/7
    VolumeMesh mesh = hex_box(1, 1, 1, test::unit_box());
    mesh.vertices[7].x() = 0.4;
    VectorXd f = VectorXd::Zero(24);
    const ElementFace top{4, 5, 7, 6};
    add_traction(mesh, std::span(&top, 1), Vector3d::UnitZ(), f);
    EXPECT_LT((total(f) - Vector3d(0, 0, 0.7)).norm(), 1e-14);
    EXPECT_NEAR(torque(mesh, f).x(), 0.3, 1e-14);
}

TEST(Loads, TractionOfAStressFieldBalancesTheInternalForce) {
    // ∫ P n over the whole surface against R of a homogeneous deformation
    const Material m = isotropic(1e4, 0.3, 1000);
    Eigen::Matrix3d A;
    A << 0.2, 0.1, -0.05, 0.3, -0.1, 0.15, 0.02, -0.2, 0.1;
    const Eigen::Matrix3d P = stress(m, Eigen::Matrix3d::Identity() + A);
    for (const VolumeMesh& mesh :
         {hex_box(2, 3, 2, test::unit_box()), tet_box(2, 3, 2, test::unit_box()), graded_box(4)}) {
        VectorXd f = VectorXd::Zero(3 * mesh.num_vertices()), R(f.size());
        for (const ElementFace& face : boundary_faces(mesh)) {
            const Vector3d a = mesh.vertices[face[1]] - mesh.vertices[face[0]];
            const Vector3d b = mesh.vertices[face[2]] - mesh.vertices[face[0]];
            add_traction(mesh, std::span(&face, 1), P * a.cross(b).normalized(), f);
        }
        FemModel(mesh, {m}).internal_force(test::affine_displacements(mesh, A), R);
        for (int i = 0; i < mesh.num_vertices(); ++i)
            if (mesh.vertices[i].minCoeff() < 1e-9 || mesh.vertices[i].maxCoeff() > 1 - 1e-9) {
                EXPECT_LT((f - R).segment<3>(3 * i).norm(), 1e-12 * R.norm());
            }
    }
}

TEST(Loads, GradedBoxShowsItsOuterFacesOnly) {
    EXPECT_EQ(boundary_faces(graded_box(6)).size(), 6u * 36u);
}

TEST(Loads, FacesOfNodesOutOfRangeAreRefused) {
    const VolumeMesh mesh = hex_box(1, 1, 1, test::unit_box());
    for (const int node : {-5, 8, 100'000'000}) {
        const int nodes[] = {0, node};
        EXPECT_EQ(input_error([&] { static_cast<void>(boundary_faces(mesh, nodes)); }),
                  "node = " + std::to_string(node) + " (expected 0 to 7)");
    }
}

TEST(Loads, NodalForcesAdd) {
    VectorXd f = VectorXd::Zero(9);
    const int nodes[] = {0, 2};
    add_nodal_force(nodes, {1, 2, 3}, f);
    add_nodal_force(std::span(nodes, 1), {1, 0, 0}, f);
    EXPECT_EQ(f, (VectorXd(9) << 2, 2, 3, 0, 0, 0, 1, 2, 3).finished());
    const int bad[] = {3};
    EXPECT_EQ(input_error([&] {
                  add_nodal_force(bad, {1, 2, 3}, f);
              }),
              "node = 3 (expected 0 to 2)");
}

TEST(Loads, NonFiniteLoadIsNamedByNodeAndComponent) {
    VectorXd f = VectorXd::Zero(9);
    check_load(f);
    f[7] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(input_error([&] { check_load(f); }),
              "load.y of node 2 = inf N (expected a finite value)");
}

}  // namespace
}  // namespace pliant
