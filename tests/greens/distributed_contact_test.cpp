#include "pliant/greens/distributed_contact.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "core/dense_algebra.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "tests/greens/touch_models.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using ContactStatus = DistributedContact::Status;

constexpr double kLength = 0.08, kModulus = 3e4;  // of the box
constexpr double kInverseRounding = 2e-4;         // single precision, times a condition of 100

/// The box and slow solves of it in SI.
struct TouchBox {
    test::ElasticBox box = test::elastic_box();
    std::shared_ptr<GreensModel> model = test::box_model(box, kLength, kModulus);

    /// Displacements with those of `held` prescribed along their directions and the support at
    /// rest, nothing else loaded: by Lagrange multipliers.
    [[nodiscard]] VectorXd solve(std::vector<ChangedDof> held, std::vector<double> values) const {
        for (int node = 0; node < model->num_nodes(); ++node)
            if (box.kinds[at(node)] == NodeKind::Fixed)
                for (int k = 0; k < 3; ++k) {
                    held.push_back({node, Vector3d::Unit(k)});
                    values.push_back(0);
                }
        const int size = static_cast<int>(box.K.rows()), count = static_cast<int>(held.size());
        Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size + count, size + count);
        VectorXd right = VectorXd::Zero(size + count);
        A.topLeftCorner(size, size) = box.K;
        for (int k = 0; k < count; ++k) {
            A.block<3, 1>(3 * held[at(k)].node, size + k) = held[at(k)].direction;
            A.block<1, 3>(size + k, 3 * held[at(k)].node) = held[at(k)].direction.transpose();
            right[size + k] = values[at(k)];
        }
        return solve_dense(A, right).col(0).head(size);
    }
    /// Forces on the nodes that belong to displacements [N].
    [[nodiscard]] VectorXd forces(const VectorXd& u) const {
        return kModulus * kLength * box.K * u;
    }
    [[nodiscard]] Vector3d position(int node) const { return model->reference.positions[at(node)]; }
    /// Green's functions between free nodes in double precision, nondimensional.
    [[nodiscard]] const Eigen::MatrixXd& exact() const {
        if (exact_.size() > 0) return exact_;
        std::vector<int> rows;
        for (int node = 0; node < model->num_nodes(); ++node)
            if (box.kinds[at(node)] == NodeKind::Free)
                for (int k = 0; k < 3; ++k) rows.push_back(3 * node + k);
        const int size = static_cast<int>(rows.size());
        Eigen::MatrixXd K(size, size), M = Eigen::MatrixXd::Zero(size, size);
        for (int a = 0; a < size; ++a) {
            for (int b = 0; b < size; ++b) K(a, b) = box.K(rows[at(a)], rows[at(b)]);
            M(a, a) = box.M[rows[at(a)]];
        }
        const Eigen::MatrixXd u = solve_dense(K, M);
        exact_ = Eigen::MatrixXd::Zero(box.K.rows(), box.K.cols());
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b) exact_(rows[at(a)], rows[at(b)]) = u(a, b);
        return exact_;
    }
    [[nodiscard]] std::vector<int> nodes_where(auto&& is_wanted) const {
        std::vector<int> nodes;
        for (int node = 0; node < model->num_nodes(); ++node)
            if (box.kinds[at(node)] == NodeKind::Free && is_wanted(position(node) / kLength))
                nodes.push_back(node);
        return nodes;
    }

private:
    mutable Eigen::MatrixXd exact_;
};

Pose tool_at(double x, double y, double z) { return {Vector3d(x, y, z), Quaternion::Identity()}; }

