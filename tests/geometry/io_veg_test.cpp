#include "core/temporary_directory.h"
#include "geometry/volume_samples.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

namespace pliant {
namespace {

using test::expect_same_mesh;
using test::input_error;
using test::replaced;

std::string veg_error(const std::string& text) {
    return input_error([&] { static_cast<void>(parse_veg(text, "body.veg")); });
}

#define EXPECT_VEG_ERROR(text, part) \
    EXPECT_NE(veg_error(text).find(part), std::string::npos) << veg_error(text)

// Counted from 1, with comments, commas, materials of two kinds and overlapping sets.
const std::string kVegTets =
    "# Vega mesh file\n"
    "*VERTICES\n5 3 0 0\n1 0 0 0\n2, 1, 0, 0\n3 0 1 0 # a corner\n4 0 0 1\n\n5 1 1 1\n"
    "*ELEMENTS\nTET\n3 4 0\n1 1 2 3 4\n2 2 3 4 5\n3 1 2 3 5\n"
    "*MATERIAL rubber\nENU, 1000, 1e6, 0.45\n"
    "*MATERIAL stone\nMOONEYRIVLIN, 1, 2, 3, 4\n"
    "*SET left part\n1,\n2,\n"
    "*SET top\n2, 3\n"
    "*SET unused\n1\n"
    "*REGION\nleft part, rubber\n"
    "*REGION\ntop, stone\n";

// Counted from 0.
const std::string kVegHex =
    "*VERTICES\n8 3 0 0\n0 0 0 0\n1 1 0 0\n2 1 1 0\n3 0 1 0\n4 0 0 1\n5 1 0 1\n6 1 1 1\n7 0 1 1\n"
    "*ELEMENTS\nCUBIC\n1 8 0\n0 0 1 2 3 4 5 6 7\n"
    "*MATERIAL m\nENU, 1000, 1e6, 0.45\n*REGION\nallElements, m\n";

TEST(Veg, ReadsTetsWithSetsAndRegions) {
    const VolumeMesh mesh = parse_veg(kVegTets, "body.veg");
    EXPECT_EQ(mesh.kind, ElementKind::Tet4);
    EXPECT_EQ(mesh.num_vertices(), 5);
    EXPECT_EQ(mesh.vertices[1], Eigen::Vector3d(1, 0, 0));
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2, 4}));
    // element 2 is in both sets: the later region counts
    EXPECT_EQ(mesh.regions, (std::vector<int>{0, 1, 1}));
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"leftpart", "top"}));
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0 / 6.0);
}

TEST(Veg, ReadsHexesCountedFromZero) {
    const VolumeMesh mesh = parse_veg(kVegHex, "body.veg");
    EXPECT_EQ(mesh.kind, ElementKind::Hex8);
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_TRUE(mesh.regions.empty());
    EXPECT_TRUE(mesh.region_names.empty());
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0);
}

TEST(Veg, ElementsOfNoRegionAreCalledUnassigned) {
    const VolumeMesh mesh =
        parse_veg(replaced(kVegTets, "2, 3\n", "3\n*SET more\n2\n"), "body.veg");
    EXPECT_EQ(mesh.regions, (std::vector<int>{0, 0, 1}));
    const VolumeMesh partly =
        parse_veg(replaced(kVegTets, "*REGION\nleft part, rubber\n", ""), "body.veg");
    EXPECT_EQ(partly.regions, (std::vector<int>{1, 0, 0}));
    EXPECT_EQ(partly.region_names, (std::vector<std::string>{"top", "unassigned"}));
}

TEST(Veg, LaterRegionOfAllElementsOverwritesEarlierOnes) {
    const std::string before =
        replaced(kVegTets, "*REGION\nleft", "*REGION\nallElements, m\n*REGION\nleft");
    EXPECT_EQ(parse_veg(before, "b.veg").region_names,
              (std::vector<std::string>{"allElements", "leftpart", "top"}));
    EXPECT_EQ(parse_veg(before, "b.veg").regions, (std::vector<int>{1, 2, 2}));
    const VolumeMesh mesh = parse_veg(kVegTets + "*REGION\nallElements, m\n", "b.veg");
    EXPECT_EQ(mesh.regions, (std::vector<int>{2, 2, 2}));
}

TEST(Veg, WindowsLineEndsAndLowerCaseAreRead) {
    expect_same_mesh(parse_veg(test::with_windows_line_ends(kVegTets), "w.veg"),
                     parse_veg(kVegTets, "u.veg"));
    const std::string lower = replaced(replaced(kVegTets, "*VERTICES", "*Vertices"), "TET", "tet");
    expect_same_mesh(parse_veg(lower, "l.veg"), parse_veg(kVegTets, "u.veg"));
}

TEST(Veg, RoundTripsBitForBit) {
    const test::TemporaryDirectory directory;
    for (VolumeMesh mesh : {test::sample_tets(), test::sample_hexes()}) {
        save_volume(mesh, directory / "a.veg");
        expect_same_mesh(load_volume(directory / "a.veg"), mesh);
        mesh.regions.clear();
        mesh.region_names.clear();
        save_volume(mesh, directory / "a.veg");
        expect_same_mesh(load_volume(directory / "a.veg"), mesh);
    }
}

TEST(Veg, NamesThatVegaCannotReadAreChanged) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = test::sample_hexes();
    mesh.region_names = {"left, lung", "left__lung", ""};
    save_volume(mesh, directory / "a.veg");
    const VolumeMesh back = load_volume(directory / "a.veg");
    EXPECT_EQ(back.region_names,
              (std::vector<std::string>{"left__lung", "left__lung_1", "region2"}));
    EXPECT_EQ(back.regions, mesh.regions);
}

