#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/scene/recording.h"
#include "scene/greens_scenes.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::GreensScenes;
using test::input_error;
using ::testing::HasSubstr;

constexpr const char* kPad =
    R"("greens": {"pad": {"length": 0.03, "width": 0.018, "height": 0.015}, "levels": 1,
       "material": {"youngs_modulus": 40000, "poisson_ratio": 0.45, "density": 1000},
       "fixed": "z > 60 %", "mask_radius": 0.01})";

/// Two pads over a plate, bent and pressed onto it; `more` beside the zones.
std::string two_pads(const std::string& contact = R"({"greens": "finger", "tools": ["plate"]})",
                     const std::string& second_bone = "first") {
    return R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "touch", "rate": 100}], "bodies": [
      {"name": "finger", "loop": "touch", "zones": {
        "bones": [{"name": "first", "joint": [0, 0, -0.004]},
                  {"name": "second", "parent": ")" +
           second_bone + R"(", "joint": [0.03, 0, -0.004], "axis": [0, 1, 0],
                   "angle": {"keyframes": [{"time": 0, "degrees": 0}, {"time": 0.5, "degrees": 25}]}}],
        "parts": [{"name": "root", "bone": "first", )" +
           kPad + R"(},
                  {"name": "tip", "bone": "second", "pose": {"position": [0.03, 0, 0]}, )" +
           kPad + R"(}],
        "blend": 0.012,
        "motion": {"path": {"keyframes": [{"time": 0, "position": [0, 0, 0.03]},
                                          {"time": 0.5, "position": [0, 0, 0.022]},
                                          {"time": 1, "position": [0, 0, 0.02]}]}}}},
      {"name": "plate", "loop": "touch", "rigid": {"box": {"sizes": [0.2, 0.1, 0.02]}},
       "pose": {"position": [0.03, 0, -0.01]}}],
      "contacts": [)" +
           contact + "]}";
}

/// Vertices inside.
void drop_unused(SurfaceMesh& mesh) {
    std::vector<int> place(mesh.vertices.size(), -1);
    std::vector<Vector3d> kept;
    for (Triangle& corners : mesh.triangles)
        for (int& v : corners) {
            int& to = place[at(v)];
            if (to < 0) {
                to = static_cast<int>(kept.size());
                kept.push_back(mesh.vertices[at(v)]);
            }
            v = to;
        }
    mesh.vertices = kept;
}

/// A bar of boundary triangles, 5 mm long each.
SurfaceMesh save_bar(const std::filesystem::path& path, double length) {
    const VolumeMesh box = tet_box(static_cast<int>(std::lround(length / 0.005)), 4, 4,
                                   Box(Vector3d::Zero(), Vector3d(length, 0.02, 0.02)));
    SurfaceMesh surface;
    surface.vertices = box.vertices;
    surface.triangles = boundary_triangles(box);
    drop_unused(surface);
    save_surface(surface, path);
    return surface;
}

class ZonesScene : public ::testing::Test, protected GreensScenes {
protected:
    [[nodiscard]] static const ZonedBody& finger(const World& world) {
        return dynamic_cast<const ZonedBody&>(world.body(world.find_body("finger")));
    }
};

TEST_F(ZonesScene, PadsArePressedFlatOnAPlate) {
    World world = build(two_pads());
    ASSERT_EQ(world.loop(1).num_contacts(), 2);
    EXPECT_EQ(world.loop(1).contact(1).name, "finger.tip/plate");
    world.advance_to(1.2);
    const ZonedBody& body = finger(world);
    // the tip has come down onto the plate, no node is in it, those held are on it
    const auto& tip = dynamic_cast<const GreensTools&>(*world.loop(1).contact(1).greens());
    ASSERT_GE(tip.contact().touched().size(), 3u);
    EXPECT_GT(-tip.load(0).force.z(), 0.05);  // on the plate
    const int first = body.first_vertex(1);
    double lowest = 1;
    for (int v = first; v < body.surface().num_vertices(); ++v)
        lowest = std::min(lowest, body.position(SurfacePoint::at_vertex(v)).z());
    EXPECT_GT(lowest, -2e-6);
    for (const TouchedNode& touched : tip.contact().touched())
        EXPECT_NEAR(body.position(SurfacePoint::at_vertex(first + touched.node)).z(), 0, 2e-6);
    // without the plate it would be in it
    World free = build(two_pads(R"({"greens": "finger", "tools": ["spare"]})")
                           .replace(two_pads().find("\"plate\""), 7, "\"spare\"")
                           .replace(two_pads().find("-0.01]}}"), 5, "-1.01"));
    free.advance_to(1.2);
    lowest = 1;
    for (int v = first; v < body.surface().num_vertices(); ++v)
        lowest = std::min(lowest, finger(free).position(SurfacePoint::at_vertex(v)).z());
    EXPECT_LT(lowest, -1e-3);
}

