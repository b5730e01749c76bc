#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/numbers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/greens/greens_body.h"
#include "tests/greens/wavelet_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

class WaveletFile : public testing::Test {
protected:
    WaveletFile() { std::filesystem::create_directories(folder_); }
    ~WaveletFile() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return folder_ / name;
    }
    static GreensBuildOptions options(double tolerance, int bits) {
        GreensBuildOptions result;
        result.fixed = "z < 25 %";
        result.has_fixed_columns = true;
        result.readouts = {{ReadoutKind::Displacement, {0, 0, 0}}};
        result.wavelet = WaveletOptions{WaveletKind::LiftedLinear, tolerance, false, bits};
        return result;
    }
    static const WaveletGreensFunctions& wavelets_of(const GreensModel& model) {
        return dynamic_cast<const WaveletGreensFunctions&>(*model.reference.functions);
    }
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                    ("pliant_wavelet_file_" + std::to_string(getpid()));
};

TEST_F(WaveletFile, BuildsWithTheCacheGiveTheSameBits) {
    GreensBuildOptions wanted = options(0.05, 32);
    const GreensModel plain = build_greens_model(test::eared_blob(2), wanted);
    wanted.cache = path("cache");
    const GreensModel first = build_greens_model(test::eared_blob(2), wanted);
    GreensBuildReport report;
    const GreensModel second =
        build_greens_model(test::eared_blob(2), wanted, Progress::none(), &report);
    EXPECT_EQ(report.num_cached, 162);
    // columns of the cache serve other tolerances, and dense functions
    wanted.wavelet.reset();
    const GreensModel dense =
        build_greens_model(test::eared_blob(2), wanted, Progress::none(), &report);
    EXPECT_EQ(report.num_cached, 162);
    const auto expected =
        compress_greens(test::dense_functions(dense), dense.surface, dense.reference.kinds,
                        dense.reference.areas, *options(0.05, 32).wavelet);
    for (const GreensModel* model : {&plain, &first, &second}) {
        EXPECT_EQ(wavelets_of(*model).columns().nodes, expected->columns().nodes);
        EXPECT_EQ(wavelets_of(*model).columns().blocks, expected->columns().blocks);
        EXPECT_EQ(wavelets_of(*model).columns().readouts, expected->columns().readouts);
    }
    EXPECT_LT(plain.asymmetry, dense.asymmetry + 0.1);
}

TEST_F(WaveletFile, ComesBackTheSame) {
    std::uintmax_t sizes[2] = {};
    for (const int bits : {32, 16}) {
        const GreensModel saved = build_greens_model(test::eared_blob(2), options(0.05, bits));
        save_greens_model(saved, path("model.pliant"));
        const GreensModel loaded = load_greens_model(path("model.pliant"));
        const WaveletGreensFunctions &a = wavelets_of(saved), &b = wavelets_of(loaded);
        EXPECT_EQ(a.columns().level_ends, b.columns().level_ends);
        EXPECT_EQ(a.columns().nodes, b.columns().nodes);
        EXPECT_EQ(a.columns().blocks, b.columns().blocks);
        EXPECT_EQ(a.columns().integers, b.columns().integers);
        EXPECT_EQ(a.columns().units, b.columns().units);
        EXPECT_EQ(a.columns().readouts, b.columns().readouts);
        EXPECT_EQ(a.layout().columns, b.layout().columns);
        EXPECT_EQ(a.report().options.kind, b.report().options.kind);
        EXPECT_EQ(a.report().options.tolerance, b.report().options.tolerance);
        EXPECT_EQ(a.report().options.bits, b.report().options.bits);
        EXPECT_EQ(a.report().rms, b.report().rms);
        EXPECT_EQ(a.report().max, b.report().max);
        EXPECT_EQ(a.report().compression, b.report().compression);
        EXPECT_EQ(a.report().num_free_blocks, b.report().num_free_blocks);
        EXPECT_EQ(a.report().quantisation, b.report().quantisation);
        float x[9], y[9];
        for (int i = 0; i < 162; i += 11) {
            a.element(i, 20, x);
            b.element(i, 20, y);
            EXPECT_TRUE(std::equal(x, x + 9, y));
        }
        sizes[bits == 16] = std::filesystem::file_size(path("model.pliant"));
        // steps between nodes take little more than a byte
        const Archive archive(path("model.pliant"));
        EXPECT_LT(archive.get<std::uint8_t>("wavelet/nodes").size(),
                  a.columns().nodes.size() * 11 / 10);
    }
    EXPECT_LT(sizes[1], 0.65 * static_cast<double>(sizes[0]));
}

