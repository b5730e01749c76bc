#include "pliant/greens/greens_body.h"

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/build_greens.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

std::shared_ptr<const GreensModel> nodule_model() {
    static const auto model = [] {
        GreensBuildOptions options;
        options.youngs_modulus = 2e4;
        options.poisson_ratio = 0.4;
        options.fixed = "z < 1 %";
        return std::make_shared<const GreensModel>(
            build_greens_model(make_semi_regular("nodule", 1), options));
    }();
    return model;
}

GreensBodyOptions turned() {
    GreensBodyOptions options;
    options.pose = {Vector3d(0.1, -0.2, 0.3), rotation_from_vector(Vector3d(0.3, 0.5, -0.2))};
    return options;
}

/// The vertex furthest from the support.
int top_vertex(const GreensBody& body) {
    const auto& x = body.surface().vertices;
    return static_cast<int>(
        std::max_element(x.begin(), x.end(),
                         [](const auto& a, const auto& b) { return a.z() < b.z(); }) -
        x.begin());
}

std::vector<float> shown_positions(const GreensBody& body) {
    const auto display = body.display();
    std::vector<float> state(at(display->state_size()));
    std::vector<float> x(3 * at(body.surface().num_vertices()));
    body.write_display(state);
    display->positions(state, x);
    return x;
}

Vector3d shown_vertex(const std::vector<float>& x, int v) {
    return Eigen::Map<const Eigen::Vector3f>(x.data() + 3 * at(v)).cast<double>();
}

/// Until a constant force has come through.
void pull_for_long(GreensBody& body, const SurfacePoint& point, const Vector3d& force) {
    for (int i = 0; i < 1000; ++i) {
        body.add_force(point, force);
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    }
}

std::vector<double> state_of(const GreensBody& body) {
    std::vector<double> state(at(body.state_size()));
    body.save_state(state);
    return state;
}

TEST(GreensBody, IsAtRestWithoutLoads) {
    GreensBody body(nodule_model(), turned());
    EXPECT_EQ(body.kind(), "greens");
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        EXPECT_LT((body.position(SurfacePoint::at_vertex(v)) -
                   turned().pose.to_world(body.surface().vertices[at(v)]))
                      .norm(),
                  1e-15);
    EXPECT_EQ(body.energy().total(), 0);
}

TEST(GreensBody, IsShownWhereItSaysItIs) {
    GreensBody body(nodule_model(), turned());
    const std::array<int, 2> nodes = {top_vertex(body), 12};
    const std::array<Vector3d, 2> tractions = {Vector3d(300, 100, -800), Vector3d(-200, 0, 50)};
    body.add_tractions(nodes, tractions, 0.25);
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.num_loads(), 2);
    EXPECT_EQ(body.energy().elastic, 0.25);
    const std::vector<float> x = shown_positions(body);
    double largest = 0;
    for (int v = 0; v < body.surface().num_vertices(); ++v) {
        const Vector3d place = body.position(SurfacePoint::at_vertex(v));
        EXPECT_LT((place - shown_vertex(x, v)).norm(), 1e-7);  // float
        largest = std::max(
            largest, (place - body.position(SurfacePoint::at_vertex(v), TickMoment::Start)).norm());
    }
    EXPECT_GT(largest, 1e-4);
    // loads are those of one step
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.num_loads(), 0);
}

TEST(GreensBody, ShowsForcesOfLoadedNodesInTheWorld) {
    GreensBody body(nodule_model(), turned());
    const std::array<int, 1> nodes = {top_vertex(body)};
    const std::array<Vector3d, 1> tractions = {Vector3d(300, 100, -800)};
    body.set_parameter(0, 2);  // as stiff again: the same traction, half of the way
    body.add_tractions(nodes, tractions, 0);
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    const auto display = std::dynamic_pointer_cast<const GreensDisplay>(body.display());
    std::vector<float> state(at(display->state_size()));
    body.write_display(state);
    std::vector<LoadedNode> loaded;
    display->loaded_nodes(state, loaded);
    ASSERT_EQ(loaded.size(), 1u);
    EXPECT_EQ(loaded[0].node, nodes[0]);
    const Vector3d force =
        body.model().reference.areas[at(nodes[0])] * (body.pose().rotation * tractions[0]);
    for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(static_cast<double>(loaded[0].force[at(k)]), force[k], 1e-6 * force.norm());
    const Vector3d place = body.position(SurfacePoint::at_vertex(nodes[0]));
    for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(static_cast<double>(loaded[0].position[at(k)]), place[k], 1e-7);
}

