#include "core/temporary_directory.h"
#include "geometry/volume_samples.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <bit>

namespace pliant {
namespace {

using test::expect_same_mesh;
using test::input_error;
using test::read_text;
using test::replaced;
using test::sample_hexes;
using test::sample_tets;

std::string msh_error(const std::string& text) {
    return input_error([&] { static_cast<void>(parse_msh(text, "body.msh")); });
}

#define EXPECT_MSH_ERROR(text, part) \
    EXPECT_NE(msh_error(text).find(part), std::string::npos) << msh_error(text)

// Tags with gaps and out of order, a triangle and a point beside the tetrahedra, a section that is
// not known, and names of groups in 2D and 3D.
const std::string kTets22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n3\n2 7 \"skin\"\n3 9 \"left lung\"\n3 4 \"heart\"\n$EndPhysicalNames\n"
    "$Nodes\n5\n10 0 0 0\n3 1 0 0\n700 0 1 0\n5 0 0 1\n1000000 1 1 1\n$EndNodes\n"
    "$Comments\nanything, even $Nodes\n$EndComments\n"
    "$Elements\n4\n1 15 2 0 1 10\n2 2 2 7 1 10 3 700\n3 4 2 9 1 10 3 700 5\n"
    "4 4 3 4 2 0 3 700 5 1000000\n$EndElements\n";

// The example of the Gmsh manual's format, with a hexahedron: two node blocks, the first one with
// parametric coordinates.
const std::string kHex41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n1\n3 12 \"block\"\n$EndPhysicalNames\n"
    "$Entities\n1 0 1 1\n1 0 0 0 0\n3 0 0 0 1 1 0 1 5 0\n8 0 0 0 1 1 1 1 -12 2 3 -3\n"
    "$EndEntities\n"
    "$Nodes\n2 8 1 20\n2 3 1 4\n1\n2\n3\n4\n0 0 0 .5 .5\n1 0 0 .5 .5\n1 1 0 .5 .5\n0 1 0 .5 .5\n"
    "3 8 0 4\n17\n18\n19\n20\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n$EndNodes\n"
    "$Elements\n2 2 1 2\n2 3 3 1\n1 1 2 3 4\n3 8 5 1\n2 1 2 3 4 17 18 19 20\n$EndElements\n";

TEST(Msh, ReadsVersion22WithSparseTagsAndNamedGroups) {
    const VolumeMesh mesh = parse_msh(kTets22, "body.msh");
    EXPECT_EQ(mesh.kind, ElementKind::Tet4);
    EXPECT_EQ(mesh.num_vertices(), 5);
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 1, 2, 3, 4}));
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"heart", "left lung"}));
    EXPECT_EQ(mesh.regions, (std::vector<int>{1, 0}));
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0 / 6.0);
}

TEST(Msh, ReadsVersion41WithEntitiesAndParametricNodes) {
    const VolumeMesh mesh = parse_msh(kHex41, "body.msh");
    EXPECT_EQ(mesh.kind, ElementKind::Hex8);
    EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(mesh.vertices[6], Eigen::Vector3d(1, 1, 1));
    EXPECT_TRUE(mesh.regions.empty());
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"block"}));
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), 1.0);
}

TEST(Msh, WindowsLineEndsAreRead) {
    for (const std::string& text : {kTets22, kHex41}) {
        expect_same_mesh(parse_msh(test::with_windows_line_ends(text), "w.msh"),
                         parse_msh(text, "u.msh"));
    }
}

TEST(Msh, WithoutPhysicalGroupsEntitiesBecomeRegions) {
    // tags 1 and 2 say no more than their order, 5 and 2 do
    std::string text = replaced(kTets22, "3 4 2 9 1", "3 4 2 0 1");
    text = replaced(text, "4 4 3 4 2 0", "4 4 3 0 2 0");
    VolumeMesh mesh = parse_msh(text, "body.msh");
    EXPECT_EQ(mesh.regions, (std::vector<int>{0, 1}));
    EXPECT_TRUE(mesh.region_names.empty());
    mesh = parse_msh(replaced(text, "3 4 2 0 1", "3 4 2 0 5"), "body.msh");
    EXPECT_EQ(mesh.regions, (std::vector<int>{1, 0}));
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"2", "5"}));
}

TEST(Msh, ElementsOutsideAllGroupsFormARegionOfTheirOwn) {
    const VolumeMesh mesh = parse_msh(replaced(kTets22, "3 4 2 9 1", "3 4 0"), "body.msh");
    EXPECT_EQ(mesh.region_names, (std::vector<std::string>{"0", "heart", "left lung"}));
    EXPECT_EQ(mesh.regions, (std::vector<int>{0, 1}));
}

