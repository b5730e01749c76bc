#include "pliant/contact/contact_loads.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/field/analytic_field.h"
#include "tests/contact/load_samples.h"
#include "tests/reduction/model_samples.h"

namespace pliant {
namespace {

using namespace test;

Matrix6d outer(const Vector3d& r, const Vector3d& v) {
    Eigen::Matrix<double, 6, 1> J;
    J << v, r.cross(v);
    return J * J.transpose();
}

/// Slow and obvious: everything but gradients, without friction.
struct PlainLoads {
    PlainLoads(const Pair& pair, const ContactFrames& frames, const VectorXd& q) {
        const ContactLoadOptions& o = pair.sums.options;
        const HandShell& shell = *pair.shell;
        const ContactPoints& c = pair.contacts;
        load.setZero(shell.r);
        reduced_stiffness.setZero(shell.r, shell.r);
        std::vector<Vector3d> n;
        Matrix3d moments = Matrix3d::Zero();
        for (const int point : c.point) {
            n.push_back(frames.shell.rotation * shell.normal(static_cast<std::size_t>(point), q));
            moments += n.back() * n.back().transpose();
        }
        for (int i = 0; i < c.count; ++i) {
            const auto k = static_cast<std::size_t>(i);
            double weight = 1;
            if (o.scaling == ContactScaling::PerDirection)
                weight = std::min(1.0, o.scaling_count / n[k].dot(moments * n[k]));
            if (o.scaling == ContactScaling::SingleCount)
                weight = std::min(1.0, o.scaling_count / c.count);
            const double d = c.distance[k];
            const double excess = o.cap_depth > 0 ? std::max(0.0, -d - o.cap_depth) : 0.0;
            const double stiffness = weight * o.stiffness + (excess > 0 ? 2 * o.stiffness : 0);
            const Vector3d f = (-weight * o.stiffness * d + 2 * o.stiffness * excess) * n[k];
            const Vector3d x = frames.field.to_world(Vector3d(c.x[k], c.y[k], c.z[k]));
            forces.push_back(f);
            on_shell += Wrench{f, (x - frames.shell_centre).cross(f)};
            on_field += Wrench{-f, (x - frames.field_centre).cross(-f)};
            shell_stiffness += stiffness * outer(x - frames.shell_centre, n[k]);
            field_stiffness += stiffness * outer(x - frames.field_centre, n[k]);
            energy += 0.5 * weight * o.stiffness * d * d + o.stiffness * excess * excess;
            if (shell.r == 0) continue;
            const MatrixXd U = frames.shell.rotation.toRotationMatrix() *
                               shell.U[static_cast<std::size_t>(c.node[k])];
            load += U.transpose() * f;
            reduced_stiffness += stiffness * (U.transpose() * n[k]) * (n[k].transpose() * U);
        }
    }
    Wrench on_shell, on_field;
    Matrix6d shell_stiffness = Matrix6d::Zero(), field_stiffness = Matrix6d::Zero();
    VectorXd load;
    MatrixXd reduced_stiffness;
    std::vector<Vector3d> forces;
    double energy = 0;
};

ContactFrames random_frames(std::mt19937& random) {
    ContactFrames frames;
    frames.field = random_pose(random);
    frames.shell = frames.field * Pose{Vector3d(0.01, -0.01, 0.02), random_rotation(random)};
    frames.shell_centre = random_vector(random, 3);
    frames.field_centre = random_vector(random, 3);
    return frames;
}

VectorXd random_shape(int r, double size, std::mt19937& random) {
    VectorXd q(r);
    for (int j = 0; j < r; ++j) q[j] = size * random_vector(random).x();
    return q;
}

TEST(ContactLoads, OneContactIsASpringAlongTheInwardNormal) {
    HandShell shell;
    shell.points = {Vector3d(0.1, 0, 0)};
    shell.normals = {Vector3d(0.6, 0, 0.8)};
    shell.finish();
    const FunctionField field = half_space();
    Pair pair(shell, field, {.stiffness = 1000});
    ContactFrames frames;
    frames.shell.position = Vector3d(0, 0, -0.002);
    const ContactLoads& loads = pair.update(frames);
    EXPECT_LT((loads.on_shell.force - Vector3d(1.2, 0, 1.6)).norm(), 1e-6);
    // (0.1, 0, −0.002) × f
    EXPECT_LT((loads.on_shell.torque - Vector3d(0, -0.1 * 1.6 - 0.002 * 1.2, 0)).norm(), 1e-6);
    EXPECT_NEAR(loads.elastic_energy, 0.5 * 1000 * 4e-6, 1e-9);
    EXPECT_NEAR(loads.deepest, 0.002, 1e-9);
    EXPECT_EQ(loads.num_contacts, 1);
}

TEST(ContactLoads, MatchPlainSumsOnEveryTarget) {
    const FunctionField field = ball(0.5);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        std::mt19937 random(31);
        for (const int r : {0, 1, 3, 4, 15, 16, 40})
            for (const int count : {1, 7, 8, 64, 65, 300})
                for (const ContactScaling scaling :
                     {ContactScaling::PerDirection, ContactScaling::SingleCount,
                      ContactScaling::None}) {
                    const HandShell shell = random_shell(count, r, 32);
                    ContactLoadOptions options{.stiffness = 100};
                    options.scaling = scaling;
                    Pair pair(shell, field, options);
                    const ContactFrames frames = random_frames(random);
                    const VectorXd q = random_shape(r, 0.01, random);
                    const ContactLoads& loads = pair.update(frames, q);
                    const PlainLoads plain(pair, frames, q);
                    ASSERT_GT(loads.num_contacts, 0.9 * count);
                    // single precision of each contact
                    const double total = plain.energy;
                    EXPECT_NEAR(loads.elastic_energy, plain.energy, 2e-6 * total);
                    const auto expect_same = [&](const auto& a, const auto& b) {
                        EXPECT_LT((a - b).norm(), 3e-6 * b.norm() + 1e-6)
                            << target << " r " << r << " count " << count;
                    };
                    expect_same(stacked(loads.on_shell), stacked(plain.on_shell));
                    expect_same(stacked(loads.on_field), stacked(plain.on_field));
                    expect_same(loads.shell_stiffness, plain.shell_stiffness);
                    expect_same(loads.field_stiffness, plain.field_stiffness);
                    for (std::size_t i = 0; i < plain.forces.size(); ++i)
                        expect_same(pair.sums.point_forces[i].cast<double>(), plain.forces[i]);
                    if (r == 0) continue;
                    expect_same(loads.shell_load, plain.load);
                    expect_same(loads.shell_reduced_stiffness, plain.reduced_stiffness);
                }
    }
}

TEST(ContactLoads, OneDeepPointAmongManyGrazingOnesIsCapped) {
    // 1000 points that just touch, one that is deep: weights of 0.01 leave it soft
    HandShell shell;
    for (int i = 0; i < 1000; ++i)
        shell.points.push_back(Vector3d(0.001 * (i % 40), 0.001 * (i / 40), 0));
    shell.points.push_back(Vector3d(0.02, 0.01, -0.001));
    shell.normals.assign(shell.points.size(), Vector3d::UnitZ());
    shell.finish();
    const FunctionField field = half_space();
    ContactFrames frames;
    frames.shell.position = Vector3d(0, 0, -1e-6);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        ContactLoadOptions options{.stiffness = 8500};
        Pair soft(shell, field, options);
        EXPECT_LT(soft.update(frames).on_shell.force.z(), 0.2);
        options.cap_depth = 0.5e-3;
        Pair capped(shell, field, options);
        // at 1 mm it carries k_C times 1 mm alone
        EXPECT_GE(capped.update(frames).on_shell.force.z(), 8.5);
        EXPECT_LT(capped.loads.on_shell.force.z(), 8.9);
        const PlainLoads plain(capped, frames, VectorXd());
        EXPECT_LT((stacked(capped.loads.on_shell) - stacked(plain.on_shell)).norm(), 1e-4);
        EXPECT_LT((capped.loads.shell_stiffness - plain.shell_stiffness).norm(),
                  1e-5 * plain.shell_stiffness.norm());
        EXPECT_NEAR(capped.loads.elastic_energy, plain.energy, 1e-5 * plain.energy);
    }
}

