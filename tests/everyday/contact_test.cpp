// Boxes, balls and blocks that stand on, bounce off and roll over each other, with default
// settings.
#include <gtest/gtest.h>

#include <cstdio>
#include <numbers>
#include <random>

#include "everyday/everyday_scene.h"
#include "pliant/body/rigid_body.h"
#include "pliant/geometry/mesh_io.h"
#include "scene/primitive_surfaces.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::kFloor;
using test::EverydayScene, test::SeenBody;

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", x);
    return text;
}
std::string vector(const Vector3d& x) {
    return "[" + number(x[0]) + ", " + number(x[1]) + ", " + number(x[2]) + "]";
}
/// A rigid body from the text of its shape.
std::string rigid(const std::string& name, const std::string& shape, double density,
                  const Vector3d& place, const std::string& more = "") {
    return R"({"name": ")" + name + R"(", "rigid": {)" + shape + R"(, "density": )" +
           number(density) + R"(}, "pose": {"position": )" + vector(place) + "}" + more + "}";
}
std::string cube(double side) { return R"("box": {"sizes": )" + vector({side, side, side}) + "}"; }

std::string scene(const std::string& bodies, const std::string& names, double rate = 1000,
                  const std::string& more = "") {
    return R"({"pliant": 1, "rate": )" + number(rate) + R"(, "bodies": [)" + bodies +
           R"(], "contacts": [{"among": [)" + names + "]" + more + "}]}";
}

/// A file with a cube of 10 cm on z = 0.
std::string cube_file() {
    SurfaceMesh cube = box_surface(Vector3d::Constant(0.1));
    for (Vector3d& x : cube.vertices) x.z() += 0.05;
    const std::string path = ::testing::TempDir() + "pliant-everyday-cube.obj";
    save_surface(cube, path);
    return path;
}

/// Boxes of 10 cm on each other, 2 mm apart at first.
std::string stack(int count, double rate, const std::string& more_of_body = "") {
    std::string bodies = kFloor, names = "\"floor\"";
    for (int i = 0; i < count; ++i) {
        const std::string name = "box " + std::to_string(i);
        bodies += ", " + rigid(name, cube(0.1), 1000, {0, 0, 0.052 + 0.102 * i}, more_of_body);
        names += ", \"" + name + "\"";
    }
    return scene(bodies, names, rate);
}

TEST(EverydayContact, TenBoxesStandOnEachOther) {
    for (const double rate : {250.0, 1000.0}) {
        EverydayScene world(stack(10, rate));
        world.run(5);
        for (int i = 0; i < 10; ++i) {
            const SeenBody box = world.see("box " + std::to_string(i));
            // each contact 1 % of a box deep at most
            EXPECT_NEAR(box.lowest(), 0.1 * i, 0.001 * (i + 1)) << i << " at " << rate << " Hz";
            EXPECT_NEAR(box.box.center().x(), 0, 0.002) << i << " at " << rate << " Hz";
            EXPECT_LT(box.speed, 1e-3) << i << " at " << rate << " Hz";
            EXPECT_EQ(world.num_troubled_steps("box " + std::to_string(i)), 0u);
        }
    }
}

TEST(EverydayContact, BoxesWithPointsStandAsWell) {
    // the scene of the issue: points on each, friction 0.5
    EverydayScene world(stack(
        5, 1000, R"(, "contact": {"pointshell": {"points": 300, "levels": 2, "resolution": 32}})"));
    world.run(5);
    EXPECT_NEAR(world.see("box 4").highest(), 0.5, 0.003);
    EXPECT_LT(world.see("box 4").speed, 1e-3);
}

TEST(EverydayContact, AHeavyBoxStandsOnALightOne) {
    for (const double ratio : {100.0, 1000.0})
        for (const double rate : {250.0, 1000.0}) {
            EverydayScene world(scene(kFloor + ", " + rigid("light", cube(0.1), 20, {0, 0, 0.051}) +
                                          ", " +
                                          rigid("heavy", cube(0.1), 20 * ratio, {0.01, 0, 0.152}),
                                      R"("floor", "light", "heavy")", rate));
            world.run(3);
            const SeenBody heavy = world.see("heavy");
            EXPECT_NEAR(heavy.lowest(), 0.1, 0.001) << ratio << " : 1 at " << rate << " Hz";
            EXPECT_NEAR(heavy.box.center().x(), 0.01, 0.002) << ratio << " : 1";
            EXPECT_LT(heavy.speed, 2e-3) << ratio << " : 1 at " << rate << " Hz";
        }
}

