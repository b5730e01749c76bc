#include "pliant/contact/self_contact.h"

#include "contact/traversal_samples.h"
#include "field/deformed_samples.h"
#include "input_error.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;
using ::testing::HasSubstr;

constexpr double kStep = 1e-3;
const ReducedBodyOptions kDamping = {.damping = {.mass = 12, .stiffness = 0.01}};

/// Points by area with inward normals, on levels that each cover the surface.
Pointshell skin_shell(const SurfaceMesh& skin, int num_points, int num_levels = 4) {
    const std::vector<Vector3d> samples = area_samples(skin, num_points);
    std::vector<Eigen::Vector3f> points;
    for (const Vector3d& p : samples) points.push_back(p.cast<float>());
    const SurfaceQuery query(skin);
    Pointshell shell;
    for (const int i : farthest_point_order(points)) {
        const int t = query.closest(samples[i]).triangle;
        const Vector3d& a = skin.corner(t, 0);
        shell.points.push_back(points[i]);
        shell.normals.push_back(
            (skin.corner(t, 2) - a).cross(skin.corner(t, 1) - a).normalized().cast<float>());
    }
    shell.spacing = std::sqrt(surface_area(skin) / num_points);
    shell.level_start = level_starts(num_points, num_levels);
    return shell;
}

/// Those points of a shell that `is_chosen` accepts, on two levels.
template <class Choice>
Pointshell part_of(const Pointshell& shell, const Choice& is_chosen) {
    Pointshell part;
    part.spacing = shell.spacing;
    for (std::size_t i = 0; i < shell.points.size(); ++i) {
        if (!is_chosen(shell.points[i])) continue;
        part.points.push_back(shell.points[i]);
        part.normals.push_back(shell.normals[i]);
    }
    part.level_start = level_starts(part.num_points(), 2);
    return part;
}

/// 0 below z = 0.4 and 1 above 1.4.
double height(const Vector3d& X) {
    const double t = std::clamp(X.z() - 0.4, 0.0, 1.0);
    return t * t * (3 - 2 * t);
}
/// Upper halves of the legs move towards each other without turning: they touch at 0.2.
Vector3d squeezed(const Vector3d& X, double by) {
    const double sign = X.x() > 0.1 ? 1 : X.x() < -0.1 ? -1 : 0;
    return X - Vector3d(sign * by * height(X), 0, 0);
}

/// Legs of 0.4 m, 0.4 m apart, on a foot.
struct SqueezedU {
    VolumeMesh mesh = u_shape();
    ReducedModel model;
    SurfaceMesh skin = model.surface();
    DeformedFieldModel field;
    PointTree tree = carried_tree(skin_shell(skin, 6000), model);

    explicit SqueezedU(bool can_translate)
        : model(shaped_model(mesh, shapes(can_translate))),
          field(DeformedFieldModel::of_domains(
              model, cut_into_domains(exact_grid(skin, 64), skin, find_domains(skin), {}, 0,
                                      Progress::none()))) {}
    [[nodiscard]] std::vector<VectorXd> shapes(bool can_translate) const {
        std::vector<VectorXd> all;
        for (const double side : {-1.0, 1.0}) {
            const auto moved = [&](const Vector3d& direction, int power) {
                all.push_back(displacements(mesh, [&](const Vector3d& X) -> Vector3d {
                    const double lean = std::max(0.0, X.z() - 0.4) / 2;
                    if (X.x() * side < 0.1) return X;
                    return X + (power == 0 ? height(X) : std::pow(lean, power)) * direction;
                }));
            };
            moved(Vector3d::UnitX(), 0);
            moved(Vector3d::UnitY(), 0);
            moved(Vector3d::UnitX(), 2);
            moved(Vector3d::UnitZ(), 2);
        }
        for (int i = 0; i < 3 && can_translate; ++i)
            all.push_back(
                affine_displacements(mesh, Eigen::Matrix3d::Zero(), Eigen::Vector3d::Unit(i)));
        return all;
    }
    template <class Map>
    [[nodiscard]] VectorXd q(const Map& map) const {
        return coordinates(model, displacements(mesh, map));
    }
    [[nodiscard]] VectorXd squeeze(double by) const {
        return q([&](const Vector3d& X) { return squeezed(X, by); });
    }
    /// Both legs moved at random, their upper ends by up to `size` in each shape.
    [[nodiscard]] VectorXd random_shape(RandomMotion& random, double size) const {
        VectorXd sum = VectorXd::Zero(model.rank());
        for (const VectorXd& u : shapes(false)) sum += random(-size, size) * coordinates(model, u);
        return sum;
    }
};
const SqueezedU& u() {
    static const SqueezedU shape(false);
    return shape;
}
/// The middles of the faces that meet: what they enter is flat, far from edges and from bends.
PointTree facing_points() {
    return carried_tree(part_of(u().tree.shell(),
                                [](const Eigen::Vector3f& p) {
                                    return std::abs(p.x()) < 0.21 && std::abs(p.y()) < 0.06 &&
                                           p.z() > 1.6 && p.z() < 2.2;
                                }),
                        u().model);
}