TEST(GreensBody, GivesWayToAHandByItsCompliance) {
    GreensBody body(nodule_model(), turned());
    const auto point = SurfacePoint::at_vertex(top_vertex(body));
    const Vector3d rest = body.position(point), force(0.02, -0.01, 0.03);
    pull_for_long(body, point, force);
    Matrix3d C;
    ASSERT_TRUE(body.compliance(point, C));
    const Vector3d moved = body.position(point) - rest;
    // the compliance is symmetric, what collocation gives only nearly: about 5 % on so few nodes
    EXPECT_LT((moved - C * force).norm(), 0.06 * moved.norm());
    EXPECT_NEAR(body.energy().elastic, 0.5 * force.dot(C * force), 1e-9);
    EXPECT_LT(body.velocity(point).norm(), 1e-6);
    // and comes back when it lets go
    for (int i = 0; i < 1000; ++i) body.step(1e-3);
    EXPECT_LT((body.position(point) - rest).norm(), 1e-12);
}

TEST(GreensBody, IsStableUnderASpringOfEveryStiffnessThatHandsTake) {
    // on top, and in triangles that rest on the support with a side or a corner
    const GreensModel& model = *nodule_model();
    std::vector<SurfacePoint> points;
    for (int t = 0; t < model.surface.mesh.num_triangles(); ++t) {
        Vector3d weights = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            weights[k] =
                model.reference.kinds[at(model.corner_nodes[at(t)][at(k)])] == NodeKind::Fixed
                    ? 0.1
                    : 0.8;
        if (weights.minCoeff() == 0.1 && weights.maxCoeff() == 0.8)
            points.push_back(SurfacePoint::on_triangle(t, weights / weights.sum()));
    }
    ASSERT_GT(points.size(), 4u);
    points.resize(4);
    points.push_back(SurfacePoint::at_vertex(top_vertex(GreensBody(nodule_model()))));
    for (const SurfacePoint& point : points)
        for (const double factor : {0.1, 3.0, 10.0})
            for (const double damping : {0.0, 0.7, 2.0}) {
                GreensBody body(nodule_model());
                Matrix3d C;
                ASSERT_TRUE(body.compliance(point, C));
                const double w = body.mobility(point), dt = 1e-3;
                // docs/scene.md eqs. (1) and (2)
                const double k = std::min(factor / C.norm(), 0.2 / (dt * dt * w));
                const double c =
                    std::min(2 * damping * std::sqrt(k / w), 0.3 / (dt * w)) + 1.5 * k * dt;
                const Vector3d target = body.position(point) + Vector3d(0.002, 0, 0.003);
                double last = kInfinity;
                for (int i = 0; i < 1000; ++i) {
                    body.add_force(point,
                                   k * (target - body.position(point)) - c * body.velocity(point));
                    body.step(dt);
                    if (i % 250 == 249) {
                        const double speed = body.velocity(point).norm();
                        EXPECT_LT(speed, std::max(0.5 * last, 1e-7))
                            << point.triangle << " " << factor << " " << damping;
                        last = speed;
                    }
                }
            }
}

