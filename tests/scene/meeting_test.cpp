// Bodies that pass through each other are named when a scene is loaded.
#include "scene/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/temporary_directory.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "scene/body_maker.h"
#include "scene/box_tree.h"

namespace pliant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A cube of 10 cm of each kind, at a place and named; `contact` begins with a comma.
std::string cube(const std::string& kind, const std::string& name, double z,
                 const std::string& contact = "") {
    const std::string reduced =
        R"("reduced": {"surface": "cube.obj", "modes": 2, "rank": 2, "mesh": {"kind": "voxel", "resolution": 4}, )";
    const std::string source =
        kind == "still"    ? R"("rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}})"
        : kind == "thrown" ? R"("rigid": {"box": {"sizes": [0.1, 0.1, 0.1]}, "density": 500})"
        : kind == "stone"  ? R"("rigid": {"surface": "cube.obj", "density": 500})"
        : kind == "held"   ? reduced + R"("fixed": "z < 5 %"})"
        : kind == "free"   ? reduced + R"("free": true})"
        : kind == "fem"    ? R"("fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}})"
        : kind == "fixed fem"
            ? R"("fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}, "fixed": "z < 5 %"})"
        : kind == "greens"
            ? R"("greens": {"surface": "cube.obj", "fixed": "z < 5 %", "method": "fem",
                                "mesh": {"resolution": 4}})"
            : R"("particles": {"surface": "cube.obj", "count": 20})";
    return R"({"name": ")" + name + R"(", )" + source + contact +
           R"(, "pose": {"position": [0, 0, )" + std::to_string(z) + "]}}";
}

constexpr const char* kPoints =
    R"(, "contact": {"pointshell": {"points": 50, "levels": 1, "resolution": 16}})";
constexpr const char* kField = R"(, "contact": {"field": {"resolution": 16}})";

class Meetings : public testing::Test {
protected:
    void SetUp() override {
        save_surface(
            test::box_surface(Eigen::Vector3d::Constant(-0.05), Eigen::Vector3d::Constant(0.05)),
            folder_ / "cube.obj");
    }
    [[nodiscard]] std::vector<std::string> warnings(const std::string& bodies,
                                                    const std::string& more = "") const {
        const std::string text =
            R"({"pliant": 1, "loops": [{"name": "slow", "rate": 100}], "bodies": [)" + bodies +
            "]" + more + "}";
        return World(parse_scene(text, "scene.json", folder_ / ""), WorldOptions{.cache = {}})
            .warnings();
    }
    test::TemporaryDirectory folder_;
};

TEST_F(Meetings, FullFemBodiesThatFallOnEachOtherAreNamedWithTheRemedy) {
    const std::string two = cube("fixed fem", "low", 0) + "," + cube("fem", "up", 0.3);
    EXPECT_THAT(
        warnings(two),
        ElementsAre("\"low\" and \"up\" pass through each other: a full FEM body and a full FEM "
                    "body do not meet in this release; or, if they are meant to pass, write "
                    "\"ignore_contact\": [[\"low\", \"up\"]]"));
    EXPECT_THAT(warnings(two, R"(, "ignore_contact": [["up", "low"]])"), IsEmpty());
}

TEST_F(Meetings, TheTableIsTheSameForBothOrders) {
    for (int a = 0; a < kNumMeetingKinds; ++a)
        for (int b = 0; b < kNumMeetingKinds; ++b)
            EXPECT_EQ(meeting(static_cast<MeetingKind>(a), static_cast<MeetingKind>(b)),
                      meeting(static_cast<MeetingKind>(b), static_cast<MeetingKind>(a)))
                << a << ", " << b;
}

TEST_F(Meetings, EveryTwoKindsThatNothingLetsMeetAreNamed) {
    // what falls, and what it falls on
    const std::vector<std::string> upper{"thrown", "free", "fem", "particles"};
    const std::vector<std::string> lower{"still", "thrown",    "held",   "free",
                                         "fem",   "fixed fem", "greens", "particles"};
    for (const std::string& a : upper)
        for (const std::string& b : lower) {
            const auto is_fem = [](const std::string& kind) { return kind.ends_with("fem"); };
            const auto is_rigid = [](const std::string& kind) {
                return kind == "still" || kind == "thrown";
            };
            const bool do_meet = (is_fem(a) && is_rigid(b)) || (is_fem(b) && is_rigid(a));
            EXPECT_EQ(warnings(cube(a, "a", 0.3) + "," + cube(b, "b", 0)).size(), do_meet ? 0u : 1u)
                << a << " on " << b;
        }
}