/// What no load moves, and a body without weight.
TEST_F(WaveletFile, ColumnsWithoutBlocksComeBack) {
    const GreensModel dense = test::blob_model(2, true);
    const DenseGreensFunctions& full = test::dense_functions(dense);
    const std::vector<int>& columns = full.layout().columns;
    const auto is_empty = [&](std::size_t k) {
        return k == 0 || k == 20 || k + 1 == columns.size();
    };
    auto some = std::make_shared<DenseGreensFunctions>(full.layout());
    const int n = dense.num_nodes();
    Eigen::MatrixXd values(3 * n, 3);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        for (int i = 0; i < n; ++i) {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
            full.element(i, columns[k], block.data());
            values.middleRows(3 * i, 3) = block.cast<double>();
        }
        if (!is_empty(k)) some->set_column(columns[k], values);
    }
    for (const int bits : {32, 16}) {
        GreensModel saved = dense;
        saved.reference.functions =
            compress_greens(*some, dense.surface, dense.reference.kinds, dense.reference.areas,
                            {WaveletKind::LiftedLinear, 0.05, false, bits});
        save_greens_model(saved, path("empty.pliant"));
        const GreensModel loaded = load_greens_model(path("empty.pliant"));
        const WaveletGreensFunctions &a = wavelets_of(saved), &b = wavelets_of(loaded);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            EXPECT_EQ(b.column(columns[k]).nodes.size(), a.column(columns[k]).nodes.size());
            EXPECT_EQ(b.column(columns[k]).nodes.empty(), is_empty(k)) << k;
            float x[9], y[9];
            for (int i = 0; i < n; i += 7) {
                a.element(i, columns[k], x);
                b.element(i, columns[k], y);
                EXPECT_TRUE(std::equal(x, x + 9, y));
                const bool is_zero = std::all_of(y, y + 9, [](float z) { return z == 0; });
                EXPECT_TRUE(is_zero || !is_empty(k));
            }
        }
        // sums go past them
        std::vector<float> weights(3 * columns.size(), 1.0f), fast(3 * at(n), 0.0f), slow = fast;
        b.add_columns(columns, weights, fast);
        for (std::size_t k = 0; k < columns.size(); ++k)
            if (!is_empty(k)) b.add_columns(std::span(&columns[k], 1), {weights.data(), 3}, slow);
        for (std::size_t i = 0; i < fast.size(); ++i)
            EXPECT_NEAR(fast[i], slow[i], 1e-4f * std::abs(slow[i]) + 1e-4f);
        const std::array<float, 3> gravity = {1, 1, 1};
        std::vector<float> weightless(3 * at(n), 0.0f);
        b.add_body_columns(gravity, weightless);
        EXPECT_TRUE(std::ranges::all_of(weightless, [](float z) { return z == 0; }));
    }
}

/// Chunks of an archive, one of them replaced.
template <class T>
void save_edited(const Archive& archive, const std::string& name, const std::vector<T>& values,
                 const std::filesystem::path& path) {
    ArchiveWriter writer(archive.kind());
    for (const ChunkInfo& chunk : archive.chunks()) {
        const auto keep = [&]<class U>(U) {
            writer.add(chunk.name, archive.get<U>(chunk.name), chunk.shape);
        };
        if (chunk.name == name)
            writer.add<T>(name, values);
        else if (chunk.type == ChunkType::U8)
            keep(std::uint8_t{});
        else if (chunk.type == ChunkType::U16)
            keep(std::uint16_t{});
        else if (chunk.type == ChunkType::I32)
            keep(std::int32_t{});
        else if (chunk.type == ChunkType::U32)
            keep(std::uint32_t{});
        else if (chunk.type == ChunkType::I64)
            keep(std::int64_t{});
        else if (chunk.type == ChunkType::F32)
            keep(float{});
        else
            keep(double{});
    }
    writer.save(path);
}