TEST(EverydayContact, AHeavyBoxStandsOnALightSoftOne) {
    EverydayScene world(
        scene(kFloor + R"(, {"name": "soft", "reduced": {"surface": ")" + cube_file() +
                  R"(", "free": true, "modes": 6, "rank": 12,
            "mesh": {"resolution": 8}, "material": {"youngs_modulus": 1e7, "poisson_ratio": 0.3, "density": 20}},
            "contact": {"pointshell": {"points": 400, "levels": 2, "resolution": 32}, "field": {"resolution": 32}},
            "pose": {"position": [0, 0, 0.001]}}, )" +
                  rigid("heavy", R"("box": {"sizes": [0.08, 0.08, 0.08]})", 20000, {0, 0, 0.1425}),
              R"("floor", "soft", "heavy")"));
    world.run(4);
    const SeenBody heavy = world.see("heavy"), soft = world.see("soft");
    EXPECT_GT(heavy.lowest(), 0.8 * soft.highest()) << "it lies on it";
    EXPECT_NEAR(heavy.box.center().x(), 0, 0.01) << "and does not slide off";
}

/// Speed of leaving over speed of arriving at the surface, from the height reached.
double rebound(double rate, const std::string& surface, double drop) {
    EverydayScene world(scene(kFloor + ", " +
                                  rigid("cube", cube(0.1), 1000, {0, 0, 0.05 + drop},
                                        R"(, "contact": {)" + surface + "}"),
                              R"("floor", "cube")", rate));
    const auto& body = dynamic_cast<const RigidBody&>(world.body("cube"));
    bool has_met = false;
    double highest = 0;
    world.run(2.5 * std::sqrt(2 * drop / 9.81), [&] {
        const RigidMotion& motion = body.motion();
        has_met |= motion.pose.position.z() < 0.0501;
        // until it falls again
        if (has_met && motion.velocity.linear.z() > 0)
            highest = std::max(highest, motion.pose.position.z() - 0.05);
    });
    return std::sqrt(highest / drop);
}

TEST(EverydayContact, ReboundIsAPropertyOfBodiesAndNotOfTheRate) {
    for (const double rate : {250.0, 1000.0, 4000.0})
        for (const double e : {0.3, 0.6, 0.9})
            for (const double drop : {0.05, 0.3})
                EXPECT_NEAR(rebound(rate, R"("restitution": )" + number(e), drop), e, 0.05 * e)
                    << rate << " Hz, e = " << e << ", from " << drop << " m";
    for (const double rate : {250.0, 1000.0, 4000.0})
        EXPECT_LT(rebound(rate, R"("friction": 0.5)", 0.3), 0.03) << "default, " << rate << " Hz";
    EXPECT_NEAR(rebound(1000, R"("material": "rubber")", 0.3), 0.75, 0.03);
}

TEST(EverydayContact, ABallRollsDownASlopeAsBallsDo) {
    // with and without points: they do not matter
    for (const std::string& points :
         {std::string(),
          std::string(
              R"(, "contact": {"pointshell": {"points": 600, "levels": 2, "resolution": 32}})")})
        for (const double rate : {250.0, 1000.0, 4000.0}) {
            if (!points.empty() && rate != 1000) continue;
            const double angle = 20 * std::numbers::pi / 180, radius = 0.05;
            EverydayScene world(scene(
                R"({"name": "floor", "rigid": {"ground": {}}, "pose": {"rotation": {"axis": [0, 1, 0], "degrees": 20}}}, )" +
                    rigid("ball", R"("sphere": {"radius": 0.05})", 1000,
                          radius * Vector3d(std::sin(angle), 0, std::cos(angle)), points),
                R"("floor", "ball")", rate));
            const auto& ball = dynamic_cast<const RigidBody&>(world.body("ball"));
            world.run(0.5);
            const double before = ball.motion().velocity.linear.norm();
            world.run(1);
            const double gained = ball.motion().velocity.linear.norm() - before;
            const double round = ball.mass()->inertia(0, 0) / (ball.mass()->mass * radius * radius);
            EXPECT_NEAR(gained, 9.81 * std::sin(angle) / (1 + round), 0.01 * gained)
                << rate << " Hz";
            EXPECT_NEAR(gained, 5.0 / 7 * 9.81 * std::sin(angle), 0.01 * gained);
        }
}

TEST(EverydayContact, FrictionOfBodiesDecidesWhatSlides) {
    const auto way = [](const std::string& surface) {
        EverydayScene world(scene(
            R"({"name": "slope", "rigid": {"ground": {}}, "pose": {"rotation": {"axis": [0, 1, 0], "degrees": 15}}}, )" +
                std::string(
                    R"({"name": "box", "rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 500},
                    "pose": {"position": [0.0129, 0, 0.0483], "rotation": {"axis": [0, 1, 0], "degrees": 15}})") +
                surface + "}",
            R"("slope", "box")"));
        world.run(1);
        return (world.see("box").box.center() - Vector3d(0.0129, 0, 0.0483)).norm();
    };
    EXPECT_LT(way(""), 0.001) << "μ = 0.5 by default holds";
    EXPECT_LT(way(R"(, "contact": {"material": "wood"})"), 0.001);
    const double angle = 15 * std::numbers::pi / 180;
    EXPECT_NEAR(way(R"(, "contact": {"material": "ice"})"),
                0.5 * 9.81 * (std::sin(angle) - 0.05 * std::cos(angle)), 0.02);
}