TEST_F(Meetings, TheRemedyThatIsNamedIsOne) {
    const std::string thrown = cube("thrown", "box", 0.3), held = cube("held", "pad", 0);
    EXPECT_THAT(
        warnings(thrown + "," + held),
        ElementsAre(
            AllOf(HasSubstr("no entry of \"contacts\" lets them meet. Write {\"among\": [\"box\", "
                            "\"pad\"]} into \"contacts\""),
                  HasSubstr("\"box\" needs \"contact\": {\"pointshell\": {}}, \"pad\" needs "
                            "\"contact\": {\"field\": {}}"))));
    EXPECT_THAT(warnings(cube("thrown", "box", 0.3, kPoints) + "," + cube("held", "pad", 0, kField),
                         R"(, "contacts": [{"among": ["box", "pad"]}])"),
                IsEmpty());
    // one that is in an entry already
    const std::string three = cube("thrown", "box", 0.3, kPoints) + "," +
                              cube("still", "table", 0) + "," + cube("thrown", "ball", 0.6);
    EXPECT_THAT(warnings(three, R"(, "contacts": [{"among": ["box", "table"]}])"),
                ElementsAre(HasSubstr("Add \"ball\" to the \"among\" of contacts[0]"),
                            HasSubstr("Add \"ball\" to the \"among\" of contacts[0]")));
    // in it: primitives need no points among themselves, but meshes do
    const std::string all = R"(, "contacts": [{"among": ["box", "table", "ball"]}])";
    EXPECT_THAT(warnings(three, all), IsEmpty());
    EXPECT_THAT(warnings(cube("thrown", "box", 0.3, kPoints) + "," + cube("still", "table", 0) +
                             "," + cube("stone", "ball", 0.6, kField),
                         all),
                ElementsAre(AllOf(HasSubstr("\"table\" and \"ball\" pass through each other"),
                                  HasSubstr("Give the two of contacts[0] what it needs (\"ball\" "
                                            "needs \"contact\": {\"pointshell\": {}})"))));
    EXPECT_THAT(warnings(cube("thrown", "box", 0.3, kPoints) + "," + cube("still", "table", 0) +
                             "," + cube("thrown", "ball", 0.6, kPoints),
                         all),
                IsEmpty());
    // full FEM bodies touch rigid ones in their own loop
    const std::string other =
        R"({"name": "pad", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}},
            "loop": "slow", "pose": {"position": [0, 0, 0.3]}})";
    EXPECT_THAT(warnings(cube("still", "table", 0) + "," + other),
                ElementsAre(HasSubstr("in the loops \"haptic\" and \"slow\"; put both into one")));
}

TEST_F(Meetings, AScriptedBodyThatSweepsThroughASoftOneIsNamed) {
    const auto ball = [](double x) {
        return R"({"name": "ball", "rigid": {"sphere": {"radius": 0.02}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [-0.5, 0, 0]}, {"time": 1, "position": [)" +
               std::to_string(x) + R"(, 0, 0]}]}}}})";
    };
    const std::string pad = cube("held", "pad", 0, kField);
    EXPECT_THAT(warnings(pad + "," + ball(0.5)),
                ElementsAre(HasSubstr("Write {\"shell\": \"pad\", \"field\": \"ball\"}")));
    EXPECT_THAT(warnings(pad + "," + ball(-0.2)), IsEmpty()) << "it stops before";
}

TEST_F(Meetings, WhatNeverComesTogetherIsNotNamed) {
    const std::string floor = R"({"name": "floor", "rigid": {"ground": {}}})";
    // side by side; over a floor that carries it; both at rest
    EXPECT_THAT(warnings(cube("fem", "a", 0) + R"(,{"name": "b", "fem": {"box": {
        "sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}}, "pose": {"position": [0.1, 0, 0]}})"),
                IsEmpty());
    EXPECT_THAT(warnings(floor + "," + cube("fem", "a", 0.3) + "," + cube("held", "b", -0.5)),
                IsEmpty());
    EXPECT_THAT(warnings(cube("held", "a", 0) + "," + cube("fixed fem", "b", 0.05)), IsEmpty());
    EXPECT_THAT(
        warnings(cube("fem", "a", 0.3) + "," + cube("held", "b", 0), R"(, "gravity": [0, 0, 0])"),
        IsEmpty());
}

TEST_F(Meetings, CopiesThatFallOnEachOtherAreNamedOnce) {
    const std::string heap =
        R"({"name": "heap", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}},
            "copies": {"counts": [2, 1, 3], "spacing": [0.3, 0, 0.2]}})";
    EXPECT_THAT(warnings(heap),
                ElementsAre(HasSubstr("copies of \"heap\" pass through each other")));
    EXPECT_THAT(warnings(heap, R"(, "ignore_contact": [["heap", "heap"]])"), IsEmpty());
}