struct Form {
    MshVersion version;
    bool binary;
};
constexpr Form kForms[] = {{MshVersion::V22, false},
                           {MshVersion::V22, true},
                           {MshVersion::V41, false},
                           {MshVersion::V41, true}};

TEST(Msh, RoundTripsBitForBitInAllFourForms) {
    const test::TemporaryDirectory directory;
    for (const Form form : kForms) {
        for (VolumeMesh mesh : {sample_tets(), sample_hexes()}) {
            save_msh(mesh, directory / "a.msh", form.version, form.binary);
            expect_same_mesh(load_volume(directory / "a.msh"), mesh);
            // without names, and without regions
            mesh.region_names.clear();
            save_msh(mesh, directory / "a.msh", form.version, form.binary);
            expect_same_mesh(load_volume(directory / "a.msh"), mesh);
            mesh.regions.clear();
            save_msh(mesh, directory / "a.msh", form.version, form.binary);
            expect_same_mesh(load_volume(directory / "a.msh"), mesh);
        }
    }
}

TEST(Msh, QuotesAndLineEndsInNamesAreReplacedOnWriting) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = sample_tets();
    mesh.region_names = {"the \"soft\" part", "two\nlines"};
    save_volume(mesh, directory / "a.msh");
    EXPECT_EQ(load_volume(directory / "a.msh").region_names,
              (std::vector<std::string>{"the 'soft' part", "two lines"}));
}

// Builds binary files number by number, in either byte order.
class Bytes {
public:
    explicit Bytes(std::endian order) : order_(order) {}
    Bytes& text(const std::string& text) {
        bytes_ += text;
        return *this;
    }
    template <class T>
    Bytes& put(T value) {
        std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
        if (order_ != std::endian::native) std::reverse(raw.begin(), raw.end());
        return text(raw);
    }
    [[nodiscard]] const std::string& str() const { return bytes_; }

private:
    std::endian order_;
    std::string bytes_;
};

constexpr double kTetNodes[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

std::string binary_tet_22(std::endian order) {
    Bytes file(order);
    file.text("$MeshFormat\n2.2 1 8\n").put(1).text("\n$EndMeshFormat\n$Nodes\n4\n");
    for (int v = 0; v < 4; ++v) {
        file.put(100 - v);
        for (const double x : kTetNodes[v]) file.put(x);
    }
    // a run of two points, then a run of one tetrahedron
    file.text("\n$EndNodes\n$Elements\n3\n").put(15).put(2).put(0);
    for (const int value : {1, 100, 2, 99}) file.put(value);
    for (const int value : {4, 1, 2, 3, 8, 1, 100, 99, 98, 97}) file.put(value);
    return file.text("\n$EndElements\n").str();
}

template <class Size>
std::string binary_tet_41(std::endian order) {
    Bytes file(order);
    const auto sizes = [&](std::initializer_list<int> values) {
        for (const int value : values) file.put(static_cast<Size>(value));
    };
    file.text("$MeshFormat\n4.1 1 " + std::to_string(sizeof(Size)) + "\n").put(1);
    file.text("\n$EndMeshFormat\n$Entities\n");
    sizes({0, 0, 0, 1});
    file.put(6);
    for (int k = 0; k < 6; ++k) file.put(0.5);
    sizes({1});
    file.put(8);
    sizes({2});
    file.put(1).put(-2).text("\n$EndEntities\n$Nodes\n");
    sizes({1, 4, 1, 50});
    file.put(3).put(6).put(0);
    sizes({4, 50, 2, 40, 1});
    for (const auto& node : kTetNodes) {
        for (const double x : node) file.put(x);
    }
    file.text("\n$EndNodes\n$Unknown\n").put(1e300).text("\n$EndUnknown\n$Elements\n");
    sizes({1, 1, 1, 1});
    file.put(3).put(6).put(4);
    sizes({1, 1, 50, 2, 40, 1});
    return file.text("\n$EndElements\n").str();
}

std::vector<std::string> binary_tets() {
    std::vector<std::string> files;
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        files.push_back(binary_tet_22(order));
        files.push_back(binary_tet_41<std::uint64_t>(order));
        files.push_back(binary_tet_41<std::uint32_t>(order));
    }
    return files;
}

TEST(Msh, BinaryIsReadInBothByteOrdersAndSizes) {
    for (const std::string& file : binary_tets()) {
        const VolumeMesh mesh = parse_msh(file, "tet.msh");
        EXPECT_EQ(mesh.elements, (std::vector<int>{0, 1, 2, 3}));
        for (std::size_t v = 0; v < 4; ++v) {
            EXPECT_EQ(mesh.vertices[v], Eigen::Vector3d(kTetNodes[v]));
        }
    }
}