/// Every condition of unilateral contact, from the solution of the whole body.
void expect_contact_holds(const TouchBox& body, const DistributedContact& contact,
                          std::span<const Pose> poses, TouchFriction friction) {
    std::vector<ChangedDof> held;
    std::vector<double> values;
    std::vector<char> is_held(at(body.model->num_nodes()), 0);
    for (const TouchedNode& touched : contact.touched()) {
        is_held[at(touched.node)] = 1;
        if (friction == TouchFriction::Frictionless) {
            held.push_back({touched.node, touched.direction});
            values.push_back(touched.depth);
            continue;
        }
        const Vector3d u =
            poses[at(touched.tool)].to_world(touched.anchor) - body.position(touched.node);
        for (int k = 0; k < 3; ++k) {
            held.push_back({touched.node, Vector3d::Unit(k)});
            values.push_back(u[k]);
        }
    }
    const VectorXd u = body.solve(held, values), f = body.forces(u);
    const double largest = std::max(f.cwiseAbs().maxCoeff(), 1e-9);
    std::vector<Wrench> loads(poses.size());
    for (const TouchedNode& touched : contact.touched()) {
        const Vector3d force = f.segment<3>(3 * touched.node);
        const Vector3d& n = touched.direction;
        EXPECT_GE(force.dot(poses[at(touched.tool)].rotation * touched.normal),
                  -kInverseRounding * largest)
            << "pulls at " << touched.node;
        if (friction == TouchFriction::Frictionless) {
            EXPECT_LT((force - force.dot(n) * n).norm(), 1e-9 * largest);
        }
        const Pose& pose = poses[at(touched.tool)];
        const Vector3d x = body.position(touched.node) + u.segment<3>(3 * touched.node);
        EXPECT_NEAR(contact.tool(touched.tool).sample(pose.to_body(x)).gap, 0, 2e-5 * kLength);
        loads[at(touched.tool)] += {-force, (x - pose.position).cross(-force)};
    }
    for (int node = 0; node < body.model->num_nodes(); ++node) {
        if (is_held[at(node)] || body.box.kinds[at(node)] == NodeKind::Fixed) continue;
        const Vector3d x = body.position(node) + u.segment<3>(3 * node);
        for (std::size_t k = 0; k < poses.size(); ++k)
            EXPECT_GT(contact.tool(static_cast<int>(k)).sample(poses[k].to_body(x)).gap,
                      -2e-5 * kLength)
                << "node " << node << " inside tool " << k;
    }
    for (std::size_t k = 0; k < poses.size(); ++k) {
        const Wrench load = contact.load(static_cast<int>(k));
        EXPECT_LT((load.force - loads[k].force).norm(), kInverseRounding * 10 * largest);
        EXPECT_LT((load.torque - loads[k].torque).norm(),
                  kInverseRounding * 10 * largest * kLength);
    }
}

constexpr double kSingle = 6e-8;  // rounding of one number

/// (E13) in double precision, and the sum of the sizes of its terms.
struct PatchSum {
    Matrix6d K = Matrix6d::Zero(), terms = Matrix6d::Zero();
};
PatchSum patch_sum(const TouchBox& body, const std::vector<ChangedDof>& held, const RigidPatch& i,
                   const RigidPatch& j, bool is_rounded) {
    const int size = static_cast<int>(held.size());
    Eigen::MatrixXd C(size, size);
    for (int a = 0; a < size; ++a)
        for (int b = 0; b < size; ++b) {
            const int row = held[at(a)].node, column = held[at(b)].node;
            if (is_rounded) {
                Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
                body.model->reference.functions->element(row, column, block.data());
                C(a, b) = -held[at(a)].direction.dot(block.cast<double>() * held[at(b)].direction);
            } else {
                C(a, b) = -held[at(a)].direction.dot(body.exact().block<3, 3>(3 * row, 3 * column) *
                                                     held[at(b)].direction);
            }
        }
    const Eigen::MatrixXd X = solve_dense(C, Eigen::MatrixXd::Identity(size, size));
    const auto motion = [&](int a, const RigidPatch& patch) {
        Eigen::Matrix<double, 6, 1> w = Eigen::Matrix<double, 6, 1>::Zero();
        if (std::ranges::find(patch.nodes, held[at(a)].node) == patch.nodes.end()) return w;
        w << held[at(a)].direction,
            (body.position(held[at(a)].node) - patch.centre).cross(held[at(a)].direction);
        return w;
    };
    PatchSum sum;
    for (int a = 0; a < size; ++a)
        for (int b = 0; b < size; ++b) {
            const Matrix6d term = -kModulus / kLength *
                                  body.model->reference.areas[at(held[at(a)].node)] * motion(a, i) *
                                  X(a, b) * motion(b, j).transpose();
            sum.K += term;
            sum.terms += term.cwiseAbs();
        }
    return sum;
}

