#include "contact/normal_spread.h"

#include <gtest/gtest.h>

#include "pliant/contact/contact_loads.h"
#include "pliant/field/analytic_field.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Vector6d = Eigen::Matrix<double, 6, 1>;

/// Grid on the faces of a cube of 4 cm, edges included; points of edges have the normal of the face
/// that they come with.
Pointshell cube_with_edges() {
    constexpr int kSide = 9;
    constexpr double kCubeHalf = 0.02;
    Pointshell shell;
    shell.spacing = 2 * kCubeHalf / (kSide - 1);
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1})
            for (int i = 0; i < kSide; ++i)
                for (int j = 0; j < kSide; ++j) {
                    Vector3d p;
                    p[axis] = side * kCubeHalf;
                    p[(axis + 1) % 3] = kCubeHalf * (2.0 * i / (kSide - 1) - 1);
                    p[(axis + 2) % 3] = kCubeHalf * (2.0 * j / (kSide - 1) - 1);
                    shell.points.push_back(p.cast<float>());
                    shell.normals.push_back((-side * Vector3d::Unit(axis)).cast<float>());
                }
    shell.level_start = {0, shell.num_points()};
    return shell;
}
bool is_near_edge(const Eigen::Vector3f& p) {
    int count = 0;
    for (int c = 0; c < 3; ++c) count += std::abs(p[c]) > 0.0199f ? 1 : 0;
    return count > 1;
}

/// The cube in the half-space z < 0.
struct CubeInGround {
    explicit CubeInGround(ContactNormals normals)
        : traversal(PointTree(cube_with_edges()), plane_set_field({{Vector3d::UnitZ(), 0.0}})),
          forces(traversal, nullptr, options(normals)) {}
    static ContactLoadOptions options(ContactNormals normals) {
        ContactLoadOptions o;
        o.stiffness = 1000;
        o.scaling = ContactScaling::None;
        o.normals = normals;
        return o;
    }
    const ContactLoads& at(const Pose& pose) {
        static_cast<void>(traversal.update(pose, {}));
        static_cast<void>(
            forces.update(traversal, {pose, {}, pose.position, Vector3d::Zero()}, {}));
        return forces.loads();
    }
    PointTraversal traversal;
    ContactForces forces;
};
/// On an edge, 0.3 mm deep.
Pose on_edge() {
    const Quaternion turn = rotation_from_vector({0.6, 0, 0});
    return {{0, 0, 0.02 * (std::cos(0.6) + std::sin(0.6)) - 3e-4}, turn};
}
Vector6d stacked_load(const Wrench& w) {
    Vector6d v;
    v << w.force, w.torque;
    return v;
}

TEST(NormalSpread, IsThatOfTheFacesAtEdgesAndNoneInside) {
    const Pointshell shell = cube_with_edges();
    const std::vector<float> spread = normal_spread(shell);
    ASSERT_EQ(spread.size(), shell.points.size());
    for (std::size_t i = 0; i < spread.size(); ++i)
        if (is_near_edge(shell.points[i])) {
            EXPECT_NEAR(spread[i], 0, 1e-6) << shell.points[i].transpose();
        }
    // two rows away from the edges all is flat
    for (std::size_t i = 0; i < spread.size(); ++i) {
        Eigen::Vector3f p = shell.points[i].cwiseAbs();
        std::sort(p.data(), p.data() + 3);
        if (p[1] < 0.0101f) {
            EXPECT_EQ(spread[i], 1) << shell.points[i].transpose();
        }
    }
}

TEST(NormalSpread, SheetsDoNotSpreadToTheirOtherSide) {
    Pointshell shell;
    shell.spacing = 1e-3;
    for (int i = 0; i < 100; ++i)
        for (const int side : {-1, 1}) {
            shell.points.push_back(
                Vector3d(1e-3 * (i % 10), 1e-3 * (i / 10), 1e-4 * side).cast<float>());
            shell.normals.push_back((-side * Vector3d::UnitZ()).cast<float>());
        }
    shell.level_start = {0, shell.num_points()};
    for (const float s : normal_spread(shell)) EXPECT_EQ(s, 1);
}