TEST(Msh, EveryTruncationIsRefused) {
    const test::TemporaryDirectory directory;
    std::vector<std::string> files = binary_tets();
    files.push_back(kTets22);
    files.push_back(kHex41);
    for (const Form form : kForms) {
        save_msh(sample_hexes(), directory / "a.msh", form.version, form.binary);
        files.push_back(read_text(directory / "a.msh"));
    }
    for (const std::string& file : files) {
        // the last end mark may be missing its line end
        for (std::size_t size = 0; size + 1 < file.size(); ++size) {
            // a copy of its own, so that a sanitizer sees reads behind the end
            const std::vector<char> part(file.begin(), file.begin() + static_cast<long>(size));
            const std::string error = input_error([&] {
                static_cast<void>(parse_msh({part.data(), part.size()}, "cut.msh"));
            });
            EXPECT_EQ(error.rfind("cut.msh", 0), 0u) << size << ": " << error;
        }
    }
}

TEST(Msh, TruncatedBinaryIsRefusedWithByteCount) {
    const std::string file = binary_tet_22(std::endian::little);
    const std::size_t elements = file.find("$Elements");
    EXPECT_MSH_ERROR(
        file.substr(0, elements + 40),
        "body.msh: the file ends at byte " + std::to_string(elements + 40) + " inside element");
    const std::size_t nodes = file.find("$Nodes");
    EXPECT_MSH_ERROR(file.substr(0, nodes + 40), "number of nodes = 4 (expected at most");
}

TEST(Msh, ForeignAndOldVersionsAreRefused) {
    EXPECT_MSH_ERROR("", "first word");
    EXPECT_MSH_ERROR("solid ascii", "first word = solid (expected $MeshFormat");
    EXPECT_MSH_ERROR("$MeshFormat\n4 0 8\n$EndMeshFormat\n",
                     "body.msh:2: format version = 4 (expected 2.2 or 4.1");
    EXPECT_MSH_ERROR(replaced(kTets22, "2.2 0 8", "2.2 7 8"), "file type = 7 (expected 0 … 1)");
    EXPECT_MSH_ERROR(replaced(binary_tet_22(std::endian::little), "2.2 1 8", "2.2 1 4"),
                     "data size = 4 (expected 8)");
    Bytes mark(std::endian::little);
    mark.text("$MeshFormat\n2.2 1 8\n").put(256).text("\n$EndMeshFormat\n");
    EXPECT_MSH_ERROR(mark.str(), "the byte order mark, before byte 24: mark = 256");
}

TEST(Msh, MissingAndMisplacedSectionsAreRefused) {
    const std::string format = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    EXPECT_MSH_ERROR(format, "no section $Nodes");
    EXPECT_MSH_ERROR(kTets22.substr(0, kTets22.find("$Elements")), "no section $Elements");
    EXPECT_MSH_ERROR(format + kTets22.substr(kTets22.find("$Elements")), "before $Nodes");
    EXPECT_MSH_ERROR(replaced(kTets22, "$EndNodes", "6 1 1 1\n$EndNodes"),
                     "end of $Nodes = 6 (expected $EndNodes)");
    EXPECT_MSH_ERROR(kTets22 + "stray", "body.msh:28: text between sections = stray");
    EXPECT_MSH_ERROR(kTets22 + kTets22.substr(kTets22.find("$Elements")), "second section");
    EXPECT_EQ(msh_error(kTets22 + "$Nodes\n"), "body.msh:28: there is a second section $Nodes");
    EXPECT_EQ(msh_error(format + "$Nodes\n0\n$EndNodes\n"), "body.msh: $Nodes holds no nodes");
    EXPECT_MSH_ERROR(replaced(kTets22, "$EndComments", "$End"), "ends before $EndComments");
    EXPECT_MSH_ERROR(replaced(kHex41, "$Nodes", "$PartitionedEntities\n"), "without partitions");
    EXPECT_MSH_ERROR(replaced(kTets22, "\"heart\"", "heart"), "a name in double quotes");
}

TEST(Msh, SurfaceMeshesAreRefused) {
    const std::string text = kTets22.substr(0, kTets22.find("$Elements")) +
                             "$Elements\n1\n2 2 2 7 1 10 3 700\n$EndElements\n";
    EXPECT_MSH_ERROR(text, "the file has no tetrahedra or hexahedra");
}