TEST_F(Meetings, ThousandsOfThrownCopiesAreLookedAtOnce) {
    // as many as there may be, on ways of 15 m that run beside each other
    const auto scene = [](const std::string& counts) {
        return parse_scene(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [{"name": "hail",
            "rigid": {"box": {"sizes": [0.05, 0.05, 0.05]}, "density": 500},
            "velocity": {"linear": [6, 4, 2]},
            "copies": {"counts": )" +
                               counts + R"(, "spacing": [1, 1, 0.2]}}]})",
                           "scene.json");
    };
    const auto compared = [&](const SceneDescription& description, std::size_t num_found) {
        const WorldOptions options{.cache = {}};
        WorldInMaking world(description, options, Progress::none());
        ToolMaker tools(world);
        BodyMaker(world, tools, options).make_all();
        std::uint64_t num_compared = 0;
        EXPECT_EQ(unmet_bodies(world, &num_compared).size(), num_found);
        return num_compared;
    };
    // each two by their 41 boxes would be 14 billion; it is about 60 for each box
    const SceneDescription many = scene("[64, 64, 1]");
    EXPECT_LT(compared(many, 0), 20'000'000u);
    const SceneDescription few = scene("[16, 16, 1]");
    EXPECT_GT(compared(few, 0), 100'000u) << "it is counted";
    // one layer above the other, in its way
    const SceneDescription layers = scene("[8, 8, 2]");
    EXPECT_LT(compared(layers, 1), 100'000u);
}

TEST(BoxTree, FindsWhatComparingEveryTwoFinds) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> place(0, 1), size(0, 0.15);
    const auto point = [&](auto& numbers) {
        return Eigen::Vector3d(numbers(random), numbers(random), numbers(random));
    };
    std::vector<BoxTree::Entry> entries;
    for (int i = 0; i < 300; ++i) {
        const Eigen::Vector3d low = point(place);
        entries.push_back({Box(low, low + point(size)), i});
    }
    const BoxTree tree(entries);
    std::size_t num_met = 0;
    for (const BoxTree::Entry& one : entries) {
        std::vector<int> slow, found;
        for (const BoxTree::Entry& other : entries)
            if (one.box.intersects(other.box)) slow.push_back(other.owner);
        EXPECT_FALSE(tree.any(one.box, [&](const BoxTree::Entry& other) {
            found.push_back(other.owner);
            return false;
        }));
        std::ranges::sort(found);
        EXPECT_EQ(found, slow);
        num_met += slow.size();
    }
    EXPECT_GT(num_met, entries.size() + 200) << "more than themselves";
    EXPECT_FALSE(BoxTree({}).any(entries[0].box, [](const BoxTree::Entry&) { return true; }));
}

TEST_F(Meetings, GroupsThatPassNameBodies) {
    EXPECT_THAT(test::input_error([&] {
                    (void)warnings(cube("still", "a", 0), R"(, "ignore_contact": [["a", "bee"]])");
                }),
                HasSubstr("ignore_contact[0] = [\"a\",\"bee\"] (expected names of bodies of the "
                          "scene: \"a\")"));
}

TEST_F(Meetings, StepsThatTakeLongerThanTheirPeriodAreExpectedAndSaid) {
    const auto with_modulus = [](const std::string& modulus) {
        return R"({"name": "b", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
            "material": {"youngs_modulus": )" +
               modulus + R"(, "poisson_ratio": 0.3, "density": 1000}}, "loop": "slow"})";
    };
    EXPECT_THAT(warnings(with_modulus("1e13")),
                ElementsAre(AllOf(HasSubstr("the loop \"slow\" will not keep its 100 Hz"),
                                  HasSubstr("most of it \"b\" with 125 elements in "),
                                  HasSubstr("Take a softer"))));
    EXPECT_THAT(warnings(with_modulus("1e5")), IsEmpty());
}

TEST_F(Meetings, AnOwnVolumeMeshThatIsFilledAnewIsSaidWithBothNumbers) {
    const VolumeMesh own =
        tet_box(1, 1, 1, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Constant(0.1)));
    save_volume(own, folder_ / "own.msh");
    EXPECT_THAT(
        warnings(R"({"name": "b", "fem": {"surface": "own.msh", "mesh": {"resolution": 4}}})"),
        ElementsAre(
            AllOf(HasSubstr("\"b\": own.msh: its own " + std::to_string(own.num_elements()) +
                            " tetrahedra are not used"),
                  HasSubstr("filled anew with 64 hexahedra"),
                  HasSubstr("build_fem(load_volume(\"own.msh\"))"))));
    EXPECT_THAT(
        warnings(R"({"name": "b", "reduced": {"surface": "own.msh", "mesh": {"resolution": 4},
                     "fixed": "z < 5 %", "modes": 2, "rank": 2}})"),
        ElementsAre(HasSubstr("filled anew with 64 hexahedra")));
    // of Green's functions, which keep no elements
    EXPECT_THAT(
        warnings(R"({"name": "b", "greens": {"surface": "own.msh", "fixed": "z < 5 %",
                     "method": "fem", "mesh": {"resolution": 4}}})"),
        ElementsAre(AllOf(
            HasSubstr("\"b\": own.msh: its own " + std::to_string(own.num_elements()) +
                      " tetrahedra are not used: its boundary was filled anew with "),
            HasSubstr(" of resolution 4. "), HasSubstr("build_greens(load_volume(\"own.msh\"))"))));
}

TEST_F(Meetings, ParticlesThatBeginBelowTheirPlaneAreSaid) {
    const auto at = [](const std::string& offset) {
        return R"({"name": "b", "particles": {"surface": "cube.obj", "count": 20,
                   "planes": [{"normal": [0, 0, 2], "offset": )" +
               offset + "}]}}";
    };
    EXPECT_THAT(warnings(at("0.08")),
                ElementsAre(HasSubstr("of its 20 particles begin below one of its \"planes\"")));
    EXPECT_THAT(warnings(at("-0.2")), IsEmpty());
}

}  // namespace
}  // namespace pliant
