#include "pliant/greens/fem_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "greens/zoned_bar.h"
#include "input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using test::ZonedBar;
using ::testing::HasSubstr;

/// The last zone of a bar as finite elements in its own frame, and the vertices of the bar.
struct LastZone {
    std::shared_ptr<FemZone> zone;
    std::vector<int> vertices;
};

LastZone last_zone(const ZonedBar& bar, const ZoneSeam& seam) {
    const Zone& old = bar.zones.back();
    const std::vector<int>& vertices = bar.vertices.back();
    std::map<int, int> place;
    VolumeMesh mesh;
    mesh.kind = bar.mesh.kind;
    for (const int v : vertices) {
        place.emplace(v, mesh.num_vertices());
        mesh.vertices.push_back(old.pose.to_body(bar.mesh.vertices[at(v)]));
    }
    for (int e = 0; e < bar.mesh.num_elements(); ++e) {
        const auto nodes = bar.mesh.element(e);
        if (std::ranges::all_of(nodes, [&](int v) { return place.contains(v); }))
            for (const int v : nodes) mesh.elements.push_back(place[v]);
    }
    const double nu = 0.3, E = 2 * ZonedBar::kModulus * (1 + nu);
    const FemModel model(mesh, {isotropic(E, nu, 1000, Law::SmallStrain)},
                         {ElementFormulation::Plain});
    std::vector<int> seam_vertices;
    for (const int node : seam.nodes_b) seam_vertices.push_back(place[vertices[at(node)]]);
    return {std::make_shared<FemZone>(model, seam_vertices), vertices};
}

TEST(FemZone, BondedToGreensFunctionsIsTheWholeBody) {
    const ZonedBar bar = test::zoned_bar({.num_zones = 3, .cells = 2, .random_frames = true});
    const LastZone last = last_zone(bar, bar.seams.back());
    std::vector<Zone> zones = bar.zones;
    zones.back().model = nullptr;
    zones.back().precise = nullptr;
    zones.back().response = last.zone;
    std::vector<ZoneSeam> seams = bar.seams;
    for (std::size_t k = 0; k < seams.back().nodes_b.size(); ++k)
        seams.back().nodes_b[k] = static_cast<int>(k);
    ZonedModel model(zones, seams);

    // a force at the end of the elements, one in the zone before
    const Vector3d pull(1, -2, 3), push(0.5, 1, -1);
    const int end = last.vertices.back();
    const int inner = bar.vertices[1][at(1)];
    ASSERT_GT(bar.mesh.vertices[at(end)].x(), 0.99 * ZonedBar::kLength);
    const Pose& frame = bar.zones[2].pose;
    last.zone->set_loads(std::array{static_cast<int>(last.vertices.size()) - 1},
                         std::array{Vector3d(frame.rotation.conjugate() * pull)});
    const ReferenceProblem& middle = bar.zones[1].model->reference;
    ASSERT_TRUE(model.greens(1)->set_loads(
        std::array{1},
        std::array{Vector3d(bar.zones[1].pose.rotation.conjugate() * push / middle.areas[1])}));
    ASSERT_EQ(model.solve(), SeamSystem::Status::Solved);
    VectorXd f = VectorXd::Zero(3 * bar.mesh.num_vertices());
    f.segment<3>(3 * end) += pull;
    f.segment<3>(3 * inner) += push;
    const VectorXd u = bar.displacements(f);
    const double largest = u.cwiseAbs().maxCoeff();
    for (int z = 0; z < 2; ++z)
        for (std::size_t node = 0; node < bar.vertices[at(z)].size(); ++node) {
            const int v = bar.vertices[at(z)][node];
            EXPECT_LT((model.position(z, static_cast<int>(node)) - bar.mesh.vertices[at(v)] -
                       u.segment<3>(3 * v))
                          .norm(),
                      1e-11 * largest);
        }
    const VectorXd u_last = last.zone->displacements(model.seams().displacements(2));
    for (std::size_t k = 0; k < last.vertices.size(); ++k) {
        const Vector3d moved =
            frame.rotation * Vector3d(u_last.segment<3>(3 * static_cast<Eigen::Index>(k)));
        EXPECT_LT((moved - u.segment<3>(3 * last.vertices[k])).norm(), 1e-11 * largest);
    }
    // the rest of the body feels the elements: what posed() gives of the others
    EXPECT_EQ(model.first_node(1), static_cast<int>(bar.vertices[0].size()));
}

TEST(FemZone, RigidMotionOfItsSeamNeedsNoForce) {
    const ZonedBar bar = test::zoned_bar({.cells = 2});
    const LastZone last = last_zone(bar, bar.seams.back());
    VectorXd u(last.zone->seam_stiffness().rows()), f(u.size());
    for (std::size_t k = 0; k < last.zone->seam_positions().size(); ++k)
        u.segment<3>(3 * static_cast<Eigen::Index>(k)) =
            Vector3d(1, 2, 3) + Vector3d(3, -1, 2).cross(last.zone->seam_positions()[k]);
    last.zone->seam_forces(u, f);
    EXPECT_LT(f.norm(), 1e-10 * last.zone->seam_stiffness().norm() * u.norm());
}

TEST(FemZone, VerticesThatCannotBeAreRefused) {
    const VolumeMesh mesh = tet_box(2, 1, 1, Box(Vector3d::Zero(), Vector3d(2, 1, 1)));
    const FemModel model(mesh, {isotropic(1e4, 0.3, 1000)});
    EXPECT_THAT(input_error([&] { FemZone(model, {}); }), HasSubstr("needs seam vertices"));
    EXPECT_THAT(input_error([&] { FemZone(model, {0, 99}); }), HasSubstr("vertex 99"));
    EXPECT_THAT(input_error([&] { FemZone(model, {0, 1, 2}, {2}); }), HasSubstr("is twice"));
    EXPECT_THAT(input_error([&] { FemZone(model, {0}); }), HasSubstr("must hold it"));
}

/// A zone as it was: without a surface, and loaded as before.
TEST(FemZone, ASurfaceTooFineToBeShownIsNotThere) {
    const int cells = 27;
    const VolumeMesh mesh = tet_box(cells, cells, 1, Box(Vector3d::Zero(), Vector3d(1, 1, 0.1)));
    const FemModel model(mesh, {isotropic(1e4, 0.3, 1000, Law::SmallStrain)});
    std::vector<int> seam;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (mesh.vertices[at(v)].x() < 1e-9) seam.push_back(v);
    FemZone zone(model, seam);
    EXPECT_EQ(input_error([&] { zone.show_surface(); }),
              "a zone of finite elements has 1568 vertices on its surface; at most 1500 can be "
              "shown: choose a coarser mesh");
    EXPECT_TRUE(zone.surface().vertices.empty());
    EXPECT_TRUE(zone.surface().triangles.empty());
    EXPECT_TRUE(zone.surface_vertices().empty());
    const auto num_seam = static_cast<Eigen::Index>(3 * seam.size());
    EXPECT_EQ(zone.load_size(), num_seam);
    zone.set_loads(std::array{mesh.num_vertices() - 1}, std::array{Vector3d(0, 0, 1)});
    VectorXd f(num_seam);
    zone.seam_forces(VectorXd::Zero(num_seam), f);
    Vector3d held = Vector3d::Zero();
    for (Eigen::Index k = 0; k < num_seam; k += 3) held += f.segment<3>(k);
    EXPECT_LT((held + Vector3d(0, 0, 1)).norm(), 1e-9);
}

}  // namespace
}  // namespace pliant
