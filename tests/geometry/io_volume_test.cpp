#include "core/temporary_directory.h"
#include "geometry/volume_samples.h"
#include "input_error.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/mesh_io.h"

#include <functional>

namespace pliant {
namespace {

using test::expect_same_mesh;
using test::input_error;
using test::sample_hexes;
using test::sample_tets;

// Everything a mesh can hold.
VolumeMesh full_mesh() {
    VolumeMesh mesh = sample_hexes();
    mesh.filled = {1.0, 0.1, 1.0 / 3.0, 0.0};
    mesh.region_names = {"a", "", "long name with blanks"};
    mesh.hanging = {{3, 2, {0, 1, -1, -1}, 0.5}, {9, 4, {4, 5, 6, 7}, 0.25}};
    return mesh;
}

void expect_same_hanging(const VolumeMesh& actual, const VolumeMesh& expected) {
    ASSERT_EQ(actual.hanging.size(), expected.hanging.size());
    for (std::size_t i = 0; i < expected.hanging.size(); ++i) {
        EXPECT_EQ(actual.hanging[i].vertex, expected.hanging[i].vertex);
        EXPECT_EQ(actual.hanging[i].num_masters, expected.hanging[i].num_masters);
        EXPECT_EQ(actual.hanging[i].masters, expected.hanging[i].masters);
        EXPECT_EQ(actual.hanging[i].weight, expected.hanging[i].weight);
    }
}

TEST(VolumeFiles, KindIsKnownByExtensionInAnyCase) {
    for (const char* name : {"a.msh", "a.veg", "a.mesh", "a.node", "a.ele", "a.pliant", "b.MSH"}) {
        EXPECT_TRUE(is_volume_file(name)) << name;
    }
    for (const char* name : {"a.vtu", "a.obj", "msh", "a.mshx", ""}) {
        EXPECT_FALSE(is_volume_file(name)) << name;
    }
}

TEST(VolumeFiles, UnknownExtensionsAreRefusedWithTheKnownOnes) {
    std::string error = input_error([] { return load_volume("body.abc"); });
    EXPECT_EQ(error,
              "body.abc: file extension = .abc (expected .msh, .veg, .mesh, .node, .ele or "
              ".pliant)");
    error = input_error([] { save_volume(sample_tets(), "body.abc"); });
    EXPECT_NE(error.find(".vtu or .pliant"), std::string::npos) << error;
}

TEST(VolumeFiles, MissingFilesAreNamed) {
    for (const char* name : {"/none/a.msh", "/none/a.veg", "/none/a.node", "/none/a.pliant"}) {
        const std::string error = input_error([&] { return load_volume(name); });
        EXPECT_EQ(error.rfind("/none/a.", 0), 0u) << error;
    }
}

TEST(VolumeFiles, MeshesThatNoReaderTakesAreNotSaved) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = sample_tets();
    mesh.vertices[3][1] = std::numeric_limits<double>::quiet_NaN();
    for (const char* name : {"a.msh", "a.veg", "a.mesh", "a.node", "a.vtu", "a.pliant"}) {
        const std::string error = input_error([&] { save_volume(mesh, directory / name); });
        EXPECT_NE(error.find("vertex 3 of the mesh to save is not finite"), std::string::npos);
        EXPECT_NE(input_error([&] { save_volume({}, directory / name); }).find("no elements"),
                  std::string::npos);
    }
    EXPECT_EQ(directory.num_files(), 0u);
}

TEST(VolumeFiles, GapsInRegionsAreClosedAndTheOldNumbersBecomeNames) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = sample_tets();
    mesh.region_names.clear();
    mesh.regions = {5, 2};
    for (const char* name : {"a.msh", "a.mesh", "a.node"}) {
        save_volume(mesh, directory / name);
        const VolumeMesh back = load_volume(directory / name);
        EXPECT_EQ(back.regions, (std::vector<int>{1, 0})) << name;
        EXPECT_EQ(back.region_names, (std::vector<std::string>{"3", "6"})) << name;
    }
}

TEST(VolumeArchive, EverythingRoundTripsBitForBit) {
    const test::TemporaryDirectory directory;
    for (const VolumeMesh& mesh : {sample_tets(), full_mesh()}) {
        save_volume(mesh, directory / "a.pliant");
        const VolumeMesh back = load_volume(directory / "a.pliant");
        expect_same_mesh(back, mesh);
        EXPECT_EQ(back.filled, mesh.filled);
        expect_same_hanging(back, mesh);
    }
}

TEST(VolumeArchive, AMeshOfVerticesAndElementsOnlyHasTwoChunks) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = sample_tets();
    mesh.regions.clear();
    mesh.region_names.clear();
    save_volume(mesh, directory / "a.pliant");
    const Archive archive(directory / "a.pliant");
    EXPECT_EQ(archive.kind(), "volume-mesh");
    EXPECT_EQ(archive.info("mesh/vertices").shape, (std::vector<std::uint64_t>{5, 3}));
    EXPECT_EQ(archive.info("mesh/elements").shape, (std::vector<std::uint64_t>{2, 4}));
    for (const char* name : {"regions", "region_names", "filled", "hanging/vertices"}) {
        EXPECT_FALSE(archive.has(std::string("mesh/") + name)) << name;
    }
    expect_same_mesh(load_volume(directory / "a.pliant"), mesh);
}

