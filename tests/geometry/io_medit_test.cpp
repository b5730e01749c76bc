#include "core/temporary_directory.h"
#include "geometry/volume_samples.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

namespace pliant {
namespace {

using test::expect_same_mesh;
using test::input_error;
using test::replaced;

std::string medit_error(const std::string& text) {
    return input_error([&] { static_cast<void>(parse_medit(text, "body.mesh")); });
}

#define EXPECT_MEDIT_ERROR(text, part) \
    EXPECT_NE(medit_error(text).find(part), std::string::npos) << medit_error(text)

const std::string kMeditTets =
    "MeshVersionFormatted 1\n\nDimension\n3\n\n# the points\nVertices\n5\n"
    "0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n1 1 1 2\n"
    "Edges\n2\n1 2 0\n2 3 0\nRidges 1\n1\nTriangles\n1\n1 2 3 7\n"
    "Tetrahedra\n2\n1 2 3 4 3\n2 3 4 5 2\nHexahedra 0\nNormals\n1\n0 0 1\nEnd\n";

const std::string kMeditHex =
    "MeshVersionFormatted 2 Dimension 3\nVertices 8\n"
    "0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 0\n1 1 1 0\n0 1 1 0\n"
    "Hexahedra 1\n1 2 3 4 5 6 7 8 0\n";

TEST(Medit, ReadsTetsAndSkipsOtherSections) {
    const VolumeMesh mesh = parse_medit(kMeditTets, "body.mesh");
    EXPECT_EQ(mesh.kind, ElementKind::Tet4);
    EXPECT_EQ(mesh.num_vertices(), 5);
    EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(1, 1, 1));
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 1, 2, 3, 4}));
    EXPECT_EQ(mesh.regions, (std::vector<int>{1, 0}));
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"2", "3"}));
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0 / 6.0);
}

TEST(Medit, ReadsHexesWithCountsOnTheLineOfTheKeyword) {
    const VolumeMesh mesh = parse_medit(kMeditHex, "body.mesh");
    EXPECT_EQ(mesh.kind, ElementKind::Hex8);
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_TRUE(mesh.regions.empty());
    EXPECT_TRUE(mesh.region_names.empty());
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0);
}

TEST(Medit, WindowsLineEndsAreRead) {
    expect_same_mesh(parse_medit(test::with_windows_line_ends(kMeditTets), "w"),
                     parse_medit(kMeditTets, "u"));
}

TEST(Medit, RoundTripsBitForBit) {
    const test::TemporaryDirectory directory;
    for (VolumeMesh mesh : {test::sample_tets(), test::sample_hexes()}) {
        mesh.region_names.clear();  // the format has none
        save_volume(mesh, directory / "a.mesh");
        expect_same_mesh(load_volume(directory / "a.mesh"), mesh);
        mesh.regions.clear();
        save_volume(mesh, directory / "a.mesh");
        expect_same_mesh(load_volume(directory / "a.mesh"), mesh);
    }
}

TEST(Medit, EveryTruncationIsRefused) {
    const std::size_t end = kMeditTets.find("2\nHexahedra");
    for (std::size_t size = 0; size < end; ++size) {
        EXPECT_EQ(medit_error(kMeditTets.substr(0, size)).rfind("body.mesh:", 0), 0u) << size;
    }
    // with room for as many short rows as there should be
    EXPECT_EQ(medit_error(kMeditTets.substr(0, kMeditTets.find("1 1 1 2") + 6)),
              "body.mesh:13: the file ends before reference");
    for (std::size_t size = end; size < kMeditTets.size(); ++size)
        medit_error(kMeditTets.substr(0, size));
}

TEST(Medit, ForeignFilesAreRefused) {
    EXPECT_MEDIT_ERROR("", "first word");
    EXPECT_MEDIT_ERROR("mfem mesh v1.0\n", "body.mesh:1: first word = mfem (expected MeshVersion");
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Formatted 2", "Formatted 9"),
                       "MeshVersionFormatted = 9");
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Dimension 3", "Dimension 2"),
                       "body.mesh:1: Dimension = 2 (expected 3 … 3)");
}

TEST(Medit, MissingAndMisplacedSectionsAreRefused) {
    EXPECT_MEDIT_ERROR("MeshVersionFormatted 1\nDimension 3\nEnd\n", "the file has no Vertices");
    EXPECT_MEDIT_ERROR(kMeditHex.substr(0, kMeditHex.find("Hexahedra")),
                       "the file has no Tetrahedra and no Hexahedra");
    EXPECT_MEDIT_ERROR("MeshVersionFormatted 1\nTetrahedra 1\n1 2 3 4 0\n",
                       "the section Tetrahedra comes before Vertices");
    EXPECT_MEDIT_ERROR(kMeditHex + kMeditHex.substr(kMeditHex.find("Hexahedra")),
                       "second section Hexahedra");
    EXPECT_EQ(medit_error(kMeditHex + "Vertices 1\n0 0 0 0\n"),
              "body.mesh:13: there is a second section Vertices");
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Hexahedra", "0 0 9 0\nHexahedra"),
                       "body.mesh:11: keyword = 0 (expected a section such as Vertices)");
}

TEST(Medit, MixedAndOtherElementsAreRefused) {
    EXPECT_MEDIT_ERROR(kMeditHex + "Tetrahedra 1\n1 2 3 4 0\n",
                       "the file has both tetrahedra and hexahedra");
    EXPECT_MEDIT_ERROR(kMeditHex + "Prisms\n1\n1 2 3 4 5 6 0\n",
                       "Prisms = 1 (expected 0: only first");
    EXPECT_MEDIT_ERROR(kMeditHex + "TetrahedraP2\n1\n1 2 3 4 5 6 7 8 1 2 0\n", "TetrahedraP2 = 1");
}

TEST(Medit, BadIndicesAndValuesAreRefused) {
    EXPECT_MEDIT_ERROR(replaced(kMeditTets, "2 3 4 5 2", "2 3 4 6 2"),
                       "body.mesh:26: vertex index = 6 (expected 1 … 5)");
    EXPECT_MEDIT_ERROR(replaced(kMeditTets, "2 3 4 5 2", "0 3 4 5 2"), "vertex index = 0");
    EXPECT_MEDIT_ERROR(replaced(kMeditTets, "1 1 1 2", "1 nan 1 2"),
                       "body.mesh:13: vertex coordinate = nan (expected a finite number)");
    EXPECT_MEDIT_ERROR(replaced(kMeditTets, "1 1 1 2", "1 1 1 x"),
                       "reference = x (expected an integer)");
}

TEST(Medit, HugeCountsAreRefusedBeforeMemoryIsTaken) {
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Vertices 8", "Vertices 2000000000"),
                       "body.mesh:2: number of vertices = 2000000000 (expected at most");
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Hexahedra 1", "Hexahedra 2000000000"),
                       "number of Hexahedra = 2000000000 (expected 0 … 268435455)");
    EXPECT_MEDIT_ERROR(replaced(kMeditHex, "Hexahedra 1", "Hexahedra 200000000"),
                       "number of Hexahedra = 200000000 (expected at most");
}

}  // namespace
}  // namespace pliant