TEST(Msh, OtherVolumeElementsAreRefusedByName) {
    EXPECT_MSH_ERROR(replaced(kTets22, "3 4 2 9 1", "3 11 2 9 1"),
                     "body.msh:25: element type = 11, a 10-node second-order tetrahedron "
                     "(expected 4, a 4-node tetrahedron, or 5, an 8-node hexahedron");
    EXPECT_MSH_ERROR(replaced(kTets22, "3 4 2 9 1", "3 6 2 9 1"), "6, a prism");
    EXPECT_MSH_ERROR(replaced(kTets22, "3 4 2 9 1", "3 7 2 9 1"), "7, a pyramid");
    EXPECT_MSH_ERROR(replaced(kHex41, "3 8 5 1\n", "3 8 17 1\n"), "20-node second-order hexa");
    EXPECT_MSH_ERROR(replaced(kHex41, "3 8 5 1\n", "3 8 555 1\n"), "element type = 555 (expected");
}

TEST(Msh, MixedElementsAreRefusedWithARemedy) {
    EXPECT_MSH_ERROR(
        replaced(kTets22, "4 4 3 4 2 0 3 700 5 1000000", "4 5 2 4 2 3 700 5 1000000 3 700 5 10"),
        "body.msh:26: the file has both tetrahedra and hexahedra, but a mesh has one "
        "kind of element: export only one kind, or split");
}

TEST(Msh, BadNodeTagsAreRefused) {
    EXPECT_MSH_ERROR(replaced(kTets22, "10 3 700 5\n", "10 3 700 6\n"),
                     "body.msh:25: node tag = 6 (expected a tag listed in $Nodes, within "
                     "3 … 1000000)");
    EXPECT_MSH_ERROR(replaced(kTets22, "10 3 700 5\n", "10 3 700 -5\n"), "node tag = -5");
    EXPECT_MSH_ERROR(replaced(kTets22, "700 0 1 0\n", "3 0 1 0\n"),
                     "the tag 3 belongs to two nodes, number 2 and 3 in $Nodes");
    EXPECT_MSH_ERROR(replaced(kHex41, "17 18 19 20\n", "17 18 19 21\n"),
                     "node tag = 21 (expected a tag listed in $Nodes, within 1 … 20)");
}

TEST(Msh, NumbersThatAreNotFiniteAreRefused) {
    EXPECT_MSH_ERROR(replaced(kTets22, "3 1 0 0", "3 nan 0 0"),
                     "body.msh:13: node coordinate = nan (expected a finite number)");
    EXPECT_MSH_ERROR(replaced(kHex41, "1 1 1\n0 1 1\n", "1 inf 1\n0 1 1\n"), "= inf");
    std::string file = binary_tet_22(std::endian::little);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(file.data() + file.find("$Nodes\n4\n") + 9 + 28 + 4, &nan, sizeof nan);
    EXPECT_MSH_ERROR(file, "node 1, before byte");
    EXPECT_MSH_ERROR(file, "node coordinate = nan (expected a finite number)");
}

TEST(Msh, HugeCountsAreRefusedBeforeMemoryIsTaken) {
    EXPECT_MSH_ERROR(replaced(kTets22, "$Nodes\n5", "$Nodes\n2000000000"),
                     "body.msh:11: number of nodes = 2000000000 (expected at most");
    EXPECT_MSH_ERROR(replaced(kTets22, "$Elements\n4", "$Elements\n99999999999"),
                     "number of elements = 99999999999");
    EXPECT_MSH_ERROR(replaced(kTets22, "$Elements\n4", "$Elements\n-1"), "number of elements = -1");
    EXPECT_MSH_ERROR(replaced(kHex41, "2 8 1 20", "2 1000000000 1 20"), "number of nodes = 10000");
    std::string file = binary_tet_41<std::uint64_t>(std::endian::little);
    const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
    std::memcpy(file.data() + file.find("$Nodes\n") + 7 + 8, &huge, sizeof huge);
    EXPECT_MSH_ERROR(file, "number of nodes = 18446744073709551615 (expected at most");
}

TEST(Msh, CountsThatDoNotAgreeAreRefused) {
    EXPECT_MSH_ERROR(replaced(kHex41, "2 8 1 20", "2 7 1 20"), "number of nodes in a block = 4");
    EXPECT_MSH_ERROR(replaced(kHex41, "2 8 1 20", "2 9 1 20"),
                     "number of nodes in all blocks = 8 (expected 9 as announced)");
    EXPECT_MSH_ERROR(replaced(kHex41, "2 2 1 2\n", "2 3 1 2\n"),
                     "number of elements in all blocks = 2 (expected 3 as announced)");
}

TEST(Msh, InvertedTetrahedraAreKept) {
    const VolumeMesh mesh =
        parse_msh(replaced(kTets22, "10 3 700 5\n", "3 10 700 5\n"), "body.msh");
    EXPECT_DOUBLE_EQ(element_volume(mesh, 0), -1.0 / 6.0);
}

}  // namespace
}  // namespace pliant