TEST_F(ZonesScene, TicksAllocateNothingAndReplay) {
    World world = build(two_pads());
    world.advance_to(0.6);
    const AllocationGuard guard;
    for (int k = 0; k < 20; ++k) world.advance();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    World again = build(two_pads());
    again.advance_to(0.6);
    for (int k = 0; k < 20; ++k) again.advance();
    EXPECT_EQ(world.state_hash(), again.state_hash());
    // a slider makes a difference
    World other = build(two_pads());
    const int flexion = other.find_parameter("finger.flexion");
    ASSERT_GE(flexion, 0);
    other.apply({.kind = Command::Kind::SetParameter, .parameter = flexion, .value = 0.5});
    other.advance_to(0.6);
    EXPECT_NE(finger(other).bones()[1].position, finger(world).bones()[1].position);
}

TEST_F(ZonesScene, AHandPullsAZone) {
    World world = build(two_pads(R"({"greens": "finger", "tools": ["plate"]})"));
    const int body = world.find_body("finger");
    const int vertex = finger(world).first_vertex(1) + 3;
    const Vector3d before = finger(world).position(SurfacePoint::at_vertex(vertex));
    world.apply({.kind = Command::Kind::Grab,
                 .slot = 0,
                 .body = body,
                 .vertex = vertex,
                 .target = {before.x(), before.y(), before.z()}});
    world.apply({.kind = Command::Kind::Drag,
                 .slot = 0,
                 .body = body,
                 .target = {before.x(), before.y() + 0.004, before.z()}});
    world.advance_to(0.2);
    EXPECT_GT(finger(world).position(SurfacePoint::at_vertex(vertex)).y(), before.y() + 1e-4);
}

/// Two halves of a bar, of which one is held, against the bar as one body of boundary elements.
TEST_F(ZonesScene, BondedZonesAreOneBody) {
    (void)save_bar(file("half.obj"), 0.02);
    (void)save_bar(file("whole.obj"), 0.04);
    const std::string half = R"("greens": {"surface": "half.obj", "fixed": "x < 1 %"})";
    const std::string zones = R"("zones": {"seams": "bonded",
        "bones": [{"name": "root", "joint": [0, 0, 0]}, {"name": "end", "parent": "root", "joint": [0.02, 0, 0]}],
        "parts": [{"name": "first", "bone": "root", )" +
                              half + R"(},
                  {"name": "second", "bone": "end", "pose": {"position": [0.02, 0, 0]}, )" +
                              half + "}]}";
    const auto force_on = [&](const std::string& bar, const std::string& how) {
        World world =
            build(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [{"name": "bar", )" + bar + R"(},
          {"name": "ball", "rigid": {"sphere": {"radius": 0.004}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0.035, 0.01, 0.03]}, {"time": 0.1, "position": [0.035, 0.01, 0.019]}]}}}}],
          "contacts": [{"greens": "bar", ")" +
                  how + R"(": ["ball"]}]})");
        EXPECT_EQ(world.body(0).kind(), "greens");
        world.advance_to(0.15);
        return world.loop(0).contact(0).greens()->load(0).force.z();
    };
    const std::string whole = R"("greens": {"surface": "whole.obj", "fixed": "x < 1 %"})";
    for (const char* how : {"points", "tools"}) {
        const double bonded = force_on(zones, how), one = force_on(whole, how);
        EXPECT_GT(one, 0.05) << how;
        EXPECT_NEAR(bonded, one, 0.05 * one) << how;
    }
}

