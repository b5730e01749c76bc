// Bodies with Green's functions that are pressed and stroked as anybody would.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "everyday/everyday_scene.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/greens_touch.h"

namespace pliant {
namespace {

using test::EverydayScene;

/// The surface of a box around the origin, of so many cells along each side, as a file.
std::string box_file(const std::string& name, const Eigen::Vector3d& sizes,
                     const Eigen::Vector3i& cells) {
    SurfaceMesh mesh;
    std::map<std::tuple<int, int, int>, int> known;
    const auto vertex = [&](const Eigen::Vector3i& at) {
        const auto [place, is_new] =
            known.try_emplace({at[0], at[1], at[2]}, static_cast<int>(known.size()));
        if (is_new)
            mesh.vertices.push_back(
                (at.cast<double>().cwiseQuotient(cells.cast<double>()).array() - 0.5).matrix()
                    .cwiseProduct(sizes));
        return place->second;
    };
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {0, 1})
            for (int i = 0; i < cells[(axis + 1) % 3]; ++i)
                for (int j = 0; j < cells[(axis + 2) % 3]; ++j) {
                    const auto corner = [&](int di, int dj) {
                        Eigen::Vector3i at;
                        at[axis] = side * cells[axis];
                        at[(axis + 1) % 3] = i + di;
                        at[(axis + 2) % 3] = j + dj;
                        return vertex(at);
                    };
                    const int a = corner(0, 0), b = corner(1, 0), c = corner(1, 1),
                              d = corner(0, 1);
                    if (side == 1) {
                        mesh.triangles.push_back({a, b, c});
                        mesh.triangles.push_back({a, c, d});
                    } else {
                        mesh.triangles.push_back({a, c, b});
                        mesh.triangles.push_back({a, d, c});
                    }
                }
    const auto path = std::filesystem::temp_directory_path() / ("pliant-everyday-" + name + ".obj");
    save_surface(mesh, path);
    return path.string();
}

/// A block of 1 m × 1 m × 0.5 m and 100 kPa without lateral strain, held below. A plate larger than
/// the block comes down onto it in `seconds`, `press` deep, and stays.
std::string block_under_a_plate(const std::string& how, const std::string& contact,
                                double press = 0.005) {
    const double high = 0.3505, low = 0.35 - press;
    const auto frame = [](double time, double z) {
        return R"({"time": )" + std::to_string(time) + R"(, "position": [0, 0, )" +
               std::to_string(z) + "]}";
    };
    return R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "touch", "rate": 50}],
        "bodies": [{"name": "block", "loop": "touch", "greens": {"surface": ")" +
           box_file("block", {1, 1, 0.5}, {10, 10, 5}) +
           R"(", "material": {"youngs_modulus": 100000, "poisson_ratio": 0, "density": 1000},
            "fixed": "z < 0.5 %")" +
           how + R"(}},
        {"name": "plate", "loop": "touch", "rigid": {"box": {"sizes": [2, 2, 0.2]},
            "motion": {"path": {"keyframes": [)" +
           frame(0, high) + ", " + frame(1, low) + ", " + frame(3, low) + R"(]}}},
            "pose": {"position": [0, 0, )" +
           std::to_string(high) + R"(]}}],
        "contacts": [{"greens": "block", "tools": ["plate"])" +
           contact + "}]}";
}

const GreensTouch& touch_of(EverydayScene& scene) {
    World& world = scene.world();
    return *world.loop(world.bodies().front().loop).contact(0).greens();
}

struct Pressed {
    const char* source;
    std::string text;
};
std::ostream& operator<<(std::ostream& out, const Pressed& pressed) {
    return out << pressed.source;
}

class EverydayGreensPress : public testing::TestWithParam<Pressed> {};

// F = E A δ / h = 100 kPa · 1 m² · 5 mm / 0.5 m = 1,000 N. It was 2,659 N with voxels, whose stairs
// the plate touched, 346 N with tetrahedra, of which 160 nodes on one side were held, and 10¹⁵ N
// with doubled nodes along the edges.
TEST_P(EverydayGreensPress, APlatePressesABlockWithTheForceOfTheory) {
    for (const char* const contact : {R"(, "sliding": true)", ""}) {
        EverydayScene scene(block_under_a_plate(GetParam().text, contact));
        double largest = 0;
        scene.run(1.5, [&] {
            largest = std::max(largest, touch_of(scene).load(0).force.norm());
        });
        const Eigen::Vector3d force = touch_of(scene).load(0).force;
        EXPECT_NEAR(force.z(), 1000, 15) << contact;
        EXPECT_LT(force.head<2>().norm(), 5) << contact;
        EXPECT_LT(largest, 1015) << contact;
        EXPECT_EQ(scene.num_troubled_steps("block"), 0u) << contact;
        // what is drawn is what is touched: the block ends where the plate begins
        EXPECT_NEAR(scene.see("block").highest(), 0.245, 0.0005) << contact;
        EXPECT_NEAR(scene.see("block").lowest(), -0.25, 0.0005) << contact;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Sources, EverydayGreensPress,
    testing::Values(
        Pressed{"boundary_elements", ""},
        Pressed{"doubled_nodes", R"(, "crease_degrees": 30)"},
        Pressed{"voxels", R"(, "method": "fem", "mesh": {"kind": "voxel", "resolution": 10})"},
        Pressed{"coarse_voxels",
                R"(, "method": "fem", "mesh": {"kind": "voxel", "resolution": 7})"},
        Pressed{"tets", R"(, "method": "fem", "mesh": {"kind": "tet", "resolution": 8})"}),
    [](const auto& info) { return std::string(info.param.source); });

// Where a plate touches more nodes than may be held, those that are held are spread evenly, and the
// body says that it ran out of room.
TEST(EverydayGreens, ManyNodesUnderAPlateAreThinnedOutAndThatIsSaid) {
    EverydayScene scene(block_under_a_plate(
        R"(, "method": "fem", "mesh": {"kind": "tet", "resolution": 11})", ""));
    scene.run(1.5);
    const GreensTouch& touch = touch_of(scene);
    ShownGreens shown;
    touch.show(shown);
    EXPECT_EQ(shown.num_nodes, 213);  // 640 conditions
    EXPECT_NEAR(touch.load(0).force.z(), 1000, 50);
    EXPECT_LT(touch.load(0).force.head<2>().norm(), 10);
    EXPECT_GT(scene.num_troubled_steps("block"), 20u);
}

// A box is stroked over the edge of a cube with doubled nodes, then pushed into its side and up.
TEST(EverydayGreens, ForcesOverAnEdgeAreNoMoreThanTheCubeBears) {
    for (const std::string tool :
         {R"("box": {"sizes": [0.3, 0.3, 0.3]})", R"("sphere": {"radius": 0.2})"})
        for (const char* const contact : {R"(, "sliding": true)", ""}) {
            EverydayScene scene(
                R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "touch", "rate": 100}],
                "bodies": [{"name": "cube", "loop": "touch", "greens": {"surface": ")" +
                box_file("cube", {1, 1, 1}, {6, 6, 6}) +
                R"(", "material": {"youngs_modulus": 100000, "poisson_ratio": 0.4,
                    "density": 1000}, "fixed": "z < 1 %", "crease_degrees": 30}},
                {"name": "tool", "loop": "touch", "rigid": {)" +
                tool + R"(, "motion": {"path": {"keyframes": [
                    {"time": 0, "position": [0, 0, 0.8]}, {"time": 1, "position": [0, 0, 0.6]},
                    {"time": 3, "position": [0.8, 0.3, 0.6]}, {"time": 4, "position": [0.8, 0, 0]},
                    {"time": 5, "position": [0.5, 0, 0]}, {"time": 6, "position": [0.4, 0, 0.8]}
                ]}}}, "pose": {"position": [0, 0, 0.8]}}],
                "contacts": [{"greens": "cube", "tools": ["tool"])" +
                contact + "}]}");
            double largest = 0;
            scene.run(6.5, [&] {
                largest = std::max(largest, touch_of(scene).load(0).force.norm());
            });
            // E A of the cube: what would press it flat
            EXPECT_GT(largest, 1e3) << tool << contact;
            EXPECT_LT(largest, 1e5) << tool << contact;
            EXPECT_EQ(touch_of(scene).load(0).force.norm(), 0) << tool << contact;
        }
}

}  // namespace
}  // namespace pliant
