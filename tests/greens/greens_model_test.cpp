#include "pliant/greens/greens_model.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/numbers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/build_greens.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

class GreensModelFile : public testing::Test {
protected:
    GreensModelFile() { std::filesystem::create_directories(folder_); }
    ~GreensModelFile() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return folder_ / name;
    }

private:
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    ("pliant_greens_model_" + std::to_string(getpid()));
};

GreensModel small_greens_model() {
    GreensBuildOptions options;
    options.fixed = "z < 0.001";
    options.contactable = "z > 60 %";
    options.has_fixed_columns = true;
    options.readouts = {{ReadoutKind::Stress, {0.05, 0.06, 0.07}},
                        {ReadoutKind::Displacement, {0.1, 0.1, 0.1}}};
    return build_greens_model(tet_box(3, 2, 2, Box(Vector3d(0, 0, 0), Vector3d(0.3, 0.2, 0.2))),
                              options);
}

const DenseGreensFunctions& dense_part(const GreensModel& model) {
    return dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions);
}

TEST_F(GreensModelFile, ComesBackTheSameAndStaysInTheMapping) {
    const GreensModel saved = small_greens_model();
    save_greens_model(saved, path("model.pliant"), {{"input", "box"}});
    const GreensModel loaded = load_greens_model(path("model.pliant"));
    EXPECT_EQ(Archive(path("model.pliant")).provenance().at("input"), "box");
    std::filesystem::remove(path("model.pliant"));  // the mapping does not need its name

    EXPECT_EQ(loaded.surface.mesh.vertices, saved.surface.mesh.vertices);
    EXPECT_EQ(loaded.surface.mesh.triangles, saved.surface.mesh.triangles);
    EXPECT_EQ(loaded.surface.num_vertices, saved.surface.num_vertices);
    EXPECT_EQ(loaded.normals, saved.normals);
    EXPECT_EQ(loaded.corner_nodes, saved.corner_nodes);
    EXPECT_EQ(loaded.vertex_offsets, saved.vertex_offsets);
    EXPECT_EQ(loaded.vertex_nodes, saved.vertex_nodes);
    EXPECT_EQ(loaded.vertex_weights, saved.vertex_weights);
    EXPECT_EQ(loaded.reference.positions, saved.reference.positions);
    EXPECT_EQ(loaded.reference.areas, saved.reference.areas);
    EXPECT_EQ(loaded.reference.kinds, saved.reference.kinds);
    EXPECT_EQ(loaded.reference.length, saved.reference.length);
    EXPECT_EQ(loaded.reference.modulus, saved.reference.modulus);
    EXPECT_EQ(loaded.poisson_ratio, saved.poisson_ratio);
    EXPECT_EQ(loaded.density, saved.density);
    EXPECT_EQ(loaded.asymmetry, saved.asymmetry);
    EXPECT_EQ(loaded.method, GreensMethod::FiniteElements);
    ASSERT_EQ(loaded.readouts.size(), 2u);
    EXPECT_EQ(loaded.readouts[0].kind, ReadoutKind::Stress);
    EXPECT_EQ(loaded.readouts[1].position, saved.readouts[1].position);

    const auto a = dense_part(saved).values(), b = dense_part(loaded).values();
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size_bytes()), 0);
    EXPECT_EQ(dense_part(loaded).layout().columns, dense_part(saved).layout().columns);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
    EXPECT_EQ(loaded.num_fixed(), 12);
    EXPECT_EQ(loaded.num_columns() - loaded.num_free_columns(), 12);
    EXPECT_FALSE(loaded.reference.functions->has_column(13));  // free, and not to be touched
}

TEST_F(GreensModelFile, EveryFlippedBitIsFound) {
    save_greens_model(small_greens_model(), path("model.pliant"));
    const std::string whole = read_file(path("model.pliant"));
    for (std::size_t place = 0; place < whole.size(); place += whole.size() / 300) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
        std::ofstream(path("damaged.pliant"), std::ios::binary) << damaged;
        EXPECT_NE(test::input_error([&] { (void)load_greens_model(path("damaged.pliant")); }), "")
            << place;
    }
}

TEST_F(GreensModelFile, TruncatedAndForeignFilesAreNamed) {
    save_greens_model(small_greens_model(), path("model.pliant"));
    const std::string whole = read_file(path("model.pliant"));
    for (const std::size_t size : {whole.size() / 2, whole.size() - 1}) {
        std::ofstream(path("short.pliant"), std::ios::binary) << whole.substr(0, size);
        EXPECT_NE(test::input_error([&] {
                      (void)load_greens_model(path("short.pliant"));
                  }).find("the file is truncated"),
                  std::string::npos);
    }
    ArchiveWriter("distance-field").save(path("other.pliant"));
    EXPECT_NE(test::input_error([&] {
                  (void)load_greens_model(path("other.pliant"));
              }).find("kind = 'distance-field' (expected 'greens-model')"),
              std::string::npos);
    EXPECT_NE(test::input_error([&] {
                  (void)load_greens_model(path("none.pliant"));
              }).find("the file does not exist"),
              std::string::npos);
}