/// Two halves of a bar whose joint bends by 20 degrees while it runs.
TEST_F(ZonesScene, BondedZonesMoveWithTheirBones) {
    const SurfaceMesh half = save_bar(file("half.obj"), 0.02);
    std::string ends;
    for (int v = 0; v < half.num_vertices(); ++v)
        if (const double x = half.vertices[at(v)].x(); x < 1e-6 || x > 0.02 - 1e-6)
            ends += (ends.empty() ? "list " : ",") + std::to_string(v);
    World world = build(
        R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "touch", "rate": 100}], "bodies": [
      {"name": "bar", "loop": "touch", "zones": {"seams": "bonded",
        "bones": [{"name": "root", "joint": [0, 0, 0]},
                  {"name": "end", "parent": "root", "joint": [0.02, 0, 0.01],
                   "angle": {"keyframes": [{"time": 0, "degrees": 0}, {"time": 0.3, "degrees": 20}]}}],
        "parts": [{"name": "first", "bone": "root",
                   "greens": {"surface": "half.obj",  "fixed": ")" +
        ends + R"("}},
                  {"name": "second", "bone": "end", "pose": {"position": [0.02, 0, 0]},
                   "greens": {"surface": "half.obj", "fixed": ")" +
        ends + R"("}}]}},
      {"name": "ball", "loop": "touch", "rigid": {"sphere": {"radius": 0.004}}, "pose": {"position": [0.01, 0.01, 0.0235]}}],
      "contacts": [{"greens": "bar", "tools": ["ball"]}]})");
    const auto& bar = dynamic_cast<const ZonedBody&>(world.body(0));
    ASSERT_EQ(bar.num_zones(), 2);
    EXPECT_EQ(world.loop(1).num_contacts(), 2) << "one for each part";
    world.advance_to(0.5);
    // the seam is one, and not where either half has it at rest
    const std::vector<Vector3d>& rest = bar.surface().vertices;
    int num_met = 0;
    double moved = 0;
    for (int a = 0; a < bar.first_vertex(1); ++a)
        for (int b = bar.first_vertex(1); b < bar.first_vertex(2); ++b) {
            if ((rest[at(a)] - rest[at(b)]).norm() > 1e-9) continue;
            const Vector3d x = bar.position(SurfacePoint::at_vertex(a)),
                           y = bar.position(SurfacePoint::at_vertex(b));
            EXPECT_LT((x - y).norm(), 1e-6);
            moved = std::max(moved, (x - rest[at(a)]).norm());
            ++num_met;
        }
    EXPECT_EQ(num_met, 25);
    EXPECT_GT(moved, 5e-4);
    // what the bone holds goes along with it
    int end = bar.first_vertex(1);
    for (int v = end; v < bar.first_vertex(2); ++v)
        if (rest[at(v)].x() > rest[at(end)].x()) end = v;
    const Vector3d carried = bar.bones()[1].to_world(rest[at(end)]);
    EXPECT_GT((carried - rest[at(end)]).norm(), 5e-3);
    EXPECT_LT((bar.position(SurfacePoint::at_vertex(end)) - carried).norm(), 1e-9);
}

/// Pads of compressed functions of several levels, touched on the coarser one.
TEST_F(ZonesScene, PartsAreTouchedOnTheirConstraintLevel) {
    const auto force_on = [&](const std::string& keys) {
        std::string text = two_pads();
        for (std::size_t k = 0; (k = text.find("\"levels\": 1", k)) != std::string::npos; ++k)
            text.replace(k, 11, "\"levels\": 2" + keys);
        World world = build(text);
        world.advance_to(0.6);
        double force = 0;
        for (int c = 0; c < world.loop(1).num_contacts(); ++c) {
            const auto& tools =
                dynamic_cast<const GreensTools&>(*world.loop(1).contact(c).greens());
            const GreensModel& model = tools.body().model();
            if (keys.find("constraint") != std::string::npos)
                for (const TouchedNode& touched : tools.contact().touched())
                    EXPECT_LT(touched.node, model.surface.num_vertices[1]);
            force += tools.load(0).force.norm();
        }
        return force;
    };
    const double fine = force_on("");
    const double coarse =
        force_on(R"(, "wavelet": "lifted-linear", "tolerance": 0.02, "constraint_level": 1)");
    EXPECT_GT(fine, 0.02);
    EXPECT_NEAR(coarse, fine, 0.6 * fine);
    EXPECT_NE(coarse, fine);
}