// Verification item 12, one patch and several: the small matrix has the force of the whole body.
TEST(PatchStiffness, IsTheReactionOfTheWholeBodyToRigidMotions) {
    const TouchBox body;
    const auto top =
        body.nodes_where([](const Vector3d& x) { return x.z() > 0.74 && x.x() < 0.6; });
    const auto side = body.nodes_where([](const Vector3d& x) { return x.x() > 0.99; });
    ASSERT_GT(top.size(), 5u);
    ASSERT_GT(side.size(), 5u);
    const RigidPatch patches[] = {{top, {0.01, 0.02, 0.03}}, {side, {0.05, 0.01, 0.07}}};
    CapacitanceOptions options;
    options.cache.max_bytes = 8 << 20;
    CapacitanceSolver solver(body.model->reference, UpdateCosts(), options);
    for (const int num_patches : {1, 2}) {
        std::vector<ChangedDof> held;
        for (int p = 0; p < num_patches; ++p)
            for (const int node : patches[p].nodes)
                for (int k = 0; k < 3; ++k) held.push_back({node, Vector3d::Unit(k)});
        ASSERT_FALSE(is_refused(solver.solve(held, std::vector<double>(held.size(), 0.0))));
        for (int j = 0; j < num_patches; ++j)
            for (int motion = 0; motion < 6; ++motion) {
                // patch j moves, the other one stays where it is
                std::vector<double> values;
                for (int p = 0; p < num_patches; ++p)
                    for (const int node : patches[p].nodes) {
                        Vector3d u = Vector3d::Zero();
                        if (p == j && motion < 3) u = Vector3d::Unit(motion);
                        if (p == j && motion >= 3)
                            u = Vector3d::Unit(motion - 3)
                                    .cross(body.position(node) - patches[j].centre);
                        values.insert(values.end(), u.data(), u.data() + 3);
                    }
                const VectorXd f = body.forces(body.solve(held, values));
                for (int i = 0; i < num_patches; ++i) {
                    Eigen::Matrix<double, 6, 1> expected = Eigen::Matrix<double, 6, 1>::Zero();
                    for (const int node : patches[i].nodes) {
                        expected.head<3>() += f.segment<3>(3 * node);
                        expected.tail<3>() += (body.position(node) - patches[i].centre)
                                                  .cross(Vector3d(f.segment<3>(3 * node)));
                    }
                    // the formula itself, with Green's functions in double precision
                    const PatchSum exact = patch_sum(body, held, patches[i], patches[j], false);
                    EXPECT_LT((exact.K.col(motion) - expected).norm(), 1e-10 * exact.K.norm());
                    // the code: only the stored inverse is rounded
                    const PatchSum stored = patch_sum(body, held, patches[i], patches[j], true);
                    const Matrix6d K = rigid_patch_stiffness(solver, patches[i], patches[j]);
                    for (int row = 0; row < 6; ++row)
                        EXPECT_LE(std::abs(K(row, motion) - stored.K(row, motion)),
                                  kSingle * stored.terms(row, motion));
                    // and what rounding Green's functions does, by the condition of their matrix
                    EXPECT_LT((K.col(motion) - expected).norm(),
                              kSingle * solver.inverse().condition() * K.norm());
                }
            }
    }
}

TEST(DistributedContact, OfASphereSatisfiesAllConditionsOfTheWholeBody) {
    const TouchBox body;
    for (const auto friction : {TouchFriction::Sticking, TouchFriction::Frictionless}) {
        DistributedContactOptions options;
        options.friction = friction;
        options.capacitance.cache.max_bytes = 8 << 20;
        DistributedContact contact(body.model, {RigidShape::sphere(0.5 * kLength)}, UpdateCosts(),
                                   options);
        std::size_t most = 0;
        for (int k = 0; k < 40; ++k) {
            const Pose pose = tool_at(0.45 * kLength + 1e-4 * k, 0.35 * kLength,
                                      (1.26 - 0.15 * std::sin(0.08 * k)) * kLength);
            const ContactStatus status = contact.step({&pose, 1});
            EXPECT_EQ(status, ContactStatus::Settled) << k;
            EXPECT_LE(contact.report().iterations, 8);
            EXPECT_EQ(contact.report().left_out, 0) << k;
            if (k % 6 == 0) expect_contact_holds(body, contact, {&pose, 1}, friction);
            most = std::max(most, contact.touched().size());
            if (!contact.touched().empty()) {
                EXPECT_GT(contact.load(0).force.z(), 0);
            }
        }
        EXPECT_GE(most, 4u);
        // away again: nothing is left
        const Pose pose = tool_at(0, 0, 3 * kLength);
        EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
        EXPECT_TRUE(contact.touched().empty());
        EXPECT_EQ(contact.load(0).force, Vector3d::Zero());
        EXPECT_EQ(contact.stiffness(0), Matrix6d::Zero());
    }
}