TEST(GreensBody, SagsUnderGravityButNotWhereItIsHeld) {
    GreensBody body(nodule_model());
    body.set_gravity(Vector3d(0, 0, -9.81));
    body.step(1e-3);
    const int top = top_vertex(body);
    const double sag =
        body.surface().vertices[at(top)].z() - body.position(SurfacePoint::at_vertex(top)).z();
    EXPECT_GT(sag, 1e-5);
    EXPECT_NEAR(shown_vertex(shown_positions(body), top).z(),
                body.position(SurfacePoint::at_vertex(top)).z(), 1e-7);
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        if (body.model().reference.kinds[at(v)] == NodeKind::Fixed) {
            EXPECT_EQ(body.position(SurfacePoint::at_vertex(v)), body.surface().vertices[at(v)]);
        }
    // twice as stiff: half as far
    body.set_parameter(0, 2);
    EXPECT_NEAR(
        body.surface().vertices[at(top)].z() - body.position(SurfacePoint::at_vertex(top)).z(),
        0.5 * sag, 1e-12);
}

TEST(GreensBody, TakesAnotherMaskAlwaysAfterTheSameTicks) {
    GreensBody body(nodule_model());
    const double first = body.stiffness().radius();
    body.set_parameter(1, 1.5 * first);  // before the first step: with it
    body.step(1e-3);
    EXPECT_DOUBLE_EQ(body.stiffness().radius(), 1.5 * first);
    body.set_parameter(1, 0.8 * first);
    int ticks = 0;
    for (; ticks < 1000 && body.stiffness().radius() != 0.8 * first; ++ticks) body.step(1e-3);
    EXPECT_EQ(ticks, 251);
    EXPECT_DOUBLE_EQ(body.first_stiffness().radius(), first);
    body.set_parameter(1, 1.2 * first);
    body.reset();
    EXPECT_DOUBLE_EQ(body.stiffness().radius(), 1.2 * first);
}

TEST(GreensBody, WaitsForMasksOrderedBeforeTheFirstStepOnlyOnce) {
    const auto order_many = [](GreensBody& body, double first) {
        for (const double factor : {1.5, 0.8, 1.1, 0.9, 1.3}) {
            body.set_parameter(1, factor * first);
            EXPECT_DOUBLE_EQ(body.stiffness().radius(), first) << "not waited for";
        }
    };
    GreensBody stepped(nodule_model()), saved(nodule_model()), touched(nodule_model());
    const double first = stepped.stiffness().radius();
    order_many(stepped, first);
    stepped.step(1e-3);
    EXPECT_DOUBLE_EQ(stepped.stiffness().radius(), 1.3 * first);
    order_many(saved, first);
    std::vector<double> state(at(saved.state_size()));
    saved.save_state(state);
    EXPECT_DOUBLE_EQ(saved.stiffness().radius(), 1.3 * first);
    order_many(touched, first);
    touched.take_first_mask();
    EXPECT_DOUBLE_EQ(touched.stiffness().radius(), 1.3 * first);
    // later it takes its time
    touched.step(1e-3);
    touched.set_parameter(1, first);
    touched.take_first_mask();
    EXPECT_DOUBLE_EQ(touched.stiffness().radius(), 1.3 * first);
}

TEST(GreensBody, GoesOnFromASavedStateToTheBit) {
    GreensBody body(nodule_model(), turned()), other(nodule_model(), turned());
    const auto point = SurfacePoint::on_triangle(10, Vector3d(0.2, 0.3, 0.5));
    const std::array<int, 1> nodes = {top_vertex(body)};
    const std::array<Vector3d, 1> tractions = {Vector3d(300, 100, -800)};
    for (int i = 0; i < 20; ++i) {
        body.add_force(point, Vector3d(0.01, 0.02, 0));
        body.add_tractions(nodes, tractions, 0.1);
        body.step(1e-3);
    }
    ASSERT_TRUE(other.restore_state(state_of(body)));
    EXPECT_EQ(state_of(other), state_of(body));
    EXPECT_EQ(shown_positions(other), shown_positions(body));
    for (GreensBody* one : {&body, &other}) {
        one->add_force(point, Vector3d(0.01, 0.02, 0));
        one->step(1e-3);
    }
    EXPECT_EQ(state_of(other), state_of(body));

    // what is no state
    std::vector<double> wrong = state_of(body);
    wrong.back() = kNan;
    EXPECT_FALSE(body.restore_state(wrong));
    wrong = state_of(body);
    wrong[0] = 1e6;  // no such triangle
    EXPECT_FALSE(body.restore_state(wrong));
    wrong = state_of(body);
    wrong[65] = 257;  // loads
    EXPECT_FALSE(body.restore_state(wrong));
    wrong = state_of(body);
    wrong.pop_back();
    EXPECT_FALSE(body.restore_state(wrong));
}