TEST(EverydayContact, APlatePressesABlockAndNotTheContact) {
    // 5 mm into a cube of 10 cm and 2 MPa; with the stiffness of old contact took nearly all of it
    const auto force = [](const std::string& stiffness) {
        EverydayScene world(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
            {"name": "block", "reduced": {"surface": ")" +
                            cube_file() + R"(", "fixed": "z < 1 %", "modes": 12, "rank": 24,
             "linear": true, "mesh": {"kind": "voxel", "resolution": 8},
             "material": {"youngs_modulus": 2e6, "poisson_ratio": 0, "density": 1000}, "damping": {"mass": 20, "stiffness": 0.01}},
             "contact": {"pointshell": {"points": 1000, "levels": 2, "resolution": 32}}},
            {"name": "plate", "rigid": {"box": {"sizes": [0.3, 0.3, 0.02]}, "motion": {"path": {"keyframes": [
             {"time": 0, "position": [0, 0, 0.111]}, {"time": 0.5, "position": [0, 0, 0.105]}, {"time": 9, "position": [0, 0, 0.105]}]}}}}],
            "contacts": [{"shell": "block", "field": "plate")" +
                            stiffness + "}]}");
        world.run(2);
        return world.world().loop(0).make_frame().contacts[0].force[2];
    };
    // the default is 10 E b = 2e6 N/m; three times as much is still inside what the exchange bears:
    // this block is thrown at five times, one of ν = 0.45 at four
    const double chosen = force(""), stiffer = force(R"(, "stiffness": 6e6)");
    EXPECT_NEAR(force(R"(, "stiffness": 2e6)"), chosen, 1e-9 * chosen);
    // 1/F is linear in 1/k: what the modes of this block make of it, with a contact that does not
    // give way at all
    const double rigid = 1 / (1.5 / stiffer - 0.5 / chosen);
    EXPECT_NEAR(chosen, rigid, 0.02 * rigid);
    EXPECT_GT(rigid, 700);
}

/// Boxes of any size and density, dropped on each other, come to rest.
TEST(EverydayContact, HeapsOfBoxesComeToRest) {
    int restless = 0;
    std::string which;
    for (int seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto uniform = [&](double a, double b) {
            return std::uniform_real_distribution<double>(a, b)(random);
        };
        const double base = std::pow(10, uniform(-2, 0));
        std::string bodies = kFloor, names = "\"floor\"";
        double z = 0;
        const int count = 2 + seed % 4;
        double start = 0;
        for (int i = 0; i < count; ++i) {
            const double side = base * uniform(0.5, 2);
            z += 0.5 * side + 0.02 * base;
            bodies += ", " + rigid("box " + std::to_string(i), cube(side),
                                   20 * std::pow(400, uniform(0, 1)),
                                   {0.05 * base * uniform(-1, 1), 0.05 * base * uniform(-1, 1), z});
            names += ", \"box " + std::to_string(i) + "\"";
            z += 0.5 * side;
            start = z;
        }
        EverydayScene world(scene(bodies, names));
        world.run(4);
        for (int i = 0; i < count; ++i) {
            const SeenBody box = world.see("box " + std::to_string(i));
            EXPECT_GT(box.lowest(), -0.01 * base) << "seed " << seed;
            EXPECT_LT(box.highest(), 1.1 * start + base) << "seed " << seed;
            EXPECT_EQ(world.num_troubled_steps("box " + std::to_string(i)), 0u);
            EXPECT_LT(box.speed, 5e-3) << "seed " << seed << " box " << i;
            if (box.speed < 1e-3) continue;
            ++restless;
            which += " seed " + std::to_string(seed) + " box " + std::to_string(i) + " at " +
                     number(box.speed) + " m/s;";
        }
    }
    // a tall pile sways a little longer
    EXPECT_LE(restless, 3) << which;
}

TEST(EverydayContact, TwoBoxesThatMeetInTheAirKeepTheirMomentum) {
    EverydayScene world(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "one", "rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 500}, "velocity": {"linear": [1, 0, 0], "angular": [0, 0, 2]},
         "contact": {"restitution": 0.7}},
        {"name": "other", "rigid": {"box": {"sizes": [0.1, 0.2, 0.1]}, "density": 900}, "pose": {"position": [0.3, 0.04, 0.01]}}],
        "contacts": [{"among": ["one", "other"]}]})");
    const auto& one = dynamic_cast<const RigidBody&>(world.body("one"));
    const auto& other = dynamic_cast<const RigidBody&>(world.body("other"));
    const auto momentum = [&] {
        Vector3d sum = Vector3d::Zero();
        for (const RigidBody* body : {&one, &other})
            sum += body->mass()->mass * body->motion().velocity.linear;
        return sum;
    };
    const auto energy = [&] { return one.energy().kinetic + other.energy().kinetic; };
    const Vector3d before = momentum();
    const double start = energy();
    world.run(1, [&] {
        ASSERT_LT((momentum() - before).norm(), 1e-12);
        ASSERT_LE(energy(), start * 1.01);
    });
    EXPECT_GT(other.motion().velocity.linear.norm(), 0.1) << "they met";
}

}  // namespace
}  // namespace pliant