/// Half of a bar with Green's functions, the other half a reduced model whose far end the second
/// bone turns, and which a hand pulls.
TEST_F(ZonesScene, APartMayBeAReducedModel) {
    const SurfaceMesh half = save_bar(file("half.obj"), 0.02);
    std::string ends;
    for (int v = 0; v < half.num_vertices(); ++v)
        if (const double x = half.vertices[at(v)].x(); x < 1e-6 || x > 0.02 - 1e-6)
            ends += (ends.empty() ? "list " : ",") + std::to_string(v);
    const auto scene = [&](const std::string& second, const std::string& seams = "bonded") {
        return R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "touch", "rate": 100}], "bodies": [
      {"name": "bar", "loop": "touch", "zones": {"seams": ")" +
               seams + R"(",
        "bones": [{"name": "root", "joint": [0, 0, 0]},
                  {"name": "end", "parent": "root", "joint": [0.04, 0, 0.01],
                   "angle": {"keyframes": [{"time": 0, "degrees": 0}, {"time": 0.3, "degrees": 10}]}}],
        "parts": [{"name": "first", "bone": "root",
                   "greens": {"surface": "half.obj", "material": {"youngs_modulus": 20000, "poisson_ratio": 0.3, "density": 1000},
                              "fixed": ")" +
               ends + R"("}},
                  {"name": "second", "bone": "end", "pose": {"position": [0.02, 0, 0]}, )" +
               second + R"(}]}},
      {"name": "ball", "loop": "touch", "rigid": {"sphere": {"radius": 0.004}}, "pose": {"position": [0.01, 0.01, 0.0235]}}],
      "contacts": [{"greens": "bar", "tools": ["ball"]}]})";
    };
    const std::string reduced =
        R"("reduced": {"surface": "half.obj", "material": {"youngs_modulus": 20000, "poisson_ratio": 0.3, "density": 1000},
                       "fixed": "x > 99 %", "mesh": {"resolution": 12}, "modes": 20, "rank": 40})";
    World world = build(scene(reduced));
    const auto& bar = dynamic_cast<const ZonedBody&>(world.body(0));
    ASSERT_EQ(bar.num_zones(), 2);
    EXPECT_FALSE(bar.has_greens(1));
    EXPECT_EQ(world.loop(1).num_contacts(), 1) << "tools touch the other part alone";
    EXPECT_THAT(lines, ::testing::Contains("bar.second: \"tools\" pass through it, a part without "
                                           "Green's functions"));
    world.advance_to(0.6);
    // the seam goes along with the end that turns, as one
    const std::vector<Vector3d>& rest = bar.surface().vertices;
    int num_met = 0;
    double moved = 0, gap = 0;
    for (int a = 0; a < bar.first_vertex(1); ++a)
        for (int b = bar.first_vertex(1); b < bar.first_vertex(2); ++b) {
            if ((rest[at(a)] - rest[at(b)]).norm() > 1e-7) continue;
            const Vector3d x = bar.position(SurfacePoint::at_vertex(a)),
                           y = bar.position(SurfacePoint::at_vertex(b));
            gap = std::max(gap, (x - y).norm());
            moved = std::max(moved, (x - rest[at(a)]).norm());
            ++num_met;
        }
    EXPECT_EQ(num_met, 25);
    EXPECT_GT(moved, 3e-4);
    EXPECT_LT(gap, 0.2 * moved) << "its modes do not follow every node";
    // a hand pulls at the reduced half
    int vertex = bar.first_vertex(1);
    const Vector3d middle(0.03, 0.01, 0.02);  // of its upper side
    for (int v = vertex; v < bar.first_vertex(2); ++v)
        if ((rest[at(v)] - middle).norm() < (rest[at(vertex)] - middle).norm()) vertex = v;
    const Vector3d before = bar.position(SurfacePoint::at_vertex(vertex));
    const int body = 0;
    world.apply({.kind = Command::Kind::Grab,
                 .slot = 0,
                 .body = body,
                 .vertex = vertex,
                 .target = {before.x(), before.y(), before.z()}});
    world.apply({.kind = Command::Kind::Drag,
                 .slot = 0,
                 .body = body,
                 .target = {before.x(), before.y() + 0.004, before.z()}});
    double highest = before.y(), lowest = before.y();
    for (double t = 0.65; t < 1.2; t += 0.01) {
        world.advance_to(t);
        const double y = bar.position(SurfacePoint::at_vertex(vertex)).y();
        highest = std::max(highest, y), lowest = std::min(lowest, y);
    }
    EXPECT_GT(lowest, before.y() - 1e-4) << "springs of hands are stable";
    EXPECT_LT(highest, before.y() + 0.004);
    const Vector3d after = bar.position(SurfacePoint::at_vertex(vertex));
    EXPECT_GT(after.y(), before.y() + 1e-4);

    const auto error = [&](const std::string& text) {
        return input_error([&] { (void)build(text); });
    };
    EXPECT_THAT(error(scene(reduced, "blended")),
                HasSubstr("zones.parts[1].reduced: goes with \"seams\": \"bonded\" only"));
    EXPECT_THAT(error(scene(R"("reduced": {"surface": "half.obj", "free": true})")),
                HasSubstr("parts[1].reduced.free: does not go with parts of \"zones\""));
    EXPECT_THAT(
        error(scene(R"("reduced": {"surface": "half.obj", "fixed": "x > 99 %", "linear": true})")),
        HasSubstr("parts[1].reduced.linear: does not go with parts of \"zones\", which have no"));
    std::ofstream(file("half.pliant")) << "not read before keys are";
    for (const char* key :
         {R"("damping": {"mass": 1})", R"("linear": true)", R"("coupling": "decoupled")"}) {
        const std::string name(key + 1, std::string_view(key + 1).find('"'));
        EXPECT_THAT(error(scene(R"("model": {"path": "half.pliant", )" + std::string(key) + "}")),
                    HasSubstr("parts[1].model." + name +
                              ": does not go with parts of \"zones\", which have no inertia"));
    }
    EXPECT_THAT(error(scene(reduced.substr(0, reduced.size() - 1) + R"(, "size": 0.03})")),
                HasSubstr("no vertex of part \"second\" is at a node of a part with \"greens\""));
}

