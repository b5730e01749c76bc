#include "reduction/reduced_display.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/reduction/reduced_body.h"
#include "reduction/body_samples.h"

#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3f;

Vector3d at(const std::vector<float>& x, int i) {
    return Eigen::Map<const Vector3f>(x.data() + 3 * static_cast<std::size_t>(i)).cast<double>();
}

void expect_positions_of(const ReducedBody& body) {
    const auto display = body.display();
    const std::vector<float> state = test::display_state(body);
    std::vector<float> x(3 * body.surface().vertices.size()), n(x.size());
    std::uint64_t allocations = 0;
    {
        const AllocationGuard guard;
        display->positions(state, x);
        display->normals(x, n);
        allocations = guard.count();
    }
    EXPECT_EQ(allocations, 0u);
    for (int v = 0; v < body.surface().num_vertices(); ++v) {
        // single precision of coordinates of about 1 m
        EXPECT_LE((at(x, v) - body.position(SurfacePoint::at_vertex(v))).norm(), 1e-6);
        EXPECT_NEAR(at(n, v).norm(), 1, 1e-6);
    }
}

TEST(ReducedDisplay, ShowsTheSurfaceWhereTheBodyIs) {
    ReducedBody held(test::bar_model(), {.pose = test::tilted()});
    ReducedBody flying(test::bar_model({.is_free = true}),
                       {.pose = test::tilted(), .velocity = {{1, 0, 0}, {0, 2, 1}}});
    for (ReducedBody* body : {&held, &flying}) {
        expect_positions_of(*body);
        test::pull(*body, 0, 300);
        EXPECT_GT(body->state().q.norm(), 1e-3);
        expect_positions_of(*body);
    }
    // a pose may be more than one turn and one place
    const std::vector<float> state = test::display_state(flying);
    EXPECT_EQ(state.size(), 17u);
    EXPECT_EQ(state[0], static_cast<float>(flying.pose().position.x()));
    EXPECT_EQ(state[3], static_cast<float>(flying.pose().rotation.w()));
    EXPECT_EQ(state[7], static_cast<float>(flying.state().q[0]));
}

TEST(ReducedDisplay, NodesMoveWithTheBasis) {
    ReducedBody body(test::bar_model(), {.pose = test::tilted()});
    test::pull(body, 0, 200);
    const auto display = body.display();
    const VolumeMesh mesh = body.model().mesh();
    ASSERT_EQ(display->num_mesh_nodes(), mesh.num_vertices());
    std::vector<float> x(3 * mesh.vertices.size());
    display->mesh_positions(test::display_state(body), x);
    const Eigen::VectorXd u = body.model().basis() * body.state().q;
    for (int i = 0; i < mesh.num_vertices(); ++i) {
        const Vector3d place = mesh.vertices[static_cast<std::size_t>(i)] + u.segment<3>(3 * i);
        EXPECT_LE((at(x, i) - body.pose().to_world(place)).norm(), 1e-6);
    }
}

TEST(ReducedDisplay, EdgesAreThoseOfTheElementsEachOnce) {
    // 9 × 3 × 3 nodes of hexes
    const auto edges = ReducedDisplay(test::bar_model()).mesh_edges();
    EXPECT_EQ(edges.size(), 8u * 9 + 2u * 9 * 3 + 2u * 9 * 3);
    const std::set<std::array<int, 2>> unique(edges.begin(), edges.end());
    EXPECT_EQ(unique.size(), edges.size());
    const VolumeMesh mesh = test::reference_bar();
    for (const auto& [a, b] : edges) {
        const Vector3d d =
            mesh.vertices[static_cast<std::size_t>(a)] - mesh.vertices[static_cast<std::size_t>(b)];
        EXPECT_NEAR(d.norm(), 0.1, 1e-12);
    }
}

TEST(ReducedDisplay, EdgesOfTetrahedra) {
    ReducedModelParts parts;
    parts.mesh = tet_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Ones()));
    const int num_tets = parts.mesh.num_elements();
    parts.materials = {isotropic(1e5, 0.3, 1000)};
    parts.fixed_vertices = test::clamped_end(parts.mesh);
    parts.surface = test::box_surface();
    const FemModel model(parts.mesh, parts.materials);
    Constraints constraints(model.num_nodes());
    constraints.fix(parts.fixed_vertices);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 1});
    parts.eigenvalues = modes.eigenvalues;
    parts.basis.U = modes.shapes;
    parts.basis.singular_values = Eigen::VectorXd::Ones(1);
    add_projections(parts, model);
    const auto edges = ReducedDisplay(ReducedModel(std::move(parts))).mesh_edges();
    // Euler: v − e + f − t = 1 with 2 f = 4 t + 12 outer faces of the box
    EXPECT_EQ(static_cast<int>(edges.size()), 8 - 1 + (4 * num_tets + 12) / 2 - num_tets);
}

}  // namespace
}  // namespace pliant