TEST(ContactLoads, CapIsContinuousAndItsForceIsMinusTheEnergyGradient) {
    HandShell shell;
    shell.points = {Vector3d::Zero()};
    shell.normals = {Vector3d::UnitZ()};
    shell.finish();
    const FunctionField field = half_space();
    ContactLoadOptions options{.stiffness = 1000};
    options.cap_depth = 0.002;
    Pair pair(shell, field, options);
    const auto at = [&](double depth) {
        ContactFrames frames;
        frames.shell.position = Vector3d(0, 0, -depth);
        return pair.update(frames);
    };
    for (const double depth : {0.001, 0.00199, 0.00201, 0.004}) {
        constexpr double h = 1e-6;
        const double slope =
            (at(depth + h).elastic_energy - at(depth - h).elastic_energy) / (2 * h);
        EXPECT_NEAR(at(depth).on_shell.force.z(), slope, 1e-3);
        const double stiffness =
            (at(depth + h).on_shell.force.z() - at(depth - h).on_shell.force.z()) / (2 * h);
        EXPECT_NEAR(at(depth).shell_stiffness(2, 2), stiffness, 1.0);
    }
    EXPECT_NEAR(at(0.002 + 1e-8).on_shell.force.z(), at(0.002 - 1e-8).on_shell.force.z(), 1e-4);
    options.cap_depth = -1;
    EXPECT_THROW(check_load_options(options), InputError);
}