TEST(VolumeArchive, OtherArchivesAreRefused) {
    const test::TemporaryDirectory directory;
    const VolumeMesh mesh = sample_tets();
    ArchiveWriter writer("reduced-model");
    const VolumeMeshChunks chunks = add_volume_mesh(writer, mesh);
    writer.save(directory / "a.pliant");
    const std::string error = input_error([&] { return load_volume(directory / "a.pliant"); });
    EXPECT_NE(error.find("volume-mesh"), std::string::npos) << error;
    // a model that holds a mesh can be asked for it
    expect_same_mesh(read_volume_mesh(Archive(directory / "a.pliant"), "a"), mesh);
}

TEST(VolumeArchive, DamageIsFoundByTheChecksum) {
    const test::TemporaryDirectory directory;
    save_volume(sample_hexes(), directory / "a.pliant");
    std::string bytes = test::read_text(directory / "a.pliant");
    const std::uint64_t offset = Archive(directory / "a.pliant").info("mesh/vertices").offset;
    bytes[offset + 3] = static_cast<char>(bytes[offset + 3] ^ 1);
    test::write_text(directory / "b.pliant", bytes);
    const std::string error = input_error([&] { return load_volume(directory / "b.pliant"); });
    EXPECT_NE(error.find("mesh/vertices"), std::string::npos) << error;
}

TEST(VolumeArchive, EveryTruncationIsRefused) {
    const test::TemporaryDirectory directory;
    save_volume(full_mesh(), directory / "a.pliant");
    const std::string bytes = test::read_text(directory / "a.pliant");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
        const std::vector<std::byte> part(first, first + size);
        const std::string error = input_error([&] {
            const Archive archive = Archive::from_bytes(part, "cut");
            return read_volume_mesh(archive, "cut");
        });
        EXPECT_EQ(error.rfind("cut", 0), 0u) << size << ": " << error;
    }
}

// The chunks of two tetrahedra on five vertices, to be spoiled one by one.
struct RawMesh {
    std::vector<double> vertices = std::vector<double>(15, 0.5), filled{1, 0.5};
    std::vector<int> elements{0, 1, 2, 3, 1, 2, 3, 4}, regions{0, 1};
    std::vector<int> hanging{4}, masters{0, 1, -1, -1};
    std::vector<char> names{'a', '\0', 'b', '\0'};
    std::vector<std::uint64_t> vertex_shape{5, 3}, element_shape{2, 4}, master_shape{1, 4};
};

std::string raw_error(const std::function<void(RawMesh&)>& spoil) {
    const test::TemporaryDirectory directory;
    RawMesh raw;
    spoil(raw);
    ArchiveWriter writer("volume-mesh");
    writer.add<double>("mesh/vertices", raw.vertices, raw.vertex_shape);
    writer.add<int>("mesh/elements", raw.elements, raw.element_shape);
    writer.add<int>("mesh/regions", raw.regions);
    writer.add<double>("mesh/filled", raw.filled);
    writer.add<char>("mesh/region_names", raw.names);
    writer.add<int>("mesh/hanging/vertices", raw.hanging);
    writer.add<int>("mesh/hanging/masters", raw.masters, raw.master_shape);
    writer.save(directory / "m.pliant");
    return input_error(
        [&] { return read_volume_mesh(Archive(directory / "m.pliant"), "m.pliant"); });
}