TEST(NormalSpread, AnEdgeIsPushedOutOfAPlaneAndNotAlongIt) {
    CubeInGround spread(ContactNormals::Spread), plain(ContactNormals::Deformed);
    const ContactLoads& by_field = spread.at(on_edge());
    ASSERT_GT(by_field.num_contacts, 5);
    EXPECT_LT(by_field.on_shell.force.head<2>().norm(), 1e-5 * by_field.on_shell.force.z());
    const ContactLoads& by_faces = plain.at(on_edge());
    EXPECT_GT(by_faces.on_shell.force.head<2>().norm(), 0.1 * by_faces.on_shell.force.norm());
    // action and reaction
    EXPECT_LT((by_field.on_shell.force + by_field.on_field.force).norm(), 1e-9);
    Vector3d sum = Vector3d::Zero();
    for (const Eigen::Vector3f& f : spread.forces.point_forces()) sum += f.cast<double>();
    EXPECT_LT((sum - by_field.on_shell.force).norm(), 1e-5);
}

TEST(NormalSpread, ForcesAtEdgesAreDifferencesOfEnergyAndGradientsOfForces) {
    CubeInGround cube(ContactNormals::Spread);
    const Pose pose = on_edge();
    const ContactLoads loads = cube.at(pose);
    constexpr double kStep = 2e-5;
    const auto moved = [&](int j, double step) {
        Pose p = pose;
        if (j < 3)
            p.position[j] += step;
        else
            p.rotation = rotation_from_vector(step / 0.02 * Vector3d::Unit(j - 3)) * pose.rotation;
        return p;
    };
    Vector6d slope;
    Matrix6d gradient;
    for (int j = 0; j < 6; ++j) {
        const ContactLoads ahead = cube.at(moved(j, kStep)), behind = cube.at(moved(j, -kStep));
        ASSERT_EQ(ahead.num_contacts, loads.num_contacts);
        ASSERT_EQ(behind.num_contacts, loads.num_contacts);
        const double step = 2 * kStep / (j < 3 ? 1 : 0.02);
        slope[j] = (ahead.elastic_energy - behind.elastic_energy) / step;
        gradient.col(j) = (stacked_load(ahead.on_shell) - stacked_load(behind.on_shell)) / step;
    }
    const Vector6d load = stacked_load(loads.on_shell);
    // positions are single precision: 2e-9 m of 3e-4 m
    EXPECT_LT((slope + load).norm(), 1e-3 * load.norm());
    EXPECT_LT((gradient - loads.shell_gradient).norm(), 2e-3 * gradient.norm());
}

TEST(NormalSpread, FacesAreAsBefore) {
    // lies flat: points of edges that belong to the lower face agree, those of the sides do not
    CubeInGround spread(ContactNormals::Spread), plain(ContactNormals::Deformed);
    const Pose pose{{0, 0, 0.0199}};
    const Vector3d a = spread.at(pose).on_shell.force, b = plain.at(pose).on_shell.force;
    EXPECT_NEAR(a.z(), b.z() * (81 + 36) / 81.0, 1e-3 * a.z());
    EXPECT_LT(a.head<2>().norm(), 1e-5 * a.z());
}

TEST(NormalSpread, BeyondTheSpreadANormalTurnsAsFarAsItGoes) {
    // a wall that pushes the cube's lower edge from behind, 135° off both faces
    CubeInGround cube(ContactNormals::Spread);
    const Pose pose{{0, 0, 0}, rotation_from_vector({0.785398, 0, 0})};
    const ContactLoads& loads = cube.at(pose);
    EXPECT_GT(loads.num_contacts, 100);
    EXPECT_TRUE(loads.on_shell.force.allFinite());
    EXPECT_GT(loads.on_shell.force.z(), 0);
    EXPECT_LT(loads.on_shell.force.head<2>().norm(), 0.05 * loads.on_shell.force.z());
}

}  // namespace
}  // namespace pliant
