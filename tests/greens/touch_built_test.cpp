// Touching bodies as users build them, by boundary elements.
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/compliant_hand.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/point_contact.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

std::shared_ptr<const GreensModel> built_model(const std::string& shape, int levels,
                                               const std::string& fixed,
                                               BoundaryElements elements) {
    GreensBuildOptions options;
    options.fixed = fixed;
    options.youngs_modulus = 1e4;
    options.elements = elements;
    return std::make_shared<GreensModel>(
        build_greens_model(make_semi_regular(shape, levels), options));
}

SurfaceStiffnessOptions masked(MaskKind kind, double radius) {
    SurfaceStiffnessOptions options;
    options.mask.kind = kind;
    options.mask.radius = radius;
    return options;
}

/// A sphere of 10·4^level + 2 vertices, 0.1 m wide.
SemiRegularMesh refined_sphere(int level) {
    SemiRegularMesh sphere = midpoint_subdivide(sphere_case_surface(0), level);
    for (Vector3d& x : sphere.mesh.vertices) x = 0.05 * x.normalized();
    return sphere;
}

// Verification item 11: on one shape, 42, 162 and 642 vertices. A point has no stiffness in the
// limit, its own goes with the edges. A mask of two edges of the coarsest mesh converges: the
// second change is less than half the first one (order one), and what is left by
// extrapolation is a few per cent at most.
TEST(TouchBuilt, StiffnessOfAMaskConvergesAndThatOfAPointVanishes) {
    double radius = 0;
    std::vector<double> single, spread;
    for (const int level : {1, 2, 3}) {
        const SemiRegularMesh sphere = refined_sphere(level);
        if (radius == 0) {
            double sum = 0;
            for (int t = 0; t < sphere.mesh.num_triangles(); ++t)
                for (int k = 0; k < 3; ++k)
                    sum += (sphere.mesh.corner(t, k) - sphere.mesh.corner(t, (k + 1) % 3)).norm();
            radius = 2 * sum / (3 * sphere.mesh.num_triangles());
        }
        GreensBuildOptions options;
        options.fixed = "z < 30 %";
        options.contactable = "z > 35 %";
        options.youngs_modulus = 1e4;
        const auto model = std::make_shared<GreensModel>(build_greens_model(sphere, options));
        const SurfaceStiffness point(model, masked(MaskKind::Vertex, 0)),
            patch(model, masked(MaskKind::Cone, radius));
        single.push_back(0);
        spread.push_back(0);
        for (int v = 0; v < 12; ++v) {
            if (sphere.mesh.vertices[at(v)].z() < 0.02) continue;
            single.back() += point.vertex_stiffness(v).trace();
            spread.back() += patch.vertex_stiffness(v).trace();
        }
    }
    for (const std::size_t k : {1u, 2u}) EXPECT_LT(single[k], 0.6 * single[k - 1]);
    const double first = std::abs(spread[1] - spread[0]), second = std::abs(spread[2] - spread[1]);
    EXPECT_LT(second, first / 2) << spread[0] << " " << spread[1] << " " << spread[2];
    EXPECT_LT(second * second / (first - second), 0.02 * spread[2]);
}

/// A stroke over the upper side with sliding; the largest change of the force in a step.
double largest_change(const std::shared_ptr<const GreensModel>& model, int num_steps) {
    const SurfaceStiffness stiffness(model);
    PointContactSettings settings;
    settings.friction = 0.3;
    PointContacts contacts(model, 1, settings);
    const double size = model->reference.length;
    const Vector3d above =
        bounding_box(model->surface.mesh.vertices).center() + size * Vector3d(0, 0.1, 1);
    const auto hit = SurfaceQuery(model->surface.mesh).ray(above, {0, 0, -1});
    const Vector3d top = above - hit->t * Vector3d::UnitZ();
    PointInput input{top + Vector3d(0, 0, 0.01) * size};
    (void)contacts.tick({&input, 1}, stiffness);
    double largest = 0;
    int num_sliding = 0;
    Vector3d last = Vector3d::Zero();
    for (int k = 0; k <= num_steps; ++k) {
        const double s = static_cast<double>(k) / num_steps;
        input.tip = top + size * Vector3d(0.25 * std::sin(6 * s), 0.1 * (std::cos(9 * s) - 1),
                                          -0.03 - 0.02 * std::sin(20 * s));
        const PointContact& contact = contacts.tick({&input, 1}, stiffness).points[0];
        EXPECT_TRUE(contact.is_touching()) << k;
        const double N = -contact.force.dot(contact.normal);
        EXPECT_LE((contact.force + N * contact.normal).norm() - 0.3 * N,
                  1e-12 * contact.force.norm());
        if (k > 0) largest = std::max(largest, (contact.force - last).norm());
        last = contact.force;
        num_sliding += contact.phase == PointPhase::Sliding;
    }
    EXPECT_GT(num_sliding, num_steps / 2);
    return largest;
}