/// Chunks of an archive, some of them replaced.
class EditedArchive {
public:
    explicit EditedArchive(const Archive& archive) : archive_(archive), writer_(archive.kind()) {}
    template <class T>
    void save_with(const std::string& name, const std::vector<T>& values,
                   const std::filesystem::path& path) {
        for (const ChunkInfo& chunk : archive_.chunks()) {
            if (chunk.name == name)
                writer_.add<T>(name, values);
            else if (chunk.type == ChunkType::U8)
                keep<std::uint8_t>(chunk);
            else if (chunk.type == ChunkType::I32)
                keep<std::int32_t>(chunk);
            else if (chunk.type == ChunkType::F32)
                keep<float>(chunk);
            else
                keep<double>(chunk);
        }
        writer_.save(path);
    }

private:
    template <class T>
    void keep(const ChunkInfo& chunk) {
        writer_.add(chunk.name, archive_.get<T>(chunk.name), chunk.shape);
    }
    const Archive& archive_;
    ArchiveWriter writer_;
};

TEST_F(GreensModelFile, ContentsThatMakeNoSenseAreNamed) {
    save_greens_model(small_greens_model(), path("model.pliant"));
    const Archive archive(path("model.pliant"));
    const auto refused = [&]<class T>(const std::string& chunk, std::size_t place, T value) {
        const auto old = archive.get<T>(chunk);
        std::vector<T> values(old.begin(), old.end());
        if (place < values.size())
            values[place] = value;
        else
            values.push_back(value);
        EditedArchive(archive).save_with(chunk, values, path("edited.pliant"));
        const std::string sentence =
            test::input_error([&] { (void)load_greens_model(path("edited.pliant")); });
        EXPECT_TRUE(sentence.starts_with(path("edited.pliant").string() + ": ")) << sentence;
        return sentence.substr(sentence.find(": ") + 2);
    };
    EXPECT_EQ(refused("greens/constants", 0, 0.0),
              "length = 0.000000 (expected a positive number)");
    EXPECT_EQ(refused("greens/constants", 2, 0.6),
              "poisson_ratio = 0.600000 (expected -1 < value <= 0.5)");
    EXPECT_EQ(refused("greens/method", 1, 2), "greens/method[1] = 2 (expected 0 or 1)");
    EXPECT_EQ(refused("greens/layout", 0, 35),
              "number of nodes = 35 (expected 34, one for each position)");
    EXPECT_EQ(refused("greens/layout", 1, 1), "block = 1 (expected 3)");
    EXPECT_EQ(refused("greens/layout", 2, 2),
              "number of body columns = 2 (expected 0, or 3, one for each axis)");
    EXPECT_EQ(refused("greens/layout", 3, 8), "number of values of read-outs = 8 (expected 9)");
    EXPECT_EQ(refused("greens/columns", 1, 0),
              "greens.columns = 0 (expected every node at most once, below num_nodes)");
    EXPECT_EQ(refused("greens/values", 5, std::numeric_limits<float>::infinity()),
              "greens/values[5] = inf (expected a finite number)");
    EXPECT_TRUE(refused("greens/values", std::size_t{1} << 40, 0.0f)
                    .starts_with("greens.values, length = "));
    EXPECT_EQ(refused("nodes/kinds", 3, std::uint8_t{2}),
              "nodes/kinds[3] = 2 (expected 0 for free or 1 for fixed)");
    EXPECT_EQ(refused("nodes/areas", 4, -1.0),
              "nodes/areas[4] = -1.000000 (expected a positive number)");
    EXPECT_EQ(refused("nodes/normals", 1, kNan),
              "nodes/normals[1] = nan (expected a finite number)");
    EXPECT_EQ(refused("surface/corner_nodes", 2, 34),
              "surface/corner_nodes[2] = 34 (expected 0 to 33)");
    EXPECT_EQ(refused("surface/vertex_nodes", 2, -1),
              "surface/vertex_nodes[2] = -1 (expected 0 to 33)");
    EXPECT_EQ(refused("surface/vertex_offsets", 3, 70),
              "surface/vertex_offsets[3] = 70 (expected 0 to the number of vertex nodes, "
              "ascending)");
    EXPECT_EQ(refused("surface/vertex_weights", 0, 1e9f).substr(0, 25),
              "surface/vertex_weights[0]");
    EXPECT_EQ(refused("readouts/kinds", 0, std::uint8_t{7}),
              "readouts/kinds[0] = 7 (expected 0 for a displacement or 1 for a stress)");
}

TEST(GreensModel, GravityIsNondimensional) {
    GreensModel model;
    model.density = 1000;
    model.reference.length = 0.1;
    model.reference.modulus = 5e4;
    EXPECT_EQ(model.gravity_parameters({0, 0, -10})[2], -1000 * 10 * 0.1 / 5e4);
}

TEST(DenseGreensFunctions, LookAtValuesThatAreThere) {
    DenseGreensFunctions made({.num_nodes = 2, .columns = {1}, .num_body_columns = 1});
    made.set_column(1, test::random_matrix(6, 3, 1));
    made.set_body_column(0, test::random_matrix(6, 1, 2));
    const auto owner = std::make_shared<int>(0);
    {
        const DenseGreensFunctions seen(made.layout(), made.values(), owner);
        EXPECT_EQ(seen.values().data(), made.values().data());
        EXPECT_EQ(owner.use_count(), 2);
        float a[9], b[9];
        made.element(0, 1, a);
        seen.element(0, 1, b);
        EXPECT_EQ(std::memcmp(a, b, sizeof a), 0);
    }
    EXPECT_EQ(owner.use_count(), 1);
    EXPECT_EQ(test::input_error(
                  [&] { DenseGreensFunctions(made.layout(), made.values().first(48), owner); }),
              "greens.values, length = 48 (expected 64: 4 columns of 16)");
}

}  // namespace
}  // namespace pliant