TEST(ContactLoads, ActionEqualsReactionAboutAnyCentres) {
    const FunctionField field = ball(0.5);
    const HandShell shell = random_shell(200, 0, 33);
    std::mt19937 random(34);
    for (const double friction : {0.0, 0.5}) {
        ContactLoadOptions options{.stiffness = 1000};
        options.friction = friction;
        Pair pair(shell, field, options);
        pair.update(random_frames(random));
        const ContactFrames frames = random_frames(random);
        const ContactLoads& loads = pair.update(frames);
        EXPECT_LT((loads.on_shell.force + loads.on_field.force).norm(),
                  1e-12 * loads.on_shell.force.norm());
        const Wrench shell_about_field =
            loads.on_shell.about(frames.field_centre - frames.shell_centre);
        EXPECT_LT((shell_about_field.torque + loads.on_field.torque).norm(),
                  1e-11 * loads.on_field.torque.norm());
    }
}

TEST(ContactLoads, AreTheSameSeenFromAnyPlaceInTheWorld) {
    const FunctionField field = ball(0.5);
    const HandShell shell = random_shell(100, 4, 35);
    std::mt19937 random(36);
    const ContactFrames frames = random_frames(random);
    const VectorXd q = random_shape(4, 0.01, random);
    Pair pair(shell, field, {});
    const ContactLoads loads = pair.update(frames, q);
    const Pose motion{Vector3d(700, -300, 50), random_rotation(random)};
    ContactFrames moved = frames;
    moved.shell = motion * frames.shell;
    moved.field = motion * frames.field;
    moved.shell_centre = motion.to_world(frames.shell_centre);
    moved.field_centre = motion.to_world(frames.field_centre);
    // the contacts as the traversal found them at first
    ASSERT_EQ(sum_contacts(pair.contacts, field, moved,
                           {q.data(), static_cast<std::size_t>(q.size())}, pair.sums),
              StepStatus::Ok);
    assemble_loads(pair.sums, moved, pair.loads);
    EXPECT_LT((pair.loads.on_shell.force - motion.rotation * loads.on_shell.force).norm(),
              1e-6 * loads.on_shell.force.norm());
    EXPECT_LT((pair.loads.on_shell.torque - motion.rotation * loads.on_shell.torque).norm(),
              1e-6 * loads.on_shell.torque.norm());
    EXPECT_LT((pair.loads.shell_load - loads.shell_load).norm(), 1e-6 * loads.shell_load.norm());
}