SelfContactOptions unscaled(double stiffness) {
    SelfContactOptions options;
    options.loads.stiffness = stiffness;
    options.loads.scaling = ContactScaling::None;
    return options;
}

struct Scene {
    explicit Scene(const SelfContactOptions& options = {}, const SqueezedU& shape = u())
        : Scene(options, shape, shape.tree) {}
    Scene(const SelfContactOptions& options, const SqueezedU& shape, const PointTree& tree)
        : body(shape.model, kDamping), contact(body, tree, shape.field, options) {}
    void tick(const VectorXd& force) {
        body.add_reduced_force(force);
        last = contact.act(kStep);
        body.step(kStep);
    }
    ReducedBody body;
    SelfContact contact;
    StepStatus last = StepStatus::Ok;
};

std::vector<FoundContact> contacts_of(const SelfContact& contact) {
    const ContactPoints& c = contact.contacts();
    std::vector<FoundContact> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.count); ++i)
        all.push_back({c.point[i], c.distance[i], c.x[i], c.y[i], c.z[i]});
    return sorted(all);
}

/// Every point of a level on its own: the least value of all domains but its home, without the ball
/// about its place at rest.
std::vector<FoundContact> exhaustive(const PointTree& tree, const SelfContact& contact,
                                     const VectorXd& q, int level) {
    DeformedField field(u().field);
    field.update(q);
    AlignedArray<float> factors(static_cast<std::size_t>(tree.row_stride()));
    VisitMotion motion;
    motion.factors = factors.data();
    for (int j = 0; j < tree.rank(); ++j) {
        std::fill_n(factors.data() + 4 * j, 3, static_cast<float>(q[j]));
        factors.data()[4 * j + 3] = std::abs(static_cast<float>(q[j]));
    }
    std::fill_n(factors.data() + 4 * tree.rank(), 4, 1.0f);
    for (const int i : {0, 4, 8}) motion.rotation[i] = 1;
    const VisitRows rows{tree.row(0), tree.row_stride(), tree.rank(), &tree.nodes()[0].b, 4};
    const auto radius = static_cast<float>(contact.exclusion());
    std::vector<FoundContact> all;
    VisitBatch batch = {};
    for (int node = tree.level_start(level); node < tree.level_start(level + 1); ++node) {
        place_nodes(rows, motion, &node, 1, 1, batch);
        const int point = tree.nodes()[static_cast<std::size_t>(node)].point;
        const Eigen::Vector3f& rest = tree.shell().points[static_cast<std::size_t>(point)];
        float least = 0;
        for (int d = 0; d < field.num_domains(); ++d) {
            if (d == contact.homes()[static_cast<std::size_t>(point)]) continue;
            float value = 0;
            field.domain_distances(d, {batch.x, batch.y, batch.z, 1},
                                   {&rest.x(), &rest.y(), &rest.z(), &radius}, &value);
            least = std::min(least, value);
        }
        if (least < 0) all.push_back({point, least, batch.x[0], batch.y[0], batch.z[0]});
    }
    return sorted(all);
}

TEST(SelfContact, NothingTouchesAtRest) {
    Scene scene;
    EXPECT_EQ(scene.contact.act(kStep), StepStatus::Ok);
    EXPECT_EQ(scene.contact.contacts().count, 0);
    EXPECT_EQ(scene.contact.loads().num_contacts, 0);
    EXPECT_TRUE(scene.contact.loads().shell_load.isZero(0));
    // whole subtrees are left alone
    EXPECT_LT(scene.contact.statistics().visited, u().tree.num_nodes() / 4);
    EXPECT_EQ(scene.contact.statistics().level, u().tree.num_levels() - 1);
}