TEST(DistributedContact, OfSeveralToolsOfAllShapesHolds) {
    const TouchBox body;
    SurfaceMesh octahedron;
    for (int k = 0; k < 3; ++k)
        for (const double sign : {1.0, -1.0})
            octahedron.vertices.push_back(sign * 0.3 * kLength * Vector3d::Unit(k));
    octahedron.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                            {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    std::vector<RigidShape> tools{RigidShape::capsule(0.15 * kLength, 0.3 * kLength),
                                  RigidShape::box(Vector3d(0.2, 0.5, 0.3) * kLength),
                                  RigidShape::mesh(octahedron)};
    DistributedContact contact(body.model, tools, UpdateCosts());
    std::vector<Pose> poses(3);
    for (int k = 0; k <= 10; ++k) {
        const double depth = 0.008 * k * kLength;
        poses[0] = {Vector3d(0.3 * kLength, 0.4 * kLength, 0.92 * kLength - depth),
                    rotation_from_vector({0, std::numbers::pi / 2, 0})};
        poses[1] = tool_at(1.22 * kLength - depth, 0.4 * kLength, 0.5 * kLength);
        poses[2] = tool_at(-0.27 * kLength + depth, 0.4 * kLength, 0.5 * kLength);
        const ContactStatus status = contact.step(poses);
        EXPECT_EQ(status, ContactStatus::Settled) << k;
        if (k % 5 == 0) expect_contact_holds(body, contact, poses, TouchFriction::Sticking);
    }
    EXPECT_GT(contact.load(0).force.z(), 0);
    EXPECT_GT(contact.load(1).force.x(), 0);
    EXPECT_LT(contact.load(2).force.x(), 0);
    // the same squeeze without the tool across: softer
    DistributedContact alone(body.model, {tools[1]}, UpdateCosts());
    ASSERT_EQ(alone.step({&poses[1], 1}), ContactStatus::Settled);
    EXPECT_LT(alone.load(0).force.x(), contact.load(1).force.x());
}

TEST(DistributedContact, SticksUntilItIsPulled) {
    const TouchBox body;
    DistributedContact contact(body.model, {RigidShape::box(Vector3d::Constant(0.3 * kLength))},
                               UpdateCosts());
    Pose pose = tool_at(0.5 * kLength, 0.375 * kLength, 1.02 * kLength);
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    ASSERT_FALSE(contact.touched().empty());
    const std::vector<TouchedNode> before(contact.touched().begin(), contact.touched().end());
    // dragged along: the same anchors, a force against it
    pose.position.x() += 0.01 * kLength;
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    EXPECT_LT(contact.load(0).force.x(), 0);
    for (const TouchedNode& touched : contact.touched())
        for (const TouchedNode& old : before)
            if (old.node == touched.node) {
                EXPECT_EQ(old.anchor, touched.anchor);
            }
    // a bit above the surface at rest: all of it would have to pull
    pose.position.z() = 1.06 * kLength;
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    EXPECT_TRUE(contact.touched().empty());
    EXPECT_EQ(contact.report().removed, static_cast<int>(before.size()));
}

// Beyond an edge, a tool pushes along its own normal what it would have to pull off the body.
TEST(DistributedContact, AToolThatHasPassedAnEdgeDoesNotTakeItAlong) {
    const TouchBox body;
    DistributedContact contact(body.model, {RigidShape::sphere(0.3 * kLength)}, UpdateCosts());
    std::size_t most = 0;
    double furthest = 0;
    for (int k = 0; k <= 60; ++k) {
        // in at the side, below the upper edge, then up and away
        const double in = std::min(0.01 * k, 0.2), up = std::max(0.0, 0.02 * (k - 20));
        const Pose pose = tool_at((1.28 - in) * kLength, 0.375 * kLength, (0.62 + up) * kLength);
        EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Settled) << k;
        EXPECT_EQ(contact.report().left_out, 0) << k;
        most = std::max(most, contact.touched().size());
        for (const TouchedNode& touched : contact.touched())
            furthest = std::max(
                furthest, (pose.to_world(touched.anchor) - body.position(touched.node)).norm());
    }
    EXPECT_GE(most, 2u);
    EXPECT_LT(furthest, 0.3 * kLength);
    EXPECT_TRUE(contact.touched().empty());
}

