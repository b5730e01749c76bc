#include "pliant/greens/hand_over.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/reduction/build_reduced.h"
#include "tests/greens/bent_ball.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kHandedModulus = 2e4, kHandedDensity = 1000;

/// By finite elements, as the reduced model is: boundary elements of 162 nodes would differ by 13
/// %.
const std::shared_ptr<const GreensModel>& handed_model() {
    static const auto model = [] {
        GreensBuildOptions options;
        options.fixed = "z < 10 %";
        options.youngs_modulus = kHandedModulus;
        options.density = kHandedDensity;
        options.method = GreensMethod::FiniteElements;
        options.mesh = {.kind = "tet", .resolution = 10};
        return std::make_shared<const GreensModel>(
            build_greens_model(test::bent_ball_surface(2), options));
    }();
    return model;
}

const ReducedModel& handed_reduced() {
    static const ReducedModel model = build_reduced_model(
        handed_model()->surface.mesh,
        {.material = isotropic(kHandedModulus, 0.3, kHandedDensity, Law::StVenantKirchhoff),
         .elements = ElementFormulation::Plain,  // as tetrahedra of Green's functions are
         .fixed = "z < 10 %",
         .mesh = {.kind = "tet", .resolution = 10},
         .num_modes = 10,
         .rank = 24});
    return model;
}

/// A push from the side, over the upper half, of this size over the shear modulus.
void push_aside(GreensBody& body, double size) {
    std::vector<int> nodes;
    std::vector<Vector3d> tractions;
    const ReferenceProblem& reference = handed_model()->reference;
    for (int v = 0; v < handed_model()->num_nodes(); ++v)
        if (reference.kinds[at(v)] == NodeKind::Free && reference.positions[at(v)].z() > 0) {
            nodes.push_back(v);
            tractions.push_back(size * reference.modulus * Vector3d(0.5, 0, -1));
        }
    body.add_tractions(nodes, tractions, 0);
    (void)body.step(1e-3);
}

SurfacePoint highest_point() {
    const auto& x = handed_model()->surface.mesh.vertices;
    return SurfacePoint::at_vertex(static_cast<int>(
        std::max_element(x.begin(), x.end(),
                         [](const Vector3d& a, const Vector3d& b) { return a.z() < b.z(); }) -
        x.begin()));
}

struct HandedField {
    double difference = 0, largest = 0;
};
/// RMS of the difference over RMS, and the largest difference [m].
HandedField compare_fields(const GreensBody& one, const ReducedBody& two) {
    double wrong = 0, whole = 0;
    HandedField field;
    for (int v = 0; v < one.surface().num_vertices(); ++v) {
        const auto point = SurfacePoint::at_vertex(v);
        const Vector3d gap = two.position(point) - one.position(point);
        wrong += gap.squaredNorm();
        whole += (one.position(point) - one.pose().to_world(one.surface().vertices[at(v)]))
                     .squaredNorm();
        field.largest = std::max(field.largest, gap.norm());
    }
    field.difference = std::sqrt(wrong / whole);
    return field;
}

GreensBodyOptions turned_options() {
    GreensBodyOptions options;
    options.pose.position = {0.1, -0.2, 0.3};
    options.pose.rotation = Quaternion(Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized()));
    return options;
}

TEST(HandOver, NothingJumpsAndSmallLoadsStayWhereTheyAre) {
    GreensBody greens(handed_model(), turned_options());
    ReducedBody reduced(handed_reduced(), {.pose = turned_options().pose, .damping = {.mass = 20}});
    HandOver over(handed_model(), handed_reduced());
    push_aside(greens, 0.005);
    const HandOverReport report = over.apply(greens, reduced);
    ASSERT_TRUE(report.is_done);
    const HandedField at_once = compare_fields(greens, reduced);
    EXPECT_NEAR(at_once.largest, report.jump, 1e-7);
    EXPECT_LT(report.relative_jump, 0.02);

    // 0.2 s of fading, then until it is at rest: no step moves it by more than the field's
    // hundredth
    double fastest = 0, last = 0;
    const auto top = highest_point();
    for (int tick = 0; tick < 1500; ++tick) {
        const Vector3d before = reduced.position(top);
        over.add_loads(reduced, tick / 200.0);
        (void)reduced.step(1e-3);
        last = (reduced.position(top) - before).norm();
        fastest = std::max(fastest, last);
    }
    double whole = 0;
    for (int v = 0; v < greens.surface().num_vertices(); ++v)
        whole = std::max(whole, (greens.position(SurfacePoint::at_vertex(v)) -
                                 turned_options().pose.to_world(greens.surface().vertices[at(v)]))
                                    .norm());
    EXPECT_LT(fastest, 0.002 * whole);
    EXPECT_LT(last, 1e-4 * whole);
    const HandedField settled = compare_fields(greens, reduced);
    EXPECT_LT(settled.difference, 0.08);  // 0.06: other elements, and the subspace
}

TEST(HandOver, WithItsBalanceTheShapeStaysAtRest) {
    GreensBody greens(handed_model());
    ReducedBody reduced(handed_reduced());
    const Vector3d gravity(0, 0, -9.81);
    greens.set_gravity(gravity);
    reduced.set_gravity(gravity);
    HandOver over(handed_model(), handed_reduced());
    push_aside(greens, 0.03);
    ASSERT_TRUE(over.apply(greens, reduced).is_done);
    const auto top = highest_point();
    const Vector3d start = reduced.position(top);
    std::uint64_t allocations = 0;
    for (int tick = 0; tick < 100; ++tick) {
        AllocationGuard guard;
        over.add_loads(reduced, 0);
        (void)reduced.step(1e-3);
        allocations += guard.count();
    }
    EXPECT_EQ(allocations, 0u);
    EXPECT_LT((reduced.position(top) - start).norm(), 1e-9);
    // without it the nonlinear body goes its own way
    for (int tick = 0; tick < 300; ++tick) {
        over.add_loads(reduced, 1);
        (void)reduced.step(1e-3);
    }
    EXPECT_GT((reduced.position(top) - start).norm(), 0.01);  // 0.022 of a body 0.1 long
}

TEST(HandOver, OtherSurfacesAreRefused) {
    auto other = std::make_shared<GreensModel>(*handed_model());
    other->surface.mesh.vertices[3].x() += 0.01;
    EXPECT_EQ(test::input_error([&] { (void)HandOver(other, handed_reduced()); }),
              "a body is handed over to a reduced model of the same surface: build it from that of "
              "the Green's functions, at the same size");
}

}  // namespace
}  // namespace pliant