TEST(SelfContact, ShapesThatDoNotMeetDoNotTouch) {
    Scene scene;
    // each leg comes nearer by at most 0.16 of the 0.2 m that are left to it
    RandomMotion random(3);
    for (int k = 0; k < 100; ++k) {
        scene.contact.update(u().random_shape(random, 0.08));
        EXPECT_EQ(scene.contact.contacts().count, 0) << k;
    }
    for (const double by : {0.2, 0.6, 1.0}) {
        scene.contact.update(u().q([&](const Vector3d& X) { return opened(X, by); }));
        EXPECT_EQ(scene.contact.contacts().count, 0) << by;
    }
    // bent so much that far proxies take one leg for the other
    for (const double by : {-0.6, -0.4, -0.2, 0.0, 0.1, 0.18}) {
        scene.contact.update(u().squeeze(by));
        EXPECT_EQ(scene.contact.contacts().count, 0) << by;
    }
}

TEST(SelfContact, SeamsOfABentBarDoNotTouch) {
    const ReducedModel model = bar_of_shapes();
    const SurfaceMesh skin = model.surface();
    std::vector<int> half(skin.triangles.size());
    for (int t = 0; t < skin.num_triangles(); ++t)
        half[t] = skin.corner(t, 0).x() + skin.corner(t, 1).x() + skin.corner(t, 2).x() > 0;
    const DeformedFieldModel field = DeformedFieldModel::of_domains(
        model, cut_into_domains(exact_grid(skin, 64), skin, half, {}, 0, Progress::none()));
    ASSERT_EQ(field.num_domains(), 2);
    ReducedBody body(model);
    SelfContact contact(body, carried_tree(skin_shell(skin, 4000), model), field);
    for (const double degrees : {0.0, 20.0, 60.0, 90.0}) {
        contact.update(bend_coordinates(model, degrees * std::numbers::pi / 180));
        EXPECT_EQ(contact.contacts().count, 0) << degrees;
    }
    RandomMotion random(5);
    for (int k = 0; k < 50; ++k) {
        VectorXd q = bend_coordinates(model, random(-1.0, 1.0));
        for (double& v : q) v *= 1 + random(-0.1, 0.1);
        contact.update(q);
        EXPECT_EQ(contact.contacts().count, 0) << k;
    }
}

TEST(SelfContact, LegsTouchWhereTheyMeetAndArePushedApart) {
    Scene scene;
    scene.contact.update(u().squeeze(0.22));
    const ContactPoints& contacts = scene.contact.contacts();
    ASSERT_GT(contacts.count, 100);
    int left = 0, right = 0;
    for (int i = 0; i < contacts.count; ++i) {
        const Eigen::Vector3f& rest =
            u().tree.shell().points[static_cast<std::size_t>(contacts.point[i])];
        EXPECT_LT(std::abs(rest.x()), 0.26) << i;
        EXPECT_GT(rest.z(), 1.1) << i;
        EXPECT_LT(-contacts.distance[i], 0.06);
        // away from the other leg
        EXPECT_GE(scene.contact.point_forces()[i].x() * rest.x(), -1e-6) << i;
        (rest.x() < 0 ? left : right)++;
    }
    EXPECT_GT(left, 50);
    EXPECT_GT(right, 50);
    EXPECT_GT(scene.contact.loads().shell_load.dot(u().squeeze(-1)), 0);
}

TEST(SelfContact, DepthsOfFlatFacesAreExactWithinTheField) {
    Scene scene({}, u(), facing_points());
    for (const double by : {0.21, 0.23, 0.26}) {
        scene.contact.update(u().squeeze(by));
        const ContactPoints& contacts = scene.contact.contacts();
        ASSERT_GT(contacts.count, 80);
        // a fifth of a cell: proxies in the bend below take part
        for (int i = 0; i < contacts.count; ++i)
            EXPECT_NEAR(contacts.distance[i], 2 * (0.2 - by), 0.011) << by;
    }
}