TEST_F(WaveletFile, ContentsThatMakeNoSenseAreNamed) {
    save_greens_model(build_greens_model(test::eared_blob(1), options(0.1, 16)),
                      path("model.pliant"));
    const Archive archive(path("model.pliant"));
    const auto refused = [&]<class T>(const std::string& chunk, std::size_t place, T value) {
        const auto old = archive.get<T>(chunk);
        std::vector<T> values(old.begin(), old.end());
        if (place < values.size())
            values[place] = value;
        else
            values.push_back(value);
        save_edited(archive, chunk, values, path("edited.pliant"));
        const std::string sentence =
            test::input_error([&] { (void)load_greens_model(path("edited.pliant")); });
        EXPECT_TRUE(sentence.starts_with(path("edited.pliant").string() + ": ")) << sentence;
        return sentence.substr(sentence.find(": ") + 2);
    };
    constexpr std::size_t kMore = std::size_t{1} << 40;
    EXPECT_EQ(refused("wavelet/options", 0, 4), "wavelet/options[0] = 4 (expected 0 to 3)");
    EXPECT_EQ(refused("wavelet/options", 2, 8), "bits = 8 (expected 16 or 32)");
    EXPECT_EQ(refused("wavelet/numbers", 0, kNan),
              "wavelet/numbers = nan (expected numbers that are not negative)");
    EXPECT_EQ(refused("wavelet/numbers", 0, 2.0).substr(0, 20), "tolerance = 2.000000");
    EXPECT_EQ(refused("wavelet/level_ends", 0, 0xffffffffu),
              "wavelet/level_ends[0] = 4294967295 (expected ascending, no more than there are "
              "nodes)");
    EXPECT_EQ(refused("wavelet/level_ends", 1, 3u),
              "wavelet/level_ends[1] = 3 (expected ascending, no more than there are nodes)");
    EXPECT_EQ(refused("wavelet/level_ends", kMore, 0u).substr(0, 26), "wavelet/level_ends, length");
    EXPECT_EQ(refused("wavelet/nodes", 3, std::uint8_t{120}),
              "wavelet/nodes = 123 (expected 0 to 41)");
    EXPECT_EQ(refused("wavelet/nodes", kMore, std::uint8_t{0}).substr(0, 21),
              "wavelet/nodes, length");
    EXPECT_EQ(refused("wavelet/integers", kMore, std::uint16_t{1}).substr(0, 24),
              "wavelet/integers, length");
    EXPECT_EQ(refused("wavelet/units", 2, std::numeric_limits<float>::infinity()),
              "wavelet/units = inf (expected numbers that are not negative)");
    EXPECT_EQ(refused("wavelet/readouts", 4, std::numeric_limits<float>::quiet_NaN()),
              "wavelet.readouts[4] = nan (expected a finite number)");
    EXPECT_EQ(refused("greens/columns", 1, 0),
              "wavelet.columns = 0 (expected every column at most once, below 84)");
}

TEST_F(WaveletFile, EveryFlippedBitIsFound) {
    save_greens_model(build_greens_model(test::eared_blob(1), options(0.1, 32)),
                      path("model.pliant"));
    const std::string whole = read_file(path("model.pliant"));
    for (std::size_t place = 0; place < whole.size(); place += whole.size() / 200) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
        std::ofstream(path("damaged.pliant"), std::ios::binary) << damaged;
        EXPECT_NE(test::input_error([&] { (void)load_greens_model(path("damaged.pliant")); }), "")
            << place;
    }
}

TEST_F(WaveletFile, SurfacesWithoutLevelsAreTold) {
    EXPECT_EQ(test::input_error([&] {
                  (void)build_greens_model(midpoint_subdivide(test::eared_blob(2).mesh, 0),
                                           options(0.05, 32));
              }),
              "wavelets need a surface with subdivision connectivity, and this one has a single "
              "level; pliant mesh --kind semiregular makes one with several");
    GreensBuildOptions constant = options(0.05, 32);
    constant.elements = BoundaryElements::Constant;
    EXPECT_EQ(test::input_error([&] { check_options(constant); }),
              "wavelets need one node at each vertex of a subdivision surface: linear boundary "
              "elements without creases");
    EXPECT_EQ(test::input_error([&] { check_options(options(1.5, 32)); }).substr(0, 20),
              "tolerance = 1.500000");
}

TEST_F(WaveletFile, BodiesWorkWithCompressedFunctions) {
    const auto model = std::make_shared<const GreensModel>(
        build_greens_model(test::eared_blob(2), options(0.05, 32)));
    const GreensDisplay display(model, 4);
    std::vector<float> u(3 * at(model->surface.mesh.num_vertices()));
    const int top = model->reference.functions->has_column(30) ? 30 : 31;
    display.respond(std::vector<int>{top}, std::vector<float>{0, 0, -0.01f}, u);
    EXPECT_LT(u[3 * at(top) + 2], 0);
}

}  // namespace
}  // namespace pliant