TEST(ContactLoads, ForceIsMinusTheEnergyGradient) {
    // flat field, normals along it, no weights: a potential
    HandShell shell = random_shell(40, 3, 37);
    for (Vector3d& n : shell.normals) n = Vector3d::UnitZ();
    shell.finish();
    const FunctionField field = half_space();
    ContactLoadOptions options{.stiffness = 100};
    options.scaling = ContactScaling::None;
    options.normals = ContactNormals::Undeformed;
    Pair pair(shell, field, options);
    ContactFrames frames;
    std::mt19937 random(38);
    const VectorXd q = random_shape(3, 0.005, random);
    const ContactLoads loads = pair.update(frames, q);
    const double h = 1e-4;
    const auto energy = [&](double z, const VectorXd& shape) {
        ContactFrames moved = frames;
        moved.shell.position.z() += z;
        return pair.update(moved, shape).elastic_energy;
    };
    EXPECT_NEAR((energy(h, q) - energy(-h, q)) / (2 * h), -loads.on_shell.force.z(),
                1e-4 * loads.on_shell.force.z());
    for (int j = 0; j < 3; ++j) {
        const VectorXd step = h * VectorXd::Unit(3, j);
        EXPECT_NEAR((energy(0, q + step) - energy(0, q - step)) / (2 * h), -loads.shell_load[j],
                    1e-4 * loads.on_shell.force.z());
    }
}

TEST(ContactLoads, NormalsFollowTheShapeUnlessToldOtherwise) {
    const FunctionField field = half_space(Vector3d(0, 1, 5));
    const HandShell shell = random_shell(30, 5, 39);
    std::mt19937 random(40);
    ContactFrames frames;
    const VectorXd q = random_shape(5, 0.02, random);
    ContactLoadOptions options{.stiffness = 100};
    options.scaling = ContactScaling::None;
    for (const ContactNormals normals :
         {ContactNormals::Deformed, ContactNormals::Undeformed, ContactNormals::FieldGradient}) {
        options.normals = normals;
        Pair pair(shell, field, options);
        pair.update(frames, q);
        for (int c = 0; c < pair.loads.num_contacts; ++c) {
            const auto k = static_cast<std::size_t>(c);
            const auto point = static_cast<std::size_t>(pair.contacts.point[k]);
            Vector3d n = shell.normals[point];
            if (normals == ContactNormals::Deformed) n = shell.normal(point, q);
            if (normals == ContactNormals::FieldGradient) n = Vector3d(0, 1, 5).normalized();
            const Vector3d f = pair.sums.point_forces[k].cast<double>();
            EXPECT_LT((f.normalized() - n).norm(), 2e-6);
        }
    }
}

TEST(ContactLoads, WeightPerDirectionSparesTheFewSidePoints) {
    // 900 floor points and 90 side points (section 23.1): the sides keep their own share
    HandShell shell;
    for (int i = 0; i < 990; ++i) {
        const bool is_side = i >= 900;
        shell.points.push_back(is_side ? Vector3d(-0.001, i * 1e-4, 0.05)
                                       : Vector3d(0.05, i * 1e-4, -0.001));
        shell.normals.push_back(is_side ? Vector3d::UnitX() : Vector3d::UnitZ());
    }
    shell.finish();
    const FunctionField field([](const Vector3d& x) { return std::min(x.x(), x.z()); },
                              [](const Vector3d& x) {
                                  return x.x() < x.z() ? Vector3d(Vector3d::UnitX())
                                                       : Vector3d(Vector3d::UnitZ());
                              });
    const auto force = [&](ContactScaling scaling, const ContactFrames& frames) {
        ContactLoadOptions options{.stiffness = 8500};
        options.scaling = scaling;
        Pair pair(shell, field, options);
        return Vector3d(frames.field.rotation.conjugate() * pair.update(frames).on_shell.force);
    };
    ContactFrames frames;
    EXPECT_LT((force(ContactScaling::PerDirection, frames) - Vector3d(85, 0, 85)).norm(), 1e-3);
    const Vector3d single = force(ContactScaling::SingleCount, frames);
    EXPECT_LT((single - Vector3d(85 * 90.0 / 990, 0, 85 * 900.0 / 990)).norm(), 1e-3);
    EXPECT_LT((force(ContactScaling::None, frames) - Vector3d(765, 0, 7650)).norm(), 1e-2);
    // the axes of the world do not matter
    std::mt19937 random(41);
    frames.field = frames.shell = {Vector3d::Zero(), random_rotation(random)};
    EXPECT_LT((force(ContactScaling::PerDirection, frames) - Vector3d(85, 0, 85)).norm(), 1e-3);
}