TEST(SelfContact, EqualsAskingEveryPoint) {
    // few large nodes at the top hold points of both legs
    const PointTree steep = carried_tree(skin_shell(u().skin, 6000, 6), u().model);
    int num_contacts = 0;
    for (const PointTree& tree : {u().tree, steep}) {
        Scene scene({}, u(), tree);
        RandomMotion random(7);
        for (int k = 0; k < 20; ++k) {
            const VectorXd q = u().squeeze(random(0.1, 0.35)) + u().random_shape(random, 0.08);
            ASSERT_EQ(scene.contact.update(q), StepStatus::Ok);
            const auto expected = exhaustive(tree, scene.contact, q, tree.num_levels() - 1);
            EXPECT_EQ(contacts_of(scene.contact), expected) << k;
            num_contacts += static_cast<int>(expected.size());
        }
    }
    EXPECT_GT(num_contacts, 2000);
}

TEST(SelfContact, TheBallOfANodeLeavesRoomForAllPointsBelow) {
    // one leg mirrored onto the other, a little thinner, and nothing else moved: how far points are
    // from their own places changes by two along the face of a node
    MaterialPoints motion = material_points(u().model, shell_points(u().tree.shell()), true);
    const int r = motion.r;
    std::ranges::fill(motion.modes, 0.0);
    std::ranges::fill(motion.gradients, 0.0);
    const Vector3d stretch(-2e3, -0.1e3, 0);
    for (int p = 0; p < motion.num_points(); ++p) {
        const Vector3d& P = motion.rest[p];
        if (P.x() > -0.1) continue;
        for (int axis = 0; axis < 3; ++axis) {
            motion.modes[static_cast<std::size_t>(3 * r * p + axis)] = stretch[axis] * P[axis];
            motion.gradients[static_cast<std::size_t>(9 * r * p + 4 * axis)] = stretch[axis];
        }
    }
    const PointTree tree(u().tree.shell(), motion);
    SelfContactOptions options;
    options.exclusion = 0.8;
    Scene scene(options, u(), tree);
    // the field hardly notices
    const VectorXd q = 1e-3 * VectorXd::Unit(r, 0);
    ASSERT_EQ(scene.contact.update(q), StepStatus::Ok);
    const auto expected = exhaustive(tree, scene.contact, q, tree.num_levels() - 1);
    EXPECT_GT(expected.size(), 100u);
    EXPECT_EQ(contacts_of(scene.contact), expected);
    EXPECT_LT(scene.contact.statistics().visited, tree.num_nodes());
}

TEST(SelfContact, TheBudgetIsNeverExceeded) {
    const int first = u().tree.level_start(1);
    for (const int budget : {first, 400, 1200, 4000}) {
        SelfContactOptions options;
        options.budget = budget;
        Scene scene(options);
        RandomMotion random(9);
        for (int k = 0; k < 10; ++k) {
            const VectorXd q = u().squeeze(random(0.18, 0.3)) + u().random_shape(random, 0.05);
            scene.contact.update(q);
            const TraversalStatistics& statistics = scene.contact.statistics();
            EXPECT_LE(statistics.visited, budget);
            EXPECT_EQ(contacts_of(scene.contact),
                      exhaustive(u().tree, scene.contact, q, statistics.level));
        }
    }
}

TEST(SelfContact, ForcesAreMinusTheEnergyGradient) {
    Scene scene(unscaled(100), u(), facing_points());
    RandomMotion random(11);
    for (int k = 0; k < 5; ++k) {
        const VectorXd q = u().squeeze(0.22 + 0.01 * k) + u().random_shape(random, 0.005);
        // shapes that keep faces parallel: directions of shell and field agree
        for (const double by : {-1.0, 1.0}) {
            const VectorXd dq = 1e-3 * u().q([&](const Vector3d& X) -> Vector3d {
                return X.x() * by < 0.1 ? X : X - Vector3d(by * height(X), 0, 0);
            });
            scene.contact.update(q + dq);
            const double above = scene.contact.loads().elastic_energy;
            scene.contact.update(q - dq);
            const double below = scene.contact.loads().elastic_energy;
            scene.contact.update(q);
            const double work = scene.contact.loads().shell_load.dot(dq);
            EXPECT_LT(work, 0);
            EXPECT_NEAR(work, -(above - below) / 2, 0.05 * std::abs(work)) << k << ' ' << by;
        }
    }
}