TEST_F(ZonesScene, MistakesAreNamed) {
    const auto error = [&](const std::string& text) {
        return input_error([&] { (void)parse_scene(text, "scene.json", "."); });
    };
    EXPECT_THAT(
        error(two_pads(R"({"greens": "finger", "points": ["plate"]})")),
        HasSubstr("contacts[0].points: do not touch bodies of the kind \"zones\" unless these "
                  "are bonded and their bones stay; \"tools\" do"));
    EXPECT_THAT(error(two_pads(R"({"greens": "plate", "tools": ["plate"]})")),
                HasSubstr("a body of the kind \"greens\" or \"zones\""));
    EXPECT_THAT(error(two_pads(R"({"greens": "finger", "tools": ["plate"]})", "thumb")),
                HasSubstr("zones.bones[1].parent = \"thumb\" (expected a bone before it: "
                          "\"first\")"));
    std::string text = two_pads();
    text.replace(text.find("\"bone\": \"second\""), 16, "\"bone\": \"secnd\"");
    EXPECT_THAT(error(text), HasSubstr("zones.parts[1].bone = \"secnd\" (expected one of the "
                                       "bones: \"first\", \"second\")"));
    text = two_pads();
    text.replace(text.find("\"mask_radius\": 0.01"), 19, "\"finest_constraint_level\": 1");
    EXPECT_THAT(error(text), HasSubstr("greens.finest_constraint_level: does not go with parts"));
    EXPECT_THAT(error(R"({"pliant": 1, "bodies": [{"name": "bar", "zones": {"seams": "bonded",
            "bones": [{"name": "root", "joint": [0, 0, 0]}],
            "parts": [{"name": "pad", "bone": "root",
                       "greens": {"pad": {}, "fixed": "z > 60 %", "constraint_level": 1}}]}}]})"),
                HasSubstr("greens.constraint_level: goes with parts that move"));
    text = two_pads();
    text.replace(text.find("\"tip\""), 5, "\"root\"");
    EXPECT_THAT(error(text), HasSubstr("another name for each part"));
}

TEST_F(ZonesScene, TheDemoPressesAllItsPadsAndLetsGo) {
    SceneDescription scene = demo_scene("finger");
    for (ZonesSource::Part& part : std::get<ZonesSource>(scene.bodies[0].source).parts)
        std::get<GreensRecipe>(part.greens.model).levels = 1;
    WorldOptions options;
    options.cache = file("cache");
    World world(scene, options);
    double most = 0, at_end = 0, deepest = 0;
    int most_pads = 0;
    for (double t = 0.02; t < 4; t += 0.02) {
        world.advance_to(t);
        double force = 0;
        int num_pads = 0;
        for (int c = 0; c < world.loop(1).num_contacts(); ++c) {
            const auto& tools =
                dynamic_cast<const GreensTools&>(*world.loop(1).contact(c).greens());
            force -= tools.load(0).force.z();
            num_pads += -tools.load(0).force.z() > 0.05;
            deepest = std::max(deepest, tools.deepest());
        }
        most = std::max(most, force);
        most_pads = std::max(most_pads, num_pads);
        at_end = force;
    }
    EXPECT_GT(most, 0.2);
    EXPECT_LT(most, 20);
    EXPECT_EQ(most_pads, 3) << "at once";
    EXPECT_EQ(at_end, 0);
    // nodes that a step lets go of, for the next one to take again
    EXPECT_LT(deepest, 1e-4);
}

}  // namespace
}  // namespace pliant