TEST(ContactLoads, FewContactsKeepTheFullStiffness) {
    const FunctionField field = half_space();
    HandShell shell;
    for (int i = 0; i < 10; ++i) {
        shell.points.push_back(Vector3d(0.01 * i, 0, -0.001));
        shell.normals.push_back(Vector3d::UnitZ());
    }
    shell.finish();
    for (const ContactScaling scaling :
         {ContactScaling::PerDirection, ContactScaling::SingleCount, ContactScaling::None}) {
        ContactLoadOptions options{.stiffness = 1000};
        options.scaling = scaling;
        Pair pair(shell, field, options);
        EXPECT_NEAR(pair.update({}).on_shell.force.z(), 10, 1e-5);
    }
}

/// n points on a sphere, turned at random, inward normals.
HandShell fibonacci_sphere(int n, double radius, const Quaternion& rotation) {
    HandShell shell;
    for (int i = 0; i < n; ++i) {
        const double z = 1 - (2 * i + 1.0) / n, s = std::sqrt(1 - z * z);
        const double a = i * 3.14159265358979 * (3 - std::sqrt(5.0));
        const Vector3d x = rotation * Vector3d(s * std::cos(a), s * std::sin(a), z);
        shell.points.push_back(radius * x);
        shell.normals.push_back(-x);
    }
    shell.finish();
    return shell;
}

TEST(ContactLoads, ConvergeToTheSurfaceIntegralUnderRefinement) {
    // a sphere that dips into a half-space by δ
    const double radius = 0.1, depth = 0.03, k = 1000, L = 10;
    const double area = 4 * 3.14159265358979 * radius * radius;
    const FunctionField field = half_space();
    ContactFrames frames;
    frames.shell.position.z() = radius - depth;
    // −d averaged over the cap with n_z: z is uniform on a sphere's cap
    const double mean = depth / 2 - depth * depth / (6 * radius);
    // per direction: u = n_z from 1 − δ/R to 1, moments of n over the cap, midpoint rule
    const int steps = 20000;
    const double low = 1 - depth / radius;
    double along = 0, across = 0, weighted = 0;
    const auto u_at = [&](int i) { return low + (1 - low) * (i + 0.5) / steps; };
    for (int i = 0; i < steps; ++i) {
        along += u_at(i) * u_at(i) / steps;
        across += (1 - u_at(i) * u_at(i)) / 2 / steps;
    }
    for (int i = 0; i < steps; ++i) {
        const double u = u_at(i), d = radius * (u - low);
        weighted += d * u / (along * u * u + across * (1 - u * u)) / steps;
    }
    const double cap = 2 * 3.14159265358979 * radius * depth;
    for (const ContactScaling scaling :
         {ContactScaling::SingleCount, ContactScaling::PerDirection, ContactScaling::None}) {
        std::vector<double> errors;
        for (const int n : {1000, 4000, 16000, 64000}) {
            std::mt19937 random(42);
            double square = 0;
            const int repeats = 6;
            for (int repeat = 0; repeat < repeats; ++repeat) {
                const HandShell shell = fibonacci_sphere(n, radius, random_rotation(random));
                ContactLoadOptions options{.stiffness = k, .scaling_count = L};
                options.scaling = scaling;
                Pair pair(shell, field, options);
                const Vector3d f = pair.update(frames).on_shell.force;
                const double expected = scaling == ContactScaling::SingleCount ? k * L * mean
                                        : scaling == ContactScaling::PerDirection
                                            ? k * L * weighted
                                            : k * n / area * cap * mean;
                square += (f - Vector3d(0, 0, expected)).squaredNorm() / (expected * expected);
            }
            errors.push_back(std::sqrt(square / repeats));
        }
        // in the spacing: twice the order in the number of points
        const double order = std::log2(errors.front() / errors.back()) / 3;
        RecordProperty("order_" + std::to_string(static_cast<int>(scaling)), std::to_string(order));
        EXPECT_GT(order, 1.3) << errors[0] << " " << errors[1] << " " << errors[2] << " "
                              << errors[3];
        EXPECT_LT(errors.back(), 1e-3);
    }
}