TEST(SelfContact, StiffnessIsTheTangentOfTheLoadAndNotNegative) {
    Scene scene(unscaled(100), u(), facing_points());
    const VectorXd q = u().squeeze(0.225), dq = u().squeeze(5e-4);
    scene.contact.update(q + dq);
    const VectorXd above = scene.contact.loads().shell_load;
    scene.contact.update(q - dq);
    const VectorXd below = scene.contact.loads().shell_load;
    scene.contact.update(q);
    const Eigen::MatrixXd& K = scene.contact.loads().shell_reduced_stiffness;
    const VectorXd expected = -(above - below) / 2, change = K * dq;
    EXPECT_LT((change - expected).norm(), 0.05 * expected.norm());
    EXPECT_EQ(K, K.transpose());
    const VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
    EXPECT_GT(eigenvalues.minCoeff(), -1e-6 * eigenvalues.maxCoeff());
}

TEST(SelfContact, MovesNothingAsAWhole) {
    static const SqueezedU loose(true);
    Scene scene(unscaled(100), loose);
    RandomMotion random(13);
    for (int k = 0; k < 10; ++k) {
        scene.contact.update(loose.squeeze(0.25) + loose.random_shape(random, 0.03));
        const ContactLoads& loads = scene.contact.loads();
        ASSERT_GT(loads.num_contacts, 50);
        EXPECT_TRUE((loads.on_shell.force + loads.on_field.force).isZero(1e-9));
        double sum = 0;
        for (const Eigen::Vector3f& f : scene.contact.point_forces()) sum += f.norm();
        const VectorXd squeeze = loose.squeeze(1);
        const double stiffness = squeeze.dot(loads.shell_reduced_stiffness * squeeze);
        for (int axis = 0; axis < 3; ++axis) {
            const VectorXd shift =
                loose.q([&](const Vector3d& X) -> Vector3d { return X + Vector3d::Unit(axis); });
            EXPECT_LT(std::abs(loads.shell_load.dot(shift)), 1e-5 * sum) << axis;
            EXPECT_LT(shift.dot(loads.shell_reduced_stiffness * shift), 1e-6 * stiffness) << axis;
        }
    }
}

/// Largest change of the load from one step to the next while legs are pressed and twisted
/// together.
double largest_change(SelfContact& contact, int num_steps) {
    const VectorXd twist =
        u().q([](const Vector3d& X) -> Vector3d { return X + Vector3d(0, X.x() * height(X), 0); });
    VectorXd before = VectorXd::Zero(u().model.rank());
    double largest = 0;
    for (int k = 0; k <= num_steps; ++k) {
        const double t = static_cast<double>(k) / num_steps;
        contact.update(u().squeeze(0.15 + 0.15 * t) + t * twist);
        largest = std::max(largest, (contact.loads().shell_load - before).norm());
        before = contact.loads().shell_load;
    }
    return largest;
}

TEST(SelfContact, LoadsAreContinuous) {
    Scene scene(unscaled(1));
    const double coarse = largest_change(scene.contact, 100);
    const double fine = largest_change(scene.contact, 500);
    EXPECT_GT(coarse, 0);
    EXPECT_LT(fine, 0.25 * coarse);
}

TEST(SelfContact, LegsPressedTogetherComeToRest) {
    SelfContactOptions options;
    options.loads.stiffness = 2e4;
    Scene scene(options);
    ReducedBody through(u().model, kDamping);
    // a force that would take the legs through each other
    const auto elastic = u().model.make_force();
    const auto ws = elastic->make_workspace();
    VectorXd force(u().model.rank());
    elastic->force(u().squeeze(0.3), force, *ws);
    for (int k = 0; k < 4500; ++k) {
        scene.tick(force);
        through.add_reduced_force(force);
        through.step(kStep);
    }
    double low = 1e300, high = 0;
    for (int k = 0; k < 500; ++k) {
        scene.tick(force);
        const double now = scene.contact.loads().shell_load.norm();
        low = std::min(low, now);
        high = std::max(high, now);
    }
    EXPECT_EQ(scene.last, StepStatus::Ok);
    EXPECT_GT(low, 0);
    EXPECT_LT(high - low, 1e-3 * high);
    EXPECT_LT(scene.body.state().v.norm(), 1e-5);
    // without contact they pass, with it they do not
    SelfContact look(through, u().tree, u().field);
    look.update(through.state().q);
    EXPECT_GT(look.loads().deepest, 0.15);
    EXPECT_LT(scene.contact.loads().deepest, 0.02);
}