TEST(Veg, EveryCutInsideTheElementsIsRefused) {
    const std::size_t end = kVegTets.find("*MATERIAL") - 4;
    for (std::size_t size = 0; size < end; ++size) {
        EXPECT_EQ(veg_error(kVegTets.substr(0, size)).rfind("body.veg:", 0), 0u) << size;
    }
    EXPECT_EQ(veg_error(kVegTets.substr(0, kVegTets.find("4 0 0 1"))),
              "body.veg:6: the file ends before vertex 4");
    // behind the elements, a cut file may be a legal shorter one
    for (std::size_t size = end; size < kVegTets.size(); ++size)
        veg_error(kVegTets.substr(0, size));
}

TEST(Veg, IncludesAreRefusedWithARemedy) {
    EXPECT_VEG_ERROR("*INCLUDE body.node\n",
                     "body.veg:1: *INCLUDE is not followed: merge the files by putting the text of "
                     "'body.node' here");
}

TEST(Veg, MissingSectionsAreRefused) {
    EXPECT_VEG_ERROR("", "no section *VERTICES");
    EXPECT_VEG_ERROR(kVegTets.substr(0, kVegTets.find("*ELEMENTS")), "no section *ELEMENTS");
    EXPECT_VEG_ERROR(kVegTets.substr(kVegTets.find("*ELEMENTS")),
                     "*ELEMENTS comes before *VERTICES");
    EXPECT_VEG_ERROR(kVegTets.substr(0, kVegTets.find("*ELEMENTS")) + "*SET a\n1\n",
                     "*SET comes before *ELEMENTS");
    EXPECT_VEG_ERROR(kVegTets + kVegTets, "there is a second section *VERTICES");
    EXPECT_VEG_ERROR(kVegTets + kVegTets.substr(kVegTets.find("*ELEMENTS")),
                     "second section *ELEMENTS");
    EXPECT_VEG_ERROR("*BANANA\n", "section = *BANANA (expected *VERTICES");
}

TEST(Veg, BadIndicesAreRefusedWithTheirRange) {
    EXPECT_VEG_ERROR(replaced(kVegTets, "2 2 3 4 5", "2 2 3 4 6"),
                     "body.veg:14: vertex index = 6 (expected 1 … 5)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "2 2 3 4 5", "2 2 3 4 0"),
                     "vertex index = 0 (expected 1 … 5)");
    EXPECT_VEG_ERROR(replaced(kVegHex, "5 6 7\n", "5 6 8\n"), "vertex index = 8 (expected 0 … 7)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "2, 3\n", "2, 4\n"), "element number = 4 (expected 1 … 3)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "2, 3\n", "0, 3\n"), "element number = 0 (expected 1 … 3)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "4 0 0 1\n", "3 0 0 1\n"),
                     "body.veg:7: vertex number = 3 (expected 4, one more than the row before)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "1 0 0 0\n", "7 0 0 0\n"),
                     "vertex number = 7 (expected 0 … 1)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "2 2 3 4 5", "1 2 3 4 5"),
                     "element number = 1 (expected 2,");
}

TEST(Veg, BadValuesAndRowsAreRefused) {
    EXPECT_VEG_ERROR(replaced(kVegTets, "4 0 0 1\n", "4 0 nan 1\n"),
                     "body.veg:7: coordinate = nan (expected a finite number)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "4 0 0 1\n", "4 0 0\n"),
                     "the line ends before the coordinate");
    EXPECT_VEG_ERROR(replaced(kVegTets, "\n5 1 1 1\n", "\n5 1 1 1\n6 1 1 1\n"), "section = 6");
    EXPECT_VEG_ERROR(replaced(kVegTets, "5 3 0 0", "5 2 0 0"), "dimension = 2 (expected 3 … 3)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "TET", "PRISM"),
                     "kind of elements = PRISM (expected TET or CUBIC)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "3 4 0\n", "3 8 0\n"), "vertices of a TET element = 8");
    EXPECT_VEG_ERROR(replaced(kVegTets, "*REGION\ntop", "*REGION\nbottom"),
                     "set of the region = bottom (expected a *SET before it, or allElements)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "*SET unused", "*SET top"),
                     "the set 'top' is defined twice");
    EXPECT_VEG_ERROR(replaced(kVegTets, "*SET unused", "*SET"), "*SET needs a name");
    EXPECT_EQ(veg_error("*VERTICES\n0 3 0 0\n"),
              "body.veg:2: number of vertices = 0 (expected 1 or more)");
    EXPECT_EQ(veg_error(replaced(kVegTets, "3 4 0\n", "0 4 0\n")),
              "body.veg:12: number of elements = 0 (expected 1 or more)");
}

TEST(Veg, HugeCountsAreRefusedBeforeMemoryIsTaken) {
    EXPECT_VEG_ERROR(replaced(kVegTets, "5 3 0 0", "2000000000 3 0 0"),
                     "body.veg:3: number of vertices = 2000000000 (expected at most");
    EXPECT_VEG_ERROR(replaced(kVegTets, "3 4 0\n", "2000000000 4 0\n"),
                     "number of elements = 2000000000 (expected 0 … 268435455)");
    EXPECT_VEG_ERROR(replaced(kVegTets, "3 4 0\n", "200000000 4 0\n"),
                     "number of elements = 200000000 (expected at most");
}

}  // namespace
}  // namespace pliant