TEST(ContactLoads, IgnoreFramesAndShapesThatAreNotFinite) {
    const FunctionField field = half_space();
    const HandShell shell = random_shell(50, 3, 43);
    ContactLoadOptions options;
    options.friction = 0.5;
    Pair pair(shell, field, options);
    const ContactFrames good;
    const VectorXd q = VectorXd::Zero(3);
    pair.update(good, q);
    const Vector3d force = pair.loads.on_shell.force;
    ASSERT_GT(force.norm(), 0);
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const auto expect_ignored = [&](const ContactFrames& frames, const VectorXd& shape) {
        EXPECT_EQ(sum_contacts(pair.contacts, field, frames,
                               {shape.data(), static_cast<std::size_t>(shape.size())}, pair.sums),
                  StepStatus::InputIgnored);
        assemble_loads(pair.sums, frames, pair.loads);
        EXPECT_EQ(pair.loads.num_contacts, 0);
        EXPECT_EQ(pair.loads.on_shell.force, Vector3d::Zero());
        EXPECT_EQ(pair.loads.on_field.torque, Vector3d::Zero());
        EXPECT_EQ(pair.loads.shell_gradient, Matrix6d::Zero());
        EXPECT_EQ(pair.loads.shell_load, VectorXd::Zero(3));
        EXPECT_EQ(pair.loads.shell_reduced_stiffness, MatrixXd::Zero(3, 3));
        EXPECT_EQ(pair.sums.anchors.size(), 50);
    };
    ContactFrames bad = good;
    bad.shell.position.x() = nan;
    expect_ignored(bad, q);
    bad = good;
    bad.field.rotation.w() = inf;
    expect_ignored(bad, q);
    bad = good;
    bad.shell_centre.y() = nan;
    expect_ignored(bad, q);
    bad = good;
    bad.field_centre.z() = -inf;
    expect_ignored(bad, q);
    expect_ignored(good, VectorXd::Constant(3, nan));
    // finite, but too far for arms squared
    bad = good;
    bad.field_centre.x() = 1e200;
    EXPECT_FALSE(assemble_loads((pair.update(good, q), pair.sums), bad, pair.loads));
    EXPECT_EQ(pair.loads.num_contacts, 0);
    EXPECT_EQ(pair.loads.field_gradient, Matrix6d::Zero());
    // and go on afterwards
    pair.update(good, q);
    EXPECT_EQ(pair.status, StepStatus::Ok);
    EXPECT_EQ(pair.loads.on_shell.force, force);
    // depths beyond all numbers
    pair.contacts.distance[7] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(sum_contacts(pair.contacts, field, good, {q.data(), 3}, pair.sums),
              StepStatus::InputIgnored);
    EXPECT_EQ(pair.sums.num_contacts, 0);
    EXPECT_EQ(pair.sums.normal.force, Vector3d::Zero());
}