TEST(DistributedContact, KeepsTheLastGoodSetWhenTheSolverRefuses) {
    const TouchBox body;
    DistributedContact contact(body.model, {RigidShape::sphere(0.5 * kLength)}, UpdateCosts());
    Pose pose = tool_at(0.45 * kLength, 0.35 * kLength, 1.2 * kLength);
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    const std::size_t size = contact.touched().size();
    ASSERT_GT(size, 0u);
    contact.set_budget(kInfinity, 0);
    pose.position.z() -= 0.1 * kLength;
    EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Limited);
    EXPECT_EQ(contact.report().solver, CapacitanceStatus::OverBudget);
    EXPECT_EQ(contact.touched().size(), size);
    EXPECT_GT(contact.report().left_out, 0);
    EXPECT_GT(contact.load(0).force.z(), 0);
    // the nodes that are held follow all the same
    for (const TouchedNode& touched : contact.touched()) {
        Vector3d u;
        contact.solver().displacements({&touched.node, 1}, {&u, 1});
        EXPECT_LT((pose.to_world(touched.anchor) - body.position(touched.node) - u).norm(),
                  1e-4 * kLength);
    }
    contact.set_budget(kInfinity, 1);
    EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    EXPECT_GT(contact.touched().size(), size);

    // poses that are none
    const Wrench load = contact.load(0);
    Pose bad = pose;
    bad.position.x() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(contact.step({&bad, 1}), ContactStatus::BadInput);
    EXPECT_EQ(contact.load(0).force, load.force);
    EXPECT_EQ(contact.step({}), ContactStatus::BadInput);
    // far too deep: finite, and out again without a trace
    pose.position = {1e200, 0, 0};
    (void)contact.step({&pose, 1});
    EXPECT_TRUE(contact.load(0).force.allFinite());
    contact.reset();
    pose = tool_at(0, 0, 3 * kLength);
    EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    EXPECT_TRUE(contact.touched().empty());
}

TEST(DistributedContact, AResetIsNotBoundByABudget) {
    const TouchBox body;
    DistributedContact contact(body.model, {RigidShape::sphere(0.5 * kLength)}, UpdateCosts());
    Pose pose = tool_at(0.45 * kLength, 0.35 * kLength, 1.2 * kLength);
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    const int node = contact.touched().front().node;
    contact.set_budget(kInfinity, -1);
    contact.reset();
    EXPECT_NE(contact.report().solver, CapacitanceStatus::OverBudget);
    EXPECT_TRUE(contact.touched().empty());
    Vector3d u;
    contact.solver().displacements({&node, 1}, {&u, 1});
    EXPECT_EQ(u, Vector3d::Zero().eval());
    // which holds for steps all the same
    EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Limited);
}

TEST(DistributedContact, HoldsAsManyAsItMay) {
    const TouchBox body;
    DistributedContactOptions options;
    options.max_nodes = 3;
    options.capacitance.cache.max_bytes = 1 << 20;
    DistributedContact contact(body.model, {RigidShape::box(Vector3d(0.6, 0.6, 0.2) * kLength)},
                               UpdateCosts(), options);
    const Pose pose = tool_at(0.5 * kLength, 0.375 * kLength, 0.93 * kLength);
    EXPECT_EQ(contact.step({&pose, 1}), ContactStatus::Limited);
    EXPECT_EQ(contact.touched().size(), 3u);
    EXPECT_GT(contact.report().left_out, 0);
    EXPECT_GT(contact.report().deepest, 0);
}

/// The lowest and highest places of what is held.
Box held_box(const TouchBox& body, const DistributedContact& contact) {
    std::vector<Vector3d> places;
    for (const TouchedNode& touched : contact.touched())
        places.push_back(body.position(touched.node));
    return bounding_box(places);
}

