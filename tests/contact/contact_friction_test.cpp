#include <gtest/gtest.h>

#include "tests/contact/load_samples.h"

namespace pliant {
namespace {

using namespace test;

/// Bottom of a box on the plane z = 0: normals upwards, points on z = 0.
HandShell sole(int per_side = 6, double half = 0.02) {
    HandShell shell;
    for (int i = 0; i < per_side; ++i)
        for (int j = 0; j < per_side; ++j) {
            const double step = 2 * half / (per_side - 1);
            shell.points.emplace_back(-half + i * step, -half + j * step, 0);
            shell.normals.push_back(Vector3d::UnitZ());
        }
    shell.finish();
    return shell;
}

ContactLoadOptions rough(double friction) {
    ContactLoadOptions options{.stiffness = 8500};
    options.friction = friction;
    return options;
}

/// A massless box, moved each millisecond by its net force over the contact stiffness of its
/// options: settles where the forces are in balance.
struct PushedBox {
    explicit PushedBox(const ContactLoadOptions& options) : pair(shell, plane, options) {
        frames.shell.position.z() = -1e-5;
    }
    void step(const Vector3d& push) {
        pair.update(frames);
        const double k = pair.sums.options.stiffness * pair.sums.options.scaling_count;
        frames.shell.position += 0.5 * (pair.loads.on_shell.force + push) / k;
    }
    HandShell shell = sole();
    FunctionField plane = half_space();
    Pair pair;
    ContactFrames frames;
};

TEST(FrictionAnchors, FindsWhatWasKeptInTheLastSetOnly) {
    FrictionAnchors anchors(100);
    EXPECT_EQ(anchors.find(7), nullptr);
    anchors.begin();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(anchors.keep(17 * i, Vector3d(i, 0, 0)));
    EXPECT_FALSE(anchors.keep(5, Vector3d::Zero()));
    EXPECT_EQ(anchors.find(17), nullptr);  // not before the end of the set
    anchors.end();
    EXPECT_EQ(anchors.size(), 100);
    for (int i = 0; i < 100; ++i) {
        ASSERT_NE(anchors.find(17 * i), nullptr);
        EXPECT_EQ(anchors.find(17 * i)->x(), i);
    }
    EXPECT_EQ(anchors.find(5), nullptr);
    anchors.begin();
    anchors.keep(34, Vector3d(0, 1, 0));
    anchors.end();
    EXPECT_EQ(anchors.size(), 1);
    EXPECT_EQ(anchors.find(17), nullptr);
    EXPECT_EQ(*anchors.find(34), Vector3d(0, 1, 0));
    anchors.clear();
    EXPECT_EQ(anchors.find(34), nullptr);
}

TEST(FrictionAnchors, AgreeWithAMapOverManyRandomSets) {
    FrictionAnchors anchors(64);
    std::vector<int> expected(1000, -1);
    std::mt19937 random(1);
    for (int set = 0; set < 300; ++set) {
        std::vector<int> next(1000, -1);
        anchors.begin();
        int size = 0;
        for (int k = 0; k < 80; ++k) {
            const int point = static_cast<int>(random() % 1000);
            const auto place = static_cast<std::size_t>(point);
            if (size == 64 && next[place] < 0) {
                EXPECT_FALSE(anchors.keep(point, Vector3d::Zero()));
                continue;
            }
            if (size == 64) continue;
            size += next[place] < 0;
            next[place] = k;
            EXPECT_TRUE(anchors.keep(point, Vector3d(k, 0, 0)));
        }
        anchors.end();
        expected = next;
        for (int point = 0; point < 1000; ++point) {
            const Vector3d* found = anchors.find(point);
            ASSERT_EQ(found ? static_cast<int>(found->x()) : -1,
                      expected[static_cast<std::size_t>(point)]);
        }
    }
}

TEST(AnchoredSlip, IsASpringUpToItsLimit) {
    const Vector3d n = Vector3d(1, 2, -2) / 3.0;
    const Vector3d t = Vector3d(2, 1, 2) / 3.0;
    const AnchoredSlip stick = anchored_slip(0.3 * t + 0.7 * n, n, 0.4);
    EXPECT_FALSE(stick.is_sliding);
    EXPECT_NEAR(stick.stretch, 0.3, 1e-15);
    EXPECT_LT((stick.e - t).norm(), 1e-14);
    EXPECT_EQ(stick.along, 1);
    EXPECT_EQ(stick.across, 1);
    const AnchoredSlip slide = anchored_slip(0.5 * t, n, 0.4);
    EXPECT_TRUE(slide.is_sliding);
    EXPECT_EQ(slide.stretch, 0.4);
    EXPECT_EQ(slide.along, 0);
    EXPECT_NEAR(slide.across, 0.8, 1e-14);
    const AnchoredSlip none = anchored_slip(Vector3d::Zero(), n, 0.4);
    EXPECT_NEAR(none.e.norm(), 1, 1e-14);
    EXPECT_NEAR(none.e.dot(n), 0, 1e-14);
    EXPECT_LT((none.side - n.cross(none.e)).norm(), 1e-15);
}

TEST(ContactFriction, StickOffsetIsTheLoadOverTheTangentialStiffness) {
    // box on plane, 4 N, load ratio 0.2, μ = 0.4 (section 24.2): all weights sum to L
    for (const double kappa : {0.5, 1.0, 2.0}) {
        ContactLoadOptions options = rough(0.4);
        options.friction_stiffness = kappa;
        PushedBox box(options);
        for (int i = 0; i < 400; ++i) box.step(Vector3d(0, 0, -4));
        const double start = box.frames.shell.position.x();
        for (int i = 0; i < 400; ++i) box.step(Vector3d(0.8, 0, -4));
        EXPECT_EQ(box.pair.loads.num_sticking, 36);
        EXPECT_NEAR(box.frames.shell.position.x() - start, 0.8 / (kappa * 85000), 1e-8);
        EXPECT_NEAR(-box.frames.shell.position.z(), 4.0 / 85000, 1e-8);
    }
}

TEST(ContactFriction, StickingBoxDoesNotDriftInTenSeconds) {
    for (const double kappa : {0.2, 1.0}) {
        ContactLoadOptions options = rough(0.4);
        options.friction_stiffness = kappa;
        PushedBox box(options);
        const auto hold = [&](int steps, double modulation) {
            for (int i = 0; i < steps; ++i) {
                // a push that swings at 8 Hz along the normal
                const double swing = modulation * std::sin(2 * 3.14159265 * 8 * 1e-3 * i);
                box.step(Vector3d(0.5, 0.2, -4 + swing));
            }
            return Vector3d(box.frames.shell.position.x(), box.frames.shell.position.y(), 0);
        };
        // positions near 0.02 m are multiples of 1.9e-9 m: a fraction of that is rest
        const Vector3d settled = hold(1000, 0);
        const Vector3d later = hold(10000, 0);
        EXPECT_LT((later - settled).norm(), 5e-10);
        EXPECT_LT((hold(10000, 0) - later).norm(), 5e-10);
        EXPECT_LT((hold(10000, 1.5) - settled).norm(), 1e-8);
    }
}

TEST(ContactFriction, SlidingForceIsMuTimesTheNormalForceAgainstTheMotion) {
    const double mu = 0.4;
    PushedBox box(rough(mu));
    for (int i = 0; i < 300; ++i) box.step(Vector3d(0, 0, -4));
    const Vector3d velocity(0.02, -0.05, 0);
    for (int i = 0; i < 200; ++i) {
        box.frames.shell.position += 1e-3 * velocity;
        box.pair.update(box.frames);
    }
    const Vector3d f = box.pair.loads.on_shell.force;
    EXPECT_EQ(box.pair.loads.num_sliding, 36);
    EXPECT_NEAR(f.head<2>().norm() / f.z(), mu, 1e-5);
    EXPECT_LT((f.head<2>().normalized() + velocity.head<2>().normalized()).norm(), 1e-4);
    // stops: the spring stays as it is
    box.pair.update(box.frames);
    EXPECT_EQ(box.pair.loads.num_sticking + box.pair.loads.num_sliding, 36);
    EXPECT_NEAR(box.pair.loads.on_shell.force.head<2>().norm() / f.z(), mu, 1e-5);
    // and comes back by its own stretch only
    for (int i = 0; i < 500; ++i) box.step(Vector3d(0, 0, -4));
    EXPECT_LT(box.pair.loads.on_shell.force.head<2>().norm(), 1e-3);
}

TEST(ContactFriction, StaysInTheConeAtEveryPoint) {
    const double mu = 0.3;
    const FunctionField field = ball(0.5);
    const HandShell shell = random_shell(197, 0, 21);
    ContactLoadOptions options = rough(mu);
    Pair pair(shell, field, options);
    std::mt19937 random(22);
    ContactFrames frames;
    for (int i = 0; i < 200; ++i) {
        frames.shell.position += random_vector(random, 0.01);
        frames.shell.rotation =
            rotation_from_vector(random_vector(random, 0.05)) * frames.shell.rotation;
        pair.update(frames);
        Vector3d total = Vector3d::Zero();
        double magnitude = 0;
        for (int c = 0; c < pair.loads.num_contacts; ++c) {
            const auto k = static_cast<std::size_t>(c);
            const Vector3d f = pair.sums.point_forces[k].cast<double>();
            total += f;
            magnitude += f.norm();
            const Vector3d n = frames.shell.rotation *
                               shell.normals[static_cast<std::size_t>(pair.contacts.point[k])];
            const double normal = n.dot(f);
            EXPECT_GE(normal, 0);
            EXPECT_LE((f - normal * n).norm(), mu * normal + 2e-6 * f.norm());
        }
        EXPECT_LT((pair.loads.on_shell.force - total).norm(), 1e-6 * magnitude);
    }
}

TEST(ContactFriction, DoesNoPositiveWorkOverAClosedPath) {
    // what the springs stored comes back at most: anchored friction cannot pump
    PushedBox box(rough(0.5));
    for (int i = 0; i < 300; ++i) box.step(Vector3d(0, 0, -4));
    const double stored = box.pair.loads.elastic_energy;
    double work = 0;
    Vector3d last = box.frames.shell.position;
    Vector3d force = box.pair.loads.on_shell.force;
    for (int i = 1; i <= 4000; ++i) {
        const double a = 2 * 3.14159265358979 * i / 4000;
        Vector3d x = box.frames.shell.position;
        x.head<2>() = Eigen::Vector2d(1e-3 * std::sin(3 * a), 5e-4 * std::sin(2 * a));
        box.frames.shell.position = x;
        box.pair.update(box.frames);
        // trapezoidal: exact for the springs
        work += 0.5 * (force + box.pair.loads.on_shell.force).dot(x - last);
        force = box.pair.loads.on_shell.force;
        last = x;
        EXPECT_LT(work, stored);
    }
    EXPECT_LT(work, -1e-3);  // it slid for most of the way
}

TEST(ContactFriction, AnchorsFollowTheFieldBody) {
    const FunctionField plane = half_space();
    const HandShell shell = sole();
    Pair pair(shell, plane, rough(0.6));
    ContactFrames frames;
    frames.shell.position = Vector3d(0, 0, -1e-3);
    pair.update(frames);
    // 0.1 mm along x of the field
    frames.shell.position += Vector3d(1e-4, 0, 0);
    const ContactLoads before = pair.update(frames);
    EXPECT_NEAR(before.on_shell.force.x(), -85000 * 1e-4, 1e-3);
    std::mt19937 random(23);
    for (int i = 0; i < 20; ++i) {
        // both bodies go along, far from where the anchors were made
        const Pose motion{random_vector(random, 0.2), rotation_from_vector(random_vector(random))};
        frames.shell = motion * frames.shell;
        frames.field = motion * frames.field;
        frames.shell_centre = frames.shell.position;
        const ContactLoads& loads = pair.update(frames);
        EXPECT_EQ(loads.num_sticking, 36);
        EXPECT_LT((frames.field.rotation.conjugate() * loads.on_shell.force - before.on_shell.force)
                      .norm(),
                  2e-2);
    }
    // the field alone drags the shell along
    ContactFrames dragged = frames;
    dragged.field.position += dragged.field.rotation * Vector3d(1e-4, 0, 0);
    const Vector3d f = dragged.field.rotation.conjugate() * pair.update(dragged).on_shell.force;
    EXPECT_NEAR(f.x(), 0, 2e-2);
}

TEST(ContactFriction, AnchorsGoWithTheContact) {
    const FunctionField plane = half_space();
    const HandShell shell = sole();
    Pair pair(shell, plane, rough(0.6));
    ContactFrames frames;
    frames.shell.position = Vector3d(0, 0, -1e-3);
    pair.update(frames);
    EXPECT_EQ(pair.sums.anchors.size(), 36);
    frames.shell.position.z() = 1e-3;
    pair.update(frames);
    EXPECT_EQ(pair.sums.anchors.size(), 0);
    // comes down elsewhere: no force from the old place
    frames.shell.position = Vector3d(3e-4, 0, -1e-3);
    EXPECT_EQ(pair.update(frames).on_shell.force.x(), 0);
    // turned so that half of the points leave
    frames.shell.rotation = rotation_from_vector(Vector3d(0, 0.2, 0));
    pair.update(frames);
    EXPECT_EQ(pair.sums.anchors.size(), pair.loads.num_contacts);
    EXPECT_LT(pair.loads.num_contacts, 36);
}

TEST(ContactFriction, TooFewAnchorsAreReportedAndKeptByThePointsThatHaveThem) {
    const FunctionField plane = half_space();
    ContactLoadOptions options = rough(0.6);
    options.max_anchors = 4;
    const HandShell shell = sole();
    Pair pair(shell, plane, options);
    ContactFrames frames;
    frames.shell.position = Vector3d(0, 0, -1e-3);
    pair.update(frames);
    EXPECT_EQ(pair.status, StepStatus::CapacityExceeded);
    EXPECT_EQ(pair.sums.anchors.size(), 4);
    EXPECT_EQ(pair.loads.num_sticking, 4);
    // those that have an anchor come last in the list
    frames.shell.position += Vector3d(1e-4, 0, 0);
    pair.contacts = find_contacts(shell, plane, frames.shell);
    ContactPoints& c = pair.contacts;
    std::ranges::reverse(c.node);
    std::ranges::reverse(c.point);
    std::ranges::reverse(c.x);
    std::ranges::reverse(c.y);
    std::ranges::reverse(c.z);
    std::ranges::reverse(c.distance);
    EXPECT_EQ(sum_contacts(c, plane, frames, {}, pair.sums), StepStatus::CapacityExceeded);
    assemble_loads(pair.sums, frames, pair.loads);
    const double k = 8500.0 * 10 / 36;
    EXPECT_NEAR(pair.loads.on_shell.force.x(), -4 * k * 1e-4, 1e-3);
    for (int i = 0; i < 36; ++i)
        EXPECT_EQ(pair.sums.point_forces[static_cast<std::size_t>(i)].x() != 0, i >= 32);
    for (int point = 0; point < 4; ++point) EXPECT_NE(pair.sums.anchors.find(point), nullptr);
    // the normal force is that of all
    EXPECT_NEAR(pair.loads.on_shell.force.z(), 85000 * 1e-3, 1e-2);
}

TEST(ContactFriction, OffIsTheModelWithoutItBitForBit) {
    const FunctionField field = ball(0.5);
    const HandShell shell = random_shell(150, 5, 24);
    ContactLoadOptions plain{.stiffness = 500};
    ContactLoadOptions off = plain;
    off.friction_stiffness = 0.3;
    off.max_anchors = 1;
    Pair a(shell, field, plain), b(shell, field, off);
    std::mt19937 random(25);
    ContactFrames frames;
    VectorXd q = VectorXd::Constant(5, 1e-3);
    for (int i = 0; i < 5; ++i) {
        frames.shell.position += random_vector(random, 0.01);
        a.update(frames, q);
        b.update(frames, q);
        EXPECT_EQ(b.status, StepStatus::Ok);
        EXPECT_EQ(a.loads.on_shell.force, b.loads.on_shell.force);
        EXPECT_EQ(a.loads.on_shell.torque, b.loads.on_shell.torque);
        EXPECT_EQ(a.loads.shell_gradient, b.loads.shell_gradient);
        EXPECT_EQ(a.loads.field_gradient, b.loads.field_gradient);
        EXPECT_EQ(a.loads.shell_reduced_stiffness, b.loads.shell_reduced_stiffness);
        EXPECT_EQ(a.loads.elastic_energy, b.loads.elastic_energy);
        EXPECT_EQ(b.loads.num_sticking + b.loads.num_sliding, 0);
        EXPECT_EQ(b.sums.anchors.size(), 0);
    }
    // and friction adds to it without touching the normal part
    ContactLoadOptions on = plain;
    on.friction = 0.5;
    Pair c(shell, field, on);
    c.update(frames, q);
    EXPECT_EQ(c.sums.normal.force, a.sums.normal.force);
    EXPECT_EQ(c.sums.normal.stiffness, a.sums.normal.stiffness);
}

TEST(ContactFriction, LoadsOfDeformingShellsDoTheWorkOfPointForces) {
    const FunctionField plane = half_space();
    const int r = 7;
    const HandShell shell = random_shell(90, r, 26);
    ContactLoadOptions options{.stiffness = 500};
    options.friction = 0.4;
    Pair pair(shell, plane, options);
    std::mt19937 random(27);
    ContactFrames frames;
    frames.field = random_pose(random);
    frames.shell = frames.field;
    pair.update(frames, VectorXd::Zero(r));
    VectorXd q(r);
    for (int j = 0; j < r; ++j) q[j] = 0.01 * random_vector(random).x();
    const ContactLoads& loads = pair.update(frames, q);
    EXPECT_GT(loads.num_sliding, 5);
    EXPECT_GT(loads.num_sticking, 5);
    VectorXd expected = VectorXd::Zero(r);
    for (int c = 0; c < loads.num_contacts; ++c) {
        const auto k = static_cast<std::size_t>(c);
        const Vector3d f =
            frames.shell.rotation.conjugate() * pair.sums.point_forces[k].cast<double>();
        expected += shell.U[static_cast<std::size_t>(pair.contacts.node[k])].transpose() * f;
    }
    EXPECT_LT((loads.shell_load - expected).norm(), 1e-5 * expected.norm());
}

}  // namespace
}  // namespace pliant