TEST(ContactLoads, RefuseOptionsOutOfRange) {
    const auto message = [](auto change) {
        ContactLoadOptions options;
        change(options);
        try {
            check_load_options(options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message([](ContactLoadOptions&) {}), "");
    EXPECT_NE(message([](auto& o) { o.stiffness = -3; }).find("contact.stiffness = -3"),
              std::string::npos);
    EXPECT_NE(message([](auto& o) { o.scaling_count = 0; }).find("contact.scaling_count = 0"),
              std::string::npos);
    EXPECT_NE(message([](auto& o) { o.friction = -0.1; }).find("contact.friction = -0.1"),
              std::string::npos);
    EXPECT_NE(message([](auto& o) {
                  o.friction_stiffness = std::nan("");
              }).find("contact.friction_stiffness = nan"),
              std::string::npos);
    EXPECT_NE(message([](auto& o) { o.max_anchors = 0; }).find("contact.max_anchors = 0"),
              std::string::npos);
}

/// The same shell as a tree.
PointTree tree_of(const HandShell& shell, const Pointshell& points) {
    if (shell.r == 0) return PointTree(points);
    MaterialPoints motion;
    motion.r = shell.r;
    motion.rest = shell.points;
    for (std::size_t i = 0; i < shell.points.size(); ++i)
        for (int j = 0; j < shell.r; ++j) {
            const Vector3d u = shell.U[i].col(j);
            // F_j N = ΔN_j for N of unit length
            const Matrix3d F = shell.normal_modes[i].col(j) * shell.normals[i].transpose();
            motion.modes.insert(motion.modes.end(), u.data(), u.data() + 3);
            motion.gradients.insert(motion.gradients.end(), F.data(), F.data() + 9);
        }
    return {points, motion};
}
Pointshell points_of(const HandShell& shell) {
    Pointshell points;
    for (const Vector3d& x : shell.points) points.points.push_back(x.cast<float>());
    for (const Vector3d& n : shell.normals) points.normals.push_back(n.cast<float>());
    const int n = points.num_points();
    points.level_start = {0, n / 5, n};
    points.spacing = 0.01;
    return points;
}

TEST(ContactForces, OfATraversalAreThoseOfPlainSums) {
    const FieldPointer field = sphere_field(0.5);
    std::mt19937 random(51);
    for (const int r : {0, 15}) {
        const HandShell shell = random_shell(300, r, 52);
        PointTraversal traversal(tree_of(shell, points_of(shell)), field);
        ContactForces forces(traversal, nullptr, {.stiffness = 100});
        const ContactFrames frames = random_frames(random);
        const VectorXd q = random_shape(r, 0.01, random);
        const std::span<const double> shape(q.data(), static_cast<std::size_t>(r));
        const Pose shell_to_field = frames.field.inverse() * frames.shell;
        ASSERT_EQ(traversal.update(shell_to_field, shape), StepStatus::Ok);
        ASSERT_EQ(forces.update(traversal, frames, shape), StepStatus::Ok);
        const ContactLoads& loads = forces.loads();
        Pair pair(shell, *field, {.stiffness = 100});
        pair.update(frames, q);
        ASSERT_EQ(loads.num_contacts, 300);
        ASSERT_EQ(forces.point_forces().size(), 300u);
        EXPECT_LT((stacked(loads.on_shell) - stacked(pair.loads.on_shell)).norm(),
                  1e-5 * stacked(pair.loads.on_shell).norm());
        EXPECT_LT((loads.shell_gradient - pair.loads.shell_gradient).norm(),
                  1e-5 * pair.loads.shell_gradient.norm());
        if (r == 0) continue;
        EXPECT_LT((loads.shell_load - pair.loads.shell_load).norm(),
                  1e-5 * pair.loads.shell_load.norm());
        EXPECT_LT((loads.shell_reduced_stiffness - pair.loads.shell_reduced_stiffness).norm(),
                  1e-5 * pair.loads.shell_reduced_stiffness.norm());
    }
}

/// A bar of 0.8 × 0.2 × 0.2 m with proxies on two of its faces.
DeformedFieldModel bar_field(const ReducedModel& model) {
    GridFrame frame;
    frame.low = {-0.1, -0.4, -0.4};
    frame.cell = 0.025;
    frame.cells = {40, 40, 40};
    const Vector3d half(0.4, 0.1, 0.1);
    std::vector<float> values;
    for (int k = 0; k <= 40; ++k)
        for (int j = 0; j <= 40; ++j)
            for (int i = 0; i <= 40; ++i) {
                const Vector3d e = (frame.vertex(i, j, k) - half).cwiseAbs() - half;
                values.push_back(
                    static_cast<float>(e.cwiseMax(0).norm() + std::min(e.maxCoeff(), 0.0)));
            }
    std::vector<Vector3d> proxies;
    for (int i = 0; i < 9; ++i)
        for (const double y : {0.0, 0.2})
            for (const double z : {0.0, 0.2}) proxies.emplace_back(0.04 + 0.09 * i, y, z);
    return DeformedFieldModel::of_domains(model,
                                          {{DistanceGrid::dense(frame, values, 0.1f), proxies}});
}

TEST(ContactForces, OnADeformingFieldActThroughItsNearestProxies) {
    const ReducedModel model = bar_model({.rank = 8});
    const DeformedFieldModel field_model = bar_field(model);
    DeformedField field(field_model);
    std::mt19937 random(61);
    const VectorXd q_field = random_shape(8, 0.02, random);
    ASSERT_TRUE(field.update(q_field));
    const HandShell shell = random_shell(120, 0, 62);
    for (const double friction : {0.0, 0.3}) {
        ContactLoadOptions options{.stiffness = 100};
        options.friction = friction;
        Pair pair(shell, field, options, &field);
        ContactFrames frames;
        frames.field = random_pose(random);
        frames.shell = frames.field * Pose{Vector3d(0.45, 0.1, 0.22), Quaternion::Identity()};
        pair.update(frames);
        frames.shell.position += random_vector(random, 0.002);
        const ContactLoads& loads = pair.update(frames);
        ASSERT_EQ(pair.status, StepStatus::Ok);
        ASSERT_GT(loads.num_contacts, 50);
        VectorXd expected = VectorXd::Zero(8);
        MatrixXd stiffness = MatrixXd::Zero(8, 8);
        for (int i = 0; i < loads.num_contacts; ++i) {
            const auto c = static_cast<std::size_t>(i);
            const ContactPoints& points = pair.contacts;
            const int proxy = field.nearest_proxy(Vector3d(points.x[c], points.y[c], points.z[c]));
            const Vector3d f =
                frames.field.rotation.conjugate() * pair.sums.point_forces[c].cast<double>();
            field.add_load(proxy, -f, expected.data());
            const Eigen::Map<const MatrixXd> U(field.proxy_modes(proxy), 3, 8);
            const Vector3d n = f.normalized();
            const double k = f.norm() / -double{points.distance[c]};
            stiffness += k * (U.transpose() * n) * (n.transpose() * U);
        }
        EXPECT_LT((loads.field_load - expected).norm(), 1e-5 * expected.norm());
        EXPECT_GT(expected.norm(), 0);
        EXPECT_EQ(loads.shell_load.size(), 0);
        if (friction == 0) {
            EXPECT_LT((loads.field_reduced_stiffness - stiffness).norm(), 1e-5 * stiffness.norm());
        }
        // the stiffness of both bodies' reduced parts is symmetric and semi-definite
        EXPECT_GT(
            Eigen::SelfAdjointEigenSolver<MatrixXd>(loads.field_reduced_stiffness).eigenvalues()[0],
            -1e-9 * loads.field_reduced_stiffness.norm());
    }
}

TEST(ContactForces, AllocateNothingAndRepeatTheirBits) {
    const FieldPointer field = sphere_field(0.5);
    const HandShell shell = random_shell(2000, 15, 53);
    PointTraversal traversal(tree_of(shell, points_of(shell)), field);
    ContactLoadOptions options;
    options.friction = 0.5;
    options.takes_field_gradient = true;
    ContactForces forces(traversal, nullptr, options);
    ContactFrames frames;
    const VectorXd q = VectorXd::Constant(15, 1e-3);
    const std::span<const double> shape(q.data(), 15);
    ASSERT_EQ(traversal.update(frames.shell, shape), StepStatus::Ok);
    ASSERT_EQ(forces.update(traversal, frames, shape), StepStatus::Ok);
    const Vector3d force = forces.loads().on_shell.force;
    const MatrixXd K = forces.loads().shell_reduced_stiffness;
    AllocationGuard guard;
    const StepStatus status = forces.update(traversal, frames, shape);
    const auto allocations = guard.count();
    EXPECT_EQ(status, StepStatus::Ok);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(forces.loads().num_contacts, 1900);
    EXPECT_EQ(forces.loads().on_shell.force, force);
    EXPECT_EQ(forces.loads().shell_reduced_stiffness, K);
    ContactForces moved = std::move(forces);
    moved.forget();
    options.max_anchors = 10;
    moved.set_options(options);
    EXPECT_EQ(moved.update(traversal, frames, shape), StepStatus::CapacityExceeded);
    EXPECT_EQ(moved.loads().num_sticking, 10);
    options.friction = -1;
    EXPECT_THROW(moved.set_options(options), InputError);
}

}  // namespace
}  // namespace pliant