// A plate on more nodes than may be held: the same ones whatever it touched first, evenly spread,
// so that it does not turn and loses little of its force.
TEST(DistributedContact, HoldsNodesSpreadEvenlyWhenThereAreTooMany) {
    const TouchBox body;
    for (const auto friction : {TouchFriction::Sticking, TouchFriction::Frictionless}) {
        DistributedContactOptions options;
        options.friction = friction;
        options.capacitance.cache.max_bytes = 8 << 20;
        const RigidShape plate = RigidShape::box(Vector3d(1, 1, 0.2) * kLength);
        const Pose pose = tool_at(0.5 * kLength, 0.375 * kLength, 0.93 * kLength);
        DistributedContact all(body.model, {plate}, UpdateCosts(), options);
        ASSERT_EQ(all.step({&pose, 1}), ContactStatus::Settled);
        const auto most = static_cast<int>(all.touched().size());
        ASSERT_GT(most, 12);

        options.max_nodes = 3 * most / 4;
        DistributedContact some(body.model, {plate}, UpdateCosts(), options);
        EXPECT_EQ(some.step({&pose, 1}), ContactStatus::Limited);
        EXPECT_EQ(some.touched().size(), at(options.max_nodes));
        EXPECT_GT(some.report().left_out, 0);
        EXPECT_NEAR(held_box(body, some).sizes().x(), held_box(body, all).sizes().x(), 1e-9);
        EXPECT_NEAR(held_box(body, some).sizes().y(), held_box(body, all).sizes().y(), 1e-9);
        EXPECT_GT(some.load(0).force.z(), 0.8 * all.load(0).force.z());
        EXPECT_LT(some.load(0).force.z(), all.load(0).force.z());

        // tilted first: what was touched first has no claim
        DistributedContact aside(body.model, {plate}, UpdateCosts(), options);
        for (int k = 0; k <= 20; ++k) {
            const double left = 1 - 0.05 * k;
            const Pose way{pose.position + left * Vector3d(0, 0, 0.2 * kLength),
                           rotation_from_vector({0, 0.2 * left, 0})};
            (void)aside.step({&way, 1});
        }
        std::vector<int> held, held_aside;
        for (const TouchedNode& touched : some.touched()) held.push_back(touched.node);
        for (const TouchedNode& touched : aside.touched()) held_aside.push_back(touched.node);
        EXPECT_EQ(held, held_aside);
    }
}

// A frictionless plate pushes along its own normal where the body's points elsewhere: the edges of
// the box, whose normals lean outwards, are pressed down, not aside.
TEST(DistributedContact, WithoutFrictionOfAPlatePressesAlongItsNormal) {
    const TouchBox body;
    DistributedContactOptions options;
    options.friction = TouchFriction::Frictionless;
    DistributedContact contact(body.model, {RigidShape::box(Vector3d(1, 1, 0.2) * kLength)},
                               UpdateCosts(), options);
    const Pose pose = tool_at(0.5 * kLength, 0.375 * kLength, 0.93 * kLength);
    ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
    int num_edges = 0;
    for (const TouchedNode& touched : contact.touched()) {
        EXPECT_LT((touched.direction - Vector3d::UnitZ()).norm(), 1e-9);
        num_edges += body.model->normals[at(touched.node)].z() < 0.8;
    }
    EXPECT_GT(num_edges, 4);
    const Vector3d force = contact.load(0).force;
    EXPECT_LT(force.head<2>().norm(), 1e-6 * force.norm());
    expect_contact_holds(body, contact, {&pose, 1}, TouchFriction::Frictionless);
}

// A tool that is suddenly somewhere else takes nothing along, wherever it was.
TEST(DistributedContact, LetsGoOfToolsThatJumpAway) {
    const TouchBox body;
    for (const auto friction : {TouchFriction::Sticking, TouchFriction::Frictionless})
        for (const Vector3d& jump : {Vector3d(3, 0, 0), Vector3d(0, -50, 0), Vector3d(0, 0, -1e6),
                                     Vector3d(1e150, 0, 0)}) {
            DistributedContactOptions options;
            options.friction = friction;
            DistributedContact contact(body.model, {RigidShape::sphere(0.5 * kLength)},
                                       UpdateCosts(), options);
            const Pose pose = tool_at(0.45 * kLength, 0.35 * kLength, 1.2 * kLength);
            ASSERT_EQ(contact.step({&pose, 1}), ContactStatus::Settled);
            ASSERT_FALSE(contact.touched().empty());
            const Pose gone{pose.position + kLength * jump, pose.rotation};
            EXPECT_EQ(contact.step({&gone, 1}), ContactStatus::Settled);
            EXPECT_TRUE(contact.touched().empty());
            EXPECT_EQ(contact.load(0).force, Vector3d::Zero());
        }
}