TEST(SelfContact, TheSameShapesGiveTheSameBits) {
    Scene a, b;
    RandomMotion random(17);
    for (int k = 0; k < 5; ++k) {
        const VectorXd q = u().squeeze(0.25) + u().random_shape(random, 0.05);
        a.contact.update(q);
        b.contact.update(u().squeeze(0.3));
        b.contact.update(q);
        EXPECT_EQ(contacts_of(a.contact), contacts_of(b.contact));
        EXPECT_EQ(a.contact.loads().shell_load, b.contact.loads().shell_load);
    }
}

TEST(SelfContact, AllocatesNothing) {
    set_num_threads(1);
    Scene scene;
    const VectorXd force = 50 * u().squeeze(0.3);
    const VectorXd q = u().squeeze(0.25);
    AllocationGuard guard;
    for (int k = 0; k < 5; ++k) scene.tick(force);
    scene.contact.update(q);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(scene.contact.contacts().count, 0);
}

TEST(SelfContact, WhatIsNotFiniteIsIgnored) {
    Scene scene;
    const VectorXd good = u().squeeze(0.25);
    scene.contact.update(good);
    const int count = scene.contact.contacts().count;
    ASSERT_GT(count, 0);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 1e300}) {
        VectorXd q = good;
        q[1] = bad;
        EXPECT_EQ(scene.contact.update(q), StepStatus::InputIgnored) << bad;
        EXPECT_EQ(scene.contact.contacts().count, 0);
        EXPECT_EQ(scene.contact.loads().num_contacts, 0);
        EXPECT_TRUE(scene.contact.loads().shell_load.isZero(0));
        EXPECT_EQ(scene.contact.act(bad), bad == 1e300 ? StepStatus::Ok : StepStatus::InputIgnored);
    }
    EXPECT_EQ(scene.contact.act(0), StepStatus::InputIgnored);
    EXPECT_EQ(scene.contact.update(good), StepStatus::Ok);
    EXPECT_EQ(scene.contact.contacts().count, count);
}

TEST(SelfContact, TooManyContactsAreSaid) {
    SelfContactOptions options;
    options.max_contacts = 20;
    Scene scene(options);
    EXPECT_EQ(scene.contact.update(u().squeeze(0.25)), StepStatus::CapacityExceeded);
    EXPECT_EQ(scene.contact.contacts().count, 20);
    EXPECT_EQ(scene.contact.update(u().squeeze(0.1)), StepStatus::Ok);
}

TEST(SelfContact, SaysWhatItCannotTake) {
    ReducedBody body(u().model);
    const auto error = [&](const SelfContactOptions& options) {
        return input_error([&] { SelfContact(body, u().tree, u().field, options); });
    };
    SelfContactOptions options;
    options.exclusion = 1e-3;
    EXPECT_THAT(error(options), HasSubstr("exclusion = 0.001000 (expected 0 (chosen) or at least"));
    options = {};
    options.loads.friction = 0.3;
    EXPECT_THAT(error(options), HasSubstr("self-contact has no friction"));
    options = {};
    options.budget = 3;
    EXPECT_THAT(error(options), HasSubstr("budget = 3 (expected 0 (all nodes) or at least"));
    options = {};
    options.max_contacts = 0;
    EXPECT_THAT(error(options), HasSubstr("max_contacts = 0 (expected 1 or more)"));
    options = {};
    options.damping_steps = -1;
    EXPECT_THAT(error(options), HasSubstr("damping_steps"));
    options = {};
    options.loads.normals = ContactNormals::FieldGradient;
    EXPECT_THAT(error(options), HasSubstr("directions from the shell"));
    options = {};
    options.loads.stiffness = 0;
    EXPECT_THAT(error(options), HasSubstr("contact.stiffness"));

    const auto one = DeformedFieldModel::of_domains(u().model, {one_domain(u().model, 16)});
    EXPECT_THAT(input_error([&] { SelfContact(body, u().tree, one); }),
                HasSubstr("self-contact needs a deformed field of several domains, and this one "
                          "has one: build it with num_domains = 0"));
    EXPECT_THAT(
        input_error([&] { SelfContact(body, PointTree(skin_shell(u().skin, 100)), u().field); }),
        HasSubstr("point-tree = 0 vectors (expected 8, as its body"));
}

}  // namespace
}  // namespace pliant