TEST(VolumeArchive, BadContentsAreRefusedByChunkAndIndex) {
    EXPECT_EQ(raw_error([](RawMesh&) {}), "");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.elements[6] = 5; }),
              "m.pliant: mesh/elements[6] = 5 (expected 0 … 4)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.elements[0] = -1; }),
              "m.pliant: mesh/elements[0] = -1 (expected 0 … 4)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.vertices.clear();
                  raw.vertex_shape = {0, 3};
              }),
              "m.pliant: mesh/elements[0] = 0 (expected none: there are no vertices)");
    EXPECT_EQ(
        raw_error([](RawMesh& raw) { raw.vertices[7] = std::numeric_limits<double>::quiet_NaN(); }),
        "m.pliant: mesh/vertices[7] = nan (expected a finite number)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.vertex_shape = {15}; }),
              "m.pliant: mesh/vertices, shape = [15] (expected n × 3)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.element_shape = {4, 2};
              }),
              "m.pliant: mesh/elements, shape = [4, 2] (expected n × 4 for tetrahedra or n × 8 "
              "for hexahedra)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.regions = {0}; }),
              "m.pliant: mesh/regions, length = 1 (expected 2, one for each element)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.regions[1] = 2000000000; }),
              "m.pliant: mesh/regions[1] = 2000000000 (expected 0 … 65535)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.filled[1] = 1.5; }),
              "m.pliant: mesh/filled[1] = 1.500000 (expected 0 … 1)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.names.back() = 'c'; }),
              "m.pliant: mesh/region_names, last byte = 99 (expected 0 behind each name)");
    EXPECT_EQ(raw_error([](RawMesh& raw) { raw.hanging[0] = 9; }),
              "m.pliant: mesh/hanging/vertices[0] = 9 (expected 0 … 4)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.masters = {0, 1, 7, 2};
              }),
              "m.pliant: mesh/hanging/masters[0][2] = 7 (expected 0 … 4)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.masters = {0, 1, 2, -1};
              }),
              "m.pliant: mesh/hanging/masters[0] = 3 vertices (expected 2 or 4, then -1)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.masters = {0, 1, -1, 2};
              }),
              "m.pliant: mesh/hanging/masters[0] = 2 vertices (expected 2 or 4, then -1)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.masters = {0, 0, -1, -1};
              }),
              "m.pliant: mesh/hanging/masters[0][1] = 0 (expected another vertex than before)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.masters = {0, 4, -1, -1};
              }),
              "m.pliant: mesh/hanging/masters[0][1] = 4 (expected a vertex that does not hang "
              "itself)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.hanging = {4, 3};
                  raw.masters = {0, 1, -1, -1, 2, 4, -1, -1};
                  raw.master_shape = {2, 4};
              }),
              "m.pliant: mesh/hanging/masters[1][1] = 4 (expected a vertex that does not hang "
              "itself)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.hanging = {4, 4};
                  raw.masters = {0, 1, -1, -1, 1, 2, -1, -1};
                  raw.master_shape = {2, 4};
              }),
              "m.pliant: mesh/hanging/vertices[1] = 4 (expected each vertex at most once)");
    EXPECT_EQ(raw_error([](RawMesh& raw) {
                  raw.hanging = {4, 3};
              }),
              "m.pliant: mesh/hanging/masters, rows = 1 (expected 2, one for each hanging node)");
}

TEST(EmbeddingArchive, RoundTripsBitForBit) {
    const test::TemporaryDirectory directory;
    const Embedding embedding(5, {0, 4, 4, 6}, {0, 1, 2, 3, 4, 0},
                              {0.1, 0.2, 0.3, 0.4, 1.0 / 3.0, 2.0 / 3.0});
    ArchiveWriter writer("model");
    add_embedding(writer, embedding);
    writer.save(directory / "a.pliant");
    const Embedding back = read_embedding(Archive(directory / "a.pliant"), 5, "a.pliant");
    EXPECT_EQ(back.num_vertices(), 5);
    EXPECT_EQ(back.start(), embedding.start());
    EXPECT_EQ(back.vertices(), embedding.vertices());
    EXPECT_EQ(back.weights(), embedding.weights());
}

std::string embedding_error(int num_vertices, const std::vector<int>& start,
                            const std::vector<int>& vertices, const std::vector<double>& weights) {
    const test::TemporaryDirectory directory;
    ArchiveWriter writer("model");
    writer.add<int>("embedding/start", start);
    writer.add<int>("embedding/vertices", vertices);
    writer.add<double>("embedding/weights", weights);
    writer.save(directory / "a.pliant");
    return input_error(
        [&] { return read_embedding(Archive(directory / "a.pliant"), num_vertices, "a.pliant"); });
}

TEST(EmbeddingArchive, BadContentsAreRefusedWithTheNameOfTheFile) {
    EXPECT_EQ(embedding_error(3, {0, 2}, {0, 2}, {0.5, 0.5}), "");
    const std::string damaged = "a.pliant: the stored embedding is damaged: ";
    const std::string starts =
        damaged + "the starts of its points must begin with 0 and never decrease";
    EXPECT_EQ(embedding_error(3, {}, {0, 2}, {0.5, 0.5}), starts);
    EXPECT_EQ(embedding_error(3, {1, 2}, {0, 2}, {0.5, 0.5}), starts);
    EXPECT_EQ(embedding_error(3, {0, 3, 2}, {0, 2}, {0.5, 0.5}), starts);
    EXPECT_EQ(embedding_error(3, {0, -1, 2}, {0, 2}, {0.5, 0.5}), starts);
    const std::string numbers =
        damaged + "the numbers of starts, vertices and weights do not agree";
    EXPECT_EQ(embedding_error(3, {0, 2}, {0, 2}, {0.5}), numbers);
    EXPECT_EQ(embedding_error(3, {0, 1}, {0, 2}, {0.5, 0.5}), numbers);
    EXPECT_EQ(embedding_error(2, {0, 2}, {0, 2}, {0.5, 0.5}),
              damaged + "a vertex index is out of range");
    EXPECT_EQ(embedding_error(3, {0, 2}, {0, 2}, {0.5, std::numeric_limits<double>::infinity()}),
              damaged + "a weight is not finite");
}

}  // namespace
}  // namespace pliant