// Wherever tools are, deep inside and from one place to the next: forces are finite, and no more
// than what crushes the body many times over.
TEST(DistributedContact, ForcesAreBoundedWhereverToolsAre) {
    const TouchBox body;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-0.6, 0.6);
    const double crushing = 2.6 * kModulus * kLength * kLength;
    for (const auto friction : {TouchFriction::Sticking, TouchFriction::Frictionless})
        for (const auto& tool :
             {RigidShape::sphere(0.3 * kLength), RigidShape::box(Vector3d(0.9, 0.9, 0.1) * kLength),
              RigidShape::capsule(0.1 * kLength, 0.4 * kLength)}) {
            DistributedContactOptions options;
            options.friction = friction;
            options.capacitance.cache.max_bytes = 8 << 20;
            DistributedContact contact(body.model, {tool}, UpdateCosts(), options);
            for (int k = 0; k < 60; ++k) {
                const Pose pose{kLength * Vector3d(0.5 + uniform(random), 0.4 + uniform(random),
                                                   0.4 + uniform(random)),
                                rotation_from_vector(Vector3d(uniform(random), uniform(random),
                                                              uniform(random)))};
                (void)contact.step({&pose, 1});
                EXPECT_LT(contact.load(0).force.norm(), 10 * crushing) << k;
                EXPECT_LT(contact.solver().report().farthest, 2.5 * kLength) << k;
            }
        }
}

TEST(DistributedContact, IsTheSameInEveryRunAndAllocatesNothing) {
    const auto model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    const double size = model->reference.length;
    const Box bounds = bounding_box(model->surface.mesh.vertices);
    DistributedContactOptions options;
    options.capacitance.cache.max_bytes = 32 << 20;
    std::vector<Vector3d> forces[2];
    std::uint64_t allocations = 0;
    int num_changes = 0;
    for (auto& run : forces) {
        DistributedContact contact(
            model,
            {RigidShape::sphere(0.2 * size), RigidShape::box(Vector3d::Constant(0.15 * size))},
            UpdateCosts(), options);
        std::mt19937 random(3);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (int k = 0; k < 60; ++k) {
            const Vector3d top = bounds.center() + Vector3d(0, 0, bounds.sizes().z() / 2);
            const Pose poses[2] = {
                {top + size * Vector3d(0.2 * std::sin(0.2 * k), 0.1, 0.15), Quaternion::Identity()},
                {top + size * Vector3d(-0.3, 0.05 * uniform(random), 0.1),
                 rotation_from_vector(Vector3d(uniform(random), uniform(random), 0))}};
            const AllocationGuard guard;
            (void)contact.step(poses);
            contact.solver().evaluate(model->num_nodes());
            const Wrench load = contact.load(0);
            (void)contact.stiffness(1);
            allocations += guard.count();
            run.push_back(load.force);
            num_changes += contact.report().added + contact.report().removed;
            EXPECT_TRUE(load.force.allFinite());
        }
    }
    EXPECT_EQ(forces[0], forces[1]);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(num_changes, 100);
}

TEST(DistributedContact, SaysWhatIsWrong) {
    const TouchBox body;
    const auto message = [&](RigidShape tool, int max_nodes) {
        DistributedContactOptions options;
        options.max_nodes = max_nodes;
        try {
            const DistributedContact contact(body.model, {std::move(tool)}, UpdateCosts(), options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(
        message(RigidShape::half_space(), 10),
        "distributed contact: tool 0 is unbounded; use a sphere, capsule, box or convex mesh");
    EXPECT_EQ(message(RigidShape::sphere(1), 0),
              "distributed contact: max_nodes and max_iterations must be positive");
}

}  // namespace
}  // namespace pliant