TEST(TouchBuilt, StrokesOverTheKidneyAreContinuous) {
    for (const auto elements : {BoundaryElements::Linear, BoundaryElements::Constant}) {
        const auto model = built_model("kidney", 1, "z < 20 %", elements);
        EXPECT_LT(largest_change(model, 4000), 0.6 * largest_change(model, 2000));
    }
}

// What is shown: the tip of the picture is where the device is, at vertices.
TEST(TouchBuilt, DeformationMeetsTheTip) {
    const auto model = built_model("kidney", 1, "z < 20 %", BoundaryElements::Linear);
    const SurfaceStiffness stiffness(model);
    CapacitanceOptions options;
    options.max_dofs = 3;
    options.max_loads = 100;
    CapacitanceSolver solver(model->reference, UpdateCosts(), options);
    PointLoads loads(model->num_nodes(), 100);
    int num_checked = 0;
    for (int t = 0; t < model->surface.mesh.num_triangles(); t += 7) {
        const int vertex = model->surface.mesh.triangles[at(t)][0];
        if (stiffness.is_rigid(vertex)) continue;
        PointContact contact;
        contact.phase = PointPhase::Sticking;
        contact.triangle = t;
        contact.point = model->surface.mesh.vertices[at(vertex)];
        contact.tip = contact.point - 1e-3 * model->normals[at(vertex)];
        contact.force = stiffness.vertex_stiffness(vertex) * (contact.tip - contact.point);
        loads.clear();
        ASSERT_TRUE(loads.add(stiffness, contact));
        ASSERT_TRUE(solver.set_loads(loads.nodes(), loads.tractions()));
        ASSERT_FALSE(is_refused(solver.solve({}, {})));
        Vector3d u;
        solver.displacements({&vertex, 1}, {&u, 1});
        // stiffness is made symmetric, boundary elements are not quite
        EXPECT_LT((u - (contact.tip - contact.point)).norm(), 0.1 * 1e-3) << vertex;
        ++num_checked;
    }
    EXPECT_GT(num_checked, 10);
}

/// A hand from above around a nodule.
struct NoduleInHand {
    std::shared_ptr<const GreensModel> model =
        built_model("nodule", 2, "z < 2 %", BoundaryElements::Linear);
    CompliantHand hand{GraspHand::adult()};
    DistributedContact contact{model, hand.model().shapes(), UpdateCosts()};
    Pose wrist;
    std::vector<Wrench> loads = std::vector<Wrench>(GraspHand::kNumLinks);
    std::vector<Matrix6d> stiffness = std::vector<Matrix6d>(GraspHand::kNumLinks, Matrix6d::Zero());

    NoduleInHand() {
        const Box box = bounding_box(model->surface.mesh.vertices);
        Eigen::Matrix3d axes;  // palm down
        axes << 1, 0, 0, 0, 0, 1, 0, -1, 0;
        wrist = {{box.center().x(), box.center().y() - 0.085,
                  box.max().z() + hand.model().palm_half_sizes.y() + 0.006},
                 Quaternion(axes)};
        hand.place(wrist, closing_hand(0));
    }
    void step(double closing) {
        EXPECT_TRUE(hand.step(wrist, closing_hand(closing), loads, stiffness));
        (void)contact.step(hand.links());
        for (int link = 0; link < GraspHand::kNumLinks; ++link) {
            loads[at(link)] = contact.load(link);
            stiffness[at(link)] = contact.stiffness(link);
        }
    }
};

TEST(TouchBuilt, HandGraspsTheNodule) {
    NoduleInHand grasp;
    for (int k = 0; k <= 200; ++k) grasp.step(std::min(0.007 * k, 0.85));
    EXPECT_EQ(grasp.contact.report().status, DistributedContact::Status::Settled);
    EXPECT_EQ(grasp.contact.report().left_out, 0);
    EXPECT_GE(grasp.contact.touched().size(), 10u);
    EXPECT_LT(grasp.hand.imbalance(), 1e-4);
    // thumb and fingers press from opposite sides
    const auto side = [&](int finger) {
        double sum = 0;
        for (int bone = 0; bone < 3; ++bone)
            sum += grasp.loads[at(1 + 3 * finger + bone)].force.norm();
        return sum;
    };
    EXPECT_GT(side(0), 0);
    EXPECT_GT(side(2), 0);
}

// A finger that has closed over a node must not take it along when it opens, and what a tool lets
// go of in a step is taken again in the same one where it is inside.
TEST(TouchBuilt, AHandThatOpensLetsGoOfEverythingAndNoNodeIsEverInsideIt) {
    NoduleInHand grasp;
    int num_removed = 0;
    for (int k = 0; k <= 260; ++k) {
        grasp.step(k <= 120 ? k / 120.0 : std::max(0.0, (260 - 1.3 * k) / 104));
        const DistributedContact::Report& report = grasp.contact.report();
        EXPECT_EQ(report.status, DistributedContact::Status::Settled) << k;
        EXPECT_EQ(report.left_out, 0) << k << ": " << report.deepest;
        num_removed += report.removed;
    }
    EXPECT_GT(num_removed, 20);
    EXPECT_TRUE(grasp.contact.touched().empty());
}

}  // namespace
}  // namespace pliant
