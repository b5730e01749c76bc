#include "fem/contact_detection.h"

#include "fem/contact_samples.h"
#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>
#include <tuple>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// What is found, to compare.
using Found = std::vector<std::tuple<int, int, int, int, double>>;
Found found_in(const ContactDetection::Workspace& ws) {
    Found result;
    for (const FoundTouch& t : ws.found)
        result.emplace_back(t.body, t.surface_node, t.before.obstacle, t.before.other_body, t.gap);
    return result;
}

struct Scene {
    std::vector<ExplicitDynamics> bodies;
    std::vector<RigidShape> obstacles{RigidShape::mesh(test::torus_surface(24, 12, 0.1, 0.04)),
                                      RigidShape::sphere(0.05),
                                      RigidShape::half_space(Vector3d(1, 0, 3), -0.4)};

    Scene() {
        bodies.push_back(test::reference_cube(4, 0, {-0.05, -0.05, -0.05}));
        bodies.push_back(test::reference_cube(2, 0, {0.03, -0.02, 0.02}));
    }
};

/// Every node against everything, without boxes and memory.
Found by_brute_force(const Scene& scene, const ContactDetection& detection,
                     const ExplicitScene::State& s, std::span<const RigidMotion> motions) {
    Found result;
    for (int b = 0; b < 2; ++b) {
        const int other = 1 - b;
        const FacetTree surface(scene.bodies[other].model().mesh());
        FacetTree::Workspace ws = surface.make_workspace();
        surface.refit(s.bodies[other].u, ws);
        for (int i = 0; i < static_cast<int>(detection.surface_nodes(b).size()); ++i) {
            const int node = detection.surface_nodes(b)[i];
            const Vector3d x =
                scene.bodies[b].model().mesh().vertices[node] + s.bodies[b].u.segment<3>(3 * node);
            for (int o = 0; o < 3; ++o) {
                const double gap = scene.obstacles[o].sample(motions[o].pose.to_body(x)).gap;
                if (gap <= 0) result.emplace_back(b, i, o, -1, gap);
            }
            const auto closest = surface.closest(x, detection.reach(b), ws);
            if (closest.gap <= 0) result.emplace_back(b, i, -1, other, closest.gap);
        }
    }
    return result;
}

TEST(ContactDetection, FindsWhatBruteForceFindsWhileEverythingMoves) {
    const Scene scene;
    const ContactDetection detection(scene.bodies, scene.obstacles, {});
    ContactDetection::Workspace ws = detection.make_workspace();
    const ExplicitScene whole(scene.bodies, scene.obstacles);
    ExplicitScene::State s = whole.make_state();
    std::vector<RigidMotion> motions(3);
    motions[0].velocity = {Vector3d(0.2, 0.1, -0.1), Vector3d(2, 1, 0.5)};
    motions[1].velocity.linear = Vector3d(-0.5, 0.2, 0.3);
    motions[2].velocity.angular = Vector3d(0, 0.3, 0);
    // not so much that surfaces cut themselves
    s.bodies[0].v = test::random_displacements(375, 0.02, 1);
    s.bodies[1].v = test::random_displacements(81, 0.05, 2);
    for (int i = 0; i < 81; i += 3) s.bodies[1].v.segment<3>(i) += Vector3d(-0.3, 0.1, -0.2);
    std::size_t num_found = 0;
    for (int k = 0; k < 40; ++k) {
        for (RigidMotion& motion : motions) motion = advance(motion, 0.005);
        for (FemState& body : s.bodies) body.u += 0.005 * body.v;
        detection.find(scene.bodies, scene.obstacles, s, motions, ws);
        EXPECT_TRUE(ws.is_complete);
        EXPECT_EQ(found_in(ws), by_brute_force(scene, detection, s, motions)) << k;
        num_found += ws.found.size();
    }
    EXPECT_GT(num_found, 500u);
}

TEST(ContactDetection, KeptNodesAreFoundOutsideToo) {
    const Scene scene;
    const ContactDetection detection(scene.bodies, scene.obstacles, {});
    ContactDetection::Workspace ws = detection.make_workspace();
    ExplicitScene::State s = ExplicitScene(scene.bodies, scene.obstacles).make_state();
    std::vector<RigidMotion> motions(3);
    for (RigidMotion& motion : motions) motion.pose.position = Vector3d(0, 0, -10);
    s.bodies[1].u.setConstant(3);
    s.touches[0][3 * 7] = {.obstacle = 1, .phase = ExplicitScene::Touch::Phase::Held};
    s.touches[0][3 * 7 + 1] = {.other_body = 1, .phase = ExplicitScene::Touch::Phase::Captured};
    s.touches[0][3 * 8] = {.obstacle = 1, .phase = ExplicitScene::Touch::Phase::Inside};
    detection.find(scene.bodies, scene.obstacles, s, motions, ws);
    ASSERT_EQ(ws.found.size(), 2u);
    EXPECT_EQ(ws.found[0].surface_node, 7);
    EXPECT_NEAR(ws.found[0].gap, 10, 0.2);
    EXPECT_EQ(ws.found[1].facet, -1);
    EXPECT_EQ(ws.found[1].gap, std::numeric_limits<double>::infinity());
}

TEST(ContactDetection, MoreThanThreeTouchesOfANodeDoNotFit) {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::reference_cube(1));
    const std::vector<RigidShape> planes(4, RigidShape::half_space({0, 0, 1}, 0.05));
    const ContactDetection detection(bodies, planes, {});
    ContactDetection::Workspace ws = detection.make_workspace();
    const ExplicitScene::State s = ExplicitScene(bodies, planes).make_state();
    detection.find(bodies, planes, s, s.obstacles, ws);
    EXPECT_FALSE(ws.is_complete);
    EXPECT_EQ(ws.found.size(), 12u);
}

}  // namespace
}  // namespace pliant