TEST(GreensBody, IgnoresWhatMakesNoSense) {
    GreensBody body(nodule_model());
    const auto ends_with = [&](StepStatus status) {
        EXPECT_EQ(body.step(1e-3), status);
        EXPECT_EQ(body.num_loads(), 0);
    };
    body.add_force(SurfacePoint::at_vertex(-7), Vector3d::UnitX());
    ends_with(StepStatus::InputIgnored);
    body.add_force(SurfacePoint::at_vertex(3), Vector3d(kNan, 0, 0));
    ends_with(StepStatus::InputIgnored);
    const std::array<int, 1> outside = {9999};
    const std::array<Vector3d, 1> pressure = {Vector3d(0, 0, -100)};
    body.add_tractions(outside, pressure, kNan);
    ends_with(StepStatus::InputIgnored);
    const std::array<int, 1> top = {top_vertex(body)};
    const std::array<Vector3d, 1> nothing = {Vector3d::Constant(kInfinity)};
    body.add_tractions(top, nothing, 0);
    ends_with(StepStatus::InputIgnored);
    body.add_tractions(top, pressure, 0);
    EXPECT_EQ(body.step(kNan), StepStatus::InputIgnored);
    ends_with(StepStatus::Ok);
}

TEST(GreensBody, SaysWhenMoreNodesAreLoadedThanThereIsRoomFor) {
    GreensBodyOptions options;
    options.max_loads = 2;
    GreensBody body(nodule_model(), options);
    std::vector<int> nodes;
    for (int i = 0; i < body.model().num_nodes() && nodes.size() < 3; ++i)
        if (body.model().reference.kinds[at(i)] == NodeKind::Free) nodes.push_back(i);
    const std::vector<Vector3d> tractions(3, Vector3d(0, 0, -100));
    body.add_tractions(nodes, tractions, 0);
    EXPECT_EQ(body.step(1e-3), StepStatus::CapacityExceeded);
    EXPECT_EQ(body.num_loads(), 2);
}

TEST(GreensBody, AllocatesNothingInAStep) {
    GreensBody body(nodule_model(), turned());
    const auto point = SurfacePoint::on_triangle(10, Vector3d(0.2, 0.3, 0.5));
    const std::array<int, 1> nodes = {top_vertex(body)};
    const std::array<Vector3d, 1> tractions = {Vector3d(300, 100, -800)};
    std::vector<double> state(at(body.state_size()));
    std::vector<float> shown(at(body.display()->state_size()));
    Matrix3d C;
    AllocationGuard guard;
    for (int i = 0; i < 3; ++i) {
        body.add_force(point, 0.1 * body.position(point) - body.velocity(point));
        body.add_tractions(nodes, tractions, 0.1);
        body.step(1e-3);
        body.save_state(state);
        body.restore_state(state);
        body.write_display(shown);
        (void)body.compliance(point, C);
        (void)body.mobility(point);
        (void)body.normal(point);
    }
    EXPECT_EQ(guard.count(), 0u);
}

TEST(GreensBody, RefusesOptionsOutOfRangeByName) {
    GreensBodyOptions options;
    options.rate = 0;
    try {
        GreensBody body(nodule_model(), options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "rate = 0.000000 (expected more than 0 Hz)");
    }
    options = {};
    options.max_loads = 0;
    EXPECT_THROW(GreensBody(nodule_model(), options), InputError);
    options = {};
    options.pose.position.x() = kNan;
    EXPECT_THROW(GreensBody(nodule_model(), options), InputError);
}

}  // namespace
}  // namespace pliant
